package demo_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/demo"
)

// bubble runs a test against a demo cluster in fake time.
func bubble(t *testing.T, seed uint64, test func(t *testing.T, cl *kgo.Client)) {
	synctest.Test(t, func(t *testing.T) {
		var vn kfake.VirtualNetwork
		c, err := demo.Start(t.Context(), demo.Options{
			Seed: seed, Ports: []int{9092, 9093, 9094}, Listen: vn.Listen, Dial: vn.DialContext,
		})
		if err != nil {
			t.Fatal(err)
		}
		cl, err := kgo.NewClient(kgo.SeedBrokers(c.Bootstrap()...), kgo.Dialer(vn.DialContext))
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			cl.Close()
			c.Close()
			time.Sleep(time.Minute) // timers of the brokers
		}()
		test(t, cl)
	})
}

// group is what can be seen of a group from outside.
type group struct {
	typ, state string
	clients    []string
	hosts      []string
	instances  int
	idle       int      // members without a partition
	topics     []string // assigned
	positions  map[string]int64
	lag, lost  int64
}

type cluster struct {
	t   *testing.T
	adm *kadm.Client
	cl  *kgo.Client
}

func (c cluster) look(id string) group {
	ctx := c.t.Context()
	g := group{positions: map[string]int64{}}
	listed, err := c.adm.ListGroups(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	g.typ, g.state = listed[id].GroupType, listed[id].State
	topics := map[string]bool{}
	switch g.typ {
	case "classic":
		described, err := c.adm.DescribeGroups(ctx, id)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, m := range described[id].Members {
			g.clients, g.hosts = append(g.clients, m.ClientID), append(g.hosts, m.ClientHost)
			if m.InstanceID != nil {
				g.instances++
			}
			a, ok := m.Assigned.AsConsumer()
			if !ok || len(a.Topics) == 0 {
				g.idle++
				continue
			}
			for _, t := range a.Topics {
				topics[t.Topic] = true
			}
		}
	case "consumer":
		described, err := c.adm.DescribeConsumerGroups(ctx, id)
		if err != nil {
			c.t.Fatal(err)
		}
		for _, m := range described[id].Members {
			g.clients, g.hosts = append(g.clients, m.ClientID), append(g.hosts, m.ClientHost)
			if len(m.Assignment) == 0 {
				g.idle++
			}
		}
	case "share":
		c.lookShare(id, &g)
	}
	for t := range topics {
		g.topics = append(g.topics, t)
	}
	if g.typ == "share" || g.typ == "" { // or it does not exist yet
		return g
	}
	commits, err := c.adm.FetchOffsets(ctx, id)
	if err != nil {
		c.t.Fatal(err)
	}
	starts, err := c.adm.ListStartOffsets(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	ends, err := c.adm.ListEndOffsets(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	commits.Each(func(o kadm.OffsetResponse) {
		g.positions[fmt.Sprintf("%s/%d", o.Topic, o.Partition)] = o.At
		start, _ := starts.Lookup(o.Topic, o.Partition)
		end, _ := ends.Lookup(o.Topic, o.Partition)
		g.lost += max(0, start.Offset-o.At)
		g.lag += end.Offset - max(o.At, start.Offset)
	})
	return g
}

func (c cluster) lookShare(id string, g *group) {
	describe := kmsg.NewPtrShareGroupDescribeRequest()
	describe.GroupIDs = []string{id}
	described, err := describe.RequestWith(c.t.Context(), c.cl)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, m := range described.Groups[0].Members {
		g.clients, g.hosts = append(g.clients, m.ClientID), append(g.hosts, m.ClientHost)
		if len(m.Assignment.TopicPartitions) == 0 {
			g.idle++
		}
	}
	offsets := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	rg := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
	rg.GroupID = id
	offsets.Groups = append(offsets.Groups, rg)
	answered, err := offsets.RequestWith(c.t.Context(), c.cl)
	if err != nil {
		c.t.Fatal(err)
	}
	for _, t := range answered.Groups[0].Topics {
		for _, p := range t.Partitions {
			g.positions[fmt.Sprintf("%s/%d", t.Topic, p.Partition)] = p.StartOffset
			g.lag += p.Lag
		}
	}
}

// until polls until what is true, for at most a minute of fake time.
func (c cluster) until(id, what string, is func(g group) bool) {
	c.t.Helper()
	var g group
	for range 240 {
		if g = c.look(id); is(g) {
			return
		}
		time.Sleep(250 * time.Millisecond)
	}
	c.t.Errorf("%s: not seen within a minute: %s; last %+v", id, what, g)
}

func sum(positions map[string]int64) (n int64) {
	for _, p := range positions {
		n += p
	}
	return n
}

// Every group is in the state that its story tells.
func TestStories(t *testing.T) {
	bubble(t, 1, func(t *testing.T, cl *kgo.Client) {
		c := cluster{t: t, adm: kadm.NewClient(cl), cl: cl}
		first := map[string]group{}
		at := func(id string) group { return first[id] }
		ids := []string{
			"order-service", "payment-processor", "fulfilment", "clickstream-enricher", "invoice-renderer", "audit-archiver", "billing-export",
			"price-importer", "notification-sender", "search-indexer", "legacy-erp-bridge", "risk-scoring", "ledger-balancer", "price-watcher",
			"order-workers", "order-audit", "email-dispatch", "label-printers",
		}
		for _, id := range ids {
			first[id] = c.look(id)
			if id != "price-watcher" && len(first[id].positions) == 0 {
				t.Errorf("%s has no offsets at the first look", id)
			}
		}
		stable := func(members int, typ string) func(g group) bool {
			return func(g group) bool { return g.state == "Stable" && len(g.clients) == members && g.typ == typ }
		}
		for id, is := range map[string]func(g group) bool{
			"order-service":        stable(3, "consumer"),
			"payment-processor":    func(g group) bool { return stable(2, "classic")(g) && g.instances == 2 },
			"fulfilment":           stable(3, "classic"),
			"clickstream-enricher": stable(2, "consumer"),
			"invoice-renderer":     stable(2, "classic"),
			"audit-archiver":       func(g group) bool { return stable(4, "consumer")(g) && g.idle == 1 },
			"billing-export":       func(g group) bool { return g.state == "Empty" && g.lag > 3000 },
			"price-importer":       func(g group) bool { return g.state == "Empty" && g.lag == 0 },
			"notification-sender":  stable(2, "consumer"),
			"risk-scoring":         func(g group) bool { return stable(1, "classic")(g) && g.lost > 1000 },
			"price-watcher":        func(g group) bool { return stable(1, "classic")(g) && len(g.positions) == 0 },
			"ledger-balancer":      func(g group) bool { return stable(1, "consumer")(g) && g.lag > 0 && g.lag < 10 },
			"legacy-erp-bridge": func(g group) bool {
				return stable(1, "classic")(g) && strings.Contains(fmt.Sprint(g.topics), "orders-legacy")
			},
			"order-workers":  stable(6, "share"),
			"order-audit":    stable(3, "share"),
			"email-dispatch": func(g group) bool { return stable(3, "share")(g) && g.idle == 0 && len(g.positions) == 1 },
			"returns-desk":   stable(1, "share"),
			"label-printers": func(g group) bool { return g.state == "Empty" && g.lag >= 3*320 },
		} {
			c.until(id, "state", is)
		}
		c.until("search-indexer", "a third member", func(g group) bool { return len(g.clients) == 3 })
		c.until("search-indexer", "the third member left", stable(2, "classic"))

		time.Sleep(time.Minute)
		for _, id := range ids {
			g := c.look(id)
			for i, host := range g.hosts {
				if !strings.HasPrefix(g.clients[i], id) || !strings.HasPrefix(host, "/10.42.") {
					t.Errorf("%s: member %s at %s", id, g.clients[i], host)
				}
			}
		}
		for _, id := range []string{"order-service", "payment-processor", "fulfilment", "audit-archiver", "search-indexer", "order-workers", "order-audit", "email-dispatch"} {
			if g := c.look(id); sum(g.positions) <= sum(at(id).positions) || g.lag > 150 {
				t.Errorf("%s does not keep up: lag %d, positions %v, at first %v", id, g.lag, g.positions, at(id).positions)
			}
		}
		for _, id := range []string{"invoice-renderer", "risk-scoring"} {
			if g := c.look(id); sum(g.positions) != sum(at(id).positions) {
				t.Errorf("%s is not stalled: %v, at first %v", id, g.positions, at(id).positions)
			}
		}
		if g := c.look("clickstream-enricher"); g.lag <= at("clickstream-enricher").lag || sum(g.positions) <= sum(at("clickstream-enricher").positions) {
			t.Errorf("clickstream-enricher does not fall behind: lag %d, at first %d", g.lag, at("clickstream-enricher").lag)
		}
		if g := c.look("notification-sender"); g.lag >= at("notification-sender").lag || g.lag == 0 {
			t.Errorf("notification-sender does not catch up: lag %d, at first %d", g.lag, at("notification-sender").lag)
		}
		if g := c.look("returns-desk"); g.lag != 0 || len(g.positions) != 1 {
			t.Errorf("returns-desk: %+v", g)
		}
	})
}

// The same seed makes the same records.
func TestSeed(t *testing.T) {
	read := func(seed uint64) (out string) {
		bubble(t, seed, func(t *testing.T, cl *kgo.Client) {
			cl.AddConsumePartitions(map[string]map[int32]kgo.Offset{"order-events": {1: kgo.NewOffset().At(0)}})
			for range 3 {
				ctx, end := context.WithTimeout(t.Context(), 10*time.Second)
				cl.PollRecords(ctx, 400).EachRecord(func(r *kgo.Record) {
					if len(out) < 20000 {
						out += fmt.Sprintf("%s %s %s\n", r.Key, r.Value, r.Headers[1].Value)
					}
				})
				end()
			}
		})
		return out
	}
	one, again, other := read(1), read(1), read(2)
	if one != again || one == "" {
		t.Error("the same seed made other records")
	}
	if one == other {
		t.Error("another seed made the same records")
	}
}
