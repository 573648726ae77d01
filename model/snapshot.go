package model

import (
	"sort"
	"time"
)

// Depth says how much of the cluster a snapshot holds.
type Depth uint8

const (
	// DepthFull has everything that could be read.
	DepthFull Depth = iota
	// DepthListing has the cluster, its topics and the groups with type and state only: the first
	// frame of a large cluster.
	DepthListing
)

// Want says what a snapshot is for, so that the source can read what the person looks at first.
// The zero value asks for everything.
type Want struct {
	Depth Depth
	// Groups are the ids on screen. They are read at every poll; on a cluster too large for one poll the
	// others follow in rotation.
	Groups []string
	// Topics are the topics on screen: their offsets are read although no group may have a position
	// on them.
	Topics []string
	// OnlyGroups, when not nil, limits the snapshot to the ids for which it returns true.
	OnlyGroups func(id string) bool
}

// Snapshot is the cluster as one poll saw it. It is immutable once published.
type Snapshot struct {
	// At is when the poll ended, by flightdeck's clock.
	At time.Time
	// Took is how long the poll took.
	Took    time.Duration
	Depth   Depth
	Cluster Cluster
	// Topics are sorted by name.
	Topics []Topic
	// Groups are all groups but the share groups, sorted by id.
	Groups []Group
	// ShareGroups are sorted by id. Their positions come from [Snapshot.WithShareOffsets], since a broker
	// may take seconds to answer for them.
	ShareGroups []Group
	// Records are what the state topic says about their records; nil until it was read. See [Snapshot.WithShareRecords].
	Records *ShareRecords
	// Problems are everything that could not be read, those of single groups included.
	Problems []Problem
}

// Topic finds a topic by name.
func (s *Snapshot) Topic(name string) (*Topic, bool) {
	i := sort.Search(len(s.Topics), func(i int) bool { return s.Topics[i].Name >= name })
	if i < len(s.Topics) && s.Topics[i].Name == name {
		return &s.Topics[i], true
	}
	return nil, false
}

// Group finds a group of any type by its id.
func (s *Snapshot) Group(id string) (*Group, bool) {
	if g, ok := findGroup(s.Groups, id); ok {
		return g, true
	}
	return findGroup(s.ShareGroups, id)
}

func findGroup(groups []Group, id string) (*Group, bool) {
	i := sort.Search(len(groups), func(i int) bool { return groups[i].ID >= id })
	if i < len(groups) && groups[i].ID == id {
		return &groups[i], true
	}
	return nil, false
}

// Cluster is what concerns the cluster as a whole.
type Cluster struct {
	// ID is the cluster id, empty when unknown.
	ID string
	// Controller is the node id of the active controller, or of the broker that speaks for it; -1 when
	// unknown.
	Controller int32
	// Version is the Kafka version concluded from the API versions that the brokers offer, such as "4.3";
	// empty when it could not be told.
	Version string
	// Brokers are sorted by node id.
	Brokers []Broker
	// Features are the features of the cluster (ApiVersions response), sorted by name.
	Features []Feature
	// Share says whether share groups can be seen here, and if not, why.
	Share ShareSupport
	// Limits are the things that this cluster's API versions do not let one see.
	Limits []Limit
	// Operations are what the user may do to the cluster.
	Operations Operations
}

// Up counts the brokers that answered.
func (c *Cluster) Up() int {
	n := 0
	for i := range c.Brokers {
		if c.Brokers[i].Up {
			n++
		}
	}
	return n
}

// Broker is one node of the cluster.
type Broker struct {
	ID   int32
	Host string
	Port int32
	// Rack is empty when the broker has none.
	Rack string
	// Up is whether it answered in this poll. Metadata lists a dead broker for up to 9 s, so its
	// presence alone proves nothing.
	Up bool
	// Why says in words why it is not up; empty when it is.
	Why string
	// Answered is when it last answered; zero for never.
	Answered time.Time
}

// Feature is a finalized or supported feature such as share.version (KIP-584).
type Feature struct {
	Name string
	// Finalized is the level in force; unknown means that it is not finalized, which is level 0.
	Finalized Opt[int16]
	// Min and Max are the levels that the brokers support.
	Min, Max int16
}

// ShareSupport says whether a cluster has share groups.
type ShareSupport uint8

