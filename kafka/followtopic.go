package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// errNoStateTopic means that no share group was ever used: the state topic is made with the first.
var errNoStateTopic = errors.New("the state topic does not exist")

// stateTopic is the state topic while it is read.
type stateTopic struct {
	client *kgo.Client
	id     model.TopicID
	n      int32                     // partitions
	parts  map[int32]*statePartition // those that are read
	listAt time.Time                 // not before this time are ends asked for again
}

// statePartition is a partition of the state topic while it is read.
type statePartition struct {
	next int64 // the next offset, -1 before the first record
	end  int64 // the log end when reading began, -1 while unknown
	// caughtUp is true once everything up to end was read.
	caughtUp bool
	folds    map[string]*followed // by sharestate.Identity
}

// openStateTopic looks the topic up. It is not asked of a coordinator: FindCoordinator for a
// share-partition would make the topic.
func openStateTopic(ctx context.Context, client *kgo.Client) (*stateTopic, error) {
	name := sharestate.Topic
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &name
	req.Topics = append(req.Topics, t)
	req.AllowAutoTopicCreation = false
	req.IncludeTopicAuthorizedOperations = true
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	if len(resp.Topics) != 1 {
		return nil, fmt.Errorf("metadata of %s: %d topics in the answer", name, len(resp.Topics))
	}
	found := resp.Topics[0]
	if found.ErrorCode == kerr.UnknownTopicOrPartition.Code {
		return nil, errNoStateTopic
	}
	if err := answered(kmsg.Fetch, name, found.ErrorCode, nil); err != nil {
		return nil, err
	}
	// With DESCRIBE alone, every fetch would be refused. 0 is no answer: one right there must be.
	if ops := found.AuthorizedOperations; ops != 0 && ops != -1<<31 && !model.Allowed(model.Some(ops), model.OpRead) {
		return nil, answered(kmsg.Fetch, name, kerr.TopicAuthorizationFailed.Code, nil)
	}
	return &stateTopic{client: client, id: found.TopicID, n: int32(len(found.Partitions)), parts: make(map[int32]*statePartition)}, nil
}

// read makes the topic's reader read partitions from their log starts, also those that it reads already.
func (t *stateTopic) read(numbers []int32) {
	t.drop(numbers)
	from := make(map[int32]kgo.Offset, len(numbers))
	for _, n := range numbers {
		from[n] = kgo.NewOffset().AtStart()
		t.parts[n] = &statePartition{next: -1, end: -1}
	}
	// Fetches tell the ends too, but for partitions that are empty.
	t.listAt = time.Now().Add(gather)
	t.client.AddConsumePartitions(map[string]map[int32]kgo.Offset{sharestate.Topic: from})
}

// drop ends the reading of those of the partitions that are read.
func (t *stateTopic) drop(numbers []int32) {
	var read []int32
	for _, n := range numbers {
		if p := t.parts[n]; p != nil {
			p.settle()
			read = append(read, n)
			delete(t.parts, n)
		}
	}
	t.client.RemoveConsumePartitions(map[string][]int32{sharestate.Topic: read})
}

// unlisted reports whether the end of a partition is still to be asked for.
func (t *stateTopic) unlisted() bool {
	for _, p := range t.parts {
		if p.end < 0 && !p.caughtUp {
			return true
		}
	}
	return false
}

// behind reports whether a partition is not caught up.
func (t *stateTopic) behind() bool {
	for _, p := range t.parts {
		if !p.caughtUp {
			return true
		}
	}
	return false
}

// list asks for the ends of the partitions that have none, and reports whether that made one caught up. What
// does not answer is asked again later.
func (t *stateTopic) list(ctx context.Context, now time.Time) (news bool) {
	t.listAt = now.Add(retryAfter)
	var numbers []int32
	for n, p := range t.parts {
		if p.end < 0 && !p.caughtUp {
			numbers = append(numbers, n)
		}
	}
	slices.Sort(numbers)
	var starts, ends map[int32]int64
	var both sync.WaitGroup
	both.Go(func() { starts = t.offsets(ctx, numbers, -2) })
	both.Go(func() { ends = t.offsets(ctx, numbers, -1) })
	both.Wait()
	for _, n := range numbers {
		start, began := starts[n]
		end, ended := ends[n]
		if began && ended {
			p := t.parts[n]
			p.ends(start, end)
			news = p.progress() || news
		}
	}
	return news
}

// offsets asks for the offsets at a special timestamp: -2 for the log starts and -1 for the ends.
func (t *stateTopic) offsets(ctx context.Context, numbers []int32, timestamp int64) map[int32]int64 {
	req := kmsg.NewPtrListOffsetsRequest()
	req.ReplicaID = -1
	rt := kmsg.NewListOffsetsRequestTopic()
	rt.Topic = sharestate.Topic
	for _, n := range numbers {
		p := kmsg.NewListOffsetsRequestTopicPartition()
		p.Partition, p.Timestamp = n, timestamp
		rt.Partitions = append(rt.Partitions, p)
	}
	req.Topics = append(req.Topics, rt)
	found := make(map[int32]int64, len(numbers))
	for _, shard := range t.client.RequestSharded(ctx, req) {
		resp, ok := shard.Resp.(*kmsg.ListOffsetsResponse)
		if shard.Err != nil || !ok {
			continue
		}
		for _, topic := range resp.Topics {
			for _, p := range topic.Partitions {
				if p.ErrorCode == 0 && p.Offset >= 0 {
					found[p.Partition] = p.Offset
				}
			}
		}
	}
	return found
}

// ends notes the bounds of the log: the partition is caught up at its end, and at once when there is nothing in it.
func (p *statePartition) ends(start, end int64) {
	p.end = end
	p.caughtUp = p.caughtUp || start == end
}

// progress finds out whether the partition is caught up, and tells its folds. It reports whether that was
// news.
func (p *statePartition) progress() (news bool) {
	p.caughtUp = p.caughtUp || p.end >= 0 && p.next >= p.end
	if !p.caughtUp {
		return false
	}
	for _, x := range p.folds {
		if !x.out.CaughtUp {
			x.out.CaughtUp, x.changed, news = true, true, true
		}
	}
	return news
}

// assign makes the topic's reader read the partitions of what is to be followed, and from their start where
// something is new there.
func (f *Follower) assign() {
	t := f.topic
	if t == nil {
		return
	}
	share := min(max(f.opts.History/max(len(f.folds), 1), minKeep), maxKeep)
	wanted := make(map[int32]map[string]*followed)
	for id, x := range f.folds {
		if f.budget.over && !f.watched.visible[x.key] {
			x.unfollow(f.budget.why())
			f.dirty = true
			continue
		}
		n := sharestate.Partition(x.key, t.n)
		if wanted[n] == nil {
			wanted[n] = make(map[string]*followed)
		}
		wanted[n][id] = x
	}
	var done, fresh []int32
	for n := range t.parts {
		if wanted[n] == nil {
			done = append(done, n)
		}
	}
	for n, folds := range wanted {
		added := t.parts[n] == nil
		for _, x := range folds {
			if x.fold == nil {
				x.fold, added = model.NewShareFold(share), true
				x.out.Unfollowed, x.changed = "", true
			}
			x.fold.Keep(share)
		}
		if added {
			fresh = append(fresh, n)
		}
	}
	t.drop(done)
	t.read(fresh)
	for n, folds := range wanted {
		t.parts[n].folds = folds
	}
}

// unfollow forgets a share-partition and says why.
func (x *followed) unfollow(why string) {
	x.forget(0)
	x.fold = nil
	x.out.Unfollowed = why
}
