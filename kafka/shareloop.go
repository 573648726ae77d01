package kafka

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// sessionState is what the owner of a share session knows. Nothing else touches it.
type sessionState struct {
	*ShareSession // for its inbox
	group, topic  string
	chosen        []int32
	member        string

	// life ends with the session. Requests that hold records do not depend on it: see ask.
	life    context.Context
	endLife context.CancelFunc

	admin  *kgo.Client // heartbeats and metadata
	reader *Reader
	// requests are those under way; they end when the clients are closed.
	requests sync.WaitGroup

	phase   model.SessionPhase
	ending  time.Time // when an end that was asked for is cut short
	topicID model.TopicID
	membership
	places
	// leaders holds the sessions by node: the epoch counts per broker.
	leaders map[int32]*leaderSession
	held    map[model.RecordRef]*hold
	gone    map[model.RecordRef]string // why what was held is not held any more
	takings []*taking
	// fetching is true while a ShareFetch is under way, and turn the node that was asked last: one at a time, so
	// that not more is taken than was asked for.
	fetching bool
	turn     int32
	doubts   []*verdict // to be read back
	asked    []*verdict // being read back
	reading  time.Time  // since when they are; zero when they are not
	leaving  *audited   // the release at the end
	released []model.ActionResult

	dirty  bool
	events []model.SessionEvent
	// replies tell callers what came about, after it was published.
	replies []func()
	out     model.ShareSession // what is not derived from the rest
}

// hold is a record that we hold.
type hold struct {
	model.HeldRecord
	node int32
	// leaderEpoch is that of the partition's leader when it handed the record out.
	leaderEpoch int32
	// gap is true for an offset without a record, which is only acknowledged as one.
	gap     bool
	verdict *verdict // under way
}

// taking is a request for records that is not fulfilled yet.
type taking struct {
	audited *audited
	missing int
	got     []model.ActionResult
}

func newSessionState(s *ShareSession, r *TakeRequest) (*sessionState, error) {
	own := &sessionState{
		ShareSession: s, group: r.Group, topic: r.Topic, chosen: slices.Clone(r.Partitions), member: newMemberID(),
		reader:  NewReader(s.conn),
		leaders: make(map[int32]*leaderSession),
		held:    make(map[model.RecordRef]*hold),
		gone:    make(map[model.RecordRef]string),
		places:  places{of: make(map[int32]placed), stale: true},
	}
	own.coordinator = -1
	own.life, own.endLife = context.WithCancel(context.Background())
	var err error
	own.admin, err = s.conn.client(jobPoll)
	return own, err
}

// take adds a request for records.
func (s *sessionState) take(begun *audited, count int) {
	s.takings = append(s.takings, &taking{audited: begun, missing: count})
	s.dirty = true
}

// run is the owner's goroutine.
func (s *sessionState) run(ctx context.Context) {
	defer func() {
		s.close()
		close(s.ended)
		s.requests.Wait()
		s.conn.release(s.ShareSession)
	}()
	stop := ctx.Done()
	for {
		wake := s.step(time.Now())
		s.publish()
		for _, reply := range s.replies {
			reply()
		}
		s.replies = nil
		if s.phase == model.SessionLeft {
			return
		}
		timer := time.NewTimer(time.Until(wake))
		select {
		case f := <-s.inbox:
			f()
		case <-timer.C:
		case <-stop:
			stop = nil
			s.beginLeaving(time.Now())
		}
		timer.Stop()
	}
}

// step does everything that is due and returns when to look again at the latest.
func (s *sessionState) step(now time.Time) time.Time {
	s.expire(now)
	if s.phase == model.SessionLeaving {
		s.goOnLeaving(now)
	}
	if s.phase == model.SessionLeft {
		return now
	}
	s.lookUp(now)
	s.beat(now)
	s.renewDue(now)
	s.acknowledge(now)
	s.fetch(now)
	s.readBack(now)
	return s.nextDue(now)
}

// nextDue is when something has to be done that no answer brings about.
func (s *sessionState) nextDue(now time.Time) time.Time {
	at := now.Add(time.Second) // the counters of waits
	sooner := func(t time.Time) {
		if !t.IsZero() && t.After(now) && t.Before(at) {
			at = t
		}
	}
	for _, h := range s.held {
		sooner(h.Until)
		sooner(s.renewAt(h))
	}
	sooner(s.beatAt)
	sooner(s.lookAt)
	sooner(s.ending)
	for _, l := range s.leaders {
		sooner(l.retryAt)
		sooner(l.lastSaid.Add(probeEvery))
	}
	return at
}

