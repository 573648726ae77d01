package model

import (
	"fmt"
	"runtime"
	"testing"
	"time"
)

func ratesOf(in *Insight) string {
	return fmt.Sprintf("consumed %s produced %s", in.Consumed.Text(Rate), in.Produced.Text(Rate))
}

func TestHistoryRates(t *testing.T) {
	w := newWorld().topic("t", 100, 100).group("g", []int64{50, 50}, "m1: 0 1")
	h := NewHistory()
	step := func() *View {
		w.produce(0, 0, 20)
		w.consume(0, 0, 10)
		w.consume(0, 1, 4)
		return h.Observe(w.snap(2 * second))
	}
	v := h.Observe(w.snap(0))
	if got := ratesOf(v.Insights["g"]); got != "consumed - produced -" {
		t.Errorf("first look: %s", got)
	}
	if _, known := v.Produced["t"]; known {
		t.Error("the rate of a topic is known at the first look")
	}
	for range 3 {
		v = step()
	}
	if got := ratesOf(v.Insights["g"]); got != "consumed 7.0/s produced 10/s" {
		t.Errorf("after a while: %s", got)
	}
	if got := v.Produced["t"]; got != 10 {
		t.Errorf("topic t: %v/s, want 10", got)
	}
	parts := v.Insights["g"].Partitions
	if parts[0].Consumed != Some(5.0) || parts[1].Consumed != Some(2.0) || parts[0].Produced != Some(10.0) || parts[1].Produced != Some(0.0) {
		t.Errorf("partitions: %+v", parts)
	}
	if !parts[0].Since.Equal(w.now) {
		t.Errorf("moved at %v, want %v", parts[0].Since, w.now)
	}
}

func TestHistoryIgnoresWhatWasCarriedOver(t *testing.T) {
	w := newWorld().topic("t", 100).group("g", []int64{50}, "m1: 0")
	h := NewHistory()
	h.Observe(w.snap(0))
	w.consume(0, 0, 10)
	before := h.Observe(w.snap(second)).Insights["g"]
	w.stale["g"] = true
	for range 20 {
		after := h.Observe(w.snap(second)).Insights["g"]
		if after.Consumed != before.Consumed || len(after.Trend) != 2 {
			t.Fatalf("consumed %v with %d samples; want %v and 2 as before", after.Consumed, len(after.Trend), before.Consumed)
		}
	}
	if got := h.Observe(w.snap(2 * time.Minute)).Insights["g"].Consumed; got.Known() {
		t.Errorf("consumed %v minutes after the last read, want unknown", got)
	}
}

func TestHistoryTrend(t *testing.T) {
	w := newWorld().topic("t", 0).group("g", []int64{0}, "m1: 0")
	h := NewHistory()
	var held [][]Int
	for i := range 200 {
		w.produce(0, 0, 1)
		held = append(held, h.Observe(w.snap(second)).Insights["g"].Trend)
		if n := len(held[i]); n != min(i+1, TrendLen) || held[i][n-1] != Some(int64(i+1)) {
			t.Fatalf("poll %d: %d samples, the last %v", i, n, held[i][n-1])
		}
	}
	for i, trend := range held {
		if trend[len(trend)-1] != Some(int64(i+1)) {
			t.Fatalf("the trend of poll %d was changed afterwards", i)
		}
	}
}

func TestHistoryUnknownLagIsAGap(t *testing.T) {
	w := newWorld().topic("t", 10).group("g", []int64{-1}, "m1: 0")
	h := NewHistory()
	h.Observe(w.snap(0))
	w.groups[0].Partitions[0].Position = Some(int64(4))
	in := h.Observe(w.snap(second)).Insights["g"]
	if len(in.Trend) != 2 || in.Trend[0].Known() || in.Trend[1] != Some(int64(6)) {
		t.Errorf("trend %v, want unknown and 6", in.Trend)
	}
	if in.Consumed.Known() {
		t.Errorf("consumed %v at the first commit, want unknown", in.Consumed)
	}
}

// Share offsets come apart from the snapshots: the same snapshot is observed again with newer ones.
func TestHistoryTakesShareOffsetsApart(t *testing.T) {
	w := newWorld().topic("t", 100).share("s", nil, "m1: 0")
	offsets := func(position int64) ShareOffsets {
		return ShareOffsets{At: w.now, Groups: map[string]ShareGroupOffsets{"s": {At: w.now, Partitions: []GroupPartition{
			{Topic: "t", Member: NoMember, Position: Some(position), Lag: Some(100 - position)}}}}}
	}
	bare := func(d time.Duration) *Snapshot {
		s := w.snap(d)
		s.ShareGroups[0].OffsetsAt, s.ShareGroups[0].Partitions = time.Time{}, nil
		return s
	}
	h := NewHistory()
	first := bare(0)
	if in := h.Observe(first).Insights["s"]; len(in.Partitions) != 0 || len(in.Trend) != 0 {
		t.Errorf("without offsets: %+v", in)
	}
	w.now = w.now.Add(second)
	v := h.Observe(first.WithShareOffsets(offsets(10)))
	if in := v.Insights["s"]; len(in.Trend) != 1 || len(in.Partitions) != 1 || len(v.Events) != 0 {
		t.Errorf("the same snapshot with offsets: %+v, events %q", in, texts(v.Events))
	}
	// The next poll has the old offsets still.
	old := offsets(10)
	old.Groups["s"] = ShareGroupOffsets{At: w.now, Partitions: old.Groups["s"].Partitions}
	next := bare(second)
	if in := h.Observe(next.WithShareOffsets(old)).Insights["s"]; len(in.Trend) != 1 || in.Consumed.Known() {
		t.Errorf("the next poll with old offsets: %+v", in)
	}
	w.now = w.now.Add(second)
	if in := h.Observe(next.WithShareOffsets(offsets(30))).Insights["s"]; len(in.Trend) != 2 || in.Consumed != Some(10.0) {
		t.Errorf("with newer offsets: consumed %v with %d samples", in.Consumed, len(in.Trend))
	}
}

