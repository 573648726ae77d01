package kafka

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"go.uber.org/goleak"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

func TestMain(m *testing.M) { kafkatest.Main(m) }

// fakeCluster is an embedded cluster of three brokers with the topic orders of 3 partitions.
type fakeCluster struct {
	*kfake.Cluster
	t testing.TB
}

func newFake(t testing.TB, opts ...kfake.Opt) *fakeCluster {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, leaks) })
	opts = append([]kfake.Opt{kfake.NumBrokers(3), kfake.SeedTopics(3, "orders"), kfake.BrokerConfigs(map[string]string{
		"group.consumer.heartbeat.interval.ms": "100",
		"group.share.heartbeat.interval.ms":    "100",
	})}, opts...)
	c, err := kfake.NewCluster(opts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &fakeCluster{c, t}
}

// client makes a client that is closed with the test.
func (f *fakeCluster) client(opts ...kgo.Opt) *kgo.Client {
	f.t.Helper()
	cl, err := kgo.NewClient(append([]kgo.Opt{kgo.SeedBrokers(f.ListenAddrs()...), kgo.FetchMaxWait(100 * time.Millisecond)}, opts...)...)
	if err != nil {
		f.t.Fatal(err)
	}
	f.t.Cleanup(cl.Close)
	return cl
}

// produce appends n records to a partition.
func (f *fakeCluster) produce(topic string, partition int32, n int) {
	f.t.Helper()
	cl := f.client(kgo.RecordPartitioner(kgo.ManualPartitioner()))
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Partition: partition, Value: []byte("v")}
	}
	if err := cl.ProduceSync(f.t.Context(), records...).FirstErr(); err != nil {
		f.t.Fatal(err)
	}
}

// commit commits offsets of a group that has no members.
func (f *fakeCluster) commit(group, topic string, offsets ...int64) {
	f.t.Helper()
	var o kadm.Offsets
	for n, offset := range offsets {
		o.AddOffset(topic, int32(n), offset, -1)
	}
	if err := kadm.NewClient(f.client()).CommitAllOffsets(f.t.Context(), group, o); err != nil {
		f.t.Fatal(err)
	}
}

// consume starts a member of a group that reads until the test ends.
func consume(t testing.TB, cl *kgo.Client) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			cl.PollFetches(ctx)
		}
	}()
	t.Cleanup(func() { cancel(); <-done })
}

// source makes a source of the cluster, with the requests that it sends.
func (f *fakeCluster) source() (*Source, *wire) {
	f.t.Helper()
	return newSource(f.t, f.ListenAddrs())
}

func newSource(t testing.TB, bootstrap []string) (*Source, *wire) {
	w := new(wire)
	c := Connect(Config{Bootstrap: bootstrap, Dial: w.dial})
	s := NewSource(c)
	t.Cleanup(func() { s.Close(); c.Close() })
	return s, w
}

func snapshot(t testing.TB, s *Source, want model.Want) *model.Snapshot {
	t.Helper()
	snap, err := s.Snapshot(t.Context(), want)
	if err != nil {
		t.Fatalf("snapshot: %v", err)
	}
	return snap
}

// await polls until ok is satisfied with the snapshot.
func await(t testing.TB, s *Source, what string, ok func(*model.Snapshot) bool) *model.Snapshot {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		snap := snapshot(t, s, model.Want{})
		if ok(snap) {
			return snap
		}
		if time.Now().After(deadline) {
			t.Fatalf("never saw that %s; the last snapshot: %+v", what, snap)
		}
	}
}

func group(t testing.TB, snap *model.Snapshot, id string) *model.Group {
	t.Helper()
	g, ok := snap.Group(id)
	if !ok {
		t.Fatalf("no group %s in %+v", id, snap)
	}
	return g
}

func TestSnapshotOfEveryType(t *testing.T) {
	f := newFake(t)
	for n := range int32(3) {
		f.produce("orders", n, 10)
	}
	f.commit("simple", "orders", 4, 10)
	consume(t, f.client(kgo.ConsumerGroup("classic"), kgo.ConsumeTopics("orders"), kgo.ClientID("alpha")))
	consume(t, f.client(kgo.ConsumerGroup("modern"), kgo.ConsumeTopics("orders"), kgo.ServerSideBalancer(), kgo.ClientID("beta")))
	f.SetGroupConfigs("shared", map[string]string{"share.auto.offset.reset": "earliest"})
	consume(t, f.client(kgo.ShareGroup("shared"), kgo.ConsumeTopics("orders"), kgo.ClientID("gamma")))

	s, _ := f.source()
	snap := await(t, s, "all members have partitions", func(snap *model.Snapshot) bool {
		for _, id := range []string{"classic", "modern", "shared"} {
			g, ok := snap.Group(id)
			if !ok || len(g.Members) != 1 || g.Members[0].Assigned() != 3 || g.State != "Stable" {
				return false
			}
		}
		return true
	})
	if snap.Cluster.Up() != 3 || len(snap.Problems) > 0 {
		t.Errorf("brokers up: %d of 3, problems %v", snap.Cluster.Up(), snap.Problems)
	}
	simple := group(t, snap, "simple")
	if lag, partial := simple.Lag(); lag != model.Some[int64](6) || partial {
		t.Errorf("lag of simple: %v, partial %v", lag, partial)
	}
}
