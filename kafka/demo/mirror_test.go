package demo

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

const (
	testTopic = "work"
	testGroup = "workers"
)

// rig is a cluster with one topic, its producer and a share group, in fake time.
type rig struct {
	*testing.T
	*Cluster
	id model.TopicID

	mu   sync.Mutex
	said map[place]map[int64][]held // what was acknowledged and not refused, by offset
}

// inBubble runs a test in fake time.
func inBubble(t *testing.T, test func(r *rig)) {
	synctest.Test(t, func(t *testing.T) {
		var vn kfake.VirtualNetwork
		ctx, stop := context.WithCancel(t.Context())
		c, err := boot(ctx, Options{Seed: 7, Ports: []int{9092, 9093, 9094}, Listen: vn.Listen, Dial: vn.DialContext})
		if err != nil {
			t.Fatal(err)
		}
		c.stop = stop
		r := &rig{T: t, Cluster: c, said: make(map[place]map[int64][]held)}
		if err := c.kfake.CreateTopic(testTopic, 3, nil); err != nil {
			t.Fatal(err)
		}
		r.id = c.kfake.TopicInfo(testTopic).TopicID
		c.watch = r.watched
		test(r)
		c.Close()
		time.Sleep(time.Minute) // timers of the brokers
	})
}

func (r *rig) watched(_ string, h held, code int16) {
	if code != 0 || h.ack == renew {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	at := place{r.id, h.partition}
	if r.said[at] == nil {
		r.said[at] = make(map[int64][]held)
	}
	r.said[at][h.offset] = append(r.said[at][h.offset], h)
}

// produce produces records at a rate until ctx ends. One in twenty is poison.
func (r *rig) produce(ctx context.Context, perSecond int) {
	cl, err := r.client("producer", kgo.RecordPartitioner(kgo.ManualPartitioner()), kgo.ProducerLinger(0))
	if err != nil {
		r.Fatal(err)
	}
	r.wg.Go(func() {
		defer cl.Close()
		for n := 0; wait(ctx, time.Second/time.Duration(perSecond)); n++ {
			value := "{}"
			if n%20 == 7 {
				value = poison
			}
			cl.Produce(ctx, &kgo.Record{Topic: testTopic, Partition: int32(n % 3), Value: []byte(value)}, nil)
		}
	})
}

// share runs the group with workers until ctx ends.
func (r *rig) share(ctx context.Context, workers ...temper) {
	r.kfake.SetGroupConfigs(testGroup, map[string]string{"share.auto.offset.reset": "earliest"})
	g := &shareGroup{id: testGroup, topic: testTopic, workers: workers}
	for i := range workers {
		r.wg.Go(func() { r.work(ctx, g, fmt.Sprint("worker-", i), &workers[i]) })
	}
}

// recorded is what a reader of the state topic knows of a share-partition.
type recorded struct {
	writes  []model.ShareWrite
	start   int64
	state   map[int64]outcome // the fold
	last    map[int64]outcome // the last outcome of each offset, also below the start
	deleted bool
}

// effective is the recorded start moved over the finished records.
func (s *recorded) effective() int64 {
	start := s.start
	for start >= 0 && s.state[start].state.Terminal() {
		start++
	}
	return start
}

// read reads the state topic from its start and folds it as share-groups of Kafka are read.
func (r *rig) read() map[model.SharePartitionKey]*recorded {
	r.Helper()
	cl, err := r.client("reader", kgo.ConsumeTopics(sharestate.Topic))
	if err != nil {
		r.Fatal(err)
	}
	defer cl.Close()
	out := make(map[model.SharePartitionKey]*recorded)
	for {
		ctx, end := context.WithTimeout(r.Context(), 8*time.Second)
		fetches := cl.PollFetches(ctx)
		end()
		if fetches.NumRecords() == 0 {
			return out
		}
		fetches.EachRecord(func(rec *kgo.Record) {
			key, w, err := sharestate.Decode(rec.Key, rec.Value)
			if err != nil {
				r.Fatalf("record %d of %d: %v", rec.Offset, rec.Partition, err)
			}
			if want := sharestate.Partition(key, stateTopicPartitions); rec.Partition != want {
				r.Errorf("%v is in partition %d, want %d", key, rec.Partition, want)
			}
			s := out[key]
			if s == nil {
				s = &recorded{start: -1, state: map[int64]outcome{}, last: map[int64]outcome{}}
				out[key] = s
			}
			s.apply(w)
		})
	}
}

func (s *recorded) apply(w model.ShareWrite) {
	s.writes = append(s.writes, w)
	s.deleted = w.Kind == model.WriteTombstone
	if w.Kind != model.WriteUpdate {
		s.start, s.state = -1, map[int64]outcome{}
	}
	if w.Start != model.StartUnchanged && !s.deleted {
		s.start = w.Start
	}
	for _, b := range w.Batches {
		for o := b.First; o <= b.Last; o++ {
			next := outcome{b.State, b.Count}
			s.last[o] = next
			if old, ok := s.state[o]; !ok || next.count > old.count || next.count == old.count && next.state > old.state {
				s.state[o] = next
			}
		}
	}
	maps.DeleteFunc(s.state, func(o int64, _ outcome) bool { return o < s.start })
}

// truth is what kfake has in memory for a share-partition.
type truth struct {
	start   int64
	records map[int64]record
}

// truth reads kfake's memory. Everything in the bubble must be at rest.
func (r *rig) truth() map[int32]truth {
	out := make(map[int32]truth)
	groups := reflect.ValueOf(r.kfake).Elem().FieldByName("shareGroups").FieldByName("gs")
	group := groups.MapIndex(reflect.ValueOf(testGroup))
	if !group.IsValid() {
		return out
	}
	partitions := group.Elem().FieldByName("partitions").MapIndex(reflect.ValueOf(testTopic))
	if !partitions.IsValid() {
		return out
	}
	// kfake's states are those of Kafka but for archived.
	states := []model.RecordState{model.StateAvailable, model.StateAcquired, model.StateAcknowledged, model.StateArchived}
	for it := partitions.MapRange(); it.Next(); {
		sp := it.Value().Elem()
		tr := truth{start: sp.FieldByName("spso").Int(), records: make(map[int64]record)}
		for it := sp.FieldByName("records").MapRange(); it.Next(); {
			v := it.Value()
			tr.records[it.Key().Int()] = record{
				state: states[v.FieldByName("state").Int()], count: int16(v.FieldByName("deliveryCount").Int()), owner: v.FieldByName("acquiredBy").String(),
			}
		}
		out[int32(it.Key().Int())] = tr
	}
	return out
}

// compare compares what a reader finds with kfake's memory and with what kfake answers.
func (r *rig) compare() map[model.SharePartitionKey]*recorded {
	r.Helper()
	synctest.Wait()
	read := r.read() // takes seconds in which nothing happens
	synctest.Wait()
	truth := r.truth()
	if len(truth) == 0 {
		r.Fatal("kfake knows nothing of the group")
	}
	lags := r.lags()
	for p, tr := range truth {
		s := read[model.SharePartitionKey{Group: testGroup, TopicID: r.id, Partition: p}]
		if s == nil {
			r.Fatalf("%d: nothing is recorded", p)
		}
		if got := s.effective(); got != tr.start && (got != -1 || len(tr.records) > 0) {
			r.Errorf("%d: start offset %d, kfake has %d", p, got, tr.start)
		}
		for o, rec := range tr.records {
			want, any := outcome{rec.state, rec.count}, true
			if rec.state == model.StateAcquired { // never recorded: the return before it is
				want, any = outcome{model.StateAvailable, rec.count - 1}, rec.count > 1
			}
			if got, ok := s.state[o]; ok != any || ok && got != want {
				r.Errorf("%d: offset %d: recorded %v (%v), want %v (%v): kfake has %+v", p, o, got, ok, want, any, rec)
			}
		}
		for o, got := range s.state {
			if _, ok := tr.records[o]; !ok && o >= tr.start {
				r.Errorf("%d: offset %d: recorded %v, kfake knows nothing of it", p, o, got)
			}
		}
		if want, ok := lags[p]; ok && s.start >= 0 {
			end := r.kfake.PartitionInfo(testTopic, p).HighWatermark
			lag := end - s.effective()
			for o, out := range s.state {
				if o >= s.effective() && out.state.Terminal() {
					lag--
				}
			}
			if lag != want {
				r.Errorf("%d: lag %d, DescribeShareGroupOffsets says %d", p, lag, want)
			}
		}
	}
	return read
}

func (r *rig) lags() map[int32]int64 {
	r.Helper()
	cl, err := r.client("admin")
	if err != nil {
		r.Fatal(err)
	}
	defer cl.Close()
	req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	g := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
	g.GroupID = testGroup
	req.Groups = append(req.Groups, g)
	resp, err := req.RequestWith(r.Context(), cl)
	if err != nil {
		r.Fatal(err)
	}
	lags := make(map[int32]int64)
	for _, t := range resp.Groups[0].Topics {
		for _, p := range t.Partitions {
			lags[p.Partition] = p.Lag
		}
	}
	return lags
}

// journal compares the recorded outcomes with what the workers were told.
func (r *rig) journal(read map[model.SharePartitionKey]*recorded) (finished int) {
	r.Helper()
	for at, offsets := range r.said {
		s := read[model.SharePartitionKey{Group: testGroup, TopicID: at.topic, Partition: at.partition}]
		for o, said := range offsets {
			last := slices.MaxFunc(said, func(a, b held) int { return int(a.count) - int(b.count) })
			want := record{state: model.StateAcquired, count: last.count}.acknowledged(last.ack)
			if !want.state.Terminal() {
				continue
			}
			finished++
			if got := s.last[o]; got != (outcome{want.state, want.count}) {
				r.Errorf("%d: offset %d ended as %v, its worker said %v at delivery %d", at.partition, o, got, last.ack, last.count)
			}
		}
		for o, out := range s.last {
			if out.state.Terminal() && out.count < deliveryLimit && offsets[o] == nil {
				r.Errorf("%d: offset %d ended as %v and no worker said so", at.partition, o, out)
			}
		}
	}
	return finished
}

// Workers that do everything workers do.
func TestMirror(t *testing.T) {
	inBubble(t, func(r *rig) {
		ctx, stop := context.WithCancel(r.Context())
		r.produce(ctx, 6)
		r.share(ctx, steady, slow, moody, outOfOrder, steady)
		time.Sleep(time.Minute)
		stop()
		time.Sleep(30 * time.Second) // locks run out
		read := r.compare()
		if n := r.journal(read); n < 200 {
			r.Errorf("only %d records were finished", n)
		}
		seen := make(map[outcome]int)
		for _, s := range read {
			for _, out := range s.last {
				seen[out]++
			}
		}
		for _, want := range []outcome{{model.StateAcknowledged, 1}, {model.StateAcknowledged, 2}, {model.StateArchived, 1}, {model.StateArchived, deliveryLimit}} {
			if seen[want] == 0 {
				r.Errorf("no record ended as %v: %v", want, seen)
			}
		}
	})
}
