package model

import "strconv"

// The headers of Kafka's dead-letter records (4.4); their values are texts.
const (
	DeadLetterTopic     = "__dlq.errors.topic"
	DeadLetterPartition = "__dlq.errors.partition"
	DeadLetterOffset    = "__dlq.errors.offset"
	DeadLetterGroup     = "__dlq.errors.group"
	DeadLetterCount     = "__dlq.errors.delivery.count"
	DeadLetterMessage   = "__dlq.errors.message"
)

// The headers that a redriven record gets beside those that it had: where it was before.
const (
	RedriveTopic     = "flightdeck.redrive.topic"
	RedrivePartition = "flightdeck.redrive.partition"
	RedriveOffset    = "flightdeck.redrive.offset"
	RedriveGroup     = "flightdeck.redrive.group" // that gave up on it, where it is known
)

// DeadLetter is what a dead-letter record says about the record that it stands for.
type DeadLetter struct {
	Origin  RecordRef
	Group   string
	Count   string
	Message string
}

// ReadDeadLetter reads the headers of a dead-letter record; ok is false for another record.
func ReadDeadLetter(headers []RecordHeader) (d DeadLetter, ok bool) {
	found := 0
	for _, h := range headers {
		value := string(h.Value)
		switch h.Key {
		case DeadLetterTopic:
			d.Origin.Topic = value
			found++
		case DeadLetterPartition:
			if n, err := strconv.ParseInt(value, 10, 32); err == nil {
				d.Origin.Partition = int32(n)
				found++
			}
		case DeadLetterOffset:
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				d.Origin.Offset = n
				found++
			}
		case DeadLetterGroup:
			d.Group = value
		case DeadLetterCount:
			d.Count = value
		case DeadLetterMessage:
			d.Message = value
		}
	}
	return d, found == 3
}

// RedriveItem is a record that is to be produced again, as it was found.
type RedriveItem struct {
	// Marked is the record that was chosen: an archived one, or a dead-letter record.
	Marked RecordRef
	// Origin is the record that a group gave up on; it is Marked unless that is a dead-letter record.
	Origin RecordRef
	// Group gave up on it, where it is known, and Reason is what a dead-letter record says why.
	Group, Reason string
	// Content is what will be produced, cut for a preview. It is from Origin, or from the dead-letter record when Origin
	// is gone.
	Content RecordContent
	// Target is the topic that it goes to.
	Target string
	// Ready is false when there is nothing that could be produced; Text says why. When it is true, Text is a
	// warning or empty.
	Ready bool
	Text  string
	// Before is how often it was redriven by this flightdeck since it was started.
	Before int
}
