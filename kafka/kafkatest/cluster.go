package kafkatest

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// startLimit bounds the wait for a node to serve. A node alone serves after about 4 s, three at once
// on two busy cores after 10 s and more.
const startLimit = 3 * time.Minute

// Cluster is a running Apache Kafka. Its methods are for the goroutine of the test, as those of
// [testing.T] that end a test are.
type Cluster struct {
	// Version of Kafka, as in "4.3.1".
	Version string

	options Options
	dir     string // everything the cluster writes
	jars    string
	logging string // log4j configuration
	certs   *certificates
	nodes   []*node
}

// launch starts a cluster in dir and waits until it serves.
func launch(version string, o Options, dir string) (*Cluster, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	jars, err := install(version)
	if err != nil {
		return nil, err
	}
	// Another process may take a port between the moment it was found free and the moment a node
	// binds it.
	for attempt := 1; ; attempt++ {
		c := &Cluster{Version: version, options: o, jars: jars, dir: filepath.Join(dir, strconv.Itoa(attempt))}
		err := c.start()
		if err == nil {
			return c, nil
		}
		if attempt < 3 && bytes.Contains(c.logs(), []byte("Address already in use")) {
			c.close()
			continue
		}
		err = fmt.Errorf("%w\n%s", err, c.excerpt())
		c.close()
		return nil, err
	}
}

func (c *Cluster) start() error {
	if err := os.MkdirAll(c.dir, 0o755); err != nil {
		return err
	}
	c.logging = filepath.Join(c.dir, "log4j2.properties")
	if err := os.WriteFile(c.logging, []byte(log4j), 0o644); err != nil {
		return err
	}
	if c.options.tls() {
		var err error
		if c.certs, err = makeCertificates(c.dir); err != nil {
			return fmt.Errorf("make certificates: %w", err)
		}
	}
	if err := c.layOut(); err != nil {
		return err
	}

	id := make([]byte, 16)
	rand.Read(id)
	id[0] &= 0x7f // a leading "-" would look like an option to StorageTool
	clusterID := base64.RawURLEncoding.EncodeToString(id)
	if err := c.each(func(n *node) error { return c.format(n, clusterID) }); err != nil {
		return err
	}
	if err := c.each(c.run); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(context.Background(), startLimit)
	defer cancel()
	return c.each(func(n *node) error { return c.await(ctx, n) })
}

