package ui

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"flightdeck/model"
)

// scripted is a Source made of functions; nil ones answer nothing.
type scripted struct {
	snapshot func(ctx context.Context, n int, want model.Want) (*model.Snapshot, error)
	offsets  func(ctx context.Context, groups []string) (model.ShareOffsets, error)
	polls    []time.Time
	wants    []model.Want
	busy     int
	overlaps int
}

func (s *scripted) Snapshot(ctx context.Context, want model.Want) (*model.Snapshot, error) {
	s.polls, s.wants = append(s.polls, time.Now()), append(s.wants, want)
	if s.busy++; s.busy > 1 {
		s.overlaps++
	}
	defer func() { s.busy-- }()
	return s.snapshot(ctx, len(s.polls), want)
}

func (s *scripted) ShareOffsets(ctx context.Context, groups []string) (model.ShareOffsets, error) {
	if s.offsets == nil {
		return model.ShareOffsets{}, nil
	}
	return s.offsets(ctx, groups)
}

// gaps are the times between polls.
func (s *scripted) gaps() []time.Duration {
	var d []time.Duration
	for i := 1; i < len(s.polls); i++ {
		d = append(d, s.polls[i].Sub(s.polls[i-1]))
	}
	return d
}

// good is the fixture as read now.
func good(want model.Want) *model.Snapshot {
	s, _ := fixture()
	if want.Depth == model.DepthListing {
		s = listing(s)
	}
	s.At = time.Now()
	return s
}

func TestPollsListFirstThenEverythingAtTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{snapshot: func(_ context.Context, _ int, want model.Want) (*model.Snapshot, error) { return good(want), nil }}
		l := newLive(t, Options{Source: src, Interval: 2 * time.Second})
		l.run(5 * time.Second)
		if got := len(src.polls); got != 4 {
			t.Fatalf("%d polls in 5 s at 2 s, want the listing, one at once, and 2 more", got)
		}
		if src.wants[0].Depth != model.DepthListing || src.wants[1].Depth != model.DepthFull {
			t.Errorf("depths %v, %v; want the listing first, then everything", src.wants[0].Depth, src.wants[1].Depth)
		}
		if want := []time.Duration{0, 2 * time.Second, 2 * time.Second}; !equal(src.gaps(), want) {
			t.Errorf("gaps %v, want %v", src.gaps(), want)
		}
		if got := src.wants[2].Groups; len(got) != 5 {
			t.Errorf("asked first for %q, want the groups on screen", got)
		}
		l.sees("order-service", "falling behind")
	})
}

func equal(a, b []time.Duration) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func TestListingShowsNamesAndNoNumbers(t *testing.T) {
	r := newRig(t, Options{})
	r.base, r.view = nil, nil
	s, _ := fixture()
	r.read(listing(s))
	r.sees("order-service", "Stable")
	for _, l := range r.frame() {
		if strings.Contains(l, "order-service") && strings.ContainsAny(strings.ReplaceAll(l, "order-service", ""), "0123456789") {
			t.Errorf("a number is claimed before it was read: %q", l)
		}
	}
	r.misses("Nothing needs attention")
}

func TestErrorsBackOffAndNeverGiveUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		src := &scripted{snapshot: func(_ context.Context, n int, want model.Want) (*model.Snapshot, error) {
			if n > 2 && down {
				return nil, errors.New("connection refused")
			}
			return good(want), nil
		}}
		l := newLive(t, Options{Source: src, Interval: 2 * time.Second,
			Explain: func(err error) (string, string) {
				return "refused", "broker kafka-1:9092 refuses connections: is it running?"
			}})
		l.run(30 * time.Second)
		l.sees("broker kafka-1:9092 refuses connections: is it running?", "order-service", "ago", "next try in ")
		l.run(time.Hour)
		gaps := src.gaps()[2:]
		for i := 1; i < len(gaps); i++ {
			if gaps[i] < gaps[i-1] || gaps[i] > 30*time.Second {
				t.Fatalf("the delays after errors are %v", gaps)
			}
		}
		if len(gaps) < 100 {
			t.Fatalf("%d tries in an hour", len(gaps))
		}
		if n := len(l.log.entries); n != 1 || l.log.entries[0].times < 100 {
			t.Errorf("an error that repeats takes %d lines of Activity", n)
		}
		down = false
		l.run(30 * time.Second)
		l.sees("The cluster answers again.")
		l.misses("refuses")
		if l.fault != "" || l.polls.failures != 0 {
			t.Error("the fault stays after the cluster answered")
		}
	})
}

