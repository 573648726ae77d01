package kafka

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// BenchmarkColdRead reads 100,000 records in the 50 partitions of the state topic, of 1,000 share-partitions, until all are
// caught up. It reports the time against that of a bare consumer that reads the same records and does nothing with
// them, in the same run, and the memory that is held in the end.
func BenchmarkColdRead(b *testing.B) {
	const partitions, shares, perShare = 50, 1000, 100
	c, err := kfake.NewCluster(kfake.NumBrokers(3), kfake.SeedTopics(partitions, sharestate.Topic))
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	keys := fillStateTopic(b, c, partitions, shares, perShare)

	heap := func() float64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return float64(m.HeapAlloc)
	}
	var follow, bare time.Duration
	var held float64
	for b.Loop() {
		began := time.Now()
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.ConsumeTopics(sharestate.Topic), kgo.FetchMaxBytes(8<<20))
		if err != nil {
			b.Fatal(err)
		}
		for n := 0; n < shares*perShare; {
			n += cl.PollFetches(b.Context()).NumRecords()
		}
		bare += time.Since(began)
		cl.Close()

		before := heap()
		conn := Connect(Config{Bootstrap: c.ListenAddrs()})
		f := NewFollower(conn, FollowOptions{})
		began = time.Now()
		f.Watch(keys, nil)
		for {
			r, err := f.Next(b.Context())
			if err != nil {
				b.Fatal(err)
			}
			if caughtUp(keys...)(r) {
				break
			}
		}
		follow += time.Since(began)
		held = heap() - before
		f.Close()
		conn.Close()
	}
	b.ReportMetric(float64(follow)/float64(bare), "x-bare")
	b.ReportMetric(bare.Seconds()*1000/float64(b.N), "bare-ms")
	b.ReportMetric(follow.Seconds()*1000/float64(b.N), "follow-ms")
	b.ReportMetric(held/1e6, "held-MB")
}

// fillStateTopic writes the history of many share-partitions.
func fillStateTopic(b *testing.B, c *kfake.Cluster, partitions int32, shares, perShare int) []model.SharePartitionKey {
	b.Helper()
	cl, err := kgo.NewClient(kgo.SeedBrokers(c.ListenAddrs()...), kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerBatchCompression(kgo.NoCompression()), kgo.MaxBufferedRecords(shares*perShare))
	if err != nil {
		b.Fatal(err)
	}
	defer cl.Close()
	keys := make([]model.SharePartitionKey, shares)
	for i := range keys {
		keys[i] = key(fmt.Sprintf("group-%04d", i))
	}
	failed := func(_ *kgo.Record, err error) {
		if err != nil {
			b.Error(err)
		}
	}
	for j := range int64(perShare) {
		for _, k := range keys {
			w := outcome(j, j, model.StateAcknowledged, 1)
			if j == 0 {
				w = initial()
			}
			for _, r := range stateRecords(k, partitions, w) {
				cl.Produce(b.Context(), r, failed)
			}
		}
	}
	if err := cl.Flush(b.Context()); err != nil {
		b.Fatal(err)
	}
	return keys
}