// each calls f for all nodes at the same time.
func (c *Cluster) each(f func(*node) error) error {
	errs := make([]error, len(c.nodes))
	var wg sync.WaitGroup
	for i, n := range c.nodes {
		wg.Go(func() { errs[i] = f(n) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// layOut gives each node its folder, its addresses and its server.properties.
func (c *Cluster) layOut() error {
	listeners := c.options.listeners()
	addrs, err := freeAddrs(c.options.nodes() * (len(listeners) + 1))
	if err != nil {
		return err
	}
	take := func() (addr string) {
		addr, addrs = addrs[0], addrs[1:]
		return addr
	}
	for id := 1; id <= c.options.nodes(); id++ {
		dir := filepath.Join(c.dir, fmt.Sprintf("node%d", id))
		n := &node{
			id:         id,
			controller: take(),
			addrs:      map[Listener]string{},
			config:     filepath.Join(dir, "server.properties"),
			data:       filepath.Join(dir, "data"),
			log:        filepath.Join(dir, "node.log"),
		}
		for _, l := range listeners {
			n.addrs[l] = take()
		}
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		c.nodes = append(c.nodes, n)
	}
	for _, n := range c.nodes {
		if err := os.WriteFile(n.config, properties(c.settings(n)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// freeAddrs returns n addresses that nobody listens on. They are below the range that systems hand out
// to outgoing connections: a client cannot take one by chance before the node does, or while it is down.
func freeAddrs(n int) ([]string, error) {
	const low, high, tries = 15000, 32000, 1000
	var addrs []string
	var held []net.Listener
	defer func() {
		for _, l := range held {
			l.Close()
		}
	}()
	for range tries {
		port, err := rand.Int(rand.Reader, big.NewInt(high-low))
		if err != nil {
			return nil, err
		}
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", low+port.Int64()))
		if err != nil {
			continue
		}
		held = append(held, l)
		if addrs = append(addrs, l.Addr().String()); len(addrs) == n {
			return addrs, nil
		}
	}
	return nil, fmt.Errorf("no %d free ports between %d and %d", n, low, high)
}

// await returns when the node answers and knows of as many brokers as the cluster has nodes, or with an
// error when its process ends.
func (c *Cluster) await(ctx context.Context, n *node) error {
	for {
		err := c.probe(ctx, n)
		if err == nil {
			return nil
		}
		select {
		case <-n.done:
			return fmt.Errorf("node %d ended: %v", n.id, n.cmd.ProcessState)
		case <-ctx.Done():
			return fmt.Errorf("node %d does not serve within %v: %w", n.id, startLimit, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// probe asks one node for Metadata (ApiVersions comes before it on each new connection).
func (c *Cluster) probe(ctx context.Context, n *node) error {
	cl, err := kgo.NewClient(kgo.SeedBrokers(n.addrs[Plaintext]), kgo.DialTimeout(time.Second))
	if err != nil {
		return err
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{}
	resp, err := req.RequestWith(ctx, cl.SeedBrokers()[0])
	if err != nil {
		return err
	}
	alive := 0
	for _, m := range c.nodes {
		if m.running() {
			alive++
		}
	}
	if got := len(resp.Brokers); got < alive {
		return fmt.Errorf("node %d knows %d brokers of %d", n.id, got, alive)
	}
	return nil
}

// Bootstrap returns the addresses of the PLAINTEXT listeners, host:port, in the order of the nodes.
func (c *Cluster) Bootstrap() []string { return c.Addrs(Plaintext) }

// Addrs returns the addresses of one listener, host:port, in the order of the nodes.
func (c *Cluster) Addrs(l Listener) []string {
	var addrs []string
	for _, n := range c.nodes {
		addrs = append(addrs, n.addrs[l])
	}
	return addrs
}

// Kill ends a node at once (SIGKILL), as a crash does, and returns when it is gone.
func (c *Cluster) Kill(t testing.TB, node int) {
	t.Helper()
	n := c.node(t, node)
	if err := n.kill(); err != nil {
		t.Fatalf("kill node %d: %v", node, err)
	}
}

// Stop ends a node in an orderly way (SIGTERM): it hands its leaderships over first. It returns when the
// process is gone.
func (c *Cluster) Stop(t testing.TB, node int) {
	t.Helper()
	n := c.node(t, node)
	if err := n.stop(); err != nil {
		t.Fatalf("stop node %d: %v", node, err)
	}
}

// Restart starts a node that was ended, with its data and its addresses, and returns when it serves.
func (c *Cluster) Restart(t testing.TB, node int) {
	t.Helper()
	n := c.node(t, node)
	if n.running() {
		t.Fatalf("restart node %d: it runs; Kill or Stop it first", node)
	}
	ctx, cancel := context.WithTimeout(t.Context(), startLimit)
	defer cancel()
	if err := c.run(n); err != nil {
		t.Fatalf("restart node %d: %v", node, err)
	}
	if err := c.await(ctx, n); err != nil {
		t.Fatalf("restart node %d: %v", node, err)
	}
}

func (c *Cluster) node(t testing.TB, id int) *node {
	t.Helper()
	if id < 1 || id > len(c.nodes) {
		t.Fatalf("node %d: the cluster has nodes 1 to %d", id, len(c.nodes))
	}
	return c.nodes[id-1]
}

func (c *Cluster) close() {
	for _, n := range c.nodes {
		if err := n.kill(); err != nil {
			fmt.Fprintf(os.Stderr, "kafkatest: end node %d, process %d: %v\n", n.id, n.cmd.Process.Pid, err)
		}
	}
}

// report prints what matters of the nodes' logs when the test failed.
func (c *Cluster) report(t testing.TB) {
	t.Helper()
	if t.Failed() {
		t.Logf("Kafka %s:\n%s", c.Version, c.excerpt())
	}
}
