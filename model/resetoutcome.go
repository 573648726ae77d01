package model

import "fmt"

// ResetOutcome is what became of a plan that was carried out.
type ResetOutcome struct {
	Plan ResetPlan
	// Results are one for each planned row, in the order of the rows.
	Results []ActionResult
	// Saved is the file that holds the positions from before; empty when the reset was refused as a whole.
	Saved string
	// Caveats say what the results do not prove.
	Caveats []string
}

// Failed counts the rows that were not set, or of which it is not known.
func (o *ResetOutcome) Failed() int {
	n := 0
	for i := range o.Results {
		if !o.Results[i].OK {
			n++
		}
	}
	return n
}

// Refused reports whether nothing was done because the group is not empty.
func (o *ResetOutcome) Refused() bool {
	for i := range o.Results {
		if c := o.Results[i].Code; c != CodeNotEmpty && c != CodeNotSent {
			return false
		}
	}
	return len(o.Results) > 0
}

// Codes of results that are flightdeck's own.
const (
	// CodeNotEmpty: the group has members, so the coordinator refused.
	CodeNotEmpty = "group_not_empty"
	// CodeNotSent: an earlier failure or the person ended it before.
	CodeNotSent = "not_sent"
	// CodeDiffers: read back, there is something else than what was to be.
	CodeDiffers = "differs"
	// CodeNotReadBack: the answer was good, and reading it back was not possible.
	CodeNotReadBack = "not_read_back"
	// CodeIgnored: the answer was good and left it out.
	CodeIgnored = "ignored"
	// CodeReadBack: there was no good answer, but read back it is as it was to be.
	CodeReadBack = "read_back"
)

// Retry is the plan with the rows that failed, to be tried alone. It should be read anew before.
func (o *ResetOutcome) Retry() ResetPlan {
	failed := make(map[partitionKey]bool)
	for i := range o.Results {
		if r := &o.Results[i]; !r.OK {
			failed[partitionKey{r.Topic, r.Partition}] = true
		}
	}
	return o.Plan.Only(func(topic string, partition int32) bool { return failed[partitionKey{topic, partition}] })
}

type partitionKey struct {
	topic     string
	partition int32
}

// Sentence says what happened.
func (o *ResetOutcome) Sentence() string {
	failed := o.Failed()
	switch set := len(o.Results) - failed; {
	case o.Refused():
		return o.Plan.Group + " is not empty any more: nothing was changed."
	case failed == 0:
		return fmt.Sprintf("The offsets of %s are set on %s.", o.Plan.Group, Plural(set, "partition"))
	default:
		return fmt.Sprintf("The offsets of %s are set on %s, and not on %s.", o.Plan.Group, Plural(set, "partition"), Plural(failed, "partition"))
	}
}
