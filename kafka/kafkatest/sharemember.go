package kafkatest

import (
	"crypto/rand"
	"encoding/base64"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// AckType is what a member says about a record (ShareAcknowledge, KIP-932 and KIP-1222).
type AckType int8

// The acknowledge types.
const (
	Gap     AckType = 0
	Accept  AckType = 1
	Release AckType = 2
	Reject  AckType = 3
	Renew   AckType = 4
)

// ShareMember is a member of a share group that holds records of one partition and does with each of them what a test
// says. It speaks the protocol itself: client libraries acknowledge on their own. It heartbeats with each
// of its methods, so it may stand still for half a minute.
type ShareMember struct {
	// Held are the delivery counts of the records that it was given and did not acknowledge.
	Held map[int64]int16

	cluster          *Cluster
	group, topic, id string
	partition        int32
	topicID          [16]byte

	admin, session *kgo.Client // a session is bound to a connection, so it has a client of its own
	leader         int32
	memberEpoch    int32
	sessionEpoch   int32
	beat           time.Time // of the last heartbeat
}

// JoinShare joins a share group as a new member and returns when it is assigned the partition. Where the group
// begins to read is for the test to say before (share.auto.offset.reset).
func (c *Cluster) JoinShare(t testing.TB, group, topic string, partition int32) *ShareMember {
	t.Helper()
	var uuid [16]byte
	rand.Read(uuid[:])
	m := &ShareMember{
		Held: make(map[int64]int16), cluster: c, group: group, topic: topic, partition: partition,
		id: base64.RawURLEncoding.EncodeToString(uuid[:]), admin: c.Client(t), leader: -1,
	}
	Await(t, "the share group's member has its assignment", func() error { return m.heartbeat(t, true) })
	m.Reopen(t)
	return m
}

// heartbeat says that the member is there. all is an error without the partition in the assignment that comes with it.
func (m *ShareMember) heartbeat(t testing.TB, all bool) error {
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	req.GroupID, req.MemberID, req.MemberEpoch = m.group, m.id, m.memberEpoch
	if m.memberEpoch == 0 {
		req.SubscribedTopicNames = []string{m.topic}
	}
	coordinator := kmsg.NewPtrFindCoordinatorRequest()
	coordinator.CoordinatorKeys = []string{m.group}
	found, err := coordinator.RequestWith(t.Context(), m.admin)
	if err != nil {
		return err
	}
	if len(found.Coordinators) != 1 {
		return fmt.Errorf("%d coordinators", len(found.Coordinators))
	}
	if err := kerr.ErrorForCode(found.Coordinators[0].ErrorCode); err != nil {
		return err
	}
	resp, err := req.RequestWith(t.Context(), m.admin.Broker(int(found.Coordinators[0].NodeID)))
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return err
	}
	m.memberEpoch, m.beat = resp.MemberEpoch, time.Now()
	if !all {
		return nil
	}
	if resp.Assignment != nil {
		for _, tp := range resp.Assignment.TopicPartitions {
			if slices.Contains(tp.Partitions, m.partition) {
				m.topicID = tp.TopicID
				return nil
			}
		}
	}
	return fmt.Errorf("partition %d is not assigned", m.partition)
}

// TopicID is the id of the topic.
func (m *ShareMember) TopicID() [16]byte { return m.topicID }

// Reopen opens a new session at the partition's leader. What was held before is held no longer.
func (m *ShareMember) Reopen(t testing.TB) {
	t.Helper()
	if m.session != nil {
		m.session.Close()
	}
	clear(m.Held)
	m.session = m.cluster.Client(t, kgo.ConnIdleTimeout(15*time.Minute), kgo.RequestTimeoutOverhead(90*time.Second))
	m.sessionEpoch = 0
	Await(t, "the partition has a leader", func() error {
		name := kmsg.NewMetadataRequestTopic()
		name.Topic = &m.topic
		req := kmsg.NewPtrMetadataRequest()
		req.Topics = append(req.Topics, name)
		resp, err := req.RequestWith(t.Context(), m.admin)
		if err != nil {
			return err
		}
		for _, p := range resp.Topics[0].Partitions {
			if p.Partition == m.partition && p.Leader >= 0 {
				m.leader = p.Leader
				return nil
			}
		}
		return fmt.Errorf("no leader of %s/%d", m.topic, m.partition)
	})
}

func (m *ShareMember) alive(t testing.TB) {
	t.Helper()
	if time.Since(m.beat) > 3*time.Second {
		Await(t, "the coordinator takes a heartbeat", func() error { return m.heartbeat(t, false) })
	}
}

// Acquire fetches until it holds n records more, and returns their offsets in order. Kafka 4.1 may hand out
// more than that: whole batches of the producer.
func (m *ShareMember) Acquire(t testing.TB, n int) []int64 {
	t.Helper()
	var got []int64
	Await(t, fmt.Sprintf("%d records are acquired", n), func() error {
		offsets, err := m.fetch(t, n-len(got))
		if got = append(got, offsets...); err == nil && len(got) < n {
			err = fmt.Errorf("%d of %d", len(got), n)
		}
		return err
	})
	slices.Sort(got)
	return got
}

