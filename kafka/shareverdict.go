package kafka

import (
	"fmt"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// verdict is a decision about a held record that is under way.
type verdict struct {
	hold     *hold
	decision model.Decision
	sent     bool
	// doubtful is true when the outcome is being read back.
	doubtful bool
	// alone is true when the broker refused it together with others, so that it is sent by itself: errors are per
	// partition, and do not say for which of the records.
	alone bool
	// auto is true for a renewal that nobody asked for singly.
	auto bool
	done func(model.ActionResult) // may be nil
	next *verdict                 // what comes after a renewal of the session's own
}

func (v *verdict) partition() int32 { return v.hold.Partition }
func (v *verdict) offset() int64    { return v.hold.Offset }

// decide takes a decision of the person.
func (s *sessionState) decide(ref model.RecordRef, d model.Decision, done func(model.ActionResult)) {
	h := s.held[ref]
	refuse := func(code, text string) { done(notDone(ref, code, text)) }
	switch {
	case h == nil || h.gap:
		if why, known := s.gone[ref]; known {
			refuse("not_held", "The record is not held any more. "+why)
		} else {
			refuse("not_held", "The record is not held.")
		}
		return
	case s.phase != model.SessionMember:
		refuse("closed", "The session is ending, which releases the record.")
		return
	case d == model.DecisionRenew && !s.out.Renewable.Or(true):
		refuse("not_renewable", s.out.RenewText)
		return
	case h.verdict != nil && (!h.verdict.auto || h.verdict.next != nil):
		refuse("deciding", "Another decision about the record is under way.")
		return
	}
	v := &verdict{hold: h, decision: d, done: done}
	s.dirty = true
	if h.verdict != nil && h.verdict.sent {
		h.verdict.next = v
		return
	}
	h.verdict = v
}

// renewFor switches the renewal of all locks on or off.
func (s *sessionState) renewFor(d time.Duration) {
	s.out.RenewUntil, s.dirty = time.Time{}, true
	if d > 0 {
		s.out.RenewUntil = time.Now().Add(d)
	}
}

// renewAt is when the lock of a record is to be extended by itself: every third of its duration. It is zero when it is
// not.
func (s *sessionState) renewAt(h *hold) time.Time {
	if s.out.RenewUntil.IsZero() || h.verdict != nil || h.gap || !s.out.Renewable.Or(false) {
		return time.Time{}
	}
	at := h.Until.Add(-s.out.Lock.Or(0) * 2 / 3)
	if at.After(s.out.RenewUntil) {
		return time.Time{}
	}
	return at
}

// renewDue extends the locks whose time has come.
func (s *sessionState) renewDue(now time.Time) {
	if s.out.RenewUntil.IsZero() {
		return
	}
	if !now.Before(s.out.RenewUntil) {
		s.out.RenewUntil, s.dirty = time.Time{}, true
		s.events = append(s.events, model.SessionEvent{At: now, OK: true, Code: "renewal_ended", Text: "Locks are not extended by themselves any more: the time for that is over."})
		return
	}
	for _, h := range s.held {
		if at := s.renewAt(h); !at.IsZero() && !now.Before(at) {
			h.verdict = &verdict{hold: h, decision: model.DecisionRenew, auto: true}
		}
	}
}

// undecided reports whether a leader still has decisions to be sent to.
func (s *sessionState) undecided(l *leaderSession) bool {
	for _, h := range s.held {
		if h.node == l.node && h.verdict != nil && !h.verdict.sent {
			return true
		}
	}
	return false
}

// acknowledge sends what is decided to the leaders that have nothing else under way, and a sign of life to
// those that have heard nothing for a while.
func (s *sessionState) acknowledge(now time.Time) {
	for _, l := range s.leaders {
		if l.asking != askNothing || l.epoch == 0 {
			continue
		}
		if batch := s.batch(l); len(batch) > 0 {
			for _, v := range batch {
				v.sent = true
			}
			s.ask(l, askAcknowledge, s.shareAcknowledge(l.epoch, batch), func(resp kmsg.Response, err error, sent time.Time) {
				if err != nil {
					s.failed(l, err)
					return
				}
				s.acknowledged(l, batch, resp.(*kmsg.ShareAcknowledgeResponse), sent)
			})
			continue
		}
		if s.phase == model.SessionMember && now.Sub(l.lastSaid) >= probeEvery && s.holdsAt(l) {
			s.ask(l, askProbe, s.shareAcknowledge(l.epoch, nil), func(resp kmsg.Response, err error, sent time.Time) {
				if err != nil {
					s.failed(l, err)
					return
				}
				s.acknowledged(l, nil, resp.(*kmsg.ShareAcknowledgeResponse), sent)
			})
		}
	}
}

func (s *sessionState) holdsAt(l *leaderSession) bool {
	for _, h := range s.held {
		if h.node == l.node {
			return true
		}
	}
	return false
}

// batch is what is sent to a leader next: all that is decided, except where records of a partition have to go one by one.
func (s *sessionState) batch(l *leaderSession) []*verdict {
	var out []*verdict
	single := make(map[int32]bool)
	for _, h := range s.sorted() {
		v := h.verdict
		if v == nil || v.sent || h.node != l.node || single[h.Partition] {
			continue
		}
		if v.alone {
			single[h.Partition] = true
			kept := out[:0]
			for _, o := range out {
				if o.partition() != h.Partition {
					kept = append(kept, o)
				}
			}
			out = kept
		}
		out = append(out, v)
	}
	return out
}

// acknowledged takes the answer to decisions.
func (s *sessionState) acknowledged(l *leaderSession, batch []*verdict, resp *kmsg.ShareAcknowledgeResponse, sent time.Time) {
	if sessionGone(resp.ErrorCode) {
		s.lost(l, false, kerr.ErrorForCode(resp.ErrorCode).(*kerr.Error).Message, sessionGoneText)
		return
	}
	if err := answered(kmsg.ShareAcknowledge, s.group, resp.ErrorCode, resp.ErrorMessage); err != nil {
		code, text := s.conn.Explain(err)
		for _, v := range batch {
			s.conclude(v, false, code, text, true)
		}
		return
	}
	l.advance()
	answers := make(map[int32]*kmsg.ShareAcknowledgeResponseTopicPartition)
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			p := &resp.Topics[i].Partitions[j]
			answers[p.Partition] = p
		}
	}
	together := make(map[int32]int)
	for _, v := range batch {
		together[v.partition()]++
	}
	for _, v := range batch {
		s.verdictOf(v, answers[v.partition()], together[v.partition()] > 1, sent, resp.AcquisitionLockTimeoutMillis)
	}
}

