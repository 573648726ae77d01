package kafka

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/kafkatest"
	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// newShareScene makes a group with one member on partition 0 of a topic. Its locks last as long as Kafka allows, so that
// none runs out while a slow machine goes through the steps.
func newShareScene(t *testing.T, c *kafkatest.Cluster, group, topic string, end int64) *shareScene {
	t.Helper()
	c.SetGroupConfig(t, group, model.ConfigShareReset, "earliest")
	c.SetGroupConfig(t, group, model.ConfigLockDuration, "60000")
	s := &shareScene{shareTruth: newShareTruth(c.Version, end), t: t}
	s.member = c.JoinShare(t, group, topic, 0)
	s.key = model.SharePartitionKey{Group: group, TopicID: s.member.TopicID(), Partition: 0}
	s.follower = followerOf(t, Config{Bootstrap: c.Bootstrap(), ReadOnly: true}, FollowOptions{})
	s.follower.Watch([]model.SharePartitionKey{s.key}, nil)
	return s
}

// A member does with its records what can be done, and after each step the follower shows what the
// member knows, what is inferred included. In the end every record of the topic is what Kafka's own formatter makes of it.
func TestFollowOnKafka(t *testing.T) {
	kafkatest.Run(t, func(t *testing.T, version string) {
		t.Parallel()
		c := kafkatest.Shared(t, version)
		group, topic := kafkatest.Name("flight"), kafkatest.Name("orders")
		c.CreateTopic(t, topic, 1)
		c.Produce(t, topic, 0, 50)
		s := newShareScene(t, c, group, topic, 50)
		s.expect("joined")

		if got := s.acquire(50); len(got) != 50 {
			t.Fatalf("acquired %v", got)
		}
		s.expect("acquired") // nothing is recorded of that
		all := kafkatest.All
		s.say("accepted in order", all(kafkatest.Accept, 0, 1)...)
		s.say("accepted out of order", all(kafkatest.Accept, 5)...)
		s.say("released", all(kafkatest.Release, 7, 20)...)
		s.say("rejected", all(kafkatest.Reject, 9)...)
		s.say("accepted up to a finished one", all(kafkatest.Accept, 2, 3, 4)...)
		s.say("one request for all", append(all(kafkatest.Accept, 30), append(all(kafkatest.Release, 31), all(kafkatest.Reject, 32)...)...)...)
		for s.window.At(7); ; {
			d, _ := s.window.At(7)
			if d.State == model.StateArchived {
				break
			}
			s.acquire(3) // 7, 20 and 31 again
			s.say(fmt.Sprintf("delivery %d given back", d.Count+1), all(kafkatest.Release, 7, 20, 31)...)
		}
		r := s.expect("archived at the limit")
		var why []string
		h := r.Partitions[s.key].History
		for _, a := range h.Archived(model.Some[int64](5)) {
			why = append(why, fmt.Sprintf("%d %s", a.First, a.Likely))
		}
		slices.Sort(why)
		want := "20 delivery limit; 31 delivery limit; 32 rejected by a client, or no record (gap); 7 delivery limit; 9 rejected by a client, or no record (gap)"
		if got := strings.Join(why, "; "); got != want {
			t.Errorf("archived: %s", got)
		}

		s.member.CloseSession(t)
		s.apply(t, model.EventSessionClose, s.held()...)
		s.expect("given back by the closed session")

		c.SetGroupConfig(t, group, model.ConfigLockDuration, "15000")
		s.acquire(s.available())
		s.apply(t, model.EventLockTimeout, s.held()...)
		clear(s.member.Held)
		s.expect("locks ran out")
		if err := s.member.TryAcknowledge(t, all(kafkatest.Accept, 6)...); err == nil {
			t.Error("a record was accepted after its lock ran out")
		}
		c.SetGroupConfig(t, group, model.ConfigLockDuration, "60000")

		// A second group on the same partition is another thing.
		other := newShareScene(t, c, kafkatest.Name("other"), topic, 50)
		other.acquire(50)
		other.say("the other group accepts", all(kafkatest.Accept, 1)...)
		s.expect("undisturbed by the other group")

		s.acquire(s.available())
		s.say("a later delivery accepted", all(kafkatest.Accept, 6)...)
		s.say("everything accepted", all(kafkatest.Accept, s.held()...)...)
		if got := s.wanted(); got != "" {
			t.Fatalf("the test is wrong: %s", got)
		}

		s.member.Leave(t)
		if !strings.HasPrefix(version, "4.1.") {
			resetShareGroup(t, c, group, topic, 3)
			s.reset(3)
			s.expect("reset")
		}
		deleteShareGroup(t, c, group)
		s.any = false
		until(t, s.follower, "the group is deleted", func(r *model.ShareRecords) bool {
			h := r.Partitions[s.key].History
			return !h.Now().Recorded
		})
		s.reset(0)
		s.member = c.JoinShare(t, group, topic, 0)
		s.expect("made again")
		s.acquire(50)
		r = s.say("accepted in the new group", all(kafkatest.Accept, 0, 2)...)

		checkFormatter(t, c, s.key, r.Partitions[s.key])
		checkFormatter(t, c, other.key, other.follower.last.Partitions[other.key])
	})
}

