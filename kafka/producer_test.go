package kafka

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

// writer is a connection that may write, to an embedded cluster with the topics orders and small.
func writer(t *testing.T, opts ...kfake.Opt) (*Connection, *kfake.Cluster) {
	t.Helper()
	k := cluster(t, append([]kfake.Opt{kfake.SeedTopics(3, "orders")}, opts...)...)
	c := Connect(Config{Bootstrap: k.ListenAddrs(), Audit: auditFile(t)})
	t.Cleanup(c.Close)
	return c, k
}

// produceAll produces and returns how it ended.
func produceAll(t testing.TB, c *Connection, spec model.ProduceSpec) *model.Production {
	t.Helper()
	p, err := c.Produce(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	return lastOf(t, p)
}

func lastOf(t testing.TB, p *Producer) *model.Production {
	t.Helper()
	for {
		now, err := p.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now.Done {
			return now
		}
	}
}

// consumed reads n records of a topic, by partition and offset.
func consumed(t *testing.T, k *kfake.Cluster, topic string, n int) []*kgo.Record {
	t.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(k.ListenAddrs()...), kgo.ConsumeTopics(topic), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var out []*kgo.Record
	for len(out) < n && ctx.Err() == nil {
		out = append(out, cl.PollFetches(ctx).Records()...)
	}
	if len(out) != n {
		t.Fatalf("%s has %d records, want %d", topic, len(out), n)
	}
	slices.SortFunc(out, func(a, b *kgo.Record) int {
		return model.CompareRecordRefs(model.RecordRef{Partition: a.Partition, Offset: a.Offset}, model.RecordRef{Partition: b.Partition, Offset: b.Offset})
	})
	return out
}

func TestProduceFromTemplates(t *testing.T) {
	c, k := writer(t)
	got := produceAll(t, c, model.ProduceSpec{
		Topic: "orders", Partition: model.Some[int32](2), Count: 3, Compression: "zstd",
		Key: "order-{{.N}}", Value: `{"id":"{{.UUID}}","at":"{{.Now}}","colour":"{{choice "red" "blue"}}","n":{{random 5 5}}}`,
		Headers: []model.HeaderSpec{{Key: "source", Value: "desk {{.N}}"}},
	})
	if got.Acked != 3 || got.Failed != 0 || got.Problem != nil || got.Canceled {
		t.Fatalf("%+v", got)
	}
	expect(t, "partitions", got.Partitions, []model.Produced{{Partition: 2, First: 0, Last: 2, Count: 3}})
	if r := got.Results[2]; !r.OK || r.Text != "record 3: written to partition 2 of orders at offset 2" {
		t.Errorf("%+v", r)
	}
	for i, r := range consumed(t, k, "orders", 3) {
		if r.Partition != 2 || string(r.Key) != fmt.Sprint("order-", i+1) || string(r.Headers[0].Value) != fmt.Sprint("desk ", i+1) {
			t.Errorf("record %d: %v %q %q", i, r.Partition, r.Key, r.Headers)
		}
		if problem := model.JSONProblem(string(r.Value)); problem != "" || !strings.HasSuffix(string(r.Value), `"n":5}`) {
			t.Errorf("value %s: %s", r.Value, problem)
		}
	}
	lines := auditLines(t, c.cfg.Audit)
	if len(lines) != 2 || lines[0]["action"] != "produce" || lines[1]["ok"] != 3.0 || strings.Contains(fmt.Sprint(lines), "colour") {
		t.Errorf("audit: %v", lines)
	}
}

func TestProduceFromFile(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "values")
	if err := os.WriteFile(file, []byte("one\ntwo\r\n\nfour"), 0o600); err != nil {
		t.Fatal(err)
	}
	zero := model.Some[int32](0)
	for _, tt := range []struct {
		name string
		spec model.ProduceSpec
		want []string
	}{
		{"every line", model.ProduceSpec{Partition: zero, File: file}, []string{"one", "two", "", "four"}},
		{"some lines", model.ProduceSpec{Partition: zero, File: file, Count: 2}, []string{"one", "two"}},
		{"more than there are", model.ProduceSpec{Partition: zero, File: file, Count: 5}, []string{"one", "two", "", "four", "one"}},
		{"whole", model.ProduceSpec{Partition: zero, File: file, Whole: true, Count: 1}, []string{"one\ntwo\r\n\nfour"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, k := writer(t)
			tt.spec.Topic = "orders"
			if got := produceAll(t, c, tt.spec); got.Acked != int64(len(tt.want)) || got.Problem != nil {
				t.Fatalf("%+v", got)
			}
			var values []string
			for _, r := range consumed(t, k, "orders", len(tt.want)) {
				if r.Key != nil {
					t.Errorf("key %q", r.Key)
				}
				values = append(values, string(r.Value))
			}
			expect(t, "values", values, tt.want)
		})
	}
}

func TestProduceTombstone(t *testing.T) {
	c, k := writer(t)
	produceAll(t, c, model.ProduceSpec{Topic: "orders", Key: "k", Value: "ignored", Tombstone: true, Count: 1})
	if r := consumed(t, k, "orders", 1)[0]; r.Value != nil || string(r.Key) != "k" {
		t.Errorf("%q: %q", r.Key, r.Value)
	}
}

