package table

import (
	"testing"

	"flightdeck/themes"
	"flightdeck/themes/themetest"
)

// TestFrames compares whole frames: the text, and below it the token of every cell.
func TestFrames(t *testing.T) {
	rows := []group{
		{id: "order-service", state: "Stable", lag: 12_480, verdict: "falling behind: 81 % of the lag on order-events/2"},
		{id: "billing", state: "Empty", lag: 3_211, verdict: "nobody consumes since 14:02:11"},
		{id: "주문-처리-서비스", state: "Stable", lag: 88, verdict: "따라잡는 중"},
		{id: "stale-one", state: "Stable", lag: 7, verdict: "not answered", stale: true},
		{id: "a-group-with-a-very-long-name-that-does-not-fit-anywhere", state: "Dead", lag: 0, verdict: "e\u0301\x1b[31m\u202e"},
		{id: "invoices", state: "Stable", lag: 1, verdict: ""},
	}
	cases := map[string]struct {
		w, h   int
		glyphs themes.Glyphs
		do     func(*Table[group])
	}{
		"wide screen":     {110, 8, themes.Unicode, func(tb *Table[group]) { tb.NextPage() }},
		"middle":          {70, 8, themes.Unicode, func(tb *Table[group]) { tb.NextPage() }},
		"narrow":          {40, 7, themes.Unicode, func(tb *Table[group]) {}},
		"narrowest":       {20, 7, themes.Unicode, func(tb *Table[group]) {}},
		"scrolled, ASCII": {60, 4, themes.ASCII, func(tb *Table[group]) { tb.Move(3) }},
		"one line":        {40, 1, themes.Unicode, func(tb *Table[group]) {}},
		"without focus":   {40, 4, themes.Unicode, func(tb *Table[group]) { tb.SetFocus(false) }},
		"no rows":         {40, 3, themes.Unicode, func(tb *Table[group]) { tb.SetRows(nil) }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, c.w, c.h, rows...)
			tb.SetTheme(themetest.Theme(c.glyphs))
			tb.SetDim(func(g *group) bool { return g.stale })
			tb.SortBy("lag")
			tb.Down()
			tb.ToggleMark()
			c.do(tb)
			themetest.Golden(t, tb.View())
		})
	}
}
