package kafka

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

func TestFollow(t *testing.T) {
	t.Parallel()
	c := newStateCluster(t)
	c.makeTopic(parts)
	a, b, other := key("a"), key("b"), key("other")
	c.write(a, parts, initial(), outcome(0, 0, model.StateAcknowledged, 1), outcome(1, 3, model.StateAvailable, 1))
	c.write(b, parts, initial())
	c.write(other, parts, initial(), outcome(0, 9, model.StateAcknowledged, 1))

	w := new(wire)
	f := c.follow(Config{Dial: w.dial}, FollowOptions{})
	f.Watch([]model.SharePartitionKey{a, b}, nil)
	r := until(t, f, "both are caught up", caughtUp(a, b))
	if got := outcomes(r.Partitions[a]); got != "1: 3-3 available x1" {
		t.Errorf("a is %q", got)
	}
	if h := r.Partitions[a].History; h.Len() != 3 || !h.Whole() {
		t.Errorf("history of %d writes, whole %v", h.Len(), h.Whole())
	}
	if got := r.Partitions[b].History.Now(); !got.Recorded || got.Effective().Known() {
		t.Errorf("b is %+v", got)
	}
	if len(r.Partitions) != 2 || r.Problem != nil {
		t.Errorf("got %s", describeRecords(r))
	}

	c.write(a, parts, outcome(1, 1, model.StateAcknowledged, 1))
	r = until(t, f, "the update is seen", shows(a, "2: 1-1 acknowledged x1, 3-3 available x1"))
	if !slices.Equal(r.Changed, []model.SharePartitionKey{a}) {
		t.Errorf("%v changed", r.Changed)
	}
	c.write(a, parts, model.ShareWrite{Kind: model.WriteTombstone})
	until(t, f, "the tombstone is seen", func(r *model.ShareRecords) bool { p := r.Partitions[a].History; return !p.Now().Recorded })

	sent := slices.Sorted(maps.Keys(w.seen()))
	want := []int16{int16(kmsg.Fetch), int16(kmsg.ListOffsets), int16(kmsg.Metadata), int16(kmsg.ApiVersions)}
	if !slices.Equal(sent, want) {
		t.Errorf("requests %v were sent, want only %v", sent, want)
	}

	f.Watch(nil, nil)
	if r = until(t, f, "nothing is watched", func(r *model.ShareRecords) bool { return len(r.Partitions) == 0 }); r.Problem != nil {
		t.Errorf("got %s", describeRecords(r))
	}
}

// A share-partition that is watched later gets its whole history, and the one that was there is not disturbed.
func TestFollowAddsToAPartition(t *testing.T) {
	t.Parallel()
	c := newStateCluster(t)
	c.makeTopic(parts)
	keys := sameState(2, parts)
	a, b := keys[0], keys[1]
	c.write(a, parts, initial(), outcome(0, 0, model.StateAcknowledged, 1))
	c.write(b, parts, initial(), outcome(0, 0, model.StateAcknowledged, 1), outcome(1, 1, model.StateAcknowledged, 1))
	f := c.follow(Config{}, FollowOptions{})
	f.Watch(keys[:1], nil)
	until(t, f, "the first is caught up", caughtUp(a))
	f.Watch(keys, nil)
	until(t, f, "the second is caught up", func(r *model.ShareRecords) bool {
		if p := r.Partitions[a]; !p.CaughtUp || p.History.Len() != 2 || outcomes(p) != "1: 0-0 acknowledged x1" {
			t.Fatalf("the first was disturbed: %s", describeRecords(r))
		}
		return caughtUp(b)(r)
	})
	c.write(a, parts, outcome(1, 1, model.StateAcknowledged, 1))
	r := until(t, f, "the update is seen", shows(a, "2: 1-1 acknowledged x1"))
	if n := r.Partitions[a].History.Len(); n != 3 {
		t.Errorf("%d writes in the history, want 3", n)
	}
	if p := r.Partitions[b]; p.History.Len() != 3 || outcomes(p) != "2: 1-1 acknowledged x1" {
		t.Errorf("got %s", describeRecords(r))
	}
}

