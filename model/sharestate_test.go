package model_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"flightdeck/model"
)

func batch(first, last int64, state model.RecordState, count int16) model.StateBatch {
	return model.StateBatch{First: first, Last: last, State: state, Count: count}
}

func snapshotOf(stateEpoch int32, start int64, batches ...model.StateBatch) model.ShareWrite {
	return model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: stateEpoch, Start: start, Batches: batches}
}

func updateOf(start int64, batches ...model.StateBatch) model.ShareWrite {
	return model.ShareWrite{Kind: model.WriteUpdate, Start: start, Batches: batches}
}

func led(epoch int32, w model.ShareWrite) model.ShareWrite {
	w.LeaderEpoch = epoch
	return w
}

// foldOf folds writes that are a second apart, the first at second 1.
func foldOf(keep int, writes ...model.ShareWrite) *model.ShareFold {
	f := model.NewShareFold(keep)
	for i := range writes {
		f.Apply(&writes[i], model.WriteRef{Ms: int64(i+1) * 1000, Offset: int64(i)})
	}
	return f
}

// batchText is "5-7 acknowledged x1, ...".
func batchText(batches []model.StateBatch) string {
	var parts []string
	for _, b := range batches {
		parts = append(parts, fmt.Sprintf("%d-%d %s x%d", b.First, b.Last, b.State, b.Count))
	}
	return strings.Join(parts, ", ")
}

const (
	avail = model.StateAvailable
	acked = model.StateAcknowledged
	dying = model.StateArchiving
	gone  = model.StateArchived
)

func TestShareFold(t *testing.T) {
	for _, c := range []struct {
		name      string
		writes    []model.ShareWrite
		batches   string
		effective model.Int
		finished  int64
	}{
		{"nothing", nil, "", model.Int{}, 0},
		{"assigned", []model.ShareWrite{snapshotOf(1, -1)}, "", model.Int{}, 0},
		{"assigned at 0", []model.ShareWrite{snapshotOf(1, 0)}, "", model.Some[int64](0), 0},
		{"start trails by one write", []model.ShareWrite{snapshotOf(1, -1), updateOf(0, batch(0, 2, acked, 1))},
			"0-2 acknowledged x1", model.Some[int64](3), 0},
		{"finished behind the head", []model.ShareWrite{updateOf(0, batch(0, 0, acked, 1)), updateOf(1, batch(3, 4, acked, 1)), updateOf(1, batch(6, 6, gone, 5))},
			"3-4 acknowledged x1, 6-6 archived x5", model.Some[int64](1), 3},
		{"archiving is not finished", []model.ShareWrite{updateOf(0, batch(0, 0, dying, 1))}, "0-0 archiving x1", model.Some[int64](0), 0},
		{"archived after archiving", []model.ShareWrite{updateOf(0, batch(0, 0, dying, 1)), updateOf(0, batch(0, 0, gone, 1))},
			"0-0 archived x1", model.Some[int64](1), 0},
		{"start unchanged", []model.ShareWrite{updateOf(4, batch(5, 5, acked, 1)), updateOf(-1, batch(7, 7, acked, 1))},
			"5-5 acknowledged x1, 7-7 acknowledged x1", model.Some[int64](4), 2},
		{"below the start is dropped", []model.ShareWrite{updateOf(0, batch(0, 9, avail, 1)), updateOf(5, batch(3, 6, acked, 1))},
			"5-6 acknowledged x1, 7-9 available x1", model.Some[int64](7), 0},
		{"higher count wins", []model.ShareWrite{updateOf(0, batch(0, 3, acked, 1)), updateOf(0, batch(2, 5, avail, 2))},
			"0-1 acknowledged x1, 2-5 available x2", model.Some[int64](2), 0},
		{"lower count loses", []model.ShareWrite{updateOf(0, batch(0, 3, avail, 2)), updateOf(0, batch(2, 5, acked, 1))},
			"0-3 available x2, 4-5 acknowledged x1", model.Some[int64](0), 2},
		{"then higher state wins", []model.ShareWrite{updateOf(0, batch(0, 3, avail, 1)), updateOf(0, batch(1, 1, acked, 1)), updateOf(0, batch(1, 1, avail, 1))},
			"0-0 available x1, 1-1 acknowledged x1, 2-3 available x1", model.Some[int64](0), 1},
		{"equal neighbours are joined", []model.ShareWrite{updateOf(0, batch(0, 0, avail, 1)), updateOf(0, batch(2, 2, avail, 1)), updateOf(0, batch(1, 1, avail, 1))},
			"0-2 available x1", model.Some[int64](0), 0},
		{"over several and their gaps", []model.ShareWrite{updateOf(0, batch(1, 2, avail, 1), batch(5, 6, acked, 3), batch(8, 9, avail, 1)), updateOf(0, batch(0, 10, avail, 2))},
			"0-4 available x2, 5-6 acknowledged x3, 7-10 available x2", model.Some[int64](0), 2},
		{"snapshot replaces", []model.ShareWrite{snapshotOf(1, 0), updateOf(0, batch(1, 1, acked, 1)), snapshotOf(1, 0, batch(1, 2, acked, 1))},
			"1-2 acknowledged x1", model.Some[int64](0), 2},
		{"reset", []model.ShareWrite{snapshotOf(1, 0), updateOf(7, batch(9, 9, acked, 1)), snapshotOf(2, 3)}, "", model.Some[int64](3), 0},
		{"tombstone", []model.ShareWrite{updateOf(7, batch(9, 9, acked, 1)), {Kind: model.WriteTombstone}}, "", model.Int{}, 0},
		{"written again after a tombstone", []model.ShareWrite{updateOf(7, batch(9, 9, acked, 1)), {Kind: model.WriteTombstone}, snapshotOf(5, -1)}, "", model.Int{}, 0},
		{"a state that we do not know", []model.ShareWrite{updateOf(0, batch(0, 0, 7, 1), batch(1, 1, acked, 1))},
			"0-0 state 7 x1, 1-1 acknowledged x1", model.Some[int64](0), 1},
		{"the same update twice", []model.ShareWrite{updateOf(0, batch(0, 0, acked, 1), batch(2, 2, avail, 1)), updateOf(0, batch(0, 0, acked, 1), batch(2, 2, avail, 1))},
			"0-0 acknowledged x1, 2-2 available x1", model.Some[int64](1), 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := foldOf(10, c.writes...).History()
			s := h.Now()
			if got := batchText(s.Batches); got != c.batches {
				t.Errorf("batches %q, want %q", got, c.batches)
			}
			if s.Effective() != c.effective || s.Finished() != c.finished {
				t.Errorf("effective start %v and %d finished, want %v and %d", s.Effective(), s.Finished(), c.effective, c.finished)
			}
		})
	}
}

