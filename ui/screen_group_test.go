package ui

import (
	"strings"
	"testing"

	"flightdeck/model"
)

// An id that fits nowhere is in full where a group is read about.
func TestLongIDsAreShownInFull(t *testing.T) {
	s, h := fixture()
	id := strings.Repeat("0123456789", 30)
	h.insights[id] = h.insights[s.Groups[0].ID]
	s.Groups[0].ID = id
	r := newRig(t, Options{})
	r.history = h
	r.read(s)
	for _, keys := range []string{"W", "esc enter"} {
		r.screen().(*groups).grid.Select(id)
		r.press(keys)
		var all strings.Builder
		for _, l := range r.frame() {
			for _, word := range strings.Fields(l) {
				if strings.Trim(word, "0123456789") == "" && len(word) > 9 {
					all.WriteString(word)
				}
			}
		}
		if !strings.Contains(all.String(), id) {
			t.Errorf("after %s the id is not in full on the screen:\n%s", keys, strings.Join(r.frame(), "\n"))
		}
	}
	r.sees("4 members")
}

// A start offset below the log end beside a lag of 0 is what the broker answers, and wants a word.
func TestNotesOnShareStartsThatTrail(t *testing.T) {
	row := func(position, lag, end int64, recorded bool) *partitionRow {
		p := partition("orders", 0, position, 0, end, model.NoMember)
		p.Lag = model.Some(lag)
		r := &partitionRow{GroupPartition: &p}
		if recorded {
			r.sum.Used = model.Some(end - position)
		}
		return r
	}
	cases := map[string]struct {
		row  *partitionRow
		want string
	}{
		"nothing recorded":  {row(0, 0, 250, false), "none recorded yet"},
		"all finished":      {row(100, 0, 250, true), "start trails: all finished"},
		"some lag":          {row(100, 5, 250, true), ""},
		"at the end":        {row(250, 0, 250, true), ""},
		"state is not read": {&partitionRow{GroupPartition: row(0, 0, 250, false).GroupPartition, sum: model.ShareSum{Why: "reading the state topic"}}, "reading the state topic"},
	}
	note := sharePartitionColumns[len(sharePartitionColumns)-1]
	for name, c := range cases {
		if got, _ := note.Cell(c.row); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
