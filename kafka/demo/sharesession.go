package demo

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// ackType is what a member says about a record (ShareAcknowledge, KIP-932 and KIP-1222).
type ackType int8

const (
	gap     ackType = 0
	accept  ackType = 1
	release ackType = 2
	reject  ackType = 3
	renew   ackType = 4
)

// finalEpoch closes a share session (ShareFetch, ShareAcknowledge) and leaves a group (ShareGroupHeartbeat,
// ConsumerGroupHeartbeat).
const finalEpoch = -1

// delivery is a record that was acquired.
type delivery struct {
	partition int32
	offset    int64
	// count is the delivery count: 1 for the first.
	count int16
	value []byte
}

// shareSession is the membership of one worker in a share group and its sessions, one per leader. It uses raw requests,
// since the workers must say when and in which order each single record is acknowledged; kgo's own share
// consumer accepts what is undecided at every poll. It belongs to one goroutine.
type shareSession struct {
	client *kgo.Client
	group  string
	topic  string
	member string

	epoch    int32 // member epoch
	next     time.Time
	topicID  [16]byte
	assigned []int32
	leaders  map[int32]int32 // by partition
	stale    bool            // the leaders must be looked up with the next heartbeat
	sessions map[int32]*brokerSession
}

type brokerSession struct {
	epoch      int32
	partitions []int32
}

// heartbeat keeps the membership alive when it is due, and reports whether there is an assignment.
func (s *shareSession) heartbeat(ctx context.Context) bool {
	if time.Now().Before(s.next) {
		return len(s.assigned) > 0
	}
	s.next = time.Now().Add(heartbeatInterval)
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	req.GroupID, req.MemberID, req.MemberEpoch = s.group, s.member, s.epoch
	if s.epoch == 0 {
		req.SubscribedTopicNames = []string{s.topic}
	}
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil || resp.ErrorCode != 0 {
		s.epoch = 0 // join again
		return false
	}
	s.epoch = resp.MemberEpoch
	if resp.Assignment != nil {
		s.assigned = nil
		for _, t := range resp.Assignment.TopicPartitions {
			s.topicID, s.assigned = t.TopicID, t.Partitions
		}
		s.stale = true
	}
	if s.stale {
		s.findLeaders(ctx)
	}
	return len(s.assigned) > 0
}

func (s *shareSession) findLeaders(ctx context.Context) {
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &s.topic
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, s.client)
	if err != nil {
		return // again with the next heartbeat
	}
	s.stale = false
	s.leaders = make(map[int32]int32)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			s.leaders[p.Partition] = p.Leader
		}
	}
}

// leader is the leader of a partition, -1 when it is not known.
func (s *shareSession) leader(partition int32) int32 {
	if node, ok := s.leaders[partition]; ok {
		return node
	}
	return -1
}

// nodes are the brokers to talk to, in order: those with an open session, and the leaders of the partitions that
// are assigned and of the records that are held.
func (s *shareSession) nodes(records []held) []int32 {
	nodes := slices.Collect(maps.Keys(s.sessions))
	lead := func(p int32) {
		if node := s.leader(p); node >= 0 {
			nodes = append(nodes, node)
		}
	}
	for _, p := range s.assigned {
		lead(p)
	}
	for i := range records {
		lead(records[i].partition)
	}
	slices.Sort(nodes)
	return slices.Compact(nodes)
}

// answer is what came of an exchange.
type answer struct {
	deliveries []delivery
	// refused are the partitions whose acknowledgements were refused, with the error code.
	refused map[int32]int16
	// apart is true when they had a request of their own. A fetch that waits for records says OK for what
	// kfake refused.
	apart bool
	// lost is true when the session was lost, and with it everything held there.
	lost bool
}

// exchange acknowledges records at their leader and acquires up to want others in the same round trip.
func (s *shareSession) exchange(node int32, acks []held, want int) answer {
	session := s.sessions[node]
	switch {
	case session == nil && len(acks) > 0:
		return s.lose(node)
	case session == nil:
		session = new(brokerSession)
	}
	var here []int32
	for _, p := range s.assigned {
		if s.leader(p) == node {
			here = append(here, p)
		}
	}
	// Naming a partition in a fetch makes it part of the session, so what is no longer assigned is acknowledged
	// on its own.
	foreign := slices.ContainsFunc(acks, func(h held) bool { return !slices.Contains(here, h.partition) })
	switch {
	case want > 0 && !foreign && len(here) > 0:
		return s.fetch(node, session, here, acks, want)
	case len(acks) > 0:
		return s.acknowledge(node, session.epoch, acks)
	}
	return answer{}
}

