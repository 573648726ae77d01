package model

import (
	"fmt"
	"slices"
	"time"
)

// Decision is what is said about a held record: an acknowledge type of ShareAcknowledge (KIP-932, KIP-1222).
type Decision int8

// The decisions.
const (
	DecisionNone    Decision = 0
	DecisionAccept  Decision = 1
	DecisionRelease Decision = 2
	DecisionReject  Decision = 3
	// DecisionRenew extends the lock and leaves the record held (Kafka 4.2 and later).
	DecisionRenew Decision = 4
)

var decisionNames = [...]string{"none", "accept", "release", "reject", "renew"}

// String is the decision as a verb.
func (d Decision) String() string {
	if d >= 0 && int(d) < len(decisionNames) {
		return decisionNames[d]
	}
	return decisionNames[DecisionNone]
}

// Event is what the decision does to a record.
func (d Decision) Event() RecordEvent {
	switch d {
	case DecisionAccept:
		return EventAccept
	case DecisionRelease:
		return EventRelease
	case DecisionReject:
		return EventReject
	default:
		return EventRenew
	}
}

// Kind is the kind of action that carries the decision out.
func (d Decision) Kind() ActionKind {
	switch d {
	case DecisionAccept:
		return ActionShareAccept
	case DecisionRelease:
		return ActionShareRelease
	case DecisionReject:
		return ActionShareReject
	default:
		return ActionShareRenew
	}
}

// SessionPhase is how far a membership has come.
type SessionPhase uint8

// The phases, in order.
const (
	SessionJoining SessionPhase = iota // no assignment yet
	SessionMember
	SessionLeaving
	SessionLeft
)

var sessionPhaseNames = [...]string{"joining", "member", "leaving", "left"}

// String is the phase in a word.
func (p SessionPhase) String() string {
	if int(p) < len(sessionPhaseNames) {
		return sessionPhaseNames[p]
	}
	return "unknown"
}

// HeldRecord is a record that we hold.
type HeldRecord struct {
	RecordContent
	// Count is the delivery count with which it was handed to us.
	Count int16
	// Taken is when it was asked for.
	Taken time.Time
	// Until is when the lock runs out: counted from when the request left, so never later than the broker's time.
	Until time.Time
	// Renewed is how often the lock was extended.
	Renewed int
	// Deciding is what is being said about it just now; it may be held back by the broker for a minute.
	Deciding Decision
}

// Ref is where the record is.
func (r *HeldRecord) Ref() RecordRef { return RecordRef{r.Topic, r.Partition, r.Offset} }

// SessionWait is something that a session waits for.
type SessionWait struct {
	// Since is when the wait began; zero when there is none.
	Since time.Time
	// Text says what is waited for, without a full stop, such as "waiting for the state topic".
	Text string
}

// SessionEvent is something that happened to a record or to the session.
type SessionEvent struct {
	At time.Time
	// Record has an empty topic when the event is about the session.
	Record RecordRef
	Count  int16
	// Event is what happened to the record; only of an event about a record.
	Event RecordEvent
	OK    bool
	Code  string
	Text  string
}

// ShareSession is what a share session is doing at one moment. It is immutable.
type ShareSession struct {
	Group, Topic string
	// TopicID is zero before the topic was looked up.
	TopicID TopicID
	// Member is our member id.
	Member string
	Phase  SessionPhase
	// Partitions are those from which records are taken; none before the assignment.
	Partitions []int32
	// Missing is how many records are still to be taken.
	Missing int
	// Held are sorted by partition and offset.
	Held []HeldRecord
	// Events are those since the value before.
	Events []SessionEvent
	// Waits are what is waited for, the oldest first.
	Waits []SessionWait
	// Problem is what keeps the session from going on; it is tried again unless the session has ended.
	Problem *Problem

	// Version is the broker's Kafka version as in [Broker]; empty when it is not known.
	Version string
	// Renewable is whether locks can be extended; unknown before the first answer. RenewText says why not.
	Renewable Opt[bool]
	RenewText string
	// Exact is whether as many records are taken as were asked for; before Kafka 4.2 it is whole batches of the producer.
	Exact Opt[bool]
	// CloseUndoes is whether the end of the session takes the attempt back (before Kafka 4.3).
	CloseUndoes Opt[bool]
	// Limit is the delivery count limit and Lock the duration of locks.
	Limit Int
	Lock  Opt[time.Duration]
	// RenewUntil is when locks stop being extended by themselves; zero when they are not.
	RenewUntil time.Time
}

// Find finds a held record.
func (s *ShareSession) Find(ref RecordRef) (*HeldRecord, bool) {
	i, ok := slices.BinarySearchFunc(s.Held, ref, func(h HeldRecord, ref RecordRef) int { return CompareRecordRefs(h.Ref(), ref) })
	if !ok {
		return nil, false
	}
	return &s.Held[i], true
}

// Last reports whether a release would archive the record, as it is on its last delivery.
func (s *ShareSession) Last(h *HeldRecord) bool {
	limit, ok := s.Limit.Get()
	return ok && int64(h.Count) >= limit
}

// Holds are the held records of a partition, for [InferWindow].
func (s *ShareSession) Holds(partition int32) []Hold {
	var out []Hold
	for i := range s.Held {
		if h := &s.Held[i]; h.Partition == partition {
			out = append(out, Hold{Offset: h.Offset, Count: h.Count, Taken: h.Taken, Until: h.Until})
		}
	}
	return out
}

// Status says what the session is doing, in words.
func (s *ShareSession) Status(now time.Time) string {
	for _, w := range s.Waits {
		if d := now.Sub(w.Since); d >= time.Second {
			return fmt.Sprintf("%s, %d s", w.Text, int(d.Seconds()))
		}
	}
	switch {
	case s.Phase == SessionLeft:
		return "left the group"
	case s.Phase == SessionLeaving:
		return "leaving the group"
	case s.Phase == SessionJoining:
		return "joining the group"
	case s.Missing > 0 && len(s.Partitions) == 0:
		return "the group has not assigned a partition"
	case s.Missing > 0:
		return fmt.Sprintf("member, waiting for %d more", s.Missing)
	default:
		return "member"
	}
}