func TestDerivedLag(t *testing.T) {
	h := foldOf(10, updateOf(0, batch(0, 1, acked, 1)), updateOf(2, batch(5, 6, acked, 1))).History()
	if got, want := h.Now().DerivedLag(model.Some[int64](20)), model.Some[int64](16); got != want {
		t.Errorf("lag %v, want %v: 2 to 19 without 5 and 6", got, want)
	}
	if got := h.Now().DerivedLag(model.Int{}); got.Known() {
		t.Errorf("lag %v without a log end", got)
	}
	fresh := foldOf(10, snapshotOf(1, -1)).History()
	if got := fresh.Now().DerivedLag(model.Some[int64](20)); got.Known() {
		t.Errorf("lag %v although nothing is recorded", got)
	}
}

// reference folds the slow way: one offset at a time.
type reference struct {
	start   int64
	outcome map[int64]model.Delivery
}

func (r *reference) apply(w *model.ShareWrite) {
	switch w.Kind {
	case model.WriteTombstone:
		*r = reference{start: -1}
		return
	case model.WriteSnapshot:
		*r = reference{start: w.Start}
	default:
		if w.Start >= 0 {
			r.start = w.Start
		}
	}
	if r.outcome == nil {
		r.outcome = make(map[int64]model.Delivery)
	}
	for _, b := range w.Batches {
		for o := b.First; o <= b.Last; o++ {
			old, ok := r.outcome[o]
			if !ok || b.Count > old.Count || b.Count == old.Count && b.State > old.State {
				r.outcome[o] = model.Delivery{State: b.State, Count: b.Count}
			}
		}
	}
	for o := range r.outcome {
		if o < r.start {
			delete(r.outcome, o)
		}
	}
}

