package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/creack/pty"

	"flightdeck/kafka/kafkatest"
)

// These benchmarks measure the built program from outside, as docs/performance.md says. What is compared takes turns, and
// figures are medians: the machine has other things to do.

// buildProgram builds a package of this module and returns the path of the program.
func buildProgram(b *testing.B, pkg string) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "program")
	if out, err := exec.Command("go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		b.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return path
}

// show is one run of a program in a terminal.
type show struct {
	cmd      *exec.Cmd
	terminal *os.File
	began    time.Time
	written  []byte
	ended    bool
}

// openShow runs a program in a terminal of 200 x 60.
func openShow(b *testing.B, path string, args ...string) *show {
	b.Helper()
	s := &show{cmd: exec.Command(path, args...)}
	s.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8")
	s.began = time.Now()
	var err error
	if s.terminal, err = pty.StartWithSize(s.cmd, &pty.Winsize{Cols: 200, Rows: 60}); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(s.end)
	return s
}

// until reads what the program writes until text has come, and returns the time since the start.
func (s *show) until(b *testing.B, text string) time.Duration {
	b.Helper()
	for !bytes.Contains(s.written, []byte(text)) {
		if err := s.read(time.Minute); err != nil {
			b.Fatalf("%q did not come within a minute: %v", text, err)
		}
	}
	return time.Since(s.began)
}

// during reads what the program writes in a time, and returns how many bytes that are.
func (s *show) during(span time.Duration) int {
	before := len(s.written)
	for end := time.Now().Add(span); time.Now().Before(end); {
		_ = s.read(time.Until(end))
	}
	return len(s.written) - before
}

func (s *show) read(limit time.Duration) error {
	if err := s.terminal.SetReadDeadline(time.Now().Add(limit)); err != nil {
		return err
	}
	part := make([]byte, 1<<16)
	n, err := s.terminal.Read(part)
	s.written = append(s.written, part[:n]...)
	return err
}

// peak is the most memory that the program was resident with so far, in MB (VmHWM of Linux; 0 elsewhere).
func (s *show) peak() float64 {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.ParseFloat(strings.Fields(rest)[0], 64)
			return kb / 1000
		}
	}
	return 0
}

func (s *show) end() {
	if s.ended {
		return
	}
	s.ended = true
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
	_ = s.terminal.Close()
}

func median(times []time.Duration) float64 {
	slices.Sort(times)
	return float64(times[len(times)/2]) / 1e6
}

// BenchmarkFirstFrame compares the time to the first frame with that of a trivial program. Nobody listens at the address, so
// that the cluster plays no part.
func BenchmarkFirstFrame(b *testing.B) {
	flightdeck, trivial := buildProgram(b, "."), buildProgram(b, "./testdata/trivial")
	b.Run("runs", func(b *testing.B) {
		var ours, least, cpuOurs, cpuLeast []time.Duration
		for range b.N {
			s := openShow(b, trivial)
			least = append(least, s.until(b, "trivial"))
			s.end()
			cpuLeast = append(cpuLeast, s.cmd.ProcessState.UserTime()+s.cmd.ProcessState.SystemTime())
			s = openShow(b, flightdeck, "-b", "127.0.0.1:1")
			ours = append(ours, s.until(b, "Consumers"))
			s.end()
			cpuOurs = append(cpuOurs, s.cmd.ProcessState.UserTime()+s.cmd.ProcessState.SystemTime())
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(median(least), "trivial-ms")
		b.ReportMetric(median(ours), "flightdeck-ms")
		b.ReportMetric(median(cpuLeast), "trivial-cpu-ms")
		b.ReportMetric(median(cpuOurs), "flightdeck-cpu-ms")
	})
}

// BenchmarkDemo measures the time from the start of the demo to a frame with data.
func BenchmarkDemo(b *testing.B) {
	flightdeck := buildProgram(b, ".")
	b.Run("runs", func(b *testing.B) {
		var times []time.Duration
		for range b.N {
			s := openShow(b, flightdeck, "--demo")
			times = append(times, s.until(b, "order-service"))
			s.end()
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(median(times), "data-ms")
	})
}

// loaded is a cluster with groups of 20 partitions, each of which is 5 records behind.
func loaded(b *testing.B, groups int) *kafkatest.Cluster {
	b.Helper()
	const partitions = 20
	c := kafkatest.Start(b, kafkatest.Latest(b), kafkatest.Options{})
	c.CreateTopic(b, "load", partitions)
	for n := range partitions {
		c.Produce(b, "load", int32(n), 6)
	}
	kafkatest.CommitMany(b, c.Client(b), "g-", groups, "load", partitions)
	return c
}

// BenchmarkScreenOfKafka measures, on a real broker, the time to a table that has the lag of every group, the memory after ten
// polls, and what a step of the cursor writes.
func BenchmarkScreenOfKafka(b *testing.B) {
	for groups, total := range map[int]string{1_000: "lag 100,000", 10_000: "lag 1,000,000"} {
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			flightdeck, c := buildProgram(b, "."), loaded(b, groups)
			b.Run("runs", func(b *testing.B) {
				var names, table []time.Duration
				for range b.N {
					s := openShow(b, flightdeck, "-b", c.Bootstrap()[0])
					names = append(names, s.until(b, "g-00000"))
					table = append(table, s.until(b, total))
					s.end()
				}
				s := openShow(b, flightdeck, "-b", c.Bootstrap()[0], "--interval", "1s")
				s.until(b, total)
				s.during(10 * time.Second)
				peak := s.peak()
				if _, err := s.terminal.WriteString(" "); err != nil { // pause: what is written then is due to keys
					b.Fatal(err)
				}
				s.during(time.Second)
				var steps []int
				for range 9 {
					if _, err := s.terminal.WriteString("j"); err != nil {
						b.Fatal(err)
					}
					steps = append(steps, s.during(200*time.Millisecond))
				}
				slices.Sort(steps)
				b.ReportMetric(0, "ns/op")
				b.ReportMetric(median(names), "names-ms")
				b.ReportMetric(median(table), "table-ms")
				b.ReportMetric(peak, "peak-MB")
				b.ReportMetric(float64(steps[len(steps)/2]), "step-bytes")
			})
		})
	}
}

