package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

// realShare is a topic and a share group of their own on a real cluster, with a connection that can be cut.
type realShare struct {
	*testing.T
	conn         *Connection
	cuts         *cutter
	topic, group string
	follower     *Follower
	key          model.SharePartitionKey
}

func newRealShare(t *testing.T, k *kafkatest.Cluster, partitions, records int) *realShare {
	t.Helper()
	r := &realShare{T: t, topic: kafkatest.Name("held"), group: kafkatest.Name("holders"), cuts: new(cutter)}
	k.CreateTopic(t, r.topic, partitions)
	k.SetGroupConfig(t, r.group, "share.auto.offset.reset", "earliest")
	k.SetGroupConfig(t, r.group, "share.record.lock.duration.ms", "15000")
	r.produce(k, partitions, records)
	r.cuts.dial = (&Connection{}).dialer(5 * time.Second)
	r.conn = Connect(Config{Bootstrap: k.Bootstrap(), Dial: r.cuts.connect, Audit: auditFile(t)})
	t.Cleanup(r.conn.Close)
	r.follower = NewFollower(r.conn, FollowOptions{})
	t.Cleanup(r.follower.Close)
	return r
}

// produce produces records in batches of one, so that Kafka 4.1 hands them out one by one.
func (r *realShare) produce(k *kafkatest.Cluster, partitions, records int) {
	cl := k.Client(r.T, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for p := range partitions {
		for i := range records {
			rec := &kgo.Record{Topic: r.topic, Partition: int32(p), Value: fmt.Append(nil, i)}
			if err := cl.ProduceSync(r.Context(), rec).FirstErr(); err != nil {
				r.Fatal(err)
			}
		}
	}
}

func (r *realShare) take(n int, partitions ...int32) *ShareSession {
	r.Helper()
	s, err := r.conn.Take(r.Context(), TakeRequest{Group: r.group, Topic: r.topic, Partitions: partitions, Count: n})
	if err != nil {
		r.Fatal(err)
	}
	awaitSession(r.T, s, "all are taken", func(now *model.ShareSession) bool { return now.Missing == 0 && len(now.Held) > 0 })
	r.key = model.SharePartitionKey{Group: r.group, TopicID: s.Now().TopicID}
	return s
}

func (r *realShare) refs(partition int32, offsets ...int64) (out []model.RecordRef) {
	for _, o := range offsets {
		out = append(out, model.RecordRef{Topic: r.topic, Partition: partition, Offset: o})
	}
	return out
}

func (r *realShare) decide(s *ShareSession, d model.Decision, offsets ...int64) []string {
	r.Helper()
	results, err := s.Decide(r.Context(), r.refs(0, offsets...), d)
	return codes(r.T, results, err)
}

// recorded waits until the state topic says what is wanted of partition 0: "effective start: outcome outcome ...", such as
// "0: acknowledged×1 available×2 -".
func (r *realShare) recorded(want string) {
	r.Helper()
	ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
	defer cancel()
	r.follower.Watch([]model.SharePartitionKey{r.key}, []model.SharePartitionKey{r.key})
	last := "nothing"
	for {
		records, err := r.follower.Next(ctx)
		if err != nil {
			r.Fatalf("the state topic has %q, want %q", last, want)
		}
		if p := records.Partitions[r.key]; p != nil && p.CaughtUp {
			if last = describeState(p.History.Now(), strings.Count(want, " ")); last == want {
				return
			}
		}
	}
}

func describeState(s *model.ShareState, n int) string {
	start := s.Effective().Or(-1)
	out := fmt.Sprintf("%d:", start)
	for i := range n {
		d, ok := s.At(start + int64(i))
		if !ok {
			out += " -"
			continue
		}
		out += fmt.Sprintf(" %s×%d", d.State, d.Count)
	}
	return out
}

// What is decided is what the state topic says, on every version.
func TestRealSession(t *testing.T) {
	t.Parallel()
	kafkatest.Run(t, func(t *testing.T, version string) {
		k := kafkatest.Shared(t, version)
		old := strings.HasPrefix(version, "4.1.")
		r := newRealShare(t, k, 1, 10)
		late := newRealShare(t, k, 1, 3)
		running := late.take(3) // its locks run out meanwhile
		took := time.Now()

		s := r.take(8)
		expect(t, "held", offsets(s.Held()), []int64{0, 1, 2, 3, 4, 5, 6, 7})
		expect(t, "accept 3", r.decide(s, model.DecisionAccept, 3), []string{"ok"})
		expect(t, "reject 7", r.decide(s, model.DecisionReject, 7), []string{"ok"})
		expect(t, "release 5", r.decide(s, model.DecisionRelease, 5), []string{"ok"})
		expect(t, "accept 0 and 1", r.decide(s, model.DecisionAccept, 1, 0), []string{"ok", "ok"})
		r.recorded("2: - acknowledged×1 - available×1 - archived×1")
		renew := "ok"
		if old {
			renew = "not_renewable"
		}
		expect(t, "renew 2", r.decide(s, model.DecisionRenew, 2), []string{renew})
		if now := s.Now(); now.Exact.Or(false) == old || now.CloseUndoes != model.Some(old) || now.Limit != model.Some[int64](5) || now.Lock.Or(0) != 15*time.Second {
			t.Errorf("learned of the broker: exact %v, close undoes %v, limit %v, lock %v, version %q", now.Exact, now.CloseUndoes, now.Limit, now.Lock, now.Version)
		}

		// Kill -9: the connection ends and nothing is said.
		r.cuts.cut(false)
		awaitSession(t, s, "the loss is noticed", func(now *model.ShareSession) bool { return len(now.Held) == 0 })
		if err := s.More(4); err != nil {
			t.Fatal(err)
		}
		awaitSession(t, s, "it goes on", func(now *model.ShareSession) bool { return now.Missing == 0 })
		counts := map[bool]string{true: "[1 1 2 1]", false: "[2 2 2 2]"}[old] // 2 4 5 6
		if got := fmt.Sprint(heldCounts(s)); got != counts || fmt.Sprint(offsets(s.Held())) != "[2 4 5 6]" {
			t.Errorf("after the end of the connection: held %v with counts %s, want %s", offsets(s.Held()), got, counts)
		}

		if err := s.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
		if old {
			r.recorded("2: available×0 acknowledged×1 available×0 available×1 available×0 archived×1")
		} else {
			r.recorded("2: available×2 acknowledged×1 available×2 available×2 available×2 archived×1")
		}

		if !old {
			expect(t, "renew one of three", late.decide(running, model.DecisionRenew, 1), []string{"ok"})
		}
		awaitSession(t, running, "locks have run out", func(now *model.ShareSession) bool { return len(now.Held) <= 1 })
		if d := time.Since(took); d < 10*time.Second || d > 17*time.Second {
			t.Errorf("the locks of 15 s ran out after %s", d)
		}
		expect(t, "late accept", late.decide(running, model.DecisionAccept, 0), []string{"not_held"})
		if old {
			late.recorded("0: available×1 available×1 available×1")
		} else {
			late.recorded("0: available×1 - available×1")
			expect(t, "accept in time", late.decide(running, model.DecisionAccept, 1), []string{"ok"})
			late.recorded("0: available×1 acknowledged×1 available×1")
		}
		if err := running.Leave(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func heldCounts(s *ShareSession) (out []int16) {
	for _, h := range s.Held() {
		out = append(out, h.Count)
	}
	return out
}

// On Kafka 4.1 a batch of the producer is taken whole, and that is what is shown.
func TestRealSessionTakesWholeBatches(t *testing.T) {
	kafkatest.Run(t, func(t *testing.T, version string) {
		k := kafkatest.Shared(t, version)
		r := newRealShare(t, k, 1, 0)
		k.Produce(t, r.topic, 0, 5)
		s := r.take(2)
		want := []int64{0, 1}
		if strings.HasPrefix(version, "4.1.") {
			want = []int64{0, 1, 2, 3, 4}
		}
		expect(t, "held", offsets(s.Held()), want)
	})
}

// Renewing can be turned off for a group.
func TestRealSessionWithoutRenewal(t *testing.T) {
	kafkatest.Run(t, func(t *testing.T, version string) {
		if strings.HasPrefix(version, "4.1.") || strings.HasPrefix(version, "4.2.") {
			return // there is no such setting
		}
		k := kafkatest.Shared(t, version)
		r := newRealShare(t, k, 1, 1)
		k.SetGroupConfig(t, r.group, "share.renew.acknowledge.enable", "false")
		s := r.take(1)
		awaitSession(t, s, "the settings are known", func(now *model.ShareSession) bool { return now.Limit.Known() })
		expect(t, "renew", r.decide(s, model.DecisionRenew, 0), []string{"not_renewable"})
		expect(t, "accept", r.decide(s, model.DecisionAccept, 0), []string{"ok"})
	})
}

// A random run is as the model says on real brokers too.
func TestRealSessionIsAsTheModelSays(t *testing.T) {
	t.Parallel()
	kafkatest.Run(t, func(t *testing.T, version string) {
		k := kafkatest.Shared(t, version)
		r := newRealShare(t, k, 1, 6)
		kinds := slices.DeleteFunc(slices.Clone(moveKinds), func(kind string) bool { return kind == "wait" || kind == "expire" })
		rules := model.DeliveryRules{Limit: 5, CloseUndoes: strings.HasPrefix(version, "4.1.")}
		if rules.CloseUndoes {
			kinds = slices.DeleteFunc(kinds, func(kind string) bool { return kind == "renew" })
		}
		w := &world{
			conn: r.conn, group: r.group, topic: r.topic, end: 6, lock: 15 * time.Second,
			window:     model.NewRecordWindow(rules, 0, 0),
			disconnect: func() { r.cuts.cut(false) },
		}
		if err := w.play(t.Context(), drawMoves(kinds, 24).Example(4)); err != nil {
			t.Fatal(err)
		}
	})
}
