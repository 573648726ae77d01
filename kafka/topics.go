package kafka

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// topicTable holds the topics of a poll, and which of their offsets it wants.
type topicTable struct {
	list   []topicState // sorted by name
	byName map[string]int
	byID   map[model.TopicID]int
}

// topicState is a topic during a poll. Its partitions may be shared with the last snapshot until own is set.
type topicState struct {
	model.Topic
	own bool
	// wanted are the partitions whose offsets this poll reads, by index; nil for none.
	wanted []bool
}

// find returns the topic with that name, or nil.
func (t *topicTable) find(name string) *topicState {
	if i, ok := t.byName[name]; ok {
		return &t.list[i]
	}
	return nil
}

// name returns a topic's name by its id where the brokers left the name out; empty when it is not
// known.
func (t *topicTable) name(topic string, id model.TopicID) string {
	if topic != "" {
		return topic
	}
	if i, ok := t.byID[id]; ok {
		return t.list[i].Name
	}
	return ""
}

// want asks for the offsets of a partition.
func (t *topicState) want(partition int32) {
	if i := t.index(partition); i >= 0 {
		if t.wanted == nil {
			t.wanted = make([]bool, len(t.Partitions))
		}
		t.wanted[i] = true
	}
}

// index finds a partition in Partitions, -1 when it is not there.
func (t *topicState) index(partition int32) int {
	if n := int(partition); n >= 0 && n < len(t.Partitions) && t.Partitions[n].Number == partition {
		return n
	}
	i, ok := slices.BinarySearchFunc(t.Partitions, partition, func(p model.Partition, n int32) int {
		return int(p.Number) - int(n)
	})
	if !ok {
		return -1
	}
	return i
}

// detach makes the partitions the poll's own, so that they can be written to.
func (t *topicState) detach() {
	if !t.own {
		t.own, t.Partitions = true, slices.Clone(t.Partitions)
	}
}

// snapshot returns the topics for publication.
func (t *topicTable) snapshot() []model.Topic {
	out := make([]model.Topic, len(t.list))
	for i := range t.list {
		out[i] = t.list[i].Topic
	}
	return out
}

// newTopicTable makes a table from a Metadata response, taking over from last what did not change, offsets
// included. A topic that was recreated (it has another id) starts afresh. last may be nil.
func newTopicTable(resp *kmsg.MetadataResponse, last *topicTable) *topicTable {
	slices.SortFunc(resp.Topics, func(a, b kmsg.MetadataResponseTopic) int {
		return strings.Compare(deref(a.Topic), deref(b.Topic))
	})
	t := &topicTable{list: make([]topicState, 0, len(resp.Topics))}
	same := last != nil
	for i := range resp.Topics {
		answer := &resp.Topics[i]
		if answer.Topic == nil || answer.ErrorCode != 0 && len(answer.Partitions) == 0 {
			continue // asked for all topics, brokers leave out the ones that one may not see
		}
		var before *model.Topic
		if last != nil {
			if s := last.find(*answer.Topic); s != nil && s.ID == answer.TopicID {
				before = &s.Topic
			}
		}
		n := len(t.list)
		same = same && before != nil && n < len(last.list) && last.list[n].Name == before.Name
		t.list = append(t.list, topicState{Topic: topicOf(answer, before)})
	}
	if same && len(t.list) == len(last.list) {
		t.byName, t.byID = last.byName, last.byID
		return t
	}
	t.byName = make(map[string]int, len(t.list))
	t.byID = make(map[model.TopicID]int, len(t.list))
	for i := range t.list {
		t.byName[t.list[i].Name] = i
		if id := t.list[i].ID; id != (model.TopicID{}) {
			t.byID[id] = i
		}
	}
	return t
}

// again returns a table with the same topics for another poll; nil for nil.
func (t *topicTable) again() *topicTable {
	if t == nil {
		return nil
	}
	next := &topicTable{list: make([]topicState, len(t.list)), byName: t.byName, byID: t.byID}
	for i := range t.list {
		next.list[i].Topic = t.list[i].Topic
	}
	return next
}

// topicOf turns an answer into a topic, which keeps the offsets of before, and all of its
// partitions when nothing else changed.
func topicOf(answer *kmsg.MetadataResponseTopic, before *model.Topic) model.Topic {
	topic := model.Topic{
		Name:       *answer.Topic,
		ID:         answer.TopicID,
		Internal:   answer.IsInternal,
		Operations: operations(answer.AuthorizedOperations),
	}
	slices.SortFunc(answer.Partitions, func(a, b kmsg.MetadataResponseTopicPartition) int {
		return int(a.Partition) - int(b.Partition)
	})
	if before != nil {
		topic.Name = before.Name
		if slices.EqualFunc(before.Partitions, answer.Partitions, samePartition) {
			topic.Partitions = before.Partitions
			return topic
		}
	}
	topic.Partitions = make([]model.Partition, len(answer.Partitions))
	for i := range answer.Partitions {
		a := &answer.Partitions[i]
		p := model.Partition{Number: a.Partition, Leader: a.Leader, Replicas: a.Replicas, ISR: a.ISR}
		if before != nil {
			if old, ok := before.Partition(a.Partition); ok {
				p.Start, p.End, p.At = old.Start, old.End, old.At
			}
		}
		topic.Partitions[i] = p
	}
	return topic
}

func samePartition(p model.Partition, a kmsg.MetadataResponseTopicPartition) bool {
	return p.Number == a.Partition && p.Leader == a.Leader &&
		slices.Equal(p.Replicas, a.Replicas) && slices.Equal(p.ISR, a.ISR)
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// absence says why a topic that groups refer to is not in the metadata.
type absence struct {
	hidden  bool // the user may not see it
	deleted bool // it does not exist
	at      time.Time
}

// lookUp asks by name about topics that groups refer to and that the answer for all topics did not
// have. Answers hold for slowFactsAge.
func (p *poll) lookUp(ctx context.Context, names map[string]bool) {
	known := p.s.absent
	for name, a := range known {
		if p.began.Sub(a.at) > slowFactsAge || p.topics.find(name) != nil {
			delete(known, name)
		}
	}
	var ask []kmsg.MetadataRequestTopic
	for name := range names {
		if _, ok := known[name]; !ok {
			t := kmsg.NewMetadataRequestTopic()
			t.Topic = kmsg.StringPtr(name)
			ask = append(ask, t)
		}
	}
	if len(ask) == 0 {
		return
	}
	resp, err := p.askAny(ctx, func() kmsg.Request {
		req := kmsg.NewPtrMetadataRequest() // does not create topics
		req.Topics = ask
		return req
	})
	if err != nil {
		return // they stay unknown, and the broker's own problem is told elsewhere
	}
	for _, t := range resp.(*kmsg.MetadataResponse).Topics {
		a := absence{at: p.began}
		switch t.ErrorCode {
		case kerr.TopicAuthorizationFailed.Code:
			a.hidden = true // also the answer for a topic that does not exist
		case kerr.UnknownTopicOrPartition.Code:
			a.deleted = true
		default:
			continue // created a moment ago
		}
		known[deref(t.Topic)] = a
	}
}
