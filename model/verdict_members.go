package model

import (
	"fmt"
	"slices"
	"time"
)

// checkNoMembers looks for groups without members.
func checkNoMembers(s *situation) Verdict {
	g := s.group
	if s.hasMembers() || g.Described.IsZero() && g.State == "" || len(g.Problems) > 0 && g.Described.IsZero() {
		return Verdict{}
	}
	if rate := s.insight.Consumed.Or(0); rate > 0 && s.movesAlone() {
		like := "consumers do that assign partitions themselves (Flink, Spark)"
		if g.Type == TypeShare {
			like = "with share sessions that outlive their membership"
		}
		return Verdict{Code: VerdictMovesAlone, Severity: Info,
			Text:     "no members, yet its offsets move",
			Evidence: []string{"They move by " + Rate(rate) + " without a member, as " + like + "."}}
	}
	v := Verdict{Code: VerdictNoMembers, Severity: Info, Text: "no members"}
	if !s.emptied.IsZero() {
		v.Text = "nobody consumes since " + ClockOn(s.emptied, s.snapshot.At)
		v.Evidence = append(v.Evidence, "The last member left at "+ClockOn(s.emptied, s.snapshot.At)+".")
	}
	lag, known := s.lag.Get()
	switch {
	case known && lag > 0:
		v.Severity = Warning
		v.Evidence = append(v.Evidence, fmt.Sprintf("%s to be read.", isAre(lag, "record")))
		v.Next = "Start a consumer, or delete the group if it is not needed any more."
		if g.Type == TypeShare {
			v.Next = "Start a share consumer, or delete the group if it is not needed any more."
		}
		if s.emptied.IsZero() {
			v.Text += fmt.Sprintf(", %s behind", Count(lag))
		}
		if s.lost.sum > 0 {
			v.Text += fmt.Sprintf(", %s lost", Count(s.lost.sum)) // checkDataLost says more, and stands behind
		}
	case known && s.beyond.sum > 0: // checkBeyondEnd says where it stands
	case known:
		v.Evidence = append(v.Evidence, "All records are read.")
	default:
		v.Evidence = append(v.Evidence, "It has no known lag.")
	}
	return v
}

// lastMoves is for how long after its last member left a group may still be seen to move by what that one did.
const lastMoves = 10 * time.Second

// movesAlone reports whether the group has moved since its last member left, as far as that was seen.
func (s *situation) movesAlone() bool {
	if s.emptied.IsZero() {
		return true
	}
	return slices.ContainsFunc(s.insight.Partitions, func(p PartitionInsight) bool { return p.Since.After(s.emptied.Add(lastMoves)) })
}

// checkNoPartitions looks for groups whose members have nothing to read at all.
func checkNoPartitions(s *situation) Verdict {
	if !s.settled() || s.assigned() > 0 || s.group.Type == TypeStreams {
		return Verdict{}
	}
	if trouble, _ := shareStateTrouble(s.snapshot); trouble != "" && s.group.Type == TypeShare {
		return Verdict{} // checkShareStart has it
	}
	return Verdict{Code: VerdictNoPartitions, Severity: Info,
		Text:     fmt.Sprintf("no partitions for %s", Plural(len(s.group.Members), "member")),
		Evidence: []string{s.membersInWords(), "No member is assigned a partition."},
		Next:     "Check that the topics exist to which the members subscribe."}
}

func (s *situation) assigned() int {
	n := 0
	for i := range s.group.Members {
		n += s.group.Members[i].Assigned()
	}
	return n
}

