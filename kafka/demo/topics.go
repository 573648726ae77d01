package demo

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// topic is a topic with its past and its producers.
type topic struct {
	name       string
	partitions int32
	configs    map[string]string
	// past is how many records each partition has from the start, produced over the span before it.
	past int
	span time.Duration
	// rate is how many records a second arrive from then on.
	rate float64
	// burst is how many records arrive at once now and then.
	burst int
	// hot is the partition that most records go to, as with a skewed key; -1 for none.
	hot int32
	// make makes the key and the value of the next record.
	make func(*maker) (key, value []byte)
	// transactional topics get their records in small transactions.
	transactional bool
	// deleted topics are gone before the first look, while their consumers are still there.
	deleted bool
}

const (
	topicOrders   = "order-events"
	topicPayments = "payments"
	topicShipping = "shipments"
	topicViews    = "page-views"
	topicAudit    = "audit-log"
	topicStock    = "inventory"
	topicNotify   = "notifications"
	topicInvoices = "invoices"
	topicFraud    = "fraud-signals"
	topicProducts = "product-updates"
	topicReturns  = "returns"
	topicEmail    = "email-outbox"
	topicLedger   = "ledger-entries"
	topicPrices   = "price-updates"
	topicLegacy   = "orders-legacy"
)

var topics = []topic{
	{name: topicOrders, partitions: 3, past: 1400, span: 3 * time.Hour, rate: 6, burst: 14, hot: -1, make: order},
	{name: topicPayments, partitions: 6, past: 900, span: 3 * time.Hour, rate: 5, hot: -1, make: payment},
	{name: topicShipping, partitions: 3, past: 700, span: 6 * time.Hour, rate: 2, hot: -1, make: shipment},
	{name: topicViews, partitions: 6, past: 1800, span: time.Hour, rate: 14, hot: 2, make: pageView},
	{name: topicAudit, partitions: 3, past: 500, span: 12 * time.Hour, rate: 2, hot: -1, make: audit},
	{name: topicStock, partitions: 4, past: 600, span: 6 * time.Hour, rate: 4, hot: -1, make: stock},
	{name: topicNotify, partitions: 4, past: 3200, span: 2 * time.Hour, rate: 3, hot: -1, make: notification},
	{name: topicInvoices, partitions: 2, past: 800, span: 24 * time.Hour, rate: 1, hot: -1, make: invoice},
	{name: topicFraud, partitions: 1, past: 2400, span: 24 * time.Hour, rate: 1, hot: -1, make: fraudSignal},
	{name: topicProducts, partitions: 3, past: 400, span: 12 * time.Hour, rate: 2, hot: -1, make: product,
		configs: map[string]string{"cleanup.policy": "compact"}},
	{name: topicReturns, partitions: 1, past: 180, span: 48 * time.Hour, hot: -1, make: returnedGoods},
	{name: topicEmail, partitions: 1, past: 260, span: time.Hour, rate: 1.5, hot: -1, make: email},
	{name: topicLedger, partitions: 2, past: 300, span: 24 * time.Hour, rate: 0.5, hot: -1, make: ledger, transactional: true},
	{name: topicPrices, partitions: 2, past: 240, span: 24 * time.Hour, hot: -1, make: price},
	{name: topicLegacy, partitions: 2, past: 50, span: 48 * time.Hour, hot: -1, make: order, deleted: true},
}

// ends are the log end offsets of topics by partition, as they were when the past was complete.
type ends map[string][]int64

