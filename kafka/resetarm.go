package kafka

import (
	"context"
	"errors"
	"io"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

const (
	// armedPoll is how often the group of an armed reset is described.
	armedPoll = 200 * time.Millisecond
	// armedPreview is how often the plan of an armed reset is made anew while it waits.
	armedPreview = 5 * time.Second
)

// ArmedReset is a reset that waits for its group to become empty. It ends with the [Admin], and so never survives the
// program.
type ArmedReset struct {
	a       *Admin
	req     ResetRequest
	states  chan model.ArmedState // the latest one
	disarm  context.CancelFunc
	stopped chan struct{}
}

// ArmReset waits until the group is empty and carries the request out at that moment, with a plan that is made anew then.
// It gives up after giveUp. plan is what the person saw. Read-only and missing audits are told at once.
func (a *Admin) ArmReset(req ResetRequest, plan model.ResetPlan, giveUp time.Duration) (*ArmedReset, error) {
	if err := a.allowed(); err != nil {
		return nil, err
	}
	if _, err := a.open(); err != nil {
		return nil, err
	}
	req.Type = plan.Type
	x := &ArmedReset{a: a, req: req, states: make(chan model.ArmedState, 1), stopped: make(chan struct{})}
	ctx, cancel := context.WithCancel(a.life)
	x.disarm = cancel
	now := time.Now()
	s := model.ArmedState{Phase: model.ArmedWaiting, Since: now, GiveUpAt: now.Add(giveUp), Plan: plan}
	a.busy.Go(func() {
		defer close(x.states)
		defer close(x.stopped)
		x.run(ctx, s)
	})
	return x, nil
}

// Next waits for the next state of the reset; states that nobody waited for are left out. After the last one the error is
// [io.EOF].
func (x *ArmedReset) Next(ctx context.Context) (model.ArmedState, error) {
	select {
	case s, ok := <-x.states:
		if !ok {
			return s, io.EOF
		}
		return s, nil
	case <-ctx.Done():
		return model.ArmedState{}, ctx.Err()
	}
}

// Disarm ends the waiting and returns when it has ended. A request in flight is finished first.
func (x *ArmedReset) Disarm() {
	x.disarm()
	<-x.stopped
}

// tell publishes a state in place of one that was not fetched. Only run calls it.
func (x *ArmedReset) tell(s model.ArmedState) {
	select {
	case <-x.states:
	default:
	}
	x.states <- s
}

func (x *ArmedReset) run(ctx context.Context, s model.ArmedState) {
	s.Gone = model.ResetGone(s.Since, x.a.sessionTimeout(ctx, x.req))
	x.tell(s)
	previewed := time.Now()
	for {
		empty := x.look(ctx, &s)
		if empty {
			if x.fire(ctx, &s) {
				return
			}
			previewed = time.Now()
		}
		switch now := time.Now(); {
		case ctx.Err() != nil:
			s.Phase = model.ArmedDisarmed
			x.tell(s)
			return
		case now.After(s.GiveUpAt):
			s.Phase = model.ArmedGaveUp
			x.tell(s)
			return
		case now.Sub(previewed) > armedPreview:
			previewed = now
			if plan, err := x.a.PlanReset(ctx, x.req, nil); err == nil {
				s.Plan = plan
			}
		}
		x.tell(s)
		_ = sleep(ctx, min(armedPoll, max(time.Until(s.GiveUpAt), time.Millisecond)))
	}
}

// look describes the group, and reports whether it is empty.
func (x *ArmedReset) look(ctx context.Context, s *model.ArmedState) bool {
	ctx, cancel := context.WithTimeout(ctx, coordinatorWait)
	defer cancel()
	g, err := x.a.Group(ctx, x.req.Group, x.req.Type)
	s.Problem = nil
	if err != nil {
		if ctx.Err() == nil {
			code, text := x.a.conn.Explain(err)
			s.Problem = &model.Problem{Scope: model.ScopeGroup, Name: x.req.Group, Code: code, Text: text}
		}
		return false
	}
	s.Group = g
	return model.ResetBlock(g) == ""
}

// fire makes the plan anew and carries it out. It returns false when a member was faster, so that nothing was done
// and it goes on waiting.
func (x *ArmedReset) fire(ctx context.Context, s *model.ArmedState) (over bool) {
	plan, err := x.a.PlanReset(ctx, x.req, nil)
	if err != nil {
		return x.failed(ctx, s, err)
	}
	s.Plan, s.Phase = plan, model.ArmedApplying
	x.tell(*s)
	out, err := x.a.ApplyReset(ctx, plan, nil)
	if err != nil {
		return x.failed(ctx, s, err)
	}
	if out.Refused() {
		s.Phase = model.ArmedWaiting
		return false
	}
	s.Phase, s.Outcome = model.ArmedDone, &out
	x.tell(*s)
	return true
}

// failed ends the reset, except for what may pass by itself: it is tried again until it gives up.
func (x *ArmedReset) failed(ctx context.Context, s *model.ArmedState, err error) (over bool) {
	code, text := x.a.conn.Explain(err)
	s.Problem = &model.Problem{Scope: model.ScopeGroup, Name: x.req.Group, Code: code, Text: text}
	s.Phase = model.ArmedWaiting
	if _, outdated := errors.AsType[*OutdatedError](err); outdated || ctx.Err() != nil {
		return false
	}
	switch code {
	case "error", "read_only", "no_audit", "audit_failed":
		s.Phase = model.ArmedFailed
		x.tell(*s)
		return true
	}
	return false
}

// sessionTimeout is how long a member that died stays in the group; unknown for classic groups, whose members choose
// it, and when it cannot be read.
func (a *Admin) sessionTimeout(ctx context.Context, req ResetRequest) model.Opt[time.Duration] {
	var none model.Opt[time.Duration]
	name := map[model.GroupType]string{model.TypeConsumer: "consumer.session.timeout.ms", model.TypeShare: "share.session.timeout.ms"}[req.Type]
	client, err := a.open()
	if name == "" || err != nil {
		return none
	}
	values, err := describeConfigs(ctx, client, kmsg.ConfigResourceTypeGroupConfig, req.Group, []string{name})
	if err != nil {
		return none
	}
	for _, v := range values {
		if ms, err := strconv.Atoi(deref(v.Value)); v.Name == name && err == nil {
			return model.Some(time.Duration(ms) * time.Millisecond)
		}
	}
	return none
}
