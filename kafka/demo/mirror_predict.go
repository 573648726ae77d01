package demo

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// prediction is what the mirror took from a request before it was answered.
type prediction struct {
	at     time.Time
	places map[place]change
}

// change is what a prediction did to one share-partition.
type change struct {
	before, after map[int64]record
	recorded      map[int64]model.Delivery // before; an offset without an outcome is absent
}

// handling sees a request right before the broker handles it, in the order in which it does.
func (m *mirror) handling(node int32, req kmsg.Request) {
	x := exchangeOf(node, req)
	if x == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	s := m.sessions[x.session]
	switch {
	case x.epoch == 0 && x.fetch:
		s = &session{conn: m.opening[x.session], partitions: make(map[place]bool)}
		m.sessions[x.session] = s
	case x.epoch == 0 || s == nil:
		return // refused, or the answer will tell
	}
	if x.epoch != finalEpoch {
		for _, at := range x.named {
			s.partitions[at] = true
		}
		for _, at := range x.forgotten {
			delete(s.partitions, at)
		}
	}
	if x.epoch == 0 {
		return
	}
	p := prediction{at: now, places: make(map[place]change)}
	for at, acks := range x.acks {
		if part := m.at(x.session.group, at); part.recorded.exists && part.leader.mayAcknowledge(x.session.member, acks) {
			p.places[at] = m.acknowledge(part, x.session.member, acks, now)
		}
	}
	if len(x.acks) > 0 {
		m.predictions[x.key()] = p
	}
	if x.epoch == finalEpoch {
		m.closeSession(x.session, now)
	}
}

// acknowledge applies the acknowledgements of a member to what it holds.
func (m *mirror) acknowledge(p *sharePartition, member string, acks []ackBatch, now time.Time) change {
	c := change{before: make(map[int64]record), after: make(map[int64]record), recorded: make(map[int64]model.Delivery)}
	for _, b := range acks {
		for o := max(b.first, p.leader.start); o <= b.last; o++ {
			r, known := p.leader.records[o]
			if !known || r.state.Terminal() || r.state == model.StateAcquired && r.owner != member {
				continue
			}
			c.before[o] = r
			if out, ok := p.recorded.outcomes[o]; ok {
				c.recorded[o] = out
			}
			if ack := b.at(o); ack == renew {
				r.deadline = noticed(now, lockDuration)
			} else {
				r = r.acknowledged(ack)
			}
			c.after[o] = r
		}
	}
	m.change(p, c.after, now)
	return c
}

// settle compares a prediction with the answer. That a fetch answers OK proves nothing: kfake forgets what it
// refused when the fetch then waits for records. A refusal that is missed heals with the next delivery.
func (m *mirror) settle(x *exchange, code int16, refused map[place]bool, now time.Time) {
	if x == nil {
		return
	}
	p := m.predictions[x.key()]
	delete(m.predictions, x.key())
	for at, acks := range x.acks {
		part := m.at(x.session.group, at)
		if !part.recorded.exists {
			continue
		}
		c, predicted := p.places[at]
		no, told := refused[at]
		switch {
		case predicted && (code != 0 || no):
			m.takeBack(part, c, now)
		case !predicted && !x.fetch && code == 0 && told && !no:
			m.acknowledge(part, x.session.member, acks, now)
		}
	}
	if code != 0 && x.epoch == 0 {
		delete(m.sessions, x.session)
	}
}

// takeBack undoes a prediction where nothing has happened since.
func (m *mirror) takeBack(p *sharePartition, c change, now time.Time) {
	undone := false
	for o, r := range c.after {
		if p.leader.records[o] != r {
			continue
		}
		undone = true
		p.leader.records[o] = c.before[o]
		p.leader.start = min(p.leader.start, o)
		if out, ok := c.recorded[o]; ok {
			p.recorded.outcomes[o] = out
		} else {
			delete(p.recorded.outcomes, o)
		}
	}
	if undone {
		m.correct(p, now)
	}
}
