package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// node is one Kafka process and where it keeps things.
type node struct {
	id         int
	controller string // host:port
	addrs      map[Listener]string
	config     string
	data       string
	log        string

	cmd  *exec.Cmd
	done chan struct{} // closed when the process is gone; nil before the first start
}

// java returns a command that runs a class of Kafka's jars.
func (c *Cluster) java(ctx context.Context, flags []string, class string, args ...string) *exec.Cmd {
	java := "java"
	if home := os.Getenv("JAVA_HOME"); home != "" {
		java = filepath.Join(home, "bin", "java")
	}
	all := []string{"-cp", filepath.Join(c.jars, "*"), "-Dlog4j2.configurationFile=" + c.logging,
		"-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"} // what lives for seconds gains most from starting fast
	all = append(all, flags...)
	all = append(all, class)
	cmd := exec.CommandContext(ctx, java, append(all, args...)...)
	dieWithParent(cmd)
	return cmd
}

// format prepares the node's data folder.
func (c *Cluster) format(n *node, clusterID string) error {
	args := []string{"format", "-t", clusterID, "-c", n.config}
	if c.options.nodes() == 1 {
		args = append(args, "--standalone")
	}
	share := c.options.ShareVersion
	if share == "" && strings.HasPrefix(c.Version, "4.1.") {
		share = "1"
	}
	if share != "" {
		args = append(args, "--feature", "share.version="+share)
	}
	if c.options.sasl() {
		args = append(args, scramArgs()...)
	}
	if _, err := c.Tool(context.Background(), "kafka.tools.StorageTool", args...); err != nil {
		return fmt.Errorf("format node %d: %w", n.id, err)
	}
	return nil
}

// run starts the node's process. It does not wait until it serves.
func (c *Cluster) run(n *node) error {
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	cmd := c.java(context.Background(), []string{"-Xmx512m", "-Dflightdeck.log=INFO"}, "kafka.Kafka", n.config)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return err
	}
	done := make(chan struct{})
	n.cmd, n.done = cmd, done
	go func() {
		_ = cmd.Wait() // how it ended is in cmd.ProcessState
		close(done)
	}()
	return nil
}

func (n *node) running() bool {
	if n.done == nil {
		return false
	}
	select {
	case <-n.done:
		return false
	default:
		return true
	}
}

func (n *node) kill() error {
	if !n.running() {
		return nil
	}
	if err := n.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	<-n.done
	return nil
}

func (n *node) stop() error {
	if !n.running() {
		return nil
	}
	if err := n.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	const limit = time.Minute
	select {
	case <-n.done:
		return nil
	case <-time.After(limit):
		return fmt.Errorf("still running %v after SIGTERM", limit)
	}
}
