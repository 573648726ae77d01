package table

import "slices"

const (
	gutter = 2 // cells before the first column: cursor and mark
	gap    = 2 // cells between columns
	bar    = 1 // cells after the last column: the scroll bar
)

// layout is what is known about the widths of the columns.
type layout struct {
	// need is the widest content of each column: of the rows seen in this period and in the one
	// before. A column grows at once and shrinks only after one to two periods in which nothing
	// was as wide, so that columns do not jump at every refresh.
	now, before []int
	ticks       int

	shown  []int // columns on the screen; nil when it is to be found out
	widths []int // width of each of shown
}

// period is the number of refreshes after which widths are forgotten.
const period = 30

func (l *layout) reset() { *l = layout{} }

// tick counts a refresh.
func (l *layout) tick() {
	if l.ticks++; l.ticks >= period {
		l.ticks = 0
		l.now, l.before = l.before, l.now
		clear(l.now)
	}
}

// see notes the width of a cell and reports whether the column has to grow for it.
func (l *layout) see(column, width int) bool {
	grown := width > max(l.now[column], l.before[column])
	l.now[column] = max(l.now[column], width)
	return grown
}

// columnsShown are the indices of the columns that fit the width at their least width.
func (t *Table[R]) columnsShown() []int {
	var shown []int
	total := gutter + bar - gap
	for i := range t.columns {
		if c := &t.columns[i]; t.wide || !c.Wide {
			shown = append(shown, i)
			total += c.least() + gap
		}
	}
	for total > t.width && len(shown) > 1 {
		drop := 0
		for n, i := range shown {
			if t.columns[i].Priority <= t.columns[shown[drop]].Priority {
				drop = n
			}
		}
		total -= t.columns[shown[drop]].least() + gap
		shown = slices.Delete(shown, drop, drop+1)
	}
	return shown
}

// least is the width below which the column is not shown.
func (c *Column[R]) least() int { return max(c.Min, 1) }

// arrange decides how wide the columns are, and whether that is new.
func (t *Table[R]) arrange() (changed bool) {
	l := &t.layout
	shown := l.shown
	widths := make([]int, len(shown))
	left := t.width - gutter - bar + gap
	for n, i := range shown {
		widths[n] = t.columns[i].least()
		left -= widths[n] + gap
	}
	if left < 0 && len(widths) == 1 {
		widths[0] = max(widths[0]+left, 0)
	}
	// What content needs comes first, by priority; then weights share what is left.
	byPriority := make([]int, len(shown))
	for n := range byPriority {
		byPriority[n] = n
	}
	slices.SortStableFunc(byPriority, func(a, b int) int {
		return t.columns[shown[b]].Priority - t.columns[shown[a]].Priority
	})
	for _, n := range byPriority {
		c := &t.columns[shown[n]]
		want := max(l.now[shown[n]], l.before[shown[n]], t.titleWidth(shown[n]))
		if c.Max > 0 {
			want = min(want, c.Max)
		}
		if more := min(want-widths[n], left); more > 0 {
			widths[n] += more
			left -= more
		}
	}
	weights := 0
	for _, i := range shown {
		weights += t.columns[i].Weight
	}
	for n, i := range shown {
		c := &t.columns[i]
		if c.Weight == 0 || left <= 0 {
			continue
		}
		more := left * c.Weight / weights
		if c.Max > 0 {
			more = max(min(more, c.Max-widths[n]), 0)
		}
		widths[n] += more
		left -= more
		weights -= c.Weight
	}
	changed = !slices.Equal(l.widths, widths)
	l.widths = widths
	return changed
}
