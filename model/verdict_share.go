package model

import "fmt"

// The verdicts that concern share groups alone; those on their records are in verdict_share_records.go.

// ShareStateTopic is the internal topic in which the brokers keep the state of share groups.
const ShareStateTopic = "__share_group_state"

// offsetsTopic is the internal topic of committed offsets, which exists wherever a group ever committed.
const offsetsTopic = "__consumer_offsets"

// ConfigShareReset is the group config that says where a new share group begins: latest (the default), earliest,
// or by_duration:P....
const ConfigShareReset = "share.auto.offset.reset"

// checkShareStart looks for share groups with members to which nothing was delivered. They have no assignment, or
// no start offset on any partition, or one that is not recorded. The last two are also true while everything is in its
// first delivery, so some time has to pass.
func checkShareStart(s *situation) Verdict {
	g := s.group
	if g.Type != TypeShare || len(g.Members) == 0 {
		return Verdict{}
	}
	if s.assigned() == 0 {
		return s.shareStateVerdict("No member is assigned a partition: a share-partition is assigned only once its state is recorded.")
	}
	if g.OffsetsAt.IsZero() || s.watched() < stalledAfter {
		return Verdict{}
	}
	var end int64
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if p.Position.Known() && !(p.Lag.Or(-1) == 0 && s.unrecorded(p)) {
			return Verdict{}
		}
		end += max(0, p.End.Or(0)-p.Start.Or(0))
	}
	nothing := fmt.Sprintf("No record of any partition has an outcome; watched for %s.", Duration(s.watched()))
	if v := s.shareStateVerdict(nothing); v.Code != "" {
		return v
	}
	evidence := []string{s.membersInWords(), nothing}
	set, known := g.Configs.Find(ConfigShareReset)
	reset := set.Value
	switch {
	case known && reset == "latest":
		v := Verdict{Code: VerdictShareReadsLatest, Severity: Info,
			Text:     "reads nothing: " + ConfigShareReset + " is latest",
			Evidence: append(evidence, ConfigShareReset+" is latest: records from before the first member joined are not delivered."),
			Next:     "Produce a record, or set " + ConfigShareReset + " to earliest before the group first reads."}
		if end > 0 {
			v.Severity = Warning
		}
		return v
	case known:
		evidence = append(evidence, ConfigShareReset+" is "+reset+".")
	default:
		evidence = append(evidence, ConfigShareReset+" was not read; it is latest unless it is set, so that records from before the first member joined are not delivered.")
	}
	return Verdict{Code: VerdictShareNothingDelivered, Severity: Info,
		Text:     "nothing delivered, or all in its first delivery",
		Evidence: evidence,
		Next:     "Produce a record and see whether it arrives; look at " + ConfigShareReset + "."}
}

// shareStateVerdict says that nothing is delivered for want of the state topic, as evidence shows; none when nothing
// is wrong with the topic.
func (s *situation) shareStateVerdict(evidence string) Verdict {
	trouble, remedy := shareStateTrouble(s.snapshot)
	if trouble == "" {
		return Verdict{}
	}
	return Verdict{Code: VerdictShareStateTopic, Severity: Critical,
		Text:     "nothing delivered: " + trouble,
		Evidence: []string{s.membersInWords(), evidence, "Share groups keep their state in " + ShareStateTopic + "."}, Next: remedy}
}

// unrecorded reports whether the state topic is known to hold no outcome for the group on a partition.
func (s *situation) unrecorded(p *GroupPartition) bool {
	r := s.snapshot.ShareRecordsOf(s.group.ID, p.Topic, p.Number)
	return r.Unknown() == "" && !r.History.Now().Effective().Known()
}

// shareStateTrouble says in short what is wrong with the state topic, and what to do; empty when nothing is, or
// when one cannot tell.
func shareStateTrouble(s *Snapshot) (trouble, remedy string) {
	topic, ok := s.Topic(ShareStateTopic)
	if !ok {
		// Without the right to see internal topics both are missing.
		if _, seen := s.Topic(offsetsTopic); !seen {
			return "", ""
		}
		return ShareStateTopic + " is missing", "The brokers create it when they can place its replicas. With fewer than three brokers set " +
			"share.coordinator.state.topic.replication.factor and share.coordinator.state.topic.min.isr to 1 on them."
	}
	leaderless := 0
	for i := range topic.Partitions {
		if topic.Partitions[i].Leader < 0 {
			leaderless++
		}
	}
	if leaderless == 0 {
		return "", ""
	}
	return Plural(leaderless, "state partition") + " without leader", "Bring the brokers back that hold replicas of " + ShareStateTopic + "."
}

// checkShareLag says why a share group has a start offset and no lag.
func checkShareLag(s *situation) Verdict {
	g := s.group
	if g.Type != TypeShare || s.lag.Known() || len(g.Partitions) == 0 {
		return Verdict{}
	}
	if s.open == len(g.Partitions) {
		if s.assigned() == 0 || s.watched() >= stalledAfter {
			return Verdict{} // checkShareStart has it
		}
		v := Verdict{Code: VerdictLagUnknown, Severity: Info, Text: "lag unknown until the first record is finished",
			Evidence: []string{"No record of any partition has an outcome: nothing was delivered, or everything is in its first delivery."}}
		if reset, _ := g.Configs.Find(ConfigShareReset); reset.Value == "latest" {
			v.Evidence = append(v.Evidence, ConfigShareReset+" is latest: records from before the first member joined are not delivered.")
		}
		return v
	}
	return Verdict{Code: VerdictLagUnknown, Severity: Info,
		Text: "lag unknown until consuming starts",
		Evidence: []string{
			"The broker answers -1: after a reset, and before the first record is finished, it does not know the lag.",
			"Brokers before Kafka 4.2 never tell it.",
		}}
}
