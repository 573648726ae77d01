package demo

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumerGroup is an application that reads with a consumer group.
type consumerGroup struct {
	id     string
	topics []string
	// lag is how many records each partition is behind at the start; noCommit for a group that never
	// committed.
	lag int64
	// members is how many read; 0 for a group that nobody runs.
	members int
	// protocol is how they are assigned partitions.
	protocol protocol
	// static members keep their identity across restarts (KIP-345).
	static bool
	// perMember is how many records a second each member can handle; [unlimited] for all there are and 0 for none: such a
	// member is alive and gets nowhere.
	perMember float64
	// clings is true for members that keep their partitions whatever becomes of the topics.
	clings bool
	// guest is a further member that comes and goes.
	guest bool
}

const (
	noCommit  int64   = -1
	unlimited float64 = -1
)

type protocol uint8

const (
	eager       protocol = iota // classic: all stop while partitions move
	cooperative                 // classic, KIP-429: only what moves stops
	kip848                      // assigned by the broker (KIP-848)
)

var consumerGroups = []consumerGroup{
	// Keeps up.
	{id: "order-service", topics: []string{topicOrders}, lag: 3, members: 3, protocol: kip848, perMember: unlimited},
	{id: "payment-processor", topics: []string{topicPayments}, lag: 2, members: 2, protocol: eager, static: true, perMember: unlimited},
	{id: "fulfilment", topics: []string{topicShipping, topicStock}, lag: 2, members: 3, protocol: cooperative, perMember: unlimited},
	// Falls behind, most of it on the partition with the skewed key.
	{id: "clickstream-enricher", topics: []string{topicViews}, lag: 240, members: 2, protocol: kip848, perMember: 2.5},
	// Alive, no progress.
	{id: "invoice-renderer", topics: []string{topicInvoices}, lag: 140, members: 2, protocol: eager},
	// More members than partitions.
	{id: "audit-archiver", topics: []string{topicAudit}, lag: 1, members: 4, protocol: kip848, perMember: unlimited},
	// Nobody consumes.
	{id: "billing-export", topics: []string{topicPayments}, lag: 535},
	// Done, and nobody is there.
	{id: "price-importer", topics: []string{topicPrices}},
	// Catches up.
	{id: "notification-sender", topics: []string{topicNotify}, lag: 1800, members: 2, protocol: kip848, perMember: 8},
	// Rebalances again and again.
	{id: "search-indexer", topics: []string{topicProducts}, lag: 4, members: 2, protocol: eager, perMember: unlimited, guest: true},
	// Clings to a topic that was deleted, and to one that is there.
	{id: "legacy-erp-bridge", topics: []string{topicLegacy, topicStock}, lag: 5, members: 1, clings: true},
	// Committed an offset that retention has taken since.
	{id: "risk-scoring", topics: []string{topicFraud}, lag: 2300, members: 1, protocol: cooperative},
	// Reads transactions: their control records stay behind as lag.
	{id: "ledger-balancer", topics: []string{topicLedger}, members: 1, protocol: kip848, perMember: unlimited},
	// Has a member and no commit.
	{id: "price-watcher", topics: []string{topicPrices}, lag: noCommit, members: 1, protocol: eager},
}

// fraudKept is how many records of the fraud topic retention leaves at the start.
const fraudKept = 900

// commitPast commits the offsets of all groups, deletes what is deleted, and puts the share groups at their
// offsets.
func (c *Cluster) commitPast(ctx context.Context, ends ends) error {
	cl, err := c.client("shop-admin")
	if err != nil {
		return err
	}
	defer cl.Close()
	adm := kadm.NewClient(cl)
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		first error
	)
	do := func(what string, fn func() error) {
		wg.Go(func() {
			if err := fn(); err != nil {
				mu.Lock()
				defer mu.Unlock()
				if first == nil {
					first = fmt.Errorf("%s: %w", what, err)
				}
			}
		})
	}
	for i := range consumerGroups {
		g := &consumerGroups[i]
		if g.lag == noCommit {
			continue
		}
		do("commit offsets of "+g.id, func() error {
			var o kadm.Offsets
			for _, t := range g.topics {
				for p, end := range ends[t] {
					o.AddOffset(t, int32(p), max(0, end-g.lag), -1)
				}
			}
			if err := adm.CommitAllOffsets(ctx, g.id, o); err != nil || g.protocol != kip848 {
				return err
			}
			return c.visit(ctx, cl, g)
		})
	}
	for i := range shareGroups {
		g := &shareGroups[i]
		do("place share group "+g.id, func() error { return c.placeShareGroup(ctx, cl, g, ends) })
	}
	wg.Wait()
	if first != nil {
		return first
	}
	for i := range topics {
		if topics[i].deleted {
			if err := c.kfake.DeleteTopic(topics[i].name); err != nil {
				return fmt.Errorf("delete %s: %w", topics[i].name, err)
			}
		}
	}
	return c.kfake.DeleteRecords(topicFraud, 0, ends[topicFraud][0]-fraudKept)
}

