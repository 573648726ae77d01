package model

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

const (
	// settleFor is how long a Stable group with partitions that lost their owner still counts as
	// rebalancing. A cooperative rebalance is two rebalances with such a pause between them, as long as a
	// heartbeat interval (3 s by default).
	settleFor = 10 * time.Second
	// rebalanceMemory is how long ended rebalances count for "again and again".
	rebalanceMemory = 10 * time.Minute
	// rebalancesKept bounds that count.
	rebalancesKept = 32
)

// Move is a partition that changes its owner.
type Move struct {
	Topic     string
	Partition int32
	// From and To are member ids; empty for nobody.
	From, To string
}

// Rebalance is a rebalance that was seen, running or ended. How exactly it can be seen depends on
// the protocol:
//
//   - classic: from the first poll that saw the group not Stable to the first that saw it Stable with an owner for all
//     partitions that had one. While it runs the broker answers the old owners.
//   - consumer (KIP-848) and streams: from a group epoch that was not assigned yet, or members not at their target, to all
//     members at their target. Moves are known while it runs.
//   - One that is shorter than the time between two polls leaves other owners behind, or a higher
//     epoch; Started and Ended are then those polls.
type Rebalance struct {
	// Started is when it was first seen, by Group.Described.
	Started time.Time
	// Ended is zero while it runs.
	Ended time.Time
	// Unseen is true when it began and ended between two polls.
	Unseen bool
	// Running is true when it was running at the first look already, so that Started is too late.
	Running bool
	// Moves are the partitions that changed, or are to change, their owner, by topic and partition.
	Moves []Move
}

// rebalances follows the rebalances of one group.
type rebalances struct {
	// last is the running or last one. It is replaced, never changed, since views share it.
	last *Rebalance
	// before is the group as it was before the running one; nil when that was not seen.
	before *Group
	// stable is when the running one was first seen Stable again, with partitions left without owner.
	stable time.Time
	// ended are the ends of those within rebalanceMemory.
	ended []time.Time
}

func (r *rebalances) running() bool { return r.last != nil && r.last.Ended.IsZero() }

// often is how many rebalances ended in the last [rebalanceMemory].
func (r *rebalances) often(now time.Time) int {
	n := 0
	for _, t := range r.ended {
		if now.Sub(t) <= rebalanceMemory {
			n++
		}
	}
	return n
}

// observe takes the next look at a group. prev is the look before, nil at the first. It returns the
// event, if there is one, as of at.
func (r *rebalances) observe(prev, g *Group, at time.Time) []Event {
	if g.Type == TypeShare || g.Described.IsZero() || prev != nil && !g.Described.After(prev.Described) {
		return nil
	}
	if prev != nil && prev.Described.IsZero() {
		prev = nil
	}
	if !r.running() {
		return r.watch(prev, g, at)
	}
	if rebalancing(g) {
		r.stable = time.Time{}
		r.last = &Rebalance{Started: r.last.Started, Running: r.last.Running, Moves: pending(g)}
		return nil
	}
	if r.stable.IsZero() {
		r.stable = g.Described
	}
	ended := g.Described
	if len(g.Members) > 0 && orphans(r.before, g) {
		if g.Described.Sub(r.stable) < settleFor {
			return nil
		}
		ended = r.stable
	}
	return r.end(g, at, &Rebalance{Started: r.last.Started, Running: r.last.Running, Ended: ended})
}

// watch looks for the start of a rebalance, or for the traces of one that is over.
func (r *rebalances) watch(prev, g *Group, at time.Time) []Event {
	start := &Rebalance{Started: g.Described, Running: prev == nil}
	switch {
	case rebalancing(g):
		start.Moves = pending(g)
	case prev == nil || len(prev.Members) == 0 || len(g.Members) == 0:
		// The first members of a group get their partitions, or the last one left.
		return nil
	case g.Epoch == prev.Epoch && sameOwners(prev, g):
		return nil
	case orphans(prev, g):
		r.stable = g.Described
	default:
		if moves := movesBetween(prev, g); len(moves) > 0 || g.Epoch.Or(0) > prev.Epoch.Or(g.Epoch.Or(0)) {
			r.before = keep(prev)
			return r.end(g, at, &Rebalance{Started: prev.Described, Ended: g.Described, Unseen: true})
		}
		return nil
	}
	r.last = start
	if prev != nil {
		r.before = keep(prev)
	}
	text := "The group began to rebalance, with " + Plural(len(g.Members), "member") + "."
	if start.Running {
		text = "The group is rebalancing, with " + Plural(len(g.Members), "member") + "."
	}
	return []Event{{at, Info, EventRebalanceStarted, g.ID, text}}
}

func (r *rebalances) end(g *Group, at time.Time, done *Rebalance) []Event {
	before := r.before
	if before != nil {
		done.Moves = movesBetween(before, g)
	}
	r.last, r.before, r.stable = done, nil, time.Time{}
	r.ended = append(r.ended, done.Ended)
	r.ended = slices.Clone(r.ended[max(0, len(r.ended)-rebalancesKept):])
	var text string
	took := Duration(done.Ended.Sub(done.Started))
	switch {
	case len(g.Members) == 0:
		text = "The rebalance ended after " + took + " without members."
	case done.Unseen:
		text = "The group rebalanced within " + took + ": " + movesInWords(before, g, done.Moves) + "."
	case before == nil:
		text = "The rebalance ended, " + took + " after it was first seen."
	default:
		text = "The rebalance took " + took + ": " + movesInWords(before, g, done.Moves) + "."
	}
	return []Event{{at, Info, EventRebalanceEnded, g.ID, text}}
}