func TestHistoryFollowsPartitionsThatComeAndGo(t *testing.T) {
	w := newWorld().topic("t", 100, 100, 100).group("g", []int64{0, 0, 0}, "m1: 0 1 2")
	h := NewHistory()
	step := func() *Insight {
		for i := range w.groups[0].Partitions {
			w.consume(0, i, int64(w.groups[0].Partitions[i].Number+1)*2)
		}
		return h.Observe(w.snap(2 * second)).Insights["g"]
	}
	step()
	step()
	w.groups[0].Partitions = w.groups[0].Partitions[1:]
	in := step()
	if in.Partitions[0].Consumed != Some(2.0) || in.Partitions[1].Consumed != Some(3.0) {
		t.Errorf("the rates slipped to other partitions: %+v", in.Partitions)
	}
}

func TestHistoryForgets(t *testing.T) {
	w := newWorld().topic("t", 1).topic("u", 1).group("a", []int64{0}, "m: 0").group("b", []int64{0}, "m: 0")
	h := NewHistory()
	h.Observe(w.snap(0))
	w.groups, w.topics = w.groups[:1], w.topics[:1]
	h.Observe(w.snap(second))
	if len(h.groups) != 1 || len(h.topics) != 1 {
		t.Errorf("%d groups and %d topics are remembered, want 1 and 1", len(h.groups), len(h.topics))
	}
}

func TestHistorySharesWhatDidNotChange(t *testing.T) {
	w := newWorld().topic("t", 10, 10).group("busy", []int64{0, 0}, "m: 0 1").group("quiet", []int64{10, 10}, "m: 0 1")
	h := NewHistory()
	for range 20 {
		h.Observe(w.snap(second))
	}
	w.stale["quiet"] = true
	before := h.Observe(w.snap(second)).Insights
	w.consume(0, 0, 1)
	after := h.Observe(w.snap(second)).Insights
	if before["quiet"] != after["quiet"] {
		t.Error("the insight of a group that was not read was made anew")
	}
	if before["busy"] == after["busy"] || before["busy"].Partitions[0].Since.Equal(after["busy"].Partitions[0].Since) {
		t.Error("a published insight was changed")
	}
}

// crowd is a cluster with many groups of 20 partitions, each on one of a hundred topics.
func crowd(groups int) *world {
	w := newWorld()
	ends := make([]int64, 20)
	for i := range ends {
		ends[i] = 1000
	}
	for i := range 100 {
		w.topic(fmt.Sprintf("topic-%03d", i), ends...)
	}
	for i := range groups {
		g := Group{ID: fmt.Sprintf("group-%05d", i), Type: TypeConsumer, State: "Stable", Epoch: Some(int32(1)), AssignmentEpoch: Some(int32(1))}
		topic := w.topics[i%100].Name
		var numbers []int32
		for n := range int32(20) {
			numbers = append(numbers, n)
			g.Partitions = append(g.Partitions, GroupPartition{Topic: topic, Number: n, Position: Some(int64(500))})
		}
		g.Members = []Member{{ID: "m", ClientID: "c", Assignment: []TopicPartitions{{topic, numbers}}}}
		w.groups = append(w.groups, g)
	}
	return w
}

// BenchmarkObserve observes polls of many groups, of which all, some or none move. It prints what the history
// holds beside the snapshot.
func BenchmarkObserve(b *testing.B) {
	for _, groups := range []int{1000, 10000} {
		for _, every := range []int{0, 10, 1} {
			b.Run(fmt.Sprintf("groups=%d/moving=1in%d", groups, every), func(b *testing.B) {
				w := crowd(groups)
				var before, after runtime.MemStats
				h := NewHistory()
				s := w.snap(second)
				runtime.GC()
				runtime.ReadMemStats(&before)
				h.Observe(s)
				move := func() *Snapshot {
					for i := range w.topics {
						for j := range w.topics[i].Partitions {
							w.produce(i, j, 10)
						}
					}
					for i := range w.groups {
						if every > 0 && i%every == 0 {
							for j := range w.groups[i].Partitions {
								w.consume(i, j, 10)
							}
						}
					}
					return w.snap(2 * second)
				}
				b.ReportAllocs()
				for b.Loop() {
					b.StopTimer()
					s = move()
					b.StartTimer()
					h.Observe(s)
				}
				b.StopTimer()
				for range 100 {
					h.Observe(move())
				}
				s = move()
				view := h.Observe(s)
				runtime.GC()
				runtime.ReadMemStats(&after)
				b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1e6, "MB-held")
				runtime.KeepAlive(view)
				runtime.KeepAlive(h)
				runtime.KeepAlive(w)
			})
		}
	}
}
