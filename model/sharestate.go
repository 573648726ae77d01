package model

import (
	"slices"
	"sort"
	"time"
)

// WriteRef says where and when something was written to the state topic.
type WriteRef struct {
	// Ms is the broker's time in milliseconds since 1970 (the record's timestamp); 0 for never.
	Ms int64
	// Offset is that of the record in its partition of the state topic.
	Offset int64
}

// Time is the broker's time; zero for never.
func (r WriteRef) Time() time.Time {
	if r.Ms == 0 {
		return time.Time{}
	}
	return time.UnixMilli(r.Ms)
}

// ShareState is what the state topic says about a share-partition at one moment: the fold of its
// snapshots, updates and tombstones.
type ShareState struct {
	// Recorded is false when nothing is recorded: never written, or deleted.
	Recorded bool
	// Partial is true when the first thing read was an update, so that what the snapshot before it held is missing.
	Partial bool
	// The epochs are those of the last write; see [ShareWrite].
	SnapshotEpoch, StateEpoch, LeaderEpoch int32
	// Start is the recorded start offset, -1 before the first outcome. It trails by one write: see [ShareState.Effective].
	Start int64
	// Complete is the delivery complete count, counted from Start.
	Complete Opt[int32]
	// Batches are the recorded outcomes at or above Start. They ascend, do not overlap, and neighbours
	// differ.
	Batches []StateBatch
	// Last is the last write.
	Last WriteRef
	// Reset is the write that began this state (initialisation, reset), where it was seen.
	Reset WriteRef
	// Leader is the write with which the present leader took over from another, where that was seen.
	Leader WriteRef
	// Moved is the write since which the record at the effective start offset holds it: the one by which the offset
	// came there, or the first with an outcome beyond it when nothing was in flight then.
	Moved WriteRef
	// Fresh is the highest offset with an outcome that is known to be from under the present leader, -1 for none.
	Fresh int64

	effective  int64
	leaderSeen bool
}

// emptyShareState is the state before anything was read.
func emptyShareState() ShareState { return ShareState{Start: -1, Fresh: -1, effective: -1} }

// clone is a copy that shares no memory.
func (s *ShareState) clone() ShareState {
	c := *s
	c.Batches = slices.Clone(s.Batches)
	return c
}

// Effective is the leader's real start offset: the recorded one moved over the finished prefix of the
// recorded outcomes. It is unknown while the recorded one is -1.
func (s *ShareState) Effective() Int {
	if !s.Recorded || s.effective < 0 {
		return Int{}
	}
	return Some(s.effective)
}

// Highest is the highest offset with a recorded outcome that is not below the effective start offset.
func (s *ShareState) Highest() Int {
	if n := len(s.Batches); n > 0 && s.effective >= 0 && s.Batches[n-1].Last >= s.effective {
		return Some(s.Batches[n-1].Last)
	}
	return Int{}
}

// At is the recorded outcome of an offset. ok is false without one.
func (s *ShareState) At(offset int64) (d Delivery, ok bool) {
	i := s.search(offset)
	if i < len(s.Batches) && s.Batches[i].First <= offset {
		return Delivery{s.Batches[i].State, s.Batches[i].Count}, true
	}
	return Delivery{State: StateNone}, false
}

// Finished counts the finished offsets at or above the effective start offset: they wait behind the record
// that holds it.
func (s *ShareState) Finished() int64 {
	var n int64
	for _, b := range s.Batches {
		if b.State.Terminal() && b.Last >= s.effective {
			n += b.Last - max(b.First, s.effective) + 1
		}
	}
	return n
}

// DerivedLag is the lag that follows from the recorded state and the log end: what is not finished from
// the effective start offset on, records in flight included. On Kafka 4.2 and later the broker says the
// same (DescribeShareGroupOffsets).
func (s *ShareState) DerivedLag(end Int) Int {
	start, ok := s.Effective().Get()
	e, known := end.Get()
	if !ok || !known {
		return Int{}
	}
	return Some(e - start - s.Finished())
}

