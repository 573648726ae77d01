package kafka

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// build is a group in the making: its members are known, and which partitions it needs the offsets of.
type build struct {
	entry     *entry
	group     model.Group
	described bool // in this poll
	malformed int  // members whose bytes could not be read
}

// prepare makes the groups of the entries but for their positions, and notes which partitions' offsets
// and which unknown topics they need.
func (p *poll) prepare(entries []entry) []build {
	out := make([]build, 0, len(entries))
	unknown := make(map[string]bool)
	for i := range entries {
		e := &entries[i]
		if e.gone {
			continue
		}
		out = append(out, build{entry: e})
		b := &out[len(out)-1]
		p.head(b)
		if e.hasOffsets {
			for _, t := range e.offsets {
				topic := p.topics.find(t.topic)
				if topic == nil {
					unknown[t.topic] = true
					continue
				}
				for _, row := range t.rows {
					topic.want(row.partition)
				}
			}
		}
		for _, m := range b.group.Members {
			for _, a := range m.Assignment {
				topic := p.topics.find(a.Topic)
				if topic == nil {
					unknown[a.Topic] = true
					continue
				}
				for _, n := range a.Partitions {
					topic.want(n)
				}
			}
		}
	}
	p.unknownTopics = unknown
	return out
}

// head fills in all of a group but its positions, from what was answered now or else before.
func (p *poll) head(b *build) {
	e := b.entry
	g := &b.group
	if e.prev != nil {
		*g = *e.prev
		g.Problems = nil
	}
	g.ID, g.Type, g.State, g.Coordinator = e.id, e.typ, e.state, e.node
	read := true
	switch {
	case e.classic != nil:
		g.State, g.Assignor = e.classic.State, e.classic.Protocol
		g.Operations = operations(e.classic.AuthorizedOperations)
	case e.consumer != nil:
		g.State, g.Assignor = e.consumer.State, e.consumer.AssignorName
		g.Epoch, g.AssignmentEpoch = model.Some(e.consumer.Epoch), model.Some(e.consumer.AssignmentEpoch)
		g.Operations = operations(e.consumer.AuthorizedOperations)
	case e.share != nil:
		g.State, g.Assignor = e.share.GroupState, e.share.Assignor
		g.Epoch, g.AssignmentEpoch = model.Some(e.share.GroupEpoch), model.Some(e.share.AssignmentEpoch)
		g.Operations = operations(e.share.AuthorizedOperations)
	case e.emptied:
		g.Assignor = ""
	default:
		read = false
	}
	if read {
		var members []model.Member
		members, b.malformed = p.members(e)
		if !sameMembers(members, g.Members) {
			g.Members = members
		}
		b.described, g.Hidden = true, false
	}
	if e.describeCode == kerr.TopicAuthorizationFailed.Code {
		g.Hidden = true
	}
}

// finish adds the positions, now that the log ends were read, and publishes the group.
func (p *poll) finish(b *build) model.Group {
	e, g := b.entry, &b.group
	if b.described {
		g.Described = p.at
	}
	scratch := p.scratch[:0]
	if e.hasOffsets {
		g.OffsetsAt = p.at
		for _, t := range e.offsets {
			topic := p.topics.find(t.topic)
			for _, row := range t.rows {
				if row.offset >= 0 {
					scratch = append(scratch, p.partition(topic, t.topic, row.partition, model.Some(row.offset)))
				}
			}
		}
	} else if e.prev != nil && g.Type != model.TypeShare {
		// Positions that were not read now stay what they were, together with the lag that they had then.
		for _, part := range e.prev.Partitions {
			if part.Member = model.NoMember; part.Position.Known() {
				scratch = append(scratch, part)
			}
		}
	}
	scratch = sortPartitions(scratch)
	scratch = p.own(g, scratch)
	if !slices.Equal(scratch, g.Partitions) {
		g.Partitions = slices.Clone(scratch)
	}
	p.scratch = scratch
	p.groupProblems(b)
	return *g
}

