package demo

import (
	"maps"
	"slices"
	"time"

	"flightdeck/model"
)

// leader is what the leader of a partition keeps in memory for a share group.
type leader struct {
	// start is the start offset (SPSO); unknownStart until the first record was acquired, since it depends on the
	// group's reset policy.
	start   int64
	records map[int64]record
}

const unknownStart = model.StartUnchanged

// record is a record that was handed out at least once.
type record struct {
	state model.RecordState
	count int16
	// owner holds it, in state Acquired, until deadline at the latest.
	owner    string
	deadline time.Time
}

// remembered is how many offsets below the start offset the leader keeps: answers that arrive late may turn the
// start offset back.
const remembered = 256

func newLeader(start int64) leader {
	return leader{start: start, records: make(map[int64]record)}
}

// acquired takes over that member acquired a record for the count-th time. It reports what happened to the record
// before: nothing but the expected, a return that was never seen, or that an end which we recorded was none.
func (l *leader) acquired(offset int64, member string, count int16, deadline time.Time) before {
	r, known := l.records[offset]
	if known && count <= r.count {
		return oldNews
	}
	if l.start == unknownStart || offset < l.start {
		l.start = offset
	}
	l.records[offset] = record{state: model.StateAcquired, count: count, owner: member, deadline: deadline}
	switch {
	case r.state.Terminal():
		return notEnded
	case r.state == model.StateAcquired, count > r.count+1:
		return returned
	}
	return asExpected
}

type before uint8

const (
	asExpected before = iota
	oldNews           // the acquisition itself is over
	returned          // it came back in between
	notEnded          // it is recorded as finished and is not
)

// mayAcknowledge is the broker's rule: all offsets from the start offset on are held by the member.
func (l *leader) mayAcknowledge(member string, acks []ackBatch) bool {
	for _, a := range acks {
		for o := max(a.first, l.start); o <= a.last; o++ {
			if r := l.records[o]; r.state != model.StateAcquired || r.owner != member {
				return false
			}
		}
	}
	return true
}

// heldBy are the offsets that a member holds, in order.
func (l *leader) heldBy(member string) []int64 {
	return l.held(func(r record) bool { return r.owner == member })
}

// lost are the offsets whose lock has run out, in order.
func (l *leader) lost(now time.Time) []int64 {
	return l.held(func(r record) bool { return !now.Before(r.deadline) })
}

func (l *leader) held(is func(record) bool) []int64 {
	var offsets []int64
	for o, r := range l.records {
		if r.state == model.StateAcquired && is(r) {
			offsets = append(offsets, o)
		}
	}
	slices.Sort(offsets)
	return offsets
}

// released is a record after it came back: available again, or archived when it was delivered often enough.
func (r record) released() record {
	if r.count >= deliveryLimit {
		return r.ended(model.StateArchived)
	}
	return r.ended(model.StateAvailable)
}

func (r record) ended(state model.RecordState) record { return record{state: state, count: r.count} }

// acknowledged is a record after an acknowledgement.
func (r record) acknowledged(ack ackType) record {
	switch ack {
	case accept:
		return r.ended(model.StateAcknowledged)
	case release:
		return r.released()
	default: // reject and gap
		return r.ended(model.StateArchived)
	}
}

// complete counts the finished records from an offset on.
func (l *leader) complete(from int64) (n int32) {
	for o, r := range l.records {
		if o >= from && r.state.Terminal() {
			n++
		}
	}
	return n
}

// move moves the start offset over the finished records in front.
func (l *leader) move() {
	for l.records[l.start].state.Terminal() {
		l.start++
	}
	if len(l.records) > 2*remembered {
		maps.DeleteFunc(l.records, func(o int64, _ record) bool { return o < l.start-remembered })
	}
}
