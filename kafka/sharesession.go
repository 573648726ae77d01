package kafka

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"flightdeck/model"
)

// leaveLimit bounds the end of a session: what is not answered by then is left to the brokers, which give
// records back when the connection is closed.
const leaveLimit = 3 * time.Second

// MaxTake is the most records that can be asked for at once.
const MaxTake = 500

// TakeRequest says which records to take.
type TakeRequest struct {
	Group, Topic string
	// Partitions are those to take from; none for those that the group assigns to us.
	Partitions []int32
	// Count is how many records to take, from 1 to [MaxTake].
	Count int
}

// ShareSession is our membership in a share group, with records that we hold. It is safe for concurrent use; Next is
// for one goroutine.
//
// It keeps the rules of KIP-932 that a person relies on: a record is held until something is decided about it
// or its lock runs out; each decision has its own result, and nothing is said to have happened that the cluster did
// not confirm. At the end what is held is released, the sessions are closed and the group is left.
//
// One goroutine owns everything that is not behind mu; requests run beside it and hand their answers to it.
type ShareSession struct {
	conn *Connection
	own  *sessionState

	inbox chan func()
	ended chan struct{} // closed when the owner is done
	leave context.CancelFunc

	mu     sync.Mutex // guards what follows
	latest *model.ShareSession
	events []model.SessionEvent
	fresh  bool
	news   chan struct{} // has one when fresh
}

// Take joins a share group as a member of its own and takes records. It returns once the intent is written down;
// what happens then is told by [ShareSession.Next]. The session leaves when ctx ends, at Leave, or when the
// connection is closed.
func (c *Connection) Take(ctx context.Context, r TakeRequest) (*ShareSession, error) {
	if r.Count < 1 || r.Count > MaxTake {
		return nil, fmt.Errorf("take %d records: 1 to %d can be taken at once", r.Count, MaxTake)
	}
	begun, err := c.begin(takeAction(&r))
	if err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	s := &ShareSession{conn: c, inbox: make(chan func()), ended: make(chan struct{}), leave: stop, news: make(chan struct{}, 1)}
	if s.own, err = newSessionState(s, &r); err == nil && !c.adopt(s) {
		s.own.close()
		err = ErrClosed
	}
	if err != nil {
		stop()
		begun.end([]model.ActionResult{notDone(model.RecordRef{Topic: r.Topic, Partition: -1}, "failed", err.Error())})
		return nil, err
	}
	s.own.take(begun, r.Count)
	s.own.publish()
	go s.own.run(ctx)
	return s, nil
}

func takeAction(r *TakeRequest) model.Action {
	return model.Action{
		Kind:   model.ActionShareTake,
		Target: model.ActionTarget{Group: r.Group, Topic: r.Topic, Partitions: r.Partitions},
		Impact: []string{fmt.Sprintf("takes up to %d records of the share group; each taking counts as a delivery", r.Count)},
		Danger: model.DangerSome,
	}
}

// newMemberID is a UUID in the 22 characters that Kafka's own clients use.
func newMemberID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return base64.RawURLEncoding.EncodeToString(id[:])
}

// Next waits until something is not as in the value that it returned before, and returns what is so then. The
// last value has the phase [model.SessionLeft]; after it the error is [ErrClosed].
func (s *ShareSession) Next(ctx context.Context) (*model.ShareSession, error) {
	for {
		s.mu.Lock()
		if s.fresh {
			out := *s.latest
			out.Events, s.events, s.fresh = s.events, nil, false
			s.mu.Unlock()
			return &out, nil
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-s.news:
		case <-s.ended:
			if !s.pending() {
				return nil, ErrClosed
			}
		}
	}
}

// pending reports whether there is a value that Next did not return yet.
func (s *ShareSession) pending() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fresh
}

// Now is the present value, without events.
func (s *ShareSession) Now() *model.ShareSession {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.latest
}

// Held are the records that are held now, sorted by partition and offset.
func (s *ShareSession) Held() []model.HeldRecord { return s.Now().Held }

// errSessionOver is what a session that ended answers.
var errSessionOver = errors.New("the share session is over")

// call has the owner run f; the error means that the session is over.
func (s *ShareSession) call(f func()) error {
	select {
	case s.inbox <- f:
		return nil
	case <-s.ended:
		return errSessionOver
	}
}

// callAndSee is call, and returns when Now shows what f did.
func (s *ShareSession) callAndSee(f func()) error {
	seen := make(chan struct{})
	err := s.call(func() {
		f()
		s.own.replies = append(s.own.replies, func() { close(seen) })
	})
	if err == nil {
		<-seen
	}
	return err
}

