package model

import (
	"slices"
	"sort"
	"time"
)

// ShareFold folds the writes of one share-partition into its present state and keeps the last of them. It
// is not safe for concurrent use; what [ShareFold.History] returns is immutable.
//
// It holds at least the last keep writes and at most twice as many, with at most 8·keep+2048 batches
// in them: a write takes about 150 bytes and a batch 24. Older writes are folded into the base, the
// state in which the history begins.
type ShareFold struct {
	keep    int
	state   ShareState
	base    *ShareState
	entries shareEntries
	stored  int // batches in entries
	trimmed bool
	changes []Change
	arena   []StateBatch // memory for the batches of entries
}

// ShareEntry is one write in the history of a share-partition.
type ShareEntry struct {
	Ref   WriteRef
	Write ShareWrite
	// Effective is the effective start offset after it, -1 when unknown.
	Effective int64
	// Tally is what it changed, in numbers.
	Tally ShareTally
}

// shareEntries are writes in the order of the topic. They stay where they are in memory, so that a copy of the value is
// not changed when the original grows at its end or is cut at its beginning.
type shareEntries struct {
	chunks   []*shareChunk
	from, to int // counted from the beginning of the first chunk
}

type shareChunk [32]ShareEntry

func (s *shareEntries) len() int { return s.to - s.from }

func (s *shareEntries) at(i int) *ShareEntry {
	i += s.from
	return &s.chunks[i/len(shareChunk{})][i%len(shareChunk{})]
}

// grow adds an entry for the caller to fill in.
func (s *shareEntries) grow() *ShareEntry {
	if s.to == len(s.chunks)*len(shareChunk{}) {
		s.chunks = append(s.chunks, new(shareChunk))
	}
	s.to++
	return s.at(s.len() - 1)
}

// cut drops the first n entries.
func (s *shareEntries) cut(n int) {
	s.from += n
	whole := s.from / len(shareChunk{})
	s.chunks = slices.Clone(s.chunks[whole:])
	s.from -= whole * len(shareChunk{})
	s.to -= whole * len(shareChunk{})
}

// ShareTally counts records by what happened to them. A held record leaves no trace until its outcome, so
// Acquired comes with the outcome: it counts deliveries whose end was recorded.
type ShareTally struct {
	Acquired, Accepted, Released, Archiving, Archived int64
	// Passed counts records over which the start offset moved without a recorded outcome, as when
	// retention took them.
	Passed int64
}

// Add adds another tally.
func (t *ShareTally) Add(o ShareTally) {
	t.Acquired += o.Acquired
	t.Accepted += o.Accepted
	t.Released += o.Released
	t.Archiving += o.Archiving
	t.Archived += o.Archived
	t.Passed += o.Passed
}

func (t *ShareTally) count(c Change) {
	n := c.Len()
	if d := int64(c.To.Count) - int64(c.From.Count); d > 0 {
		t.Acquired += d * n
	}
	switch c.To.State {
	case StateAcknowledged:
		t.Accepted += n
	case StateAvailable:
		t.Released += n
	case StateArchiving:
		t.Archiving += n
	case StateArchived:
		t.Archived += n
	}
}

// NewShareFold is a fold that keeps at least the last keep writes; at least one.
func NewShareFold(keep int) *ShareFold {
	f := &ShareFold{keep: max(1, keep)}
	f.Forget()
	return f
}

// Keep changes how many writes are kept at least.
func (f *ShareFold) Keep(n int) {
	f.keep = max(1, n)
	f.trim()
}

// Forget goes back to knowing nothing, as when the reader was overtaken by pruning.
func (f *ShareFold) Forget() {
	base := emptyShareState()
	f.state, f.base, f.entries, f.stored, f.trimmed = emptyShareState(), &base, shareEntries{}, 0, false
}

// Apply folds one write in. It keeps no reference to w.Batches.
func (f *ShareFold) Apply(w *ShareWrite, ref WriteRef) {
	before := f.state.effective
	reset := w.Kind == WriteSnapshot && w.StateEpoch != f.state.StateEpoch
	var passed int64
	if before >= 0 && w.Start > before && !reset {
		passed = w.Start - before
		for _, b := range f.state.Batches {
			if b.State.Terminal() {
				passed -= max(0, min(b.Last+1, w.Start)-max(b.First, before))
			}
		}
	}
	f.changes = f.state.apply(w, ref, f.changes[:0])
	e := f.entries.grow()
	*e = ShareEntry{Ref: ref, Write: *w, Effective: f.state.effective, Tally: ShareTally{Passed: passed}}
	e.Write.Batches = f.keepBatches(w.Batches)
	for _, c := range f.changes {
		e.Tally.count(c)
	}
	f.stored += len(w.Batches)
	f.trim()
}

// keepBatches copies batches into memory that many writes share: most have a single one.
func (f *ShareFold) keepBatches(batches []StateBatch) []StateBatch {
	if len(batches) == 0 {
		return nil
	}
	if cap(f.arena)-len(f.arena) < len(batches) {
		f.arena = make([]StateBatch, 0, max(32, len(batches)))
	}
	n := len(f.arena)
	f.arena = append(f.arena, batches...)
	return f.arena[n:len(f.arena):len(f.arena)]
}

