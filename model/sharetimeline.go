package model

// MomentKind is the kind of a moment in the life of a record.
type MomentKind uint8

const (
	// MomentKnown is what the history begins with: when it came about is not known.
	MomentKnown MomentKind = iota
	// MomentOutcome is a recorded outcome.
	MomentOutcome
	// MomentPassed means that the start offset moved over the record without an outcome, as when retention took
	// it.
	MomentPassed
	// MomentLeader means that the partition's leader changed while the record was unfinished: a hold on it
	// was forgotten.
	MomentLeader
	// MomentReset means that the group's offset was reset, or its state initialised again: what was recorded is gone.
	MomentReset
	// MomentDeleted means that the state was deleted: the group, its offsets or the topic.
	MomentDeleted
)

// Moment is one transition in the life of a record, as the state topic shows it. An acquire is never
// recorded; it follows from an outcome with a higher delivery count.
type Moment struct {
	Kind MomentKind
	// Ref is when and where it was written; zero for [MomentKnown].
	Ref WriteRef
	// Position is the position in the history whose state shows it first.
	Position int
	From, To Delivery
}

// Timeline is what the history says about one offset, oldest first.
func (h *ShareHistory) Timeline(offset int64) []Moment {
	var life []Moment
	if h.base != nil {
		if d, ok := h.base.At(offset); ok {
			life = append(life, Moment{Kind: MomentKnown, From: Delivery{State: StateNone}, To: d})
		}
	}
	h.walk(func(i int, before, after *ShareState, changes []Change) {
		from, recorded := before.At(offset)
		m := Moment{Ref: after.Last, Position: i + 1, From: from, To: from}
		inWindow := before.effective >= 0 && offset >= before.effective
		unfinished := inWindow && !from.State.Terminal() && (recorded || offset <= before.Highest().Or(-1))
		switch {
		case begins(before, after):
			if d, ok := after.At(offset); ok {
				life = append(life, Moment{Kind: MomentKnown, Position: i + 1, From: Delivery{State: StateNone}, To: d})
			}
			return
		case !after.Recorded && (recorded || inWindow || len(life) > 0 && before.Recorded):
			m.Kind, m.To = MomentDeleted, Delivery{State: StateNone}
			life = append(life, m)
			return
		case after.Reset == after.Last && before.Recorded && (recorded || inWindow || before.effective >= 0 && after.effective >= 0 && offset >= after.effective):
			// A finished record that the offset was moved back to is delivered again.
			m.Kind = MomentReset
			m.To, _ = after.At(offset)
			life = append(life, m)
			return
		case after.Leader == after.Last && unfinished:
			m.Kind = MomentLeader
			life = append(life, m)
		}
		for _, c := range changes {
			if c.First <= offset && offset <= c.Last {
				m.Kind, m.From, m.To = MomentOutcome, c.From, c.To
				life = append(life, m)
				return
			}
		}
		if inWindow && !from.State.Terminal() && after.Start > offset {
			m.Kind, m.To = MomentPassed, Delivery{State: StateNone}
			life = append(life, m)
		}
	})
	return life
}

// begins reports whether a write is a snapshot of what came before the history: older writes were pruned.
func begins(before, after *ShareState) bool {
	return !before.Recorded && after.Reset == after.Last && len(after.Batches) > 0
}

// Likely is why a record was probably archived: no reason is recorded.
type Likely uint8

const (
	// LikelyRejected means that a client rejected it, or that there was no record (a gap), since its delivery count
	// was below the limit.
	LikelyRejected Likely = iota
	// LikelyLimit means that its delivery count had reached the limit.
	LikelyLimit
	// LikelyUnknown means that the limit is not known.
	LikelyUnknown
)

// String is the likely reason in words.
func (l Likely) String() string {
	switch l {
	case LikelyRejected:
		return "rejected by a client, or no record (gap)"
	case LikelyLimit:
		return "delivery limit"
	default:
		return "rejected, or delivery limit (the limit is not known)"
	}
}

// likelyReason judges by the delivery count. limit is the limit in force now, which may have changed.
func likelyReason(count int16, limit Int) Likely {
	n, known := limit.Get()
	switch {
	case !known:
		return LikelyUnknown
	case int64(count) >= n:
		return LikelyLimit
	default:
		return LikelyRejected
	}
}

// Archived is a run of records that the group gave up on.
type Archived struct {
	First, Last int64
	Count       int16
	// Ref is when that was written; zero when it was before the history begins.
	Ref WriteRef
	// Likely is the probable reason.
	Likely Likely
	// DeadLettered is true when the records went through Archiving, that is, a dead-letter topic was configured. It
	// does not prove that a copy was written.
	DeadLettered bool
}

// Archived lists what the group gave up on, oldest first, as far as the history goes back. limit is the
// delivery count limit.
func (h *ShareHistory) Archived(limit Int) []Archived {
	var list []Archived
	known := func(batches []StateBatch) {
		for _, b := range batches {
			if b.State == StateArchived {
				list = append(list, Archived{First: b.First, Last: b.Last, Count: b.Count, Likely: likelyReason(b.Count, limit)})
			}
		}
	}
	if h.base != nil {
		known(h.base.Batches)
	}
	h.walk(func(_ int, before, after *ShareState, changes []Change) {
		if begins(before, after) {
			known(after.Batches)
		}
		for _, c := range changes {
			if c.To.State == StateArchived {
				list = append(list, Archived{
					First: c.First, Last: c.Last, Count: c.To.Count, Ref: after.Last,
					Likely: likelyReason(c.To.Count, limit), DeadLettered: c.From.State == StateArchiving,
				})
			}
		}
	})
	return list
}
