package model_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"flightdeck/model"
)

// runText is "5-7 acquired inferred, 8 acknowledged recorded x1, ...".
func runText(runs []model.Run) string {
	var parts []string
	for _, r := range runs {
		s := fmt.Sprint(r.First)
		if r.Last > r.First {
			s += fmt.Sprintf("-%d", r.Last)
		}
		s += fmt.Sprintf(" %s %s", r.State, r.Source)
		if n, ok := r.Count.Get(); ok {
			s += fmt.Sprintf(" x%d", n)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}

func TestInferWindow(t *testing.T) {
	none := model.Int{}
	some := model.Some[int64]
	for _, c := range []struct {
		name          string
		writes        []model.ShareWrite
		logStart, end model.Int
		holds         []model.Hold
		want          string
	}{
		{"nothing handed out", []model.ShareWrite{snapshotOf(1, 0)}, none, some(3), nil, "0-2 none none"},
		{"passed over and above", []model.ShareWrite{snapshotOf(1, -1), updateOf(0, batch(3, 3, acked, 1))}, none, some(6), nil,
			"0-2 acquired inferred, 3 acknowledged recorded x1, 4-5 none none"},
		{"recorded available", []model.ShareWrite{snapshotOf(1, -1), updateOf(0, batch(0, 0, avail, 2), batch(2, 2, gone, 5))}, none, some(3), nil,
			"0 available recorded x2, 1 acquired inferred, 2 archived recorded x5"},
		{"finished prefix is outside", []model.ShareWrite{updateOf(0, batch(0, 1, acked, 1), batch(3, 3, acked, 1))}, none, some(5), nil,
			"2 acquired inferred, 3 acknowledged recorded x1, 4 none none"},
		{"log end unknown", []model.ShareWrite{updateOf(0, batch(3, 3, acked, 1))}, none, none, nil,
			"0-2 acquired inferred, 3 acknowledged recorded x1"},
		{"log end read before the state", []model.ShareWrite{updateOf(0, batch(3, 3, acked, 1))}, none, some(2), nil,
			"0-2 acquired inferred, 3 acknowledged recorded x1"},
		{"reset beyond the log end", []model.ShareWrite{snapshotOf(2, 100)}, none, some(7), nil, ""},
		{"leader changed since", []model.ShareWrite{snapshotOf(1, -1), led(1, updateOf(0, batch(3, 3, acked, 1))), led(2, updateOf(-1))}, none, some(6), nil,
			"0-2 none none, 3 acknowledged recorded x1, 4-5 none none"},
		{"an outcome under the new leader", []model.ShareWrite{snapshotOf(1, -1), led(1, updateOf(0, batch(5, 5, acked, 1))), led(2, updateOf(0, batch(2, 2, acked, 1)))}, none, some(6), nil,
			"0-1 acquired inferred, 2 acknowledged recorded x1, 3-4 none none, 5 acknowledged recorded x1"},
		{"the first leader epoch is no change", []model.ShareWrite{snapshotOf(1, -1), led(4, updateOf(0, batch(2, 2, acked, 1)))}, none, some(3), nil,
			"0-1 acquired inferred, 2 acknowledged recorded x1"},
		{"a repeat is no news from the new leader", []model.ShareWrite{snapshotOf(1, -1), led(1, updateOf(0, batch(3, 3, acked, 1))), led(2, updateOf(0, batch(3, 3, acked, 1)))}, none, some(4), nil,
			"0-2 none none, 3 acknowledged recorded x1"},
		{"history begins with a snapshot of a later leader", []model.ShareWrite{led(4, snapshotOf(1, 0, batch(2, 2, acked, 1)))}, none, some(3), nil,
			"0-1 none none, 2 acknowledged recorded x1"},
		{"history begins with a snapshot of the first leader", []model.ShareWrite{snapshotOf(1, 0, batch(2, 2, acked, 1))}, none, some(3), nil,
			"0-1 acquired inferred, 2 acknowledged recorded x1"},
		{"snapshot in place of an update", []model.ShareWrite{led(1, snapshotOf(1, 0, batch(2, 2, acked, 1))), led(1, snapshotOf(1, 0, batch(2, 2, acked, 1), batch(5, 5, avail, 1)))}, none, some(7), nil,
			"0-1 acquired inferred, 2 acknowledged recorded x1, 3-4 acquired inferred, 5 available recorded x1, 6 none none"},
		{"after a reset", []model.ShareWrite{updateOf(0, batch(9, 9, acked, 1)), snapshotOf(2, 3)}, none, some(12), nil, "3-11 none none"},
		{"retention took the head", []model.ShareWrite{updateOf(0, batch(5, 5, acked, 1))}, some(3), some(7), nil,
			"0-2 none none, 3-4 acquired inferred, 5 acknowledged recorded x1, 6 none none"},
		{"holds", []model.ShareWrite{updateOf(0, batch(1, 1, acked, 1), batch(3, 3, avail, 1))}, none, some(8),
			[]model.Hold{{Offset: 0, Count: 1}, {Offset: 1, Count: 1}, {Offset: 3, Count: 2}, {Offset: 5, Count: 1}, {Offset: 6, Count: 1}},
			"0 acquired observed x1, 1 acknowledged recorded x1, 2 acquired inferred, 3 acquired observed x2, 4 none none, 5-6 acquired observed x1, 7 none none"},
		{"a hold that is over", []model.ShareWrite{updateOf(0, batch(3, 3, avail, 2))}, none, some(4), []model.Hold{{Offset: 3, Count: 2}},
			"0-2 acquired inferred, 3 available recorded x2"},
		{"a state that we do not know", []model.ShareWrite{updateOf(0, batch(1, 1, 7, 3))}, none, some(2), nil, "0 acquired inferred, 1 state 7 recorded x3"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := foldOf(10, c.writes...).History()
			w, ok := model.InferWindow(h.Now(), c.logStart, c.end, c.holds)
			if !ok {
				t.Fatal("no window")
			}
			if got := runText(w.Runs); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			checkCovers(t, w)
		})
	}
	t.Run("nothing recorded yet", func(t *testing.T) {
		h := foldOf(10, snapshotOf(1, -1)).History()
		if w, ok := model.InferWindow(h.Now(), none, some(9), nil); ok {
			t.Errorf("got %s", runText(w.Runs))
		}
	})
}

// checkCovers checks that each offset of the window is in exactly one run and that each run has its
// words.
func checkCovers(t interface {
	Helper()
	Errorf(string, ...any)
}, w model.ShareWindow) {
	t.Helper()
	next := w.Start
	for i, r := range w.Runs {
		if r.First != next || r.Last < r.First {
			t.Errorf("run %d-%d after %d", r.First, r.Last, next)
		}
		next = r.Last + 1
		if (r.State == model.StateNone) != (r.Source == model.SourceNone) {
			t.Errorf("state %s from source %s", r.State, r.Source)
		}
		if got, ok := w.At(r.Last); !ok || got != w.Runs[i] {
			t.Errorf("offset %d is in %+v", r.Last, got)
		}
		if w.Why(r, time.UTC) == "" {
			t.Errorf("no words for %+v", r)
		}
	}
	if next != max(w.Start, w.End) {
		t.Errorf("runs end at %d, window at %d", next, w.End)
	}
	var n int64
	for _, c := range w.Counts() {
		n += c.N
	}
	if n != max(0, w.End-w.Start) {
		t.Errorf("%d records counted of %d", n, w.End-w.Start)
	}
}

func TestWhy(t *testing.T) {
	changed := foldOf(10, snapshotOf(1, -1), led(1, updateOf(0, batch(3, 3, acked, 1))), led(2, updateOf(-1))).History()
	plain := foldOf(10, snapshotOf(1, -1), updateOf(0, batch(3, 3, avail, 2), batch(4, 4, 7, 1))).History()
	until := time.Date(2026, 1, 2, 14, 3, 22, 120e6, time.UTC)
	for _, c := range []struct {
		name   string
		state  *model.ShareState
		holds  []model.Hold
		offset int64
		want   []string
	}{
		{"passed over", plain.Now(), nil, 1, []string{"offset 4 above it", "out with a member"}},
		{"available", plain.Now(), nil, 3, []string{"delivery 2", "may be out with a member again"}},
		{"unknown code", plain.Now(), nil, 4, []string{"state 7"}},
		{"above", plain.Now(), nil, 5, []string{"No outcome is recorded"}},
		{"held", plain.Now(), []model.Hold{{Offset: 5, Count: 1, Until: until}}, 5, []string{"We hold it, delivery 1, until 14:03:22.120"}},
		{"forgotten", changed.Now(), nil, 1, []string{"leader of the partition changed at 00:00:03.000", "may be available or out"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w, _ := model.InferWindow(c.state, model.Int{}, model.Some[int64](9), c.holds)
			r, ok := w.At(c.offset)
			if !ok {
				t.Fatal("not in the window")
			}
			why := w.Why(r, time.UTC)
			for _, s := range c.want {
				if !strings.Contains(why, s) {
					t.Errorf("%q does not say %q", why, s)
				}
			}
		})
	}
}

func TestHeadAndLimits(t *testing.T) {
	h := foldOf(10, snapshotOf(1, -1), updateOf(0, batch(0, 0, acked, 1)), updateOf(1, batch(1, 1, avail, 4), batch(3, 9, acked, 1))).History()
	w, _ := model.InferWindow(h.Now(), model.Int{}, model.Some[int64](20), nil)
	head, ok := w.Head()
	if !ok || head.Run.First != 1 || head.Run.Last != 1 || head.Waiting != 7 || head.Since.Ms != 3000 { // until then nothing was in flight
		t.Errorf("head %+v", head)
	}
	if w.Used() != 9 {
		t.Errorf("%d of the window used, want 9: offsets 1 to 9", w.Used())
	}
	if near := runText(w.NearLimit(5)); near != "1 available recorded x4" {
		t.Errorf("near the limit: %s", near)
	}
	if w.Worst() != model.Some[int64](4) {
		t.Errorf("worst %v", w.Worst())
	}
	h = foldOf(10, snapshotOf(1, -1), updateOf(0, batch(1, 1, acked, 1)), updateOf(0, batch(0, 0, acked, 1)), updateOf(2, batch(2, 4, acked, 1), batch(6, 6, acked, 1)), updateOf(5, batch(8, 8, acked, 1))).History()
	w, _ = model.InferWindow(h.Now(), model.Int{}, model.Some[int64](20), nil)
	if head, _ := w.Head(); head.Run.First != 5 || head.Since.Ms != 4000 || head.AtLeast {
		t.Errorf("head %+v, want 5 since the start offset came there", head)
	}
	h = foldOf(10, snapshotOf(1, -1), updateOf(0, batch(0, 4, acked, 1))).History()
	w, _ = model.InferWindow(h.Now(), model.Int{}, model.Some[int64](20), []model.Hold{{Offset: 5, Count: 1, Taken: time.UnixMilli(9000)}})
	if head, _ := w.Head(); head.Run.First != 5 || head.Since.Ms != 9000 {
		t.Errorf("head %+v, want 5 since we took it", head)
	}
	h = foldOf(10, snapshotOf(1, 5)).History()
	w, _ = model.InferWindow(h.Now(), model.Int{}, model.Some[int64](5), nil)
	if _, ok := w.Head(); ok || w.Used() != 0 || w.Worst().Known() {
		t.Error("an empty window has a head")
	}
}

func TestCheckLag(t *testing.T) {
	if diff, text := model.CheckLag(model.Some[int64](7), model.Some[int64](7)); diff != model.Some[int64](0) || text != "" {
		t.Errorf("equal: %v %q", diff, text)
	}
	if diff, text := model.CheckLag(model.Some[int64](7), model.Some[int64](9)); diff != model.Some[int64](-2) || !strings.Contains(text, "7 and the broker says 9") {
		t.Errorf("different: %v %q", diff, text)
	}
	if diff, text := model.CheckLag(model.Some[int64](7), model.Int{}); diff.Known() || text != "" {
		t.Errorf("unknown: %v %q", diff, text)
	}
}

// leader writes to the state topic what a broker writes (docs/share-groups.md): an update for each outcome
// with the start offset before it, a snapshot in place of every few updates, and nothing for an acquire.
type leader struct {
	window        *model.RecordWindow
	held          map[int64]bool
	fold          *model.ShareFold
	epochs        model.ShareWrite // the epochs of the next write
	writes, since int
	recorded      bool // an outcome was written since the state began
	logEnd        int64
}

func (l *leader) write(kind model.WriteKind, start int64, batches []model.StateBatch) {
	w := l.epochs
	w.Kind, w.Start, w.Batches = kind, start, batches
	l.writes++
	l.fold.Apply(&w, model.WriteRef{Ms: int64(l.writes), Offset: int64(l.writes)})
}

// outcome lets an event happen to held records and writes what came of it.
func (l *leader) outcome(e model.RecordEvent, offsets ...int64) {
	start := l.window.Start()
	var batches []model.StateBatch
	after := make(map[int64]model.Delivery)
	for _, o := range offsets {
		d, _ := l.window.At(o)
		next, ok := l.window.Rules.Next(d, e)
		if !ok || !l.window.Apply(o, e) {
			panic(fmt.Sprintf("%s does not apply to %d in %v", e, o, d))
		}
		if e == model.EventRenew {
			continue
		}
		delete(l.held, o)
		after[o] = next
		batches = append(batches, batch(o, o, next.State, next.Count))
	}
	if len(batches) == 0 {
		return
	}
	l.recorded = true
	if l.since++; l.since < 7 {
		l.write(model.WriteUpdate, start, batches)
		return
	}
	l.since = 0
	l.epochs.SnapshotEpoch++
	h := l.fold.History()
	all := append([]model.StateBatch(nil), h.Now().Batches...)
	scratch := model.NewShareFold(1)
	whole := snapshotOf(0, start, append(all, batches...)...)
	scratch.Apply(&whole, model.WriteRef{})
	merged := scratch.History()
	l.write(model.WriteSnapshot, start, merged.Now().Batches)
}

// Whatever members do, what is inferred from the topic is what the leader knows.
func TestInferenceProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rules := model.DeliveryRules{
			Limit: int16(rapid.IntRange(2, 5).Draw(t, "limit")), DeadLetter: rapid.Bool().Draw(t, "dead letter"), CloseUndoes: rapid.Bool().Draw(t, "close undoes"),
		}
		l := &leader{
			window: model.NewRecordWindow(rules, rapid.Int64Range(3, 12).Draw(t, "locks"), 0), held: make(map[int64]bool),
			fold: model.NewShareFold(5), logEnd: 20, epochs: model.ShareWrite{StateEpoch: 1},
		}
		l.write(model.WriteSnapshot, -1, nil)
		reset := false
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			before := l.window.Start()
			reset = false
			switch rapid.IntRange(0, 11).Draw(t, "step") {
			default:
				for _, o := range l.window.Acquire(rapid.IntRange(1, 4).Draw(t, "n"), l.logEnd) {
					l.held[o] = true
				}
			case 0, 1, 2, 3, 4:
				var all []int64
				for o := l.window.Start(); o < l.window.Next(); o++ {
					if l.held[o] {
						all = append(all, o)
					}
				}
				if len(all) == 0 {
					continue
				}
				o := rapid.SampledFrom(all).Draw(t, "offset")
				e := rapid.SampledFrom([]model.RecordEvent{
					model.EventAccept, model.EventAccept, model.EventRelease, model.EventReject, model.EventGap, model.EventRenew, model.EventLockTimeout,
				}).Draw(t, "event")
				if rapid.IntRange(0, 9).Draw(t, "close") == 0 {
					l.outcome(model.EventSessionClose, all...)
				} else {
					l.outcome(e, o)
				}
			case 5:
				for o := l.window.Start(); o < l.window.Next(); o++ {
					if d, _ := l.window.At(o); d.State == model.StateArchiving {
						l.outcome(model.EventDeadLettered, o)
						break
					}
				}
			case 6:
				l.logEnd += 3
			case 7:
				if rapid.IntRange(0, 2).Draw(t, "change") > 0 || !l.recorded {
					continue
				}
				l.window.LeaderChange()
				clear(l.held)
				l.epochs.LeaderEpoch++
				l.write(model.WriteUpdate, l.window.Start(), nil)
			case 8:
				if rapid.IntRange(0, 4).Draw(t, "reset") > 0 {
					continue
				}
				reset = true
				l.window.Reset(rapid.Int64Range(0, l.logEnd).Draw(t, "to"))
				clear(l.held)
				l.epochs.StateEpoch += 2
				epoch := l.epochs.LeaderEpoch
				l.epochs.LeaderEpoch, l.recorded = 0, true
				l.write(model.WriteSnapshot, l.window.Start(), nil)
				l.epochs.LeaderEpoch = epoch
			}
			if l.window.Start() < before && !reset {
				t.Fatalf("the start offset went back from %d to %d", before, l.window.Start())
			}
			check(t, l)
		}
	})
}

