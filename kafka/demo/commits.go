package demo

import (
	"context"
	"sync"
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

	ids       map[string][16]byte // of topics
	next      map[polled]int64    // to commit
	committed time.Time

	mu    sync.Mutex
	owned map[polled]bool
}

type polled struct {
	topic     string
	partition int32
}

func newPosition(group string, instance *string) *position {
	return &position{
		group: group, instance: instance,
		ids: make(map[string][16]byte), next: make(map[polled]int64), owned: make(map[polled]bool),
	}
}

// options make a client tell which partitions the member owns. What it does not own is not committed: that would set
// back the commits of the owner.
func (p *position) options() []kgo.Opt {
	own := func(yes bool) func(context.Context, *kgo.Client, map[string][]int32) {
		return func(_ context.Context, _ *kgo.Client, moved map[string][]int32) {
			p.mu.Lock()
			defer p.mu.Unlock()
			for topic, partitions := range moved {
				for _, n := range partitions {
					p.owned[polled{topic, n}] = yes
				}
			}
		}
	}
	return []kgo.Opt{kgo.OnPartitionsAssigned(own(true)), kgo.OnPartitionsRevoked(own(false)), kgo.OnPartitionsLost(own(false))}
}

func (p *position) owns(at polled) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.owned[at]
}

// poll is PollFetches.
func (p *position) poll(ctx context.Context) kgo.Fetches {
	fetches := p.client.PollFetches(ctx)
	fetches.EachTopic(func(t kgo.FetchTopic) { p.ids[t.Topic] = t.TopicID })
	return fetches
}

// handled takes a record that is done with; those of a partition come in order. It reports whether the member still owns
// the partition.
func (p *position) handled(r *kgo.Record) bool {
	at := polled{r.Topic, r.Partition}
	if !p.owns(at) {
		return false
	}
	p.next[at] = r.Offset + 1
	return true
}

// commit commits when it is time to. What a rebalance makes the broker refuse is polled again by whoever owns it then.
func (p *position) commit(ctx context.Context) {
	if len(p.next) == 0 || time.Since(p.committed) < commitInterval {
		return
	}
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.InstanceID = p.group, p.instance
	req.MemberID, req.Generation = p.client.GroupMetadata()
	for at, next := range p.next {
		if !p.owns(at) {
			continue
		}
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
