package model

import "strconv"

// RecordState is the delivery state of a record in a share-partition, by Kafka's code (KIP-932). The
// codes are open: a newer broker may write one that is not named here.
type RecordState int8

// The states of a record. Acquired lives in the memory of the partition's leader and is never written
// to the state topic. Archiving is on its way to Archived through a dead-letter topic (Kafka 4.4).
const (
	// StateNone is no state at all: nothing was recorded. Brokers never write it.
	StateNone         RecordState = -1
	StateAvailable    RecordState = 0
	StateAcquired     RecordState = 1
	StateAcknowledged RecordState = 2
	StateArchiving    RecordState = 3
	StateArchived     RecordState = 4
)

var recordStateNames = [...]string{"available", "acquired", "acknowledged", "archiving", "archived"}

// Known reports whether the state is one of Kafka's that are named here.
func (s RecordState) Known() bool { return s >= 0 && int(s) < len(recordStateNames) }

// String is Kafka's word for the state in lower case, "none" for [StateNone], or "state 7" for a code that
// is not known.
func (s RecordState) String() string {
	switch {
	case s.Known():
		return recordStateNames[s]
	case s == StateNone:
		return "none"
	default:
		return "state " + strconv.Itoa(int(s))
	}
}

// Terminal reports whether the record is finished: nothing changes its state any more.
func (s RecordState) Terminal() bool { return s == StateAcknowledged || s == StateArchived }
