package kafka

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

const (
	// lastPartitions is how many partitions are looked at for the last record of a topic.
	lastPartitions = 32
	// lastBack is how far back from the log end a record is looked for: transaction markers and compaction leave
	// offsets without one.
	lastBack = 5
)

// Last reads the newest record of a topic, by timestamp, of those at the log ends of its first partitions. Key, value and headers
// are cut as in [Reader.Record]. ok is false when there is none.
func (r *Reader) Last(ctx context.Context, topic string, limit int) (newest model.RecordContent, ok bool, err error) {
	client, err := r.open()
	if err != nil {
		return newest, false, err
	}
	ends, err := logEnds(ctx, client, topic)
	if err != nil {
		return newest, false, err
	}
	numbers := make([]int32, 0, len(ends))
	for p, end := range ends {
		if end > 0 {
			numbers = append(numbers, p)
		}
	}
	slices.Sort(numbers)
	for _, p := range numbers[:min(len(numbers), lastPartitions)] {
		for offset := ends[p] - 1; offset >= 0 && offset >= ends[p]-lastBack; offset-- {
			found, err := r.Record(ctx, topic, p, offset, limit)
			if err != nil {
				return newest, false, err
			}
			if found.Status == model.RecordBelowStart {
				break
			}
			if found.Status == model.RecordFound {
				if !ok || found.Time.After(newest.Time) {
					newest, ok = found, true
				}
				break
			}
		}
	}
	return newest, ok, nil
}

// logEnds asks for the log ends of all partitions of a topic.
func logEnds(ctx context.Context, client *kgo.Client, topic string) (map[int32]int64, error) {
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &topic
	req.Topics = append(req.Topics, t)
	meta, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	list := kmsg.NewPtrListOffsetsRequest()
	list.ReplicaID = -1
	lt := kmsg.NewListOffsetsRequestTopic()
	lt.Topic = topic
	for _, found := range meta.Topics {
		if err := answered(kmsg.ListOffsets, topic, found.ErrorCode, nil); err != nil {
			return nil, err
		}
		for _, p := range found.Partitions {
			lp := kmsg.NewListOffsetsRequestTopicPartition()
			lp.Partition, lp.Timestamp = p.Partition, latestOffset
			lt.Partitions = append(lt.Partitions, lp)
		}
	}
	list.Topics = append(list.Topics, lt)
	ends := make(map[int32]int64)
	var failed error
	for _, shard := range client.RequestSharded(ctx, list) {
		resp, isList := shard.Resp.(*kmsg.ListOffsetsResponse)
		if shard.Err != nil || !isList {
			failed = shard.Err
			continue
		}
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 {
					ends[p.Partition] = p.Offset
				}
			}
		}
	}
	if len(ends) == 0 {
		return nil, failed
	}
	return ends, nil
}