// search is the index of the first batch that ends at or after offset.
func (s *ShareState) search(offset int64) int {
	n := len(s.Batches)
	if n == 0 || s.Batches[n-1].Last < offset {
		return n // most updates append
	}
	return sort.Search(n, func(i int) bool { return s.Batches[i].Last >= offset })
}

// Change is a run of records whose recorded outcome changed. From has [StateNone] where there was none;
// To has it where an outcome is gone.
type Change struct {
	First, Last int64
	From, To    Delivery
}

// Len is the number of records.
func (c Change) Len() int64 { return c.Last - c.First + 1 }

// apply folds one write in and appends what it changed to changes. The rule is that of Kafka's share
// coordinator: a snapshot replaces; an update takes start offset (unless -1), epochs and complete count, and its
// batches are merged offset by offset, the higher delivery count winning and then the higher state;
// what is below the start offset is dropped.
func (s *ShareState) apply(w *ShareWrite, ref WriteRef, changes []Change) []Change {
	begin, idle := len(changes), !s.Highest().Known()
	switch w.Kind {
	case WriteTombstone:
		batches := s.Batches[:0]
		*s = emptyShareState()
		s.Batches, s.Last = batches, ref
		return changes
	case WriteSnapshot:
		changes = s.replace(w, ref, changes)
	default:
		if !s.Recorded {
			s.Partial = true
		}
		if s.leaderSeen && w.LeaderEpoch > s.LeaderEpoch {
			s.Leader, s.Fresh = ref, -1
		}
		s.leaderSeen = true
		s.LeaderEpoch = w.LeaderEpoch
		if w.Start != StartUnchanged {
			s.Start = w.Start
		}
		for _, b := range w.Batches {
			b.First = max(b.First, s.Start)
			if b.First <= b.Last {
				changes = s.merge(b, changes)
			}
		}
		s.drop()
	}
	for _, c := range changes[begin:] {
		// The end of an archiving says nothing of a delivery under this leader.
		if c.To.State != StateNone && c.From.State != StateArchiving {
			s.Fresh = max(s.Fresh, c.Last)
		}
	}
	s.Recorded = true
	s.SnapshotEpoch, s.Complete, s.Last = w.SnapshotEpoch, w.Complete, ref
	s.advance(ref, idle)
	return changes
}

// replace takes a snapshot. It is a reset, or the first thing that is known, when its state epoch is
// new; otherwise it stands for an update and everything before it.
func (s *ShareState) replace(w *ShareWrite, ref WriteRef, changes []Change) []Change {
	old, known := *s, s.Recorded && s.StateEpoch == w.StateEpoch
	s.Batches = make([]StateBatch, 0, len(w.Batches))
	s.Start, s.StateEpoch, s.LeaderEpoch, s.Partial = w.Start, w.StateEpoch, w.LeaderEpoch, false
	for _, b := range w.Batches {
		b.First = max(b.First, s.Start)
		if b.First <= b.Last {
			s.merge(b, nil)
		}
	}
	// A reset writes leader epoch 0 and no batches, so the epoch after it says nothing about a change.
	s.leaderSeen = known && old.leaderSeen || w.LeaderEpoch > 0 || len(w.Batches) > 0
	if known {
		if old.leaderSeen && w.LeaderEpoch > old.LeaderEpoch {
			s.Leader, s.Fresh = ref, -1
		}
		return diffBatches(old.Batches, s.Batches, s.Start, changes)
	}
	s.Reset, s.Leader, s.Fresh = ref, WriteRef{}, -1
	// Outcomes that were there before us may be from before a leader change, unless the partition has had
	// only one leader.
	if n := len(s.Batches); n > 0 && w.LeaderEpoch == 0 {
		s.Fresh = s.Batches[n-1].Last
	}
	s.effective = -1
	return changes
}

// drop forgets what is below the start offset.
func (s *ShareState) drop() {
	n := 0
	for n < len(s.Batches) && s.Batches[n].Last < s.Start {
		n++
	}
	s.Batches = s.Batches[n:]
	if len(s.Batches) > 0 {
		s.Batches[0].First = max(s.Batches[0].First, s.Start)
	}
}

