package kafka

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// protocolConsumer is the protocol type of classic groups of consumers; others, such as "connect", share
// the protocol and assign something else than partitions.
const protocolConsumer = "consumer"

// members turns the description of a group into members, sorted. malformed counts those whose
// bytes could not be read: they are written by clients and stored as they are.
func (p *poll) members(e *entry) (out []model.Member, malformed int) {
	switch {
	case e.classic != nil:
		out = make([]model.Member, len(e.classic.Members))
		for i := range e.classic.Members {
			if !p.classicMember(&out[i], &e.classic.Members[i], e.classic.ProtocolType) {
				malformed++
			}
		}
	case e.consumer != nil:
		out = make([]model.Member, len(e.consumer.Members))
		for i := range e.consumer.Members {
			m := &e.consumer.Members[i]
			out[i] = model.Member{
				ID: m.MemberID, ClientID: m.ClientID, Host: clientHost(m.ClientHost),
				InstanceID: deref(m.InstanceID), Rack: deref(m.RackID),
				Assignment: p.assignment(m.Assignment.TopicPartitions),
				Target:     p.assignment(m.TargetAssignment.TopicPartitions),
				Epoch:      model.Some(m.MemberEpoch),
				Subscribed: p.subscription(m.SubscribedTopics),
			}
		}
	case e.share != nil:
		out = make([]model.Member, len(e.share.Members))
		for i := range e.share.Members {
			m := &e.share.Members[i]
			out[i] = model.Member{
				ID: m.MemberID, ClientID: m.ClientID, Host: clientHost(m.ClientHost), Rack: deref(m.RackID),
				Epoch:      model.Some(m.MemberEpoch),
				Subscribed: p.subscription(m.SubscribedTopicNames),
			}
			assigned := make([]model.TopicPartitions, 0, len(m.Assignment.TopicPartitions))
			for _, t := range m.Assignment.TopicPartitions {
				assigned = p.assign(assigned, p.topics.name(t.Topic, t.TopicID), t.Partitions)
			}
			out[i].Assignment = ordered(assigned)
		}
	}
	slices.SortFunc(out, func(a, b model.Member) int {
		return cmp.Or(strings.Compare(a.ClientID, b.ClientID), strings.Compare(a.Host, b.Host), strings.Compare(a.ID, b.ID))
	})
	return out, malformed
}

// classicMember decodes what the members of a classic group told each other. It reports whether the bytes
// could be read; without bytes, as during a rebalance, there is nothing to read.
func (p *poll) classicMember(out *model.Member, m *kmsg.DescribeGroupsResponseGroupMember, protocolType string) bool {
	*out = model.Member{ID: m.MemberID, ClientID: m.ClientID, Host: clientHost(m.ClientHost), InstanceID: deref(m.InstanceID)}
	if protocolType != protocolConsumer {
		return true
	}
	ok := true
	if len(m.MemberAssignment) > 0 {
		var a kmsg.ConsumerMemberAssignment
		if err := a.ReadFrom(m.MemberAssignment); err != nil {
			ok = false
		} else {
			assigned := make([]model.TopicPartitions, 0, len(a.Topics))
			for _, t := range a.Topics {
				assigned = p.assign(assigned, t.Topic, t.Partitions)
			}
			out.Assignment = ordered(assigned)
		}
	}
	if len(m.ProtocolMetadata) > 0 {
		var meta kmsg.ConsumerMemberMetadata
		if err := meta.ReadFrom(m.ProtocolMetadata); err != nil {
			ok = false
		} else {
			out.Subscribed, out.Rack = p.subscription(meta.Topics), deref(meta.Rack)
		}
	}
	return ok
}

func (p *poll) assignment(topics []kmsg.AssignmentTopicPartition) []model.TopicPartitions {
	out := make([]model.TopicPartitions, 0, len(topics))
	for _, t := range topics {
		out = p.assign(out, p.topics.name(t.Topic, t.TopicID), t.Partitions)
	}
	return ordered(out)
}

// assign adds the partitions of a topic. A topic without a name was deleted, and its id says nothing to
// anybody.
func (p *poll) assign(to []model.TopicPartitions, topic string, partitions []int32) []model.TopicPartitions {
	if topic == "" || len(partitions) == 0 {
		return to
	}
	slices.Sort(partitions)
	return append(to, model.TopicPartitions{Topic: p.intern(topic), Partitions: partitions})
}

func ordered(a []model.TopicPartitions) []model.TopicPartitions {
	slices.SortFunc(a, func(x, y model.TopicPartitions) int { return strings.Compare(x.Topic, y.Topic) })
	return a
}

func (p *poll) subscription(topics []string) []string {
	for i := range topics {
		topics[i] = p.intern(topics[i])
	}
	slices.Sort(topics)
	return topics
}

// intern returns the string of the topic table, so that names are in memory once.
func (p *poll) intern(topic string) string {
	if t := p.topics.find(topic); t != nil {
		return t.Name
	}
	return topic
}

func clientHost(s string) string { return strings.TrimPrefix(s, "/") }

func sameMembers(a, b []model.Member) bool {
	sameAssignment := func(x, y model.TopicPartitions) bool {
		return x.Topic == y.Topic && slices.Equal(x.Partitions, y.Partitions)
	}
	return slices.EqualFunc(a, b, func(x, y model.Member) bool {
		return x.ID == y.ID && x.ClientID == y.ClientID && x.Host == y.Host && x.InstanceID == y.InstanceID &&
			x.Rack == y.Rack && x.Epoch == y.Epoch && slices.Equal(x.Subscribed, y.Subscribed) &&
			slices.EqualFunc(x.Assignment, y.Assignment, sameAssignment) &&
			slices.EqualFunc(x.Target, y.Target, sameAssignment) && (x.Target == nil) == (y.Target == nil)
	})
}

func malformedProblem(id string, n int) model.Problem {
	return model.Problem{
		Scope: model.ScopeGroup, Name: id, Code: "malformed_member",
		Text: fmt.Sprintf("%s of group %s wrote an assignment or subscription that is not in Kafka's format, so what they own is not shown.", plural(n, "member"), id),
	}
}
