package demo

import (
	"context"
	"fmt"
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
	said map[place]map[int64][]said
}

// said is an acknowledgement that was answered OK. It is sure when that proves something.
type said struct {
	held
	sure bool
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
		r := &rig{T: t, Cluster: c, said: make(map[place]map[int64][]said)}
		if err := c.kfake.CreateTopic(testTopic, 3, nil); err != nil {
			t.Fatal(err)
		}
		r.id = c.kfake.TopicInfo(testTopic).TopicID
		c.watch = r.watched
		defer func() {
			c.Close()
			time.Sleep(time.Minute) // timers of the brokers
		}()
		test(r)
	})
}

func (r *rig) watched(_ string, acks []held, a answer) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, h := range acks {
		if a.refused[h.partition] != 0 {
			continue
		}
		at := place{r.id, h.partition}
		if r.said[at] == nil {
			r.said[at] = make(map[int64][]said)
		}
		r.said[at][h.offset] = append(r.said[at][h.offset], said{h, a.apart})
	}
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
	writes []model.ShareWrite
	at     time.Time // of the last write
	fold   *model.ShareFold
	now    *model.ShareState
	last   map[int64]model.Delivery // the last outcome of each offset, also below the start offset
}

// read reads the state topic from its start and folds it.
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
			for _, s := range out {
				h := s.fold.History()
				s.now = h.Now()
			}
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
				s = &recorded{fold: model.NewShareFold(1), last: map[int64]model.Delivery{}}
				out[key] = s
			}
			s.writes, s.at = append(s.writes, w), rec.Timestamp
			s.fold.Apply(&w, model.WriteRef{Offset: rec.Offset, Ms: rec.Timestamp.UnixMilli()})
			for _, b := range w.Batches {
				for o := b.First; o <= b.Last; o++ {
					s.last[o] = model.Delivery{State: b.State, Count: b.Count}
				}
			}
		})
	}
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
		start, known := s.now.Effective().Get()
		if known && start != tr.start {
			r.Errorf("%d: start offset %d, kfake has %d", p, start, tr.start)
		}
		for o, rec := range tr.records {
			want, any := model.Delivery{State: rec.state, Count: rec.count}, true
			if rec.state == model.StateAcquired { // never recorded: the return before it is
				want, any = model.Delivery{State: model.StateAvailable, Count: rec.count - 1}, rec.count > 1
			}
			if got, ok := s.now.At(o); ok != any || ok && got != want {
				r.Errorf("%d: offset %d: recorded %v (%v), want %v (%v): kfake has %+v", p, o, got, ok, want, any, rec)
			}
		}
		for _, b := range s.now.Batches {
			for o := max(b.First, tr.start); o <= b.Last; o++ {
				if _, ok := tr.records[o]; !ok {
					r.Errorf("%d: offset %d: recorded %v, kfake knows nothing of it", p, o, b)
				}
			}
		}
		end := model.Some(r.kfake.PartitionInfo(testTopic, p).HighWatermark)
		if lag, ok := s.now.DerivedLag(end).Get(); ok && lag != lags[p] {
			r.Errorf("%d: lag %d, DescribeShareGroupOffsets says %d", p, lag, lags[p])
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

// journal compares the recorded outcomes with what the workers were told. all is true when the workers saw every
// answer and there were no others.
func (r *rig) journal(read map[model.SharePartitionKey]*recorded, all bool) (finished int) {
	r.Helper()
	for at, offsets := range r.said {
		s := read[model.SharePartitionKey{Group: testGroup, TopicID: at.topic, Partition: at.partition}]
		for o, all := range offsets {
			last := slices.MaxFunc(all, func(a, b said) int { return int(a.count) - int(b.count) })
			want := record{state: model.StateAcquired, count: last.count}.acknowledged(last.ack)
			got, lost := s.last[o], record{count: last.count}.released()
			if !want.state.Terminal() || !last.sure && (got.Count > lost.count || got.State == lost.state) {
				continue // or refused in silence, since the lock was lost
			}
			finished++
			if got != (model.Delivery{State: want.state, Count: want.count}) {
				r.Errorf("%d: offset %d ended as %v, its worker said %v at delivery %d", at.partition, o, got, last.ack, last.count)
			}
		}
		for o, out := range s.last {
			if all && out.State.Terminal() && out.Count < deliveryLimit && offsets[o] == nil {
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
		picky := temper{holds: 3, least: 300 * time.Millisecond, most: time.Second, release: 20, reject: 30}
		r.share(ctx, steady, slow, picky, outOfOrder, steady)
		time.Sleep(time.Minute)
		stop()
		time.Sleep(30 * time.Second) // locks run out
		read := r.compare()
		if n := r.journal(read, true); n < 200 {
			r.Errorf("only %d records were finished", n)
		}
		seen := make(map[model.Delivery]int)
		for _, s := range read {
			for _, out := range s.last {
				seen[out]++
			}
		}
		for _, want := range []model.Delivery{
			{State: model.StateAcknowledged, Count: 1}, {State: model.StateAcknowledged, Count: 2},
			{State: model.StateArchived, Count: 1}, {State: model.StateArchived, Count: deliveryLimit},
		} {
			if seen[want] == 0 {
				r.Errorf("no record ended as %v: %v", want, seen)
			}
		}
	})
}