// keep copies a group so that it does not hold on to the snapshot it came from.
func keep(g *Group) *Group {
	kept := *g
	return &kept
}

// rebalancing reports whether the group says that it is: by its state, by an epoch that was not assigned
// yet, or by members that are not at their target.
func rebalancing(g *Group) bool {
	switch g.State {
	case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling":
		return true
	}
	epoch, ok1 := g.Epoch.Get()
	assigned, ok2 := g.AssignmentEpoch.Get()
	if ok1 && ok2 && assigned < epoch && len(g.Members) > 0 {
		return true
	}
	for i := range g.Members {
		m := &g.Members[i]
		if m.Target != nil && !slices.EqualFunc(m.Target, m.Assignment, equalPartitions) {
			return true
		}
	}
	return false
}

func equalPartitions(a, b TopicPartitions) bool {
	return a.Topic == b.Topic && slices.Equal(a.Partitions, b.Partitions)
}

// owner is the id of the member that owns a partition of the group; empty for nobody.
func (g *Group) owner(p *GroupPartition) string {
	if p.Member < 0 || int(p.Member) >= len(g.Members) {
		return ""
	}
	return g.Members[p.Member].ID
}

// sameOwners reports whether nothing at all changed, which is nearly always so and quickly seen.
func sameOwners(a, b *Group) bool {
	return slices.EqualFunc(a.Members, b.Members, func(x, y Member) bool { return x.ID == y.ID }) &&
		samePartitions(a.Partitions, b.Partitions) &&
		slices.EqualFunc(a.Partitions, b.Partitions, func(x, y GroupPartition) bool { return x.Member == y.Member })
}

// orphans reports whether a partition that had an owner before still exists and has none.
func orphans(before, g *Group) bool {
	if before == nil {
		return false
	}
	found := false
	mergeSorted(before.Partitions, g.Partitions, comparePartitions, func(was, is *GroupPartition) {
		if was != nil && is != nil && !is.Deleted && before.owner(was) != "" && g.owner(is) == "" {
			found = true
		}
	})
	return found
}

// movesBetween are the partitions with another owner than before.
func movesBetween(before, g *Group) (moves []Move) {
	mergeSorted(before.Partitions, g.Partitions, comparePartitions, func(was, is *GroupPartition) {
		if is == nil || is.Deleted {
			return
		}
		m := Move{Topic: is.Topic, Partition: is.Number, To: g.owner(is)}
		if was != nil {
			m.From = before.owner(was)
		}
		if m.From != m.To {
			moves = append(moves, m)
		}
	})
	return moves
}

// pending are the moves that a group's targets announce; nil where the protocol does not tell.
func pending(g *Group) []Move {
	type key struct {
		topic string
		n     int32
	}
	moves := make(map[key]*Move)
	at := func(topic string, n int32) *Move {
		m := moves[key{topic, n}]
		if m == nil {
			m = &Move{Topic: topic, Partition: n}
			moves[key{topic, n}] = m
		}
		return m
	}
	for i := range g.Members {
		m := &g.Members[i]
		if m.Target == nil {
			continue
		}
		eachPartition(m.Assignment, func(topic string, n int32) { at(topic, n).From = m.ID })
		eachPartition(m.Target, func(topic string, n int32) { at(topic, n).To = m.ID })
	}
	var list []Move
	for _, m := range moves {
		if m.From != m.To {
			list = append(list, *m)
		}
	}
	slices.SortFunc(list, func(a, b Move) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
	})
	return list
}

func eachPartition(list []TopicPartitions, visit func(topic string, n int32)) {
	for _, t := range list {
		for _, n := range t.Partitions {
			visit(t.Topic, n)
		}
	}
}

// movesInWords says who gave what to whom, for up to three pairs of members.
func movesInWords(before, g *Group, moves []Move) string {
	if len(moves) == 0 {
		return "no partition moved"
	}
	sorted := slices.Clone(moves)
	slices.SortStableFunc(sorted, func(a, b Move) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Topic, b.Topic))
	})
	var parts []string
	for len(sorted) > 0 {
		n := 1
		for n < len(sorted) && sorted[n].From == sorted[0].From && sorted[n].To == sorted[0].To && sorted[n].Topic == sorted[0].Topic {
			n++
		}
		numbers := make([]int32, n)
		for i := range n {
			numbers[i] = sorted[i].Partition
		}
		what := sorted[0].Topic + "/" + PartitionRanges(numbers)
		from, to := sorted[0].From, sorted[0].To
		switch {
		case from == "":
			what += " to " + g.MemberLabel(to)
		case to == "":
			what += " from " + before.MemberLabel(from) + " to nobody"
		default:
			what += " from " + before.MemberLabel(from) + " to " + g.MemberLabel(to)
		}
		parts, sorted = append(parts, what), sorted[n:]
	}
	const most = 3
	if n := len(parts); n > most {
		parts = append(parts[:most], Plural(n-most, "more move"))
	}
	return strings.Join(parts, ", ")
}
