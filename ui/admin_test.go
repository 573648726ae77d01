package ui

import (
	"context"
	"io"
	"time"

	"flightdeck/model"
)

// fakeAdmin plans from the fixture and changes nothing but itself.
type fakeAdmin struct {
	snapshot *model.Snapshot
	version  string
	asked    []ResetRequest
	applied  []model.ResetPlan
	// refused are partitions that are not set.
	refused map[topicPartition]string
	armed   *fakeArmed
	deleted []model.DeletePlan
	altered []model.ConfigPlan
	against error // what the cluster has against a setting
	undone  *model.ResetSpec
}

func (f *fakeAdmin) Group(_ context.Context, id string, kind model.GroupType) (*model.Group, error) {
	if g, ok := f.snapshot.Group(id); ok {
		c := *g
		c.Described = time.Time{}
		return &c, nil
	}
	return &model.Group{ID: id, Type: kind, State: "Dead"}, nil
}

func (f *fakeAdmin) PlanReset(r ResetRequest) Job[model.ResetPlan] {
	f.asked = append(f.asked, r)
	return Job[model.ResetPlan]{Run: func(ctx context.Context) (model.ResetPlan, error) {
		in := model.ResetInput{Group: r.Group, Type: r.Type, At: noon, Version: f.version, Sizes: map[string]int{}}
		g, _ := f.snapshot.Group(r.Group)
		for _, p := range g.Partitions {
			rp := model.ResetPartition{Topic: p.Topic, Number: p.Number, Now: p.Position, Start: p.Start, End: p.End}
			for _, o := range r.Spec.Offsets {
				if o.Topic == p.Topic && o.Partition == p.Number {
					rp.Target = o.Offset
				}
			}
			in.Partitions = append(in.Partitions, rp)
			in.Sizes[p.Topic]++
		}
		return model.PlanReset(r.Spec, in), ctx.Err()
	}, Progress: func() (string, int64, int64) { return "logs", 1, 2 }}
}

func (f *fakeAdmin) ApplyReset(plan model.ResetPlan) Job[model.ResetOutcome] {
	return Job[model.ResetOutcome]{Run: func(context.Context) (model.ResetOutcome, error) {
		f.applied = append(f.applied, plan)
		return f.outcome(plan), nil
	}}
}

func (f *fakeAdmin) outcome(plan model.ResetPlan) model.ResetOutcome {
	out := model.ResetOutcome{Plan: plan, Saved: "/state/saved.json"}
	for _, r := range plan.Planned() {
		why := f.refused[topicPartition{r.Topic, r.Number}]
		res := model.ActionResult{Group: plan.Group, Topic: r.Topic, Partition: r.Number, Offset: r.Then, OK: why == "", Text: why}
		if res.OK {
			res.Text = "Read back: " + r.Then.Text(model.Count) + "."
		}
		out.Results = append(out.Results, res)
	}
	return out
}

func (f *fakeAdmin) ArmReset(_ ResetRequest, plan model.ResetPlan, giveUp time.Duration) (Armed, error) {
	g, _ := f.snapshot.Group(plan.Group)
	now := time.Now()
	f.armed = &fakeArmed{states: make(chan model.ArmedState, 3), first: model.ArmedState{Since: now, GiveUpAt: now.Add(giveUp), Group: g, Plan: plan}}
	f.armed.states <- f.armed.first
	return f.armed, nil
}

type fakeArmed struct {
	states chan model.ArmedState
	first  model.ArmedState
}

func (f *fakeArmed) Next(ctx context.Context) (model.ArmedState, error) {
	select {
	case s, ok := <-f.states:
		if !ok {
			return s, io.EOF
		}
		return s, nil
	case <-ctx.Done():
		return model.ArmedState{}, ctx.Err()
	}
}

func (f *fakeArmed) end(s model.ArmedState) { f.states <- s; close(f.states) }

func (f *fakeArmed) Disarm() {
	s := f.first
	s.Phase = model.ArmedDisarmed
	f.end(s)
}

func (f *fakeAdmin) Undo(context.Context, string) (model.ResetSpec, bool, error) {
	if f.undone == nil {
		return model.ResetSpec{}, false, nil
	}
	return *f.undone, true, nil
}

func (f *fakeAdmin) PlanDelete(_ context.Context, scope model.DeleteScope, _ model.GroupType) (model.DeletePlan, error) {
	g, _ := f.snapshot.Group(scope.Group)
	return model.PlanDelete(scope, g, noon), nil
}

func (f *fakeAdmin) ApplyDelete(_ context.Context, plan model.DeletePlan) ([]model.ActionResult, string, error) {
	f.deleted = append(f.deleted, plan)
	return []model.ActionResult{{Group: plan.Scope.Group, Partition: -1, OK: true, Text: "Deleted, and read back as gone."}}, "/state/saved.json", nil
}

func (f *fakeAdmin) GroupConfigs(_ context.Context, group string, kind model.GroupType) (model.ConfigSheet, error) {
	c := model.GroupConfigs{Group: group, At: noon, Values: []model.ConfigValue{
		{Name: "share.auto.offset.reset", Value: "latest", Source: model.ConfigOfDefault, Key: "share.auto.offset.reset"},
		{Name: "share.record.lock.duration.ms", Value: "30000", Source: model.ConfigOfDefault, Key: "share.record.lock.duration.ms"},
	}}
	for _, p := range f.altered {
		for _, ch := range p.Changes {
			for i := range c.Values {
				if c.Values[i].Name == ch.Name {
					c.Values[i].Value, c.Values[i].Source = ch.Value.Or("latest"), model.ConfigOfGroup
				}
			}
		}
	}
	return model.NewConfigSheet(&c, kind, "4.3", map[string]string{"group.share.min.record.lock.duration.ms": "15000", "group.share.max.record.lock.duration.ms": "60000"}), nil
}

func (f *fakeAdmin) TryGroupConfigs(context.Context, string, []model.ConfigChange) error {
	return f.against
}

func (f *fakeAdmin) AlterGroupConfigs(_ context.Context, plan model.ConfigPlan) ([]model.ActionResult, error) {
	f.altered = append(f.altered, plan)
	return []model.ActionResult{{Group: plan.Group, Partition: -1, OK: true, Text: "share.auto.offset.reset is earliest, read back."}}, nil
}

// slowAdmin plans until it is given up.
type slowAdmin struct {
	*fakeAdmin
	ended bool
}

func (s *slowAdmin) PlanReset(r ResetRequest) Job[model.ResetPlan] {
	job := s.fakeAdmin.PlanReset(r)
	run := job.Run
	job.Run = func(ctx context.Context) (model.ResetPlan, error) {
		<-ctx.Done()
		s.ended = true
		return run(ctx)
	}
	return job
}
