package demo

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// TestMirrorShape does what was done when the records of a real broker were captured, and expects the same writes.
// The last steps of the capture, on another topic, are not repeated.
func TestMirrorShape(t *testing.T) {
	want := captured(t, "../sharestate/testdata/4.3.1.json", "DeleteGroups")
	one(t, 20, func(r *rig, m *member) {
		admin, err := r.client("admin")
		if err != nil {
			r.Fatal(err)
		}
		defer admin.Close()

		m.fetch(20)
		m.say(accept, 0)
		m.say(accept, 1)
		m.say(accept, 5)
		m.say(release, 7)
		m.say(reject, 9)
		m.say(accept, 2, 3)
		m.say(accept, 4)
		m.exchange(held{ack: accept, delivery: delivery{offset: 11}}, held{ack: release, delivery: delivery{offset: 12}}, held{ack: reject, delivery: delivery{offset: 13}})
		for range 3 {
			m.fetch(2)
			m.say(release, 7, 12)
		}
		m.fetch(2)
		m.say(release, 7)
		m.say(release, 12)
		time.Sleep(lockDuration + time.Second)
		m.fetch(20)
		m.say(accept, 6)
		m.closeSession()
		m.fetch(20)
		m.say(accept, 8, 10, 14, 15, 16, 17, 18, 19)
		r.fill(admin, 5)
		m.fetch(5)
		m.leave()
		m.client.Close()

		if err := resetShareGroup(r.Context(), admin, testGroup, singleTopic, []int64{3}); err != nil {
			r.Fatal(err)
		}
		del := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
		del.GroupID = testGroup
		dt := kmsg.NewDeleteShareGroupOffsetsRequestTopic()
		dt.Topic = singleTopic
		del.Topics = append(del.Topics, dt)
		if resp, err := del.RequestWith(r.Context(), admin); err != nil || resp.ErrorCode != 0 {
			r.Fatal(err, resp)
		}

		m = r.join(singleTopic)
		defer m.client.Close()
		m.fetch(5)
		m.say(accept, 0)
		m.closeSession()
		m.leave()
		group := kmsg.NewPtrDeleteGroupsRequest()
		group.Groups = []string{testGroup}
		if resp, err := group.RequestWith(r.Context(), admin); err != nil || resp.Groups[0].ErrorCode != 0 {
			r.Fatal(err, resp)
		}
		time.Sleep(time.Second)

		got := r.recorded()
		stateEpoch := int32(0)
		for i := range min(len(want), len(got.writes)) {
			w := got.writes[i]
			if w.Kind == model.WriteSnapshot {
				if w.StateEpoch <= stateEpoch {
					r.Errorf("write %d: state epoch %d after %d", i, w.StateEpoch, stateEpoch)
				}
				stateEpoch = w.StateEpoch
				if w.CreatedMs == 0 || w.WrittenMs == 0 {
					r.Errorf("write %d has no times", i)
				}
			}
			if is, should := shape(w), shape(want[i].ShareWrite); is != should {
				r.Errorf("write %d (%s):\n got %s\nwant %s", i, want[i].step, is, should)
			}
		}
		if len(want) != len(got.writes) {
			r.Errorf("%d writes, want %d", len(got.writes), len(want))
		}
	})
}

// shape is what two clusters must agree on: all but epochs that count reassignments, and times.
func shape(w model.ShareWrite) string {
	w.StateEpoch, w.CreatedMs, w.WrittenMs = 0, 0, 0
	b, _ := json.Marshal(w)
	return w.Kind.String() + " " + string(b)
}

type step struct {
	step string
	model.ShareWrite
}

// captured reads a capture up to the first write of a step. The updates of a burst of lock time-outs are joined,
// since kfake looks for lost locks at intervals and a broker has a timer for each.
func captured(t *testing.T, file, last string) (steps []step) {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var records []struct {
		Step     string  `json:"step"`
		KeyHex   string  `json:"key_hex"`
		ValueHex *string `json:"value_hex"`
	}
	if err := json.Unmarshal(b, &records); err != nil {
		t.Fatal(err)
	}
	for _, rec := range records {
		key, _ := hex.DecodeString(rec.KeyHex)
		var value []byte
		if rec.ValueHex != nil {
			value, _ = hex.DecodeString(*rec.ValueHex)
		}
		_, w, err := sharestate.Decode(key, value)
		if err != nil {
			t.Fatal(err)
		}
		n := len(steps)
		if n > 0 && steps[n-1].step == rec.Step && len(rec.Step) > 4 && rec.Step[:4] == "lock" {
			prior := &steps[n-1].ShareWrite
			outcomes := make(map[int64]model.Delivery)
			for _, b := range append(prior.Batches, w.Batches...) {
				for o := b.First; o <= b.Last; o++ {
					outcomes[o] = model.Delivery{State: b.State, Count: b.Count}
				}
			}
			prior.Batches = runs(outcomes)
			continue
		}
		steps = append(steps, step{rec.Step, w})
		if rec.Step == last {
			return steps
		}
	}
	t.Fatalf("%s has no step %q", file, last)
	return nil
}

// member is a member of the test group that does what it is told, on partition 0.
type member struct {
	*rig
	*shareSession
}

func (r *rig) join(topic string) *member {
	r.Helper()
	cl, err := r.client("member", kgo.ConnIdleTimeout(15*time.Minute))
	if err != nil {
		r.Fatal(err)
	}
	m := &member{r, &shareSession{client: cl, group: testGroup, topic: topic, member: r.names.memberID(time.Now().String())}}
	for !m.heartbeat(context.Background()) {
		time.Sleep(100 * time.Millisecond)
	}
	return m
}

func (m *member) node() int32 { return m.leader(0) }

func (m *member) session() *brokerSession {
	if s := m.sessions[m.node()]; s != nil {
		return s
	}
	return new(brokerSession)
}

// fetch acquires exactly n records.
func (m *member) fetch(n int) []delivery {
	m.Helper()
	var got []delivery
	for range 10 {
		a := m.shareSession.fetch(m.node(), m.session(), []int32{0}, nil, n-len(got))
		if a.lost {
			m.Fatal("lost the session")
		}
		if got = append(got, a.deliveries...); len(got) == n {
			return got
		}
		time.Sleep(100 * time.Millisecond)
	}
	// The rest does not exist: as many as there are is what was asked for.
	return got
}

// say acknowledges offsets in one request.
func (m *member) say(ack ackType, offsets ...int64) {
	m.Helper()
	var acks []held
	for _, o := range offsets {
		acks = append(acks, held{ack: ack, delivery: delivery{offset: o}})
	}
	m.exchange(acks...)
}

func (m *member) exchange(acks ...held) {
	m.Helper()
	a := m.acknowledge(m.node(), m.session().epoch, acks)
	if a.lost || a.refused[0] != 0 {
		m.Fatalf("%v: lost %v, %v", acks, a.lost, kerr.ErrorForCode(a.refused[0]))
	}
}

func (m *member) closeSession() {
	m.acknowledge(m.node(), finalEpoch, nil)
	delete(m.sessions, m.node())
}

// leave leaves the group and closes no session.
func (m *member) leave() {
	m.sessions = nil
	m.close()
}
