package table

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"flightdeck/themes"
	"flightdeck/themes/themetest"
)

func TestWidths(t *testing.T) {
	column := func(c Column[int], need int) Column[int] {
		s := ""
		for range need {
			s += "x"
		}
		c.ID = strconv.Itoa(need)
		c.Cell = func(*int) (string, themes.Token) { return s, themes.Text }
		return c
	}
	cases := map[string]struct {
		width   int
		columns []Column[int]
		want    []int // widths of the columns; those left out are 0
	}{
		"all have what they need":                          {30, []Column[int]{column(Column[int]{}, 5), column(Column[int]{}, 7)}, []int{5, 7}},
		"weights share the rest":                           {33, []Column[int]{column(Column[int]{Weight: 1}, 5), column(Column[int]{Weight: 2}, 5)}, []int{11, 17}},
		"a bound ends a share":                             {33, []Column[int]{column(Column[int]{Weight: 1, Max: 6}, 5), column(Column[int]{Weight: 1}, 5)}, []int{6, 22}},
		"numbers are not cut":                              {25, []Column[int]{column(Column[int]{Weight: 5}, 30), column(Column[int]{Right: true}, 12)}, []int{8, 12}},
		"text without a weight does not starve the others": {25, []Column[int]{column(Column[int]{Weight: 3}, 30), column(Column[int]{}, 30)}, []int{14, 6}},
		"need comes before the rest":                       {45, []Column[int]{column(Column[int]{Weight: 1}, 5), column(Column[int]{Weight: 1}, 30)}, []int{7, 33}},
		"the lowest priority goes": {20, []Column[int]{column(Column[int]{Min: 8, Priority: 2}, 8), column(Column[int]{Min: 8, Priority: 1}, 8),
			column(Column[int]{Min: 5, Priority: 3}, 5)}, []int{8, 0, 5}},
		"a fair width comes before another column": {30, []Column[int]{column(Column[int]{Min: 8, Fair: 20, Priority: Vital}, 25), column(Column[int]{Min: 8, Priority: 1}, 8)}, []int{25, 0}},
		"of vital ones each has its least width": {30, []Column[int]{column(Column[int]{Min: 8, Fair: 20, Weight: 1, Priority: Vital}, 25),
			column(Column[int]{Min: 8, Right: true, Priority: Vital}, 8)}, []int{17, 8}},
		"a fair width comes before what the others need": {40, []Column[int]{column(Column[int]{Min: 8, Fair: 20, Weight: 1, Priority: Vital}, 20),
			column(Column[int]{Min: 8, Weight: 5}, 40)}, []int{20, 15}},
		"of equal ones the last goes": {20, []Column[int]{column(Column[int]{Min: 12}, 12), column(Column[int]{Min: 12}, 12)}, []int{12, 0}},
		"one column always stays":     {8, []Column[int]{column(Column[int]{Min: 20}, 20)}, []int{5}},
		"wide columns stay away":      {40, []Column[int]{column(Column[int]{}, 5), column(Column[int]{Wide: true}, 5)}, []int{5, 0}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tb := New(func(*int) string { return "row" }, c.columns...)
			tb.SetSize(c.width, 3)
			tb.SetRows(make([]int, 1))
			tb.View()
			got := make([]int, len(c.columns))
			for n, i := range tb.layout.shown {
				got[i] = tb.layout.widths[n]
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("widths %v, want %v", got, c.want)
			}
		})
	}
}

// TestPages: pages show what the first one leaves out, beside the name of the row, and then the first page again.
func TestPages(t *testing.T) {
	columns := []Column[int]{
		{ID: "name", Min: 10, Fair: 20, Priority: 100}, {ID: "state", Min: 8, Priority: 60}, {ID: "members", Min: 7, Priority: 40},
		{ID: "lag", Min: 7, Priority: Vital}, {ID: "verdict", Min: 14, Fair: 30, Priority: 95}, {ID: "node", Min: 10, Priority: 30, Wide: true},
	}
	for i := range columns {
		columns[i].Cell = func(*int) (string, themes.Token) { return "x", themes.Text }
	}
	cases := map[int]string{
		120: "name state members lag verdict|name state members lag verdict node",
		80:  "name state lag verdict|name members verdict node",
		40:  "name lag verdict|name state|name members|name node",
		20:  "name|state|members|lag|verdict|node",
	}
	for width, want := range cases {
		t.Run(strconv.Itoa(width), func(t *testing.T) {
			tb := New(func(*int) string { return "row" }, columns...)
			tb.SetSize(width, 3)
			tb.SetRows(make([]int, 1))
			var got []string
			for {
				tb.View()
				var ids []string
				for _, i := range tb.layout.shown {
					ids = append(ids, columns[i].ID)
				}
				got = append(got, strings.Join(ids, " "))
				page, pages := tb.NextPage()
				if page == 0 {
					if pages != len(got) {
						t.Errorf("%d pages were shown, of %d", len(got), pages)
					}
					break
				}
			}
			if s := strings.Join(got, "|"); s != want {
				t.Errorf("pages %s, want %s", s, want)
			}
		})
	}
	tb := New(func(*int) string { return "row" }, columns...)
	tb.SetSize(20, 3)
	for range 4 {
		tb.NextPage()
	}
	tb.SetSize(120, 3)
	tb.View()
	if len(tb.layout.shown) != 5 {
		t.Errorf("the table became wider and shows columns %v, not those of the first page", tb.layout.shown)
	}
}

// TestTail: a note stays when the text before it is cut.
func TestTail(t *testing.T) {
	for width, want := range map[int]string{30: "falling behind +2", 14: "falling⋯ +2", 6: "fa⋯"} {
		tb := New(func(*int) string { return "row" }, Column[int]{Weight: 1, Tail: func(*int) string { return "+2" },
			Cell: func(*int) (string, themes.Token) { return "falling behind", themes.Text }})
		tb.SetTheme(themetest.Theme(themes.Unicode))
		tb.SetSize(width, 1)
		tb.SetRows(make([]int, 1))
		frame, _, _ := strings.Cut(tb.View(), "\n")
		if got := strings.TrimSpace(strings.TrimPrefix(ansi.Strip(frame), "▐")); got != want {
			t.Errorf("%d cells: %q, want %q", width, got, want)
		}
	}
}