func drawWrite(t *rapid.T) model.ShareWrite {
	w := model.ShareWrite{
		Kind:        model.WriteKind(rapid.SampledFrom([]int{0, 1, 1, 1, 1, 1, 1, 1, 1, 2}).Draw(t, "kind")),
		StateEpoch:  int32(rapid.IntRange(1, 2).Draw(t, "state epoch")),
		LeaderEpoch: int32(rapid.IntRange(0, 1).Draw(t, "leader epoch")),
		Start:       rapid.Int64Range(-1, 12).Draw(t, "start"),
	}
	for range rapid.IntRange(0, 4).Draw(t, "batches") {
		first := rapid.Int64Range(0, 30).Draw(t, "first")
		w.Batches = append(w.Batches, batch(first, first+rapid.Int64Range(0, 9).Draw(t, "len"),
			model.RecordState(rapid.SampledFrom([]int8{0, 2, 3, 4, 7}).Draw(t, "state")), int16(rapid.IntRange(0, 3).Draw(t, "count"))))
	}
	if w.Kind == model.WriteTombstone {
		return model.ShareWrite{Kind: w.Kind}
	}
	return w
}

// Whatever is written, in any order: the fold is that of the slow way, its batches are in order, and the
// history can show each state again.
func TestShareFoldProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		writes := rapid.SliceOfN(rapid.Custom(drawWrite), 1, 40).Draw(t, "writes")
		keep := rapid.IntRange(1, 12).Draw(t, "keep")
		f := model.NewShareFold(keep)
		ref := reference{start: -1}
		states := []*model.ShareState{clean(f)}
		for i := range writes {
			given := slices.Clone(writes[i].Batches)
			f.Apply(&writes[i], model.WriteRef{Ms: int64(i + 1), Offset: int64(i)})
			if !slices.Equal(given, writes[i].Batches) {
				t.Fatal("the write was changed")
			}
			ref.apply(&writes[i])
			s := clean(f)
			states = append(states, s)

			n := 0
			for j, b := range s.Batches {
				if b.Last < b.First || b.First < s.Start {
					t.Fatalf("batch %v with start %d", b, s.Start)
				}
				if j > 0 && (b.First <= s.Batches[j-1].Last ||
					b.First == s.Batches[j-1].Last+1 && b.State == s.Batches[j-1].State && b.Count == s.Batches[j-1].Count) {
					t.Fatalf("out of order or not joined: %s", batchText(s.Batches))
				}
				for o := b.First; o <= b.Last; o++ {
					if n++; ref.outcome[o] != (model.Delivery{State: b.State, Count: b.Count}) {
						t.Fatalf("offset %d is %v, want %v", o, b, ref.outcome[o])
					}
				}
			}
			if n != len(ref.outcome) || s.Start != ref.start {
				t.Fatalf("%d outcomes from %d, want %d from %d", n, s.Start, len(ref.outcome), ref.start)
			}
			if e, ok := s.Effective().Get(); ok {
				if e < s.Start {
					t.Fatalf("effective start %d below the recorded one %d", e, s.Start)
				}
				if d, ok := s.At(e); ok && d.State.Terminal() {
					t.Fatalf("a finished record at the effective start %d", e)
				}
			}

			h := f.History()
			if h.Len() >= 2*keep && keep > 1 || h.Len() < min(i+1, keep) {
				t.Fatalf("%d writes in the history of at least %d, %d written", h.Len(), keep, i+1)
			}
			for k := 0; k <= h.Len(); k++ {
				if got, want := h.At(k), states[len(states)-1-h.Len()+k]; !sameState(got, want) {
					t.Fatalf("state at %d is\n%+v, want\n%+v", k, got, want)
				}
			}
		}
	})
}

func clean(f *model.ShareFold) *model.ShareState {
	h := f.History()
	return h.Now()
}

func sameState(a, b *model.ShareState) bool {
	x, y := *a, *b
	x.Batches, y.Batches = nil, nil
	return slices.Equal(a.Batches, b.Batches) && reflect.DeepEqual(x, y)
}

func TestPublishedHistoryStays(t *testing.T) {
	f := foldOf(2, updateOf(0, batch(0, 0, acked, 1)), updateOf(0, batch(2, 2, avail, 1)))
	h := f.History()
	before, steps := batchText(h.Now().Batches), h.Len()
	for i := range int64(20) {
		w := updateOf(0, batch(2, 2+i, avail, int16(2+i)))
		f.Apply(&w, model.WriteRef{Ms: 9000 + i, Offset: 9 + i})
	}
	if got := batchText(h.Now().Batches); got != before || h.Len() != steps || batchText(h.At(h.Len()).Batches) != before {
		t.Errorf("a published history changed from %q to %q", before, got)
	}
}