// verdictOf takes the answer to one decision. An answer that is missing, and an error that the leader has from the
// share coordinator, leave it open whether the decision was recorded: the coordinator may append it later.
func (s *sessionState) verdictOf(v *verdict, p *kmsg.ShareAcknowledgeResponseTopicPartition, together bool, sent time.Time, lockMillis int32) {
	if p == nil {
		s.doubt(v)
		return
	}
	switch p.ErrorCode {
	case 0:
		s.confirmed(v, sent, lockMillis)
	case kerr.InvalidRecordState.Code, kerr.InvalidRequest.Code:
		if together {
			v.sent, v.alone = false, true
			return
		}
		text := "The lock had run out: the record went back to the group."
		if m := deref(p.ErrorMessage); m != "" {
			text += " The broker says: " + m
		}
		s.conclude(v, false, "INVALID_RECORD_STATE", text, false)
	case kerr.UnknownTopicOrPartition.Code, kerr.NotLeaderForPartition.Code, kerr.FencedLeaderEpoch.Code, kerr.UnknownTopicID.Code:
		// A broker that is not the leader says UNKNOWN_TOPIC_OR_PARTITION to an acknowledgement.
		s.stale, s.lookAt = true, time.Time{}
		s.conclude(v, false, "leader_moved", "The partition's leader changed before this was recorded: the record is available again.", false)
		s.lose(v.partition(), "leader_moved", "The partition's leader changed, and the new one knows nothing of what was held: the record is available again.")
	case kerr.TopicAuthorizationFailed.Code, kerr.GroupAuthorizationFailed.Code, kerr.UnsupportedVersion.Code:
		code, text := s.conn.Explain(answered(kmsg.ShareAcknowledge, s.topic, p.ErrorCode, p.ErrorMessage))
		s.conclude(v, false, code, text, true)
	default:
		s.doubt(v)
	}
}

// confirmed takes an OK. For an offset below the start offset the broker says OK and does nothing, so an OK
// to what was sent after the lock had run out proves nothing.
func (s *sessionState) confirmed(v *verdict, sent time.Time, lockMillis int32) {
	h := v.hold
	if v.decision == model.DecisionRenew {
		h.Until = sent.Add(time.Duration(lockMillis) * time.Millisecond)
		h.Renewed++
		s.conclude(v, true, "", "The lock was extended.", true)
		return
	}
	if !sent.Before(h.Until) {
		s.doubt(v)
		return
	}
	s.conclude(v, true, "", s.doneText(h, v.decision), false)
}

func (s *sessionState) doneText(h *hold, d model.Decision) string {
	switch d {
	case model.DecisionAccept:
		return "accepted"
	case model.DecisionReject:
		return "rejected: it is not delivered any more"
	}
	if limit, known := s.out.Limit.Get(); known && int64(h.Count) >= limit {
		return fmt.Sprintf("released on its last delivery (%d of %d), so it is archived", h.Count, limit)
	}
	return "released: it is available again"
}

// conclude ends a decision. held says whether the record is still held after it.
func (s *sessionState) conclude(v *verdict, ok bool, code, text string, held bool) {
	h := v.hold
	if h.verdict == v {
		h.verdict = nil
	}
	s.dirty = true
	if v.done != nil {
		s.replies = append(s.replies, func() { v.done(result(h.Ref(), ok, code, text)) })
	}
	if !h.gap && !(v.auto && ok) {
		s.events = append(s.events, model.SessionEvent{At: time.Now(), Record: h.Ref(), Count: h.Count, Event: v.decision.Event(), OK: ok, Code: code, Text: text})
	}
	if !held {
		s.forget(h, text)
	}
	if next := v.next; next != nil {
		if held && s.held[h.Ref()] == h {
			h.verdict = next
		} else {
			s.conclude(next, false, "not_held", "The record is not held any more. "+text, false)
		}
	}
}