func (s *shareSession) fetch(node int32, session *brokerSession, here []int32, acks []held, want int) answer {
	req := kmsg.NewPtrShareFetchRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &s.group, &s.member, session.epoch
	req.MaxWaitMillis, req.MinBytes, req.MaxBytes = 200, 1, 1<<20
	req.MaxRecords, req.BatchSize, req.ShareAcquireMode = int32(want), int32(want), 1
	t := kmsg.NewShareFetchRequestTopic()
	t.TopicID = s.topicID
	for _, p := range here {
		rp := kmsg.NewShareFetchRequestTopicPartition()
		rp.Partition, rp.PartitionMaxBytes = p, 1<<20
		for _, b := range batches(acks, p) {
			a := kmsg.NewShareFetchRequestTopicPartitionAcknowledgementBatch()
			a.FirstOffset, a.LastOffset, a.AcknowledgeTypes = b.offset, b.offset, []int8{int8(b.ack)}
			rp.AcknowledgementBatches = append(rp.AcknowledgementBatches, a)
		}
		t.Partitions = append(t.Partitions, rp)
	}
	req.Topics = append(req.Topics, t)
	forgotten := kmsg.NewShareFetchRequestForgottenTopicsData()
	forgotten.TopicID = s.topicID
	for _, p := range session.partitions {
		if !slices.Contains(here, p) {
			forgotten.Partitions = append(forgotten.Partitions, p)
		}
	}
	if len(forgotten.Partitions) > 0 {
		req.ForgottenTopicsData = append(req.ForgottenTopicsData, forgotten)
	}
	kresp, err := s.request(node, req)
	if err != nil {
		return s.lose(node)
	}
	resp := kresp.(*kmsg.ShareFetchResponse)
	if resp.ErrorCode != 0 {
		return s.lose(node)
	}
	s.opened(node, here)
	a := answer{refused: make(map[int32]int16)}
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			p := &resp.Topics[i].Partitions[j]
			if p.AcknowledgeErrorCode != 0 {
				a.refused[p.Partition] = p.AcknowledgeErrorCode
			}
			if p.ErrorCode != 0 {
				s.stale = true // the leader moved or the topic is gone
				continue
			}
			a.deliveries = append(a.deliveries, acquired(p)...)
		}
	}
	return a
}

// acquired picks the acquired records out of the batches that hold them.
func acquired(p *kmsg.ShareFetchResponseTopicPartition) []delivery {
	if len(p.AcquiredRecords) == 0 {
		return nil
	}
	fetched, _ := kgo.ProcessFetchPartition(kgo.ProcessFetchPartitionOpts{Partition: p.Partition},
		&kmsg.FetchResponseTopicPartition{Partition: p.Partition, RecordBatches: p.Records}, kgo.DefaultDecompressor(), nil)
	var out []delivery
	for _, r := range fetched.Records {
		for _, a := range p.AcquiredRecords {
			if a.FirstOffset <= r.Offset && r.Offset <= a.LastOffset {
				out = append(out, delivery{partition: p.Partition, offset: r.Offset, count: a.DeliveryCount, value: r.Value})
			}
		}
	}
	return out
}

func (s *shareSession) acknowledge(node, epoch int32, acks []held) answer {
	req := kmsg.NewPtrShareAcknowledgeRequest()
	req.GroupID, req.MemberID, req.ShareSessionEpoch = &s.group, &s.member, epoch
	t := kmsg.NewShareAcknowledgeRequestTopic()
	t.TopicID = s.topicID
	var partitions []int32
	for i := range acks {
		partitions = append(partitions, acks[i].partition)
		req.IsRenewAck = req.IsRenewAck || acks[i].ack == renew
	}
	slices.Sort(partitions)
	for _, p := range slices.Compact(partitions) {
		rp := kmsg.NewShareAcknowledgeRequestTopicPartition()
		rp.Partition = p
		for _, b := range batches(acks, p) {
			a := kmsg.NewShareAcknowledgeRequestTopicPartitionAcknowledgementBatch()
			a.FirstOffset, a.LastOffset, a.AcknowledgeTypes = b.offset, b.offset, []int8{int8(b.ack)}
			rp.AcknowledgementBatches = append(rp.AcknowledgementBatches, a)
		}
		t.Partitions = append(t.Partitions, rp)
	}
	if len(t.Partitions) > 0 {
		req.Topics = append(req.Topics, t)
	}
	kresp, err := s.request(node, req)
	if err != nil {
		return s.lose(node)
	}
	resp := kresp.(*kmsg.ShareAcknowledgeResponse)
	if resp.ErrorCode != 0 {
		return s.lose(node)
	}
	if epoch != finalEpoch {
		s.opened(node, nil)
	}
	a := answer{refused: make(map[int32]int16), apart: true}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if p.ErrorCode != 0 {
				a.refused[p.Partition] = p.ErrorCode
			}
		}
	}
	return a
}

// batches are the acknowledgements of one partition, sorted by offset as the protocol asks.
func batches(acks []held, partition int32) []held {
	_, of := split(acks, func(h *held) bool { return h.partition != partition })
	slices.SortFunc(of, func(a, b held) int { return cmp.Compare(a.offset, b.offset) })
	return of
}

// request goes to one broker and to no other. It is not bound to the life of the cluster: a client that
// gives up on a fetch closes its connection.
func (s *shareSession) request(node int32, req kmsg.Request) (kmsg.Response, error) {
	ctx, end := context.WithTimeout(context.Background(), 10*time.Second)
	defer end()
	return s.client.Broker(int(node)).Request(ctx, req)
}

// opened notes that the broker counted a request of the session. here are the partitions that a fetch named.
func (s *shareSession) opened(node int32, here []int32) {
	if s.sessions == nil {
		s.sessions = make(map[int32]*brokerSession)
	}
	session := s.sessions[node]
	if session == nil {
		session = new(brokerSession)
		s.sessions[node] = session
	}
	if session.epoch++; session.epoch == math.MaxInt32 {
		session.epoch = 1
	}
	if here != nil {
		session.partitions = here
	}
}

// lose forgets a session.
func (s *shareSession) lose(node int32) answer {
	delete(s.sessions, node)
	s.stale = true
	return answer{lost: true}
}

// close gives back what is held and leaves the group.
func (s *shareSession) close() {
	for node := range s.sessions {
		s.acknowledge(node, finalEpoch, nil)
	}
	if s.epoch == 0 {
		return
	}
	ctx, end := context.WithTimeout(context.Background(), time.Second)
	defer end()
	req := kmsg.NewPtrShareGroupHeartbeatRequest()
	req.GroupID, req.MemberID, req.MemberEpoch = s.group, s.member, finalEpoch
	_, _ = req.RequestWith(ctx, s.client)
}
