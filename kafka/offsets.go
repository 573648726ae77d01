package kafka

import (
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// offsetFetch is OffsetFetch up to version 9. From version 10 on answers name topics by id alone, and
// so say nothing about topics that were deleted.
type offsetFetch struct{ *kmsg.OffsetFetchRequest }

// MaxVersion limits what the client agrees on with the broker.
func (offsetFetch) MaxVersion() int16 { return 9 }

// fetchOffsets reads all committed offsets of groups (OffsetFetch v8 and later). Failures of the broker
// are left to the lane.
func (p *poll) fetchOffsets(l *lane, entries []*entry) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Groups = make([]kmsg.OffsetFetchRequestGroup, len(entries))
	byName := make(map[string]*entry, len(entries))
	for i, e := range entries {
		req.Groups[i] = kmsg.NewOffsetFetchRequestGroup()
		req.Groups[i].Group = e.id
		byName[e.id] = e
	}
	resp, err := l.ask(offsetFetch{req})
	if err != nil {
		return
	}
	groups := resp.(*kmsg.OffsetFetchResponse).Groups
	for i := range groups {
		if e := byName[groups[i].Group]; e != nil {
			e.offsetCode = groups[i].ErrorCode
			e.hasOffsets = e.offsetCode == 0
			e.offsets = groups[i].Topics
			sortOffsets(e.offsets)
		}
	}
}

// fetchOffsetsOld reads the committed offsets of one group from a broker before Kafka 3.0.
func (p *poll) fetchOffsetsOld(l *lane, e *entry) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = e.id
	resp, err := l.ask(offsetFetch{req})
	if err != nil {
		return
	}
	answer := resp.(*kmsg.OffsetFetchResponse)
	e.offsetCode = answer.ErrorCode
	e.offsets = make([]kmsg.OffsetFetchResponseGroupTopic, len(answer.Topics))
	for i, t := range answer.Topics {
		topic := kmsg.NewOffsetFetchResponseGroupTopic()
		topic.Topic = t.Topic
		topic.Partitions = make([]kmsg.OffsetFetchResponseGroupTopicPartition, len(t.Partitions))
		for j, from := range t.Partitions {
			to := &topic.Partitions[j]
			to.Partition, to.Offset, to.ErrorCode = from.Partition, from.Offset, from.ErrorCode
			if moved(from.ErrorCode) || from.ErrorCode == kerr.GroupAuthorizationFailed.Code {
				e.offsetCode = from.ErrorCode // before version 2 there was no place for it in the answer
			}
		}
		e.offsets[i] = topic
	}
	e.hasOffsets = e.offsetCode == 0
	sortOffsets(e.offsets)
}

// sortOffsets sorts by topic and number, while other answers are still on their way.
func sortOffsets(topics []kmsg.OffsetFetchResponseGroupTopic) {
	byNumber := func(a, b kmsg.OffsetFetchResponseGroupTopicPartition) int { return int(a.Partition) - int(b.Partition) }
	slices.SortFunc(topics, func(a, b kmsg.OffsetFetchResponseGroupTopic) int { return strings.Compare(a.Topic, b.Topic) })
	for i := range topics {
		if !slices.IsSortedFunc(topics[i].Partitions, byNumber) {
			slices.SortFunc(topics[i].Partitions, byNumber)
		}
	}
}
