package model

import (
	"strings"
	"testing"
	"time"
)

// start is when the tests begin.
var start = time.Date(2026, 3, 4, 14, 2, 0, 0, time.UTC)

// world makes snapshots of a small cluster for tests: what a test changes between two calls of snap
// is what happened between two polls.
type world struct {
	now    time.Time
	up     [3]bool
	topics []Topic
	groups []Group
	shares []Group
	// stale are groups that are carried over instead of read.
	stale    map[string]bool
	problems []Problem
	// brokerLag is what the broker says of the first partition of a share group; unknown below 0.
	brokerLag int64
}

func newWorld() *world {
	return &world{now: start, up: [3]bool{true, true, true}, stale: make(map[string]bool)}
}

func (w *world) topic(name string, ends ...int64) *world {
	t := Topic{Name: name, ID: TopicID{byte(len(w.topics) + 1)}}
	for i, end := range ends {
		t.Partitions = append(t.Partitions, Partition{Number: int32(i), Start: Some(int64(0)), End: Some(end)})
	}
	w.topics = append(w.topics, t)
	return w
}

// group adds a Stable classic group: "c1: 0 1" is a member with client id c1 and its partitions of the first topic.
func (w *world) group(id string, positions []int64, members ...string) *world {
	w.groups = append(w.groups, w.makeGroup(id, TypeClassic, positions, members))
	return w
}

func (w *world) share(id string, positions []int64, members ...string) *world {
	w.shares = append(w.shares, w.makeGroup(id, TypeShare, positions, members))
	return w
}

func (w *world) makeGroup(id string, typ GroupType, positions []int64, members []string) Group {
	g := Group{ID: id, Type: typ}
	topic := w.topics[0].Name
	for i, pos := range positions {
		p := GroupPartition{Topic: topic, Number: int32(i), Member: NoMember}
		if pos >= 0 {
			p.Position = Some(pos)
		}
		g.Partitions = append(g.Partitions, p)
	}
	assign(&g, topic, members)
	return g
}

// assign gives a group new members.
func assign(g *Group, topic string, members []string) {
	g.State, g.Members = "Stable", nil
	if len(members) == 0 {
		g.State = "Empty"
	}
	g.Partitions = append([]GroupPartition(nil), g.Partitions...)
	for i := range g.Partitions {
		g.Partitions[i].Member = NoMember
	}
	for i, text := range members {
		name, list, _ := strings.Cut(text, ":")
		m := Member{ID: "id-" + name, ClientID: name, Host: "10.0.0.1"}
		var numbers []int32
		for _, field := range strings.Fields(list) {
			n := int32(field[0] - '0')
			numbers = append(numbers, n)
			for j := range g.Partitions {
				if g.Partitions[j].Number == n && g.Type != TypeShare {
					g.Partitions[j].Member = int32(i)
				}
			}
		}
		if numbers != nil {
			m.Assignment = []TopicPartitions{{topic, numbers}}
		}
		g.Members = append(g.Members, m)
	}
}

// snap is the next poll, a time d after the last.
func (w *world) snap(d time.Duration) *Snapshot {
	w.now = w.now.Add(d)
	s := &Snapshot{At: w.now, Took: 10 * time.Millisecond, Problems: w.problems}
	for i, up := range w.up {
		s.Cluster.Brokers = append(s.Cluster.Brokers, Broker{ID: int32(i), Host: "b", Port: int32(9092 + i), Up: up})
	}
	for i := range w.topics {
		t := w.topics[i]
		t.Partitions = append([]Partition(nil), t.Partitions...)
		for j := range t.Partitions {
			if t.Partitions[j].End.Known() {
				t.Partitions[j].At = w.now
			}
		}
		s.Topics = append(s.Topics, t)
	}
	s.Groups, s.ShareGroups = w.read(s, w.groups), w.read(s, w.shares)
	return s
}

func (w *world) read(s *Snapshot, groups []Group) []Group {
	var list []Group
	for i := range groups {
		g := &groups[i]
		if !w.stale[g.ID] {
			g.Described, g.OffsetsAt = w.now, w.now
			for j := range g.Partitions {
				p := &g.Partitions[j]
				if t, ok := s.Topic(p.Topic); ok {
					if tp, ok := t.Partition(p.Number); ok {
						p.Start, p.End = tp.Start, tp.End
					}
				}
				p.Measure()
				if g.Type == TypeShare {
					p.Lag = Int{}
					if w.brokerLag >= 0 {
						p.Lag = Some(int64(0))
					}
					if w.brokerLag >= 0 && j == 0 {
						p.Lag = Some(w.brokerLag)
					}
				}
			}
		}
		// The next change must not reach into this snapshot.
		list = append(list, *g)
		g.Partitions = append([]GroupPartition(nil), g.Partitions...)
	}
	return list
}

func (w *world) produce(topic, partition int, n int64) {
	p := &w.topics[topic].Partitions[partition]
	p.End = Some(p.End.Or(0) + n)
}

func (w *world) consume(group, partition int, n int64) {
	p := &w.groups[group].Partitions[partition]
	p.Position = Some(p.Position.Or(0) + n)
}

func (w *world) members(group int, members ...string) {
	assign(&w.groups[group], w.topics[0].Name, members)
}

// texts are the texts of events, for comparing.
func texts(events []Event) []string {
	var list []string
	for _, e := range events {
		list = append(list, e.Code+": "+e.Text)
	}
	return list
}

func expect(t *testing.T, got []string, want ...string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got  %q\nwant %q", got, want)
	}
	for i := range got {
		if got[i] != want[i] {
			t.Errorf("got  %q\nwant %q", got[i], want[i])
		}
	}
}