// While nothing can be read, no broker is said to be up.
func TestNothingIsUpWhenNothingCanBeRead(t *testing.T) {
	r := newRig(t, Options{})
	s, _ := fixture()
	r.read(s)
	r.press("4")
	r.sees("3/3 brokers", " up ")
	_ = r.poll()
	r.send(snapshotMsg{generation: r.polls.generation, err: errors.New("connection refused")})
	r.sees("-/3 brokers", "unknown")
	r.misses("3/3 brokers", " up ")
}

// The positions of share groups are read apart: when they come back first, the poll does not wait for its next try.
func TestPollFollowsShareOffsetsThatComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var downUntil atomic.Pointer[time.Time] // written by polls, read by reads of offsets
		downUntil.Store(new(time.Time))
		src := &scripted{}
		src.snapshot = func(_ context.Context, n int, want model.Want) (*model.Snapshot, error) {
			if n == 3 {
				back := time.Now().Add(7500 * time.Millisecond)
				downUntil.Store(&back)
			}
			if time.Now().Before(*downUntil.Load()) {
				return nil, errors.New("connection refused")
			}
			return good(want), nil
		}
		src.offsets = func(_ context.Context, groups []string) (model.ShareOffsets, error) {
			o := model.ShareOffsets{Groups: map[string]model.ShareGroupOffsets{}}
			for _, g := range groups {
				o.Groups[g] = model.ShareGroupOffsets{At: time.Now()}
				if time.Now().Before(*downUntil.Load()) {
					o.Groups[g] = model.ShareGroupOffsets{Problem: &model.Problem{Code: "refused", Text: "No."}}
				}
			}
			return o, nil
		}
		l := newLive(t, Options{Source: src, Interval: time.Second})
		l.run(30 * time.Second)
		back := *downUntil.Load()
		for _, at := range src.polls {
			if !at.Before(back) {
				if late := at.Sub(back); late > time.Second {
					t.Errorf("the first poll after the cluster is back comes %s later", late)
				}
				return
			}
		}
		t.Error("no poll after the cluster is back")
	})
}

func TestOnePollAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{snapshot: func(ctx context.Context, _ int, want model.Want) (*model.Snapshot, error) {
			select {
			case <-time.After(5 * time.Second):
			case <-ctx.Done():
				return nil, ctx.Err()
			}
			return good(want), nil
		}}
		l := newLive(t, Options{Source: src, Interval: time.Second, Timeout: 10 * time.Second})
		l.run(7 * time.Second)
		l.press("2 3 1 enter esc")
		l.run(time.Minute)
		if src.overlaps > 0 {
			t.Errorf("%d polls ran beside another one", src.overlaps)
		}
	})
}

func TestOldGenerationsAreDropped(t *testing.T) {
	r := newRig(t, Options{})
	_ = r.poll()
	old := r.polls.generation
	_ = r.poll()
	s, _ := fixture()
	s.Groups = nil
	r.send(snapshotMsg{generation: old, snapshot: s})
	r.sees("order-service")
	r.read(s)
	r.misses("order-service")
}

func TestPauseStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{snapshot: func(_ context.Context, _ int, want model.Want) (*model.Snapshot, error) { return good(want), nil }}
		l := newLive(t, Options{Source: src, Interval: time.Second})
		l.run(3500 * time.Millisecond)
		l.press("space")
		n := len(src.polls)
		l.run(time.Minute)
		if len(src.polls) != n {
			t.Errorf("%d polls while paused", len(src.polls)-n)
		}
		l.sees("PAUSED", "1m ago")
		l.press("ctrl+r")
		l.run(10 * time.Second)
		if len(src.polls) != n+1 {
			t.Errorf("%d polls for one refresh while paused", len(src.polls)-n)
		}
		l.press("space")
		l.run(3500 * time.Millisecond)
		if got := len(src.polls) - n - 1; got != 4 {
			t.Errorf("%d polls in 3.5 s after going on, want 4", got)
		}
		l.misses("PAUSED")
	})
}

func TestShareOffsetsNeverHoldUpThePoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{
			snapshot: func(_ context.Context, _ int, want model.Want) (*model.Snapshot, error) {
				s := good(want)
				for i := range s.ShareGroups {
					s.ShareGroups[i].Partitions, s.ShareGroups[i].OffsetsAt = nil, time.Time{}
				}
				return s, nil
			},
			offsets: func(ctx context.Context, groups []string) (model.ShareOffsets, error) {
				time.Sleep(12 * time.Second)
				o := model.ShareOffsets{At: time.Now(), Groups: map[string]model.ShareGroupOffsets{}}
				for _, g := range groups {
					o.Groups[g] = model.ShareGroupOffsets{At: time.Now(), Partitions: []model.GroupPartition{
						{Topic: "order-events", Member: model.NoMember, Position: model.Some(int64(10)), End: model.Some(int64(4253)), Lag: model.Some(int64(4243))}}}
				}
				return o, nil
			},
		}
		l := newLive(t, Options{Source: src, Interval: 2 * time.Second})
		l.run(10 * time.Second)
		if len(src.polls) < 6 {
			t.Errorf("%d polls in 10 s while share offsets stall", len(src.polls))
		}
		l.press("2")
		l.misses("4,243")
		l.run(4 * time.Second)
		l.sees("4,243")
		l.run(20 * time.Second)
		l.sees("4,243") // a poll does not wipe out what was read apart from it
	})
}

func TestProblemWithShareOffsetsKeepsTheOldOnes(t *testing.T) {
	at := time.Unix(1000, 0)
	old := model.ShareOffsets{Groups: map[string]model.ShareGroupOffsets{"a": {At: at, Partitions: make([]model.GroupPartition, 2)}, "b": {At: at}}}
	problem := &model.Problem{Text: "no answer"}
	merged := mergeOffsets(old, model.ShareOffsets{Groups: map[string]model.ShareGroupOffsets{"a": {At: at.Add(time.Minute), Problem: problem}}})
	if a := merged.Groups["a"]; len(a.Partitions) != 2 || !a.At.Equal(at) || a.Problem != problem {
		t.Errorf("got %+v, want the old positions with their age beside the problem", a)
	}
	if _, ok := merged.Groups["b"]; !ok {
		t.Error("a group that was not asked for is forgotten")
	}
	if old.Groups["a"].Problem != nil {
		t.Error("what was published is changed")
	}
}

func TestPanicInTheSourceIsAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{snapshot: func(_ context.Context, n int, want model.Want) (*model.Snapshot, error) {
			if n == 3 {
				panic("nil map")
			}
			return good(want), nil
		}}
		l := newLive(t, Options{Source: src, Interval: time.Second})
		l.run(1500 * time.Millisecond)
		l.sees("flightdeck made a mistake while reading the cluster", "nil map")
		l.run(5 * time.Second)
		l.sees("The cluster answers again.")
	})
}

func TestAgeGrowsWhileNothingAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{snapshot: func(ctx context.Context, n int, want model.Want) (*model.Snapshot, error) {
			if n > 2 {
				<-ctx.Done()
				return nil, ctx.Err()
			}
			return good(want), nil
		}}
		l := newLive(t, Options{Source: src, Interval: time.Second, Timeout: time.Minute})
		l.run(500 * time.Millisecond)
		l.sees("now")
		l.run(20 * time.Second)
		l.sees("20s ago")
	})
}