// checkIdleMembers looks for members that have nothing to do while others have.
func checkIdleMembers(s *situation) Verdict {
	g := s.group
	if !s.settled() || g.Type == TypeShare || g.Type == TypeStreams || g.Hidden {
		return Verdict{}
	}
	var idle []string
	for i := range g.Members {
		if g.Members[i].Assigned() == 0 {
			idle = append(idle, g.Members[i].ID)
		}
	}
	if len(idle) == 0 || len(idle) == len(g.Members) {
		return Verdict{}
	}
	for i, id := range idle {
		idle[i] = g.MemberLabel(id)
	}
	members, partitions := Plural(len(g.Members), "member"), Plural(s.assigned(), "partition")
	v := Verdict{Code: VerdictIdleMembers, Severity: Info,
		Text:     fmt.Sprintf("%s idle: %s, %s", Plural(len(idle), "member"), members, partitions),
		Evidence: []string{fmt.Sprintf("No partition for %s.", names(idle)), fmt.Sprintf("A partition has one owner: %s share %s.", members, partitions)},
		Next:     "Add partitions or stop the idle members; they do no harm as a reserve."}
	if s.assigned() >= len(g.Members) {
		v.Evidence[1] = fmt.Sprintf("%s share %s, so the others have more than one.", members, partitions)
		v.Next = "Check the assignor, and whether the idle members subscribe to the same topics."
	}
	return v
}

// checkUnassigned looks for lag on partitions that no member owns.
func checkUnassigned(s *situation) Verdict {
	lag, known := s.unread.Get()
	if !known || !s.settled() {
		return Verdict{}
	}
	v := Verdict{Code: VerdictUnassigned, Severity: Info,
		Text:     fmt.Sprintf("nobody reads %s: %s behind", names(s.unreadTopics), Count(lag)),
		Evidence: []string{"The group has a position there, and no member is assigned it."},
		Next:     "Delete the group's offsets of " + names(s.unreadTopics) + " if it is no longer to be read."}
	if s.shared {
		v.Severity = Warning
		v.Text = fmt.Sprintf("nobody reads some partitions of %s: %s behind", names(s.unreadTopics), Count(lag))
		v.Next = "Check the members' assignments, and whether they assign partitions themselves."
	}
	return v
}

// checkRebalancing looks at the running rebalance.
func checkRebalancing(s *situation) Verdict {
	if !s.running() {
		return Verdict{}
	}
	r, g := s.insight.Rebalance, s.group
	took := g.Described.Sub(r.Started)
	v := Verdict{Code: VerdictRebalancing, Severity: Info, Text: "rebalancing"}
	if took >= time.Second {
		v.Text += " for " + Duration(took)
		if r.Running {
			v.Text += " or longer"
		}
	}
	v.Evidence = []string{s.membersInWords()}
	if givers := moving(r.Moves, g, func(m Move) string { return m.From }); givers != "" {
		v.Evidence = append(v.Evidence, "Still to give up partitions: "+givers+".")
	}
	if takers := moving(r.Moves, g, func(m Move) string { return m.To }); takers != "" {
		v.Evidence = append(v.Evidence, "Still to get partitions: "+takers+".")
	}
	if took >= rebalancingLong {
		v.Severity = Warning
		v.Next = "A member that is busy with its last records holds it up: look for one that polls rarely (max.poll.interval.ms is how long it may)."
	}
	if took >= rebalancingBadly {
		v.Severity = Critical
	}
	return v
}

// moving names the members on one side of the moves.
func moving(moves []Move, g *Group, side func(Move) string) string {
	var labels []string
	for _, m := range moves {
		if id := side(m); id != "" {
			labels = append(labels, g.MemberLabel(id))
		}
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	if len(labels) == 0 {
		return ""
	}
	return names(labels)
}

// checkRebalancesOften looks for rebalances again and again.
func checkRebalancesOften(s *situation) Verdict {
	n := s.insight.Rebalances
	if n < rebalancesOften {
		return Verdict{}
	}
	evidence := "One is running now."
	if !s.running() {
		evidence = "The last ended at " + ClockOn(s.insight.Rebalance.Ended, s.snapshot.At) + "."
	}
	return Verdict{Code: VerdictRebalancesOften, Severity: Warning,
		Text:     fmt.Sprintf("rebalanced %d times in %s", n, Duration(rebalanceMemory)),
		Evidence: []string{evidence},
		Next:     "Look for members that crash, or that exceed max.poll.interval.ms or session.timeout.ms and come back."}
}