// BenchmarkOutputOfKafka compares --output json with Kafka's own tool on a real broker with 1,000 groups, and checks that both
// have the same answer; with kcl (github.com/twmb/kcl) too where it is in the PATH.
func BenchmarkOutputOfKafka(b *testing.B) {
	const groups = 1_000
	flightdeck, c := buildProgram(b, "."), loaded(b, groups)
	kcl, _ := exec.LookPath("kcl")
	b.Run("runs", func(b *testing.B) {
		var ours, kclTimes, tool []time.Duration
		for i := range b.N {
			out, took := timed(b, exec.Command(flightdeck, "-b", c.Bootstrap()[0], "--output", "json"))
			ours = append(ours, took)
			if kcl != "" {
				_, took = timed(b, exec.Command(kcl, "--no-config-file", "-B", c.Bootstrap()[0], "group", "describe", "--section", "lag"))
				kclTimes = append(kclTimes, took)
			}
			if i >= 3 {
				continue // seconds each
			}
			began := time.Now()
			theirs, err := c.Tool(context.Background(), kafkatest.ConsumerGroupCommand,
				"--bootstrap-server", c.Bootstrap()[0], "--describe", "--all-groups")
			if err != nil {
				b.Fatal(err)
			}
			tool = append(tool, time.Since(began))
			got, want := linesOfJSON(b, out), linesOfTool(theirs)
			if len(want) != groups*20 || !slices.Equal(got, want) {
				b.Fatalf("%d partitions differ from the %d of Kafka's tool", len(got), len(want))
			}
		}
		b.ReportMetric(0, "ns/op")
		b.ReportMetric(median(ours), "flightdeck-ms")
		b.ReportMetric(median(tool)/median(ours), "tool/flightdeck")
		if kcl != "" {
			b.ReportMetric(median(kclTimes)/median(ours), "kcl/flightdeck")
		}
	})
}

func timed(b *testing.B, cmd *exec.Cmd) (out []byte, took time.Duration) {
	b.Helper()
	began := time.Now()
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("%s: %v", cmd, err)
	}
	return out, time.Since(began)
}

// linesOfJSON are group, topic, partition, committed offset, log end and lag, sorted.
func linesOfJSON(b *testing.B, out []byte) []string {
	b.Helper()
	var doc struct {
		Groups []struct {
			ID         string
			Partitions []struct {
				Topic                          string
				Partition, Committed, End, Lag int64
			}
		}
	}
	if err := json.Unmarshal(out, &doc); err != nil {
		b.Fatal(err)
	}
	var lines []string
	for _, g := range doc.Groups {
		for _, p := range g.Partitions {
			lines = append(lines, fmt.Sprint(g.ID, " ", p.Topic, " ", p.Partition, " ", p.Committed, " ", p.End, " ", p.Lag))
		}
	}
	slices.Sort(lines)
	return lines
}

// linesOfTool are the same of what ConsumerGroupCommand prints.
func linesOfTool(out string) []string {
	var lines []string
	for line := range strings.Lines(out) {
		if f := strings.Fields(line); len(f) > 6 && f[0] != "GROUP" {
			lines = append(lines, strings.Join(f[:6], " "))
		}
	}
	slices.Sort(lines)
	return lines
}
