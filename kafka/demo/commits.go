package demo

import (
	"context"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// commitInterval is how often a member commits.
const commitInterval = time.Second

// position is how far a member of a consumer group is. kgo could commit by itself, but its commits wait for a join in
// flight on a mutex, and fake time can not pass while a goroutine waits on one.
type position struct {
	client   *kgo.Client
	group    string
	instance *string

	ids map[string][16]byte // of topics
	// next are the offsets to commit, of records polled in generation.
	next       map[polled]int64
	generation int32
	committed  time.Time
}

type polled struct {
	topic     string
	partition int32
}

func newPosition(cl *kgo.Client, group string, instance *string) *position {
	return &position{client: cl, group: group, instance: instance, ids: make(map[string][16]byte), next: make(map[polled]int64)}
}

// poll is PollFetches.
func (p *position) poll(ctx context.Context) kgo.Fetches {
	fetches := p.client.PollFetches(ctx)
	fetches.EachTopic(func(t kgo.FetchTopic) { p.ids[t.Topic] = t.TopicID })
	return fetches
}

// handled takes a record that is done with; those of a partition come in order.
func (p *position) handled(r *kgo.Record) {
	if _, generation := p.client.GroupMetadata(); generation != p.generation {
		// A partition may have another owner now, whose commits must not be set back.
		clear(p.next)
		p.generation = generation
	}
	p.next[polled{r.Topic, r.Partition}] = r.Offset + 1
}

// commit commits when it is time to. What a rebalance makes the broker refuse is polled again by whoever owns it then.
func (p *position) commit(ctx context.Context) {
	if len(p.next) == 0 || time.Since(p.committed) < commitInterval {
		return
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation, req.InstanceID = p.group, p.generation, p.instance
	req.MemberID, _ = p.client.GroupMetadata()
	for at, next := range p.next {
		t := kmsg.NewOffsetCommitRequestTopic()
		t.Topic, t.TopicID = at.topic, p.ids[at.topic]
		o := kmsg.NewOffsetCommitRequestTopicPartition()
		o.Partition, o.Offset = at.partition, next
		t.Partitions = append(t.Partitions, o)
		req.Topics = append(req.Topics, t)
	}
	if _, err := req.RequestWith(ctx, p.client); err == nil {
		clear(p.next)
		p.committed = time.Now()
	}
}
