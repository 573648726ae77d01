package model

import (
	"slices"
	"testing"
	"time"
)

// rebalanceWorld is a group of six partitions, owned by m1 alone.
func rebalanceWorld() (*world, *History) {
	w := newWorld().topic("t", 0, 0, 0, 0, 0, 0).group("g", []int64{0, 0, 0, 0, 0, 0}, "m1: 0 1 2 3 4 5")
	h := NewHistory()
	h.Observe(w.snap(0))
	return w, h
}

// rebalanceEvents observes the next snapshot and returns what is said about rebalances.
func rebalanceEvents(h *History, s *Snapshot) []string {
	var list []Event
	for _, e := range h.Observe(s).Events {
		if e.Code == EventRebalanceStarted || e.Code == EventRebalanceEnded {
			list = append(list, e)
		}
	}
	return texts(list)
}

const second = time.Second

func TestEagerRebalance(t *testing.T) {
	w, h := rebalanceWorld()
	// The answer keeps the old owners; the joiner is there without partitions.
	w.members(0, "m1: 0 1 2 3 4 5", "m2")
	w.groups[0].State = "PreparingRebalance"
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_started: The group began to rebalance, with 2 members.")
	expect(t, rebalanceEvents(h, w.snap(second)))
	w.groups[0].State = "CompletingRebalance"
	expect(t, rebalanceEvents(h, w.snap(second)))
	w.members(0, "m1: 0 1 2", "m2: 3 4 5")
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_ended: The rebalance took 3s: t/3-5 from m1 to m2.")
	expect(t, rebalanceEvents(h, w.snap(second)))
	in := h.Observe(w.snap(second)).Insights["g"]
	if in.Rebalance == nil || in.Rebalances != 1 || len(in.Rebalance.Moves) != 3 || in.Rebalance.Moves[0] != (Move{"t", 3, "id-m1", "id-m2"}) {
		t.Errorf("insight has %d rebalances, the last %+v", in.Rebalances, in.Rebalance)
	}
}

func TestCooperativeRebalanceIsOne(t *testing.T) {
	w, h := rebalanceWorld()
	w.members(0, "m1: 0 1 2 3 4 5", "m2")
	w.groups[0].State = "PreparingRebalance"
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_started: The group began to rebalance, with 2 members.")
	// Stable for a moment, with the moving partitions owned by nobody.
	w.members(0, "m1: 0 1 2", "m2")
	expect(t, rebalanceEvents(h, w.snap(second)))
	w.groups[0].State = "PreparingRebalance"
	expect(t, rebalanceEvents(h, w.snap(second)))
	w.members(0, "m1: 0 1 2", "m2: 3 4 5")
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_ended: The rebalance took 3s: t/3-5 from m1 to m2.")
}

func TestCooperativeRebalanceOfWhichOnlyThePauseIsSeen(t *testing.T) {
	w, h := rebalanceWorld()
	w.members(0, "m1: 0 1 2", "m2")
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_started: The group began to rebalance, with 2 members.")
	w.members(0, "m1: 0 1 2", "m2: 3 4 5")
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_ended: The rebalance took 1s: t/3-5 from m1 to m2.")
}

func TestPartitionsThatStayWithoutOwnerEndTheRebalance(t *testing.T) {
	w, h := rebalanceWorld()
	w.groups[0].State = "PreparingRebalance"
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_started: The group began to rebalance, with 1 member.")
	w.members(0, "m1: 0 1 2 3")
	expect(t, rebalanceEvents(h, w.snap(second)))
	expect(t, rebalanceEvents(h, w.snap(5*second)))
	expect(t, rebalanceEvents(h, w.snap(5*second)), "rebalance_ended: The rebalance took 1s: t/4-5 from m1 to nobody.")
	expect(t, rebalanceEvents(h, w.snap(second)))
}

func TestRebalanceBetweenTwoPolls(t *testing.T) {
	w, h := rebalanceWorld()
	w.members(0, "m1: 0 1 2", "m2: 3 4 5")
	expect(t, rebalanceEvents(h, w.snap(2*second)), "rebalance_ended: The group rebalanced within 2s: t/3-5 from m1 to m2.")
	in := h.Observe(w.snap(second)).Insights["g"]
	if !in.Rebalance.Unseen || in.Rebalance.Ended.Sub(in.Rebalance.Started) != 2*second {
		t.Errorf("rebalance %+v, want one of 2 s between two polls", in.Rebalance)
	}
	// A member that is gone gave its partitions to the one that is left.
	w.members(0, "m2: 0 1 2 3 4 5")
	expect(t, rebalanceEvents(h, w.snap(2*second)), "rebalance_ended: The group rebalanced within 2s: t/0-2 from m1 to m2.")
}

