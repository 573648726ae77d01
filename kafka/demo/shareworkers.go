package demo

import (
	"bytes"
	"context"
	"math/rand/v2"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// temper is how a worker treats its records.
type temper struct {
	// holds is how many records it takes at a time.
	holds int
	// least and most bound how long it works on one.
	least, most time.Duration
	// release and reject are how many records in a hundred it gives back and gives up on.
	release, reject int
	// backwards workers take as many as they can hold and finish the last one first, one after the other.
	backwards bool
	// late is how many records in a hundred take longer than the acquisition lock.
	late int
}

var (
	// Their hands are full enough, and their work is slow enough, that a person can watch single records.
	steady     = temper{holds: 6, least: 2 * time.Second, most: 5 * time.Second, release: 4}
	brisk      = temper{holds: 3, least: 100 * time.Millisecond, most: 400 * time.Millisecond}
	moody      = temper{holds: 6, least: time.Second, most: 3 * time.Second, release: 20, reject: 6}
	outOfOrder = temper{holds: 10, least: 600 * time.Millisecond, most: 1200 * time.Millisecond, backwards: true}
	slow       = temper{holds: 2, least: 2 * time.Second, most: 4 * time.Second, late: 30}
)

// poisonDelay is how long a worker tries with a record that it can not handle before it gives it back.
const poisonDelay = 1500 * time.Millisecond

// held is a record that a worker has acquired.
type held struct {
	delivery
	// what it will say about the record, and when.
	ack ackType
	due time.Time
}

// decide decides about records just acquired, in offset order.
func (t *temper) decide(r *rand.Rand, now time.Time, records []held) {
	work := func() time.Duration { return t.least + time.Duration(r.Int64N(int64(t.most-t.least))) }
	due := now
	for i := range records {
		h := &records[i]
		if t.backwards {
			h = &records[len(records)-1-i]
			due = due.Add(work())
		} else {
			due = now.Add(work())
		}
		h.ack, h.due = accept, due
		switch n := r.IntN(100); {
		case bytes.Contains(h.value, []byte(poison)):
			h.ack, h.due = release, due.Add(poisonDelay)
		case n < t.late:
			h.due = now.Add(lockDuration + 3*time.Second + work())
		case n < t.late+t.release:
			h.ack = release
		case n < t.late+t.release+t.reject:
			h.ack = reject
		}
	}
}

// startShareWorkers starts the members of all share groups.
func (c *Cluster) startShareWorkers(ctx context.Context) {
	for i := range shareGroups {
		g := &shareGroups[i]
		for n := range g.workers {
			id := c.names.pod(g.id, n)
			c.wg.Go(func() { c.work(ctx, g, id, &g.workers[n]) })
		}
	}
}

// pace is how often a worker looks what is due.
const pace = 50 * time.Millisecond

// work is the life of a share group's member until ctx ends.
func (c *Cluster) work(ctx context.Context, g *shareGroup, clientID string, t *temper) {
	// One client for one member: a broker releases what a member holds when the connection of its session ends.
	cl, err := c.client(clientID, kgo.ConnIdleTimeout(15*time.Minute))
	if err != nil {
		return
	}
	defer cl.Close()
	s := &shareSession{client: cl, group: g.id, topic: g.topic, member: c.names.memberID(clientID)}
	r := random(c.seed, "work/"+clientID)
	defer s.close()
	var records []held
	for wait(ctx, pace) {
		if !s.heartbeat(ctx) {
			continue
		}
		for _, node := range s.nodes(records) {
			here := func(h *held) bool { return s.leader(h.partition) == node }
			due, rest := split(records, func(h *held) bool { return here(h) && !h.due.After(time.Now()) })
			want := t.holds - len(rest)
			if t.backwards && len(rest) > 0 {
				want = 0
			}
			answer := s.exchange(node, due, want)
			if answer.lost {
				_, records = split(rest, here)
				continue
			}
			if c.watch != nil {
				c.watch(g.id, due, answer)
			}
			fresh := make([]held, len(answer.deliveries))
			for i, d := range answer.deliveries {
				fresh[i].delivery = d
			}
			t.decide(r, time.Now(), fresh)
			records = append(rest, fresh...)
		}
	}
}

// split parts the records for which is holds from the rest.
func split(records []held, is func(*held) bool) (yes, no []held) {
	for i := range records {
		if is(&records[i]) {
			yes = append(yes, records[i])
		} else {
			no = append(no, records[i])
		}
	}
	return yes, no
}