func check(t *rapid.T, l *leader) {
	h := l.fold.History()
	w, ok := model.InferWindow(h.Now(), model.Int{}, model.Some(l.logEnd), nil)
	if ok != l.recorded {
		t.Fatalf("window: %v, outcomes recorded: %v", ok, l.recorded)
	}
	if !ok {
		return
	}
	checkCovers(t, w)
	if w.Start != l.window.Start() {
		t.Fatalf("effective start %d, the leader's is %d", w.Start, l.window.Start())
	}
	if w.Used() > l.window.Next()-l.window.Start() && h.Now().Leader.Ms == 0 {
		t.Fatalf("%d of the window used, the leader says %d", w.Used(), l.window.Next()-l.window.Start())
	}
	for o := w.Start; o < w.End; o++ {
		r, _ := w.At(o)
		d, _ := l.window.At(o)
		n := r.Count.Or(0)
		switch {
		case r.Source == model.SourceInferred && d.State != model.StateAcquired:
			t.Fatalf("offset %d is inferred acquired and is %v", o, d)
		case r.Source == model.SourceNone && (d.State.Terminal() || d.State == model.StateArchiving):
			t.Fatalf("offset %d has no outcome and is %v", o, d)
		case r.Source == model.SourceNone && d.State == model.StateAcquired && o < h.Now().Fresh:
			t.Fatalf("offset %d is acquired and was not inferred", o)
		case r.Source != model.SourceRecorded:
		case r.State == model.StateAvailable:
			if d != (model.Delivery{State: model.StateAvailable, Count: n}) && d != (model.Delivery{State: model.StateAcquired, Count: n + 1}) {
				t.Fatalf("offset %d is recorded available x%d and is %v", o, n, d)
			}
		case d != model.Delivery{State: r.State, Count: n}:
			t.Fatalf("offset %d is recorded %s x%d and is %v", o, r.State, n, d)
		}
	}
}
