package model

import (
	"fmt"
	"slices"
)

// ResetTotals sums up a plan.
type ResetTotals struct {
	// Again and Skipped count the records that will be read again and those that will not be read. They are counted by
	// offsets, so that compacted and control records are in them.
	Again, Skipped int64
	// Planned counts the rows that are set, Same those among them that stay where they are, and Left those that
	// are not touched.
	Planned, Same, Left int
	// Uncounted counts planned rows without a position so far, of which nobody can say what is read again.
	Uncounted int
	// Loss is what a share group forgets, and LossUnknown counts planned rows of which that is not known.
	Loss        ShareLoss
	LossUnknown int
}

// Totals sums up the plan.
func (p *ResetPlan) Totals() ResetTotals {
	var t ResetTotals
	for i := range p.Rows {
		r := &p.Rows[i]
		if !r.Planned() {
			t.Left++
			continue
		}
		t.Planned++
		if d, ok := r.Difference().Get(); ok && d == 0 {
			t.Same++
		}
		again, skipped, known := r.moves()
		if !known {
			t.Uncounted++
		}
		t.Again += again
		t.Skipped += skipped
		switch {
		case r.Loss != nil:
			t.Loss.add(r.Loss)
		case p.Type == TypeShare:
			t.LossUnknown++
		}
	}
	return t
}

// Sentences say what the plan does, with numbers; the first is the most important.
func (p *ResetPlan) Sentences() []string {
	if p.Method == ResetImpossible {
		return []string{p.Why}
	}
	if len(p.Rows) == 0 {
		return []string{p.Group + " has no positions, and no topic is named: there is nothing to move."}
	}
	t := p.Totals()
	var out []string
	out = append(out, fmt.Sprintf("%s will read %s again and skip %s, on %s.",
		p.Group, records(t.Again), Count(t.Skipped), Plural(t.Planned, "partition")))
	if t.Uncounted > 0 {
		out = append(out, fmt.Sprintf("That leaves out %s without a position on one side.", Plural(t.Uncounted, "partition")))
	}
	switch {
	case t.Left == 1:
		out = append(out, "1 partition is left as it is; its note says why.")
	case t.Left > 1:
		out = append(out, fmt.Sprintf("%s are left as they are; their notes say why.", Plural(t.Left, "partition")))
	}
	if p.Method == ResetByPolicy {
		out = append(out, fmt.Sprintf("This Kafka cannot set start offsets of share groups: %s=%s is set for the group and its offsets are deleted. "+
			"The new start is taken when a member joins, and new partitions will start there too.", ConfigShareReset, p.Policy()))
	}
	return append(out, t.lossSentences()...)
}

// Action is the plan as a person is asked about it.
func (p *ResetPlan) Action() Action {
	a := Action{
		Kind: ActionOffsetsReset, Target: ActionTarget{Group: p.Group},
		Impact: append([]string{"Move the offsets of " + p.Group + " " + p.Spec.Text(p.At) + "."}, p.Sentences()...),
		Danger: DangerLoss, Confirm: p.Group,
	}
	a.Target.Topic, a.Target.Partitions = oneTopic(p.Planned())
	if p.Method == ResetByPolicy {
		a.Target.Configs = map[string]string{ConfigShareReset: p.Policy()}
	}
	return a
}

// oneTopic are the topic and partitions of rows that are all of one topic.
func oneTopic(rows []ResetRow) (topic string, partitions []int32) {
	for i := range rows {
		if rows[i].Topic != rows[0].Topic {
			return "", nil
		}
		partitions = append(partitions, rows[i].Number)
	}
	if len(rows) > 0 {
		topic = rows[0].Topic
	}
	slices.Sort(partitions)
	return topic, partitions
}