// createTopics creates the topics with their past.
func (c *Cluster) createTopics(ctx context.Context, p *kgo.Client) (ends, error) {
	ends := make(ends)
	var firstErr error
	for i := range topics {
		t := &topics[i]
		if err := c.kfake.CreateTopic(t.name, t.partitions, t.configs); err != nil {
			return nil, fmt.Errorf("create %s: %w", t.name, err)
		}
		// kfake chooses leaders at random.
		for n := range t.partitions {
			if err := c.kfake.MoveTopicPartition(t.name, n, (int32(i)+n)%brokers); err != nil {
				return nil, fmt.Errorf("place %s/%d: %w", t.name, n, err)
			}
		}
		ends[t.name] = make([]int64, t.partitions)
	}
	now := time.Now()
	for i := range topics {
		t := &topics[i]
		m := newMaker(c.seed, t)
		for k := range t.past * int(t.partitions) {
			r := m.next()
			r.Timestamp = now.Add(-t.span + t.span*time.Duration(k)/time.Duration(t.past*int(t.partitions)))
			ends[t.name][r.Partition]++
			p.Produce(ctx, r, func(_ *kgo.Record, err error) {
				if err != nil && firstErr == nil {
					firstErr = err // promises are called one after the other
				}
			})
		}
	}
	if err := p.Flush(ctx); err != nil {
		return nil, fmt.Errorf("produce the past: %w", err)
	}
	if firstErr != nil {
		return nil, fmt.Errorf("produce the past: %w", firstErr)
	}
	return ends, nil
}

// maker makes the records of one topic, one after the other.
type maker struct {
	*rand.Rand
	topic *topic
	n     int64 // number of the record
}

func newMaker(seed uint64, t *topic) *maker {
	return &maker{Rand: random(seed, "topic/"+t.name), topic: t}
}

func (m *maker) next() *kgo.Record {
	m.n++
	key, value := m.topic.make(m)
	h := fnv.New32a()
	h.Write(key)
	partition := int32(h.Sum32() % uint32(m.topic.partitions))
	if m.topic.hot >= 0 && m.IntN(10) < 7 {
		partition = m.topic.hot
	}
	return &kgo.Record{
		Topic: m.topic.name, Partition: partition, Key: key, Value: value,
		Headers: []kgo.RecordHeader{
			{Key: "content-type", Value: []byte("application/json")},
			{Key: "trace-id", Value: fmt.Appendf(nil, "%016x%016x", m.Uint64(), m.Uint64())},
		},
	}
}

// newProducer makes the client that produces everything outside transactions.
func (c *Cluster) newProducer() (*kgo.Client, error) {
	return c.client(c.names.pod("shop-gateway", 0),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0),
		kgo.MaxBufferedRecords(1<<20),
	)
}

// startProducers lets the topics live. p is closed with the applications.
func (c *Cluster) startProducers(ctx context.Context, p *kgo.Client) {
	var producers []func(context.Context)
	for i := range topics {
		t := &topics[i]
		if t.rate == 0 {
			continue
		}
		m := newMaker(c.seed+1, t) // other content than the past's
		m.n = int64(t.past) * int64(t.partitions)
		if t.transactional {
			producers = append(producers, func(ctx context.Context) { c.produceTransactions(ctx, m) })
			continue
		}
		producers = append(producers, func(ctx context.Context) {
			for wait(ctx, m.pause()) {
				for range m.arriving() {
					p.Produce(ctx, m.next(), nil)
				}
			}
		})
	}
	c.wg.Go(func() {
		defer p.Close()
		all(ctx, producers)
	})
}

// pause is how long to wait for the next record: arrivals are independent of each other, but none takes
// longer than three times the mean.
func (m *maker) pause() time.Duration {
	return time.Duration(min(m.ExpFloat64(), 3) / m.topic.rate * float64(time.Second))
}

// arriving is how many records arrive together: mostly one.
func (m *maker) arriving() int {
	if m.topic.burst > 0 && m.IntN(60) == 0 {
		return m.topic.burst
	}
	return 1
}

// produceTransactions produces a record or a few per transaction. Each leaves a control record in the log, which no
// consumer reads.
func (c *Cluster) produceTransactions(ctx context.Context, m *maker) {
	cl, err := c.client(c.names.pod("ledger-writer", 0),
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.TransactionalID("ledger-writer"),
	)
	if err != nil {
		return
	}
	defer cl.Close()
	for wait(ctx, m.pause()) {
		if cl.BeginTransaction() != nil {
			return
		}
		for range 1 + m.IntN(3) {
			cl.Produce(ctx, m.next(), nil)
		}
		if cl.EndTransaction(ctx, kgo.TryCommit) != nil {
			return
		}
	}
}
