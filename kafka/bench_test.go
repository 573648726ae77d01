package kafka

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

const benchPartitions = 20

// BenchmarkSnapshot polls an embedded broker with many groups. The broker works and allocates in the same process, so only
// differences between two runs mean something; see BenchmarkSnapshotOfKafka for ratios.
func BenchmarkSnapshot(b *testing.B) {
	for _, groups := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			f := newFake(b, kfake.NumBrokers(1), kfake.SeedTopics(benchPartitions, "load"))
			benchPolls(b, f.client(), f.ListenAddrs(), groups)
		})
	}
}

// BenchmarkSnapshotOfKafka polls a real broker with 1,000 and 10,000 groups of 20 partitions, and compares with a bare client that
// sends only the necessary requests.
func BenchmarkSnapshotOfKafka(b *testing.B) {
	for _, groups := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("groups=%d", groups), func(b *testing.B) {
			c := kafkatest.Start(b, kafkatest.Latest(b), kafkatest.Options{})
			c.CreateTopic(b, "load", benchPartitions)
			benchPolls(b, c.Client(b), c.Bootstrap(), groups)
		})
	}
}

// benchPolls makes groups with a commit on each partition and measures three kinds of polls: bare, by a [bareClient];
// warm, when nothing changed since the last one; moving, when every log end did. They take turns, so that what else the
// machine does falls on all of them alike.
func benchPolls(b *testing.B, cl *kgo.Client, bootstrap []string, groups int) {
	kafkatest.CommitMany(b, cl, "g-", groups, "load", benchPartitions)
	produce := func() {
		records := make([]*kgo.Record, benchPartitions)
		for n := range records {
			records[n] = &kgo.Record{Topic: "load", Partition: int32(n), Value: []byte("v")}
		}
		if err := cl.ProduceSync(context.Background(), records...).FirstErr(); err != nil {
			b.Fatal(err)
		}
	}
	s, w := newSource(b, bootstrap)
	snapshot(b, s, model.Want{})
	var client bareClient
	client.open(b, bootstrap)
	client.poll(b)

	b.Run("polls", func(b *testing.B) {
		var bare, warm, moving measure
		requests := w.seen()
		for range b.N {
			warm.take(func() { snapshot(b, s, model.Want{}) })
			bare.take(func() { client.poll(b) })
			produce()
			moving.take(func() { snapshot(b, s, model.Want{}) })
		}
		sent := 0
		for _, n := range w.since(requests) {
			sent += n
		}
		b.ReportMetric(0, "ns/op") // of the three together
		b.ReportMetric(bare.milliseconds(), "bare-ms")
		b.ReportMetric(warm.milliseconds()/bare.milliseconds(), "warm/bare-time")
		b.ReportMetric(moving.milliseconds()/bare.milliseconds(), "moving/bare-time")
		b.ReportMetric(float64(warm.bytes)/float64(bare.bytes), "warm/bare-bytes")
		b.ReportMetric(float64(moving.bytes)/float64(bare.bytes), "moving/bare-bytes")
		b.ReportMetric(float64(client.requests), "bare-requests")
		b.ReportMetric(float64(sent)/float64(2*b.N), "requests")
		runtime.GC()
		var mem runtime.MemStats
		runtime.ReadMemStats(&mem)
		b.ReportMetric(float64(mem.HeapAlloc)/1e6, "live-MB")
	})
}

// measure is what polls took and allocated.
type measure struct {
	times []time.Duration
	bytes uint64
}

func (m *measure) take(poll func()) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	began := time.Now()
	poll()
	m.times = append(m.times, time.Since(began))
	runtime.ReadMemStats(&after)
	m.bytes += after.TotalAlloc - before.TotalAlloc
}

// milliseconds is the median.
func (m *measure) milliseconds() float64 {
	slices.Sort(m.times)
	return float64(m.times[len(m.times)/2]) / 1e6
}

// bareClient computes the lag of all groups of one broker with as little as that takes: ListGroups,
// DescribeGroups and OffsetFetch with 500 groups a request, and one ListOffsets.
type bareClient struct {
	broker   *kgo.Broker
	requests int
	lags     map[string]int64
}

// namedOffsetFetch is OffsetFetch up to the last version in which answers name topics by name.
type namedOffsetFetch struct{ *kmsg.OffsetFetchRequest }

func (namedOffsetFetch) MaxVersion() int16 { return 9 }

func (c *bareClient) open(b *testing.B, bootstrap []string) {
	cl, err := kgo.NewClient(kgo.SeedBrokers(bootstrap...))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(cl.Close)
	resp, err := kmsg.NewPtrMetadataRequest().RequestWith(context.Background(), cl)
	if err != nil {
		b.Fatal(err)
	}
	c.broker = cl.Broker(int(resp.Brokers[0].NodeID))
}

func (c *bareClient) ask(b *testing.B, req kmsg.Request) kmsg.Response {
	resp, err := c.broker.Request(context.Background(), req)
	if err != nil {
		b.Error(err)
	}
	return resp
}

func (c *bareClient) poll(b *testing.B) {
	listed := c.ask(b, kmsg.NewPtrListGroupsRequest()).(*kmsg.ListGroupsResponse)
	names := make([]string, 0, len(listed.Groups))
	for _, g := range listed.Groups {
		if strings.HasPrefix(g.Group, "g-") {
			names = append(names, g.Group)
		}
	}
	c.requests = 2
	var wg sync.WaitGroup
	answers := make([]*kmsg.OffsetFetchResponse, (len(names)+groupsPerRequest-1)/groupsPerRequest)
	for chunk := range slices.Chunk(names, groupsPerRequest) {
		n := (c.requests - 2) / 2
		c.requests += 2
		wg.Go(func() {
			req := kmsg.NewPtrDescribeGroupsRequest()
			req.Groups = chunk
			c.ask(b, req)
		})
		wg.Go(func() {
			req := kmsg.NewPtrOffsetFetchRequest()
			for _, name := range chunk {
				g := kmsg.NewOffsetFetchRequestGroup()
				g.Group = name
				req.Groups = append(req.Groups, g)
			}
			answers[n] = c.ask(b, namedOffsetFetch{req}).(*kmsg.OffsetFetchResponse)
		})
	}
	wg.Wait()
	wanted := map[string]map[int32]int64{}
	for _, a := range answers {
		for _, g := range a.Groups {
			for _, t := range g.Topics {
				if wanted[t.Topic] == nil {
					wanted[t.Topic] = map[int32]int64{}
				}
				for _, p := range t.Partitions {
					wanted[t.Topic][p.Partition] = -1
				}
			}
		}
	}
	var topics []kmsg.ListOffsetsRequestTopic
	for name, parts := range wanted {
		for n := range parts {
			topics = appendPartition(topics, name, n, latestOffset)
		}
	}
	req := kmsg.NewPtrListOffsetsRequest()
	req.Topics = topics
	for _, t := range c.ask(b, req).(*kmsg.ListOffsetsResponse).Topics {
		for _, p := range t.Partitions {
			wanted[t.Topic][p.Partition] = p.Offset
		}
	}
	c.lags = make(map[string]int64, len(names))
	for _, a := range answers {
		for _, g := range a.Groups {
			lag := int64(0)
			for _, t := range g.Topics {
				for _, p := range t.Partitions {
					lag += wanted[t.Topic][p.Partition] - p.Offset
				}
			}
			c.lags[g.Group] = lag
		}
	}
}
