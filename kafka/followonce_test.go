package kafka

import (
	"context"
	"testing"
	"time"

	"flightdeck/model"
)

func TestReadShareRecords(t *testing.T) {
	c := newStateCluster(t)
	k := model.SharePartitionKey{Group: "g", TopicID: model.TopicID{1}}
	other := model.SharePartitionKey{Group: "g", TopicID: model.TopicID{1}, Partition: 1}
	conn := Connect(Config{Bootstrap: c.ListenAddrs()})
	t.Cleanup(conn.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()

	if r := ReadShareRecords(ctx, conn, []model.SharePartitionKey{k}); r.Problem == nil || r.Problem.Code != "no_state_topic" {
		t.Errorf("without the topic: problem %v, want no_state_topic", r.Problem)
	}
	c.makeTopic(3)
	c.write(k, 3, model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: 1, Start: 4})
	r := ReadShareRecords(ctx, conn, []model.SharePartitionKey{k, other})
	if p := r.Partitions[k]; p == nil || !p.CaughtUp || outcomes(p) != "4: " {
		t.Errorf("what was written is not read: %s", describeRecords(r))
	}
	if p := r.Partitions[other]; p == nil || !p.CaughtUp || p.History.Len() != 0 {
		t.Errorf("what was never written: %s", describeRecords(r))
	}
}
