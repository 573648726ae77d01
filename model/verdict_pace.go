package model

import "fmt"

// checkStalled looks for lag that nobody works off although there are members.
func checkStalled(s *situation) Verdict {
	lag := s.lag.Or(0)
	still := s.still()
	if !s.hasMembers() || lag == 0 || s.running() || !s.standing() || s.controlRecord() {
		return Verdict{}
	}
	severity := Warning
	if still >= stalledBadly {
		severity = Critical
	}
	evidence := []string{
		fmt.Sprintf("No partition moved %s.", s.since(s.moved)),
		fmt.Sprintf("%s to be read on %s, most on %s.", isAre(lag, "record"), Plural(s.lagging, "partition"), s.worst.name()),
		s.membersInWords(),
	}
	v := Verdict{Code: VerdictStalled, Severity: severity, Evidence: evidence,
		Text: fmt.Sprintf("stalled: %s behind, no progress for %s", Count(lag), Duration(still)),
		Next: "Look at the log of the member that owns " + s.worst.name() + ": it may be stuck on a record, or it does not commit."}
	if s.group.Type == TypeShare {
		v.Code = VerdictShareNoProgress
		v.Text = fmt.Sprintf("no progress: %s behind, start offset unmoved for %s", Count(lag), Duration(still))
		v.Evidence[0] = fmt.Sprintf("No start offset moved %s.", s.since(s.moved))
		v.Next = "See which record holds the start offset of " + s.worst.name() + ": the start offset moves only over a finished prefix, so that later records may be done all the same."
	}
	return v
}

func (s *situation) running() bool {
	return s.insight.Rebalance != nil && s.insight.Rebalance.Ended.IsZero()
}

// isAre is a count with its noun and verb: 1 record is, 3 records are.
func isAre(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return Count(n) + " " + noun + "s are"
}

func (s *situation) membersInWords() string {
	if n := len(s.group.Members); n > 0 {
		return fmt.Sprintf("The group is %s with %s.", s.group.State, Plural(n, "member"))
	}
	return fmt.Sprintf("The group is %s.", s.group.State)
}

// controlRecord reports whether the lag is what transactions leave behind: 1 on partitions to which
// nothing is written. The end of a transaction is marked by a record that no consumer is given, so that
// nobody commits behind it.
func (s *situation) controlRecord() bool {
	if s.group.Type == TypeShare || s.lagging == 0 || s.small != s.lagging {
		return false
	}
	for i := range s.group.Partitions {
		p := &s.group.Partitions[i]
		if p.Lag.Or(0) > 0 && reads(s.group, p) && s.insight.Partitions[i].Produced != Some(0.0) {
			return false
		}
	}
	return true
}

// checkPace says how a group with members moves: one of the verdicts from caught up to falling
// behind, unless it is stalled.
func checkPace(s *situation) Verdict {
	v := pace(s)
	s.pace = v.Code
	return v
}

func pace(s *situation) Verdict {
	lag, known := s.lag.Get()
	if !s.hasMembers() || !known {
		return Verdict{}
	}
	if lag == 0 {
		return Verdict{Code: VerdictCaughtUp, Text: "caught up"}
	}
	if s.controlRecord() && s.standing() {
		return Verdict{Code: VerdictControlRecord, Severity: Info,
			Text: fmt.Sprintf("%s behind: may be a control record", Count(lag)),
			Evidence: []string{
				fmt.Sprintf("The lag is 1 on %s, and nothing is produced there.", Plural(s.lagging, "partition")),
				"A transaction ends with a control record, which counts as lag and is never given to a consumer.",
			},
			Next: "Nothing to do if the topic is written by transactions; otherwise look at the record."}
	}
	if s.standing() && !s.running() {
		return Verdict{} // checkStalled has it
	}
	return s.paceOf(lag)
}

// paceOf is for a group that moves, or that was not watched for long.
func (s *situation) paceOf(lag int64) Verdict {
	in := s.insight
	consumed, known := in.Consumed.Get()
	if !known || s.watched() < watchMin || s.moved.IsZero() {
		v := Verdict{Code: VerdictBehind, Severity: Info, Text: Count(lag) + " behind", Evidence: []string{
			fmt.Sprintf("Watched for %s, which is too short to say which way the lag moves.", Duration(s.watched()))}}
		if still := s.still(); known && still >= watchMin {
			v.Text = fmt.Sprintf("%s behind, no progress for %s", Count(lag), Duration(still))
		}
		return v
	}
	produced, known := in.Produced.Get()
	rates := []string{fmt.Sprintf("Consumed %s, produced %s.", Rate(consumed), in.Produced.Text(Rate))}
	switch {
	case known && float64(lag) <= produced*keepingUp.Seconds():
		return Verdict{Code: VerdictKeepingUp, Text: fmt.Sprintf("keeping up, %s behind", Count(lag)), Evidence: rates}
	case known && produced > consumed*1.05 && s.grows():
		return s.fallingBehind(lag, consumed, produced, rates)
	case known && consumed > produced*1.02 && in.ETA.Known():
		return Verdict{Code: VerdictCatchingUp, Severity: Info, Evidence: rates,
			Text: "catching up, " + in.ETA.Text(Duration) + " left"}
	case known:
		return Verdict{Code: VerdictMoving, Severity: Info, Evidence: rates,
			Text: fmt.Sprintf("%s behind, neither growing nor shrinking", Count(lag)),
			Next: "More members or a faster consumer would work the lag off."}
	}
	return Verdict{Code: VerdictMoving, Severity: Info, Evidence: rates,
		Text: fmt.Sprintf("%s behind, consuming %s", Count(lag), Rate(consumed))}
}

// grows reports whether the lag is larger than it was some samples ago.
func (s *situation) grows() bool {
	const back = 10
	trend := s.insight.Trend
	if len(trend) < 2 {
		return false
	}
	now, ok1 := trend[len(trend)-1].Get()
	then, ok2 := trend[max(0, len(trend)-1-back)].Get()
	return ok1 && ok2 && now > then
}

func (s *situation) fallingBehind(lag int64, consumed, produced float64, rates []string) Verdict {
	v := Verdict{Code: VerdictFallingBehind, Severity: Warning, Evidence: rates,
		Text: fmt.Sprintf("falling behind by %s", Rate(produced-consumed)),
		Next: "Add members, up to one for each partition, or make the consumers faster."}
	if part, uneven := s.uneven(lag); uneven {
		v.Text = fmt.Sprintf("falling behind: %s of the lag on %s", Percent(part), s.worst.name())
		v.Evidence = append(v.Evidence, s.unevenEvidence(lag))
		v.Next = "Look at the member that owns " + s.worst.name() + " and at the keys that go there: more members do not help one partition."
	} else if s.owned > 0 && len(s.group.Members) >= s.owned {
		v.Next = "Every partition has a member of its own: make the consumers faster, or add partitions."
	}
	return v
}

// uneven reports whether one partition has most of the lag, and which part of it.
func (s *situation) uneven(lag int64) (part float64, uneven bool) {
	if s.worst == nil || lag < unevenLag || max(s.owned, len(s.group.Partitions)) < 2 {
		return 0, false
	}
	part = float64(s.worst.Lag.Or(0)) / float64(lag)
	return part, part >= unevenShare
}

func (s *situation) unevenEvidence(lag int64) string {
	return fmt.Sprintf("%s of %s behind are on %s.", Count(s.worst.Lag.Or(0)), Count(lag), s.worst.name())
}

// checkUneven says that one partition has most of the lag, where that is not said by another verdict.
func checkUneven(s *situation) Verdict {
	lag := s.lag.Or(0)
	part, uneven := s.uneven(lag)
	if !uneven || !s.hasMembers() {
		return Verdict{}
	}
	if s.pace == VerdictFallingBehind || s.pace == VerdictKeepingUp {
		return Verdict{} // said there, or not worth saying
	}
	return Verdict{Code: VerdictUneven, Severity: Info,
		Text:     fmt.Sprintf("%s of the lag on %s", Percent(part), s.worst.name()),
		Evidence: []string{s.unevenEvidence(lag)},
		Next:     "Look at the member that owns " + s.worst.name() + " and at the keys that go there."}
}

// checkPartitionStalled looks for a partition that stands still while others move.
func checkPartitionStalled(s *situation) Verdict {
	if !s.hasMembers() || s.running() || s.stuck == nil || s.standing() || s.stuck.Lag == Some(int64(1)) {
		return Verdict{}
	}
	since := s.stuckSince
	from := since
	if from.IsZero() {
		from = s.first
	}
	still := s.group.OffsetsAt.Sub(from)
	if still < max(stalledBadly, min(s.pause, patientMost)) {
		return Verdict{}
	}
	name := s.stuck.name()
	return Verdict{Code: VerdictPartitionStalled, Severity: Warning,
		Text: fmt.Sprintf("%s stands still: %s behind for %s", name, s.stuck.Lag.Text(Count), Duration(still)),
		Evidence: []string{fmt.Sprintf("%s did not move %s.", name, s.since(since)),
			fmt.Sprintf("Other partitions moved, last at %s.", ClockOn(s.moved, s.snapshot.At))},
		Next: s.lookAtOwner(s.stuck)}
}

func (s *situation) lookAtOwner(p *GroupPartition) string {
	if owner := s.group.owner(p); owner != "" {
		return fmt.Sprintf("Look at %s, which owns %s, and at the record at offset %s.", s.group.MemberLabel(owner), p.name(), p.Position.Text(Count))
	}
	return fmt.Sprintf("Look at the record of %s at offset %s.", p.name(), p.Position.Text(Count))
}
