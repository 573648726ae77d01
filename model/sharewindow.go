package model

import (
	"fmt"
	"slices"
	"sort"
	"time"
)

// Source says where a record's state is known from.
type Source uint8

const (
	// SourceNone means that no outcome is recorded and nothing follows from the others.
	SourceNone Source = iota
	// SourceRecorded means read from the state topic.
	SourceRecorded
	// SourceObserved means that we hold the record ourselves.
	SourceObserved
	// SourceInferred means concluded from the outcomes of other records.
	SourceInferred
)

var sourceNames = [...]string{"none", "recorded", "observed", "inferred"}

// String is the word of the JSON output.
func (s Source) String() string {
	if int(s) < len(sourceNames) {
		return sourceNames[s]
	}
	return sourceNames[SourceNone]
}

// Reason says why a record is shown as it is; [ShareWindow.Why] puts it into words.
type Reason uint8

// The reasons.
const (
	ReasonFinished   Reason = iota // recorded, terminal
	ReasonReturned                 // recorded as available: may be out again
	ReasonArchiving                // recorded, on its way through the dead-letter topic
	ReasonCode                     // recorded with a state that we do not know
	ReasonHeld                     // we hold it
	ReasonPassedOver               // no outcome, and a later record has one
	ReasonForgotten                // passed over, and then the leader changed
	ReasonBeforeUs                 // passed over before our history begins
	ReasonNoOutcome                // above everything with an outcome
	ReasonGone                     // below the log start
)

var reasonNames = [...]string{"finished", "returned", "archiving", "unknown_state", "held", "passed_over", "forgotten", "before_history", "no_outcome", "below_log_start"}

// String is the word of the JSON output.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "unknown"
}

// NothingRecorded says what a recorded start offset of -1 means.
const NothingRecorded = "nothing recorded yet: nothing was delivered, or everything is in its first delivery"

// Run is a run of records, First to Last inclusive, of which the same is known.
type Run struct {
	First, Last int64
	// State is [StateNone] where no outcome is recorded and none follows.
	State RecordState
	// Source says where State is from.
	Source Source
	Reason Reason
	// Count is the delivery count: of the recorded outcome, or of our own hold. It is unknown for what others
	// hold.
	Count Opt[int16]
}

// Len is the number of records.
func (r Run) Len() int64 { return r.Last - r.First + 1 }

// Hold is a record that we hold ourselves.
type Hold struct {
	Offset int64
	// Count is the delivery count with which it was handed to us.
	Count int16
	// Taken is when it was asked for, and Until when the lock runs out.
	Taken, Until time.Time
}

// ShareWindow is what is known of each record of a share-partition from its effective start offset to
// the log end. It is immutable.
type ShareWindow struct {
	// Start is the effective start offset and End the log end, exclusive. Where the log end is not known or
	// was read before the state, End is as far as outcomes and holds reach. It may lie below Start after a reset
	// beyond the log.
	Start, End int64
	// Highest is the highest offset with a recorded outcome or held by us; unknown when there is none.
	Highest Int
	// Finished counts the finished records at or above Start.
	Finished int64
	// Runs cover every offset from Start to End once, ascending.
	Runs []Run

	state *ShareState
	holds []Hold
}

// InferWindow concludes what can be known of each record. Records are handed out in the order of their
// offsets and a fetch skips what others hold, so a record without an outcome below one that has one was
// handed out and is out with a member, unless its hold was forgotten in a change of the leader since. state is the
// recorded state, logStart and end the bounds of the log as far as known, and holds what we hold ourselves, by
// ascending offset. ok is false when nothing is recorded yet and we hold nothing: see [NothingRecorded]. Where nothing is
// recorded, the window begins at the first record that we hold.
func InferWindow(state *ShareState, logStart, end Int, holds []Hold) (w ShareWindow, ok bool) {
	start, ok := state.Effective().Get()
	if !ok && len(holds) > 0 {
		start, ok = holds[0].Offset, true
	}
	if !ok {
		return ShareWindow{}, false
	}
	w = ShareWindow{Start: start, End: end.Or(start), Highest: state.Highest(), Finished: state.Finished(), state: state, holds: holds}
	if len(holds) > 0 {
		if last := holds[len(holds)-1].Offset; last >= max(start, w.Highest.Or(-1)) {
			w.Highest = Some(last)
		}
	}
	w.End = max(w.End, w.Highest.Or(-1)+1)
	b := windowBuilder{w: &w, holds: holds, logStart: logStart.Or(0), recorded: state.Highest().Or(-1), next: start}
	w.Runs = make([]Run, 0, 2*len(state.Batches)+2)
	for _, batch := range state.Batches {
		if batch.Last >= start {
			b.gap(batch.First)
			b.outcome(batch)
		}
	}
	b.gap(w.End)
	return w, true
}