func TestFollowWithoutTopic(t *testing.T) {
	t.Parallel()
	c := newStateCluster(t)
	a := key("a")
	f := c.follow(Config{}, FollowOptions{})
	f.Watch([]model.SharePartitionKey{a}, nil)
	r := until(t, f, "the topic is missed", func(r *model.ShareRecords) bool { return r.Problem != nil })
	if r.Problem.Code != "no_state_topic" || r.Partitions[a].CaughtUp {
		t.Errorf("got %s", describeRecords(r))
	}
	if c.TopicInfo(sharestate.Topic) != nil {
		t.Fatal("following made the topic")
	}
	c.makeTopic(parts)
	c.write(a, parts, initial(), outcome(0, 0, model.StateAcknowledged, 1))
	if r = until(t, f, "the topic is read", caughtUp(a)); r.Problem != nil {
		t.Errorf("got %s", describeRecords(r))
	}
}

func TestFollowTopicMadeAgain(t *testing.T) {
	t.Parallel()
	c := newStateCluster(t)
	c.makeTopic(parts)
	a := key("a")
	c.write(a, parts, initial(), outcome(0, 0, model.StateAcknowledged, 1))
	f := c.follow(Config{}, FollowOptions{})
	f.Watch([]model.SharePartitionKey{a}, nil)
	until(t, f, "the first topic is read", caughtUp(a))
	if err := c.DeleteTopic(sharestate.Topic); err != nil {
		t.Fatal(err)
	}
	c.makeTopic(parts)
	c.cl.Close()
	c.cl = nil
	c.write(a, parts, initial(), outcome(0, 7, model.StateAcknowledged, 1))
	r := until(t, f, "the second topic is read", shows(a, "0: 7-7 acknowledged x1"))
	if n := r.Partitions[a].History.Len(); n > 2 {
		t.Errorf("%d writes in the history: those of the first topic are still there", n)
	}
}

func TestFollowWithoutTheRightToRead(t *testing.T) {
	c := newStateCluster(t, kfake.EnableSASL(), kfake.EnableACLs(), kfake.Superuser("PLAIN", "admin", "secret"),
		kfake.User("PLAIN", "viewer", "secret", kfake.ACL{
			Resource: kmsg.ACLResourceTypeTopic, Name: sharestate.Topic, Pattern: kmsg.ACLResourcePatternTypeLiteral,
			Operation: kmsg.ACLOperationDescribe, Allow: true,
		}), kfake.User("PLAIN", "nobody", "secret"))
	c.makeTopic(parts)
	for _, user := range []string{"viewer", "nobody"} {
		t.Run(user, func(t *testing.T) {
			w := new(wire)
			f := c.follow(Config{Dial: w.dial, SASL: plain.Auth{User: user, Pass: "secret"}.AsMechanism()}, FollowOptions{})
			f.Watch([]model.SharePartitionKey{key("a")}, nil)
			r := until(t, f, "the missing right is named", func(r *model.ShareRecords) bool { return r.Problem != nil })
			if r.Problem.Code != "TOPIC_AUTHORIZATION_FAILED" || !strings.Contains(r.Problem.Text, "The right READ on topic "+sharestate.Topic+" is missing") {
				t.Errorf("got %s", describeRecords(r))
			}
			if n := w.seen()[int16(kmsg.Fetch)]; n > 0 {
				t.Errorf("%d fetches although the right is missing", n)
			}
		})
	}
}

func TestFollowSkipsWhatItDoesNotUnderstand(t *testing.T) {
	c := newStateCluster(t)
	c.makeTopic(parts)
	a := key("a")
	newer := stateRecords(a, parts, outcome(0, 5, model.StateAcknowledged, 1))[0]
	newer.Value[1] = 9
	longer := stateRecords(a, parts, outcome(0, 6, model.StateAcknowledged, 1))[0]
	longer.Value = append(longer.Value, 0)
	c.write(a, parts, initial(), outcome(0, 0, model.StateAcknowledged, 1))
	c.produce(newer, longer)
	c.write(a, parts, outcome(1, 1, 9, 1))
	f := c.follow(Config{}, FollowOptions{})
	f.Watch([]model.SharePartitionKey{a}, nil)
	r := until(t, f, "it is caught up", caughtUp(a))
	p := r.Partitions[a]
	if outcomes(p) != "1: 1-1 state 9 x1" || p.Skipped != 2 || !strings.Contains(p.SkippedText, "record 3 of partition") {
		t.Errorf("got %s; %s", describeRecords(r), p.SkippedText)
	}
}

