package ui

import (
	"context"
	"errors"
	"time"

	"flightdeck/model"
)

// noon is when the fixtures were read.
var noon = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)

// fakeSource answers from a script; the last answer repeats.
type fakeSource struct {
	snapshots []*model.Snapshot
	errs      []error
	wants     []model.Want
	offsets   func(groups []string) (model.ShareOffsets, error)
	asked     [][]string
}

func (f *fakeSource) Snapshot(_ context.Context, want model.Want) (*model.Snapshot, error) {
	f.wants = append(f.wants, want)
	n := len(f.wants) - 1
	if len(f.errs) > 0 {
		if err := f.errs[min(n, len(f.errs)-1)]; err != nil {
			return nil, err
		}
	}
	if len(f.snapshots) == 0 {
		return nil, errors.New("the fake has no snapshot")
	}
	return f.snapshots[min(n, len(f.snapshots)-1)], nil
}

func (f *fakeSource) ShareOffsets(_ context.Context, groups []string) (model.ShareOffsets, error) {
	f.asked = append(f.asked, groups)
	if f.offsets == nil {
		return model.ShareOffsets{}, nil
	}
	return f.offsets(groups)
}

// fakeHistory concludes what the fixture says.
type fakeHistory struct {
	insights map[string]*model.Insight
	produced map[string]float64
	events   []model.Event
}

func (f *fakeHistory) Observe(s *model.Snapshot) *model.View {
	events := f.events
	f.events = nil
	return &model.View{Snapshot: s, Insights: f.insights, Produced: f.produced, Events: events}
}

func partition(topic string, n int32, position, start, end int64, member int32) model.GroupPartition {
	p := model.GroupPartition{Topic: topic, Number: n, Member: member, Position: model.Some(position), Start: model.Some(start), End: model.Some(end)}
	p.Measure()
	return p
}

func member(client, host string, topic string, partitions ...int32) model.Member {
	m := model.Member{ID: client + "-5f1c2a", ClientID: client, Host: host, Epoch: model.Some(int32(7))}
	if len(partitions) > 0 {
		m.Assignment = []model.TopicPartitions{{Topic: topic, Partitions: partitions}}
	}
	return m
}

func group(id string, kind model.GroupType, state string, members []model.Member, partitions ...model.GroupPartition) model.Group {
	return model.Group{ID: id, Type: kind, State: state, Coordinator: 1, Members: members, Partitions: partitions,
		Described: noon, OffsetsAt: noon}
}

func topic(name string, partitions int, end int64) model.Topic {
	t := model.Topic{Name: name}
	for i := range int32(partitions) {
		t.Partitions = append(t.Partitions, model.Partition{Number: i, Leader: i%3 + 1, Replicas: []int32{i%3 + 1, (i+1)%3 + 1, (i+2)%3 + 1},
			ISR: []int32{i%3 + 1, (i+1)%3 + 1, (i+2)%3 + 1}, Start: model.Some(int64(0)), End: model.Some(end + int64(i)*37), At: noon})
	}
	return t
}

func falling(from, step int64) []model.Int {
	var t []model.Int
	for i := range int64(model.TrendLen) {
		t = append(t, model.Some(max(0, from+step*i)))
	}
	return t
}