// windowBuilder appends runs from next on.
type windowBuilder struct {
	w        *ShareWindow
	holds    []Hold
	logStart int64
	recorded int64 // highest offset with a recorded outcome, -1 for none
	next     int64
}

// outcome appends a recorded batch.
func (b *windowBuilder) outcome(batch StateBatch) {
	r := Run{Last: batch.Last, State: batch.State, Source: SourceRecorded, Count: Some(batch.Count)}
	switch {
	case batch.State.Terminal():
		r.Reason = ReasonFinished
	case batch.State == StateAvailable:
		r.Reason = ReasonReturned
	case batch.State == StateArchiving:
		r.Reason = ReasonArchiving
	default:
		r.Reason = ReasonCode
	}
	b.put(r)
}

// gap appends what has no outcome, up to end.
func (b *windowBuilder) gap(end int64) {
	fresh := b.w.state.Fresh
	for b.next < end {
		r := Run{Last: end - 1, State: StateNone}
		switch {
		case b.next < b.logStart:
			r.Reason, r.Last = ReasonGone, min(r.Last, b.logStart-1)
		case b.next < fresh:
			r.State, r.Source, r.Reason, r.Last = StateAcquired, SourceInferred, ReasonPassedOver, min(r.Last, fresh)
		case b.next < b.recorded:
			r.Reason, r.Last = ReasonForgotten, min(r.Last, b.recorded)
			if b.w.state.Leader.Ms == 0 {
				r.Reason = ReasonBeforeUs
			}
		default:
			r.Reason = ReasonNoOutcome
		}
		b.put(r)
	}
}

// put appends a run from next on, split where we hold records of it.
func (b *windowBuilder) put(r Run) {
	for len(b.holds) > 0 && b.holds[0].Offset <= r.Last {
		h := b.holds[0]
		b.holds = b.holds[1:]
		if h.Offset < b.next || r.Source == SourceRecorded && !(r.Reason == ReasonReturned && r.Count.Or(0) < h.Count) {
			continue // an outcome of this very delivery is recorded: the hold is over
		}
		r.First = b.next
		b.push(r, h.Offset-1)
		b.push(Run{First: h.Offset, State: StateAcquired, Source: SourceObserved, Reason: ReasonHeld, Count: Some(h.Count)}, h.Offset)
	}
	r.First = b.next
	b.push(r, r.Last)
}

// push appends a run that ends at last, joined to the one before when the same is known of both.
func (b *windowBuilder) push(r Run, last int64) {
	if last < r.First {
		return
	}
	r.Last, b.next = last, last+1
	if n := len(b.w.Runs); n > 0 {
		p := &b.w.Runs[n-1]
		if p.State == r.State && p.Source == r.Source && p.Reason == r.Reason && p.Count == r.Count {
			p.Last = last
			return
		}
	}
	b.w.Runs = append(b.w.Runs, r)
}

// At is the run that holds an offset; ok is false outside the window.
func (w *ShareWindow) At(offset int64) (r Run, ok bool) {
	i := sort.Search(len(w.Runs), func(i int) bool { return w.Runs[i].Last >= offset })
	if i < len(w.Runs) && w.Runs[i].First <= offset {
		return w.Runs[i], true
	}
	return Run{}, false
}

// StateCount counts the records of one state that are known from one source.
type StateCount struct {
	State  RecordState
	Source Source
	N      int64
}

// Counts counts the records by state and source, ascending. Sums over sources mix what is recorded with
// what is concluded, so a screen that shows one says so.
func (w *ShareWindow) Counts() []StateCount {
	var counts []StateCount
	for _, r := range w.Runs {
		i := slices.IndexFunc(counts, func(c StateCount) bool { return c.State == r.State && c.Source == r.Source })
		if i < 0 {
			i, counts = len(counts), append(counts, StateCount{State: r.State, Source: r.Source})
		}
		counts[i].N += r.Len()
	}
	sort.Slice(counts, func(i, j int) bool {
		a, b := counts[i], counts[j]
		return a.State < b.State || a.State == b.State && a.Source < b.Source
	})
	return counts
}

// Used is how many offsets of the window limit are in use at least: from the start offset to the last
// one of which we know that it was handed out.
func (w *ShareWindow) Used() int64 {
	if h, ok := w.Highest.Get(); ok {
		return h + 1 - w.Start
	}
	return 0
}

// Head is the record that holds the start offset.
type Head struct {
	Run Run
	// Since is the write since which it holds it; its time is zero when that was not seen. Where nothing but our holds
	// is in flight it has the time, by our clock, at which we took it.
	Since WriteRef
	// AtLeast is true where it may be longer: Since is the beginning of what the brokers have kept.
	AtLeast bool
	// Waiting counts the finished records behind it.
	Waiting int64
}

