package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ResetMode says how a reset finds the new position of a partition.
type ResetMode uint8

// The modes of a reset. Those that Kafka's kafka-consumer-groups.sh has find the same offsets as it does, except that
// nothing is ever placed outside of the log.
const (
	ResetEarliest ResetMode = iota // to the log start
	ResetLatest                    // to the log end
	ResetCurrent                   // to where it is; to the log end without a commit
	ResetOffset                    // to one offset
	ResetShift                     // by a number of offsets, back with a minus
	ResetTime                      // to the first record at or after a moment
	ResetBack                      // the same, with the moment a duration before now
	ResetGroup                     // to where another group is
	ResetFile                      // to what a file says (Kafka's --export), or a saved reset
)

var resetModeNames = [...]string{"earliest", "latest", "current", "offset", "shift", "time", "back", "group", "file"}

// String is the mode in a word.
func (m ResetMode) String() string {
	if int(m) < len(resetModeNames) {
		return resetModeNames[m]
	}
	return "mode " + strconv.Itoa(int(m))
}

// ResetModes are all modes in the order in which they are offered.
func ResetModes() []ResetMode {
	return []ResetMode{ResetEarliest, ResetLatest, ResetCurrent, ResetOffset, ResetShift, ResetTime, ResetBack, ResetGroup, ResetFile}
}

// ResetSpec says where positions are to go. Only what belongs to the mode is set.
type ResetSpec struct {
	Mode ResetMode
	// Offset is the offset of [ResetOffset], and by how much [ResetShift] shifts.
	Offset int64
	// Time is the moment of [ResetTime]; its location is the zone in which it was meant.
	Time time.Time
	// Back is the duration of [ResetBack], positive.
	Back time.Duration
	// Group is the other group of [ResetGroup].
	Group string
	// Offsets are those of [ResetFile], and File says where they came from.
	Offsets []GroupOffset
	File    string
}

// GroupOffset is a position as files have it.
type GroupOffset struct {
	// Group is empty where a file does not say it.
	Group     string `json:"group,omitempty"`
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	// Offset is unknown for a partition without a position.
	Offset Int `json:"offset"`
}

// ParseReset reads the argument of a mode as a person types it. now is the present moment in the zone in which times
// without one are meant. [ResetFile] takes the content of the file; see [ParseOffsetsCSV]. The error is a
// sentence.
func ParseReset(mode ResetMode, argument string, now time.Time) (ResetSpec, error) {
	spec := ResetSpec{Mode: mode}
	text := strings.TrimSpace(argument)
	var err error
	switch mode {
	case ResetOffset:
		if spec.Offset, err = parseCount(text); err == nil && spec.Offset < 0 {
			err = fmt.Errorf("%s is not an offset: offsets are 0 or above", text)
		}
	case ResetShift:
		if spec.Offset, err = parseCount(text); err == nil && spec.Offset == 0 {
			err = fmt.Errorf("a shift by 0 moves nothing: write a number such as -100 or +100")
		}
	case ResetTime:
		spec.Time, err = ParseMoment(text, now)
	case ResetBack:
		spec.Back, err = ParseSpan(text)
	case ResetGroup:
		if spec.Group = text; text == "" {
			err = fmt.Errorf("name the group whose positions are to be taken")
		}
	case ResetFile:
		spec.Offsets, err = ParseOffsetsCSV(argument)
	}
	return spec, err
}

// parseCount reads a whole number, with a sign and with its digits in groups if need be.
func parseCount(text string) (int64, error) {
	if text == "" {
		return 0, fmt.Errorf("a number is missing")
	}
	n, err := strconv.ParseInt(strings.NewReplacer(",", "", "_", "").Replace(text), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is not a whole number", text)
	}
	return n, nil
}

// Timestamp is the moment of a spec that looks for one, in milliseconds since 1970; ok is false for the other modes. It
// is never negative: ListOffsets takes -1 and -2 for something else.
func (s ResetSpec) Timestamp(now time.Time) (ms int64, ok bool) {
	switch s.Mode {
	case ResetTime:
		return max(0, s.Time.UnixMilli()), true
	case ResetBack:
		return max(0, now.Add(-s.Back).UnixMilli()), true
	}
	return 0, false
}

// Text says where positions are to go, in words that follow "to move the offsets". Times have their zone, and UTC beside it.
func (s ResetSpec) Text(now time.Time) string {
	switch s.Mode {
	case ResetEarliest:
		return "to the log start"
	case ResetLatest:
		return "to the log end"
	case ResetCurrent:
		return "to where they are"
	case ResetOffset:
		return "to offset " + Count(s.Offset)
	case ResetShift:
		if s.Offset < 0 {
			return "back by " + strings.TrimPrefix(Count(s.Offset), "-")
		}
		return "forward by " + Count(s.Offset)
	case ResetTime:
		return "to the first record at or after " + WithUTC(s.Time)
	case ResetBack:
		return "back by " + Duration(s.Back) + ", to the first record at or after " + WithUTC(now.Add(-s.Back))
	case ResetGroup:
		return "to where group " + s.Group + " is"
	case ResetFile:
		if s.File != "" {
			return "to what " + s.File + " says"
		}
		return "to what the file says"
	}
	return s.Mode.String()
}
