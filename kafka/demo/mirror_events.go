package demo

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// The events of a share-partition's life. All run under the lock.

// at is a share-partition, known or not.
func (m *mirror) at(group string, at place) *sharePartition {
	key := model.SharePartitionKey{Group: group, TopicID: at.topic, Partition: at.partition}
	p := m.partitions[key]
	if p == nil {
		p = &sharePartition{key: key, leader: newLeader(unknownStart)}
		m.partitions[key] = p
	}
	return p
}

// assign initialises the state of a share-partition that has none.
func (m *mirror) assign(p *sharePartition, now time.Time) {
	if !p.recorded.exists {
		m.write(p, p.recorded.initialise(unknownStart, model.None[int32](), now.UnixMilli()))
	}
}

// reset moves a share-partition to another start offset (AlterShareGroupOffsets).
func (m *mirror) reset(p *sharePartition, start int64, now time.Time) {
	p.leader = newLeader(start)
	m.write(p, p.recorded.initialise(start, model.Some[int32](0), now.UnixMilli()))
}

// drop removes the state of share-partitions.
func (m *mirror) drop(which func(model.SharePartitionKey) bool) {
	for key, p := range m.partitions {
		if which(key) && p.recorded.exists {
			p.leader = newLeader(unknownStart)
			m.write(p, p.recorded.drop())
		}
	}
}

// change gives records their new states in the leader's memory and has the outcomes recorded.
func (m *mirror) change(p *sharePartition, changed map[int64]record, now time.Time) {
	outcomes := make(map[int64]model.Delivery, len(changed))
	for o, r := range changed {
		p.leader.records[o] = r
		if r.state != model.StateAcquired {
			outcomes[o] = model.Delivery{State: r.state, Count: r.count}
		}
	}
	m.record(p, outcomes, now)
}

// record has outcomes recorded and lets the start offset follow. An update carries the start offset from before
// it, so what a reader finds there trails by one write.
func (m *mirror) record(p *sharePartition, outcomes map[int64]model.Delivery, now time.Time) {
	if len(outcomes) == 0 {
		return
	}
	start := p.leader.start
	m.write(p, p.recorded.record(start, p.leader.complete(start), outcomes, now.UnixMilli()))
	p.leader.move()
}

// correct records everything anew, since an update can not undo an outcome.
func (m *mirror) correct(p *sharePartition, now time.Time) {
	p.recorded.start = min(p.recorded.start, p.leader.start)
	for o, r := range p.leader.records {
		if o >= p.recorded.start && r.state.Terminal() {
			p.recorded.outcomes[o] = model.Delivery{State: r.state, Count: r.count}
		}
	}
	m.write(p, p.recorded.replace(p.leader.complete(p.recorded.start), now.UnixMilli()))
}

// noticed is when the broker has noticed at the latest that a lock of some duration ran out, and the mirror shall
// notice too.
func noticed(now time.Time, lock time.Duration) time.Time {
	return now.Add(lock + sweepInterval + tick)
}

// acquire takes over what a fetch brought.
func (m *mirror) acquire(s sessionKey, at place, ranges []kmsg.ShareFetchResponseTopicPartitionAcquiredRecord, deadline, now time.Time) {
	p := m.at(s.group, at)
	m.assign(p, now)
	missed := make(map[int64]model.Delivery)
	wrong := false
	for _, a := range ranges {
		for o := a.FirstOffset; o <= a.LastOffset; o++ {
			switch p.leader.acquired(o, s.member, a.DeliveryCount, deadline) {
			case returned:
				missed[o] = model.Delivery{State: model.StateAvailable, Count: a.DeliveryCount - 1}
			case notEnded:
				p.recorded.outcomes[o] = model.Delivery{State: model.StateAvailable, Count: a.DeliveryCount - 1}
				wrong = true
			}
		}
	}
	m.record(p, missed, now)
	if wrong {
		m.correct(p, now)
	}
}

// comeBack releases records that are held.
func (m *mirror) comeBack(p *sharePartition, offsets []int64, now time.Time) {
	changed := make(map[int64]record, len(offsets))
	for _, o := range offsets {
		changed[o] = p.leader.records[o].released()
	}
	m.change(p, changed, now)
}

// closeSession ends a session. What the member holds of the session's partitions comes back.
func (m *mirror) closeSession(key sessionKey, now time.Time) {
	s := m.sessions[key]
	delete(m.sessions, key)
	if s == nil {
		return
	}
	for _, p := range m.of(key.group) {
		if s.partitions[place{p.key.TopicID, p.key.Partition}] {
			m.comeBack(p, p.leader.heldBy(key.member), now)
		}
	}
}

// leave ends a membership and all its sessions. What the member holds comes back.
func (m *mirror) leave(member memberKey, now time.Time) {
	delete(m.members, member)
	for key := range m.sessions {
		if key.group == member.group && key.member == member.member {
			delete(m.sessions, key)
		}
	}
	for _, p := range m.of(member.group) {
		m.comeBack(p, p.leader.heldBy(member.member), now)
	}
}

// of are the share-partitions of a group.
func (m *mirror) of(group string) []*sharePartition {
	var of []*sharePartition
	for key, p := range m.partitions {
		if key.Group == group {
			of = append(of, p)
		}
	}
	return of
}

// ended notes the end of a connection. What was sent on it before may still be on its way through the broker.
func (m *mirror) ended(c *conn) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !c.ended {
		c.ended = true
		m.gone[c] = time.Now().Add(afterlife)
	}
}

// advance is the mirror's look at the clock: connections that ended, members that are silent, locks that ran
// out.
func (m *mirror) advance() {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	for c, at := range m.gone {
		if now.Before(at) {
			continue
		}
		delete(m.gone, c)
		for key, s := range m.sessions {
			if s.conn == c {
				m.closeSession(key, now)
			}
		}
		for key, opener := range m.opening {
			if opener == c {
				delete(m.opening, key)
			}
		}
	}
	for member, deadline := range m.members {
		if !now.Before(deadline) {
			m.leave(member, now)
		}
	}
	for _, p := range m.partitions {
		if lost := p.leader.lost(now); len(lost) > 0 {
			m.comeBack(p, lost, now)
		}
	}
	for key, p := range m.predictions {
		if now.Sub(p.at) > forget {
			delete(m.predictions, key)
		}
	}
	m.snapshotColdOnes(now)
}

// snapshotColdOnes is Kafka's habit of writing one snapshot some minutes after the last write.
func (m *mirror) snapshotColdOnes(now time.Time) {
	for _, p := range m.partitions {
		if p.recorded.updates > 0 && p.recorded.exists && now.Sub(p.wrote) > coldAfter {
			m.correct(p, now)
		}
	}
}
