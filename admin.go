package main

import (
	"context"
	"time"

	"flightdeck/kafka"
	"flightdeck/model"
	"flightdeck/ui"
)

// groupAdmin is a [kafka.Admin] as the terminal program asks for it.
type groupAdmin struct{ *kafka.Admin }

// request is the question in the words of package kafka.
func request(r ui.ResetRequest) kafka.ResetRequest {
	return kafka.ResetRequest{Group: r.Group, Type: r.Type, Spec: r.Spec, Scope: r.Scope, Records: r.Records}
}

// PlanReset implements [ui.Admin].
func (a groupAdmin) PlanReset(r ui.ResetRequest) ui.Job[model.ResetPlan] {
	progress := new(kafka.Progress)
	return ui.Job[model.ResetPlan]{Progress: progress.Now, Run: func(ctx context.Context) (model.ResetPlan, error) {
		return a.Admin.PlanReset(ctx, request(r), progress)
	}}
}

// ApplyReset implements [ui.Admin].
func (a groupAdmin) ApplyReset(plan model.ResetPlan) ui.Job[model.ResetOutcome] {
	progress := new(kafka.Progress)
	return ui.Job[model.ResetOutcome]{Progress: progress.Now, Run: func(ctx context.Context) (model.ResetOutcome, error) {
		return a.Admin.ApplyReset(ctx, plan, progress)
	}}
}

// ArmReset implements [ui.Admin].
func (a groupAdmin) ArmReset(r ui.ResetRequest, plan model.ResetPlan, giveUp time.Duration) (ui.Armed, error) {
	r.Records = nil // they will be old by then
	armed, err := a.Admin.ArmReset(request(r), plan, giveUp)
	if err != nil {
		return nil, err // and not a nil pointer that is no nil interface
	}
	return armed, nil
}

// Undo implements [ui.Admin].
func (a groupAdmin) Undo(ctx context.Context, group string) (spec model.ResetSpec, ok bool, err error) {
	saved, err := a.SavedResets(ctx, group)
	if len(saved) == 0 {
		return spec, false, err
	}
	return saved[0].Undo(), true, nil
}
