package model

import (
	"slices"
	"time"
)

// History turns a series of snapshots into views: rates, trends, verdicts and events. It belongs to
// one reader and is not safe for concurrent use.
//
// It remembers, for each partition that was read, up to five steps of its log end and, for each group on it, of its
// position (96 bytes each), for each group up to 80 lags of 16 bytes and its last insight, and the last snapshot.
// For 10,000 groups of 20 partitions that are 20 MB of steps, 13 MB of lags and 13 MB of insights
// beside the snapshot; BenchmarkObserve prints what it comes to. Groups and topics that are gone are forgotten.
type History struct {
	last   *Snapshot
	groups map[string]*groupHistory
	topics map[string]*topicProgress
	// round numbers the calls of Observe, so that what is gone can be told.
	round uint64
	// scratch is for the partitions of one group at a time.
	scratch []PartitionInsight
	// pause is what partitions found to be the usual time between two moves of the group, twice.
	pause time.Duration
}

// groupHistory is what is remembered of one group.
type groupHistory struct {
	group *Group // as last observed
	// keys are the partitions of the last read of positions; steps belongs to it, index by index.
	keys  []GroupPartition
	steps []progress
	// first and read are when positions were first and last read.
	first, read time.Time
	lags        series
	// emptied is when the last member was seen to have left; zero when there are members, or never
	// were.
	emptied time.Time
	rebalances
	// insight is the one last published.
	insight *Insight
	round   uint64
}

// NewHistory is a history without samples.
func NewHistory() *History {
	return &History{groups: make(map[string]*groupHistory), topics: make(map[string]*topicProgress)}
}

// Observe adds the next snapshot and returns what is known now. The same snapshot with other share
// offsets may be observed again.
//
// Only what was read anew counts as a sample: positions by Group.OffsetsAt, members by
// Group.Described, logs by Partition.At. Values carried over from an earlier poll never make a
// rate of zero.
func (h *History) Observe(next *Snapshot) *View {
	h.round++
	v := &View{
		Snapshot: next,
		Insights: make(map[string]*Insight, len(next.Groups)+len(next.ShareGroups)),
		Events:   Compare(h.last, next),
	}
	v.Produced = h.observeTopics(next)
	if h.last == nil {
		h.last = &Snapshot{}
	}
	for _, lists := range [...][2][]Group{{h.last.Groups, next.Groups}, {h.last.ShareGroups, next.ShareGroups}} {
		if next.At.Equal(h.last.At) && sameSlice(lists[0], lists[1]) && sameSlice(h.last.Topics, next.Topics) {
			// The same poll again, with other share offsets: nothing is new about these groups.
			h.again(lists[1], v)
			continue
		}
		mergeSorted(lists[0], lists[1], compareGroups, func(was, is *Group) {
			if is != nil {
				v.Events = append(v.Events, h.observeGroup(was, is, next)...)
				v.Insights[is.ID] = h.groups[is.ID].insight
			}
		})
	}
	h.forget()
	h.last = next
	return v
}

// again puts the insights of groups that were observed already into a view.
func (h *History) again(groups []Group, v *View) {
	for i := range groups {
		st := h.groups[groups[i].ID]
		st.round = h.round
		v.Insights[groups[i].ID] = st.insight
	}
}

func (h *History) observeTopics(s *Snapshot) map[string]float64 {
	produced := make(map[string]float64, len(h.topics))
	now := s.At.UnixNano()
	for i := range s.Topics {
		topic := &s.Topics[i]
		t := h.topics[topic.Name]
		if t == nil {
			t = &topicProgress{id: topic.ID}
			h.topics[topic.Name] = t
		}
		t.round = h.round
		t.observe(topic)
		if rate, known := t.produced(now).Get(); known {
			produced[topic.Name] = rate
		}
	}
	return produced
}

// forget drops what the snapshot does not have any more.
func (h *History) forget() {
	for id, g := range h.groups {
		if g.round != h.round {
			delete(h.groups, id)
		}
	}
	for name, t := range h.topics {
		if t.round != h.round {
			delete(h.topics, name)
		}
	}
}

func (h *History) observeGroup(was, g *Group, s *Snapshot) []Event {
	st := h.groups[g.ID]
	if st == nil || (st.group.Type == TypeShare) != (g.Type == TypeShare) {
		st = &groupHistory{}
		h.groups[g.ID] = st
		was = nil
	}
	st.group, st.round = g, h.round
	st.observeMembers(was, g)
	st.observeOffsets(g)
	events := st.rebalances.observe(was, g, s.At)
	h.publish(st, s)
	return events
}

func (st *groupHistory) observeMembers(was, g *Group) {
	switch {
	case len(g.Members) > 0:
		st.emptied = time.Time{}
	case was != nil && len(was.Members) > 0 && g.Described.After(was.Described):
		st.emptied = g.Described
	}
}