func TestConsumerProtocolRebalance(t *testing.T) {
	w, h := rebalanceWorld()
	g := &w.groups[0]
	g.Type = TypeConsumer
	target := func(epoch, assigned int32, state string, targets ...[]int32) {
		g.State, g.Epoch, g.AssignmentEpoch = state, Some(epoch), Some(assigned)
		for i, numbers := range targets {
			g.Members[i].Target = []TopicPartitions{}
			if numbers != nil {
				g.Members[i].Target = []TopicPartitions{{"t", numbers}}
			}
			if g.Members[i].Assignment == nil {
				g.Members[i].Assignment = []TopicPartitions{}
			}
		}
	}
	target(1, 1, "Stable", []int32{0, 1, 2, 3, 4, 5})
	h.Observe(w.snap(second))

	w.members(0, "m1: 0 1 2 3 4 5", "m2")
	target(2, 2, "Reconciling", []int32{0, 1, 2}, []int32{3, 4, 5})
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_started: The group began to rebalance, with 2 members.")
	moves := h.Observe(w.snap(second)).Insights["g"].Rebalance.Moves
	want := []Move{{"t", 3, "id-m1", "id-m2"}, {"t", 4, "id-m1", "id-m2"}, {"t", 5, "id-m1", "id-m2"}}
	if !slices.Equal(moves, want) {
		t.Errorf("announced moves %v, want %v", moves, want)
	}
	w.members(0, "m1: 0 1 2", "m2")
	target(2, 2, "Reconciling", []int32{0, 1, 2}, []int32{3, 4, 5})
	expect(t, rebalanceEvents(h, w.snap(second)))
	w.members(0, "m1: 0 1 2", "m2: 3 4 5")
	target(2, 2, "Stable", []int32{0, 1, 2}, []int32{3, 4, 5})
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_ended: The rebalance took 3s: t/3-5 from m1 to m2.")

	// A member leaves: the epoch is ahead of its assignment, and nobody's target has its partitions.
	w.members(0, "m1: 0 1 2")
	target(3, 2, "Assigning", []int32{0, 1, 2})
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_started: The group began to rebalance, with 1 member.")
	w.members(0, "m1: 0 1 2 3 4 5")
	target(3, 3, "Stable", []int32{0, 1, 2, 3, 4, 5})
	expect(t, rebalanceEvents(h, w.snap(2*second)), "rebalance_ended: The rebalance took 2s: t/3-5 from m2 to m1.")

	// One that is over before the next poll and moved nothing leaves a higher epoch.
	target(4, 4, "Stable", []int32{0, 1, 2, 3, 4, 5})
	expect(t, rebalanceEvents(h, w.snap(second)), "rebalance_ended: The group rebalanced within 1s: no partition moved.")
}

func TestRebalanceAtTheFirstLook(t *testing.T) {
	w := newWorld().topic("t", 0, 0).group("g", []int64{0, 0}, "m1: 0 1")
	w.groups[0].State = "PreparingRebalance"
	h := NewHistory()
	expect(t, rebalanceEvents(h, w.snap(0)), "rebalance_started: The group is rebalancing, with 1 member.")
	w.members(0, "m1: 0 1")
	expect(t, rebalanceEvents(h, w.snap(4*second)), "rebalance_ended: The rebalance ended, 4s after it was first seen.")
}

func TestNoRebalance(t *testing.T) {
	t.Run("the last member leaves and another comes", func(t *testing.T) {
		w, h := rebalanceWorld()
		w.members(0)
		expect(t, rebalanceEvents(h, w.snap(second)))
		w.members(0, "m2: 0 1 2 3 4 5")
		expect(t, rebalanceEvents(h, w.snap(second)))
	})
	t.Run("share group", func(t *testing.T) {
		w := newWorld().topic("t", 0, 0).share("s", []int64{0, 0}, "m1: 0 1")
		h := NewHistory()
		h.Observe(w.snap(0))
		assign(&w.shares[0], "t", []string{"m1: 0", "m2: 1"})
		w.shares[0].State = "Assigning"
		expect(t, rebalanceEvents(h, w.snap(second)))
	})
	t.Run("carried over from an earlier poll", func(t *testing.T) {
		w, h := rebalanceWorld()
		w.stale["g"] = true
		w.members(0, "m1: 0 1 2", "m2: 3 4 5")
		expect(t, rebalanceEvents(h, w.snap(second)))
	})
	t.Run("a topic is deleted", func(t *testing.T) {
		w, h := rebalanceWorld()
		w.members(0, "m1: 0 1 2 3 4 5")
		for i := range w.groups[0].Partitions {
			w.groups[0].Partitions[i].Deleted = true
			w.groups[0].Partitions[i].Member = NoMember
		}
		expect(t, rebalanceEvents(h, w.snap(second)))
	})
}

func TestRebalancesAreCountedForTenMinutes(t *testing.T) {
	w, h := rebalanceWorld()
	for i := range 40 {
		if i%2 == 0 {
			w.members(0, "m1: 0 1 2", "m2: 3 4 5")
		} else {
			w.members(0, "m1: 0 1 2 3 4 5", "m2")
		}
		h.Observe(w.snap(2 * second))
	}
	if n := h.Observe(w.snap(second)).Insights["g"].Rebalances; n != rebalancesKept {
		t.Errorf("%d rebalances counted, want %d at most", n, rebalancesKept)
	}
	if n := h.Observe(w.snap(11 * time.Minute)).Insights["g"].Rebalances; n != 0 {
		t.Errorf("%d rebalances counted eleven minutes later, want 0", n)
	}
}
