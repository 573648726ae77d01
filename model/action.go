package model

import (
	"cmp"
	"slices"
)

// ActionKind is a stable code for what an [Action] does: it stands in the audit file and is for programs.
type ActionKind string

// The kinds of actions.
const (
	ActionShareTake    ActionKind = "share_take"    // join a share group and take records
	ActionShareAccept  ActionKind = "share_accept"  // finish records that are held
	ActionShareRelease ActionKind = "share_release" // give records that are held back to the group
	ActionShareReject  ActionKind = "share_reject"  // give up on records that are held
	ActionShareRenew   ActionKind = "share_renew"   // extend the locks of records that are held
	ActionShareLeave   ActionKind = "share_leave"   // release what is held and leave the group
	ActionProduce      ActionKind = "produce"
	ActionRedrive      ActionKind = "redrive" // produce records again that a group gave up on

	ActionOffsetsReset  ActionKind = "offsets_reset"
	ActionOffsetsDelete ActionKind = "offsets_delete"
	ActionGroupDelete   ActionKind = "group_delete"
	ActionConfigAlter   ActionKind = "config_alter"
)

// Danger says how much care an action needs.
type Danger uint8

// The dangers, ascending.
const (
	// DangerNone is for what can be taken back or touches nobody else.
	DangerNone Danger = iota
	// DangerSome is for what others notice: a member more in a group, records out of their hands.
	DangerSome
	// DangerLoss is for what cannot be taken back.
	DangerLoss
)

// Action is something that is about to be done to the cluster, as a person is asked about it and as
// the audit file has it. It names where, never what records contain.
type Action struct {
	Kind   ActionKind
	Target ActionTarget
	// Impact says in sentences, with numbers, what will change.
	Impact []string
	Danger Danger
	// Confirm is the name that has to be typed before it is done; empty when none has to be.
	Confirm string
}

// ActionTarget is what an action is done to. What does not apply is empty.
type ActionTarget struct {
	Group string `json:"group,omitempty"`
	Topic string `json:"topic,omitempty"`
	// Partitions are those of Topic; none means all, or that they are not known before.
	Partitions []int32 `json:"partitions,omitempty"`
	// Records are the coordinates of single records.
	Records []RecordRange `json:"records,omitempty"`
	// Configs are names of configurations, with the values that they get.
	Configs map[string]string `json:"configs,omitempty"`
}

// RecordRef is the coordinates of one record.
type RecordRef struct {
	Topic     string
	Partition int32
	Offset    int64
}

// RecordRange is a run of records, First to Last inclusive.
type RecordRange struct {
	Topic     string `json:"topic"`
	Partition int32  `json:"partition"`
	First     int64  `json:"first"`
	Last      int64  `json:"last"`
}

// RangesOf joins coordinates into runs, ascending. A record that is named twice counts once.
func RangesOf(refs []RecordRef) []RecordRange {
	refs = slices.Clone(refs)
	slices.SortFunc(refs, CompareRecordRefs)
	var out []RecordRange
	for _, r := range refs {
		if n := len(out); n > 0 && out[n-1].Topic == r.Topic && out[n-1].Partition == r.Partition && out[n-1].Last+1 >= r.Offset {
			out[n-1].Last = r.Offset
			continue
		}
		out = append(out, RecordRange{r.Topic, r.Partition, r.Offset, r.Offset})
	}
	return out
}

// CompareRecordRefs orders coordinates by topic, partition and offset.
func CompareRecordRefs(a, b RecordRef) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition), cmp.Compare(a.Offset, b.Offset))
}

// ActionResult is what became of one part of an action: a partition or a record. What the cluster did is
// read back where an answer does not prove it.
type ActionResult struct {
	Group     string
	Topic     string
	Partition int32 // -1 when the result is for all of Topic or Group
	// Offset is that of the record; unknown when the result is for the whole partition.
	Offset Int
	OK     bool
	// Code is for programs: empty or a name such as "read_back" when OK, else that of the error: a name of the Kafka
	// protocol, or one of flightdeck's own in lower case.
	Code string
	// Text says in words what happened.
	Text string
}
