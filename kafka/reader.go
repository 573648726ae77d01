package kafka

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// Reader reads single things on demand: the record at an offset, the settings of a group. It is safe for
// concurrent use.
type Reader struct {
	conn *Connection

	mu      sync.Mutex
	client  *kgo.Client
	leaders map[topicPartition]partitionLeader
}

type topicPartition struct {
	topic     string
	partition int32
}

// partitionLeader is where a partition is to be read.
type partitionLeader struct {
	node    int32
	topicID model.TopicID
}

// maxRecordRead is the largest batch that is read for a single record. Brokers take batches of 1 MiB by
// default (message.max.bytes).
const maxRecordRead = 32 << 20

// NewReader prepares a reader; it does not dial. The caller closes it.
func NewReader(c *Connection) *Reader {
	return &Reader{conn: c, leaders: make(map[topicPartition]partitionLeader)}
}

// Close closes the reader's client. What is being read fails.
func (r *Reader) Close() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client != nil {
		r.client.Close()
	}
}

func (r *Reader) open() (*kgo.Client, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.client == nil {
		client, err := r.conn.client(jobPoll, kgo.BrokerMaxReadBytes(maxRecordRead), kgo.FetchMaxBytes(maxRecordRead))
		if err != nil {
			return nil, err
		}
		r.client = client
	}
	return r.client, nil
}

// Record reads what a log holds at an offset, straight from the partition's leader and without a group. Key, value and
// each header are cut at limit bytes, and at most 100 headers are kept. What is not a record is an answer
// and no error: see [model.RecordStatus].
func (r *Reader) Record(ctx context.Context, topic string, partition int32, offset int64, limit int) (model.RecordContent, error) {
	found := model.RecordContent{Topic: topic, Partition: partition, Offset: offset, KeySize: -1, ValueSize: -1}
	client, err := r.open()
	if err != nil {
		return found, err
	}
	at := topicPartition{topic, partition}
	p, err := r.fetch(ctx, client, at, offset, uncommitted)
	if errors.Is(err, kerr.OffsetOutOfRange) {
		found.Status, err = r.outside(ctx, client, at, offset)
		return found, err
	}
	if err != nil {
		return found, err
	}
	rec, past := p.record(offset)
	switch {
	case rec == nil && !past && offset >= p.HighWatermark:
		found.Status = model.RecordBeyondEnd
		return found, nil
	case rec == nil:
		found.Status = model.RecordMissing
		return found, nil
	case rec.Attrs.IsControl():
		found.Status, found.Time = model.RecordControl, rec.Timestamp
		return found, nil
	case rec.Attrs.IsTransactional() && offset >= p.LastStableOffset:
		found.Status = model.RecordOpen
	case rec.Attrs.IsTransactional():
		// Only a reader of committed records is told what was aborted.
		c, err := r.fetch(ctx, client, at, offset, committed)
		if err != nil {
			return found, err
		}
		if ok, _ := c.record(offset); ok == nil {
			found.Status = model.RecordAborted
		}
	}
	fill(&found, rec, limit)
	return found, nil
}

// Isolation levels of a fetch.
const (
	uncommitted int8 = 0
	committed   int8 = 1
)

// fetched is what a fetch at one offset brought.
type fetched struct {
	kgo.FetchPartition
	any bool // there were batches at all
}

// record is the record at an offset. past is true when the log goes on behind it.
func (f *fetched) record(offset int64) (r *kgo.Record, past bool) {
	for _, r := range f.Records {
		if r.Offset == offset {
			return r, true
		}
	}
	return nil, f.any
}

// fetch reads the batch that holds an offset. A leader that moved is looked up again once.
func (r *Reader) fetch(ctx context.Context, client *kgo.Client, at topicPartition, offset int64, isolation int8) (*fetched, error) {
	to, err := r.leader(ctx, client, at, false)
	if err != nil {
		return nil, err
	}
	f, err := fetchOnce(ctx, client, to, at, offset, isolation)
	if err == nil || !kerr.IsRetriable(err) && !isDialError(err) {
		return f, err
	}
	if to, err = r.leader(ctx, client, at, true); err != nil {
		return nil, err
	}
	return fetchOnce(ctx, client, to, at, offset, isolation)
}

