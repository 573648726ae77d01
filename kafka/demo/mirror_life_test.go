package demo

import (
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

const singleTopic = "single"

// one runs a test with one member on a topic with one partition and records from 0 to n-1.
func one(t *testing.T, n int, test func(r *rig, m *member)) {
	inBubble(t, func(r *rig) {
		if err := r.kfake.CreateTopic(singleTopic, 1, nil); err != nil {
			r.Fatal(err)
		}
		r.id = r.kfake.TopicInfo(singleTopic).TopicID
		r.kfake.SetGroupConfigs(testGroup, map[string]string{"share.auto.offset.reset": "earliest"})
		m := r.join(singleTopic)
		defer m.client.Close()
		r.fill(m.client, n)
		test(r, m)
	})
}

// fill produces n records more.
func (r *rig) fill(cl *kgo.Client, n int) {
	r.Helper()
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: singleTopic, Value: []byte("{}")}
	}
	if err := cl.ProduceSync(r.Context(), records...).FirstErr(); err != nil {
		r.Fatal(err)
	}
}

// recorded is what was written for the test's share-partition.
func (r *rig) recorded() *recorded {
	r.Helper()
	s := r.read()[model.SharePartitionKey{Group: testGroup, TopicID: r.id}]
	if s == nil {
		r.Fatal("nothing was written")
	}
	return s
}

func batch(first, last int64, state model.RecordState, count int16) model.StateBatch {
	return model.StateBatch{First: first, Last: last, State: state, Count: count}
}

// Every 500th write is a snapshot that contains it.
func TestMirrorSnapshots(t *testing.T) {
	one(t, 1100, func(r *rig, m *member) {
		m.fetch(1100)
		m.say(release, 1050)
		for o := int64(1); o < 1010; o++ { // 0 stays and holds the start offset
			m.say(accept, o)
		}
		writes := r.recorded().writes
		var at []int
		for i, w := range writes {
			if w.Kind == model.WriteSnapshot {
				at = append(at, i)
			}
		}
		if !slices.Equal(at, []int{0, 500, 1000}) {
			r.Fatalf("snapshots at %v", at)
		}
		w := writes[500]
		want := []model.StateBatch{batch(1, 499, model.StateAcknowledged, 1), batch(1050, 1050, model.StateAvailable, 1)}
		if w.SnapshotEpoch != 1 || w.Start != 0 || w.Complete != model.Some[int32](499) || !slices.Equal(w.Batches, want) {
			r.Errorf("snapshot %+v", w)
		}
		if u := writes[501]; u.SnapshotEpoch != 1 || len(u.Batches) != 1 {
			r.Errorf("update after it %+v", u)
		}
	})
}

// Some minutes after the last write comes one snapshot, and then nothing.
func TestMirrorGoesCold(t *testing.T) {
	one(t, 3, func(r *rig, m *member) {
		m.fetch(3)
		m.say(accept, 0, 1, 2)
		time.Sleep(time.Hour)
		writes := r.recorded().writes
		if len(writes) != 3 || writes[2].Kind != model.WriteSnapshot || writes[2].Start != 0 || writes[2].SnapshotEpoch != 1 {
			r.Errorf("%d writes, the last %+v", len(writes), writes[len(writes)-1])
		}
	})
}

// What a member holds comes back in one update, whatever ends it.
func TestMirrorReleases(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(m *member)
		took time.Duration // at most
	}{
		"the session is closed":      {func(m *member) { m.closeSession() }, 0},
		"the member leaves":          {func(m *member) { m.leave() }, 0},
		"the connection ends":        {func(m *member) { m.client.Close() }, afterlife + tick},
		"the locks run out":          {func(*member) { time.Sleep(lockDuration) }, sweepInterval + 2*tick},
		"the member is silent":       {func(m *member) { m.keepLocks(sessionTimeout - time.Second) }, time.Second + 2*tick},
		"the session is taken over":  {func(m *member) { m.sessions = nil; m.fetch(1); m.say(accept, 4); m.closeSession() }, 0},
		"the deliveries are used up": {func(m *member) { m.say(release, 0, 1, 2, 3); m.fetch(4); m.closeSession() }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			one(t, 5, func(r *rig, m *member) {
				m.fetch(4)
				c.end(m)
				ended := time.Now()
				time.Sleep(c.took)
				count := int16(1)
				if name == "the deliveries are used up" {
					count = 2
				}
				s := r.recorded()
				if late := s.at.Sub(ended); late > c.took {
					r.Errorf("written %v later, want %v at most", late, c.took)
				}
				got := s.writes[len(s.writes)-1].Batches
				if want := []model.StateBatch{batch(0, 3, model.StateAvailable, count)}; !slices.Equal(got, want) {
					r.Errorf("last write %v, want %v", got, want)
				}
			})
		})
	}
}

// keepLocks extends the locks of the records from 0 to 3 and sends no heartbeat.
func (m *member) keepLocks(d time.Duration) {
	for ; d > 0; d -= 5 * time.Second {
		m.say(renew, 0, 1, 2, 3)
		time.Sleep(min(d, 5*time.Second))
	}
}

// A topic that is deleted leaves a tombstone, also while a member is in.
func TestMirrorOfDeletedTopic(t *testing.T) {
	one(t, 3, func(r *rig, m *member) {
		m.fetch(3)
		m.say(accept, 1)
		req := kmsg.NewPtrDeleteTopicsRequest()
		topic := kmsg.NewDeleteTopicsRequestTopic()
		topic.Topic = kmsg.StringPtr(singleTopic)
		req.Topics = append(req.Topics, topic)
		resp, err := req.RequestWith(r.Context(), m.client)
		if err != nil || resp.Topics[0].ErrorCode != 0 {
			r.Fatal(err, resp)
		}
		time.Sleep(time.Minute) // and nothing after it
		if writes := r.recorded().writes; writes[len(writes)-1].Kind != model.WriteTombstone {
			r.Errorf("writes %+v", writes)
		}
	})
}

// Frames arrive in pieces of any size.
func TestFramer(t *testing.T) {
	frame := func(key byte, n int) []byte {
		return append([]byte{0, 0, 0, byte(n), 0, key}, make([]byte, n-2)...)
	}
	stream := slices.Concat(frame(1, 20), frame(2, 2), frame(1, 2), frame(2, 90), frame(2, 13), frame(1, 3))
	for size := range len(stream) {
		var f framer
		var got []int
		for piece := range slices.Chunk(stream, size+1) {
			f.feed(piece, func(key int16) bool { return key == 2 }, func(b []byte) { got = append(got, len(b)) })
		}
		if !slices.Equal(got, []int{2, 90, 13}) {
			t.Errorf("pieces of %d: frames %v", size+1, got)
		}
	}
}
