package table

import (
	"cmp"
	"flightdeck/themes"
	"fmt"
	"github.com/charmbracelet/colorprofile"
	"testing"
)

type row struct {
	id  string
	lag int
}

func TestSmoke(t *testing.T) {
	tb := New(func(r *row) string { return r.id },
		Column[row]{ID: "id", Title: "GROUP", Min: 8, Weight: 1, Priority: 9, Cell: func(r *row) (string, themes.Token) { return r.id, themes.Text }, Compare: func(a, b *row) int { return cmp.Compare(a.id, b.id) }},
		Column[row]{ID: "lag", Title: "LAG", Min: 4, Priority: 8, Right: true, Desc: true, Cell: func(r *row) (string, themes.Token) { return fmt.Sprint(r.lag), themes.Warning }, Compare: func(a, b *row) int { return cmp.Compare(a.lag, b.lag) }})
	var rs []row
	for i := range 30 {
		rs = append(rs, row{fmt.Sprintf("group-%d", i), i * 7919 % 1000})
	}
	tb.SetSize(40, 8)
	tb.SetRows(rs)
	tb.SortBy("lag")
	tb.ToggleMark()
	tb.Down()
	th, _ := themes.ByName("dark", themes.Options{Profile: colorprofile.NoTTY})
	tb.SetTheme(th)
	t.Log("\n" + tb.View())
	th, _ = themes.ByName("dark", themes.Options{Profile: colorprofile.ANSI})
	tb.SetTheme(th)
	t.Log("\n" + tb.View())
}