// do runs a request beside the owner; then runs in the owner.
func (s *sessionState) do(request func() func()) {
	s.requests.Go(func() {
		then := request()
		_ = s.call(then)
	})
}

// expire drops what has no lock any more. What is being said about a record goes on: the broker's clock decides.
func (s *sessionState) expire(now time.Time) {
	for _, h := range s.sorted() {
		if h.verdict == nil && !now.Before(h.Until) {
			s.drop(h, model.EventLockTimeout, "lock_ran_out", "The lock ran out: the record went back to the group, or was given up when that was its last delivery.")
		}
	}
}

// drop ends a hold that we did not end ourselves.
func (s *sessionState) drop(h *hold, event model.RecordEvent, code, text string) {
	s.forget(h, text)
	if !h.gap {
		s.events = append(s.events, model.SessionEvent{At: time.Now(), Record: h.Ref(), Count: h.Count, Event: event, Code: code, Text: text})
	}
}

// forget takes a record out of what is held.
func (s *sessionState) forget(h *hold, why string) {
	if s.held[h.Ref()] != h {
		return
	}
	delete(s.held, h.Ref())
	if len(s.gone) >= 10_000 {
		clear(s.gone)
	}
	s.gone[h.Ref()] = why
	s.dirty = true
}

// sorted are the holds by partition and offset.
func (s *sessionState) sorted() []*hold {
	return slices.SortedFunc(maps.Values(s.held), func(a, b *hold) int { return model.CompareRecordRefs(a.Ref(), b.Ref()) })
}

// missing is how many records are still to be taken.
func (s *sessionState) missing() int {
	n := 0
	for _, t := range s.takings {
		n += t.missing
	}
	return min(n, MaxTake)
}

// got notes that a record was taken.
func (s *sessionState) got(h *hold) {
	if len(s.takings) == 0 {
		return
	}
	t := s.takings[0]
	t.missing--
	t.got = append(t.got, result(h.Ref(), true, "", ""))
}

// endTakings writes down what came of the requests for records that are fulfilled, or of all.
func (s *sessionState) endTakings(all bool) {
	for len(s.takings) > 0 && (all || s.takings[0].missing <= 0) {
		s.takings[0].audited.end(s.takings[0].got)
		s.takings = s.takings[1:]
	}
}

// wanted are the partitions to take from.
func (s *sessionState) wanted() []int32 {
	if len(s.chosen) > 0 {
		return s.chosen
	}
	return s.assigned
}

// fail ends the session before it began.
func (s *sessionState) fail(code, text string) {
	s.out.Problem = &model.Problem{Scope: model.ScopeGroup, Name: s.group, Code: code, Text: text}
	s.dirty = true
	s.beginLeaving(time.Now())
}

// trouble notes what keeps the session from going on; nil when nothing does.
func (s *sessionState) trouble(err error) {
	if err == nil {
		if s.out.Problem != nil {
			s.out.Problem, s.dirty = nil, true
		}
		return
	}
	code, text := s.conn.Explain(err)
	if s.out.Problem == nil || s.out.Problem.Text != text {
		s.out.Problem = &model.Problem{Scope: model.ScopeGroup, Name: s.group, Code: code, Text: text}
		s.dirty = true
	}
}

// publish tells the world when something has changed.
func (s *sessionState) publish() {
	waits := s.waits()
	if !slices.Equal(waits, s.out.Waits) {
		s.out.Waits, s.dirty = waits, true
	}
	if !s.dirty && len(s.events) == 0 {
		return
	}
	s.dirty = false
	now := s.out
	now.Group, now.Topic, now.TopicID, now.Member, now.Phase = s.group, s.topic, s.topicID, s.member, s.phase
	now.Partitions, now.Missing = slices.Clone(s.wanted()), s.missing()
	now.Held = make([]model.HeldRecord, 0, len(s.held))
	for _, h := range s.sorted() {
		if h.gap {
			continue
		}
		r := h.HeldRecord
		if h.verdict != nil {
			r.Deciding = h.verdict.decision
		}
		now.Held = append(now.Held, r)
	}
	s.tell(&now, s.events)
	s.events = nil
}

