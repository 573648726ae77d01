package ui

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flightdeck/model"
)

// fakeSession is a share session that does what the test says.
type fakeSession struct {
	feed    chan *model.ShareSession
	now     model.ShareSession
	decided []string
	results func(ref model.RecordRef, d model.Decision) model.ActionResult
	err     error
	renewed time.Duration
	left    int
}

func (f *fakeSession) Next(ctx context.Context) (*model.ShareSession, error) {
	select {
	case s, ok := <-f.feed:
		if !ok {
			return nil, errors.New("closed")
		}
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fakeSession) More(int) error { return nil }

func (f *fakeSession) Decide(_ context.Context, refs []model.RecordRef, d model.Decision) ([]model.ActionResult, error) {
	if f.err != nil {
		return nil, f.err
	}
	var out []model.ActionResult
	for _, ref := range refs {
		f.decided = append(f.decided, d.String()+" "+rangesText(model.RangesOf([]model.RecordRef{ref})))
		r := model.ActionResult{Topic: ref.Topic, Partition: ref.Partition, Offset: model.Some(ref.Offset), OK: true}
		if f.results != nil {
			r = f.results(ref, d)
		}
		out = append(out, r)
	}
	return out, nil
}

func (f *fakeSession) AutoRenew(d time.Duration) error { f.renewed = d; return nil }
func (f *fakeSession) Leave(context.Context) error     { f.left++; return nil }

// say publishes what is so, with events.
func (f *fakeSession) say(events ...model.SessionEvent) {
	next := f.now
	next.Held, next.Events = slices.Clone(f.now.Held), events
	f.feed <- &next
}

// take hands out records of order-events/0 with their delivery counts.
func (f *fakeSession) take(at time.Time, counts map[int64]int16) {
	var events []model.SessionEvent
	for offset, count := range counts {
		h := model.HeldRecord{Count: count, Taken: at, Until: at.Add(30 * time.Second)}
		h.Topic, h.Offset = "order-events", offset
		f.now.Held = append(f.now.Held, h)
	}
	slices.SortFunc(f.now.Held, func(x, y model.HeldRecord) int { return model.CompareRecordRefs(x.Ref(), y.Ref()) })
	for i := range f.now.Held {
		h := &f.now.Held[i]
		events = append(events, model.SessionEvent{At: at, Record: h.Ref(), Count: h.Count, Event: model.EventAcquire, OK: true})
	}
	f.say(events...)
}

// holdRig is the flight view with a session that holds 512,420 (first delivery), 512,422 and 512,424 (last delivery).
func holdRig(t *testing.T, o Options) (*flightRig, *fakeSession, *[]TakeRequest) {
	s := &fakeSession{feed: make(chan *model.ShareSession, 8)}
	s.now = model.ShareSession{Group: "order-workers", Topic: "order-events", Phase: model.SessionMember, Partitions: []int32{0},
		Limit: model.Some(int64(5)), Lock: model.Some(30 * time.Second)}
	asked := new([]TakeRequest)
	o.Take = func(_ context.Context, r TakeRequest) (ShareSession, error) {
		*asked = append(*asked, r)
		return s, s.err
	}
	f := newFlightRig(t, o)
	t.Cleanup(func() { close(s.feed) })
	f.open(sample().records())
	return f, s, asked
}

func held(t *testing.T, o Options) (*flightRig, *fakeSession) {
	f, s, _ := holdRig(t, o)
	f.press("c 3 enter")
	f.run(time.Millisecond)
	s.take(f.now, map[int64]int16{512_420: 1, 512_422: 1, 512_424: 5})
	f.run(time.Millisecond)
	return f, s
}

func TestTakeSaysWhatItDoesToTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, asked := holdRig(t, Options{})
		f.press("c")
		f.sees("joins order-workers as a member beside 2 others", "for up to 30s", "limit 5", "can not be reset", "stays counted")
		for _, s := range []*model.Snapshot{f.base, f.view.Snapshot} { // the same one, or a copy
			s.Cluster.Limits = []model.Limit{{API: "ShareFetch", Max: 1}, {API: "ShareAcknowledge", Max: 1}}
			s.Cluster.Version = "4.1"
		}
		f.press("esc c backspace 1 0")
		f.sees("a whole batch of the producer", "Locks can not be extended", "is not counted")
		f.press("tab")
		f.text(", 2")
		f.press("enter")
		f.run(time.Millisecond)
		want := TakeRequest{Group: "order-workers", Topic: "order-events", Partitions: []int32{0, 2}, Count: 10}
		if len(*asked) != 1 || !slices.Equal((*asked)[0].Partitions, want.Partitions) || (*asked)[0].Count != want.Count || (*asked)[0].Group != want.Group {
			t.Errorf("asked for %+v, want %+v", *asked, want)
		}
		f.sees("MEMBER of order-workers")
	})
}

func TestTakingThatIsRefusedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s, _ := holdRig(t, Options{})
		s.err = errors.New("the audit file /a cannot be written: no space left on device")
		f.press("c enter")
		f.run(time.Millisecond)
		f.sees("no space left on device")
		f.misses("MEMBER of")
	})
}

func TestHeldRecordsAreDecidedAboutOneByOneAndTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := held(t, Options{})
		f.sees("MEMBER of order-workers, 3 held", "Record 512,420", "held by us", "512,424 ▰▰▰▰▰▰ 30 s 5/5 last", "taken by us (delivery 1)")
		f.send(clockMsg(noon.Add(10 * time.Second)))
		f.sees("512,420 ▰▰▰▰▱▱ 20 s")
		f.press("a")
		f.run(time.Millisecond)
		f.press("> m x")
		f.run(time.Millisecond)
		f.press("M e")
		f.run(time.Millisecond)
		want := []string{"accept order-events/0@512420", "reject order-events/0@512422", "renew order-events/0@512420", "renew order-events/0@512422", "renew order-events/0@512424"}
		if !slices.Equal(s.decided, want) {
			t.Errorf("decided %q, want %q", s.decided, want)
		}
		f.sees("3 records extended.")
	})
}

func TestALateDecisionIsReportedAsFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := held(t, Options{})
		ref := s.now.Held[0].Ref()
		s.now.Held = s.now.Held[1:]
		s.say(model.SessionEvent{At: f.now, Record: ref, Count: 1, Event: model.EventLockTimeout, Code: "lock_ran_out", Text: "The lock ran out: the record went back to the group."})
		f.run(time.Millisecond)
		f.sees("The lock ran out: the record went back to the group.")
		s.results = func(ref model.RecordRef, d model.Decision) model.ActionResult {
			return model.ActionResult{Topic: ref.Topic, Partition: ref.Partition, Offset: model.Some(ref.Offset), Code: "not_held", Text: "The record is not held any more. The lock ran out."}
		}
		f.press("a")
		f.run(time.Millisecond)
		f.sees("Accept failed. The record is not held any more.")
		f.press("5")
		f.sees("order-events/0@512420: accept failed: The record is not held any more.")
	})
}

func TestReleasingOnTheLastDeliveryAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := held(t, Options{})
		f.press("> > r")
		f.sees("last delivery (5 of 5)", "archives it")
		f.press("y")
		f.run(time.Millisecond)
		if len(s.decided) != 0 {
			t.Errorf("decided %q before the question could be read", s.decided)
		}
		f.run(time.Second)
		f.press("y")
		f.run(time.Millisecond)
		if want := []string{"release order-events/0@512424"}; !slices.Equal(s.decided, want) {
			t.Errorf("decided %q, want %q", s.decided, want)
		}
		f.press("< r")
		f.run(time.Millisecond)
		if len(s.decided) != 2 {
			t.Errorf("decided %q, want a release of 512,422 without a question", s.decided)
		}
	})
}

func TestGoingAwayWithHeldRecordsAsks(t *testing.T) {
	for _, c := range []struct {
		name, keys string
		left       int
		decided    int
		gone       bool
	}{
		{"stay", "esc esc", 0, 0, false},
		{"keep", "esc k", 0, 0, true},
		{"release", "esc r", 1, 0, true},
		{"accept", "esc a", 1, 3, true},
		{"leave from anywhere", "esc k 1 L r", 1, 0, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := held(t, Options{})
				for k := range strings.FieldsSeq(c.keys) {
					f.press(k)
					f.run(time.Second)
				}
				_, here := f.screen().(*flightScreen)
				if s.left != c.left || len(s.decided) != c.decided || here == c.gone {
					t.Errorf("left %d times with %q, in the flight view %t; want %d, %d, %t", s.left, s.decided, here, c.left, c.decided, !c.gone)
				}
				if s.left == 0 {
					f.sees("MEMBER of order-workers, 3 held")
				}
			})
		})
	}
}

func TestWhatIsHeldIsShownWithoutTheStateTopic(t *testing.T) {
	for _, c := range []struct {
		name    string
		records *model.ShareRecords
		why     string
	}{
		{"no right", &model.ShareRecords{At: noon, Problem: &model.Problem{Code: "TOPIC_AUTHORIZATION_FAILED", Text: "You lack READ on __share_group_state."}}, "You lack READ on __share_group_state."},
		{"no right, as the follower says it", &model.ShareRecords{At: noon, Problem: &model.Problem{Code: "TOPIC_AUTHORIZATION_FAILED", Text: "You lack READ on __share_group_state."},
			Partitions: map[model.SharePartitionKey]*model.SharePartitionRecords{newFlight().key: {Key: newFlight().key}}}, "You lack READ on __share_group_state."},
		{"not followed", &model.ShareRecords{At: noon, Partitions: map[model.SharePartitionKey]*model.SharePartitionRecords{
			newFlight().key: {Key: newFlight().key, Unfollowed: "the traffic is above the budget"}}}, "the traffic is above the budget."},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f, s := held(t, Options{})
				f.follower.feed <- c.records
				f.run(time.Second)
				f.sees("held by us 512,420 to 512,424", "3 held", "Record 512,420", "held by us, delivery 1 of 5", "only what we hold is shown: "+c.why, "3❖ -")
				f.misses("holds the start offset", "AVAILABLE     0", "nothing is recorded")
				f.press("right")
				f.sees("not held by us; more is not known")
				f.press("left a")
				f.run(time.Millisecond)
				f.press("[ + - tab tab A")
				f.run(time.Second)
				if len(s.decided) != 1 {
					t.Errorf("decided %q, want one", s.decided)
				}
			})
		})
	}
}

func TestLocksAreExtendedForAStatedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, s := held(t, Options{})
		f.press("E enter")
		f.run(time.Millisecond)
		if s.renewed != 10*time.Minute {
			t.Errorf("extended for %s, want 10 minutes", s.renewed)
		}
		s.now.RenewUntil = f.now.Add(10 * time.Minute)
		s.say()
		f.run(time.Millisecond)
		f.sees("extended until 12:10")
		f.press("E")
		f.run(time.Millisecond)
		if s.renewed != 0 {
			t.Errorf("extended for %s, want no more", s.renewed)
		}
	})
}

func TestNothingIsTakenReadOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, _, asked := holdRig(t, Options{ReadOnly: true})
		f.press("c")
		f.sees("read-only mode")
		if f.overlay != nil || len(*asked) > 0 {
			t.Error("the form is open in read-only mode")
		}
	})
}
