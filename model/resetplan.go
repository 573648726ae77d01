package model

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// ResetInput is what a plan is computed from, as it was read from the cluster.
type ResetInput struct {
	Group string
	Type  GroupType
	// At is when it was read, in the zone of the person.
	At time.Time
	// Version is the cluster's version as in [Cluster.Version]; empty for unknown.
	Version string
	// Partitions are those in question.
	Partitions []ResetPartition
	// Sizes are the numbers of partitions of the topics that exist.
	Sizes map[string]int
}

// ResetPartition is a partition in question.
type ResetPartition struct {
	Topic  string
	Number int32
	// Now is the committed offset, or a share group's effective start offset (see [ShareState.Effective]); unknown
	// when there is none.
	Now Int
	// Start and End are the log's.
	Start, End Int
	// Found is the first offset at or after the moment of the spec, and -1 when there is none (ListOffsets);
	// unknown when it was not answered.
	Found Int
	// Target is what the other group or the file says; unknown when it says nothing.
	Target Int
	// Clear is true when the file says that the partition had no position.
	Clear bool
	// Deleted is true when the topic or the partition does not exist.
	Deleted bool
	// Problem says why something could not be read; empty otherwise.
	Problem string
	// State is what is recorded of the share-partition; nil when that was not read.
	State *ShareState
}

// NoteCode is a stable code for a note on a row of a plan.
type NoteCode string

// The notes. Those from NoteNoCommit on mean that the row is left as it is, except in the modes that need no
// position.
const (
	NoteClampedStart NoteCode = "clamped_start" // the offset lies below the log start, which is taken
	NoteClampedEnd   NoteCode = "clamped_end"   // the offset lies above the log end, which is taken
	NoteAfterEnd     NoteCode = "time_after_end"
	NoteRetention    NoteCode = "retention" // records behind the present position are gone
	NoteBeyond       NoteCode = "beyond"    // the present position is above the log end
	NoteClear        NoteCode = "clear"     // the position is removed
	NoteNoCommit     NoteCode = "no_commit"
	NoteDeleted      NoteCode = "topic_deleted"
	NoteUnknown      NoteCode = "unknown"
	NoteNotNamed     NoteCode = "not_named" // the other group or the file does not say where to
	NoteNoClear      NoteCode = "no_clear"  // removing the position of one share-partition is not possible
)

// ResetNote says what a person should know about a row.
type ResetNote struct {
	Code NoteCode
	Text string
}

// ResetRow is a partition of a plan.
type ResetRow struct {
	Topic  string
	Number int32
	// Now and Then are the positions before and after. Then is unknown when the row is left as it is or cleared.
	Now, Then  Int
	Start, End Int
	// Clear is true when the position is to be removed.
	Clear bool
	Notes []ResetNote
	// Loss is what a share group forgets; nil for other groups and when it is not known.
	Loss *ShareLoss
}

// Planned reports whether the row changes, or sets anew, the position.
func (r *ResetRow) Planned() bool { return r.Then.Known() || r.Clear }

// Difference is Then - Now: negative for what is read again. It is unknown when one of both is.
func (r *ResetRow) Difference() Int {
	now, ok := r.Now.Get()
	then, planned := r.Then.Get()
	if !ok || !planned {
		return Int{}
	}
	return Some(then - now)
}

// Note joins the notes of the row.
func (r *ResetRow) Note() string {
	texts := make([]string, len(r.Notes))
	for i, n := range r.Notes {
		texts[i] = n.Text
	}
	return strings.Join(texts, "; ")
}

func (r *ResetRow) note(code NoteCode, format string, args ...any) {
	r.Notes = append(r.Notes, ResetNote{code, fmt.Sprintf(format, args...)})
}

// from is where reading would go on without the reset: what retention has taken is not skipped by a reset, and
// what is not written is not read again.
func (r *ResetRow) from() Int {
	now, ok := r.Now.Get()
	if !ok {
		return Int{}
	}
	return Some(min(max(now, r.Start.Or(now)), r.End.Or(now)))
}

// moves counts the records that are read again and those that are skipped. known is false without a
// position to compare with.
func (r *ResetRow) moves() (again, skipped int64, known bool) {
	now, ok := r.Now.Get()
	then, planned := r.Then.Get()
	if !planned || !ok {
		return 0, 0, !r.Planned()
	}
	from := r.from().Or(now)
	again, skipped = max(0, from-then), max(0, then-from)
	if r.Loss != nil {
		again += r.Loss.Accepted + r.Loss.Archived
		skipped -= r.Loss.done
	}
	return again, skipped, true
}

// ResetPlan is what a reset would do. It is immutable.
type ResetPlan struct {
	Group string
	Type  GroupType
	Spec  ResetSpec
	// At is when the positions and logs were read.
	At      time.Time
	Version string
	// Method is how it is carried out. With [ResetImpossible], Why says why nothing can be done.
	Method ResetMethod
	Why    string
	// Rows are sorted by topic and partition.
	Rows []ResetRow
	// whole are the topics of which every partition is planned.
	whole map[string]bool
}

