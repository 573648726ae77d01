package demo

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// What makes the mirror's view incomplete or late: acknowledgements on fetches that wait, and in one case responses that
// nobody gets and connections that die with records held, in the other leaders that move. When an acknowledgement at a
// former leader is refused and nobody gets that answer, only the next delivery can tell, so the two are not mixed.
func TestMirrorUnderStress(t *testing.T) {
	stress := map[string]func(ctx context.Context, r *rig, rng *rand.Rand){
		"members vanish": func(ctx context.Context, r *rig, rng *rand.Rand) {
			for range 3 {
				own := rand.New(rand.NewPCG(rng.Uint64(), 0))
				r.wg.Go(func() { r.vanish(ctx, own) })
			}
		},
		"leaders move": func(ctx context.Context, r *rig, rng *rand.Rand) {
			r.wg.Go(func() {
				for wait(ctx, time.Duration(3+rng.IntN(10))*time.Second) {
					if err := r.kfake.MoveTopicPartition(testTopic, rng.Int32N(3), rng.Int32N(brokers)); err != nil {
						r.Error(err)
					}
				}
			})
		},
	}
	for name, disturb := range stress {
		for seed := range uint64(2) {
			t.Run(fmt.Sprint(name, " ", seed), func(t *testing.T) {
				inBubble(t, func(r *rig) {
					ctx, stop := context.WithCancel(r.Context())
					disturbed, calm := context.WithCancel(ctx)
					r.produce(ctx, 20)
					r.share(ctx, steady, slow, moody, outOfOrder, brisk)
					r.shareWithKgo(ctx)
					disturb(disturbed, r, rand.New(rand.NewPCG(seed, 0)))
					time.Sleep(90 * time.Second)
					calm()
					time.Sleep(30 * time.Second)
					stop()
					time.Sleep(sessionTimeout + lockDuration + 5*time.Second)
					if n := r.journal(r.compare(), false); n < 300 {
						r.Errorf("only %d records were finished", n)
					}
				})
			})
		}
	}
}

// shareWithKgo is a member with kgo's own share consumer, which acknowledges with its next fetch.
func (r *rig) shareWithKgo(ctx context.Context) {
	cl, err := r.client("kgo-worker", kgo.ShareGroup(testGroup), kgo.ConsumeTopics(testTopic), kgo.ShareMaxRecords(4), kgo.ShareMaxRecordsStrict(), kgo.FetchMaxWait(250*time.Millisecond))
	if err != nil {
		r.Fatal(err)
	}
	r.wg.Go(func() {
		defer cl.Close()
		for n := 0; wait(ctx, 700*time.Millisecond); n++ {
			cl.PollRecords(ctx, 4).EachRecord(func(rec *kgo.Record) {
				if n++; n%5 == 0 {
					rec.Ack(kgo.AckRelease)
				}
			})
		}
	})
}

// cutting is a connection that ends right after the next write, so that the answer is lost.
type cutting struct {
	net.Conn
	cut *atomic.Bool
}

func (c *cutting) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if c.cut.Load() {
		c.Conn.Close()
	}
	return n, err
}

// vanish is a series of members that never say goodbye: some hold records when their connection ends, some
// acknowledge and are gone before the answer, some ask for records and are gone.
func (r *rig) vanish(ctx context.Context, rng *rand.Rand) {
	for n := 0; wait(ctx, time.Duration(500+rng.IntN(1500))*time.Millisecond); n++ {
		var cut atomic.Bool
		cl, err := r.client("vanishing", kgo.Dialer(func(ctx context.Context, network, host string) (net.Conn, error) {
			c, err := r.dial(ctx, network, host)
			return &cutting{c, &cut}, err
		}), kgo.RequestRetries(0))
		if err != nil {
			r.Error(err)
			return
		}
		s := &shareSession{client: cl, group: testGroup, topic: testTopic, member: r.names.memberID(fmt.Sprint(rng.Uint64()))}
		for i := 0; i < 50 && !s.heartbeat(ctx) && ctx.Err() == nil; i++ {
			time.Sleep(100 * time.Millisecond)
		}
		for _, node := range s.nodes(nil) {
			var acks []held
			for i, d := range s.exchange(node, nil, 1+rng.IntN(4)).deliveries {
				acks = append(acks, held{delivery: d, ack: ackType(1 + i%3)})
			}
			switch rng.IntN(4) {
			case 0: // holds them
			case 1: // acknowledges and is gone
				cut.Store(true)
				s.exchange(node, acks, 0)
			case 2: // acknowledges with a fetch and is gone
				cut.Store(true)
				s.exchange(node, acks, 3)
			case 3: // acknowledges and holds others
				s.exchange(node, acks, 3)
			}
			cut.Store(false)
		}
		cl.Close()
	}
}
