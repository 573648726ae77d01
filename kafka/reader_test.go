package kafka

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

// logOf writes a log that has everything: offsets 0 to 3 are records, 4 is aborted with its marker at 5, 6 is
// committed with its marker at 7, and 8 belongs to an open transaction.
func logOf(t *testing.T, topic string, bootstrap []string) {
	t.Helper()
	plainClient, err := kgo.NewClient(kgo.SeedBrokers(bootstrap...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(plainClient.Close)
	produce := func(cl *kgo.Client, r *kgo.Record) {
		t.Helper()
		r.Topic = topic
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	produce(plainClient, &kgo.Record{Key: []byte("k\x00\x1b"), Value: []byte{0xff, 0xfe, 0}, Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte("9f")}, {Key: "none"}}})
	produce(plainClient, &kgo.Record{})
	produce(plainClient, &kgo.Record{Key: []byte{}, Value: bytes.Repeat([]byte("x"), 5000)})
	produce(plainClient, &kgo.Record{Value: []byte("three")})
	end := int64(4)
	for _, id := range []string{"aborted", "committed", "open"} {
		cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap...), kgo.TransactionalID(topic+id), kgo.RecordPartitioner(kgo.ManualPartitioner()))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		if err := cl.BeginTransaction(); err != nil {
			t.Fatal(err)
		}
		produce(cl, &kgo.Record{Value: []byte(id)})
		if id != "open" {
			if err := cl.EndTransaction(t.Context(), kgo.TransactionEndTry(id == "committed")); err != nil {
				t.Fatal(err)
			}
			// The marker is written after the answer.
			end += 2
			kafkatest.Await(t, "the transaction's marker is written", func() error {
				ends, err := kadm.NewClient(plainClient).ListEndOffsets(t.Context(), topic)
				if err != nil {
					return err
				}
				if o, _ := ends.Lookup(topic, 0); o.Offset < end {
					return fmt.Errorf("the log ends at %d, want %d", o.Offset, end)
				}
				return nil
			})
		}
	}
}

// checkReader checks it offset by offset. aborted is what the record of the aborted transaction is said to be.
func checkReader(t *testing.T, r *Reader, topic string, aborted model.RecordStatus) {
	t.Helper()
	for _, c := range []struct {
		offset int64
		status model.RecordStatus
		value  string
	}{
		{3, model.RecordFound, "three"},
		{4, aborted, "aborted"},
		{5, model.RecordControl, ""},
		{6, model.RecordFound, "committed"},
		{7, model.RecordControl, ""},
		{8, model.RecordOpen, "open"},
		{9, model.RecordBeyondEnd, ""},
		{1000, model.RecordBeyondEnd, ""},
	} {
		got, err := r.Record(t.Context(), topic, 0, c.offset, 100)
		if err != nil || got.Status != c.status || string(got.Value) != c.value {
			t.Errorf("offset %d: %s with value %q, %v; want %s with %q", c.offset, got.Status, got.Value, err, c.status, c.value)
		}
	}
	got, err := r.Record(t.Context(), topic, 0, 0, 100)
	if err != nil || string(got.Key) != "k\x00\x1b" || string(got.Value) != "\xff\xfe\x00" || got.Time.IsZero() {
		t.Errorf("bytes: %+v, %v", got, err)
	}
	if h := got.Headers; len(h) != 2 || h[0].Key != "trace" || string(h[0].Value) != "9f" || h[1].Value != nil || h[1].Size != -1 {
		t.Errorf("headers: %+v", h)
	}
	if got, err = r.Record(t.Context(), topic, 0, 1, 100); err != nil || got.Key != nil || got.Value != nil || got.KeySize != -1 || got.ValueSize != -1 {
		t.Errorf("empty record: %+v, %v", got, err)
	}
	if got, err = r.Record(t.Context(), topic, 0, 2, 100); err != nil || got.Key == nil || got.KeySize != 0 || len(got.Value) != 100 || got.ValueSize != 5000 {
		t.Errorf("large record: key %v of %d, value %d of %d, %v", got.Key, got.KeySize, len(got.Value), got.ValueSize, err)
	}
	if _, err = r.Record(t.Context(), topic, 7, 0, 100); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("unknown partition: %v", err)
	}
	if _, err = r.Record(t.Context(), topic+"-missing", 0, 0, 100); !errors.Is(err, kerr.UnknownTopicOrPartition) {
		t.Errorf("unknown topic: %v", err)
	}
}

func newReader(t *testing.T, cfg Config) *Reader {
	t.Helper()
	conn := Connect(cfg)
	t.Cleanup(conn.Close)
	r := NewReader(conn)
	t.Cleanup(r.Close)
	return r
}

