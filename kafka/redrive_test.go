package kafka

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// deadLetter is a record as Kafka 4.4 writes it for orders/0.
func deadLetter(offset int, value []byte) *kgo.Record {
	h := func(key, value string) kgo.RecordHeader { return kgo.RecordHeader{Key: key, Value: []byte(value)} }
	r := &kgo.Record{Topic: "dlq.orders", Value: value, Headers: []kgo.RecordHeader{
		h(model.DeadLetterTopic, "orders"), h(model.DeadLetterPartition, "0"), h(model.DeadLetterOffset, fmt.Sprint(offset)),
		h(model.DeadLetterGroup, "workers"), h(model.DeadLetterCount, "5"), h(model.DeadLetterMessage, "Offset rejected by client."),
	}}
	return r
}

func TestRedrive(t *testing.T) {
	k := cluster(t, kfake.SeedTopics(1, "orders", "dlq.orders", "again"))
	c := Connect(Config{Bootstrap: k.ListenAddrs(), Audit: auditFile(t)})
	t.Cleanup(c.Close)
	cl, err := kgo.NewClient(kgo.SeedBrokers(k.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	for i := range 5 {
		r := &kgo.Record{Topic: "orders", Key: fmt.Append(nil, "k", i), Value: fmt.Append(nil, "v", i), Headers: []kgo.RecordHeader{{Key: "trace", Value: []byte{0, 1}}, {Key: model.RedriveOffset, Value: []byte("old")}}}
		if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
			t.Fatal(err)
		}
	}
	letters := []*kgo.Record{deadLetter(3, nil), deadLetter(0, nil), deadLetter(1, []byte("copied"))}
	if err := cl.ProduceSync(t.Context(), letters...).FirstErr(); err != nil {
		t.Fatal(err)
	}
	var gone kadm.Offsets
	gone.Add(kadm.Offset{Topic: "orders", At: 2})
	if _, err := kadm.NewClient(cl).DeleteRecords(t.Context(), gone); err != nil {
		t.Fatal(err)
	}

	d := NewRedriver(c)
	t.Cleanup(d.Close)
	letter := func(offset int64) model.RecordRef { return model.RecordRef{Topic: "dlq.orders", Offset: offset} }
	refs := append(at(0, 4, 1, 99), letter(0), letter(1), letter(2))
	items, err := d.Preview(t.Context(), "workers", refs, "")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []struct {
		ready  bool
		origin int64
		value  string
		text   string
	}{
		{true, 4, "v4", ""},
		{false, 1, "", "retention or a deletion"},
		{false, 99, "", "not written yet"},
		{true, 3, "v3", ""},
		{false, 0, "", "no copy of it"},
		{true, 1, "copied", "headers are lost"},
	} {
		it := &items[i]
		if it.Ready != want.ready || it.Origin.Offset != want.origin || string(it.Content.Value) != want.value || !strings.Contains(it.Text, want.text) || it.Ready && want.text == "" && it.Text != "" {
			t.Errorf("%v: %+v", it.Marked, it)
		}
	}
	if it := items[3]; it.Group != "workers" || it.Reason != "Offset rejected by client." || it.Target != "orders" {
		t.Errorf("%+v", it)
	}

	began, err := d.Redrive(t.Context(), items, "")
	if err != nil || len(began) != 1 {
		t.Fatal(began, err)
	}
	if got := lastOf(t, began[0]); got.Acked != 3 || got.Failed != 0 {
		t.Fatalf("%+v", got)
	}
	for i, r := range consumed(t, k, "orders", 6)[3:] { // 2, 3 and 4 were left
		headers := make(map[string]string)
		for _, h := range r.Headers {
			if _, twice := headers[h.Key]; twice {
				t.Errorf("header %s twice", h.Key)
			}
			headers[h.Key] = string(h.Value)
		}
		want := []string{"4", "3", "1"}[i]
		if headers[model.RedriveOffset] != want || headers[model.RedriveTopic] != "orders" || headers[model.RedrivePartition] != "0" || headers[model.RedriveGroup] != "workers" {
			t.Errorf("record %d: %v", i, headers)
		}
		if i < 2 && (headers["trace"] != "\x00\x01" || string(r.Key) != "k"+want || string(r.Value) != "v"+want) {
			t.Errorf("record %d is %q %q %v", i, r.Key, r.Value, headers)
		}
	}
	again, err := d.Preview(t.Context(), "workers", slices.Concat(at(0, 3), at(0, 2)), "again")
	if err != nil || again[0].Before != 1 || !strings.Contains(again[0].Text, "redriven before") || again[1].Before != 0 || again[1].Target != "again" {
		t.Errorf("%+v, %v", again, err)
	}
	lines := auditLines(t, c.cfg.Audit)
	if len(lines) != 2 || lines[0]["action"] != "redrive" || strings.Contains(fmt.Sprint(lines), "copied") {
		t.Errorf("audit: %v", lines)
	}
}

func TestLastRecord(t *testing.T) {
	c, _ := writer(t)
	r := NewReader(c)
	t.Cleanup(r.Close)
	if _, ok, err := r.Last(t.Context(), "orders", 100); ok || err != nil {
		t.Errorf("of an empty topic: %v, %v", ok, err)
	}
	for i, p := range []int32{0, 2, 2, 1} {
		produceAll(t, c, model.ProduceSpec{Topic: "orders", Partition: model.Some(p), Value: fmt.Sprint(i), Count: 1})
	}
	if got, ok, err := r.Last(t.Context(), "orders", 100); !ok || err != nil || string(got.Value) != "3" {
		t.Errorf("%+v, %v, %v", got, ok, err)
	}
	if _, _, err := r.Last(t.Context(), "nothing", 100); err == nil {
		t.Error("a topic that does not exist has a last record")
	}
}

// Every action is tried on a connection that is read-only, and the wire carries nothing but reads.
func TestReadOnlyRefusesEveryAction(t *testing.T) {
	_, k := writer(t)
	var w wire
	c := Connect(Config{Bootstrap: k.ListenAddrs(), Dial: w.dial, ReadOnly: true, Audit: auditFile(t)})
	t.Cleanup(c.Close)
	d := NewRedriver(c)
	t.Cleanup(d.Close)
	for name, try := range map[string]func() error{
		"take": func() error {
			_, err := c.Take(t.Context(), TakeRequest{Group: "workers", Topic: "orders", Count: 1})
			return err
		},
		"produce": func() error {
			_, err := c.Produce(t.Context(), model.ProduceSpec{Topic: "orders", Count: 1})
			return err
		},
		"redrive": func() error {
			_, err := d.Redrive(t.Context(), []model.RedriveItem{{Target: "orders", Ready: true}}, "")
			return err
		},
	} {
		if code, _ := c.Explain(try()); code != "read_only" {
			t.Errorf("%s: %q", name, code)
		}
	}
	for key := range w.seen() {
		if key := kmsg.Key(key); !slices.Contains(reads, key) {
			t.Errorf("%s was sent", key.Name())
		}
	}
}
