package model

import (
	"fmt"
	"time"
)

// ArmedPhase is where an armed reset stands.
type ArmedPhase uint8

// The phases. All but the first two are final.
const (
	ArmedWaiting  ArmedPhase = iota // for the group to become empty
	ArmedApplying                   // the group is empty
	ArmedDone
	ArmedGaveUp   // the time ran out
	ArmedDisarmed // by the person, or because the program ended
	ArmedFailed
)

// ArmedState is an armed reset at one moment. It is immutable.
type ArmedState struct {
	Phase ArmedPhase
	// Since is when it was armed, and GiveUpAt when it gives up.
	Since, GiveUpAt time.Time
	// Group is the group as last described, nil before.
	Group *Group
	// Gone is when members that had died before it was armed are out of the group; see [ResetGone].
	Gone Opt[time.Time]
	// Plan is what would be done now; it is made anew when it fires.
	Plan ResetPlan
	// Problem is why the group could not be looked at, or the reset not be carried out; nil when it could.
	Problem *Problem
	// Outcome is what came of it, with [ArmedDone].
	Outcome *ResetOutcome
}

// Final reports whether nothing will happen any more.
func (s *ArmedState) Final() bool { return s.Phase >= ArmedDone }

// Sentence says where it stands at a moment.
func (s *ArmedState) Sentence(now time.Time) string {
	group := s.Plan.Group
	switch s.Phase {
	case ArmedApplying:
		return group + " is empty: the offsets are being moved."
	case ArmedDone:
		return s.Outcome.Sentence()
	case ArmedGaveUp:
		return fmt.Sprintf("%s did not become empty within %s: nothing was changed.", group, Duration(s.GiveUpAt.Sub(s.Since)))
	case ArmedDisarmed:
		return "The reset of " + group + " was disarmed: nothing was changed."
	case ArmedFailed:
		return "The reset of " + group + " failed and nothing was changed. " + s.Problem.Text
	}
	text := "The offsets of " + group + " are moved when it becomes empty"
	if s.Group != nil && len(s.Group.Members) > 0 {
		text += "; " + Plural(len(s.Group.Members), "member") + " left"
	}
	text += fmt.Sprintf(", for %s more.", Duration(s.GiveUpAt.Sub(now)))
	if gone, ok := s.Gone.Get(); ok && now.Before(gone) {
		text += fmt.Sprintf(" A member that died before stays for %s at most.", Duration(gone.Sub(now)))
	}
	return text
}