// The log start moves past a reader that stood still.
func TestFollowOvertakenByPruning(t *testing.T) {
	t.Parallel()
	c := newStateCluster(t)
	c.makeTopic(parts)
	keys := sameState(2, parts)
	a, b := keys[0], keys[1]
	n := sharestate.Partition(a, parts)
	c.write(a, parts, initial(), outcome(0, 0, model.StateAcknowledged, 1))
	c.write(b, parts, initial())
	f := c.follow(Config{}, FollowOptions{})
	f.Watch(keys, nil)
	until(t, f, "both are caught up", caughtUp(a, b))

	c.write(b, parts, model.ShareWrite{Kind: model.WriteTombstone})
	for o := range int64(200) {
		c.write(a, parts, outcome(1+o, 1+o, model.StateAcknowledged, 1))
	}
	c.write(a, parts, model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: 1, SnapshotEpoch: 1, Start: 200})
	if err := c.DeleteRecords(sharestate.Topic, n, 204); err != nil {
		t.Fatal(err)
	}
	r := until(t, f, "the log start is noticed", func(r *model.ShareRecords) bool { return r.Partitions[a].PrunedBefore == 204 && caughtUp(a, b)(r) })
	if got := outcomes(r.Partitions[a]); got != "200: " {
		t.Errorf("a is %q", got)
	}
	if s := r.Partitions[b].History; s.Now().Recorded {
		t.Errorf("b was deleted while nobody looked, and is %s", outcomes(r.Partitions[b]))
	}
}

func TestFollowLeaderMoves(t *testing.T) {
	t.Parallel()
	c := newStateCluster(t)
	c.makeTopic(parts)
	a := key("a")
	n := sharestate.Partition(a, parts)
	c.write(a, parts, initial())
	f := c.follow(Config{}, FollowOptions{})
	f.Watch([]model.SharePartitionKey{a}, nil)
	until(t, f, "it is caught up", caughtUp(a))
	for i := range int64(4) {
		if err := c.MoveTopicPartition(sharestate.Topic, n, int32(i%2)); err != nil {
			t.Fatal(err)
		}
		c.write(a, parts, outcome(i, i, model.StateAcknowledged, 1))
		until(t, f, "the update is seen", func(r *model.ShareRecords) bool {
			s := r.Partitions[a].History
			return s.Now().Effective() == model.Some(i+1)
		})
	}
	s := f.last.Partitions[a].History
	if s.Len() != 5 {
		t.Errorf("%d writes in the history, want 5: none lost, none twice", s.Len())
	}
}

// Over the budget only what is visible is followed.
func TestFollowBudget(t *testing.T) {
	t.Parallel()
	c := newStateCluster(t)
	c.makeTopic(parts)
	a, b := key("a"), key("b")
	c.write(a, parts, initial())
	c.write(b, parts, initial(), outcome(0, 0, model.StateAcknowledged, 1))
	f := c.follow(Config{}, FollowOptions{Budget: 100})
	f.Watch([]model.SharePartitionKey{a, b}, []model.SharePartitionKey{a})
	until(t, f, "both are caught up", caughtUp(a, b))
	for o := range int64(20) {
		c.write(a, parts, outcome(o, o, model.StateAcknowledged, 1))
	}
	r := until(t, f, "the budget is used up", func(r *model.ShareRecords) bool { return r.Partitions[b].Unfollowed != "" })
	if p := r.Partitions[b]; p.History.Now().Recorded || p.CaughtUp || !strings.Contains(p.Unfollowed, "over the budget of 100 B/s") {
		t.Errorf("got %s", describeRecords(r))
	}
	c.write(a, parts, outcome(20, 20, model.StateAcknowledged, 1))
	until(t, f, "what is visible goes on", func(r *model.ShareRecords) bool {
		s := r.Partitions[a].History
		return s.Now().Effective() == model.Some[int64](21)
	})
	f.Watch([]model.SharePartitionKey{a, b}, []model.SharePartitionKey{b})
	r = until(t, f, "what became visible is read", func(r *model.ShareRecords) bool {
		return shows(b, "1: 0-0 acknowledged x1")(r) && r.Partitions[a].Unfollowed != ""
	})
	if r.Partitions[b].Unfollowed != "" {
		t.Errorf("got %s", describeRecords(r))
	}
}

