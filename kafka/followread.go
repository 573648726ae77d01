package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

const (
	// retryDenied is the pause after a user name or password that was refused.
	retryDenied = 30 * time.Second
	// retryAfter is the pause after an error: without the right to read, franz-go reports errors without any.
	retryAfter = time.Second
	// askAgain is the pause before asking again for a right that was missing.
	askAgain = 3 * time.Second
	// setUpLimit bounds the requests before reading.
	setUpLimit = 10 * time.Second
)

// setUp looks the topic up and begins to read it.
func (f *Follower) setUp(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, setUpLimit)
	defer cancel()
	client, err := f.conn.client(jobFollow,
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		// A partition that is added waits for the fetch that is under way.
		kgo.FetchMaxWait(500*time.Millisecond),
		kgo.FetchMaxBytes(8<<20),
	)
	if err != nil {
		f.fail(err)
		return
	}
	topic, err := openStateTopic(limited, client)
	if err != nil {
		client.Close()
		if ctx.Err() == nil { // else Watch, Close or the caller ended the wait
			f.fail(err)
		}
		return
	}
	f.setProblem(nil)
	if f.topicID != topic.id {
		f.forgetAll()
	}
	f.topic, f.topicID = topic, topic.id
	f.budget.begin(time.Now())
	f.assign()
}

// disconnect stops reading. The folds stay: reading again goes through the log from its start and takes
// what is new.
func (f *Follower) disconnect() {
	if f.topic == nil {
		return
	}
	f.topic.client.Close()
	for _, p := range f.topic.parts {
		p.settle()
	}
	f.topic = nil
}

// settle notes in the folds how far the partition was read.
func (p *statePartition) settle() {
	for _, x := range p.folds {
		if x.fold != nil {
			x.next = max(x.next, p.next)
		}
	}
}

// fail notes why the topic can not be read, and when to try again.
func (f *Follower) fail(err error) {
	f.disconnect()
	p := model.Problem{Scope: model.ScopeShare, Name: sharestate.Topic}
	pause := retryAfter
	if errors.Is(err, errNoStateTopic) {
		p.Code = "no_state_topic"
		p.Text = "No share group was used on this cluster yet: the topic " + sharestate.Topic + " does not exist. It is made with the first one."
	} else {
		p.Code, p.Text = f.conn.Explain(err)
	}
	if model.LoginDenied(p.Code) {
		pause = retryDenied
	}
	if errors.Is(err, kerr.TopicAuthorizationFailed) {
		pause = askAgain
		p.Text = strings.TrimSuffix(p.Text, ".") + ". Without it only the start offsets and the lag of share groups can be shown, not the state of their records."
	}
	f.setProblem(&p)
	f.retryAt = time.Now().Add(pause)
}

func (f *Follower) setProblem(p *model.Problem) {
	if p == nil && f.problem == nil || p != nil && f.problem != nil && *p == *f.problem {
		return
	}
	f.problem, f.dirty = p, true
}

// forgetAll goes back to knowing nothing, as when the topic was made again.
func (f *Follower) forgetAll() {
	for _, x := range f.folds {
		x.forget(0)
	}
	f.dirty = true
}

// forget goes back to knowing nothing.
func (x *followed) forget(prunedBefore int64) {
	if x.fold != nil {
		x.fold.Forget()
	}
	x.next = 0
	x.out = model.SharePartitionRecords{Key: x.key, PrunedBefore: prunedBefore, Unfollowed: x.out.Unfollowed}
	x.changed = true
}

// read waits for records and folds them in.
func (f *Follower) read(ctx context.Context, now time.Time) {
	t := f.topic
	if f.budget.widen(now) {
		f.assign()
	}
	if t.unlisted() && !now.Before(t.listAt) {
		limited, cancel := context.WithTimeout(ctx, setUpLimit)
		f.dirty = t.list(limited, now) || f.dirty
		cancel()
		return
	}
	ctx, cancel := f.until(ctx)
	defer cancel()
	var failed error
	polled := make(map[*statePartition][]kgo.FetchPartition)
	t.client.PollFetches(ctx).EachPartition(func(p kgo.FetchTopicPartition) {
		if errors.Is(p.Err, context.Canceled) || errors.Is(p.Err, context.DeadlineExceeded) {
			return
		}
		if p.Err != nil {
			failed = p.Err
		}
		if part := t.parts[p.Partition]; part != nil {
			polled[part] = append(polled[part], p.FetchPartition)
		}
	})
	var folding sync.WaitGroup // partitions share nothing, and while catching up there is much to fold
	var live atomic.Int64
	var news atomic.Bool
	for part, all := range polled {
		folding.Go(func() {
			for _, got := range all {
				bytes, changed := part.take(got)
				live.Add(int64(bytes))
				if changed {
					news.Store(true)
				}
			}
		})
	}
	folding.Wait()
	f.budget.bytes += int(live.Load())
	f.dirty = f.dirty || news.Load()
	if failed != nil {
		f.fail(&requestError{Key: kmsg.Fetch, Name: sharestate.Topic, Err: failed})
	} else if f.budget.exceeded(time.Now()) {
		f.assign()
	}
}