func TestHistoryMemoryIsBounded(t *testing.T) {
	const keep = 8
	f := model.NewShareFold(keep)
	var many []model.StateBatch
	for o := int64(0); o < 1000; o++ {
		many = append(many, batch(2*o, 2*o, avail, int16(1+o%3)))
	}
	for i := range 100 {
		w := snapshotOf(1, 0, many...)
		f.Apply(&w, model.WriteRef{Ms: int64(i + 1), Offset: int64(i)})
		h := f.History()
		stored := 0
		for j := range h.Len() {
			stored += len(h.Entry(j).Write.Batches)
		}
		if stored > 8*keep+2048 || h.Len() >= 2*keep {
			t.Fatalf("%d writes with %d batches are kept", h.Len(), stored)
		}
	}
	h := f.History()
	if h.Whole() {
		t.Error("the history claims to be whole")
	}
}

func TestHistoryTally(t *testing.T) {
	h := foldOf(100,
		snapshotOf(1, -1),
		updateOf(0, batch(0, 0, acked, 1)),
		updateOf(1, batch(3, 4, avail, 1)),
		updateOf(1, batch(3, 3, dying, 3)),
		updateOf(1, batch(3, 3, gone, 3), batch(4, 4, acked, 2)),
	).History()
	sum, _, ok := h.Tally(time.UnixMilli(0))
	want := model.ShareTally{Acquired: 1 + 2 + 2 + 1, Accepted: 2, Released: 2, Archiving: 1, Archived: 1}
	if !ok || sum != want {
		t.Errorf("tally %+v, want %+v", sum, want)
	}
	if sum, _, _ = h.Tally(time.UnixMilli(4500)); sum != (model.ShareTally{Acquired: 1, Accepted: 1, Archived: 1}) {
		t.Errorf("tally of the last write %+v", sum)
	}
	rates, ok := h.Rates(time.UnixMilli(6000), 2*time.Second).Get()
	if !ok || rates.Acquired != 1.5 || rates.Accepted != 0.5 {
		t.Errorf("rates %+v, %v", rates, ok)
	}
	if _, ok := new(model.ShareHistory).Rates(time.UnixMilli(6000), time.Second).Get(); ok {
		t.Error("rates without a history")
	}
}

func TestTallyOfRecordsPassedOver(t *testing.T) {
	h := foldOf(100, updateOf(0, batch(0, 0, acked, 1)), updateOf(1, batch(3, 3, acked, 1)), updateOf(10, batch(12, 12, acked, 1))).History()
	if sum, _, _ := h.Tally(time.UnixMilli(0)); sum.Passed != 8 {
		t.Errorf("%d records passed over, want 8: 1 to 9 without 3", sum.Passed)
	}
	life := h.Timeline(5)
	if len(life) != 1 || life[0].Kind != model.MomentPassed || life[0].Position != 3 {
		t.Errorf("timeline of 5: %+v", life)
	}
}

