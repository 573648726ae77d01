package kafkatest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// CommitMany makes groups that have no members, prefix00000 and so on, each with the commit 1 on the
// first partitions of a topic. It commits as an administrator does, without joining, and keeps many requests in
// flight, since each of them is one group.
func CommitMany(t testing.TB, cl *kgo.Client, prefix string, groups int, topic string, partitions int) {
	t.Helper()
	listed, err := kadm.NewClient(cl).ListTopics(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	id := listed[topic].ID
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var wg sync.WaitGroup
	queue := make(chan int)
	for range 64 {
		wg.Go(func() {
			for i := range queue {
				if err := commitOnce(ctx, cl, fmt.Sprintf("%s%05d", prefix, i), topic, id, partitions, 1); err != nil {
					cancel(err)
				}
			}
		})
	}
	for i := range groups {
		select {
		case queue <- i:
		case <-ctx.Done():
		}
	}
	close(queue)
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		t.Fatal(err)
	}
}

// commitOnce commits one offset on the first partitions of a topic.
func commitOnce(ctx context.Context, cl *kgo.Client, group, topic string, id kadm.TopicID, partitions int, offset int64) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group = group
	to := kmsg.NewOffsetCommitRequestTopic()
	to.Topic, to.TopicID = topic, id
	for n := range partitions {
		part := kmsg.NewOffsetCommitRequestTopicPartition()
		part.Partition, part.Offset = int32(n), offset
		to.Partitions = append(to.Partitions, part)
	}
	req.Topics = append(req.Topics, to)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				return fmt.Errorf("commit of %s on %s/%d: %w", group, topic, p.Partition, kerr.ErrorForCode(p.ErrorCode))
			}
		}
	}
	return nil
}