// trim moves the older part of the entries into a new base. Published histories keep what they have.
func (f *ShareFold) trim() {
	for f.entries.len() >= 2*f.keep || f.stored > 8*f.keep+2048 && f.entries.len() > 1 {
		cut := (f.entries.len() + 1) / 2
		base := f.base.clone()
		for i := range cut {
			e := f.entries.at(i)
			f.changes = base.apply(&e.Write, e.Ref, f.changes[:0])
			f.stored -= len(e.Write.Batches)
		}
		f.base, f.trimmed = &base, true
		f.entries.cut(cut)
	}
}

// History is what is known now. Later writes do not change it.
func (f *ShareFold) History() ShareHistory {
	now := f.state.clone()
	return ShareHistory{base: f.base, entries: f.entries, now: &now, trimmed: f.trimmed}
}

// ShareHistory is the present state of a share-partition and the way to it, as far back as was kept. It is
// immutable; the zero value is a history of nothing.
//
// Positions number the states: 0 is the base, the state before the first entry, and Len the present.
type ShareHistory struct {
	base, now *ShareState
	entries   shareEntries
	trimmed   bool
}

// nothing is the state of the zero history.
var nothing = emptyShareState()

// Now is the present state. It is not to be changed.
func (h *ShareHistory) Now() *ShareState {
	if h.now == nil {
		return &nothing
	}
	return h.now
}

// Len is the number of writes in the history, and the position of the present.
func (h *ShareHistory) Len() int { return h.entries.len() }

// Entry is the write that led to position i+1. It is not to be changed.
func (h *ShareHistory) Entry(i int) *ShareEntry { return h.entries.at(i) }

// Whole is true when nothing older was dropped here; the topic itself keeps only what its brokers did not
// prune.
func (h *ShareHistory) Whole() bool { return !h.trimmed }

// From is the time of the oldest write in the history; ok is false when there is none.
func (h *ShareHistory) From() (at time.Time, ok bool) {
	if h.Len() == 0 {
		return time.Time{}, false
	}
	return h.Entry(0).Ref.Time(), true
}

// Find is the last position whose state was in force at the given time.
func (h *ShareHistory) Find(at time.Time) int {
	ms := at.UnixMilli()
	return sort.Search(h.Len(), func(i int) bool { return h.Entry(i).Ref.Ms > ms })
}

// At is the state at a position from 0 to Len.
func (h *ShareHistory) At(i int) *ShareState {
	if i >= h.Len() {
		return h.Now()
	}
	s := h.base.clone()
	for j := range max(i, 0) {
		e := h.Entry(j)
		s.apply(&e.Write, e.Ref, nil)
	}
	return &s
}

// walk folds from the base on and shows each step: the states before and after it, and what it changed.
// None of it may be kept.
func (h *ShareHistory) walk(visit func(i int, before *ShareState, after *ShareState, changes []Change)) {
	if h.Len() == 0 {
		return
	}
	after := h.base.clone()
	var before ShareState
	var changes []Change
	for i := range h.Len() {
		e := h.Entry(i)
		batches := append(before.Batches[:0], after.Batches...)
		before = after
		before.Batches = batches
		changes = after.apply(&e.Write, e.Ref, changes[:0])
		visit(i, &before, &after, changes)
	}
}

// ShareStep is what one write of the history did.
type ShareStep struct {
	ShareEntry
	Changes []Change
	// EffectiveBefore is the effective start offset before it, -1 when unknown.
	EffectiveBefore int64
	// Reset is true when it began a new state (initialisation, reset); Leader when the first write of a new
	// leader.
	Reset, Leader bool
}

// Step is what the write that led to position i+1 did.
func (h *ShareHistory) Step(i int) ShareStep {
	s := h.At(i).clone()
	e := *h.Entry(i)
	step := ShareStep{ShareEntry: e, EffectiveBefore: s.effective}
	step.Changes = s.apply(&e.Write, e.Ref, nil)
	step.Reset, step.Leader = s.Reset == e.Ref, s.Leader == e.Ref
	return step
}

// Tally sums what the writes since a time did. from is where the sum begins: the later of since and
// the beginning of the history; ok is false when the history has nothing to say about that time.
func (h *ShareHistory) Tally(since time.Time) (sum ShareTally, from time.Time, ok bool) {
	if h.Len() == 0 {
		return sum, since, false
	}
	from = since
	if first := h.Entry(0).Ref.Time(); h.trimmed && first.After(since) {
		from = first
	}
	for i := h.Len() - 1; i >= 0 && h.Entry(i).Ref.Ms >= since.UnixMilli(); i-- {
		sum.Add(h.Entry(i).Tally)
	}
	return sum, from, true
}

// ShareRates are records per second over the last while.
type ShareRates struct {
	Acquired, Accepted, Released, Archived float64
}

// Rates are those of the time from now-over to now, by the broker's timestamps; unknown without a
// history.
func (h *ShareHistory) Rates(now time.Time, over time.Duration) Opt[ShareRates] {
	sum, from, ok := h.Tally(now.Add(-over))
	seconds := now.Sub(from).Seconds()
	if !ok || seconds <= 0 {
		return Opt[ShareRates]{}
	}
	return Some(ShareRates{
		Acquired: float64(sum.Acquired) / seconds,
		Accepted: float64(sum.Accepted) / seconds,
		Released: float64(sum.Released) / seconds,
		Archived: float64(sum.Archived) / seconds,
	})
}
