package kafkatest

import (
	"fmt"
	"os"
	"regexp"
	"strings"
)

// log4j sends everything to standard error: a tool's standard output is its answer.
const log4j = `status = error
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %d{HH:mm:ss.SSS} %p %m (%c{1})%n
rootLogger.level = ${sys:flightdeck.log:-WARN}
rootLogger.appenderRef.stderr.ref = stderr
`

// logEntry is the beginning of an entry of a log in the pattern of log4j; other lines belong to the entry
// before them.
var logEntry = regexp.MustCompile(`^\d\d:\d\d:\d\d\.\d\d\d ([A-Z]+) `)

// logs returns what all nodes have logged.
func (c *Cluster) logs() []byte {
	var all []byte
	for _, n := range c.nodes {
		b, _ := os.ReadFile(n.log)
		all = append(all, b...)
	}
	return all
}

// excerpt returns the last errors and the last lines of each node's log. The reason of a failed start is
// an error far above: a node logs hundreds of lines when it shuts down.
func (c *Cluster) excerpt() string {
	var b strings.Builder
	for _, n := range c.nodes {
		log, err := os.ReadFile(n.log)
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(log)), "\n")
		fmt.Fprintf(&b, "node %d, errors:\n", n.id)
		indent(&b, last(30, failures(lines)))
		fmt.Fprintf(&b, "node %d, last of %d lines:\n", n.id, len(lines))
		indent(&b, last(15, lines))
	}
	return b.String()
}

// failures returns the entries at ERROR and FATAL, of each the message and the beginning of the stack.
func failures(lines []string) []string {
	const keep = 4
	var found []string
	left := 0
	for _, line := range lines {
		if m := logEntry.FindStringSubmatch(line); m != nil {
			left = 0
			if m[1] == "ERROR" || m[1] == "FATAL" {
				left = keep
			}
		}
		if left > 0 {
			found = append(found, line)
			left--
		}
	}
	return found
}

func last(n int, lines []string) []string { return lines[max(0, len(lines)-n):] }

func indent(b *strings.Builder, lines []string) {
	for _, line := range lines {
		fmt.Fprintf(b, "    %s\n", line)
	}
}
