package kafka

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
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
	if lag, partial := group(t, snap, "simple").Lag(); lag != model.Some[int64](6) || partial {
		t.Errorf("lag of simple: %v, partial %v", lag, partial)
	}
	for id, want := range map[string]struct {
		typ    model.GroupType
		client string
		epoch  bool
		owner  int32
	}{
		"classic": {model.TypeClassic, "alpha", false, 0},
		"modern":  {model.TypeConsumer, "beta", true, 0},
		"shared":  {model.TypeShare, "gamma", true, model.NoMember},
	} {
		g := group(t, snap, id)
		m := g.Members[0]
		if g.Type != want.typ || m.ClientID != want.client || !strings.HasPrefix(m.Host, "127.0.0.1") || m.Epoch.Known() != want.epoch || len(m.Subscribed) != 1 {
			t.Errorf("group %s: %+v", id, g)
		}
		if len(m.Assignment) != 1 || m.Assignment[0].Topic != "orders" || !slices.Equal(m.Assignment[0].Partitions, []int32{0, 1, 2}) {
			t.Errorf("assignment of %s: %+v", id, m.Assignment)
		}
		if g.Coordinator != f.CoordinatorFor(id) || g.Described != snap.At || !g.Operations.Known() {
			t.Errorf("group %s: coordinator %d, described %v at %v, operations %v", id, g.Coordinator, g.Described, snap.At, g.Operations)
		}
		if len(g.Partitions) != 3 {
			t.Fatalf("partitions of %s: %+v", id, g.Partitions)
		}
		for _, p := range g.Partitions {
			if p.Member != want.owner || p.End != model.Some[int64](10) || p.Start != model.Some[int64](0) {
				t.Errorf("group %s: %+v", id, p)
			}
		}
	}
	topic, ok := snap.Topic("orders")
	if !ok || len(topic.Partitions) != 3 || topic.Partitions[1].At != snap.At || !topic.Operations.Known() {
		t.Errorf("topic orders: %+v", topic)
	}
	if snap.Cluster.Share != model.ShareOn || snap.Cluster.ID == "" || len(snap.Cluster.Features) == 0 || !snap.Cluster.Operations.Known() {
		t.Errorf("cluster: %+v", snap.Cluster)
	}
}

func TestShareOffsets(t *testing.T) {
	f := newFake(t)
	for n := range int32(3) {
		f.produce("orders", n, 10)
	}
	f.SetGroupConfigs("shared", map[string]string{"share.auto.offset.reset": "earliest"})
	cl := f.client(kgo.ShareGroup("shared"), kgo.ConsumeTopics("orders"))
	accepted := 0
	for accepted < 30 {
		fetches := cl.PollFetches(t.Context())
		fetches.EachRecord(func(r *kgo.Record) { r.Ack(kgo.AckAccept); accepted++ })
	}
	s, w := f.source()
	await(t, s, "the share group has a member", func(snap *model.Snapshot) bool {
		g, ok := snap.Group("shared")
		return ok && len(g.Members) == 1 && g.Members[0].Assigned() == 3
	})
	f.produce("orders", 1, 7) // after the last snapshot, which therefore is behind the position
	var read model.ShareOffsets
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		// The records may all be here while their acknowledgements are still on the way: nothing more comes then.
		poll, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		cl.PollFetches(poll).EachRecord(func(r *kgo.Record) { r.Ack(kgo.AckAccept) })
		cancel()
		var err error
		if read, err = s.ShareOffsets(t.Context(), []string{"shared", "missing"}); err != nil {
			t.Fatal(err)
		}
		p := read.Groups["shared"].Partitions
		if len(p) == 3 && p[1].Position == model.Some[int64](17) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("share offsets: %+v", read)
		}
	}
	for n, p := range read.Groups["shared"].Partitions {
		end := int64(10)
		if n == 1 {
			end = 17
		}
		if p.End != model.Some(end) || p.Start != model.Some[int64](0) || p.Lag != model.Some[int64](0) || p.Beyond != 0 || p.Member != model.NoMember {
			t.Errorf("share-partition %d: %+v", n, p)
		}
	}
	if missing, ok := read.Groups["missing"]; !ok || missing.Problem != nil || len(missing.Partitions) > 0 {
		t.Errorf("a group that does not exist: %+v", missing)
	}
	if w.seen()[int16(kmsg.DescribeShareGroupOffsets)]%2 != 0 {
		t.Errorf("requests %v: not one per group", w.seen())
	}
	snap := snapshot(t, s, model.Want{}).WithShareOffsets(read)
	if g := group(t, snap, "shared"); len(g.Partitions) != 3 || g.OffsetsAt != read.Groups["shared"].At {
		t.Errorf("merged: %+v", g)
	}
}

// TestShareOffsetsStall holds that a group whose coordinator is slow to answer does not keep the others from being
// read for ever.
func TestShareOffsetsStall(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(1))
	f.produce("orders", 0, 10)
	groups := []string{"a", "b", "c"}
	for _, id := range groups {
		f.SetGroupConfigs(id, map[string]string{"share.auto.offset.reset": "earliest"})
		consume(t, f.client(kgo.ShareGroup(id), kgo.ConsumeTopics("orders")))
	}
	s, _ := f.source()
	s.shares.patience = 300 * time.Millisecond
	var read model.ShareOffsets
	positions := func(id string) int {
		n := 0
		for _, p := range read.Groups[id].Partitions {
			if p.Position.Known() {
				n++
			}
		}
		return n
	}
	await(t, s, "all groups have positions", func(*model.Snapshot) bool {
		var err error
		if read, err = s.ShareOffsets(t.Context(), groups); err != nil {
			t.Fatal(err)
		}
		return positions("a") == 3 && positions("b") == 3 && positions("c") == 3
	})
	release := make(chan struct{})
	var once sync.Once
	t.Cleanup(func() { once.Do(func() { close(release) }) })
	f.ControlKey(int16(kmsg.DescribeShareGroupOffsets), func(req kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if req.(*kmsg.DescribeShareGroupOffsetsRequest).Groups[0].GroupID == "a" {
			f.SleepControl(func() { <-release })
		}
		return nil, nil, false
	})
	first, err := s.ShareOffsets(t.Context(), groups)
	if err != nil {
		t.Fatal(err)
	}
	for id, g := range first.Groups {
		if late := g.At == read.Groups[id].At; late && (g.Problem == nil || g.Problem.Code != "no_answer" || len(g.Partitions) != 3) {
			t.Errorf("%s was not answered: %+v", id, g)
		}
	}
	if g := first.Groups["a"]; g.Problem == nil {
		t.Errorf("the group that stalls has no problem: %+v", g)
	}
	once.Do(func() { close(release) })
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if read, err = s.ShareOffsets(t.Context(), groups); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(groups, func(id string) bool { return read.Groups[id].Problem != nil }) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("share offsets do not recover: %+v", read)
		}
	}
}