// Head is the record at the start offset; ok is false when the window is empty.
func (w *ShareWindow) Head() (h Head, ok bool) {
	if len(w.Runs) == 0 {
		return Head{}, false
	}
	h = Head{Run: w.Runs[0], Since: w.state.Moved, Waiting: w.Finished}
	h.Run.Last = h.Run.First
	// A new state has no outcomes, and the first one moves Since; only what a pruned topic begins with has.
	h.AtLeast = h.Since == w.state.Reset
	if !w.state.Highest().Known() && len(w.holds) > 0 && w.holds[0].Offset == h.Run.First && !w.holds[0].Taken.IsZero() {
		h.Since, h.AtLeast = WriteRef{Ms: w.holds[0].Taken.UnixMilli()}, false
	}
	return h, true
}

// NearLimit are the unfinished records whose recorded delivery count is at most one below the limit: the next
// delivery is their last, or this one is.
func (w *ShareWindow) NearLimit(limit int64) []Run {
	var near []Run
	for _, r := range w.Runs {
		if n, ok := r.Count.Get(); ok && int64(n) >= limit-1 && !r.State.Terminal() && r.State != StateArchiving {
			near = append(near, r)
		}
	}
	return near
}

// Worst is the highest delivery count of the unfinished records, as far as recorded or held by us.
func (w *ShareWindow) Worst() Int {
	var worst Int
	for _, r := range w.Runs {
		if n, ok := r.Count.Get(); ok && !r.State.Terminal() {
			worst = Some(max(worst.Or(0), int64(n)))
		}
	}
	return worst
}

// Why says in sentences why we think that the records of a run are in their state. Times are in loc.
func (w *ShareWindow) Why(r Run, loc *time.Location) string {
	clock := func(ref WriteRef) string { return ref.Time().In(loc).Format("15:04:05.000") }
	switch r.Reason {
	case ReasonFinished:
		return fmt.Sprintf("The state topic says %s after delivery %d. That is final.", r.State, r.Count.Or(0))
	case ReasonReturned:
		return fmt.Sprintf("The state topic says available after delivery %d: it was released or its lock ran out. "+
			"It may be out with a member again right now; that would not be recorded before its outcome.", r.Count.Or(0))
	case ReasonArchiving:
		return fmt.Sprintf("The state topic says archiving after delivery %d: the broker gives up on it and writes it to the dead-letter topic.", r.Count.Or(0))
	case ReasonCode:
		return fmt.Sprintf("The state topic says %s, which this version of flightdeck does not know.", r.State)
	case ReasonHeld:
		i := sort.Search(len(w.holds), func(i int) bool { return w.holds[i].Offset >= r.First })
		if i < len(w.holds) && !w.holds[i].Until.IsZero() {
			return fmt.Sprintf("We hold it, delivery %d, until %s.", r.Count.Or(0), w.holds[i].Until.In(loc).Format("15:04:05.000"))
		}
		return fmt.Sprintf("We hold it, delivery %d.", r.Count.Or(0))
	case ReasonPassedOver:
		return fmt.Sprintf("Nothing is recorded for it, but offset %d above it has an outcome. Records are handed out in order, so it was handed out "+
			"and is out with a member. (It could also be a control record or compacted away.) Who holds it and until when is not visible.", w.state.Fresh)
	case ReasonForgotten:
		return fmt.Sprintf("It was handed out, since offset %d above it has an outcome, but the leader of the partition changed at %s "+
			"and the new one knows nothing of earlier holds. It may be available or out again.", w.state.Highest().Or(0), clock(w.state.Leader))
	case ReasonBeforeUs:
		return fmt.Sprintf("It was handed out, since offset %d above it has an outcome. That was written before the history that we could read begins, "+
			"and the leader may have changed since and have forgotten it. It may be available or out.", w.state.Highest().Or(0))
	case ReasonGone:
		return "It lies below the start of the log: retention or a deletion took it. The broker moves the start offset over it at the next fetch."
	}
	return "No outcome is recorded, here or above. It was not delivered yet, or it is out for the first time."
}

// CheckLag compares the lag derived from the recorded state with the broker's. A difference is a fact
// about the two sources, which were read at different times, and text says it; it is empty when they agree or
// one of them is not known.
func CheckLag(derived, broker Int) (diff Int, text string) {
	d, ok := derived.Get()
	b, known := broker.Get()
	if !ok || !known {
		return Int{}, ""
	}
	if d == b {
		return Some(int64(0)), ""
	}
	return Some(d - b), fmt.Sprintf("The recorded state makes the lag %d and the broker says %d. They were read at different times; "+
		"if the difference stays, the leader knows something that is not in the topic.", d, b)
}
