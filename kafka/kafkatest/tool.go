package kafkatest

import (
	"bytes"
	"context"
	"fmt"
	"strings"
)

// Classes of Kafka's own tools for [Cluster.Tool].
const (
	ConsumerGroupCommand = "org.apache.kafka.tools.consumer.group.ConsumerGroupCommand"
	ShareGroupCommand    = "org.apache.kafka.tools.consumer.group.ShareGroupCommand"
	ConsoleShareConsumer = "org.apache.kafka.tools.consumer.ConsoleShareConsumer"
	ConsoleConsumer      = "org.apache.kafka.tools.consumer.ConsoleConsumer"
	FeatureCommand       = "org.apache.kafka.tools.FeatureCommand"
)

// Tool runs one of Kafka's own tools, of the cluster's version, and returns its standard output. An
// error, also that of a tool that was ended by ctx, has what the tool wrote to standard error; the
// output so far is returned all the same. A run takes a second or more: a JVM starts.
func (c *Cluster) Tool(ctx context.Context, class string, args ...string) (string, error) {
	cmd := c.java(ctx, []string{"-Xmx256m"}, class, args...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			err = ctx.Err()
		}
		return stdout.String(), fmt.Errorf("%s %s: %w: %s", class, strings.Join(args, " "), err,
			bytes.TrimSpace(append(stdout.Bytes(), stderr.Bytes()...)))
	}
	return stdout.String(), nil
}
