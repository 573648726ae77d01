package kafka

import (
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// FuzzOffsetFetchResponse holds our decoder of OffsetFetch against kmsg's, whatever a broker sends.
func FuzzOffsetFetchResponse(f *testing.F) {
	r := kmsg.NewPtrOffsetFetchResponse()
	r.Version = 8
	f.Add(r.AppendTo(nil))
	for _, id := range []string{"a", "b"} {
		g := kmsg.NewOffsetFetchResponseGroup()
		g.Group = id
		for _, topic := range []string{"orders", "payments"} {
			t := kmsg.NewOffsetFetchResponseGroupTopic()
			t.Topic = topic
			for n := range int32(3) {
				p := kmsg.NewOffsetFetchResponseGroupTopicPartition()
				p.Partition, p.Offset = 2-n, int64(n)-1
				if n > 0 {
					p.Metadata = kmsg.StringPtr("kept by the client"[:9*n])
				}
				t.Partitions = append(t.Partitions, p)
			}
			g.Topics = append(g.Topics, t)
		}
		r.Groups = append(r.Groups, g)
	}
	r.Groups[1].ErrorCode = 30
	f.Add(r.AppendTo(nil))
	f.Fuzz(func(t *testing.T, src []byte) {
		theirs := kmsg.NewPtrOffsetFetchResponse()
		theirs.Version = 8
		ours := offsetFetch{kmsg.NewPtrOffsetFetchRequest()}.ResponseKind().(*offsetFetchResponse)
		ours.Version = 8
		theirErr, ourErr := theirs.ReadFrom(src), ours.ReadFrom(src)
		if (theirErr == nil) != (ourErr == nil) {
			t.Fatalf("kmsg says %v, we say %v", theirErr, ourErr)
		}
		if ourErr != nil {
			return
		}
		if len(ours.groups) != len(theirs.Groups) {
			t.Fatalf("%d groups of %d", len(ours.groups), len(theirs.Groups))
		}
		for i, g := range theirs.Groups {
			o := ours.groups[i]
			if o.id != g.Group || o.code != g.ErrorCode || len(o.topics) != len(g.Topics) {
				t.Fatalf("group %+v, not %+v", o, g)
			}
			var theirRows []topicOffsets
			for _, topic := range g.Topics {
				rows := make([]committedOffset, 0, len(topic.Partitions))
				for _, p := range topic.Partitions {
					rows = append(rows, committedOffset{p.Partition, p.Offset})
				}
				theirRows = append(theirRows, topicOffsets{topic.Topic, rows})
			}
			count := func(topics []topicOffsets) map[string]map[committedOffset]int {
				out := map[string]map[committedOffset]int{}
				for _, topic := range topics {
					if out[topic.topic] == nil {
						out[topic.topic] = map[committedOffset]int{}
					}
					for _, row := range topic.rows {
						out[topic.topic][row]++
					}
				}
				return out
			}
			a, b := count(o.topics), count(theirRows)
			if len(a) != len(b) {
				t.Fatalf("topics %v, not %v", a, b)
			}
			for topic, rows := range b {
				for row, n := range rows {
					if a[topic][row] != n {
						t.Fatalf("%s %+v: %d times, not %d", topic, row, a[topic][row], n)
					}
				}
			}
		}
	})
}
