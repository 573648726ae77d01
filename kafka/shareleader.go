package kafka

import (
	"context"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

const (
	// probeEvery is how often a leader is asked for a sign of life while something is held there: a broker gives
	// back what is held when the connection ends, and only a request shows that it did.
	probeEvery = time.Second
	// retryLeader is the pause before a leader that failed is asked again.
	retryLeader = 500 * time.Millisecond
)

// asking is what a leader is asked just now.
type asking uint8

const (
	askNothing asking = iota
	askFetch
	askAcknowledge
	askProbe
	askClose
)

// leaderSession is the share session with one broker. It has a client of its own: the session is that of its
// connection, and holds its records as long as that lasts. One request is under way at a time.
type leaderSession struct {
	node   int32
	client *kgo.Client
	// term rises when the client is replaced, so that late answers of the one before are told apart.
	term     int
	epoch    int32   // 0 is not opened
	named    []int32 // the partitions in the session
	asking   asking
	since    time.Time
	lastSaid time.Time
	retryAt  time.Time
	// unreachable is since when no connection comes about; zero when one does.
	unreachable time.Time
}

// leaderAt is the session with a broker, made when there is none.
func (s *sessionState) leaderAt(node int32) (*leaderSession, error) {
	if l := s.leaders[node]; l != nil {
		return l, nil
	}
	client, err := s.conn.client(jobSession)
	if err != nil {
		return nil, err
	}
	l := &leaderSession{node: node, client: client, lastSaid: time.Now()}
	s.leaders[node] = l
	return l, nil
}

// ask sends a request to a leader. Its context never ends: that would close the connection, and the session
// with it.
func (s *sessionState) ask(l *leaderSession, what asking, req kmsg.Request, then func(resp kmsg.Response, err error, sent time.Time)) {
	sent := time.Now()
	l.asking, l.since, l.retryAt = what, sent, time.Time{}
	client, term := l.client, l.term
	s.do(func() func() {
		resp, err := client.Broker(int(l.node)).Request(context.Background(), req)
		return func() {
			if l.term != term {
				return
			}
			l.asking, l.lastSaid = askNothing, time.Now()
			if err == nil {
				l.unreachable = time.Time{}
			}
			then(resp, err, sent)
		}
	})
}

// advance counts a request that the broker counted.
func (l *leaderSession) advance() {
	if l.epoch == math.MaxInt32 {
		l.epoch = 0
	}
	l.epoch++
}

// failed takes a request to a leader that came to nothing; whatever was held there is lost. What was sent has an
// unknown outcome, unless the connection was not even made.
func (s *sessionState) failed(l *leaderSession, err error) {
	unsent := isDialError(err)
	if unsent && l.unreachable.IsZero() {
		l.unreachable = l.since
	}
	s.stale, s.dirty = true, true
	s.lookAt = time.Time{}
	s.lost(l, !unsent, "connection_lost", "The connection to the partition's leader was lost, and with it what was held there: the broker gives the record back, at the latest when its lock runs out.")
	l.retryAt = time.Now().Add(retryLeader)
}

// sessionGone reports whether the broker has no such session, or another epoch of it. Either way a new one is begun
// on a new connection, since the end of the old one frees what may still be held.
func sessionGone(code int16) bool {
	return code == kerr.ShareSessionNotFound.Code || code == kerr.InvalidShareSessionEpoch.Code
}

const sessionGoneText = "The broker does not have the share session any more: the record is available again."

// lost ends the session with a leader, and begins anew on a new connection when it is asked again. doubtful is
// whether decisions that were sent may have been carried out.
func (s *sessionState) lost(l *leaderSession, doubtful bool, code, text string) {
	for _, h := range s.sorted() {
		if h.node != l.node {
			continue
		}
		switch v := h.verdict; {
		case v == nil:
			s.drop(h, model.EventSessionClose, code, text)
		case v.sent && v.doubtful: // is read back already
			s.forget(h, text)
		case v.sent && doubtful:
			s.doubt(v)
			s.forget(h, text)
		default:
			s.conclude(v, false, code, text, false)
		}
	}
	old := l.client
	s.requests.Go(old.Close)
	if l.asking == askFetch {
		s.fetching = false
	}
	l.term++
	l.epoch, l.named, l.asking = 0, nil, askNothing
	client, err := s.conn.client(jobSession)
	if err != nil || s.phase >= model.SessionLeaving {
		delete(s.leaders, l.node)
		if err == nil {
			client.Close()
		}
		return
	}
	l.client = client
}

// fetch asks one leader for records while some are missing.
func (s *sessionState) fetch(now time.Time) {
	if s.fetching || s.phase != model.SessionMember || s.missing() == 0 {
		return
	}
	byNode := make(map[int32][]int32)
	for _, p := range s.wanted() {
		if at, ok := s.of[p]; ok && at.node >= 0 {
			byNode[at.node] = append(byNode[at.node], p)
		} else {
			s.stale = true
		}
	}
	nodes := slices.Sorted(maps.Keys(byNode))
	// The one after the last turn first.
	if i := slices.IndexFunc(nodes, func(n int32) bool { return n > s.turn }); i > 0 {
		nodes = slices.Concat(nodes[i:], nodes[:i])
	}
	for _, node := range nodes {
		l, err := s.leaderAt(node)
		if err != nil {
			s.trouble(err)
			return
		}
		if l.asking != askNothing || now.Before(l.retryAt) {
			continue
		}
		partitions := byNode[node]
		var forgotten []int32
		for _, p := range l.named {
			if !slices.Contains(partitions, p) && !s.holdsOf(p) {
				forgotten = append(forgotten, p)
			}
		}
		s.fetching, s.turn = true, node
		s.ask(l, askFetch, s.shareFetch(l.epoch, partitions, forgotten, s.missing()), func(resp kmsg.Response, err error, sent time.Time) {
			s.fetching = false
			if err != nil {
				s.failed(l, err)
				return
			}
			s.fetched(l, partitions, forgotten, resp.(*kmsg.ShareFetchResponse), sent)
		})
		return
	}
}

func (s *sessionState) holdsOf(partition int32) bool {
	for ref := range s.held {
		if ref.Partition == partition {
			return true
		}
	}
	return false
}

// fetched takes the records that a leader handed out.
func (s *sessionState) fetched(l *leaderSession, partitions, forgotten []int32, resp *kmsg.ShareFetchResponse, sent time.Time) {
	now := time.Now()
	if sessionGone(resp.ErrorCode) {
		s.lost(l, false, kerr.ErrorForCode(resp.ErrorCode).(*kerr.Error).Message, sessionGoneText)
		l.retryAt = now.Add(retryLeader / 2)
		return
	}
	if err := answered(kmsg.ShareFetch, s.group, resp.ErrorCode, resp.ErrorMessage); err != nil {
		s.trouble(err)
		l.retryAt = now.Add(2 * retryLeader)
		return
	}
	l.advance()
	for _, p := range partitions {
		if !slices.Contains(l.named, p) {
			l.named = append(l.named, p)
		}
	}
	l.named = slices.DeleteFunc(l.named, func(p int32) bool { return slices.Contains(forgotten, p) })
	s.learn(resp)
	any, failing := false, false
	for i := range resp.Topics {
		for j := range resp.Topics[i].Partitions {
			p := &resp.Topics[i].Partitions[j]
			if p.ErrorCode != 0 {
				s.refusedFetch(l, p)
				failing = true
				continue
			}
			for _, r := range acquired(s.topic, p) {
				any = true
				s.hold(l, r, sent, resp.AcquisitionLockTimeoutMillis)
			}
		}
	}
	s.endTakings(false)
	switch {
	case failing:
		l.retryAt = now.Add(retryLeader / 2)
	case !any && now.Sub(sent) < fetchWait/2*time.Millisecond:
		l.retryAt = now.Add(fetchWait * time.Millisecond) // a broker that does not wait
		s.trouble(nil)
	default:
		s.trouble(nil)
	}
}

// learn notes what an answer says about the broker.
func (s *sessionState) learn(resp *kmsg.ShareFetchResponse) {
	lock := model.Some(time.Duration(resp.AcquisitionLockTimeoutMillis) * time.Millisecond)
	exact := model.Some(resp.Version >= 2)
	if s.out.Lock == lock && s.out.Exact == exact && s.out.Renewable.Known() {
		return
	}
	s.out.Lock, s.out.Exact, s.dirty = lock, exact, true
	switch {
	case resp.Version < 2:
		s.out.Renewable, s.out.RenewText = model.Some(false), "Kafka 4.1 cannot extend the lock of a record; 4.2 and later can."
	case !s.out.Renewable.Known():
		s.out.Renewable = model.Some(true)
	}
}

// hold notes a record that was handed out. Its lock began after the request was sent.
func (s *sessionState) hold(l *leaderSession, r model.HeldRecord, sent time.Time, lockMillis int32) {
	r.Taken, r.Until = sent, sent.Add(time.Duration(lockMillis)*time.Millisecond)
	h := &hold{HeldRecord: r, node: l.node, leaderEpoch: s.of[r.Partition].epoch}
	h.gap = r.Status != model.RecordFound
	if old := s.held[r.Ref()]; old != nil {
		// Handed out to us again, so the lock had run out by the broker's clock.
		if old.verdict != nil {
			s.conclude(old.verdict, false, "lock_ran_out", "The lock had run out: the record went back to the group and was taken again.", false)
		} else {
			s.drop(old, model.EventLockTimeout, "lock_ran_out", "The lock had run out: the record went back to the group and was taken again.")
		}
	}
	delete(s.gone, r.Ref())
	s.held[r.Ref()] = h
	s.dirty = true
	if h.gap {
		h.verdict = &verdict{hold: h, decision: model.DecisionNone}
		return
	}
	s.got(h)
	s.events = append(s.events, model.SessionEvent{At: time.Now(), Record: h.Ref(), Count: h.Count, Event: model.EventAcquire, OK: true})
}

// refusedFetch takes an error of one partition.
func (s *sessionState) refusedFetch(l *leaderSession, p *kmsg.ShareFetchResponseTopicPartition) {
	switch p.ErrorCode {
	case kerr.NotLeaderForPartition.Code, kerr.FencedLeaderEpoch.Code:
		s.lose(p.Partition, "leader_moved", "The partition's leader changed or forgot what was held: the record is available again.")
		// The hint is there with this error alone; elsewhere its zeros look like node 0.
		if hint := (placed{p.CurrentLeader.LeaderID, p.CurrentLeader.LeaderEpoch}); hint.node >= 0 && hint.node != l.node {
			s.place(p.Partition, hint)
		}
		s.stale = true
	case kerr.UnknownTopicOrPartition.Code, kerr.UnknownTopicID.Code:
		s.stale = true
		s.trouble(answered(kmsg.ShareFetch, s.topic, p.ErrorCode, p.ErrorMessage))
	default:
		s.trouble(answered(kmsg.ShareFetch, s.topic, p.ErrorCode, p.ErrorMessage))
	}
}

// beginRelease writes down that what is held is given back. It is given back also when that cannot be
// written: keeping it would be worse.
func (s *sessionState) beginRelease() {
	refs := make([]model.RecordRef, 0, len(s.held))
	for ref := range s.held {
		refs = append(refs, ref)
	}
	begun, err := s.conn.begin(model.Action{
		Kind:   model.ActionShareLeave,
		Target: model.ActionTarget{Group: s.group, Topic: s.topic, Records: model.RangesOf(refs)},
	})
	if err == nil {
		s.leaving = begun
	} else {
		s.leaving = &audited{}
	}
}

func (s *sessionState) endRelease() {
	if s.leaving != nil && s.leaving.audit != nil {
		s.leaving.end(s.released)
	}
}

// closeLeader ends the session with a leader, which gives back what is held there.
func (s *sessionState) closeLeader(l *leaderSession) {
	if l.epoch == 0 {
		s.lost(l, false, "closed", sessionGoneText)
		return
	}
	s.ask(l, askClose, s.shareAcknowledge(lastEpoch, nil), func(resp kmsg.Response, err error, _ time.Time) {
		if err == nil {
			r := resp.(*kmsg.ShareAcknowledgeResponse)
			err = answered(kmsg.ShareAcknowledge, s.group, r.ErrorCode, r.ErrorMessage)
		}
		for _, h := range s.sorted() {
			if h.node == l.node && err == nil && !h.gap {
				text := s.releaseText(h)
				s.released = append(s.released, result(h.Ref(), true, "", text))
				s.forget(h, text)
				s.events = append(s.events, model.SessionEvent{At: time.Now(), Record: h.Ref(), Count: h.Count, Event: model.EventSessionClose, OK: true, Text: text})
			} else if h.node == l.node && !h.gap {
				s.released = append(s.released, notDone(h.Ref(), "connection_lost", "The session could not be closed in an orderly way; the end of the connection gives the record back."))
			}
		}
		s.lost(l, false, "connection_lost", "The session could not be closed in an orderly way; the end of the connection gives the record back.")
	})
}

// releaseText says what the end of the session does to a record.
func (s *sessionState) releaseText(h *hold) string {
	undoes, known := s.out.CloseUndoes.Get()
	limit, limited := s.out.Limit.Get()
	switch {
	case !known:
		return "released with the end of the session"
	case undoes:
		return "released with the end of the session; this delivery is not counted (before Kafka 4.3)"
	case limited && int64(h.Count) >= limit:
		return "released with the end of the session on its last delivery, so it is archived"
	}
	return "released with the end of the session; this delivery is counted"
}
