package ui

import (
	"strings"
	"testing"

	"flightdeck/model"
)

// What keeps many groups from being read is one line, and nothing beside the line of their broker when that is down.
func TestGroupsThatCannotBeReadAreOneLine(t *testing.T) {
	const refused = "Broker 1 at kafka-1.internal:9092 refuses the connection. Check that it runs."
	failing := func(down bool) (*model.Snapshot, *fakeHistory) {
		s, h := fixture()
		for _, groups := range [][]model.Group{s.Groups, s.ShareGroups} {
			for i := range groups {
				s.Problems = append(s.Problems, model.Problem{Scope: model.ScopeGroup, Name: groups[i].ID, Code: "refused", Text: refused})
				in := *h.insights[groups[i].ID]
				in.Verdicts = []model.Verdict{{Code: model.VerdictUnreadable, Severity: model.Warning, Text: "could not be read"}}
				h.insights[groups[i].ID] = &in
			}
		}
		if down {
			s.Cluster.Brokers[0].Up = false
			s.Problems = append(s.Problems, model.Problem{Scope: model.ScopeBroker, Name: "1", Code: "refused", Text: refused})
		}
		return s, h
	}
	cases := map[string]struct {
		down bool
		want string
	}{
		"broker up":   {false, "7 groups could not be read; Cluster lists them. " + refused},
		"broker down": {true, refused + " It coordinates 7 groups."},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, Options{})
			for range 2 {
				s, h := failing(c.down)
				r.history = h
				r.read(s)
			}
			var lines []string
			for _, e := range r.log.entries {
				lines = append(lines, e.text)
			}
			if got := strings.Join(lines, "|"); got != c.want {
				t.Errorf("Activity says %q, want %q", got, c.want)
			}
		})
	}
}

func TestActivitySaysThatNothingCanBeWrittenDown(t *testing.T) {
	r := newRig(t, Options{AuditLog: "/state/audit.jsonl", NoAudit: true})
	r.press("5")
	r.sees("not writable: nothing can be changed")
	r.misses("/state/audit.jsonl")
}