func resetShareGroup(t *testing.T, c *kafkatest.Cluster, group, topic string, start int64) {
	t.Helper()
	req := kmsg.NewPtrAlterShareGroupOffsetsRequest()
	req.GroupID = group
	rt := kmsg.NewAlterShareGroupOffsetsRequestTopic()
	rt.Topic = topic
	p := kmsg.NewAlterShareGroupOffsetsRequestTopicPartition()
	p.Partition, p.StartOffset = 0, start
	rt.Partitions = append(rt.Partitions, p)
	req.Topics = append(req.Topics, rt)
	cl := c.Client(t)
	kafkatest.Await(t, "the group's offset is reset", func() error {
		resp, err := req.RequestWith(t.Context(), cl)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	})
}

func deleteShareGroup(t *testing.T, c *kafkatest.Cluster, group string) {
	t.Helper()
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{group}
	cl := c.Client(t)
	kafkatest.Await(t, "the group is deleted", func() error {
		resp, err := req.RequestWith(t.Context(), cl)
		if err != nil {
			return err
		}
		return kerr.ErrorForCode(resp.Groups[0].ErrorCode)
	})
}

// checkFormatter compares the history with what Kafka's own formatter prints of the topic, record by record.
func checkFormatter(t *testing.T, c *kafkatest.Cluster, k model.SharePartitionKey, p *model.SharePartitionRecords) {
	t.Helper()
	ends, err := kadm.NewClient(c.Client(t)).ListEndOffsets(t.Context(), sharestate.Topic)
	if err != nil {
		t.Fatal(err)
	}
	partition := sharestate.Partition(k, 50)
	end, _ := ends.Lookup(sharestate.Topic, partition)
	out, err := c.Tool(t.Context(), kafkatest.ConsoleConsumer, "--bootstrap-server", strings.Join(c.Bootstrap(), ","), "--topic", sharestate.Topic,
		"--partition", fmt.Sprint(partition), "--offset", "earliest", "--max-messages", fmt.Sprint(end.Offset),
		"--formatter", "org.apache.kafka.tools.consumer.group.share.ShareGroupStateMessageFormatter", "--timeout-ms", "60000")
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	dec := json.NewDecoder(strings.NewReader(out))
	for {
		var rec formatted
		if err := dec.Decode(&rec); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("formatter: %v", err)
		}
		if rec.Key.Data.GroupID == k.Group && rec.Key.Data.Partition == k.Partition && rec.Key.Data.TopicID == base64.RawURLEncoding.EncodeToString(k.TopicID[:]) {
			want = append(want, rec.text())
		}
	}
	var got []string
	for i := range p.History.Len() {
		got = append(got, writeText(&p.History.Entry(i).Write))
	}
	if len(want) == 0 || !slices.Equal(got, want) {
		t.Errorf("group %s: %d writes were folded, Kafka's formatter shows %d:\n%s\nwant\n%s", k.Group, len(got), len(want), strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// formatted is a record as ShareGroupStateMessageFormatter prints it. It leaves the delivery complete count out.
type formatted struct {
	Key struct {
		Type int
		Data struct {
			GroupID   string `json:"groupId"`
			TopicID   string `json:"topicId"`
			Partition int32
		}
	}
	Value *struct {
		Data struct {
			SnapshotEpoch, StateEpoch, LeaderEpoch int32
			StartOffset                            int64
			StateBatches                           []struct {
				FirstOffset, LastOffset int64
				DeliveryState           int8
				DeliveryCount           int16
			}
		}
	}
}

func (f *formatted) text() string {
	w := model.ShareWrite{Kind: model.WriteTombstone}
	if f.Value != nil {
		d := f.Value.Data
		w = model.ShareWrite{Kind: model.WriteKind(f.Key.Type), SnapshotEpoch: d.SnapshotEpoch, LeaderEpoch: d.LeaderEpoch, Start: d.StartOffset}
		if w.Kind == model.WriteSnapshot {
			w.StateEpoch = d.StateEpoch
		}
		for _, b := range d.StateBatches {
			w.Batches = append(w.Batches, model.StateBatch{First: b.FirstOffset, Last: b.LastOffset, State: model.RecordState(b.DeliveryState), Count: b.DeliveryCount})
		}
	}
	return writeText(&w)
}

func writeText(w *model.ShareWrite) string {
	if w.Kind == model.WriteTombstone {
		return "tombstone"
	}
	return fmt.Sprintf("%s %d/%d/%d start %d %v", w.Kind, w.SnapshotEpoch, w.StateEpoch, w.LeaderEpoch, w.Start, w.Batches)
}

// What goes through a dead-letter topic is archiving before it is archived.
func TestFollowDeadLettersOnKafka(t *testing.T) {
	kafkatest.Run(t, func(t *testing.T, version string) {
		if strings.HasPrefix(version, "4.1.") || strings.HasPrefix(version, "4.3.") {
			return // dead-letter topics are new in 4.4
		}
		t.Parallel()
		c := kafkatest.Shared(t, version)
		group, topic := kafkatest.Name("letters"), kafkatest.Name("orders")
		dlq := kafkatest.Name("dlq.orders")
		c.CreateTopic(t, topic, 1)
		c.CreateTopic(t, dlq, 1)
		setTopicConfig(t, c, dlq, "errors.deadletterqueue.group.enable", "true")
		c.SetGroupConfig(t, group, model.ConfigDeadLetter, dlq)
		c.Produce(t, topic, 0, 5)
		s := newShareScene(t, c, group, topic, 5)
		s.acquire(5)
		r := s.say("rejected into the dead-letter topic", kafkatest.All(kafkatest.Reject, 1, 3)...)
		h := r.Partitions[s.key].History
		for _, offset := range []int64{1, 3} {
			var life []string
			for _, m := range h.Timeline(offset) {
				life = append(life, m.To.State.String())
			}
			if got := strings.Join(life, ", "); got != "archiving, archived" {
				t.Errorf("timeline of %d: %s", offset, got)
			}
		}
		for _, a := range h.Archived(model.Some[int64](5)) {
			if !a.DeadLettered {
				t.Errorf("%+v did not go through the dead-letter topic", a)
			}
		}
	})
}

func setTopicConfig(t *testing.T, c *kafkatest.Cluster, topic, name, value string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeTopic, ResourceName: topic,
		Configs: []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: name, Value: &value}},
	}}
	resp, err := req.RequestWith(t.Context(), c.Client(t))
	if err == nil {
		err = kerr.ErrorForCode(resp.Resources[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("set %s of %s: %v", name, topic, err)
	}
}