// Fetch fetches once, n records at most, and returns the offsets that came and the error that the leader answers.
func (m *ShareMember) Fetch(t testing.TB, n int) ([]int64, error) {
	t.Helper()
	return m.fetch(t, n)
}

func (m *ShareMember) fetch(t testing.TB, n int) ([]int64, error) {
	t.Helper()
	m.alive(t)
	req := kmsg.NewPtrShareFetchRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &m.group, &m.id, m.sessionEpoch
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 250, 1, 1<<20
	req.MaxRecords, req.BatchSize, req.ShareAcquireMode = int32(n), int32(n), 1
	p := kmsg.NewShareFetchRequestTopicPartition()
	p.Partition, p.PartitionMaxBytes = m.partition, 1<<20
	rt := kmsg.NewShareFetchRequestTopic()
	rt.TopicID, rt.Partitions = m.topicID, append(rt.Partitions, p)
	req.Topics = append(req.Topics, rt)
	kresp, err := m.session.Broker(int(m.leader)).Request(t.Context(), req)
	if err != nil {
		return nil, err
	}
	resp := kresp.(*kmsg.ShareFetchResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return nil, err
	}
	m.sessionEpoch++
	var offsets []int64
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return nil, err
			}
			for _, a := range p.AcquiredRecords {
				for o := a.FirstOffset; o <= a.LastOffset; o++ {
					m.Held[o] = a.DeliveryCount
					offsets = append(offsets, o)
				}
			}
		}
	}
	return offsets, nil
}

// Ack is one record and what is said about it.
type Ack struct {
	Offset int64
	Type   AckType
}

// All says the same about several records.
func All(typ AckType, offsets ...int64) []Ack {
	acks := make([]Ack, len(offsets))
	for i, o := range offsets {
		acks[i] = Ack{o, typ}
	}
	return acks
}

// Acknowledge says in one request what is to become of records; they must be held.
func (m *ShareMember) Acknowledge(t testing.TB, acks ...Ack) {
	t.Helper()
	if err := m.TryAcknowledge(t, acks...); err != nil {
		t.Fatalf("acknowledge %v: %v", acks, err)
	}
}

// TryAcknowledge is Acknowledge with the error that the leader answers.
func (m *ShareMember) TryAcknowledge(t testing.TB, acks ...Ack) error {
	t.Helper()
	m.alive(t)
	err := m.acknowledge(t, m.sessionEpoch, acks)
	if err == nil {
		for _, a := range acks {
			if a.Type != Renew {
				delete(m.Held, a.Offset)
			}
		}
	}
	return err
}

func (m *ShareMember) acknowledge(t testing.TB, epoch int32, acks []Ack) error {
	slices.SortFunc(acks, func(a, b Ack) int { return int(a.Offset - b.Offset) })
	req := kmsg.NewPtrShareAcknowledgeRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &m.group, &m.id, epoch
	if len(acks) > 0 {
		p := kmsg.NewShareAcknowledgeRequestTopicPartition()
		p.Partition = m.partition
		for _, a := range acks {
			b := kmsg.NewShareAcknowledgeRequestTopicPartitionAcknowledgementBatch()
			b.FirstOffset, b.LastOffset, b.AcknowledgeTypes = a.Offset, a.Offset, []int8{int8(a.Type)}
			p.AcknowledgementBatches = append(p.AcknowledgementBatches, b)
			req.IsRenewAck = req.IsRenewAck || a.Type == Renew
		}
		rt := kmsg.NewShareAcknowledgeRequestTopic()
		rt.TopicID, rt.Partitions = m.topicID, append(rt.Partitions, p)
		req.Topics = append(req.Topics, rt)
	}
	kresp, err := m.session.Broker(int(m.leader)).Request(t.Context(), req)
	if err != nil {
		return err
	}
	resp := kresp.(*kmsg.ShareAcknowledgeResponse)
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return err
	}
	m.sessionEpoch++ // also when a partition has an error
	for _, rt := range resp.Topics {
		for _, p := range rt.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				if p.ErrorMessage != nil {
					err = fmt.Errorf("%w (%s)", err, *p.ErrorMessage)
				}
				return err
			}
		}
	}
	return nil
}

// CloseSession closes the session, which gives back what is held, and opens a new one.
func (m *ShareMember) CloseSession(t testing.TB) {
	t.Helper()
	if err := m.acknowledge(t, -1, nil); err != nil {
		t.Fatalf("close the share session: %v", err)
	}
	m.Reopen(t)
}

// Leave closes the session and its connection and leaves the group.
func (m *ShareMember) Leave(t testing.TB) {
	t.Helper()
	if err := m.acknowledge(t, -1, nil); err != nil {
		t.Fatalf("close the share session: %v", err)
	}
	m.memberEpoch = -1
	Await(t, "the member has left", func() error { return m.heartbeat(t, false) })
	m.session.Close()
}
