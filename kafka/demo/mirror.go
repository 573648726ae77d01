package demo

import (
	"context"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// mirror writes __share_group_state for brokers that keep the state of share groups in memory only.
//
// It imitates the two parties that Kafka has for that: the leader of a partition, which holds records and locks
// in memory ([leader]), and the share coordinator, which records outcomes ([coordinator]). It learns what happens
// from four places, since no single one tells everything:
//
//   - Acquisitions come from ShareFetch responses. The mirror sees a response before the client does, so it knows
//     of every record before anybody can acknowledge it.
//   - Acknowledgements come from kfake's control hook, which runs right before the broker handles a request, so
//     in the true order. Responses would come too late (a fetch that carries acknowledgements waits for
//     records) or not at all (a client may acknowledge and close). What the hook sees is therefore a
//     prediction, checked with the broker's own rule: a member may acknowledge what it holds.
//   - Responses settle predictions. One that was refused, as after the leader moved, is taken back with a snapshot,
//     because an update can not undo an outcome.
//   - Time and connections release the rest: locks that run out, members whose session times out, sessions that
//     are closed or whose connection ends.
//
// Responses on different connections are seen in any order, and the broker looks for lost locks only now and then. The
// delivery count decides: an acquisition with a higher count than ours means that the record came back in between,
// one with a lower or equal count is old news.
//
// One thing stays open until the record is delivered again: an acknowledgement that the mirror believed and the broker
// refused, when nobody gets the refusal.
//
// What differs from Kafka: leader epochs are always 0, holds survive a move of the leader, all locks that are found
// lost at the same time share one update, a leave heartbeat releases at once, and offsets that compaction
// or a transaction left empty are not skipped.
type mirror struct {
	mu          sync.Mutex
	partitions  map[model.SharePartitionKey]*sharePartition
	sessions    map[sessionKey]*session
	opening     map[sessionKey]*conn // who asked for a new session last
	members     map[memberKey]time.Time
	predictions map[exchangeKey]prediction
	gone        map[*conn]time.Time
	producer    *kgo.Client
}

// stateTopicPartitions is Kafka's share.coordinator.state.topic.num.partitions.
const stateTopicPartitions = 50

const (
	// afterlife is how long after the end of a connection the broker may still be handling what came through it.
	afterlife = 20 * time.Millisecond
	// tick is how often the mirror looks at the clock.
	tick = 50 * time.Millisecond
	// coldAfter is how long nothing must have been written for a snapshot that Kafka writes in quiet times (5 to 10
	// minutes).
	coldAfter = 5 * time.Minute
	// forget is when a prediction without an answer is given up.
	forget = time.Minute
)

// sessionKey identifies a share session: a member has one per broker.
type sessionKey struct {
	group, member string
	node          int32
}

type session struct {
	conn       *conn
	partitions map[place]bool
}

// place is a partition of a topic.
type place struct {
	topic     model.TopicID
	partition int32
}

type memberKey struct{ group, member string }

// sharePartition is what both parties know of one share-partition.
type sharePartition struct {
	key      model.SharePartitionKey
	leader   leader
	recorded coordinator
	wrote    time.Time
}

func newMirror() *mirror {
	return &mirror{
		partitions:  make(map[model.SharePartitionKey]*sharePartition),
		sessions:    make(map[sessionKey]*session),
		opening:     make(map[sessionKey]*conn),
		members:     make(map[memberKey]time.Time),
		predictions: make(map[exchangeKey]prediction),
		gone:        make(map[*conn]time.Time),
	}
}

// start creates the topic and begins to write. Until then nothing of share groups may happen.
func (m *mirror) start(c *Cluster) error {
	if err := c.kfake.CreateTopic(sharestate.Topic, stateTopicPartitions, map[string]string{
		"kfake.is_internal": "true",
		"cleanup.policy":    "delete",
		"retention.ms":      "-1",
	}); err != nil {
		return err
	}
	p, err := c.client("share-coordinator",
		kgo.RecordPartitioner(kgo.ManualPartitioner()),
		kgo.ProducerLinger(0),
		kgo.MaxBufferedRecords(1<<20),
	)
	if err != nil {
		return err
	}
	m.mu.Lock()
	m.producer = p
	m.mu.Unlock()
	for _, key := range []kmsg.Key{kmsg.ShareFetch, kmsg.ShareAcknowledge} {
		c.kfake.ControlKey(int16(key), func(req kmsg.Request) (kmsg.Response, error, bool) {
			m.handling(c.kfake.CurrentNode(), req)
			return nil, nil, false
		})
	}
	return nil
}

// run is the mirror's clock.
func (m *mirror) run(ctx context.Context) {
	for wait(ctx, tick) {
		m.advance()
	}
}

// stop ends the writing.
func (m *mirror) stop() {
	if m.producer != nil {
		m.producer.Close()
	}
}

// write records a write of the coordinator. It is called under the lock, which keeps the order, and on the
// broker's own loop, so it must not wait for the broker.
func (m *mirror) write(p *sharePartition, w model.ShareWrite) {
	p.wrote = time.Now()
	key, value := sharestate.Encode(p.key, &w)
	m.producer.TryProduce(context.Background(), &kgo.Record{
		Topic:     sharestate.Topic,
		Partition: sharestate.Partition(p.key, stateTopicPartitions),
		Key:       key,
		Value:     value,
	}, nil)
}
