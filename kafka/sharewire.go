package kafka

import (
	"cmp"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

const (
	// lastEpoch closes a share session (ShareFetch, ShareAcknowledge) and leaves a group (ShareGroupHeartbeat).
	lastEpoch = -1
	// fetchWait is how long a ShareFetch without records waits at the broker, in milliseconds. An acknowledgement behind it
	// on the connection waits as long.
	fetchWait = 250
	// fetchBytes bounds what a ShareFetch brings.
	fetchBytes = 1 << 20
	// keepBytes is how much of a value is kept while a record is held.
	keepBytes = 256 << 10
)

// shareFetch asks for records of the partitions, and takes those that are forgotten out of the session.
func (s *sessionState) shareFetch(epoch int32, partitions, forgotten []int32, count int) *kmsg.ShareFetchRequest {
	req := kmsg.NewPtrShareFetchRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &s.group, &s.member, epoch
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = fetchWait, 1, fetchBytes
	req.MaxRecords, req.BatchSize = int32(count), int32(count)
	req.ShareAcquireMode = 1 // exactly that many, from 4.2 on (KIP-1206)
	t := kmsg.NewShareFetchRequestTopic()
	t.TopicID = s.topicID
	for _, p := range partitions {
		rp := kmsg.NewShareFetchRequestTopicPartition()
		rp.Partition, rp.PartitionMaxBytes = p, fetchBytes
		t.Partitions = append(t.Partitions, rp)
	}
	req.Topics = append(req.Topics, t)
	if len(forgotten) > 0 {
		f := kmsg.NewShareFetchRequestForgottenTopicsData()
		f.TopicID, f.Partitions = s.topicID, forgotten
		req.ForgottenTopicsData = append(req.ForgottenTopicsData, f)
	}
	return req
}

// shareAcknowledge carries decisions to one leader; none is a sign of life.
func (s *sessionState) shareAcknowledge(epoch int32, verdicts []*verdict) *kmsg.ShareAcknowledgeRequest {
	req := kmsg.NewPtrShareAcknowledgeRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &s.group, &s.member, epoch
	if len(verdicts) == 0 {
		return req
	}
	// The protocol wants offsets in order.
	slices.SortFunc(verdicts, func(a, b *verdict) int {
		return cmp.Or(cmp.Compare(a.partition(), b.partition()), cmp.Compare(a.offset(), b.offset()))
	})
	t := kmsg.NewShareAcknowledgeRequestTopic()
	t.TopicID = s.topicID
	for _, v := range verdicts {
		req.IsRenewAck = req.IsRenewAck || v.decision == model.DecisionRenew
		if n := len(t.Partitions); n == 0 || t.Partitions[n-1].Partition != v.partition() {
			rp := kmsg.NewShareAcknowledgeRequestTopicPartition()
			rp.Partition = v.partition()
			t.Partitions = append(t.Partitions, rp)
		}
		rp := &t.Partitions[len(t.Partitions)-1]
		b := kmsg.NewShareAcknowledgeRequestTopicPartitionAcknowledgementBatch()
		b.FirstOffset, b.LastOffset, b.AcknowledgeTypes = v.offset(), v.offset(), []int8{int8(v.decision)}
		rp.AcknowledgementBatches = append(rp.AcknowledgementBatches, b)
	}
	req.Topics = append(req.Topics, t)
	return req
}

// acquired picks the records that were acquired out of the batches that hold them. What was acquired and
// is not in them, such as a control record, has no content.
func acquired(topic string, p *kmsg.ShareFetchResponseTopicPartition) []model.HeldRecord {
	if len(p.AcquiredRecords) == 0 {
		return nil
	}
	fetched, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Topic: topic, Partition: p.Partition, KeepControlRecords: true},
		&kmsg.FetchResponseTopicPartition{Partition: p.Partition, RecordBatches: p.Records}, kgo.DefaultDecompressor(), nil)
	byOffset := make(map[int64]*kgo.Record, len(fetched.Records))
	for _, r := range fetched.Records {
		byOffset[r.Offset] = r
	}
	var out []model.HeldRecord
	for _, a := range p.AcquiredRecords {
		for o := a.FirstOffset; o <= a.LastOffset; o++ {
			h := model.HeldRecord{Count: a.DeliveryCount}
			h.Topic, h.Partition, h.Offset = topic, p.Partition, o
			h.Status, h.KeySize, h.ValueSize = model.RecordMissing, -1, -1
			if r := byOffset[o]; r != nil {
				h.Status = model.RecordFound
				if r.Attrs.IsControl() {
					h.Status = model.RecordControl
				}
				fill(&h.RecordContent, r, keepBytes)
			}
			out = append(out, h)
		}
	}
	return out
}
