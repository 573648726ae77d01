package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/model"
)

const (
	testLock  = 15 * time.Second
	testSweep = 200 * time.Millisecond
)

// shareRig is an embedded cluster in fake time with a topic "orders" and a share group "workers" on it.
type shareRig struct {
	*testing.T
	kfake *kfake.Cluster
	net   kfake.VirtualNetwork
	conn  *Connection
	cuts  cutter
}

// inShareRig runs a test on a cluster of n brokers. Each partition has records records.
func inShareRig(t *testing.T, n, partitions, records int, test func(t *testing.T, r *shareRig)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &shareRig{T: t}
		ports := []int{9092, 9093, 9094}[:n]
		k, err := kfake.NewCluster(
			kfake.NumBrokers(n), kfake.Ports(ports...), kfake.ListenFn(r.net.Listen),
			kfake.SeedTopics(int32(partitions), "orders"),
			kfake.BrokerConfigs(map[string]string{
				"group.share.record.lock.duration.ms": strconv.FormatInt(testLock.Milliseconds(), 10),
				"share.record.lock.sweep.interval.ms": strconv.FormatInt(testSweep.Milliseconds(), 10),
				"group.share.delivery.count.limit":    "3",
			}))
		if err != nil {
			t.Fatal(err)
		}
		r.kfake = k
		k.SetGroupConfigs("workers", map[string]string{"share.auto.offset.reset": "earliest"})
		r.cuts.dial = r.net.DialContext
		r.conn = Connect(Config{Bootstrap: k.ListenAddrs(), Dial: r.cuts.connect, Audit: auditFile(t)})
		defer func() {
			r.conn.Close()
			k.Close()
			time.Sleep(time.Minute) // timers of the brokers
		}()
		r.produce(partitions, records)
		test(t, r)
	})
}

func (r *shareRig) produce(partitions, records int) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.kfake.ListenAddrs()...), kgo.Dialer(r.net.DialContext), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		r.Fatal(err)
	}
	defer cl.Close()
	for p := range partitions {
		for i := range records {
			rec := &kgo.Record{Topic: "orders", Partition: int32(p), Key: fmt.Append(nil, "k", i), Value: fmt.Append(nil, i), Headers: []kgo.RecordHeader{{Key: "h", Value: []byte("v")}}}
			if err := cl.ProduceSync(r.Context(), rec).FirstErr(); err != nil {
				r.Fatal(err)
			}
		}
	}
}

// take takes records, and waits until they are held.
func (r *shareRig) take(n int, partitions ...int32) *ShareSession {
	r.Helper()
	s, err := r.conn.Take(r.Context(), TakeRequest{Group: "workers", Topic: "orders", Partitions: partitions, Count: n})
	if err != nil {
		r.Fatal(err)
	}
	awaitSession(r.T, s, "all are taken", func(now *model.ShareSession) bool { return now.Phase == model.SessionMember && now.Missing == 0 })
	return s
}

// await reads the session until a value is as wanted, and returns the events until then.
func awaitSession(t testing.TB, s *ShareSession, what string, wanted func(*model.ShareSession) bool) []model.SessionEvent {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var events []model.SessionEvent
	for {
		if now := s.Now(); wanted(now) {
			return append(events, drain(s)...)
		}
		now, err := s.Next(ctx)
		if err != nil {
			last := s.Now()
			t.Fatalf("waiting until %s: %v; the session: phase %s, missing %d, held %v, waits %v, problem %v, events %v", what, err, last.Phase, last.Missing, offsets(last.Held), last.Waits, last.Problem, events)
		}
		events = append(events, now.Events...)
	}
}

// drain are the events that nobody has read yet.
func drain(s *ShareSession) []model.SessionEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

func offsets(held []model.HeldRecord) (out []int64) {
	for i := range held {
		out = append(out, held[i].Offset)
	}
	return out
}

func at(partition int32, offsets ...int64) (out []model.RecordRef) {
	for _, o := range offsets {
		out = append(out, model.RecordRef{Topic: "orders", Partition: partition, Offset: o})
	}
	return out
}

// codes are the codes of results, "ok" for those without one.
func codes(t testing.TB, results []model.ActionResult, err error) (out []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		switch {
		case r.OK && r.Code == "":
			out = append(out, "ok")
		case !r.OK && r.Text == "":
			t.Errorf("no words for %+v", r)
			fallthrough
		default:
			out = append(out, r.Code)
		}
	}
	return out
}

func expect[T comparable](t testing.TB, what string, got, want []T) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// cutter ends connections on demand.
type cutter struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu    sync.Mutex
	conns map[net.Conn]bool
	down  bool
}

var errCut = &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("the network is cut")}