func TestReadRecord(t *testing.T) {
	c := newStateCluster(t, kfake.SeedTopics(1, "log"))
	logOf(t, "log", c.ListenAddrs())
	r := newReader(t, Config{Bootstrap: c.ListenAddrs(), ReadOnly: true})
	// kfake names no aborted transactions here, so that one looks like any other.
	checkReader(t, r, "log", model.RecordFound)

	// The leader moves: it is looked up again.
	if err := c.MoveTopicPartition("log", 0, 1-c.LeaderFor("log", 0)); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Record(t.Context(), "log", 0, 3, 100); err != nil || string(got.Value) != "three" {
		t.Errorf("after the leader moved: %q, %v", got.Value, err)
	}
	if err := c.DeleteRecords("log", 0, 2); err != nil {
		t.Fatal(err)
	}
	if got, err := r.Record(t.Context(), "log", 0, 1, 100); err != nil || got.Status != model.RecordBelowStart {
		t.Errorf("below the log start: %s, %v", got.Status, err)
	}
}

func TestReadRecordCompacted(t *testing.T) {
	c := newStateCluster(t)
	if err := c.CreateTopic("compacted", 1, map[string]string{"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0"}); err != nil {
		t.Fatal(err)
	}
	c.produce(&kgo.Record{Topic: "compacted", Key: []byte("first"), Value: []byte("0")})
	for range 3 {
		c.produce(&kgo.Record{Topic: "compacted", Key: []byte("a"), Value: []byte("1")}, &kgo.Record{Topic: "compacted", Key: []byte("b"), Value: []byte("2")})
	}
	c.Compact()
	r := newReader(t, Config{Bootstrap: c.ListenAddrs()})
	var missing, found int
	for o := range int64(7) {
		got, err := r.Record(t.Context(), "compacted", 0, o, 100)
		switch {
		case err != nil:
			t.Errorf("offset %d: %v", o, err)
		case got.Status == model.RecordMissing:
			missing++
		case got.Status == model.RecordFound:
			found++
		}
	}
	if missing == 0 || found == 0 || missing+found != 7 {
		t.Errorf("%d compacted away and %d found of 7", missing, found)
	}
}

func TestReadRecordOnKafka(t *testing.T) {
	t.Parallel()
	kafkatest.Run(t, func(t *testing.T, version string) {
		c := kafkatest.Shared(t, version)
		topic := kafkatest.Name("log")
		c.CreateTopic(t, topic, 1)
		logOf(t, topic, c.Bootstrap())
		checkReader(t, newReader(t, Config{Bootstrap: c.Bootstrap(), ReadOnly: true}), topic, model.RecordAborted)
	})
}

func TestGroupConfigs(t *testing.T) {
	c := newStateCluster(t, kfake.BrokerConfigs(map[string]string{"group.share.delivery.count.limit": "7"}))
	c.SetGroupConfigs("g", map[string]string{"share.auto.offset.reset": "earliest"})
	r := newReader(t, Config{Bootstrap: c.ListenAddrs(), ReadOnly: true})
	got, err := r.GroupConfigs(t.Context(), "g")
	if err != nil {
		t.Fatal(err)
	}
	if v, ok := got.Find(model.ConfigShareReset); !ok || v.Value != "earliest" || v.Source != model.ConfigOfGroup {
		t.Errorf("reset policy %+v in %+v", v, got)
	}
	if got.DeliveryLimit() != model.Some[int64](7) {
		t.Errorf("delivery limit %v, problems %v", got.DeliveryLimit(), got.Problems)
	}
}

// On 4.1 the limits come from the broker, from 4.3 on from the group.
func TestGroupConfigsOnKafka(t *testing.T) {
	kafkatest.Run(t, func(t *testing.T, version string) {
		c := kafkatest.Shared(t, version)
		group := kafkatest.Name("configs")
		c.SetGroupConfig(t, group, model.ConfigLockDuration, "15000")
		c.SetGroupConfig(t, group, model.ConfigShareReset, "earliest")
		r := newReader(t, Config{Bootstrap: c.Bootstrap(), ReadOnly: true})
		var got model.GroupConfigs
		kafkatest.Await(t, "the configs are in force", func() error {
			var err error
			got, err = r.GroupConfigs(t.Context(), group)
			if v, _ := got.Find(model.ConfigShareReset); err == nil && v.Source != model.ConfigOfGroup {
				err = errors.New(v.Value)
			}
			return err
		})
		if d := got.LockDuration().Or(0); d.Seconds() != 15 {
			t.Errorf("lock duration %v", d)
		}
		if got.DeliveryLimit() != model.Some[int64](5) || got.RecordLocks() != model.Some[int64](2000) || len(got.Problems) > 0 {
			t.Errorf("limits %v and %v, problems %v", got.DeliveryLimit(), got.RecordLocks(), got.Problems)
		}
		limit, _ := got.Find(model.ConfigDeliveryLimit)
		if fromBroker := strings.HasPrefix(limit.Key, "group."); fromBroker != strings.HasPrefix(version, "4.1") || limit.Source != model.ConfigOfDefault {
			t.Errorf("the limit is from %+v", limit)
		}
	})
}
