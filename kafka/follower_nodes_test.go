package kafka

import (
	"errors"
	"fmt"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/kafkatest"
	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// On three nodes: the leaders of the data and of the state move, the leader of the data dies, the state topic is pruned, and what is
// shown stays true.
func TestFollowSurvivesOnKafka(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, kafkatest.Latest(t), kafkatest.Options{Nodes: 3, Properties: map[string]string{
		"share.coordinator.state.topic.prune.interval.ms":        "5000",
		"share.coordinator.snapshot.update.records.per.snapshot": "20",
	}})
	group, topic := kafkatest.Name("flight"), kafkatest.Name("orders")
	c.CreateTopic(t, topic, 1)
	c.Produce(t, topic, 0, 100)
	s := newShareScene(t, c, group, topic, 100)
	adm := kadm.NewClient(c.Client(t))
	statePartition := sharestate.Partition(s.key, 50)
	leaderOf := func(topic string, partition int32) int32 {
		m, err := adm.Metadata(t.Context(), topic)
		if err != nil {
			return -1
		}
		return m.Topics[topic].Partitions[partition].Leader
	}
	// lead moves the leadership of a partition to a node.
	lead := func(topic string, partition, node int32) {
		t.Helper()
		replicas := []int32{node, node%3 + 1, (node+1)%3 + 1}
		var assign kadm.AlterPartitionAssignmentsReq
		assign.Assign(topic, partition, replicas)
		kafkatest.Await(t, fmt.Sprintf("node %d leads %s/%d", node, topic, partition), func() error {
			if leaderOf(topic, partition) == node {
				return nil
			}
			if _, err := adm.AlterPartitionAssignments(t.Context(), assign); err != nil {
				return err
			}
			set := make(kadm.TopicsSet)
			set.Add(topic, partition)
			_, err := adm.ElectLeaders(t.Context(), kadm.ElectPreferredReplica, set)
			if err == nil && leaderOf(topic, partition) != node {
				err = errors.New("not yet")
			}
			return err
		})
	}
	all := kafkatest.All

	s.acquire(20)
	s.say("accepted in order", all(kafkatest.Accept, 0, 1)...)
	s.say("out of order", append(all(kafkatest.Accept, 5), all(kafkatest.Release, 7)...)...)

	// The state topic's leader moves: nothing is lost and nothing comes twice.
	lead(sharestate.Topic, statePartition, leaderOf(sharestate.Topic, statePartition)%3+1)
	s.say("accepted after the state leader moved", all(kafkatest.Accept, 2)...)

	// The leader of the data moves: holds are forgotten, and nobody knows what is out until an outcome is
	// written under the new leader.
	lead(topic, 0, leaderOf(topic, 0)%3+1)
	s.leaderChange()
	got := s.acquire(10)
	if got[0] != 3 {
		t.Errorf("handed out after the leader moved: %v", got)
	}
	s.expect("the leader moved")
	s.say("an outcome under the new leader", all(kafkatest.Accept, got[5])...)

	// A node dies that leads the data.
	victim := leaderOf(topic, 0)
	c.Kill(t, int(victim))
	kafkatest.Await(t, "another node leads the data", func() error {
		if l := leaderOf(topic, 0); l < 0 || l == victim {
			return fmt.Errorf("the leader is %d", l)
		}
		return nil
	})
	s.leaderChange()
	s.acquire(10)
	s.expect("the leader died")
	s.say("accepted while a node is away", all(kafkatest.Accept, 3)...)
	c.Restart(t, int(victim))

	// The state topic is pruned, under a reader and before another one comes.
	s.acquire(int(s.end-s.window.Next()) + s.available())
	snapshots := 0
	for _, o := range s.held()[:60] {
		s.say(fmt.Sprintf("accepted %d", o), all(kafkatest.Accept, o)...)
	}
	r := s.follower.last
	h := r.Partitions[s.key].History
	for i := range h.Len() {
		if e := h.Entry(i); e.Write.Kind == model.WriteSnapshot && i > 0 {
			snapshots++
			// What the broker folded is what we folded, but for the one write that the snapshot stands for.
			if changes := h.Step(i).Changes; len(changes) > 1 || len(changes) == 1 && changes[0].To.State == model.StateNone {
				t.Errorf("the snapshot at %d stands for one acknowledgement, and changes %+v", e.Ref.Offset, changes)
			}
		}
	}
	if snapshots < 2 {
		t.Errorf("%d snapshots in the history", snapshots)
	}
	kafkatest.Await(t, "the state topic is pruned", func() error {
		starts, err := adm.ListStartOffsets(t.Context(), sharestate.Topic)
		if err != nil {
			return err
		}
		if o, ok := starts.Lookup(sharestate.Topic, statePartition); !ok || o.Offset == 0 {
			return errors.New("its log starts at 0")
		}
		return nil
	})
	s.say("accepted after the pruning", all(kafkatest.Accept, s.held()[0])...)
	late := followerOf(t, Config{Bootstrap: c.Bootstrap()}, FollowOptions{})
	late.Watch([]model.SharePartitionKey{s.key}, nil)
	r = until(t, late, "a late reader is caught up", caughtUp(s.key))
	p := r.Partitions[s.key]
	if p.PrunedBefore == 0 || p.History.Len() >= h.Len() {
		t.Errorf("%d writes from %d on, although the topic was pruned", p.History.Len(), p.PrunedBefore)
	}
	early := s.follower.last.Partitions[s.key].History
	if a, b := outcomes(p), outcomes(s.follower.last.Partitions[s.key]); a != b {
		t.Errorf("the late reader has %s\nthe early one %s", a, b)
	}
	if lag := early.Now().DerivedLag(model.Some(s.end)); lag != brokerLag(t, c, group, topic) {
		t.Errorf("derived lag %v, the broker says %v", lag, brokerLag(t, c, group, topic))
	}
}

// brokerLag is what the broker says of partition 0.
func brokerLag(t *testing.T, c *kafkatest.Cluster, group, topic string) (lag model.Int) {
	t.Helper()
	req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	g := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
	g.GroupID = group
	rt := kmsg.NewDescribeShareGroupOffsetsRequestGroupTopic()
	rt.Topic, rt.Partitions = topic, []int32{0}
	g.Topics = append(g.Topics, rt)
	req.Groups = append(req.Groups, g)
	cl := c.Client(t)
	kafkatest.Await(t, "the broker tells the lag", func() error {
		resp, err := req.RequestWith(t.Context(), cl)
		if err != nil {
			return err
		}
		if err := kerr.ErrorForCode(resp.Groups[0].ErrorCode); err != nil {
			return err
		}
		lag = model.Some(resp.Groups[0].Topics[0].Partitions[0].Lag)
		return nil
	})
	return lag
}
