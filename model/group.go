package model

import (
	"sort"
	"time"
)

// GroupType is the type of a group as ListGroups v5 (KIP-848) names it.
type GroupType uint8

// The types of groups.
const (
	TypeUnknown GroupType = iota
	TypeClassic
	TypeConsumer
	TypeShare
	TypeStreams
)

var groupTypeNames = [...]string{"unknown", "classic", "consumer", "share", "streams"}

// String is Kafka's word for the type in lower case.
func (t GroupType) String() string {
	if int(t) < len(groupTypeNames) {
		return groupTypeNames[t]
	}
	return groupTypeNames[TypeUnknown]
}

// Group is a group of any type.
type Group struct {
	ID   string
	Type GroupType
	// State is Kafka's word for it: Stable, Empty, PreparingRebalance, CompletingRebalance, Assigning,
	// Reconciling, Dead, NotReady. Empty when unknown.
	State string
	// Coordinator is the node id of the broker that listed the group, -1 when unknown.
	Coordinator int32
	// Assignor is the partition assignor: the protocol of a classic group, the server-side assignor of the
	// others. Empty when unknown, and while a classic group rebalances.
	Assignor string
	// Epoch and AssignmentEpoch are those of the KIP-848 protocol and of share groups; a group whose assignment
	// epoch trails its epoch has not been assigned yet.
	Epoch, AssignmentEpoch Opt[int32]
	// Members are sorted by client id, host and member id.
	Members []Member
	// Partitions are the partitions on which the group has a position or a member, sorted by topic and
	// number.
	Partitions []GroupPartition
	// Described is when the members were last read; zero for never. Older than the snapshot means that they
	// are stale, as after the coordinator died.
	Described time.Time
	// OffsetsAt is when the positions were last read; zero for never.
	OffsetsAt time.Time
	// Hidden is true when the broker left partitions out that the members are assigned (no DESCRIBE on their
	// topics), so that totals are too low.
	Hidden bool
	// Operations are what the user may do to the group.
	Operations Operations
	// Configs are the settings in force, such as [ConfigShareReset]; nil until they were read.
	Configs *GroupConfigs
	// Problems are those of the snapshot that concern this group.
	Problems []Problem
}

// Partition finds the group's partition of a topic.
func (g *Group) Partition(topic string, n int32) (*GroupPartition, bool) {
	i := sort.Search(len(g.Partitions), func(i int) bool {
		p := &g.Partitions[i]
		return p.Topic > topic || p.Topic == topic && p.Number >= n
	})
	if i < len(g.Partitions) && g.Partitions[i].Topic == topic && g.Partitions[i].Number == n {
		return &g.Partitions[i], true
	}
	return nil, false
}

// Lag sums what is known of the lag of the group's partitions. It is unknown when nothing is
// known; partial is true when any partition's is unknown or partitions are hidden.
func (g *Group) Lag() (sum Int, partial bool) {
	partial = g.Hidden
	for i := range g.Partitions {
		lag, ok := g.Partitions[i].Lag.Get()
		if !ok {
			partial = true
			continue
		}
		sum = Some(sum.Or(0) + lag)
	}
	return sum, partial
}

// Topics counts the topics on which the group has a position or a member.
func (g *Group) Topics() int {
	n, last := 0, ""
	for i := range g.Partitions {
		if i == 0 || g.Partitions[i].Topic != last {
			n, last = n+1, g.Partitions[i].Topic
		}
	}
	return n
}

// Member is one member of a group.
type Member struct {
	ID       string
	ClientID string
	// Host is the address that the broker saw, without the leading slash of Kafka's answer.
	Host string
	// InstanceID is group.instance.id of a static member (KIP-345); empty for a dynamic one.
	InstanceID string
	Rack       string
	// Assignment is what the member has now.
	Assignment []TopicPartitions
	// Target is what it is on its way to; the same as Assignment outside a rebalance, and nil where the
	// protocol does not tell (classic).
	Target []TopicPartitions
	// Epoch is the member epoch (KIP-848, share groups).
	Epoch Opt[int32]
	// Subscribed are the topics that the member subscribed to, where the protocol tells.
	Subscribed []string
}

// Assigned counts the partitions of the member's assignment.
func (m *Member) Assigned() int {
	n := 0
	for i := range m.Assignment {
		n += len(m.Assignment[i].Partitions)
	}
	return n
}

// TopicPartitions are partitions of one topic, ascending.
type TopicPartitions struct {
	Topic      string
	Partitions []int32
}

// NoMember is [GroupPartition.Member] of a partition that nobody owns.
const NoMember int32 = -1

// GroupPartition is a group's position on one partition.
type GroupPartition struct {
	Topic  string
	Number int32
	// Member is the index of the owner in Group.Members, [NoMember] for nobody. In a share group
	// partitions are shared, so it is always NoMember there: see Member.Assignment.
	Member int32
	// Position is the committed offset (OffsetFetch), or a share group's start offset as the broker answers it
	// (DescribeShareGroupOffsets). Unknown without a commit.
	Position Int
	// Start and End are the log's, as in [Partition].
	Start, End Int
	// Lag is what is still there to be read; see [ConsumerLag] and, for share groups, the broker's
	// figure (Kafka 4.2 and later).
	Lag Int
	// Lost counts the offsets between the position and the log start that retention has taken. 0 when
	// there are none or when it is unknown.
	Lost int64
	// Beyond counts by how much the position lies behind the log end, as after the topic was
	// recreated. 0 when it does not or when it is unknown.
	Beyond int64
	// LagDerived is true when the broker does not tell the lag, and it was derived from the recorded state
	// ([ShareState.DerivedLag]).
	LagDerived bool
	// Deleted is true when the topic or the partition does not exist any more.
	Deleted bool
}

// Measure fills Lag, Lost and Beyond from a committed offset and the bounds of the log, all
// known or not.
func (p *GroupPartition) Measure() {
	p.Lag, p.Lost, p.Beyond = ConsumerLag(p.Position, p.Start, p.End)
}

// ConsumerLag is the lag of a consumer at position on a log from start to end: from the later of
// position and start to the end, never below 0. lost is how far the position lies below the
// log start, beyond how far above the end. The lag is unknown without a position or an end: no
// commit is not the whole log.
func ConsumerLag(position, start, end Int) (lag Int, lost, beyond int64) {
	pos, ok := position.Get()
	if !ok {
		return Int{}, 0, 0
	}
	from := pos
	if s, ok := start.Get(); ok && s > pos {
		lost, from = s-pos, s
	}
	e, ok := end.Get()
	if !ok {
		return Int{}, lost, 0
	}
	if pos > e {
		beyond = pos - e
	}
	return Some(max(0, e-from)), lost, beyond
}
