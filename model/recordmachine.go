package model

import "math"

// RecordEvent is something that can happen to a record of a share-partition.
type RecordEvent uint8

// The events. Accept, release, reject, gap and renew are the acknowledge types of ShareAcknowledge
// (KIP-932, KIP-1222); a gap stands for an offset without a record, such as a control record.
const (
	EventAcquire RecordEvent = iota
	EventAccept
	EventRelease
	EventReject
	EventGap
	EventRenew
	// EventLockTimeout means that the acquisition lock ran out.
	EventLockTimeout
	// EventSessionClose means that the share session that held the record was closed or its connection ended.
	EventSessionClose
	// EventDeadLettered ends the way through a dead-letter topic, whether a copy was written or not.
	EventDeadLettered
	// EventLeaderChange means that another broker leads the partition, or the same one after a restart. It knows
	// nothing of the holds of the one before.
	EventLeaderChange

	recordEvents = iota
)

var recordEventNames = [recordEvents]string{
	"acquire", "accept", "release", "reject", "gap", "renew", "lock time-out", "session close", "dead-lettered", "leader change",
}

// String is the event in words.
func (e RecordEvent) String() string {
	if int(e) < len(recordEventNames) {
		return recordEventNames[e]
	}
	return "unknown"
}

// Delivery is how far the delivery of one record has come.
type Delivery struct {
	State RecordState
	// Count is how often the record was delivered.
	Count int16
}

// Undelivered is where every record begins.
var Undelivered = Delivery{State: StateAvailable}

// DeliveryRules are the settings of a group that decide what becomes of its records.
type DeliveryRules struct {
	// Limit is the delivery count limit (share.delivery.count.limit, or group.share.delivery.count.limit of the
	// broker before 4.3). 0 is no limit.
	Limit int16
	// DeadLetter is true when what is given up on goes through Archiving: Kafka 4.4 with share.version 2 and
	// errors.deadletterqueue.topic.name set.
	DeadLetter bool
	// CloseUndoes is true before Kafka 4.3: closing a session takes the attempt back.
	CloseUndoes bool
}

// Next is where the event takes a record. ok is false when the event does not apply, and then
// the record stays as it is: an acknowledgement of a record that is not held is refused
// (INVALID_RECORD_STATE), and a finished record has no events any more. The package comment has the table.
func (r DeliveryRules) Next(d Delivery, e RecordEvent) (next Delivery, ok bool) {
	switch {
	case d.State == StateAvailable && e == EventAcquire:
		return Delivery{StateAcquired, min(d.Count, math.MaxInt16-1) + 1}, true
	case d.State == StateArchiving && e == EventDeadLettered:
		return Delivery{StateArchived, d.Count}, true
	case d.State != StateAcquired:
		return d, false
	}
	switch e {
	case EventAccept:
		return Delivery{StateAcknowledged, d.Count}, true
	case EventRelease, EventLockTimeout:
		return r.giveBack(d), true
	case EventSessionClose:
		if r.CloseUndoes {
			return Delivery{StateAvailable, max(0, d.Count-1)}, true
		}
		return r.giveBack(d), true
	case EventReject:
		return r.giveUp(d), true
	case EventGap:
		return Delivery{StateArchived, d.Count}, true
	case EventRenew:
		return d, true
	case EventLeaderChange:
		return Delivery{StateAvailable, max(0, d.Count-1)}, true
	}
	return d, false
}

// giveBack makes a record available again, unless that was its last delivery.
func (r DeliveryRules) giveBack(d Delivery) Delivery {
	if r.Limit > 0 && d.Count >= r.Limit {
		return r.giveUp(d)
	}
	return Delivery{StateAvailable, d.Count}
}

func (r DeliveryRules) giveUp(d Delivery) Delivery {
	if r.DeadLetter {
		return Delivery{StateArchiving, d.Count}
	}
	return Delivery{StateArchived, d.Count}
}

// RecordWindow is a share-partition as its leader sees it: the records from the start offset to the last
// one that was handed out. It is the reference for what a session and the state topic should show, and not safe
// for concurrent use.
type RecordWindow struct {
	// Rules are the group's.
	Rules DeliveryRules
	// Max is how many offsets the window may span (share.partition.max.record.locks); 0 is no limit.
	Max int64

	start   int64
	records []Delivery
}

// NewRecordWindow is a window in which nothing was handed out yet.
func NewRecordWindow(rules DeliveryRules, limit, start int64) *RecordWindow {
	return &RecordWindow{Rules: rules, Max: limit, start: start}
}

// Start is the start offset (SPSO): everything below is finished.
func (w *RecordWindow) Start() int64 { return w.start }

// Next is the first offset that was never handed out.
func (w *RecordWindow) Next() int64 { return w.start + int64(len(w.records)) }

// At is the delivery of a record; ok is false below the start offset, where nothing is kept.
func (w *RecordWindow) At(offset int64) (d Delivery, ok bool) {
	switch i := offset - w.start; {
	case i < 0:
		return Delivery{State: StateNone}, false
	case i >= int64(len(w.records)):
		return Undelivered, true
	default:
		return w.records[i], true
	}
}

// Acquire hands out at most n records below end in the order of their offsets, as a leader does: what is
// available first, then what was never handed out, within the limit of the window.
func (w *RecordWindow) Acquire(n int, end int64) (offsets []int64) {
	if w.Max > 0 {
		end = min(end, w.start+w.Max)
	}
	for o := w.start; o < end && len(offsets) < n; o++ {
		if w.Apply(o, EventAcquire) {
			offsets = append(offsets, o)
		}
	}
	return offsets
}

// Apply lets something happen to one record and moves the start offset. It reports whether the event
// applied.
func (w *RecordWindow) Apply(offset int64, e RecordEvent) bool {
	d, ok := w.At(offset)
	if !ok || w.Max > 0 && offset >= w.start+w.Max {
		return false
	}
	next, ok := w.Rules.Next(d, e)
	if !ok {
		return false
	}
	for w.Next() <= offset {
		w.records = append(w.records, Undelivered)
	}
	w.records[offset-w.start] = next
	w.advance()
	return true
}

// LeaderChange forgets every hold.
func (w *RecordWindow) LeaderChange() {
	for i, d := range w.records {
		w.records[i], _ = w.Rules.Next(d, EventLeaderChange)
	}
	for n := len(w.records); n > 0 && w.records[n-1] == Undelivered; n-- {
		w.records = w.records[:n-1]
	}
}

// Reset moves the start offset and forgets everything, as AlterShareGroupOffsets does.
func (w *RecordWindow) Reset(start int64) { w.start, w.records = start, nil }

// advance moves the start offset over the finished prefix.
func (w *RecordWindow) advance() {
	n := 0
	for n < len(w.records) && w.records[n].State.Terminal() {
		n++
	}
	w.start += int64(n)
	w.records = w.records[n:]
}