func fetchOnce(ctx context.Context, client *kgo.Client, to partitionLeader, at topicPartition, offset int64, isolation int8) (*fetched, error) {
	req := kmsg.NewPtrFetchRequest()
	req.MaxWaitMillis, req.MinBytes = 0, 0
	req.MaxBytes = 1 // a broker answers with at least one batch
	req.IsolationLevel = isolation
	rt := kmsg.NewFetchRequestTopic()
	rt.Topic, rt.TopicID = at.topic, to.topicID
	rp := kmsg.NewFetchRequestTopicPartition()
	rp.Partition, rp.FetchOffset, rp.PartitionMaxBytes, rp.CurrentLeaderEpoch = at.partition, offset, 1, -1
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	kresp, err := client.Broker(int(to.node)).Request(ctx, req)
	if err != nil {
		return nil, err
	}
	resp := kresp.(*kmsg.FetchResponse)
	if err := answered(kmsg.Fetch, at.topic, resp.ErrorCode, nil); err != nil {
		return nil, err
	}
	if len(resp.Topics) != 1 || len(resp.Topics[0].Partitions) != 1 {
		return nil, fmt.Errorf("fetch of %s/%d: the broker answered for other partitions", at.topic, at.partition)
	}
	p := &resp.Topics[0].Partitions[0]
	if err := answered(kmsg.Fetch, at.topic, p.ErrorCode, nil); err != nil {
		return nil, err
	}
	opts := kgo.ProcessFetchPartitionOpts{Topic: at.topic, Partition: at.partition, Offset: offset, KeepControlRecords: true}
	if isolation == committed {
		opts.IsolationLevel = kgo.ReadCommitted()
	}
	f := &fetched{any: len(p.RecordBatches) > 0}
	f.FetchPartition, _ = kgo.ProcessFetchPartition(opts, p, kgo.DefaultDecompressor(), nil)
	return f, f.Err
}

// leader finds the leader of a partition, and asks for it when it is not known or wrong.
func (r *Reader) leader(ctx context.Context, client *kgo.Client, at topicPartition, wrong bool) (partitionLeader, error) {
	r.mu.Lock()
	l, ok := r.leaders[at]
	r.mu.Unlock()
	if ok && !wrong {
		return l, nil
	}
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &at.topic
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return partitionLeader{}, err
	}
	for _, t := range resp.Topics {
		if err := answered(kmsg.Metadata, at.topic, t.ErrorCode, nil); err != nil {
			return partitionLeader{}, err
		}
		for _, p := range t.Partitions {
			if p.Partition != at.partition {
				continue
			}
			if p.Leader < 0 {
				return partitionLeader{}, answered(kmsg.Metadata, at.topic, kerr.LeaderNotAvailable.Code, nil)
			}
			l = partitionLeader{node: p.Leader, topicID: t.TopicID}
			r.mu.Lock()
			r.leaders[at] = l
			r.mu.Unlock()
			return l, nil
		}
	}
	return partitionLeader{}, answered(kmsg.Metadata, at.topic, kerr.UnknownTopicOrPartition.Code, nil)
}

// outside says on which side of the log an offset lies.
func (r *Reader) outside(ctx context.Context, client *kgo.Client, at topicPartition, offset int64) (model.RecordStatus, error) {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = at.topic
	rp := kmsg.NewListOffsetsRequestTopicPartition()
	rp.Partition, rp.Timestamp = at.partition, -2
	rt.Partitions = append(rt.Partitions, rp)
	req.Topics = append(req.Topics, rt)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := answered(kmsg.ListOffsets, at.topic, p.ErrorCode, nil); err != nil {
				return 0, err
			}
			if offset < p.Offset {
				return model.RecordBelowStart, nil
			}
		}
	}
	return model.RecordBeyondEnd, nil
}

const maxHeaders = 100

// fill copies the content of a record, cut at limit.
func fill(found *model.RecordContent, r *kgo.Record, limit int) {
	found.Time, found.LogAppend = r.Timestamp, r.Attrs.TimestampType() == 1
	found.Key, found.KeySize = cut(r.Key, limit)
	found.Value, found.ValueSize = cut(r.Value, limit)
	for i, h := range r.Headers {
		if i == maxHeaders {
			found.HeadersLeft = len(r.Headers) - maxHeaders
			break
		}
		value, size := cut(h.Value, limit)
		found.Headers = append(found.Headers, model.RecordHeader{Key: h.Key, Value: value, Size: size})
	}
}

// cut copies at most limit bytes, so that the batch they came in can be freed. size is the whole length, -1
// for none.
func cut(b []byte, limit int) (head []byte, size int) {
	if b == nil {
		return nil, -1
	}
	return append([]byte{}, b[:min(len(b), limit)]...), len(b)
}
