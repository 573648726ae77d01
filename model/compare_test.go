package model

import (
	"testing"
	"time"
)

func TestCompare(t *testing.T) {
	tests := []struct {
		name   string
		before func(w *world)
		change func(w *world)
		want   []string
	}{
		{"nothing", nil, func(*world) {}, nil},
		{"progress is no event", nil, func(w *world) { w.produce(0, 0, 5); w.consume(0, 0, 5) }, nil},
		{"member joins", nil, func(w *world) { w.members(0, "c1: 0", "c2: 1") },
			[]string{"member_joined: c2 joined: 2 members now."}},
		{"members with the same client id", nil, func(w *world) {
			w.members(0, "c1: 0 1", "x", "x")
			w.groups[0].Members[1].ID = "x-aaaa-111111"
			w.groups[0].Members[2].ID = "x-bbbb-222222"
		}, []string{"member_joined: x …111111 and x …222222 joined: 3 members now."}},
		{"member leaves", func(w *world) { w.members(0, "c1: 0", "c2: 1") }, func(w *world) { w.members(0, "c1: 0 1") },
			[]string{"member_left: c2 left: 1 member now."}},
		{"last member leaves", nil, func(w *world) { w.members(0) },
			[]string{"member_left: c1 left: nobody consumes now."}},
		{"many members leave", func(w *world) { w.members(0, "c1", "c2", "c3", "c4", "c5", "c6") }, func(w *world) { w.members(0, "c6: 0 1") },
			[]string{"member_left: c1, c2, c3 and 2 more left: 1 member now."}},
		{"stale members are no news", func(w *world) { w.stale["audit"] = true }, func(w *world) { w.members(0) }, nil},
		{"group appears", nil, func(w *world) { w.group("zoo", nil) }, []string{"group_appeared: The group appeared."}},
		{"group is gone", nil, func(w *world) { w.groups = nil }, []string{"group_gone: The group is gone: it was deleted, or it expired."}},
		{"group is missing while a broker is down", nil, func(w *world) { w.groups, w.up[2] = nil, false },
			[]string{"broker_down: Broker 2 (b:9094) does not answer."}},
		{"group is back with its broker", func(w *world) { w.up[2] = false }, func(w *world) { w.group("zoo", nil); w.up[2] = true },
			[]string{"broker_up: Broker 2 (b:9094) answers again."}},
		{"group is missing because listing failed", nil, func(w *world) { w.groups, w.problems = nil, []Problem{{Scope: ScopeBroker, Name: "1"}} }, nil},
		{"type changes", nil, func(w *world) { w.groups[0].Type = TypeConsumer },
			[]string{"group_type: The group is of type consumer now; it was classic."}},
		{"offset goes back", nil, func(w *world) { w.consume(0, 1, -30) },
			[]string{"offsets_back: The committed offset on orders/1 went back by 30, from 40 to 10."}},
		{"offsets go back", nil, func(w *world) { w.consume(0, 0, -5); w.consume(0, 1, -30) },
			[]string{"offsets_back: The committed offsets went back on 2 partitions by 35 in all, most on orders/1 from 40 to 10."}},
		{"share group's start offset goes back", nil, func(w *world) { w.shares[0].Partitions[0].Position = Some(int64(1)) },
			[]string{"offsets_back: The start offset on orders/0 went back by 9, from 10 to 1."}},
		{"topic created", nil, func(w *world) { w.topic("payments", 0, 0) },
			[]string{"topic_created: Topic payments was created, with 2 partitions."}},
		{"topic deleted", func(w *world) { w.topic("payments", 0, 0) }, func(w *world) { w.topics = w.topics[:1] },
			[]string{"topic_deleted: Topic payments was deleted, or may no longer be seen."}},
		{"no topics because the metadata failed", nil, func(w *world) { w.topics = nil }, nil},
		{"topic created anew", nil, func(w *world) { w.topics[0].ID = TopicID{99} },
			[]string{"topic_recreated: Topic orders was deleted and created anew."}},
		{"partition added", nil, func(w *world) {
			w.topics[0].Partitions = append(w.topics[0].Partitions, Partition{Number: 2})
		}, []string{"partitions_added: Topic orders has 3 partitions now, 2 before."}},
		{"log loses its end", nil, func(w *world) { w.produce(0, 1, -7) },
			[]string{"log_end_back: The log of orders/1 ended at 50 and ends at 43 now: its last 7 records were lost, as after an unclean leader election, or the topic was created anew."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld().topic("orders", 20, 50).group("audit", []int64{10, 40}, "c1: 0 1").share("flight", []int64{10, 10}, "s1: 0 1")
			if tt.before != nil {
				tt.before(w)
			}
			prev := w.snap(0)
			tt.change(w)
			next := w.snap(time.Second)
			events := Compare(prev, next)
			expect(t, texts(events), tt.want...)
			for _, e := range events {
				if !e.At.Equal(next.At) {
					t.Errorf("event at %v, want %v", e.At, next.At)
				}
			}
			if again := Compare(next, next); again != nil {
				t.Errorf("a snapshot compared with itself: %q", texts(again))
			}
		})
	}
	if got := Compare(nil, newWorld().topic("orders", 1).group("audit", nil).snap(0)); got != nil {
		t.Errorf("the first snapshot: %q", texts(got))
	}
}

func TestPartitionRanges(t *testing.T) {
	tests := []struct {
		in   []int32
		want string
	}{{nil, ""}, {[]int32{3}, "3"}, {[]int32{0, 1, 2, 3, 7}, "0-3,7"}, {[]int32{1, 3, 5, 6}, "1,3,5-6"}}
	for _, tt := range tests {
		if got := PartitionRanges(tt.in); got != tt.want {
			t.Errorf("PartitionRanges(%v) = %q, want %q", tt.in, got, tt.want)
		}
	}
}
