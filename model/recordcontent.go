package model

import "time"

// RecordStatus says what is at an offset of a log.
type RecordStatus uint8

const (
	// RecordFound is a record like any other.
	RecordFound RecordStatus = iota
	// RecordOpen is a record of a transaction that is not decided; it has content.
	RecordOpen
	// RecordAborted is a record of a transaction that was aborted; it has content.
	RecordAborted
	// RecordControl is a transaction marker: it has no content for applications.
	RecordControl
	// RecordMissing means that the offset lies in the log and holds nothing: compacted away.
	RecordMissing
	// RecordBelowStart means that retention or a deletion took it.
	RecordBelowStart
	// RecordBeyondEnd means that it is not written, or not on all in-sync replicas yet.
	RecordBeyondEnd
)

var recordStatusTexts = [...]string{
	"a record",
	"a record of a transaction that is still open",
	"a record of a transaction that was aborted",
	"a control record of a transaction, not delivered to applications",
	"no record: compacted away",
	"below the start of the log: retention or a deletion took it",
	"beyond the end of the log: not written yet",
}

// String says in words what is there.
func (s RecordStatus) String() string {
	if int(s) < len(recordStatusTexts) {
		return recordStatusTexts[s]
	}
	return "unknown"
}

// RecordContent is what a log holds at one offset. Key, value and headers are bytes as they were
// produced.
type RecordContent struct {
	Topic     string
	Partition int32
	Offset    int64
	Status    RecordStatus
	// Time is the record's timestamp; zero where there is no record.
	Time time.Time
	// LogAppend is true when the timestamp is the broker's and not the producer's.
	LogAppend bool
	// Key and Value are nil when the record has none, and cut at the limit that was asked for. KeySize and
	// ValueSize are their whole lengths, -1 for none.
	Key, Value         []byte
	KeySize, ValueSize int
	Headers            []RecordHeader
	// HeadersLeft counts headers beyond the limit.
	HeadersLeft int
}

// RecordHeader is a header of a record; Value is nil when it has none, and cut at the limit.
type RecordHeader struct {
	Key   string
	Value []byte
	Size  int
}
