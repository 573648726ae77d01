package table

import (
	"slices"
	"strconv"
	"testing"

	"flightdeck/themes"
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