func TestTimeline(t *testing.T) {
	f := foldOf(100,
		snapshotOf(1, -1),
		led(1, updateOf(0, batch(7, 7, avail, 1))),
		led(1, updateOf(0, batch(9, 9, acked, 1))),
		led(2, updateOf(-1)),
		led(2, updateOf(0, batch(7, 7, dying, 5))),
		led(2, updateOf(0, batch(7, 7, gone, 5))),
		snapshotOf(2, 3),
		led(2, updateOf(3, batch(7, 7, acked, 1))),
		model.ShareWrite{Kind: model.WriteTombstone},
	)
	text := func(h model.ShareHistory, offset int64) string {
		var parts []string
		for _, m := range h.Timeline(offset) {
			parts = append(parts, fmt.Sprintf("%d@%d:%d %s x%d", m.Kind, m.Position, m.Ref.Ms, m.To.State, m.To.Count))
		}
		return strings.Join(parts, ", ")
	}
	h := f.History()
	if got, want := text(h, 7), "1@2:2000 available x1, 3@4:4000 available x1, 1@5:5000 archiving x5, 1@6:6000 archived x5, "+
		"4@7:7000 none x0, 1@8:8000 acknowledged x1, 5@9:9000 none x0"; got != want {
		t.Errorf("timeline of 7\n%s, want\n%s", got, want)
	}
	if got, want := text(h, 8), "3@4:4000 none x0, 4@7:7000 none x0, 5@9:9000 none x0"; got != want {
		t.Errorf("timeline of 8\n%s, want\n%s", got, want)
	}
	if got := text(h, 100); got != "4@7:7000 none x0, 5@9:9000 none x0" {
		t.Errorf("timeline of 100: %s", got)
	}
	// What a snapshot holds that the history begins with came about before.
	pruned := snapshotOf(3, 5)
	pruned.Batches = []model.StateBatch{batch(5, 5, avail, 2), batch(7, 8, gone, 3)}
	begun := foldOf(100, pruned, updateOf(5, batch(5, 5, gone, 5))).History()
	if got, want := text(begun, 5), "0@1:0 available x2, 1@2:2000 archived x5"; got != want {
		t.Errorf("timeline after pruning\n%s, want\n%s", got, want)
	}
	start := foldOf(100, pruned).History()
	w, _ := model.InferWindow(start.Now(), model.Int{}, model.Int{}, nil)
	if head, _ := w.Head(); !head.AtLeast || head.Since.Ms != 1000 {
		t.Errorf("head after pruning %+v, want since the snapshot at least", head)
	}
	if list := begun.Archived(model.Some[int64](5)); len(list) != 2 || list[0].First != 7 || list[0].Last != 8 || list[0].Ref.Ms != 0 || list[1].First != 5 || list[1].Ref.Ms != 2000 {
		t.Errorf("archived after pruning: %+v", list)
	}
	// The offset goes back to a record that was finished and below the start offset.
	back := foldOf(100, snapshotOf(1, -1), updateOf(0, batch(0, 9, acked, 1)), updateOf(10, batch(10, 10, acked, 1)), snapshotOf(2, 5), model.ShareWrite{Kind: model.WriteTombstone}).History()
	if got, want := text(back, 7), "1@2:2000 acknowledged x1, 4@4:4000 none x0, 5@5:5000 none x0"; got != want {
		t.Errorf("timeline of a record that is delivered again\n%s, want\n%s", got, want)
	}
	if got, want := text(back, 3), "1@2:2000 acknowledged x1, 5@5:5000 none x0"; got != want {
		t.Errorf("timeline of a record that is not\n%s, want\n%s", got, want)
	}
	short := foldOf(1, updateOf(0, batch(7, 7, avail, 1)), updateOf(0, batch(9, 9, acked, 1)), updateOf(0, batch(7, 7, acked, 2))).History()
	if got, want := text(short, 7), "0@0:0 available x1, 1@1:3000 acknowledged x2"; got != want {
		t.Errorf("timeline with a base\n%s, want\n%s", got, want)
	}
}

func TestArchivedList(t *testing.T) {
	f := foldOf(100, updateOf(0, batch(0, 0, acked, 1)), updateOf(1, batch(1, 1, gone, 1)), updateOf(2, batch(2, 3, dying, 5)), updateOf(2, batch(2, 3, gone, 5)), updateOf(4))
	h := f.History()
	got := h.Archived(model.Some[int64](5))
	want := []model.Archived{
		{First: 1, Last: 1, Count: 1, Ref: model.WriteRef{Ms: 2000, Offset: 1}, Likely: model.LikelyRejected},
		{First: 2, Last: 3, Count: 5, Ref: model.WriteRef{Ms: 4000, Offset: 3}, Likely: model.LikelyLimit, DeadLettered: true},
	}
	if !slices.Equal(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	for _, a := range h.Archived(model.Int{}) {
		if a.Likely != model.LikelyUnknown {
			t.Errorf("%+v without knowing the limit", a)
		}
	}
}

func TestStep(t *testing.T) {
	h := foldOf(100, snapshotOf(1, -1), led(1, updateOf(0, batch(0, 0, acked, 1))), led(2, updateOf(1)), snapshotOf(2, 0)).History()
	s := h.Step(1)
	if len(s.Changes) != 1 || s.Changes[0].To.State != acked || s.EffectiveBefore != -1 || s.Effective != 1 || s.Leader || s.Reset {
		t.Errorf("first outcome: %+v", s)
	}
	if s = h.Step(2); !s.Leader || s.Reset {
		t.Errorf("leader change: %+v", s)
	}
	if s = h.Step(3); !s.Reset || s.EffectiveBefore != 1 || s.Effective != 0 {
		t.Errorf("reset: %+v", s)
	}
	if got := h.Find(time.UnixMilli(3500)); got != 3 {
		t.Errorf("position at 3.5 s is %d, want 3", got)
	}
}