// until is the context of a poll: it ends when something else is to be done.
func (f *Follower) until(ctx context.Context) (context.Context, context.CancelFunc) {
	var at time.Time
	sooner := func(t time.Time) {
		if at.IsZero() || t.Before(at) {
			at = t
		}
	}
	if f.dirty {
		sooner(f.deliverAt)
	}
	if f.topic.unlisted() {
		sooner(f.topic.listAt)
	}
	if f.budget.over {
		sooner(f.budget.widenAt)
	}
	if at.IsZero() {
		return context.WithCancel(ctx)
	}
	return context.WithDeadline(ctx, at)
}

// take folds records in. It returns how many bytes of keys and values came after the partition was caught up, and
// whether there is news.
func (p *statePartition) take(got kgo.FetchPartition) (live int, news bool) {
	if got.Err != nil {
		return 0, p.lost(got.Err)
	}
	var write model.ShareWrite // decoded into, for its memory
	for _, r := range got.Records {
		if r.Offset != p.next {
			p.jump(r.Offset)
		}
		p.next = r.Offset + 1
		if p.caughtUp {
			live += len(r.Key) + len(r.Value)
		}
		x := p.folds[string(sharestate.Identity(r.Key))]
		if x == nil || r.Offset < x.next {
			continue
		}
		x.changed, news = true, true
		kind, err := sharestate.KeyKind(r.Key)
		if err == nil {
			err = sharestate.DecodeValue(kind, r.Value, &write)
		}
		if err != nil {
			x.out.Skipped++
			x.out.SkippedText = fmt.Sprintf("record %d of partition %d of %s: %v", r.Offset, r.Partition, sharestate.Topic, err)
			continue
		}
		x.fold.Apply(&write, model.WriteRef{Ms: r.Timestamp.UnixMilli(), Offset: r.Offset})
	}
	if p.end < 0 {
		p.ends(got.LogStartOffset, got.HighWatermark)
	}
	return live, p.progress() || news
}

// lost forgets what an error makes doubtful: franz-go reports records that were read and are no longer in
// the log after an unclean election.
func (p *statePartition) lost(err error) bool {
	if _, ok := errors.AsType[*kgo.ErrDataLoss](err); !ok {
		return false
	}
	for _, x := range p.folds {
		x.forget(0)
	}
	p.next = -1
	return true
}

// jump begins or goes on at an offset that is not the next one: what lies in between was pruned by the
// brokers. They prune up to the oldest snapshot that is still in force, so what comes makes the state complete
// again, but what was folded is outdated.
func (p *statePartition) jump(offset int64) {
	if p.next >= 0 {
		p.settle()
	}
	for _, x := range p.folds {
		if x.next < offset {
			x.forget(offset)
		}
	}
}

// meter watches how much is read.
type meter struct {
	limit int // bytes per second
	// over is true while only the visible share-partitions are followed.
	over    bool
	bytes   int // since since
	since   time.Time
	widenAt time.Time // when all are followed again
	pause   time.Duration
	rate    int // the last one over the limit
}

const (
	// budgetSpan is the time over which traffic is judged.
	budgetSpan = 5 * time.Second
	// Everything is followed again after a pause that grows from the first to the last.
	firstPause, lastPause = time.Minute, 16 * time.Minute
)

func (m *meter) begin(now time.Time) { m.bytes, m.since = 0, now }

// exceeded reports whether the traffic has just gone over the budget.
func (m *meter) exceeded(now time.Time) bool {
	if m.over {
		return false
	}
	if m.bytes > m.limit*int(budgetSpan/time.Second) {
		m.rate = int(float64(m.bytes) / max(now.Sub(m.since), time.Second).Seconds())
		m.over = true
		m.pause = min(max(2*m.pause, firstPause), lastPause)
		m.widenAt = now.Add(m.pause)
		return true
	}
	if now.Sub(m.since) >= budgetSpan {
		if m.bytes > 0 {
			m.pause = 0
		}
		m.begin(now)
	}
	return false
}

// widen reports whether it is time to follow everything again.
func (m *meter) widen(now time.Time) bool {
	if !m.over || now.Before(m.widenAt) {
		return false
	}
	m.over = false
	m.begin(now)
	return true
}

// why says why what is not visible is not followed.
func (m *meter) why() string {
	return fmt.Sprintf("not followed: the state topic has %s/s, over the budget of %s/s, so only what is on screen is followed", model.Bytes(int64(m.rate)), model.Bytes(int64(m.limit)))
}