// observeOffsets takes the positions as a sample if they were read since the last.
func (st *groupHistory) observeOffsets(g *Group) {
	if g.OffsetsAt.IsZero() || !g.OffsetsAt.After(st.read) {
		return
	}
	if st.first.IsZero() {
		st.first = g.OffsetsAt
	}
	st.read = g.OffsetsAt
	if !samePartitions(st.keys, g.Partitions) {
		steps := make([]progress, len(g.Partitions))
		st.each(g.Partitions, func(i int, p *progress) { steps[i] = *p })
		st.steps = steps
	}
	st.keys = g.Partitions
	at := g.OffsetsAt.UnixNano()
	for i := range g.Partitions {
		if pos, known := g.Partitions[i].Position.Get(); known {
			st.steps[i].observe(pos, at)
		}
	}
	lag, _ := g.Lag()
	st.lags.add(lag)
}

func samePartitions(a, b []GroupPartition) bool {
	if sameSlice(a, b) || len(a) != len(b) {
		return len(a) == len(b)
	}
	for i := range a {
		if a[i].Number != b[i].Number || a[i].Topic != b[i].Topic {
			return false
		}
	}
	return true
}

// each visits the steps of those of the given partitions that were read before.
func (st *groupHistory) each(partitions []GroupPartition, visit func(i int, p *progress)) {
	j := 0
	for i := range partitions {
		for j < len(st.keys) && comparePartitions(&st.keys[j], &partitions[i]) < 0 {
			j++
		}
		if j < len(st.keys) && comparePartitions(&st.keys[j], &partitions[i]) == 0 {
			visit(i, &st.steps[j])
		}
	}
}

// publish makes the insight of a group. What is as before is shared with the insight before.
func (h *History) publish(st *groupHistory, s *Snapshot) {
	g := st.group
	next := Insight{Trend: st.lags.window(), Partitions: h.partitions(st, s), Rebalance: st.last, Rebalances: st.often(s.At)}
	var owned Int
	for i := range g.Partitions {
		p := &g.Partitions[i]
		next.Consumed = addRate(next.Consumed, next.Partitions[i].Consumed)
		if !reads(g, p) {
			continue
		}
		next.Produced = addRate(next.Produced, next.Partitions[i].Produced)
		if lag, known := p.Lag.Get(); known {
			owned = Some(owned.Or(0) + lag)
		}
	}
	next.ETA = eta(owned, next.Consumed, next.Produced)
	next.Verdicts = judge(&situation{group: g, insight: &next, snapshot: s, first: st.first, emptied: st.emptied, pause: h.pause})
	if keepsUp(next.Verdicts) {
		next.ETA = Opt[time.Duration]{}
	}
	if old := st.insight; old != nil {
		if slices.Equal(old.Partitions, next.Partitions) {
			next.Partitions = old.Partitions
		}
		if slices.EqualFunc(old.Verdicts, next.Verdicts, equalVerdicts) {
			next.Verdicts = old.Verdicts
		}
		if sameInsight(old, &next) {
			return
		}
	}
	if len(next.Partitions) > 0 && len(h.scratch) > 0 && &next.Partitions[0] == &h.scratch[0] {
		next.Partitions = slices.Clone(next.Partitions)
	}
	st.insight = &next
}

// keepsUp reports whether a group is said to have nothing to catch up with.
func keepsUp(verdicts []Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Code == VerdictKeepingUp || v.Code == VerdictCaughtUp })
}

// reads reports whether somebody reads a partition of a group: it has an owner, or ownership is not
// something that one can tell for this group.
func reads(g *Group, p *GroupPartition) bool {
	return p.Member != NoMember || len(g.Members) == 0 || g.Type == TypeShare
}

// partitions fills the scratch space with what is known of the group's partitions. It holds until the next call.
func (h *History) partitions(st *groupHistory, s *Snapshot) []PartitionInsight {
	g, now := st.group, s.At.UnixNano()
	h.scratch = slices.Grow(h.scratch[:0], len(g.Partitions))[:len(g.Partitions)]
	clear(h.scratch)
	h.pause = 0
	var topic *topicProgress
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if i == 0 || p.Topic != g.Partitions[i-1].Topic {
			topic = h.topics[p.Topic]
		}
		h.scratch[i].Produced = topic.producedOn(p.Number, now)
	}
	st.each(g.Partitions, func(i int, p *progress) {
		in := &h.scratch[i]
		in.Consumed = p.rate(now)
		if moved := p.moved(); moved != 0 {
			in.Since = time.Unix(0, moved).In(g.OffsetsAt.Location())
			if g.Partitions[i].Lag.Or(0) > 0 {
				h.pause = max(h.pause, time.Duration(p.patience(2)))
			}
		}
	})
	return h.scratch
}

func equalVerdicts(a, b Verdict) bool {
	return a.Code == b.Code && a.Severity == b.Severity && a.Text == b.Text && a.Next == b.Next && slices.Equal(a.Evidence, b.Evidence)
}

// sameInsight reports whether two insights say the same, slices compared by identity.
func sameInsight(a, b *Insight) bool {
	return a.Consumed == b.Consumed && a.Produced == b.Produced && a.ETA == b.ETA && a.Rebalance == b.Rebalance && a.Rebalances == b.Rebalances &&
		sameSlice(a.Trend, b.Trend) && sameSlice(a.Partitions, b.Partitions) && sameSlice(a.Verdicts, b.Verdicts)
}

func sameSlice[T any](a, b []T) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}
