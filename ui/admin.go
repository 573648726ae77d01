package ui

import (
	"context"
	"time"

	"flightdeck/model"
)

// Admin changes groups. Its methods are called from commands, except for those that return a [Job], which only
// prepare one. Every change is one that a person saw a preview of and agreed to.
type Admin interface {
	// Group describes a group as its coordinator sees it now.
	Group(ctx context.Context, id string, kind model.GroupType) (*model.Group, error)

	// PlanReset reads what a reset would do.
	PlanReset(ResetRequest) Job[model.ResetPlan]
	// ApplyReset carries a plan out and reads it back. An error means that nothing was changed.
	ApplyReset(model.ResetPlan) Job[model.ResetOutcome]
	// ArmReset carries a request out once the group is empty, and gives up after a time. plan is what was seen.
	ArmReset(r ResetRequest, plan model.ResetPlan, giveUp time.Duration) (Armed, error)
	// Undo is what takes a group back to where it was before the last reset or deletion; ok is false when there was none.
	Undo(ctx context.Context, group string) (spec model.ResetSpec, ok bool, err error)

	// PlanDelete reads what would disappear.
	PlanDelete(ctx context.Context, scope model.DeleteScope, kind model.GroupType) (model.DeletePlan, error)
	// ApplyDelete deletes and reads back. saved is the file with the positions from before. An error means that nothing
	// was deleted.
	ApplyDelete(ctx context.Context, plan model.DeletePlan) (results []model.ActionResult, saved string, err error)

	// GroupConfigs reads the settings of a group, which need not exist.
	GroupConfigs(ctx context.Context, group string, kind model.GroupType) (model.ConfigSheet, error)
	// TryGroupConfigs asks whether the cluster would take changes; the error is what it has against them.
	TryGroupConfigs(ctx context.Context, group string, changes []model.ConfigChange) error
	// AlterGroupConfigs sets and removes settings and reads them back. An error means that nothing was changed.
	AlterGroupConfigs(ctx context.Context, plan model.ConfigPlan) ([]model.ActionResult, error)
}

// Armed is a reset that waits for its group to become empty.
type Armed interface {
	// Next waits for what happens next. After the final state it returns an error.
	Next(ctx context.Context) (model.ArmedState, error)
	// Disarm ends the waiting and returns when it has ended.
	Disarm()
}

// ResetRequest asks for the plan of a reset.
type ResetRequest struct {
	Group string
	Type  model.GroupType
	Spec  model.ResetSpec
	// Scope are the topics in question, all their partitions where none are named. nil means what the group has positions
	// on, or what the other group or the file names.
	Scope []model.TopicPartitions
	// Records is what is recorded of share groups, for what they would forget; nil when it is not followed.
	Records *model.ShareRecords
}
