package kafka

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// stateCluster is a kfake cluster whose state topic the test writes itself.
type stateCluster struct {
	*kfake.Cluster
	t  *testing.T
	cl *kgo.Client
}

func newStateCluster(t *testing.T, opts ...kfake.Opt) *stateCluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(2)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return &stateCluster{Cluster: c, t: t}
}

func (c *stateCluster) makeTopic(partitions int32) {
	c.t.Helper()
	if err := c.CreateTopic(sharestate.Topic, partitions, nil); err != nil {
		c.t.Fatal(err)
	}
}

// produce appends records with their keys and values to the state topic.
func (c *stateCluster) produce(records ...*kgo.Record) {
	c.t.Helper()
	if c.cl == nil {
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.MetadataMinAge(10*time.Millisecond))
		if err != nil {
			c.t.Fatal(err)
		}
		c.t.Cleanup(cl.Close)
		c.cl = cl
	}
	if err := c.cl.ProduceSync(c.t.Context(), records...).FirstErr(); err != nil {
		c.t.Fatal(err)
	}
}

// write appends writes of one share-partition.
func (c *stateCluster) write(k model.SharePartitionKey, partitions int32, writes ...model.ShareWrite) {
	c.t.Helper()
	c.produce(stateRecords(k, partitions, writes...)...)
}

func stateRecords(k model.SharePartitionKey, partitions int32, writes ...model.ShareWrite) []*kgo.Record {
	var records []*kgo.Record
	for i := range writes {
		key, value := sharestate.Encode(k, &writes[i])
		records = append(records, &kgo.Record{Topic: sharestate.Topic, Partition: sharestate.Partition(k, partitions), Key: key, Value: value})
	}
	return records
}

// follow makes a follower of the cluster.
func (c *stateCluster) follow(cfg Config, o FollowOptions) *Follower {
	c.t.Helper()
	cfg.Bootstrap = c.ListenAddrs()
	return followerOf(c.t, cfg, o)
}

func followerOf(t *testing.T, cfg Config, o FollowOptions) *Follower {
	t.Helper()
	conn := Connect(cfg)
	t.Cleanup(conn.Close)
	f := NewFollower(conn, o)
	t.Cleanup(f.Close)
	return f
}

// until takes values from the follower until ok says yes, for two minutes at most.
func until(t *testing.T, f *Follower, what string, ok func(*model.ShareRecords) bool) *model.ShareRecords {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var last *model.ShareRecords
	for {
		r, err := f.Next(ctx)
		if err != nil {
			t.Fatalf("waiting until %s: %v; %s", what, err, describeRecords(last))
		}
		if last = r; ok(r) {
			return r
		}
	}
}

func describeRecords(r *model.ShareRecords) string {
	if r == nil {
		return "nothing came"
	}
	text := fmt.Sprintf("problem %v", r.Problem)
	for k, p := range r.Partitions {
		text += fmt.Sprintf("\n%s: %s, %d writes, caught up %v, pruned before %d, skipped %d, %q",
			k.Group, outcomes(p), p.History.Len(), p.CaughtUp, p.PrunedBefore, p.Skipped, p.Unfollowed)
	}
	return text
}

// outcomes is "3: 5-7 acknowledged x1, ..." with the effective start offset first.
func outcomes(p *model.SharePartitionRecords) string {
	s := p.History.Now()
	start, ok := s.Effective().Get()
	if !ok {
		return "-"
	}
	var parts []string
	for _, b := range s.Batches {
		parts = append(parts, fmt.Sprintf("%d-%d %s x%d", b.First, b.Last, b.State, b.Count))
	}
	return fmt.Sprintf("%d: %s", start, strings.Join(parts, ", "))
}

func caughtUp(keys ...model.SharePartitionKey) func(*model.ShareRecords) bool {
	return func(r *model.ShareRecords) bool {
		for _, k := range keys {
			if p := r.Partitions[k]; p == nil || !p.CaughtUp {
				return false
			}
		}
		return true
	}
}

func shows(k model.SharePartitionKey, want string) func(*model.ShareRecords) bool {
	return func(r *model.ShareRecords) bool {
		p := r.Partitions[k]
		return p != nil && outcomes(p) == want
	}
}

func key(group string) model.SharePartitionKey {
	return model.SharePartitionKey{Group: group, TopicID: model.TopicID{1, 2, 3}, Partition: 0}
}

// sameState are keys that the same partition of the state topic holds.
func sameState(n int, partitions int32) []model.SharePartitionKey {
	want := sharestate.Partition(key("g0"), partitions)
	var keys []model.SharePartitionKey
	for i := 0; len(keys) < n; i++ {
		if k := key(fmt.Sprintf("g%d", i)); sharestate.Partition(k, partitions) == want {
			keys = append(keys, k)
		}
	}
	return keys
}

func initial() model.ShareWrite {
	return model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: 1, Start: -1}
}

func outcome(start, offset int64, state model.RecordState, count int16) model.ShareWrite {
	return model.ShareWrite{Kind: model.WriteUpdate, Start: start, Batches: []model.StateBatch{{First: offset, Last: offset, State: state, Count: count}}}
}

const parts = 5
