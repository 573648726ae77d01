package kafka

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/model"
)

// Source takes snapshots of the cluster of a [Connection]. It is safe for concurrent use; snapshots are
// taken one at a time.
//
// A source remembers what it needs to poll cheaply and to keep what it can not read just now: the
// brokers and what they offer, the topics with their offsets, and the last snapshot. It addresses
// brokers by their ids, which it learns from Metadata and ListGroups, since franz-go's own memory of
// coordinators outlives their brokers.
type Source struct {
	conn *Connection

	budget int // how many groups a poll describes at most

	open  context.Context // until Close
	close context.CancelFunc

	mu     sync.Mutex // held during a poll; guards what follows
	client *kgo.Client
	last   *model.Snapshot
	topics *topicTable
	// brokers are those of the metadata and those that hold replicas, by node id.
	brokers    map[int32]*brokerMemory
	clusterID  string
	controller int32
	operations model.Operations
	slowAt     time.Time // when slow facts were last read
	startsAt   time.Time // when all log starts were last read
	absent     map[string]absence

	published atomic.Pointer[published] // never nil
	shares    shareReader
}

// published is what the last poll left for those who do not want to wait for the next.
type published struct {
	snapshot *model.Snapshot
	topics   *topicTable
	client   *kgo.Client // nil before the first poll
}

// NewSource prepares a source; it does not dial. The caller closes it.
func NewSource(c *Connection) *Source {
	s := &Source{
		conn:       c,
		budget:     pollGroups,
		last:       new(model.Snapshot),
		brokers:    make(map[int32]*brokerMemory),
		controller: -1,
		absent:     make(map[string]absence),
	}
	s.open, s.close = context.WithCancel(context.Background())
	s.shares.read = make(map[string]model.ShareGroupOffsets)
	s.shares.patience = sharePatience
	s.published.Store(&published{snapshot: s.last, topics: new(topicTable)})
	return s
}

// Close ends what is being read, and closes the clients of the source.
func (s *Source) Close() {
	s.close()
	s.shares.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		s.client.Close()
	}
}

// Snapshot reads the cluster. Partial failure is data (see [model.Problem]); the error means that
// nothing could be read, and is one for [Connection.Explain].
func (s *Source) Snapshot(ctx context.Context, want model.Want) (*model.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open.Err() != nil {
		return nil, ErrClosed
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.open, cancel)()
	if s.client == nil {
		// Every poll reads the metadata itself, so the client need not.
		client, err := s.conn.client(jobPoll, kgo.MetadataMaxAge(time.Hour))
		if err != nil {
			return nil, err
		}
		s.client = client
	}
	p := &poll{
		s: s, want: want, last: s.last, began: time.Now(),
		visits: make(map[int32]*visit), listed: make(map[int32]bool),
	}
	snap, err := p.run(ctx)
	if err != nil {
		return nil, err
	}
	s.last = snap
	s.topics = p.topics
	s.published.Store(&published{snapshot: snap, topics: p.topics, client: s.client})
	return snap, nil
}
