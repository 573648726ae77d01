package demo

import (
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// exchange is what the mirror needs of a ShareFetch or ShareAcknowledge request.
type exchange struct {
	session sessionKey
	epoch   int32
	acks    map[place][]ackBatch
	// named and forgotten are the partitions that a fetch adds to the session and takes out of it.
	named, forgotten []place
	fetch            bool
}

// exchangeKey finds the prediction that belongs to a response.
type exchangeKey struct {
	session sessionKey
	epoch   int32
}

func (x *exchange) key() exchangeKey { return exchangeKey{x.session, x.epoch} }

// ackBatch acknowledges the offsets from first to last, with one type for all or one for each.
type ackBatch struct {
	first, last int64
	types       []int8
}

func (b *ackBatch) at(offset int64) ackType {
	if len(b.types) == 1 {
		return ackType(b.types[0])
	}
	return ackType(b.types[offset-b.first])
}

// wellFormed is the broker's check before it looks at the records: ascending batches, with types that fit.
func wellFormed(acks []ackBatch, last ackType) bool {
	end := int64(-1)
	for _, b := range acks {
		if b.first > b.last || b.first <= end || len(b.types) != 1 && int64(len(b.types)) != b.last-b.first+1 {
			return false
		}
		for _, t := range b.types {
			if ackType(t) < gap || ackType(t) > last {
				return false
			}
		}
		end = b.last
	}
	return true
}

// exchangeOf reads a request that a broker got; nil for one that no broker accepts.
func exchangeOf(node int32, req kmsg.Request) *exchange {
	x := &exchange{acks: make(map[place][]ackBatch)}
	last := reject
	switch r := req.(type) {
	case *kmsg.ShareFetchRequest:
		if r.GroupID == nil || r.MemberID == nil {
			return nil
		}
		x.session, x.epoch, x.fetch = sessionKey{*r.GroupID, *r.MemberID, node}, r.ShareSessionEpoch, true
		if r.IsRenewAck {
			last = renew
		}
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				at := place{t.TopicID, p.Partition}
				x.named = append(x.named, at)
				for _, b := range p.AcknowledgementBatches {
					x.acks[at] = append(x.acks[at], ackBatch{b.FirstOffset, b.LastOffset, b.AcknowledgeTypes})
				}
			}
		}
		for _, t := range r.ForgottenTopicsData {
			for _, p := range t.Partitions {
				x.forgotten = append(x.forgotten, place{t.TopicID, p})
			}
		}
	case *kmsg.ShareAcknowledgeRequest:
		if r.GroupID == nil || r.MemberID == nil {
			return nil
		}
		x.session, x.epoch = sessionKey{*r.GroupID, *r.MemberID, node}, r.ShareSessionEpoch
		if r.IsRenewAck {
			last = renew
		}
		for _, t := range r.Topics {
			for _, p := range t.Partitions {
				at := place{t.TopicID, p.Partition}
				for _, b := range p.AcknowledgementBatches {
					x.acks[at] = append(x.acks[at], ackBatch{b.FirstOffset, b.LastOffset, b.AcknowledgeTypes})
				}
			}
		}
	default:
		return nil
	}
	for at, acks := range x.acks {
		if !wellFormed(acks, last) {
			delete(x.acks, at)
		}
	}
	return x
}

// mirrored are the requests whose answers the mirror reads.
func mirrored(key int16) bool {
	switch kmsg.Key(key) {
	case kmsg.ShareGroupHeartbeat, kmsg.ShareFetch, kmsg.ShareAcknowledge,
		kmsg.AlterShareGroupOffsets, kmsg.DeleteShareGroupOffsets, kmsg.DeleteGroups, kmsg.DeleteTopics:
		return true
	}
	return false
}

// asked sees a request before the broker does, in no particular order among connections.
func (m *mirror) asked(c *conn, req kmsg.Request) {
	x := exchangeOf(c.node, req)
	if x == nil || !x.fetch || x.epoch != 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.opening[x.session] = c
}