// That a cluster has no share groups is not something that goes wrong: it is told, and does not warn for ever.
func TestStandingProblemsDoNotWarn(t *testing.T) {
	r := newRig(t, Options{})
	s, _ := fixture()
	s.Problems = []model.Problem{{Scope: model.ScopeShare, Code: model.ProblemShareOff, Text: "Share groups are switched off."}}
	r.read(s)
	r.misses("1 problem", "switched off")
	r.press("5")
	r.sees("∙ Share groups are switched off.")
}

func TestProblemsAreNotedOnceAndWhenTheyEnd(t *testing.T) {
	r := newRig(t, Options{})
	bad, _ := fixture()
	bad.Problems = []model.Problem{{Scope: model.ScopeBroker, Name: "2", Code: "unreachable", Text: "does not answer at kafka-2.internal:9092."}}
	r.read(bad)
	r.read(bad)
	r.sees("broker 2: does not answer at kafka-2.internal:9092.", "1 problem")
	if n := len(r.log.entries); n != 1 {
		t.Errorf("%d entries for one problem", n)
	}
	gone, _ := fixture()
	gone.Problems = []model.Problem{{Scope: model.ScopeBroker, Name: "2", Code: "not_registered", Text: "is not registered."}}
	r.read(gone)
	r.sees("broker 2: is not registered.")
	r.press("5")
	r.misses("answers again")
	fine, _ := fixture()
	r.read(fine)
	r.sees("broker 2", "answers again.")
	r.misses("1 problem")
}

// slowHistory takes its time, and notices when two use it at once.
type slowHistory struct {
	fakeHistory
	busy, overlaps, calls int
}

func (s *slowHistory) Observe(next *model.Snapshot) *model.View {
	if s.busy++; s.busy > 1 {
		s.overlaps++
	}
	s.calls++
	time.Sleep(700 * time.Millisecond)
	s.busy--
	return s.fakeHistory.Observe(next)
}

func TestHistoryHasOneUserAndHoldsUpNoKey(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{snapshot: func(_ context.Context, _ int, want model.Want) (*model.Snapshot, error) { return good(want), nil }}
		l := newLive(t, Options{Source: src, Interval: 500 * time.Millisecond})
		h := &slowHistory{fakeHistory: *l.history.(*fakeHistory)}
		l.history = h
		before := time.Now()
		l.run(0)
		l.press("down down")
		if time.Since(before) > 0 {
			t.Error("a key waits for the history")
		}
		l.run(20 * time.Second)
		if h.overlaps > 0 || h.calls < 20 {
			t.Errorf("%d calls, %d of them beside another one", h.calls, h.overlaps)
		}
		l.sees("falling behind")
	})
}

// A password that is not accepted is not tried so often that it locks the account, and at once when somebody asks for it.
func TestAPasswordThatIsNotAcceptedIsTriedSeldom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := &scripted{snapshot: func(context.Context, int, model.Want) (*model.Snapshot, error) { return nil, errors.New("no") }}
		l := newLive(t, Options{Source: src, Interval: 2 * time.Second,
			Explain: func(error) (string, string) { return "wrong_password", "kafka-1:9092 does not accept the password." }})
		l.run(2 * time.Minute)
		for i, gap := range src.gaps() {
			if gap < 30*time.Second {
				t.Errorf("try %d came after %v", i+2, gap)
			}
		}
		if n := len(src.polls); n < 4 {
			t.Errorf("%d tries in 2 minutes", n)
		}
		l.sees("does not accept the password", "tried again every 30s only")
		l.run(10 * time.Second)
		before := len(src.polls)
		l.press("ctrl+r")
		l.run(time.Second)
		if len(src.polls) != before+1 {
			t.Error("ctrl+r does not try at once")
		}
	})
}