func (c *cutter) connect(ctx context.Context, network, address string) (net.Conn, error) {
	c.mu.Lock()
	down := c.down
	c.mu.Unlock()
	if down {
		return nil, errCut
	}
	conn, err := c.dial(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns == nil {
		c.conns = make(map[net.Conn]bool)
	}
	c.conns[conn] = true
	return conn, nil
}

// cut ends all connections; down refuses new ones.
func (c *cutter) cut(down bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for conn := range c.conns {
		conn.Close()
	}
	clear(c.conns)
	c.down = down
}

// steal accepts a record in the session's name on another connection, and so with a session of its own.
func (r *shareRig) steal(s *ShareSession, offset int64) {
	r.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(r.kfake.ListenAddrs()...), kgo.Dialer(r.net.DialContext))
	if err != nil {
		r.Fatal(err)
	}
	defer cl.Close()
	now := s.Now()
	own := &sessionState{group: now.Group, member: now.Member, topicID: now.TopicID}
	var epoch int32
	_ = s.callAndSee(func() { epoch = s.own.leaders[0].epoch })
	resp, err := own.shareAcknowledge(epoch, []*verdict{{hold: &hold{HeldRecord: now.Held[offset]}, decision: model.DecisionAccept}}).RequestWith(r.Context(), cl.Broker(0))
	if err != nil || resp.ErrorCode != 0 || resp.Topics[0].Partitions[0].ErrorCode != 0 {
		r.Fatal(err, resp)
	}
	_ = s.callAndSee(func() { s.own.leaders[0].epoch++ })
}

func TestSessionDecidesInAnyOrder(t *testing.T) {
	inShareRig(t, 1, 1, 10, func(t *testing.T, r *shareRig) {
		s := r.take(8)
		expect(t, "held", offsets(s.Held()), []int64{0, 1, 2, 3, 4, 5, 6, 7})
		if h := s.Held()[2]; string(h.Key) != "k2" || string(h.Value) != "2" || len(h.Headers) != 1 || h.Count != 1 {
			t.Errorf("record 2 is %+v", h)
		}
		decide := func(d model.Decision, offsets ...int64) []string {
			t.Helper()
			results, err := s.Decide(t.Context(), at(0, offsets...), d)
			return codes(t, results, err)
		}
		expect(t, "accept 3", decide(model.DecisionAccept, 3), []string{"ok"})
		expect(t, "reject 7 and 0", decide(model.DecisionReject, 7, 0), []string{"ok", "ok"})
		expect(t, "release 5", decide(model.DecisionRelease, 5), []string{"ok"})
		expect(t, "accept what is gone", decide(model.DecisionAccept, 3, 9, 1), []string{"not_held", "not_held", "ok"})
		expect(t, "held", offsets(s.Held()), []int64{2, 4, 6})
		if err := s.More(3); err != nil {
			t.Fatal(err)
		}
		awaitSession(t, s, "three more are held", func(now *model.ShareSession) bool { return now.Missing == 0 })
		expect(t, "held", offsets(s.Held()), []int64{2, 4, 5, 6, 8, 9})
		if h := s.Held()[2]; h.Count != 2 {
			t.Errorf("the released record is handed out with count %d", h.Count)
		}
		if err := s.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Decide(t.Context(), at(0, 2), model.DecisionAccept); err != nil {
			t.Error(err)
		}
		again := r.take(6)
		for i, want := range []int16{2, 2, 3, 2, 2, 2} {
			if h := again.Held()[i]; h.Count != want {
				t.Errorf("after the session ended record %d is handed out with count %d, want %d", h.Offset, h.Count, want)
			}
		}
	})
}

func TestSessionLocksRunOut(t *testing.T) {
	inShareRig(t, 1, 1, 3, func(t *testing.T, r *shareRig) {
		s := r.take(3)
		time.Sleep(testLock - time.Second)
		results, err := s.Decide(t.Context(), at(0, 1), model.DecisionRenew)
		expect(t, "renew", codes(t, results, err), []string{"ok"})
		events := awaitSession(t, s, "two locks have run out", func(now *model.ShareSession) bool { return len(now.Held) == 1 })
		if n := len(events); n < 2 || events[n-1].Event != model.EventLockTimeout || events[n-1].Code != "lock_ran_out" {
			t.Errorf("events: %v", events)
		}
		expect(t, "held", offsets(s.Held()), []int64{1})
		results, err = s.Decide(t.Context(), at(0, 0, 1), model.DecisionAccept)
		expect(t, "late accept", codes(t, results, err), []string{"not_held", "ok"})
	})
}

func TestSessionRenewsByItselfForATime(t *testing.T) {
	inShareRig(t, 1, 1, 3, func(t *testing.T, r *shareRig) {
		s := r.take(2)
		if err := s.AutoRenew(time.Minute); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Minute)
		expect(t, "held after a minute", offsets(s.Held()), []int64{0, 1})
		if h := s.Held()[0]; h.Renewed < 4 {
			t.Errorf("renewed %d times", h.Renewed)
		}
		awaitSession(t, s, "the locks have run out", func(now *model.ShareSession) bool { return len(now.Held) == 0 })
		if !s.Now().RenewUntil.IsZero() {
			t.Error("renewal goes on")
		}
	})
}