// PlanReset computes where positions go. Whatever it is given, a planned row is within the log: log start <= Then <= log
// end, so that -1 and -2, which mean something else to brokers, are never sent.
func PlanReset(spec ResetSpec, in ResetInput) ResetPlan {
	p := ResetPlan{Group: in.Group, Type: in.Type, Spec: spec, At: in.At, Version: in.Version, whole: make(map[string]bool)}
	p.Rows = make([]ResetRow, len(in.Partitions))
	planned := make(map[string]int)
	for i := range in.Partitions {
		p.Rows[i] = planRow(spec, in.Type, &in.Partitions[i])
		if p.Rows[i].Planned() {
			planned[p.Rows[i].Topic]++
		}
	}
	slices.SortFunc(p.Rows, func(a, b ResetRow) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Number, b.Number))
	})
	for topic, n := range planned {
		p.whole[topic] = n == in.Sizes[topic]
	}
	p.Method, p.Why = p.method()
	return p
}

func planRow(spec ResetSpec, typ GroupType, p *ResetPartition) ResetRow {
	r := ResetRow{Topic: p.Topic, Number: p.Number, Now: p.Now, Start: p.Start, End: p.End}
	if p.Clear {
		r.clear(typ)
		return r
	}
	start, haveStart := p.Start.Get()
	end, haveEnd := p.End.Get()
	switch {
	case p.Deleted:
		r.note(NoteDeleted, "the topic or partition does not exist")
		return r
	case p.Problem != "":
		r.note(NoteUnknown, "%s", p.Problem)
		return r
	case !haveStart || !haveEnd || start < 0 || end < start:
		r.note(NoteUnknown, "the bounds of the log are not known")
		return r
	}
	if now, ok := p.Now.Get(); ok && now < start {
		r.note(NoteRetention, "retention has already taken %s", Count(start-now))
	} else if ok && now > end {
		r.note(NoteBeyond, "it is %s above the log end", Count(now-end))
	}
	want, ok := r.target(spec, p, start, end)
	if !ok {
		return r
	}
	switch {
	case want < start:
		r.note(NoteClampedStart, "offset %s is below the log start, which is taken", Count(want))
		want = start
	case want > end:
		r.note(NoteClampedEnd, "offset %s is above the log end, which is taken", Count(want))
		want = end
	}
	r.Then = Some(want)
	if typ == TypeShare && p.State != nil {
		r.Loss = lossOf(p.State, r.from(), want)
	}
	return r
}

// target finds the wanted offset, before it is kept within the log; false when the row is left as it is.
func (r *ResetRow) target(spec ResetSpec, p *ResetPartition, start, end int64) (want int64, ok bool) {
	now, committed := p.Now.Get()
	switch spec.Mode {
	case ResetEarliest:
		return start, true
	case ResetLatest:
		return end, true
	case ResetCurrent:
		if !committed {
			r.note(NoteNoCommit, "there is no position: log end")
			return end, true
		}
		return now, true
	case ResetOffset:
		return spec.Offset, true
	case ResetShift:
		if !committed {
			r.note(NoteNoCommit, "there is no position that could be shifted")
			return 0, false
		}
		return addBounded(now, spec.Offset), true
	case ResetTime, ResetBack:
		found, answered := p.Found.Get()
		switch {
		case !answered:
			r.note(NoteUnknown, "the leader did not say which record is the first at that time")
			return 0, false
		case found < 0:
			r.note(NoteAfterEnd, "no record is that young: log end")
			return end, true
		}
		return found, true
	case ResetGroup:
		if want, ok = p.Target.Get(); !ok {
			r.note(NoteNotNamed, "group %s has no position here", spec.Group)
		}
		return want, ok
	case ResetFile:
		if want, ok = p.Target.Get(); !ok {
			r.note(NoteNotNamed, "the file does not name it")
		}
		return want, ok
	}
	r.note(NoteUnknown, "%s is not known", spec.Mode)
	return 0, false
}

// clear plans that the position is removed, as it was before a reset that is undone.
func (r *ResetRow) clear(typ GroupType) {
	switch {
	case !r.Now.Known():
		r.note(NoteNoCommit, "there was no position, and there is none")
	case typ == TypeShare:
		r.note(NoteNoClear, "there was no position; Kafka removes those of share groups for whole topics only")
	default:
		r.Clear = true
		r.note(NoteClear, "there was no position: it is removed")
	}
}

func addBounded(a, b int64) int64 {
	switch {
	case b > 0 && a > math.MaxInt64-b:
		return math.MaxInt64
	case b < 0 && a < math.MinInt64-b:
		return math.MinInt64
	}
	return a + b
}

// Planned are the rows that change something.
func (p *ResetPlan) Planned() []ResetRow {
	var out []ResetRow
	for i := range p.Rows {
		if p.Rows[i].Planned() {
			out = append(out, p.Rows[i])
		}
	}
	return out
}

// Only is the plan with the rows that keep reports true for; the others are gone from it.
func (p *ResetPlan) Only(keep func(topic string, partition int32) bool) ResetPlan {
	next := *p
	next.whole = make(map[string]bool)
	dropped := make(map[string]bool)
	next.Rows = nil
	for i := range p.Rows {
		if r := &p.Rows[i]; keep(r.Topic, r.Number) {
			next.Rows = append(next.Rows, *r)
		} else {
			dropped[r.Topic] = true
		}
	}
	for topic, whole := range p.whole {
		next.whole[topic] = whole && !dropped[topic]
	}
	next.Method, next.Why = next.method()
	return next
}

// Offsets are the planned positions in the form of files.
func (p *ResetPlan) Offsets() []GroupOffset {
	var out []GroupOffset
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Planned() {
			out = append(out, GroupOffset{Topic: r.Topic, Partition: r.Number, Offset: r.Then})
		}
	}
	return out
}
