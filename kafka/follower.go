package kafka

import (
	"context"
	"slices"
	"sync"
	"time"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// FollowOptions bound what a [Follower] takes of the network and of memory. Zeros are replaced by the
// defaults.
type FollowOptions struct {
	// Budget is how many bytes per second of keys and values may be read of the state topic, apart from catching
	// up, before only the visible share-partitions are followed; 1 MB/s by default.
	Budget int
	// History is how many writes are kept, over all share-partitions: each gets its part of it, at least 64
	// and at most 4,096, and holds at most twice as many; 100,000 by default, which is at most 40 MB.
	History int
}

const (
	minKeep, maxKeep = 64, 4096

	// gather is how long changes are put together while the reader catches up.
	gather = 50 * time.Millisecond
)

// Follower follows the state of share-partitions in __share_group_state: it reads the partitions of that topic
// that hold them, from the log start and without a group, and folds what is written. It sends nothing but
// Metadata, ListOffsets and Fetch.
//
// Watch and Close are safe for concurrent use; Next is called by one goroutine at a time. Reading
// happens in Next alone: who does not call it takes nothing, and franz-go holds back what comes.
type Follower struct {
	conn *Connection
	opts FollowOptions

	mu        sync.Mutex // guards what follows
	pending   *watch
	interrupt context.CancelFunc // ends the wait of Next
	closed    bool

	reading sync.Mutex    // held by Next; guards what follows
	topic   *stateTopic   // nil while it is not read
	topicID model.TopicID // that of the folds
	watched watch
	folds   map[string]*followed // by sharestate.Identity
	budget  meter
	problem *model.Problem
	retryAt time.Time

	last      *model.ShareRecords
	dirty     bool      // something is not as in last
	deliverAt time.Time // not before this time while catching up
}

// watch is what the caller wants to see.
type watch struct {
	keys    []model.SharePartitionKey
	visible map[model.SharePartitionKey]bool
}

// followed is a share-partition that is watched.
type followed struct {
	key  model.SharePartitionKey
	fold *model.ShareFold // nil while it is not followed
	// next is the offset in the state topic from which on records are news: a partition may be read again
	// for the sake of another share-partition.
	next int64
	out  model.SharePartitionRecords // what is published, but for the history
	// changed means that it has to be published again.
	changed bool
}

// NewFollower prepares a follower; it does not dial. The caller closes it.
func NewFollower(c *Connection, o FollowOptions) *Follower {
	if o.Budget <= 0 {
		o.Budget = 1_000_000
	}
	if o.History <= 0 {
		o.History = 100_000
	}
	return &Follower{
		conn: c, opts: o,
		folds:  make(map[string]*followed),
		budget: meter{limit: o.Budget},
		last:   new(model.ShareRecords),
	}
}

// Watch says which share-partitions to follow, instead of those before. Those that are on screen are visible: they
// are followed even when the topic's traffic is over the budget. It does not wait.
func (f *Follower) Watch(keys, visible []model.SharePartitionKey) {
	w := &watch{keys: slices.Clone(keys), visible: make(map[model.SharePartitionKey]bool, len(visible))}
	for _, k := range visible {
		w.visible[k] = true
	}
	f.mu.Lock()
	f.pending = w
	interrupt := f.interrupt
	f.mu.Unlock()
	if interrupt != nil {
		interrupt()
	}
}

// Close ends the follower; a waiting Next returns [ErrClosed].
func (f *Follower) Close() {
	f.mu.Lock()
	f.closed = true
	interrupt := f.interrupt
	f.mu.Unlock()
	if interrupt != nil {
		interrupt()
	}
	f.reading.Lock()
	defer f.reading.Unlock()
	f.disconnect()
}

// Next waits until something is not as in the value that it returned before, and returns what is known then. While
// it catches up, changes are put together for a while. What can not be read is in the value: the error is that
// of the context, or [ErrClosed].
func (f *Follower) Next(ctx context.Context) (*model.ShareRecords, error) {
	f.reading.Lock()
	defer f.reading.Unlock()
	for {
		w, wait, stop, err := f.begin(ctx)
		if err != nil {
			return nil, err
		}
		if w != nil {
			f.adopt(w)
		}
		now := time.Now()
		if f.dirty && (!f.catchingUp() || !now.Before(f.deliverAt)) {
			stop()
			return f.publish(now), nil
		}
		f.step(wait, now)
		stop()
	}
}

// begin takes what Watch left and makes the context of the next wait, which Watch and Close end.
func (f *Follower) begin(ctx context.Context) (w *watch, wait context.Context, stop context.CancelFunc, err error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, nil, err
	}
	wait, stop = context.WithCancel(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		stop()
		return nil, nil, nil, ErrClosed
	}
	w = f.pending
	f.pending, f.interrupt = nil, stop
	return w, wait, stop, nil
}

// adopt makes w what is watched.
func (f *Follower) adopt(w *watch) {
	f.watched = *w
	want := make(map[string]bool, len(w.keys))
	for _, k := range w.keys {
		id := string(sharestate.Identity(sharestate.AppendKey(nil, k, model.WriteSnapshot)))
		want[id] = true
		if f.folds[id] == nil {
			f.folds[id] = &followed{key: k, out: model.SharePartitionRecords{Key: k}, changed: true}
			f.dirty = true
		}
	}
	for id := range f.folds {
		if !want[id] {
			delete(f.folds, id)
			f.dirty = true
		}
	}
	f.assign()
}

// step does one thing: wait, set up, or read.
func (f *Follower) step(ctx context.Context, now time.Time) {
	switch {
	case len(f.folds) == 0:
		f.disconnect()
		<-ctx.Done()
	case now.Before(f.retryAt):
		pause(ctx, f.retryAt.Sub(now))
	case f.topic == nil:
		f.setUp(ctx)
	default:
		f.read(ctx, now)
	}
}

// pause waits.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
	case <-t.C:
	}
}

// publish puts together what is known.
func (f *Follower) publish(now time.Time) *model.ShareRecords {
	next := &model.ShareRecords{
		At: now, Problem: f.problem, Partitions: make(map[model.SharePartitionKey]*model.SharePartitionRecords, len(f.folds)),
	}
	for _, x := range f.folds {
		old := f.last.Partitions[x.key]
		if x.changed || old == nil {
			out := x.out
			if x.fold != nil {
				out.History = x.fold.History()
			}
			old = &out
			x.changed = false
			next.Changed = append(next.Changed, x.key)
		}
		next.Partitions[x.key] = old
	}
	f.last, f.dirty, f.deliverAt = next, false, now.Add(gather)
	return next
}

// catchingUp reports whether something is still to come that was written before reading began.
func (f *Follower) catchingUp() bool { return f.topic != nil && f.topic.behind() }