// advance finds the effective start offset. idle says that nothing with an outcome was beyond it before.
func (s *ShareState) advance(ref WriteRef, idle bool) {
	e := s.Start
	for _, b := range s.Batches {
		if e < 0 || b.First > e || !b.State.Terminal() {
			break
		}
		e = b.Last + 1
	}
	moved := e != s.effective
	s.effective = e
	if moved || idle && s.Highest().Known() {
		s.Moved = ref
	}
}

// merge lays one batch over the others and appends what it changed to changes.
func (s *ShareState) merge(b StateBatch, changes []Change) []Change {
	i := s.search(b.First)
	to := Delivery{b.State, b.Count}
	if i == len(s.Batches) {
		s.Batches = appendBatch(s.Batches, b)
		return append(changes, Change{b.First, b.Last, Delivery{State: StateNone}, to})
	}
	j := i
	for j < len(s.Batches) && s.Batches[j].First <= b.Last {
		j++
	}
	var room [8]StateBatch
	pieces := room[:0]
	put := func(first, last int64, with StateBatch, from Delivery) {
		if first > last {
			return
		}
		with.First, with.Last = first, last
		pieces = appendBatch(pieces, with)
		if got := (Delivery{with.State, with.Count}); got != from {
			changes = append(changes, Change{first, last, from, got})
		}
	}
	next := b.First
	for _, o := range s.Batches[i:j] {
		from := Delivery{o.State, o.Count}
		first, last := max(o.First, b.First), min(o.Last, b.Last)
		put(o.First, first-1, o, from)
		put(next, first-1, b, Delivery{State: StateNone})
		if supersedes(to, from) {
			put(first, last, b, from)
		} else {
			put(first, last, o, from)
		}
		put(last+1, o.Last, o, from)
		next = last + 1
	}
	put(next, b.Last, b, Delivery{State: StateNone})

	s.Batches = slices.Replace(s.Batches, i, j, pieces...)
	s.join(i + len(pieces))
	s.join(i)
	return changes
}

// supersedes is Kafka's order of outcomes for one offset.
func supersedes(next, old Delivery) bool {
	return next.Count > old.Count || next.Count == old.Count && next.State > old.State
}

// join makes one of the batches i-1 and i when they are alike.
func (s *ShareState) join(i int) {
	if i > 0 && i < len(s.Batches) && adjoins(s.Batches[i-1], s.Batches[i]) {
		s.Batches[i-1].Last = s.Batches[i].Last
		s.Batches = slices.Delete(s.Batches, i, i+1)
	}
}

func adjoins(a, b StateBatch) bool {
	return a.Last+1 == b.First && a.State == b.State && a.Count == b.Count
}

func appendBatch(batches []StateBatch, b StateBatch) []StateBatch {
	if n := len(batches); n > 0 && adjoins(batches[n-1], b) {
		batches[n-1].Last = b.Last
		return batches
	}
	return append(batches, b)
}

// diffBatches appends the changes from old to next at or above from.
func diffBatches(old, next []StateBatch, from int64, changes []Change) []Change {
	at := func(batches []StateBatch, offset int64) (rest []StateBatch, d Delivery, until int64) {
		for len(batches) > 0 && batches[0].Last < offset {
			batches = batches[1:]
		}
		switch {
		case len(batches) == 0:
			return nil, Delivery{State: StateNone}, -1
		case batches[0].First > offset:
			return batches, Delivery{State: StateNone}, batches[0].First - 1
		default:
			return batches, Delivery{batches[0].State, batches[0].Count}, batches[0].Last
		}
	}
	for offset := max(from, 0); ; {
		var a, b Delivery
		var untilA, untilB int64
		old, a, untilA = at(old, offset)
		next, b, untilB = at(next, offset)
		until := untilA
		if until < 0 || untilB >= 0 && untilB < until {
			until = untilB
		}
		if until < 0 {
			return changes
		}
		if a != b {
			changes = append(changes, Change{offset, until, a, b})
		}
		offset = until + 1
	}
}