// waits are what the session waits for, the oldest first.
func (s *sessionState) waits() []model.SessionWait {
	var out []model.SessionWait
	wait := func(since time.Time, text string) {
		if !since.IsZero() {
			out = append(out, model.SessionWait{Since: since, Text: text})
		}
	}
	for _, l := range s.leaders {
		switch {
		case l.asking == askAcknowledge:
			wait(l.since, "waiting for the state topic")
		case l.asking == askProbe:
			wait(l.since, "waiting for the partition's leader")
		case l.asking == askNothing:
			wait(l.unreachable, "leader unreachable, election pending")
		}
	}
	wait(s.reading, "outcome unknown, reading the state topic back")
	wait(s.membership.failing, "waiting for the group's coordinator")
	wait(s.places.failing, "leader unreachable, election pending")
	slices.SortFunc(out, func(a, b model.SessionWait) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Text, b.Text)) })
	return slices.Compact(out)
}

// close closes all connections.
func (s *sessionState) close() {
	s.endLife()
	for _, l := range s.leaders {
		l.client.Close()
	}
	if s.admin != nil {
		s.admin.Close()
	}
	s.reader.Close()
}

// A placed is where a partition is led.
type placed struct {
	node  int32 // -1 for nowhere
	epoch int32
}

// places are the leaders of the topic's partitions.
type places struct {
	of      map[int32]placed
	stale   bool      // to be looked up
	looking bool      // being looked up
	lookAt  time.Time // not before
	failing time.Time // since when a partition has no leader
}

// lookEvery is how often leaders are looked up while something is held: a leader that moved says nothing by itself.
const lookEvery = time.Second

// lookUp asks for the leaders when they may be other ones.
func (s *sessionState) lookUp(now time.Time) {
	if s.looking || now.Before(s.lookAt) || s.phase >= model.SessionLeaving || !s.stale && len(s.held) == 0 {
		return
	}
	s.looking, s.lookAt = true, now.Add(lookEvery)
	if s.stale {
		s.lookAt = now.Add(lookEvery / 4)
	}
	s.do(func() func() {
		ctx, cancel := context.WithTimeout(s.life, patience)
		defer cancel()
		req := kmsg.NewPtrMetadataRequest()
		t := kmsg.NewMetadataRequestTopic()
		t.Topic = &s.topic
		req.Topics = append(req.Topics, t)
		resp, err := req.RequestWith(ctx, s.admin)
		return func() {
			s.looking = false
			s.found(resp, err)
		}
	})
}

// found takes an answer about the leaders.
func (s *sessionState) found(resp *kmsg.MetadataResponse, err error) {
	known := s.topicID != model.TopicID{}
	if err == nil && len(resp.Topics) == 1 {
		err = answered(kmsg.Metadata, s.topic, resp.Topics[0].ErrorCode, nil)
	}
	if err != nil {
		s.stale = true
		s.trouble(err)
		if !known && !transient(err) {
			code, text := s.conn.Explain(err)
			s.fail(code, text)
		}
		return
	}
	s.stale = false
	t := &resp.Topics[0]
	if known && s.topicID != t.TopicID {
		s.fail("topic_recreated", "The topic was deleted and created anew. What was held of the old one is gone.")
		return
	}
	if !known {
		s.topicID, s.dirty = t.TopicID, true
		s.trouble(nil)
	}
	for i := range t.Partitions {
		p := &t.Partitions[i]
		s.place(p.Partition, placed{p.Leader, p.LeaderEpoch})
	}
	failing := false
	for _, p := range s.wanted() {
		at, exists := s.of[p]
		if !exists {
			s.fail("no_partition", "The topic has no partition "+itoa(p)+".")
			return
		}
		if l := s.leaders[at.node]; at.node < 0 || l != nil && !l.unreachable.IsZero() {
			failing = true
		}
	}
	if s.stale = failing; !failing {
		s.places.failing = time.Time{}
	} else if s.places.failing.IsZero() {
		s.places.failing = time.Now()
	}
}

// place notes the leader of a partition. A new leader, or the same one in a new term, knows nothing of the holds under
// the one before.
func (s *sessionState) place(partition int32, at placed) {
	was, known := s.of[partition]
	if known && (at.epoch < was.epoch || at == was) {
		return // an answer that is behind
	}
	s.of[partition] = at
	if known && (at.epoch > was.epoch && at.node >= 0 || at.node != was.node && at.node >= 0) {
		s.lose(partition, "leader_moved", "The partition's leader changed, and the new one knows nothing of what was held: the record is available again.")
	}
}

// lose drops what is held of a partition and was not yet sent a decision about.
func (s *sessionState) lose(partition int32, code, text string) {
	for _, h := range s.sorted() {
		if h.Partition != partition {
			continue
		}
		switch v := h.verdict; {
		case v == nil:
			s.drop(h, model.EventLeaderChange, code, text)
		case !v.sent:
			s.conclude(v, false, code, text, false)
		}
	}
}
