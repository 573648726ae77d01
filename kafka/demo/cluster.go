package demo

import (
	"context"
	"fmt"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
)

const (
	brokers = 3

	// lockDuration is short for a broker (Kafka's default is 30 s, its least 15 s), so that an audience sees locks
	// run out.
	lockDuration = 15 * time.Second
	// sweepInterval is how often kfake looks for locks that ran out.
	sweepInterval = 150 * time.Millisecond
	// deliveryLimit is Kafka's default.
	deliveryLimit = 5
	// sessionTimeout is Kafka's default for members of share groups.
	sessionTimeout = 45 * time.Second
	// heartbeatInterval lets groups settle within seconds; Kafka's default is 5 s.
	heartbeatInterval = time.Second
)

// Options say how to start a cluster. The zero value is a cluster on free loopback ports.
type Options struct {
	// Seed chooses the content.
	Seed uint64
	// Ports are those of the brokers, one each; nil for free ones.
	Ports []int
	// Listen opens the brokers' ports; nil for net.Listen.
	Listen func(network, address string) (net.Listener, error)
	// Dial is how the applications reach the brokers; nil for TCP.
	Dial func(ctx context.Context, network, host string) (net.Conn, error)
}

// Cluster is a running cluster with its applications.
type Cluster struct {
	kfake  *kfake.Cluster
	mirror *mirror
	addrs  []string
	dial   func(ctx context.Context, network, host string) (net.Conn, error)
	names  *names
	seed   uint64
	// watch, when set, sees what a worker acknowledged, and the answer.
	watch func(group string, acks []held, a answer)

	// life ends when the applications have to stop.
	life  context.Context
	stop  context.CancelFunc
	wg    sync.WaitGroup
	close sync.Once
}

// Start starts a cluster and returns when it serves, its topics have their past and its groups their
// offsets; that takes some tens of milliseconds. The applications start in the background and stop when ctx ends or
// at [Cluster.Close], which the caller must call either way.
func Start(ctx context.Context, o Options) (*Cluster, error) {
	ctx, stop := context.WithCancel(ctx)
	c, err := boot(ctx, o)
	if err != nil {
		stop()
		return nil, fmt.Errorf("demo cluster: %w", err)
	}
	c.life, c.stop = ctx, stop
	if err := c.begin(ctx); err != nil {
		c.Close()
		return nil, fmt.Errorf("demo cluster: %w", err)
	}
	return c, nil
}

// boot starts brokers with the state topic as their only one.
func boot(ctx context.Context, o Options) (*Cluster, error) {
	if o.Listen == nil {
		o.Listen = net.Listen
	}
	c := &Cluster{mirror: newMirror(), dial: o.Dial, names: newNames(o.Seed), seed: o.Seed, stop: func() {}}
	w := &wire{names: c.names, mirror: c.mirror}
	opts := []kfake.Opt{
		kfake.NumBrokers(brokers),
		kfake.ClusterID("flightdeck-demo-cluster"),
		kfake.ListenFn(w.listenWith(o.Listen)),
		kfake.BrokerConfigs(map[string]string{
			"group.consumer.heartbeat.interval.ms": ms(heartbeatInterval),
			"group.share.heartbeat.interval.ms":    ms(heartbeatInterval),
			"group.share.session.timeout.ms":       ms(sessionTimeout),
			"group.share.record.lock.duration.ms":  ms(lockDuration),
			"share.record.lock.sweep.interval.ms":  ms(sweepInterval),
			"group.share.delivery.count.limit":     strconv.Itoa(deliveryLimit),
		}),
	}
	if o.Ports != nil {
		opts = append(opts, kfake.Ports(o.Ports...))
	}
	var err error
	if c.kfake, err = kfake.NewCluster(opts...); err != nil {
		return nil, err
	}
	c.addrs = c.kfake.ListenAddrs()
	if err := c.mirror.start(c); err != nil {
		c.kfake.Close()
		return nil, err
	}
	c.wg.Go(func() { c.mirror.run(ctx) })
	return c, nil
}

// begin gives the cluster its past and starts the applications.
func (c *Cluster) begin(ctx context.Context) error {
	p, err := c.newProducer()
	if err != nil {
		return err
	}
	ends, err := c.createTopics(ctx, p)
	if err != nil {
		p.Close()
		return err
	}
	if err := c.commitPast(ctx, ends); err != nil {
		p.Close()
		return err
	}
	c.startProducers(ctx, p)
	c.startConsumers(ctx)
	c.startShareWorkers(ctx)
	return nil
}

// Bootstrap are the addresses of the brokers.
func (c *Cluster) Bootstrap() []string { return append([]string(nil), c.addrs...) }

// Close stops the applications and the brokers and waits until they are gone. More than once is allowed.
func (c *Cluster) Close() {
	c.close.Do(func() {
		c.stop()
		c.wg.Wait()
		c.mirror.stop()
		c.kfake.Close()
	})
}

// client makes a client of the cluster. An application's clients connect from the host of the member with
// that client id.
func (c *Cluster) client(clientID string, opts ...kgo.Opt) (*kgo.Client, error) {
	opts = append([]kgo.Opt{kgo.SeedBrokers(c.addrs...), kgo.ClientID(clientID)}, opts...)
	if c.dial != nil {
		opts = append(opts, kgo.Dialer(c.dial))
	}
	return kgo.NewClient(opts...)
}

// wait pauses for d and reports whether ctx is still alive.
func wait(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}

func ms(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }
