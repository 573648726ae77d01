package model

import (
	"fmt"
	"slices"
	"time"
)

// The codes of verdicts. They are stable. The severity behind each is that of the usual case.
const (
	// What keeps flightdeck from knowing.
	VerdictNotRead      = "not_read"      // ok        not read yet
	VerdictNotPermitted = "not_permitted" // warning   the user may not describe the group, or a topic of it
	VerdictUnreadable   = "unreadable"    // warning   reading it failed for another reason
	VerdictStale        = "stale"         // warning   the coordinator is down, or it was not read for a minute
	VerdictHidden       = "hidden"        // info      some of its topics may not be seen, so that totals are too low
	VerdictLagUnknown   = "lag_unknown"   // info      there is nothing from which the lag could be told yet

	// What is wrong with its positions.
	VerdictDataLost     = "data_lost"     // warning   committed below the log start: retention took records before they were read
	VerdictBeyondEnd    = "beyond_end"    // warning   the position is beyond the log end, as after a topic was recreated
	VerdictTopicDeleted = "topic_deleted" // warning   it has a position on a topic or partition that does not exist
	VerdictNoCommit     = "no_commit"     // info      owned partitions have no committed offset yet

	// How its members do.
	VerdictNoMembers       = "no_members"       // warning   nobody consumes and there is lag; info without lag
	VerdictMovesAlone      = "moves_alone"      // info      it has no members, yet its offsets move
	VerdictNoPartitions    = "no_partitions"    // info      it has members, and none of them has a partition
	VerdictIdleMembers     = "idle_members"     // info      some members have no partition
	VerdictUnassigned      = "unassigned"       // warning   partitions with lag have no owner while the rest of the topic has; info for a whole topic
	VerdictRebalancing     = "rebalancing"      // info      warning from 15 s on, critical from 2 min on
	VerdictRebalancesOften = "rebalances_often" // warning  four times or more in 10 minutes

	// How it moves. A group with members and a known lag has one of these.
	VerdictStalled          = "stalled"           // critical  members and lag, and no progress for 1 min; warning from 20 s on
	VerdictPartitionStalled = "partition_stalled" // warning   the same of one partition, while others move
	VerdictFallingBehind    = "falling_behind"    // warning   more is produced than consumed, and the lag grows
	VerdictBehind           = "behind"            // info      there is lag; not watched for long enough to say more
	VerdictMoving           = "moving"            // info      it consumes, and the lag neither grows nor shrinks
	VerdictCatchingUp       = "catching_up"       // info      the lag shrinks
	VerdictControlRecord    = "control_record"    // info      1 behind on a quiet partition, which a transaction's control record explains
	VerdictUneven           = "uneven"            // info      one partition has most of the lag
	VerdictKeepingUp        = "keeping_up"        // ok        the lag is what the last seconds produced
	VerdictCaughtUp         = "caught_up"         // ok        lag 0

	// Share groups only; see verdict_share.go.
	VerdictShareStateTopic       = "share_state_topic"       // critical  nothing is delivered, and __share_group_state is missing or has no leader
	VerdictShareReadsLatest      = "share_reads_latest"      // warning   nothing delivered, and share.auto.offset.reset is latest
	VerdictShareNothingDelivered = "share_nothing_delivered" // info      members, and no start offset yet
	VerdictShareNoProgress       = "share_no_progress"       // critical  members and lag, and the start offset stands still for 1 min; warning from 20 s on
)

const (
	// watchMin is how long a group is watched before anything is said of its pace. It is longer than the 5 s between two
	// automatic commits.
	watchMin = 6 * time.Second
	// stalledAfter and stalledBadly are how long lag without progress makes a stall of two degrees. A group that was seen to
	// move more slowly, such as one that commits every 30 s, is given twice its usual time, up to patientMost.
	stalledAfter = 20 * time.Second
	stalledBadly = time.Minute
	patientMost  = 3 * time.Minute
	// keepingUp is how much production may lie between a consumer and the end while it is still said to keep up.
	keepingUp = 10 * time.Second
	// rebalancingLong and rebalancingBadly are how long a rebalance takes when it is worth a warning, and more.
	rebalancingLong  = 15 * time.Second
	rebalancingBadly = 2 * time.Minute
	// rebalancesOften within rebalanceMemory are too many.
	rebalancesOften = 4
	// unevenShare of the lag on one partition is most of it, when the lag is unevenLag at least.
	unevenShare = 0.7
	unevenLag   = 100
)

// situation is all that verdicts are drawn from.
type situation struct {
	group    *Group
	insight  *Insight // all but its verdicts
	snapshot *Snapshot
	// first is when the positions were first read; zero for never.
	first time.Time
	// emptied is when the last member was seen to have left; zero when that was not seen.
	emptied time.Time
	// pause is twice the time that the slowest lagging partition usually takes from one move to the next.
	pause time.Duration
	tally
}

// check looks for one thing. It returns a verdict without a code when it does not find it.
type check func(*situation) Verdict

// checks are in the order of importance among verdicts of the same severity.
var checks = [...]check{
	checkProblems, checkStale, checkNotRead,
	checkShareStart, checkStalled, checkRebalancing, checkRebalancesOften,
	checkNoMembers, checkDataLost, checkBeyondEnd, checkTopicDeleted,
	checkPace, checkPartitionStalled, checkUnassigned, checkUneven,
	checkNoPartitions, checkIdleMembers, checkNoCommit, checkHidden, checkShareLag,
}

// judge draws the verdicts on a group, the worst first, one at least.
func judge(s *situation) []Verdict {
	s.count()
	var list []Verdict
	for _, check := range checks {
		if v := check(s); v.Code != "" {
			list = append(list, v)
		}
	}
	if s.group.Type == TypeShare && s.snapshot.Records != nil {
		list = append(list, JudgeShareRecords(s.snapshot.shareFacts(s.group))...)
	}
	if len(list) == 0 {
		return []Verdict{{Code: VerdictLagUnknown, Severity: Info, Text: "lag unknown", Evidence: []string{"Nothing is known from which the lag could be told."}}}
	}
	slices.SortStableFunc(list, func(a, b Verdict) int { return int(b.Severity) - int(a.Severity) })
	return list
}

// tally is what one pass over the partitions of a group counts.
type tally struct {
	// lag is that of the partitions that somebody reads, unread that of the others.
	lag, unread Int
	// owned counts the partitions with an owner, open those that somebody reads and that have no position, vacant
	// those of the latter that hold no record, so that there is nothing to commit.
	owned, open, vacant int
	// worst is the partition with most of lag; nil without lag.
	worst *GroupPartition
	// lagging counts the partitions with lag that somebody reads, small those of them with a lag of 1.
	lagging, small int
	lost, beyond   amount
	deleted        []string
	// unreadTopics are those of unread; shared is true when somebody reads other partitions of one of them.
	unreadTopics []string
	shared       bool
	// moved is when a partition that somebody reads last moved; zero when that was not seen.
	moved time.Time
	// stuck is the lagging partition that stands still the longest.
	stuck      *GroupPartition
	stuckSince time.Time
	// pace is the code that checkPace found.
	pace string
}

// amount is a number of records over some partitions, most of them on worst.
type amount struct {
	sum, most  int64
	partitions int
	worst      *GroupPartition
}

func (a *amount) add(n int64, p *GroupPartition) {
	if n <= 0 {
		return
	}
	a.sum, a.partitions = a.sum+n, a.partitions+1
	if n > a.most {
		a.most, a.worst = n, p
	}
}

// where names the partition with most of it.
func (a *amount) where() string {
	if a.partitions > 1 {
		return fmt.Sprintf("%d partitions, most on %s", a.partitions, a.worst.name())
	}
	return a.worst.name()
}

func (p *GroupPartition) name() string { return fmt.Sprintf("%s/%d", p.Topic, p.Number) }

func (s *situation) count() {
	g := s.group
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if p.Deleted {
			if n := len(s.deleted); n == 0 || s.deleted[n-1] != p.Topic {
				s.deleted = append(s.deleted, p.Topic)
			}
			continue
		}
		s.lost.add(p.Lost, p)
		s.beyond.add(p.Beyond, p)
		if p.Member != NoMember {
			s.owned++
		}
		lag, known := p.Lag.Get()
		if !reads(g, p) {
			if lag > 0 {
				s.unread = Some(s.unread.Or(0) + lag)
				if n := len(s.unreadTopics); n == 0 || s.unreadTopics[n-1] != p.Topic {
					s.unreadTopics = append(s.unreadTopics, p.Topic)
				}
			}
			continue
		}
		if !p.Position.Known() {
			s.open++
			if p.Start.Known() && p.Start == p.End {
				s.vacant++
			}
		}
		since := s.insight.Partitions[i].Since
		if since.After(s.moved) {
			s.moved = since
		}
		if !known {
			continue
		}
		s.lag = Some(s.lag.Or(0) + lag)
		if lag > 0 {
			s.countLagging(p, lag, since)
		}
	}
	s.shared = s.sharedTopic()
}

func (s *situation) countLagging(p *GroupPartition, lag int64, since time.Time) {
	s.lagging++
	if lag == 1 {
		s.small++
	}
	if s.worst == nil || lag > s.worst.Lag.Or(0) {
		s.worst = p
	}
	if s.stuck == nil || since.Before(s.stuckSince) {
		s.stuck, s.stuckSince = p, since
	}
}

// sharedTopic reports whether a topic with unread lag has partitions that somebody reads.
func (s *situation) sharedTopic() bool {
	if len(s.unreadTopics) == 0 {
		return false
	}
	for i := range s.group.Partitions {
		p := &s.group.Partitions[i]
		if p.Member != NoMember && slices.Contains(s.unreadTopics, p.Topic) {
			return true
		}
	}
	return false
}

// hasMembers reports whether the group has members, as far as one can tell: those of a streams group are
// not described, and at times a group is listed with a state before its members are known. Then the state decides.
func (s *situation) hasMembers() bool {
	switch s.group.State {
	case "Empty", "Dead", "":
		return len(s.group.Members) > 0
	}
	return true
}

// watched is how long the positions have been watched.
func (s *situation) watched() time.Duration {
	if s.first.IsZero() {
		return 0
	}
	return s.group.OffsetsAt.Sub(s.first)
}

// still is how long no partition was seen to move, up to the last read.
func (s *situation) still() time.Duration {
	if s.moved.IsZero() {
		return s.watched()
	}
	return s.group.OffsetsAt.Sub(s.moved)
}

// standing reports whether nothing has moved for longer than it may.
func (s *situation) standing() bool {
	return s.still() >= max(stalledAfter, min(s.pause, patientMost))
}

// since says since when nothing moves.
func (s *situation) since(moved time.Time) string {
	if moved.IsZero() {
		return fmt.Sprintf("for the %s it has been watched", Duration(s.watched()))
	}
	return "since " + ClockOn(moved, s.snapshot.At)
}

// settled reports whether the group has members and does not rebalance.
func (s *situation) settled() bool {
	return len(s.group.Members) > 0 && (s.insight.Rebalance == nil || !s.insight.Rebalance.Ended.IsZero())
}
