package model

import "time"

// Severity orders verdicts, events and messages.
type Severity uint8

// The severities, from none to worst.
const (
	OK Severity = iota
	Info
	Warning
	Critical
)

var severityNames = [...]string{"ok", "info", "warning", "critical"}

// String is the word used in the JSON output.
func (s Severity) String() string {
	if int(s) < len(severityNames) {
		return severityNames[s]
	}
	return severityNames[Critical]
}

// Verdict says in words how a group is doing, why we think so, and what to do.
type Verdict struct {
	// Code is stable and for programs, such as stalled or idle_members.
	Code     string
	Severity Severity
	// Text is short enough for a table cell: it starts with what is wrong and has its number.
	Text string
	// Evidence are the observations that led to it, a sentence each.
	Evidence []string
	// Next is the next step, a sentence; empty when there is nothing to do.
	Next string
}

// TrendLen is how many samples a trend keeps at most.
const TrendLen = 60

// Insight is what a series of snapshots says about one group.
type Insight struct {
	// Consumed and Produced are records per second over the last samples: of the group's progress, and of
	// the partitions that it reads (those with an owner, while it has members that can own any). Unknown until two
	// samples are there.
	Consumed, Produced Opt[float64]
	// Trend is the lag of the last samples, oldest first, at most [TrendLen].
	Trend []Int
	// ETA is how long the lag of the partitions that somebody reads takes to reach 0 at the present rates, in
	// whole seconds from 1; unknown when it does not shrink, and for a group that keeps up.
	ETA Opt[time.Duration]
	// Rebalance is the running rebalance or the last one; nil when none was seen.
	Rebalance *Rebalance
	// Rebalances counts those that ended in the last 10 minutes.
	Rebalances int
	// Verdicts are sorted with the worst first. A group always has one.
	Verdicts []Verdict
	// Partitions belong to Group.Partitions, index by index.
	Partitions []PartitionInsight
}

// Verdict is the worst verdict.
func (in *Insight) Verdict() Verdict {
	if len(in.Verdicts) == 0 {
		return Verdict{}
	}
	return in.Verdicts[0]
}

// Others counts the verdicts besides the worst that are not fine.
func (in *Insight) Others() int {
	n := 0
	for i := 1; i < len(in.Verdicts) && in.Verdicts[i].Severity > OK; i++ {
		n++
	}
	return n
}

// PartitionInsight is what a series of snapshots says about a group on one partition.
type PartitionInsight struct {
	// Consumed and Produced are records per second.
	Consumed, Produced Opt[float64]
	// Since is when the position last moved; zero when that was before the first snapshot.
	Since time.Time
}

// Event is something that happened between two snapshots: a member joined, a rebalance ended, an
// offset went back.
type Event struct {
	At       time.Time
	Severity Severity
	// Code is stable and for programs, such as member_joined.
	Code string
	// Group is the group's id; empty for what concerns the cluster.
	Group string
	// Text is a sentence. It does not name the group again.
	Text string
}

// View is a snapshot together with what its predecessors say about it. It is immutable once
// published.
type View struct {
	Snapshot *Snapshot
	// Insights holds one for every group of the snapshot, by group id.
	Insights map[string]*Insight
	// Produced are records per second by topic, where known.
	Produced map[string]float64
	// Events happened since the view before, oldest first.
	Events []Event
}
