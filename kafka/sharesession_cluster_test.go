package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/kafkatest"
	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// What happens to brokers while records are held, on three nodes of real Kafka. Each case has a topic and a group of
// its own, with the leader, the share coordinator and the group coordinator on three different nodes.
func TestRealSessionWhileBrokersFail(t *testing.T) {
	t.Parallel()
	k := kafkatest.Start(t, kafkatest.Latest(t), kafkatest.Options{Nodes: 3})

	t.Run("leader moved", func(t *testing.T) {
		f := newFailing(t, k)
		moveLeader(t, k, f.topic, 0, f.coordinator)
		events := awaitSession(t, f.session, "the holds are lost", func(now *model.ShareSession) bool { return len(now.Held) == 0 })
		if n := len(events); n == 0 || events[n-1].Code != "leader_moved" {
			t.Errorf("events: %+v", events)
		}
		f.takeAgain(4)
		if got := fmt.Sprint(heldCounts(f.session)); got != "[1 1 1 1]" {
			t.Errorf("counts %s under the new leader", got)
		}
		expect(t, "accept", f.decide(f.session, model.DecisionAccept, 1), []string{"ok"})
		f.recorded("0: - acknowledged×1")
	})

	t.Run("leader moved while deciding", func(t *testing.T) {
		f := newFailing(t, k)
		expect(t, "accept", f.decide(f.session, model.DecisionAccept, 0), []string{"ok"})
		moveLeader(t, k, f.topic, 0, f.state)
		results, err := f.session.Decide(t.Context(), f.refs(0, 1), model.DecisionAccept)
		got := codes(t, results, err)
		if !slices.Contains([]string{"leader_moved", "not_held"}, got[0]) {
			t.Errorf("results: %+v", results)
		}
		f.recorded("1: -")
	})

	t.Run("network cut", func(t *testing.T) {
		f := newFailing(t, k)
		f.cuts.cut(true)
		awaitSession(t, f.session, "the holds are lost", func(now *model.ShareSession) bool { return len(now.Held) == 0 })
		f.cuts.cut(false)
		f.takeAgain(4)
		expect(t, "accept", f.decide(f.session, model.DecisionAccept, 0), []string{"ok"})
	})

	t.Run("share coordinator killed", func(t *testing.T) {
		f := newFailing(t, k)
		k.Kill(t, f.state)
		stalled := f.watchStatus("waiting for the state topic")
		expect(t, "accept", f.decide(f.session, model.DecisionAccept, 2), []string{"ok"})
		if !<-stalled {
			t.Error("nothing said that the state topic is waited for")
		}
		f.recorded("0: - - acknowledged×1")
		k.Restart(t, f.state)
	})

	t.Run("group coordinator killed", func(t *testing.T) {
		f := newFailing(t, k)
		k.Kill(t, f.coordinator)
		expect(t, "accept", f.decide(f.session, model.DecisionAccept, 2), []string{"ok"})
		awaitSession(t, f.session, "the new coordinator answers", func(now *model.ShareSession) bool {
			return !slices.ContainsFunc(now.Waits, func(w model.SessionWait) bool { return strings.Contains(w.Text, "coordinator") })
		})
		expect(t, "accept", f.decide(f.session, model.DecisionAccept, 1), []string{"ok"})
		f.recorded("0: - acknowledged×1 acknowledged×1")
		k.Restart(t, f.coordinator)
	})

	t.Run("leader killed", func(t *testing.T) {
		f := newFailing(t, k)
		k.Kill(t, f.leader)
		awaitSession(t, f.session, "the holds are lost", func(now *model.ShareSession) bool { return len(now.Held) == 0 })
		if err := f.session.More(4); err != nil {
			t.Fatal(err)
		}
		told := f.watchStatus("leader unreachable, election pending")
		awaitSession(t, f.session, "the new leader hands out records", func(now *model.ShareSession) bool { return now.Missing == 0 })
		if !<-told {
			t.Error("nothing said that the leader is gone")
		}
		expect(t, "accept", f.decide(f.session, model.DecisionAccept, 1), []string{"ok"})
		k.Restart(t, f.leader)
	})

	// The leader gives up on the state topic after almost a minute, and what it refused shows up when the topic can
	// be written again.
	t.Run("state topic below its minimum", func(t *testing.T) {
		f := newFailing(t, k)
		setTopicConfig(t, k, sharestate.Topic, "min.insync.replicas", "3")
		k.Kill(t, f.coordinator) // neither leader nor share coordinator
		done := make(chan []string, 1)
		go func() {
			results, err := f.session.Decide(t.Context(), f.refs(0, 2), model.DecisionAccept)
			done <- append(codes(t, results, err), results[0].Text)
		}()
		awaitSession(t, f.session, "the outcome is unknown", func(now *model.ShareSession) bool {
			return slices.ContainsFunc(now.Waits, func(w model.SessionWait) bool { return strings.HasPrefix(w.Text, "outcome unknown") })
		})
		setTopicConfig(t, k, sharestate.Topic, "min.insync.replicas", "2")
		if got := <-done; got[0] != "read_back" {
			t.Errorf("result: %q", got)
		}
		f.recorded("0: - - acknowledged×1")
		k.Restart(t, f.coordinator)
	})
}