// visit lets a member join a group and leave it: a commit alone makes a group classic until the first member comes.
func (c *Cluster) visit(ctx context.Context, cl *kgo.Client, g *consumerGroup) error {
	req := kmsg.NewPtrConsumerGroupHeartbeatRequest()
	req.Group, req.MemberID = g.id, c.names.memberID(g.id)
	req.RebalanceTimeoutMillis = int32(time.Minute.Milliseconds())
	req.SubscribedTopicNames, req.Topics = g.topics, []kmsg.ConsumerGroupHeartbeatRequestTopic{}
	for _, epoch := range []int32{0, finalEpoch} {
		req.MemberEpoch = epoch
		resp, err := req.RequestWith(ctx, cl)
		if err == nil {
			err = kerr.ErrorForCode(resp.ErrorCode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// startConsumers starts the members of all consumer groups.
func (c *Cluster) startConsumers(ctx context.Context) {
	for i := range consumerGroups {
		g := &consumerGroups[i]
		for m := range g.members {
			id := c.names.pod(g.id, m)
			c.wg.Go(func() {
				if g.clings {
					c.clingOn(ctx, g, id)
					return
				}
				c.consume(ctx, g, id, m)
			})
		}
		if g.guest {
			c.wg.Go(func() { c.consumeNowAndThen(ctx, g) })
		}
	}
	c.wg.Go(func() { c.retain(ctx) })
}

// consume is the life of a member until ctx ends.
func (c *Cluster) consume(ctx context.Context, g *consumerGroup, clientID string, n int) {
	opts := []kgo.Opt{
		kgo.ConsumerGroup(g.id),
		kgo.ConsumeTopics(g.topics...),
		kgo.DisableAutoCommit(),
		kgo.HeartbeatInterval(heartbeatInterval),
		kgo.FetchMaxWait(time.Second),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		// Closing waits for a join in flight, and that one for the other members: up to a minute, unless
		// the client's own context ends with the cluster.
		kgo.WithContext(c.life),
	}
	switch g.protocol {
	case kip848:
		opts = append(opts, kgo.ServerSideBalancer())
	case eager:
		opts = append(opts, kgo.Balancers(kgo.RangeBalancer()))
	case cooperative:
		opts = append(opts, kgo.Balancers(kgo.CooperativeStickyBalancer()))
	}
	var instance *string
	if g.static {
		instance = kmsg.StringPtr(g.id + "-" + strconv.Itoa(n))
		opts = append(opts, kgo.InstanceID(*instance))
	}
	at := newPosition(g.id, instance)
	cl, err := c.client(clientID, append(opts, at.options()...)...)
	if err != nil {
		return
	}
	defer cl.Close()
	at.client = cl
	switch g.perMember {
	case 0:
		<-ctx.Done() // kgo's heartbeats go on
	case unlimited:
		for wait(ctx, 100*time.Millisecond) {
			at.poll(ctx).EachRecord(func(r *kgo.Record) { at.handled(r) })
			at.commit(ctx)
		}
	default:
		trickle(ctx, at, time.Duration(float64(time.Second)/g.perMember))
	}
}

// trickle handles one record at a time and each of them for so long, the partitions in turn. Only what was handled is
// committed.
func trickle(ctx context.Context, at *position, each time.Duration) {
	type queue struct{ records []*kgo.Record }
	var (
		queues = make(map[string]*queue)
		turns  []*queue
	)
	for wait(ctx, each) {
		//lint:ignore SA1012 kgo takes nil for "only what is there"
		at.poll(nil).EachPartition(func(p kgo.FetchTopicPartition) {
			name := fmt.Sprint(p.Topic, "/", p.Partition)
			q := queues[name]
			if q == nil {
				q = new(queue)
				queues[name], turns = q, append(turns, q)
			}
			q.records = append(q.records, p.Records...)
		})
		for i, q := range turns {
			if len(q.records) > 0 {
				if at.handled(q.records[0]) {
					q.records = q.records[1:]
				} else {
					q.records = nil
				}
				turns = append(slices.Delete(turns, i, i+1), q)
				break
			}
		}
		at.commit(ctx)
	}
}

// consumeNowAndThen is a member that an autoscaler adds and takes away again.
func (c *Cluster) consumeNowAndThen(ctx context.Context, g *consumerGroup) {
	r := random(c.seed, "guest/"+g.id)
	for n := g.members; wait(ctx, time.Duration(12+r.IntN(15))*time.Second); n++ {
		visit, end := context.WithTimeout(ctx, time.Duration(8+r.IntN(10))*time.Second)
		c.consume(visit, g, c.names.pod(g.id, n), n)
		end()
	}
}

// retain lets retention eat the oldest records of the fraud topic.
func (c *Cluster) retain(ctx context.Context) {
	for wait(ctx, 10*time.Second) {
		p := c.kfake.PartitionInfo(topicFraud, 0)
		if p == nil {
			return
		}
		if c.kfake.DeleteRecords(topicFraud, 0, min(p.LogStartOffset+10, p.HighWatermark)) != nil {
			return
		}
	}
}

// all runs functions at the same time and returns when the last has.
func all(ctx context.Context, fns []func(context.Context)) {
	var wg sync.WaitGroup
	for _, fn := range fns {
		wg.Go(func() { fn(ctx) })
	}
	wg.Wait()
}
