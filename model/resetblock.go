package model

import (
	"fmt"
	"time"
)

// ResetBlock says why offsets of the group cannot be moved now and what to do; empty when they can.
func ResetBlock(g *Group) string {
	if len(g.Members) == 0 && (g.State == "Empty" || g.State == "Dead" || g.State == "") {
		return ""
	}
	state := g.State
	if state == "" {
		state = "in use"
	}
	text := fmt.Sprintf("%s is %s with %s; offsets can only be moved when it is empty. ", g.ID, state, Plural(len(g.Members), "member"))
	if g.Type == TypeShare {
		return text + "While members hold records, the partition leaders keep where the group is in memory. Stop the members, or wait for the group to become empty."
	}
	return text + "Running consumers keep their position in memory and would commit it over a new one, so the coordinator takes offsets from members only. Stop the members, or wait for the group to become empty."
}

// ResetGone is when members that died before since are out of the group at the latest: a dead member stays until its session
// times out, and nothing tells it from a live one before. The time-out is unknown for classic groups, whose members choose it.
func ResetGone(since time.Time, session Opt[time.Duration]) Opt[time.Time] {
	d, ok := session.Get()
	if !ok {
		return Opt[time.Time]{}
	}
	return Some(since.Add(d))
}