// failing is a session that holds four records, and where everything that it depends on is.
type failing struct {
	*realShare
	session                    *ShareSession
	leader, state, coordinator int
}

func newFailing(t *testing.T, k *kafkatest.Cluster) *failing {
	t.Helper()
	f := &failing{realShare: newRealShare(t, k, 1, 6)}
	k.SetGroupConfig(t, f.group, "share.record.lock.duration.ms", "60000")
	f.session = f.take(1) // makes the state topic
	f.coordinator = groupCoordinator(t, k, f.group)
	f.leader = f.coordinator%3 + 1
	f.state = f.leader%3 + 1
	if err := f.session.Leave(t.Context()); err != nil {
		t.Fatal(err)
	}
	cl := k.Client(t)
	topics, err := kadm.NewClient(cl).ListTopicsWithInternal(t.Context(), sharestate.Topic)
	if err != nil {
		t.Fatal(err)
	}
	moveLeader(t, k, sharestate.Topic, sharestate.Partition(f.key, int32(len(topics[sharestate.Topic].Partitions))), f.state)
	moveLeader(t, k, f.topic, 0, f.leader)
	// The first delivery above counts, unless the leader moved before anything was recorded: delete the past.
	resetShareGroup(t, k, f.group, f.topic, 0)
	f.session = f.take(4)
	f.recorded("0:")
	t.Cleanup(func() { _ = f.session.Leave(context.Background()) })
	return f
}

// takeAgain takes records, which may need the locks of the lost ones to be given back first.
func (f *failing) takeAgain(n int) {
	f.Helper()
	if err := f.session.More(n); err != nil {
		f.Fatal(err)
	}
	awaitSession(f.T, f.session, "records are taken again", func(now *model.ShareSession) bool { return now.Missing == 0 })
}

// watchStatus reports whether the session waits for something for more than a second until it does not wait any more,
// or 30 s have passed without it.
func (f *failing) watchStatus(text string) <-chan bool {
	told := make(chan bool, 1)
	go func() {
		deadline := time.Now().Add(30 * time.Second)
		for time.Now().Before(deadline) {
			status := f.session.Now().Status(time.Now())
			if strings.HasPrefix(status, text) {
				told <- true
				return
			}
			select {
			case <-f.session.Done():
				told <- false
				return
			case <-time.After(50 * time.Millisecond):
			}
		}
		told <- false
	}()
	return told
}

func groupCoordinator(t *testing.T, k *kafkatest.Cluster, group string) int {
	t.Helper()
	node := 0
	kafkatest.Await(t, "the group has a coordinator", func() error {
		req := kmsg.NewPtrFindCoordinatorRequest()
		req.CoordinatorKeys = []string{group}
		resp, err := k.Client(t).Request(t.Context(), req)
		if err != nil {
			return err
		}
		c := resp.(*kmsg.FindCoordinatorResponse).Coordinators[0]
		node = int(c.NodeID)
		return kerr.ErrorForCode(c.ErrorCode)
	})
	return node
}

// moveLeader makes a node the leader of a partition, and returns when all nodes say so.
func moveLeader(t *testing.T, k *kafkatest.Cluster, topic string, partition int32, node int) {
	t.Helper()
	cl := k.Client(t)
	adm := kadm.NewClient(cl)
	replicas := []int32{int32(node)}
	for n := range int32(3) {
		if n+1 != int32(node) {
			replicas = append(replicas, n+1)
		}
	}
	kafkatest.Await(t, fmt.Sprintf("node %d leads partition %d of %s", node, partition, topic), func() error {
		var req kadm.AlterPartitionAssignmentsReq
		req.Assign(topic, partition, replicas)
		resp, err := adm.AlterPartitionAssignments(t.Context(), req)
		if err != nil {
			return err
		}
		if err := resp.Error(); err != nil {
			return err
		}
		var set kadm.TopicsSet
		set.Add(topic, partition)
		elected, err := adm.ElectLeaders(t.Context(), kadm.ElectPreferredReplica, set)
		if err != nil {
			return err
		}
		if err := elected[topic][partition].Err; err != nil && !errors.Is(err, kerr.ElectionNotNeeded) {
			return err
		}
		name := kmsg.NewMetadataRequestTopic()
		name.Topic = &topic
		meta := kmsg.NewPtrMetadataRequest()
		meta.Topics = append(meta.Topics, name)
		for _, seed := range cl.SeedBrokers() {
			resp, err := meta.RequestWith(t.Context(), seed)
			if err != nil {
				return err
			}
			for _, p := range resp.Topics[0].Partitions {
				if p.Partition == partition && (p.Leader != int32(node) || len(p.ISR) != 3) {
					return fmt.Errorf("the leader is %d and %v are in sync", p.Leader, p.ISR)
				}
			}
		}
		return nil
	})
}