// More takes further records into the session.
func (s *ShareSession) More(count int) error {
	if count < 1 || count > MaxTake {
		return fmt.Errorf("take %d records: 1 to %d can be taken at once", count, MaxTake)
	}
	now := s.Now()
	begun, err := s.conn.begin(takeAction(&TakeRequest{Group: now.Group, Topic: now.Topic, Partitions: now.Partitions, Count: count}))
	if err != nil {
		return err
	}
	if err := s.callAndSee(func() { s.own.take(begun, count) }); err != nil {
		begun.end(nil)
		return err
	}
	return nil
}

// Decide says one thing about several held records, in any order, and returns a result for each, in the order of refs.
// It waits until the brokers have answered, which takes a minute and longer when the state topic has trouble, and when
// an answer does not come, until the state topic was read back. Records whose outcome is open when ctx
// ends have the code "unknown". The error means that nothing was sent.
func (s *ShareSession) Decide(ctx context.Context, refs []model.RecordRef, d model.Decision) ([]model.ActionResult, error) {
	if d < model.DecisionAccept || d > model.DecisionRenew {
		return nil, fmt.Errorf("there is no decision %d", d)
	}
	now := s.Now()
	action := model.Action{Kind: d.Kind(), Target: model.ActionTarget{Group: now.Group, Records: model.RangesOf(refs)}}
	return s.conn.act(action, func() []model.ActionResult {
		results := make([]model.ActionResult, len(refs))
		for i, ref := range refs {
			results[i] = notDone(ref, "unknown", "The outcome is not known: it was given up before an answer came.")
		}
		type answer struct {
			i      int
			result model.ActionResult
		}
		answers := make(chan answer, len(refs))
		err := s.call(func() {
			for i, ref := range refs {
				s.own.decide(ref, d, func(r model.ActionResult) { answers <- answer{i, r} })
			}
		})
		if err != nil {
			for i, ref := range refs {
				results[i] = notDone(ref, "closed", "This was not sent: the session is over, and the record went back to the group.")
			}
			return results
		}
		for range refs {
			select {
			case a := <-answers:
				results[a.i] = a.result
			case <-ctx.Done():
				return results
			}
		}
		return results
	})
}

// AutoRenew extends the locks of all held records by itself for a time from now; 0 turns that off.
func (s *ShareSession) AutoRenew(d time.Duration) error {
	now := s.Now()
	if d > 0 {
		if ok, known := now.Renewable.Get(); known && !ok {
			return errors.New(now.RenewText)
		}
	}
	action := model.Action{
		Kind:   model.ActionShareRenew,
		Target: model.ActionTarget{Group: now.Group, Topic: now.Topic},
		Impact: []string{fmt.Sprintf("extends the locks of all held records by itself for %s", d)},
	}
	if d <= 0 {
		action.Impact = []string{"stops extending locks by itself"}
	}
	_, err := s.conn.act(action, func() []model.ActionResult {
		err := s.callAndSee(func() { s.own.renewFor(d) })
		return []model.ActionResult{{Group: now.Group, Topic: now.Topic, Partition: -1, OK: err == nil}}
	})
	return err
}

// Leave releases what is held, closes the session and leaves the group, and returns when that is done or given
// up, after a few seconds at most. Decisions under way are sent first.
func (s *ShareSession) Leave(ctx context.Context) error {
	s.leave()
	select {
	case <-s.ended:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Done is closed when the session has ended and its connections are closed.
func (s *ShareSession) Done() <-chan struct{} { return s.ended }

// tell publishes a value with what happened since the last.
func (s *ShareSession) tell(latest *model.ShareSession, events []model.SessionEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest, s.fresh = latest, true
	s.events = append(slices.Clip(s.events), events...)
	// Who does not call Next does not fill the memory.
	if over := len(s.events) - 10_000; over > 0 {
		s.events = s.events[over:]
	}
	select {
	case s.news <- struct{}{}:
	default:
	}
}

// notDone is a result of something that did not happen.
func notDone(ref model.RecordRef, code, text string) model.ActionResult {
	return result(ref, false, code, text)
}

func result(ref model.RecordRef, ok bool, code, text string) model.ActionResult {
	r := model.ActionResult{Topic: ref.Topic, Partition: ref.Partition, OK: ok, Code: code, Text: text}
	if ref.Partition >= 0 {
		r.Offset = model.Some(ref.Offset)
	}
	return r
}
