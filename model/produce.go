package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ProduceSpec says what to produce. Key, value and header values are templates (see [ParseTemplate]).
type ProduceSpec struct {
	Topic string
	// Partition is where to; unknown lets the key choose, or balances records without one.
	Partition Opt[int32]
	// Key is empty for records without one.
	Key   string
	Value string
	// Tombstone produces records without a value.
	Tombstone bool
	Headers   []HeaderSpec
	// File has the values instead of Value: one a line, or the whole file as one when Whole.
	File  string
	Whole bool
	// Count is how many records; with a file of lines 0 means all of them, else it is at least 1. More than the file
	// has lines begin it again.
	Count int64
	// Rate is how many records per second at most; 0 is no limit.
	Rate float64
	// Compression is none, gzip, snappy, lz4 or zstd; empty leaves it to the client (snappy).
	Compression string
	Acks        Acks
	// Force is the topic's name when it is internal and is to be written all the same.
	Force string
}

// HeaderSpec is a header of every record; the value is a template.
type HeaderSpec struct{ Key, Value string }

// Acks says whose acknowledgement a record waits for.
type Acks uint8

// With AcksAll the producer is idempotent, so that a retry writes once.
const (
	AcksAll    Acks = iota // all in-sync replicas
	AcksLeader             // the leader alone
	AcksNone               // nobody: nothing is known of what became of the record
)

// Compressions are the values of [ProduceSpec.Compression].
var Compressions = []string{"none", "gzip", "snappy", "lz4", "zstd"}

// Check says what is wrong with the specification before anything is sent; nil when nothing is.
func (p *ProduceSpec) Check() error {
	switch {
	case p.Topic == "":
		return errors.New("name a topic")
	case p.Count < 0, p.Count == 0 && (p.File == "" || p.Whole):
		return errors.New("the number of records has to be 1 or more")
	case p.Rate < 0:
		return errors.New("the rate has to be 0 (no limit) or more records per second")
	case p.Acks > AcksNone:
		return errors.New("acks has to be all, leader or none")
	}
	if p.Compression != "" && !slices.Contains(Compressions, p.Compression) {
		return fmt.Errorf("there is no compression %q: it is one of %s", p.Compression, strings.Join(Compressions, ", "))
	}
	texts := append([]HeaderSpec{{"key", p.Key}, {"value", p.Value}}, p.Headers...)
	for _, t := range texts {
		if _, err := ParseTemplate(t.Value); err != nil {
			return fmt.Errorf("%s: %w", t.Key, err)
		}
	}
	return nil
}

// JSONProblem says what is wrong with a value that looks like JSON and is none; empty when there is nothing to say.
// It is meant as a warning: what is not JSON may be meant so.
func JSONProblem(value string) string {
	text := strings.TrimSpace(value)
	if text == "" || text[0] != '{' && text[0] != '[' || json.Valid([]byte(text)) {
		return ""
	}
	var any any
	err := json.Unmarshal([]byte(text), &any)
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Sprintf("this looks like JSON and is not valid: %v, at byte %d", syntax, syntax.Offset)
	}
	return fmt.Sprintf("this looks like JSON and is not valid: %v", err)
}

// Production is how far a production has come. It is immutable.
type Production struct {
	Topic string
	// Total is how many records there will be; unknown for a file that is read line by line.
	Total Int
	// Sent were handed to the client, Acked were written, Failed were not, and of Open it is not known: they were on their
	// way when it was given up.
	Sent, Acked, Failed, Open int64
	// Unheard left with acks none, so that nobody says where they are, nor whether they were written. Of Open at the end.
	Unheard int64
	// Bytes are those of keys and values that were written, or left with acks none.
	Bytes int64
	// Rate is how many of these records there were per second, of late while it runs, and on the whole at the end.
	Rate         float64
	Began, Ended time.Time
	Done         bool
	// Canceled is true when it was ended before all was sent.
	Canceled bool
	// Partitions are sorted by number.
	Partitions []Produced
	// Reasons say why records failed, the most frequent first.
	Reasons []ProduceReason
	// Results are those of single records: the first ones, and the first that failed.
	Results []ActionResult
	// Problem says why nothing, or nothing more, was produced; nil when all was sent.
	Problem *Problem
}

// Produced is what was written to a partition. Records of others may lie between First and Last.
type Produced struct {
	Partition          int32
	First, Last, Count int64
}

// ProduceReason is why records failed.
type ProduceReason struct {
	Code, Text string
	Count      int64
}
