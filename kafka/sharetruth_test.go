package kafka

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

// shareTruth is what a member of a share group knows of a share-partition that it has for itself: a test keeps it beside
// what it does, and the follower has to show it.
type shareTruth struct {
	window   *model.RecordWindow
	recorded map[int64]model.Delivery // by what was acknowledged or given back
	any      bool                     // an outcome was recorded since the state began
	fresh    int64                    // the highest offset with an outcome under the present leader, -1 for none
	end      int64                    // log end
}

func newShareTruth(version string, end int64) *shareTruth {
	rules := model.DeliveryRules{Limit: 5, CloseUndoes: strings.HasPrefix(version, "4.1.")}
	return &shareTruth{window: model.NewRecordWindow(rules, 2000, 0), recorded: make(map[int64]model.Delivery), fresh: -1, end: end}
}

func (s *shareTruth) apply(t *testing.T, e model.RecordEvent, offsets ...int64) {
	t.Helper()
	for _, o := range offsets {
		d, _ := s.window.At(o)
		next, _ := s.window.Rules.Next(d, e)
		if !s.window.Apply(o, e) {
			t.Fatalf("%s of %d, which is %v: the test is wrong", e, o, d)
		}
		if e != model.EventAcquire && e != model.EventRenew {
			s.recorded[o], s.any, s.fresh = next, true, max(s.fresh, o)
		}
	}
}

// held are the offsets that are out, and available counts those that are not.
func (s *shareTruth) held() []int64 { return s.in(model.StateAcquired) }

func (s *shareTruth) available() int { return len(s.in(model.StateAvailable)) }

func (s *shareTruth) in(state model.RecordState) (offsets []int64) {
	for o := s.window.Start(); o < s.window.Next(); o++ {
		if d, _ := s.window.At(o); d.State == state {
			offsets = append(offsets, o)
		}
	}
	return offsets
}

// wanted is what is to be shown, each run of records with its source and count.
func (s *shareTruth) wanted() string {
	if !s.any {
		return "nothing recorded"
	}
	var t runText
	for o := s.window.Start(); o < s.end; o++ {
		d, _ := s.window.At(o)
		r, ok := s.recorded[o]
		switch {
		case ok && d.State == model.StateAcquired: // out again
			t.next(o, fmt.Sprintf("%s recorded x%d", r.State, r.Count))
		case ok:
			t.next(o, fmt.Sprintf("%s recorded x%d", d.State, d.Count))
		case d.State == model.StateAcquired && o < s.fresh:
			t.next(o, "acquired inferred")
		default:
			t.next(o, "none none")
		}
	}
	return t.end(max(s.end, s.window.Start()))
}

// reset keeps the truth when the state begins anew.
func (s *shareTruth) reset(start int64) {
	s.window.Reset(start)
	s.fresh = -1
	clear(s.recorded)
}

// leaderChange keeps the truth when another broker begins to lead the partition.
func (s *shareScene) leaderChange() {
	s.t.Helper()
	s.window.LeaderChange()
	s.fresh = -1
	s.member.Reopen(s.t)
}

// runText writes down runs of offsets of which the same is said.
type runText struct {
	runs  []string
	first int64
	last  string
}

func (t *runText) next(offset int64, text string) {
	if text == t.last {
		return
	}
	if t.last != "" {
		t.runs = append(t.runs, fmt.Sprintf("%d-%d %s", t.first, offset-1, t.last))
	}
	t.first, t.last = offset, text
}

func (t *runText) end(offset int64) string {
	t.next(offset, "")
	return strings.Join(t.runs, ", ")
}

// windowOf is what the follower shows.
func windowOf(r *model.ShareRecords, k model.SharePartitionKey, end int64) string {
	p := r.Partitions[k]
	if p == nil || !p.CaughtUp {
		return "not read"
	}
	w, ok := model.InferWindow(p.History.Now(), model.Int{}, model.Some(end), nil)
	if !ok {
		return "nothing recorded"
	}
	var t runText
	for _, run := range w.Runs {
		text := fmt.Sprintf("%s %s", run.State, run.Source)
		if n, ok := run.Count.Get(); ok {
			text += fmt.Sprintf(" x%d", n)
		}
		t.next(run.First, text)
	}
	return t.end(max(w.End, w.Start))
}

// shareScene is a share group with one member, its truth, and a follower that has to show it.
type shareScene struct {
	*shareTruth
	t        *testing.T
	member   *kafkatest.ShareMember
	follower *Follower
	key      model.SharePartitionKey
}

// expect waits until the follower shows the truth.
func (s *shareScene) expect(step string) *model.ShareRecords {
	s.t.Helper()
	want, got := s.wanted(), ""
	ok := func(r *model.ShareRecords) bool { got = windowOf(r, s.key, s.end); return got == want }
	if last := s.follower.last; ok(last) {
		return last
	}
	s.t.Cleanup(func() {
		if s.t.Failed() && got != want {
			s.t.Logf("%s:\nshown %s\nwant  %s", step, got, want)
		}
	})
	return until(s.t, s.follower, step+" is shown", ok)
}

// acquire takes n records, which have to be those that a leader hands out next.
func (s *shareScene) acquire(n int) []int64 {
	s.t.Helper()
	got := s.member.Acquire(s.t, n)
	for _, o := range got {
		s.apply(s.t, model.EventAcquire, o)
		if d, _ := s.window.At(o); s.member.Held[o] != d.Count {
			s.t.Fatalf("record %d was handed out with count %d, want %d", o, s.member.Held[o], d.Count)
		}
	}
	return got
}

var ackEvents = map[kafkatest.AckType]model.RecordEvent{
	kafkatest.Accept: model.EventAccept, kafkatest.Release: model.EventRelease, kafkatest.Reject: model.EventReject, kafkatest.Gap: model.EventGap,
}

// say acknowledges and waits until that is shown.
func (s *shareScene) say(step string, acks ...kafkatest.Ack) *model.ShareRecords {
	s.t.Helper()
	s.member.Acknowledge(s.t, slices.Clone(acks)...)
	for _, a := range acks {
		s.apply(s.t, ackEvents[a.Type], a.Offset)
	}
	return s.expect(step)
}
