package kafka

import (
	"cmp"
	"slices"
	"strings"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// topicOffsets are committed offsets of a group on one topic, by partition number.
type topicOffsets struct {
	topic string
	rows  []committedOffset
}

// committedOffset is the offset that a group committed on a partition, -1 for none.
type committedOffset struct {
	partition int32
	offset    int64
}

// fetchOffsets reads all committed offsets of groups (OffsetFetch v8 and later). Failures of the broker
// are left to the lane.
func (p *poll) fetchOffsets(l *lane, entries []*entry) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Groups = make([]kmsg.OffsetFetchRequestGroup, len(entries))
	byName := make(map[string]*entry, len(entries))
	for i, e := range entries {
		req.Groups[i] = kmsg.NewOffsetFetchRequestGroup()
		req.Groups[i].Group = e.id // Topics nil: all
		byName[e.id] = e
	}
	resp, err := l.ask(offsetFetch{req})
	if err != nil {
		return
	}
	for _, g := range resp.(*offsetFetchResponse).groups {
		if e := byName[g.id]; e != nil {
			e.offsetCode, e.hasOffsets, e.offsets = g.code, g.code == 0, g.topics
		}
	}
}

// fetchOffsetsOld reads the committed offsets of one group from a broker before Kafka 3.0.
func (p *poll) fetchOffsetsOld(l *lane, e *entry) {
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = e.id
	resp, err := l.ask(req)
	if err != nil {
		return
	}
	answer := resp.(*kmsg.OffsetFetchResponse)
	e.offsetCode = answer.ErrorCode
	e.offsets = make([]topicOffsets, len(answer.Topics))
	for i, t := range answer.Topics {
		rows := make([]committedOffset, len(t.Partitions))
		for j, part := range t.Partitions {
			rows[j] = committedOffset{part.Partition, part.Offset}
			if moved(part.ErrorCode) || part.ErrorCode == kerr.GroupAuthorizationFailed.Code {
				e.offsetCode = part.ErrorCode // before version 2 there was no place for it in the answer
			}
		}
		e.offsets[i] = topicOffsets{t.Topic, rows}
	}
	sortOffsets(e.offsets)
	e.hasOffsets = e.offsetCode == 0
}

// sortOffsets sorts by topic and number, while other answers are still on their way.
func sortOffsets(topics []topicOffsets) {
	slices.SortFunc(topics, func(a, b topicOffsets) int { return strings.Compare(a.topic, b.topic) })
	for _, t := range topics {
		slices.SortFunc(t.rows, func(a, b committedOffset) int { return cmp.Compare(a.partition, b.partition) })
	}
}

// offsetFetch is OffsetFetch of versions 8 and 9, for many groups. From version 10 on answers name topics
// by id alone, and so say nothing about topics that were deleted.
type offsetFetch struct{ *kmsg.OffsetFetchRequest }

// MaxVersion limits what the client agrees on with the broker.
func (offsetFetch) MaxVersion() int16 { return 9 }

// ResponseKind is the response to decode into.
func (r offsetFetch) ResponseKind() kmsg.Response {
	return &offsetFetchResponse{OffsetFetchResponse: r.OffsetFetchRequest.ResponseKind().(*kmsg.OffsetFetchResponse)}
}

// offsetFetchResponse is the response to [offsetFetch]. Most of what a poll reads are committed offsets, and
// decoding them into what we keep of them takes a quarter of the memory that kmsg's types take.
type offsetFetchResponse struct {
	*kmsg.OffsetFetchResponse // without its groups
	groups                    []groupOffsets
}

type groupOffsets struct {
	id     string
	code   int16
	topics []topicOffsets
}

// ReadFrom decodes version 8 or 9, which are the same.
func (r *offsetFetchResponse) ReadFrom(src []byte) error {
	b := kbin.Reader{Src: src}
	r.ThrottleMillis = b.Int32()
	r.groups = make([]groupOffsets, max(0, b.CompactArrayLen()))
	var name string // groups read the same topics, so each name is kept once
	for i := range r.groups {
		g := &r.groups[i]
		g.id = b.CompactString()
		g.topics = make([]topicOffsets, max(0, b.CompactArrayLen()))
		for j := range g.topics {
			if raw := b.Span(int(b.Uvarint()) - 1); string(raw) != name {
				name = string(raw)
			}
			g.topics[j] = topicOffsets{name, readCommitted(&b)}
			kmsg.SkipTags(&b)
		}
		g.code = b.Int16()
		kmsg.SkipTags(&b)
		if !b.Ok() {
			return b.Complete()
		}
		sortOffsets(g.topics)
	}
	kmsg.SkipTags(&b)
	return b.Complete()
}

// readCommitted reads the partitions of one topic.
func readCommitted(b *kbin.Reader) []committedOffset {
	const least = 4 + 8 + 4 + 1 + 2 + 1 // bytes of a partition with empty metadata
	n := int(b.CompactArrayLen())
	rows := make([]committedOffset, 0, max(0, min(n, len(b.Src)/least)))
	for range n {
		row := committedOffset{b.Int32(), b.Int64()}
		b.Int32() // leader epoch
		if metadata := int(b.Uvarint()) - 1; metadata > 0 {
			b.Span(metadata)
		}
		b.Int16() // error code; only for partitions asked for by name
		kmsg.SkipTags(b)
		if !b.Ok() {
			break
		}
		rows = append(rows, row)
	}
	return rows
}