// fixture is a cluster with groups in all kinds of trouble, and what is concluded about them.
func fixture() (*model.Snapshot, *fakeHistory) {
	s := &model.Snapshot{At: noon, Took: 12 * time.Millisecond, Depth: model.DepthFull}
	s.Cluster = model.Cluster{ID: "b3JkZXJzLXByb2Q", Controller: 2, Version: "4.3", Share: model.ShareOn,
		Features: []model.Feature{{Name: "group.version", Finalized: model.Some(int16(1)), Max: 1},
			{Name: "metadata.version", Finalized: model.Some(int16(29)), Min: 7, Max: 29},
			{Name: "share.version", Finalized: model.Some(int16(1)), Max: 1}}}
	for i := range int32(3) {
		s.Cluster.Brokers = append(s.Cluster.Brokers, model.Broker{ID: i + 1, Host: "kafka-" + string(rune('1'+i)) + ".internal", Port: 9092, Rack: "rack-" + string(rune('a'+i)), Up: true, Answered: noon})
	}
	s.Topics = []model.Topic{topic("audit-log", 3, 88_112), topic("invoices", 4, 120_050), topic("order-events", 3, 512_480), topic("payments", 6, 73_000)}
	h := &fakeHistory{insights: map[string]*model.Insight{}, produced: map[string]float64{"order-events": 1240, "payments": 310, "invoices": 12.5, "audit-log": 0}}
	add := func(g model.Group, in model.Insight) {
		in.Partitions = make([]model.PartitionInsight, len(g.Partitions))
		for i := range in.Partitions {
			in.Partitions[i].Consumed = in.Consumed
		}
		if g.Type == model.TypeShare {
			s.ShareGroups = append(s.ShareGroups, g)
		} else {
			s.Groups = append(s.Groups, g)
		}
		h.insights[g.ID] = &in
	}
	add(group("audit", model.TypeConsumer, "Stable", []model.Member{member("audit-1", "10.0.3.11", "audit-log", 0), member("audit-2", "10.0.3.12", "audit-log", 1),
		member("audit-3", "10.0.3.13", "audit-log", 2), member("audit-4", "10.0.3.14", "")},
		partition("audit-log", 0, 88_112, 0, 88_112, 0), partition("audit-log", 1, 88_149, 0, 88_149, 1), partition("audit-log", 2, 88_186, 0, 88_186, 2)),
		model.Insight{Consumed: model.Some(310.0), Trend: falling(0, 0), Verdicts: []model.Verdict{{Code: "idle_members", Severity: model.Info, Text: "1 member idle: 4 members, 3 partitions",
			Evidence: []string{"audit-4 has no partition."}, Next: "Stop it, or add partitions to audit-log."}}})
	add(group("billing", model.TypeClassic, "Empty", nil, partition("payments", 0, 70_000, 0, 73_211, model.NoMember)),
		model.Insight{Trend: falling(100, 53), Consumed: model.Some(0.0), Verdicts: []model.Verdict{{Code: "no_members", Severity: model.Critical, Text: "nobody consumes since 11:58:02",
			Evidence: []string{"The last member left at 11:58:02.", "payments grew by 310/s since then."}, Next: "Start a consumer with group.id=billing."}}})
	add(group("invoices", model.TypeClassic, "Stable", []model.Member{member("invoices-0", "10.0.3.21", "invoices", 0, 1), member("invoices-1", "10.0.3.22", "invoices", 2, 3)},
		partition("invoices", 0, 120_000, 0, 120_050, 0), partition("invoices", 1, 120_087, 0, 120_087, 0), partition("invoices", 2, 120_086, 0, 120_124, 1), partition("invoices", 3, 120_161, 0, 120_161, 1)),
		model.Insight{Consumed: model.Some(140.0), Trend: falling(3000, -50), ETA: model.Some(12 * time.Second), Verdicts: []model.Verdict{{Code: "moving", Severity: model.OK, Text: "catching up, done in 12s"}}})
	add(group("order-service", model.TypeConsumer, "Stable", []model.Member{member("order-1", "10.0.4.1", "order-events", 0), member("order-2", "10.0.4.2", "order-events", 1), member("order-3", "10.0.4.3", "order-events", 2)},
		partition("order-events", 0, 511_200, 0, 512_480, 0), partition("order-events", 1, 511_407, 0, 512_517, 1), partition("order-events", 2, 502_464, 0, 512_554, 2)),
		model.Insight{Consumed: model.Some(1100.0), Produced: model.Some(1240.0), Trend: falling(1000, 190), Verdicts: []model.Verdict{{Code: "falling_behind", Severity: model.Warning, Text: "falling behind: 81 % of the lag on order-events/2",
			Evidence: []string{"1.2k/s are written and 1.1k/s are read.", "order-events/2 has 10,090 of 12,480 records of lag; order-3 on 10.0.4.3 owns it."},
			Next:     "See what order-3 does with the records of order-events/2; a hot key is the usual cause."}}})
	add(group("streams-join", model.TypeStreams, "Stable", []model.Member{member("join-1", "10.0.5.1", "payments", 1, 2)}, partition("payments", 1, 73_037, 0, 73_037, 0), partition("payments", 2, 73_074, 0, 73_074, 0)),
		model.Insight{Consumed: model.Some(99.0), Trend: falling(0, 0), Verdicts: []model.Verdict{{Code: "caught_up", Text: "caught up"}}})
	add(group("order-workers", model.TypeShare, "Stable", []model.Member{member("worker-1", "10.0.6.1", "order-events", 0, 1, 2), member("worker-2", "10.0.6.2", "order-events", 0, 1, 2)},
		partition("order-events", 0, 512_400, 0, 512_480, model.NoMember), partition("order-events", 1, 512_500, 0, 512_517, model.NoMember), partition("order-events", 2, 512_554, 0, 512_554, model.NoMember)),
		model.Insight{Consumed: model.Some(1200.0), Trend: falling(90, 0), Verdicts: []model.Verdict{{Code: "moving", Text: "keeping up, 97 in flight"}}})
	add(group("refunds", model.TypeShare, "Stable", []model.Member{member("refund-1", "10.0.6.9", "payments", 0)},
		model.GroupPartition{Topic: "payments", Number: 0, Member: model.NoMember, End: model.Some(int64(73_211))}),
		model.Insight{Verdicts: []model.Verdict{{Code: "reads_nothing", Severity: model.Warning, Text: "reads nothing: share.auto.offset.reset is latest",
			Evidence: []string{"1 member, and no start offset on payments/0."}, Next: "Set share.auto.offset.reset=earliest for the group, or write a record."}}})
	return s, h
}

// listing is the snapshot with names only.
func listing(s *model.Snapshot) *model.Snapshot {
	l := *s
	l.Depth = model.DepthListing
	strip := func(groups []model.Group) []model.Group {
		out := make([]model.Group, len(groups))
		for i, g := range groups {
			out[i] = model.Group{ID: g.ID, Type: g.Type, State: g.State, Coordinator: g.Coordinator}
		}
		return out
	}
	l.Groups, l.ShareGroups = strip(s.Groups), strip(s.ShareGroups)
	return &l
}