// After a while everything is followed again.
func TestMeter(t *testing.T) {
	now := time.Unix(1e9, 0)
	m := meter{limit: 100}
	m.begin(now)
	m.bytes = 400
	if m.exceeded(now.Add(6 * time.Second)) {
		t.Error("over the budget at 400 B in 6 s")
	}
	m.bytes = 501
	if !m.exceeded(now.Add(7 * time.Second)) {
		t.Error("not over the budget at 501 B in a second")
	}
	if m.widen(now.Add(66 * time.Second)) {
		t.Error("widened within a minute")
	}
	if !m.widen(now.Add(67 * time.Second)) {
		t.Error("not widened after a minute")
	}
	m.bytes = 501
	if !m.exceeded(now.Add(68 * time.Second)) {
		t.Error("not over the budget the second time")
	}
	if m.widen(now.Add(70*time.Second + firstPause)) {
		t.Error("the pause did not grow")
	}
}

func TestFollowEnds(t *testing.T) {
	c := newStateCluster(t)
	c.makeTopic(parts)
	a := key("a")
	f := c.follow(Config{}, FollowOptions{})
	f.Watch([]model.SharePartitionKey{a}, nil)
	until(t, f, "it is caught up", caughtUp(a))
	ctx, cancel := context.WithCancel(t.Context())
	end := make(chan error)
	wait := func() {
		for {
			if _, err := f.Next(ctx); err != nil {
				end <- err
				return
			}
		}
	}
	go wait()
	cancel()
	if err := <-end; !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
	ctx = t.Context()
	go wait()
	f.Close()
	if err := <-end; !errors.Is(err, ErrClosed) {
		t.Errorf("closed: %v", err)
	}
	if _, err := f.Next(t.Context()); !errors.Is(err, ErrClosed) {
		t.Errorf("after the end: %v", err)
	}
}

// Fetches that are refused although the metadata did not say so are not repeated without a pause.
func TestFollowRefusedFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var vn kfake.VirtualNetwork
		c, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.Ports(9092), kfake.ListenFn(vn.Listen), kfake.SeedTopics(parts, sharestate.Topic))
		if err != nil {
			t.Fatal(err)
		}
		fetches := 0
		c.ControlKey(int16(kmsg.Fetch), func(kreq kmsg.Request) (kmsg.Response, error, bool) {
			c.KeepControl()
			fetches++
			req := kreq.(*kmsg.FetchRequest)
			resp := req.ResponseKind().(*kmsg.FetchResponse)
			for _, rt := range req.Topics {
				st := kmsg.NewFetchResponseTopic()
				st.Topic, st.TopicID = rt.Topic, rt.TopicID
				for _, rp := range rt.Partitions {
					sp := kmsg.NewFetchResponseTopicPartition()
					sp.Partition, sp.ErrorCode = rp.Partition, kerr.TopicAuthorizationFailed.Code
					st.Partitions = append(st.Partitions, sp)
				}
				resp.Topics = append(resp.Topics, st)
			}
			return resp, nil, true
		})
		conn := Connect(Config{Bootstrap: c.ListenAddrs(), Dial: vn.DialContext})
		f := NewFollower(conn, FollowOptions{})
		a := key("a")
		f.Watch([]model.SharePartitionKey{a}, nil)
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		var last *model.ShareRecords
		for {
			r, err := f.Next(ctx)
			if err != nil {
				break
			}
			last = r
		}
		cancel()
		if last == nil || last.Problem == nil || last.Problem.Code != "TOPIC_AUTHORIZATION_FAILED" {
			t.Errorf("got %s", describeRecords(last))
		}
		f.Close()
		conn.Close()
		c.Close()
		time.Sleep(10 * time.Second) // fake: what is left of the cluster ends
		if fetches < 2 || fetches > 60 {
			t.Errorf("%d fetches in 30 s", fetches)
		}
	})
}
