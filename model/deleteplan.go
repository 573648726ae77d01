package model

import (
	"fmt"
	"time"
)

// DeleteScope says what of a group is to be deleted.
type DeleteScope struct {
	Group string
	// Topic limits it to the offsets of one topic; empty means the group as a whole.
	Topic string
	// Partitions limits it further; nil means all partitions of Topic on which there are offsets. Offsets of
	// share groups can only be deleted for whole topics.
	Partitions []int32
}

// DeletePlan says what would disappear. It is immutable.
type DeletePlan struct {
	Scope DeleteScope
	Type  GroupType
	At    time.Time
	// State and Members are those of the group.
	State   string
	Members []Member
	// Rows are the positions that disappear, sorted by topic and partition. Lag is known where the log is.
	Rows []GroupPartition
	// Why says why it cannot be done; empty when it can.
	Why string
}

// PlanDelete puts together what would disappear of a group.
func PlanDelete(scope DeleteScope, g *Group, at time.Time) DeletePlan {
	p := DeletePlan{Scope: scope, Type: g.Type, At: at, State: g.State, Members: g.Members}
	wanted := make(map[int32]bool)
	for _, n := range scope.Partitions {
		wanted[n] = true
	}
	for _, row := range g.Partitions {
		if row.Position.Known() && (scope.Topic == "" || row.Topic == scope.Topic && (len(wanted) == 0 || wanted[row.Number])) {
			p.Rows = append(p.Rows, row)
		}
	}
	empty := len(g.Members) == 0
	switch {
	case g.State == "Dead" && len(p.Rows) == 0:
		p.Why = "There is no group " + scope.Group + "."
	case g.Type == TypeShare && len(scope.Partitions) > 0:
		p.Why = "Kafka deletes the offsets of share groups for whole topics only."
	case scope.Topic != "" && len(p.Rows) == 0:
		p.Why = scope.Group + " has no offsets on " + scope.Topic + "."
	case !empty && scope.Topic == "":
		p.Why = fmt.Sprintf("%s is %s with %s; only an empty group can be deleted. Stop the members first.", g.ID, g.State, Plural(len(g.Members), "member"))
	case !empty && g.Type == TypeShare:
		p.Why = fmt.Sprintf("%s is %s with %s; offsets of a share group can only be deleted when it is empty. Stop the members first.", g.ID, g.State, Plural(len(g.Members), "member"))
	}
	return p
}

// Sentences say what disappears.
func (p *DeletePlan) Sentences() []string {
	if p.Why != "" {
		return []string{p.Why}
	}
	var out []string
	what := "the offsets of " + p.Scope.Group + " on " + p.Scope.Topic
	if p.Scope.Topic == "" {
		what = "the group " + p.Scope.Group
	}
	var sum int64
	known := 0
	for i := range p.Rows {
		if lag, ok := p.Rows[i].Lag.Get(); ok {
			sum, known = sum+lag, known+1
		}
	}
	out = append(out, fmt.Sprintf("This deletes %s: %s.", what, Plural(len(p.Rows), "position")))
	if known > 0 {
		out = append(out, fmt.Sprintf("%s not read yet behind them; who reads next starts where its reset policy says.", records(sum)))
	}
	if p.Type == TypeShare {
		out = append(out, "Recorded states and delivery counts of its records are deleted with them.")
	}
	if p.Scope.Topic == "" {
		out = append(out, "Configurations of the group stay, and are in force when it is made again.")
	}
	return out
}

// Action is the plan as a person is asked about it.
func (p *DeletePlan) Action() Action {
	a := Action{
		Kind: ActionOffsetsDelete, Target: ActionTarget{Group: p.Scope.Group, Topic: p.Scope.Topic},
		Impact: p.Sentences(), Danger: DangerLoss, Confirm: p.Scope.Group,
	}
	if p.Scope.Topic == "" {
		a.Kind = ActionGroupDelete
		return a
	}
	for i := range p.Rows {
		a.Target.Partitions = append(a.Target.Partitions, p.Rows[i].Number)
	}
	return a
}