// own notes which member owns which partition, and adds the partitions that have an owner and no position.
func (p *poll) own(g *model.Group, parts []model.GroupPartition) []model.GroupPartition {
	positioned := len(parts)
	for i := range g.Members {
		for _, a := range g.Members[i].Assignment {
			topic := p.topics.find(a.Topic)
			if topic == nil && p.s.absent[a.Topic].hidden {
				g.Hidden = true
			}
			for _, n := range a.Partitions {
				at, ok := slices.BinarySearchFunc(parts[:positioned], n, func(part model.GroupPartition, n int32) int {
					return cmp.Or(strings.Compare(part.Topic, a.Topic), int(part.Number)-int(n))
				})
				if !ok {
					at = len(parts)
					parts = append(parts, p.partition(topic, a.Topic, n, model.Int{}))
				}
				if g.Type != model.TypeShare {
					parts[at].Member = int32(i)
				}
			}
		}
	}
	if len(parts) == positioned {
		return parts
	}
	parts = sortPartitions(parts)
	// Members of a share group share partitions, and for a moment of a rebalance two members of any
	// group may.
	return slices.CompactFunc(parts, func(a, b model.GroupPartition) bool { return a.Number == b.Number && a.Topic == b.Topic })
}

// partition measures a position against the log.
func (p *poll) partition(topic *topicState, name string, number int32, position model.Int) model.GroupPartition {
	out := model.GroupPartition{Topic: name, Number: number, Member: model.NoMember, Position: position}
	if topic == nil {
		a := p.s.absent[name]
		out.Deleted = a.deleted
		return out
	}
	out.Topic = topic.Name
	i := topic.index(number)
	if i < 0 {
		out.Deleted = len(topic.Partitions) > 0
		return out
	}
	log := &topic.Partitions[i]
	out.Start, out.End = log.Start, log.End
	if log.At.Before(p.at) && position.Or(0) > log.End.Or(0) {
		// The leader did not answer, and the group is ahead of what we last heard: that says nothing.
		out.End = model.Int{}
	}
	out.Measure()
	return out
}

func sortPartitions(parts []model.GroupPartition) []model.GroupPartition {
	order := func(a, b model.GroupPartition) int {
		return cmp.Or(strings.Compare(a.Topic, b.Topic), int(a.Number)-int(b.Number))
	}
	if !slices.IsSortedFunc(parts, order) {
		slices.SortFunc(parts, order)
	}
	return parts
}

// stillMoving is how long a coordinator may be on the move before a group that was read before is
// reported. A broker's failure takes a cluster 8 to 14 s to repair.
const stillMoving = 20 * time.Second

// groupProblems adds what could not be read of a group to the group and to the snapshot.
func (p *poll) groupProblems(b *build) {
	e, g := b.entry, &b.group
	add := func(problem model.Problem) {
		g.Problems = append(g.Problems, problem)
		p.problems = append(p.problems, problem)
	}
	quiet := func(code int16) bool {
		return code == 0 || moved(code) && p.began.Sub(g.Described) < stillMoving
	}
	if !quiet(e.describeCode) {
		add(p.s.groupProblem(describeKey(e.typ), e.id, e.describeCode, e.describeText))
	}
	if !quiet(e.offsetCode) && e.offsetCode != e.describeCode {
		add(p.s.groupProblem(kmsg.OffsetFetch, e.id, e.offsetCode, ""))
	}
	if b.malformed > 0 {
		add(malformedProblem(e.id, b.malformed))
	}
	if g.Hidden && e.describeCode == 0 {
		add(hiddenTopicsProblem(e.id))
	}
}

// groupProblem says why a group could not be read. text is the broker's own, empty where it has none.
func (s *Source) groupProblem(key kmsg.Key, id string, code int16, text string) model.Problem {
	p := model.Problem{Scope: model.ScopeGroup, Name: id}
	p.Code, p.Text = s.conn.Explain(answered(key, id, code, &text))
	return p
}

// publish makes the snapshot.
func (p *poll) publish(builds []build) *model.Snapshot {
	snap := &model.Snapshot{At: p.at, Took: p.at.Sub(p.began), Depth: p.want.Depth, Cluster: p.cluster()}
	shares := 0
	for i := range builds {
		if builds[i].entry.typ == model.TypeShare {
			shares++
		}
	}
	snap.Groups = make([]model.Group, 0, len(builds)-shares)
	snap.ShareGroups = make([]model.Group, 0, shares)
	for i := range builds {
		g := p.finish(&builds[i])
		if g.Type == model.TypeShare {
			snap.ShareGroups = append(snap.ShareGroups, g)
		} else {
			snap.Groups = append(snap.Groups, g)
		}
	}
	snap.Topics = p.topics.snapshot()
	if problem, ok := shareProblem(snap.Cluster.Share); ok {
		p.problems = append(p.problems, problem)
	}
	if !model.Allowed(snap.Cluster.Operations, model.OpDescribe) {
		p.problems = append(p.problems, hiddenGroupsProblem)
	}
	snap.Problems = p.problems
	return snap
}