// A connection that ends takes the holds with it, and that is noticed without anything being asked.
func TestSessionLosesItsConnection(t *testing.T) {
	inShareRig(t, 1, 1, 3, func(t *testing.T, r *shareRig) {
		s := r.take(2)
		r.cuts.cut(false)
		events := awaitSession(t, s, "the loss is noticed", func(now *model.ShareSession) bool { return len(now.Held) == 0 })
		if n := len(events); n < 2 || events[n-1].Event != model.EventSessionClose {
			t.Errorf("events: %v", events)
		}
		results, err := s.Decide(t.Context(), at(0, 0), model.DecisionAccept)
		expect(t, "accept", codes(t, results, err), []string{"not_held"})
		if err := s.More(2); err != nil {
			t.Fatal(err)
		}
		awaitSession(t, s, "it goes on", func(now *model.ShareSession) bool { return len(now.Held) == 2 })
		if h := s.Held()[0]; h.Count != 2 {
			t.Errorf("count %d", h.Count)
		}
	})
}

// While the network is down nothing hangs: what was asked is answered, and leaving takes a bounded time.
func TestSessionLeavesWithoutNetwork(t *testing.T) {
	inShareRig(t, 1, 1, 3, func(t *testing.T, r *shareRig) {
		s := r.take(2)
		r.cuts.cut(true)
		results, err := s.Decide(t.Context(), at(0, 1), model.DecisionAccept)
		if got := codes(t, results, err); results[0].OK {
			t.Errorf("accepted: %v", got)
		}
		began := time.Now()
		if err := s.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > leaveLimit+time.Second {
			t.Errorf("leaving took %s", took)
		}
	})
}

func TestSessionFollowsALeader(t *testing.T) {
	inShareRig(t, 3, 2, 3, func(t *testing.T, r *shareRig) {
		s := r.take(4, 0, 1)
		moved := int32(0)
		var node int32
		for n := range int32(3) {
			if n != r.kfake.LeaderFor("orders", moved) && n != r.kfake.LeaderFor("orders", 1) {
				node = n
			}
		}
		if err := r.kfake.MoveTopicPartition("orders", moved, node); err != nil {
			t.Fatal(err)
		}
		results, err := s.Decide(t.Context(), []model.RecordRef{at(0, 0)[0], at(1, 0)[0]}, model.DecisionAccept)
		expect(t, "accept", codes(t, results, err), []string{"leader_moved", "ok"})
		for _, h := range s.Held() {
			if h.Partition == moved {
				t.Errorf("still held under the old leader: %v", h.Ref())
			}
		}
		// kfake keeps holds over a move, so their locks have to run out.
		if err := s.More(8); err != nil {
			t.Fatal(err)
		}
		awaitSession(t, s, "records of the new leader", func(now *model.ShareSession) bool {
			return slices.ContainsFunc(now.Held, func(h model.HeldRecord) bool { return h.Partition == moved })
		})
	})
}

func TestTwoGroupsAtOnce(t *testing.T) {
	inShareRig(t, 3, 2, 3, func(t *testing.T, r *shareRig) {
		r.kfake.SetGroupConfigs("others", map[string]string{"share.auto.offset.reset": "earliest"})
		a := r.take(6)
		b, err := r.conn.Take(t.Context(), TakeRequest{Group: "others", Topic: "orders", Count: 6})
		if err != nil {
			t.Fatal(err)
		}
		awaitSession(t, b, "the other group has all too", func(now *model.ShareSession) bool { return len(now.Held) == 6 })
		if len(a.Held()) != 6 {
			t.Errorf("the first group holds %d", len(a.Held()))
		}
		r.conn.Close()
		if a.Now().Phase != model.SessionLeft || b.Now().Phase != model.SessionLeft || len(a.Held())+len(b.Held()) != 0 {
			t.Error("the connection was closed without leaving the groups")
		}
	})
}

func TestSessionThatCannotBegin(t *testing.T) {
	inShareRig(t, 1, 1, 1, func(t *testing.T, r *shareRig) {
		for name, req := range map[string]TakeRequest{
			"UNKNOWN_TOPIC_OR_PARTITION": {Group: "workers", Topic: "nothing", Count: 1},
			"no_partition":               {Group: "workers", Topic: "orders", Partitions: []int32{7}, Count: 1},
		} {
			s, err := r.conn.Take(t.Context(), req)
			if err != nil {
				t.Fatal(err)
			}
			<-s.Done()
			if p := s.Now().Problem; p == nil || p.Code != name || p.Text == "" {
				t.Errorf("%s: %+v", name, p)
			}
		}
	})
}

// What the broker refuses together is repeated one by one, and only the record that it is about fails.
func TestRefusalIsPerRecord(t *testing.T) {
	inShareRig(t, 1, 1, 4, func(t *testing.T, r *shareRig) {
		s := r.take(4)
		// Behind the session's back, so that it does not know that one lock is gone.
		r.steal(s, 2)
		results, err := s.Decide(t.Context(), at(0, 2, 3), model.DecisionAccept)
		expect(t, "accept", codes(t, results, err), []string{"INVALID_RECORD_STATE", "ok"})
		expect(t, "held", offsets(s.Held()), []int64{0, 1})
	})
}