const (
	// ShareUnknown means that the brokers could not be asked.
	ShareUnknown ShareSupport = iota
	// ShareOn means that share groups work.
	ShareOn
	// ShareOff means that the brokers know share groups and the feature share.version is at level 0.
	ShareOff
	// ShareTooOld means that the brokers do not know share groups (before Kafka 4.1).
	ShareTooOld
)

// Limit is something that cannot be seen because an API version is missing.
type Limit struct {
	// API is the request by its name in the protocol, such as DescribeShareGroupOffsets.
	API string
	// Max is the newest version that the brokers offer; -1 when they do not have it.
	Max int16
	// Text says what is missing because of it, and from which Kafka version on it is there.
	Text string
}

// TopicID is Kafka's topic id (KIP-516); the zero value is none.
type TopicID [16]byte

// Topic is a topic with its partitions.
type Topic struct {
	Name     string
	ID       TopicID
	Internal bool
	// Partitions are sorted by number. A partition may be missing where the broker left it out.
	Partitions []Partition
	Operations Operations
}

// Partition finds a partition of the topic by its number.
func (t *Topic) Partition(n int32) (*Partition, bool) {
	if int(n) < len(t.Partitions) && n >= 0 && t.Partitions[n].Number == n {
		return &t.Partitions[n], true
	}
	i := sort.Search(len(t.Partitions), func(i int) bool { return t.Partitions[i].Number >= n })
	if i < len(t.Partitions) && t.Partitions[i].Number == n {
		return &t.Partitions[i], true
	}
	return nil, false
}

// Partition is one partition of a topic.
type Partition struct {
	Number int32
	// Leader is the node id of the leader, -1 for none.
	Leader int32
	// Replicas and ISR are node ids; the preferred leader is the first replica.
	Replicas, ISR []int32
	// Start and End are the log start offset and the high watermark (ListOffsets), unknown where they
	// were not asked for or not answered.
	Start, End Int
	// At is when Start and End were read; zero for never. Older than the snapshot means stale.
	At time.Time
}

// Operations are the ACL operations that the user has on a resource: bit n is the operation with
// number n in the protocol (AclOperation). Unknown when the broker did not say.
type Operations = Opt[int32]

// Bits of [Operations], by Kafka's AclOperation numbers.
const (
	OpRead            int32 = 1 << 3
	OpWrite           int32 = 1 << 4
	OpDelete          int32 = 1 << 6
	OpDescribe        int32 = 1 << 8
	OpDescribeConfigs int32 = 1 << 10
	OpAlterConfigs    int32 = 1 << 11
)

// Allowed reports whether the operation op is allowed; what is unknown counts as allowed, since the
// broker decides in the end.
func Allowed(ops Operations, op int32) bool {
	bits, known := ops.Get()
	return !known || bits&op != 0
}

// ProblemScope is the kind of thing that a problem concerns.
type ProblemScope string

// The scopes of problems; they appear in the JSON output.
const (
	ScopeCluster ProblemScope = "cluster"
	ScopeBroker  ProblemScope = "broker"
	ScopeTopic   ProblemScope = "topic"
	ScopeGroup   ProblemScope = "group"
	// ScopeShare is for share groups as a whole: switched off, not known to the broker.
	ScopeShare ProblemScope = "share"
)

// The codes of problems that are facts about a cluster without share groups.
const (
	ProblemShareOff         = "share_version_0"   // switched off
	ProblemShareUnsupported = "share_unsupported" // the brokers do not know them
)

// LoginDenied reports whether the code of a problem says that a user name or a password was, or may have been, refused. Who
// tries that too often may be locked out.
func LoginDenied(code string) bool {
	switch code {
	case "wrong_password", "sasl_failed", "closed_in_sasl":
		return true
	}
	return false
}

// Problem is something that could not be read, in words.
type Problem struct {
	Scope ProblemScope
	// Name is the group, the topic or the broker's node id; empty for the cluster.
	Name string
	// Code is stable and for programs: an error name of the Kafka protocol such as
	// GROUP_AUTHORIZATION_FAILED, or one of flightdeck's own in lower case such as unreachable.
	Code string
	// Text is a sentence that says what happened, where, and what to do.
	Text string
}

// Standing reports whether p is a fact about the cluster, such as that it has no share groups, and not something that
// failed: it stays as long as nobody changes the cluster.
func (p *Problem) Standing() bool {
	return p.Code == ProblemShareOff || p.Code == ProblemShareUnsupported
}