// What cannot work is refused before anything is sent, and in words.
func TestProduceRefused(t *testing.T) {
	c, k := writer(t)
	if err := k.CreateTopic("__internal", 1, map[string]string{"kfake.is_internal": "true"}); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name string
		spec model.ProduceSpec
		want string
	}{
		{"no such topic", model.ProduceSpec{Topic: "nothing", Count: 1}, "does not have this topic"},
		{"no such partition", model.ProduceSpec{Topic: "orders", Partition: model.Some[int32](9), Count: 1}, "no partition 9"},
		{"internal topic", model.ProduceSpec{Topic: "__internal", Count: 1}, "Kafka's own"},
		{"internal topic, forced by another name", model.ProduceSpec{Topic: "__internal", Force: "orders", Count: 1}, "Kafka's own"},
		{"template", model.ProduceSpec{Topic: "orders", Value: "{{.Nothing}}", Count: 1}, "Nothing"},
		{"no file", model.ProduceSpec{Topic: "orders", File: filepath.Join(t.TempDir(), "none")}, "no such file"},
		{"count", model.ProduceSpec{Topic: "orders"}, "1 or more"},
		{"compression", model.ProduceSpec{Topic: "orders", Count: 1, Compression: "best"}, "gzip"},
	} {
		_, err := c.Produce(t.Context(), tt.spec)
		if _, text := c.Explain(err); err == nil || !strings.Contains(text, tt.want) {
			t.Errorf("%s: %q", tt.name, text)
		}
	}
	if got := produceAll(t, c, model.ProduceSpec{Topic: "__internal", Force: "__internal", Count: 1}); got.Acked != 1 {
		t.Errorf("forced: %+v", got)
	}
}

// One record that is refused does not keep the others from being written, and has its reason.
func TestProduceReasonPerRecord(t *testing.T) {
	file := filepath.Join(t.TempDir(), "values")
	if err := os.WriteFile(file, []byte("a\n"+strings.Repeat("x", 3<<20)+"\nb\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, _ := writer(t)
	got := produceAll(t, c, model.ProduceSpec{Topic: "orders", File: file})
	if got.Acked != 2 || got.Failed != 1 || len(got.Reasons) != 1 || got.Reasons[0].Code != "MESSAGE_TOO_LARGE" {
		t.Fatalf("%+v", got)
	}
	if r := got.Results[len(got.Results)-1]; r.OK || !strings.HasPrefix(r.Text, "record 2: ") {
		t.Errorf("%+v", r)
	}
}

// Nobody answers what was produced with acks none: nothing is claimed of it, least of all offsets.
func TestProduceWithoutAcks(t *testing.T) {
	c, k := writer(t)
	got := produceAll(t, c, model.ProduceSpec{Topic: "orders", Value: "v", Count: 5, Acks: model.AcksNone})
	if got.Unheard != 5 || got.Open != 5 || got.Acked != 0 || got.Failed != 0 || len(got.Partitions) != 0 || len(got.Results) != 0 {
		t.Errorf("%+v", got)
	}
	consumed(t, k, "orders", 5)
}

func TestProduceAtARateAndCancel(t *testing.T) {
	c, _ := writer(t)
	p, err := c.Produce(t.Context(), model.ProduceSpec{Topic: "orders", Value: "v", Count: 1_000_000, Rate: 200})
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	for {
		now, err := p.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if now.Acked >= 50 {
			break
		}
	}
	if took := time.Since(began); took < 200*time.Millisecond {
		t.Errorf("50 records at 200 per second took %s", took)
	}
	p.Cancel()
	got := lastOf(t, p)
	if !got.Canceled || got.Sent != got.Acked+got.Failed+got.Open || got.Sent >= 10_000 {
		t.Errorf("%+v", got)
	}
	if _, err := p.Next(t.Context()); err != ErrClosed {
		t.Errorf("after the end: %v", err)
	}
}

// The ratio of our throughput to that of kgo alone, with the same options.
func BenchmarkProduce(b *testing.B) {
	k, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(3, "orders", "bare"))
	if err != nil {
		b.Fatal(err)
	}
	defer k.Close()
	benchmarkProduce(b, k.ListenAddrs(), 100_000)
}

func benchmarkProduce(b *testing.B, bootstrap []string, n int64) {
	c := Connect(Config{Bootstrap: bootstrap, Audit: auditFile(b)})
	defer c.Close()
	spec := model.ProduceSpec{Topic: "orders", Value: strings.Repeat("v", 1000), Count: n}
	var ours, bare time.Duration
	measure := []func(){
		func() {
			got := produceAll(b, c, spec)
			if got.Acked != n {
				b.Fatalf("%+v", got)
			}
			ours += got.Ended.Sub(got.Began)
		},
		func() {
			cl, err := c.client(jobProduce, produceOptions(&spec)...)
			if err != nil {
				b.Fatal(err)
			}
			defer cl.Close()
			value := []byte(spec.Value)
			began := time.Now()
			for range n {
				cl.Produce(b.Context(), &kgo.Record{Topic: "bare", Value: value}, nil)
			}
			if err := cl.Flush(b.Context()); err != nil {
				b.Fatal(err)
			}
			bare += time.Since(began)
		},
	}
	// A broker is slow at first; then the two take turns in going first.
	measure[0]()
	measure[1]()
	ours, bare = 0, 0
	for i := 0; b.Loop(); i++ {
		measure[i%2]()
		measure[(i+1)%2]()
	}
	b.ReportMetric(bare.Seconds()/ours.Seconds(), "of-bare")
	b.ReportMetric(float64(n)*float64(b.N)/ours.Seconds(), "records/s")
}

func BenchmarkProduceReal(b *testing.B) {
	k := kafkatest.Shared(b, kafkatest.Latest(b))
	k.CreateTopic(b, "orders", 3)
	k.CreateTopic(b, "bare", 3)
	benchmarkProduce(b, k.Bootstrap(), 100_000)
}