// answered sees a response before the client does.
func (m *mirror) answered(c *conn, req kmsg.Request, resp kmsg.Response) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := time.Now()
	switch resp := resp.(type) {
	case *kmsg.ShareGroupHeartbeatResponse:
		m.heartbeat(req.(*kmsg.ShareGroupHeartbeatRequest), resp, now)
	case *kmsg.ShareFetchResponse:
		m.fetched(c, exchangeOf(c.node, req), resp, now)
	case *kmsg.ShareAcknowledgeResponse:
		refused := make(map[place]bool)
		for _, t := range resp.Topics {
			for _, p := range t.Partitions {
				refused[place{t.TopicID, p.Partition}] = p.ErrorCode != 0
			}
		}
		m.settle(exchangeOf(c.node, req), resp.ErrorCode, refused, now)
	case *kmsg.AlterShareGroupOffsetsResponse:
		m.altered(req.(*kmsg.AlterShareGroupOffsetsRequest), resp, now)
	case *kmsg.DeleteShareGroupOffsetsResponse:
		if resp.ErrorCode != 0 {
			return
		}
		group := req.(*kmsg.DeleteShareGroupOffsetsRequest).GroupID
		for _, t := range resp.Topics {
			if t.ErrorCode == 0 {
				m.drop(func(k model.SharePartitionKey) bool { return k.Group == group && k.TopicID == t.TopicID })
			}
		}
	case *kmsg.DeleteGroupsResponse:
		for _, g := range resp.Groups {
			if g.ErrorCode == 0 {
				m.drop(func(k model.SharePartitionKey) bool { return k.Group == g.Group })
			}
		}
	case *kmsg.DeleteTopicsResponse:
		for _, t := range resp.Topics {
			if t.ErrorCode == 0 {
				m.drop(func(k model.SharePartitionKey) bool { return k.TopicID == t.TopicID })
			}
		}
	}
}

func (m *mirror) heartbeat(req *kmsg.ShareGroupHeartbeatRequest, resp *kmsg.ShareGroupHeartbeatResponse, now time.Time) {
	if resp.ErrorCode != 0 {
		return
	}
	member := memberKey{req.GroupID, req.MemberID}
	if req.MemberEpoch == finalEpoch {
		m.leave(member, now)
		return
	}
	m.members[member] = now.Add(sessionTimeout)
	if resp.Assignment == nil {
		return
	}
	for _, t := range resp.Assignment.TopicPartitions {
		for _, p := range t.Partitions {
			m.assign(m.at(req.GroupID, place{t.TopicID, p}), now)
		}
	}
}

func (m *mirror) fetched(c *conn, x *exchange, resp *kmsg.ShareFetchResponse, now time.Time) {
	if x == nil {
		return
	}
	refused := make(map[place]bool)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			at := place{t.TopicID, p.Partition} // may be there twice, for the acknowledgements and for the records
			refused[at] = refused[at] || p.AcknowledgeErrorCode != 0
		}
	}
	m.settle(x, resp.ErrorCode, refused, now)
	if c.ended {
		return // and what it acquired came back with the connection
	}
	deadline := noticed(now, time.Duration(resp.AcquisitionLockTimeoutMillis)*time.Millisecond)
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if len(p.AcquiredRecords) > 0 {
				m.acquire(x.session, place{t.TopicID, p.Partition}, p.AcquiredRecords, deadline, now)
			}
		}
	}
}

func (m *mirror) altered(req *kmsg.AlterShareGroupOffsetsRequest, resp *kmsg.AlterShareGroupOffsetsResponse, now time.Time) {
	if resp.ErrorCode != 0 {
		return
	}
	starts := make(map[string]map[int32]int64)
	for _, t := range req.Topics {
		starts[t.Topic] = make(map[int32]int64)
		for _, p := range t.Partitions {
			starts[t.Topic][p.Partition] = p.StartOffset
		}
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if start, ok := starts[t.Topic][p.Partition]; ok && p.ErrorCode == 0 {
				m.reset(m.at(req.GroupID, place{t.TopicID, p.Partition}), start, now)
			}
		}
	}
}
