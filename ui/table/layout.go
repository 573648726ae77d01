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
const period = 15

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

// columnsShown are the indices of the columns that are shown at the present width.
func (t *Table[R]) columnsShown() []int {
	pages := t.pages()
	if t.page >= len(pages) { // the table has become wider
		t.page = 0
	}
	return pages[t.page]
}

// pages are the columns page by page. Every column is on one at least.
func (t *Table[R]) pages() [][]int {
	main := t.mainColumns()
	pages := [][]int{main}
	var rest []int
	for i := range t.columns {
		if !slices.Contains(main, i) {
			rest = append(rest, i)
		}
	}
	for len(rest) > 0 {
		page := t.anotherPage(main, rest)
		pages = append(pages, page)
		rest = slices.DeleteFunc(rest, func(i int) bool { return slices.Contains(page, i) })
	}
	return pages
}

// anotherPage is what names the row, then as many of rest as fit, one at least, then the most important of main.
func (t *Table[R]) anotherPage(main, rest []int) []int {
	page := t.naming()
	used := gutter + bar - gap
	for _, i := range page {
		width := t.columns[i].fair()
		if width > t.width/2 {
			width = t.columns[i].least()
		}
		used += width + gap
	}
	fits := func(i int) bool { return used+t.columns[i].least()+gap <= t.width }
	if !slices.ContainsFunc(rest, fits) {
		return []int{rest[0]}
	}
	add := func(i, width int) {
		if used+width+gap <= t.width && !slices.Contains(page, i) {
			page = append(page, i)
			used += width + gap
		}
	}
	for _, i := range rest {
		add(i, t.columns[i].least())
	}
	main = slices.Clone(main)
	slices.SortStableFunc(main, func(a, b int) int { return t.columns[b].Priority - t.columns[a].Priority })
	for _, i := range main {
		add(i, t.columns[i].fair())
	}
	slices.Sort(page)
	return page
}

// naming are the columns that say which row it is: the vital ones at the left, or else the most important one.
func (t *Table[R]) naming() []int {
	var naming []int
	most := 0
	for i := range t.columns {
		if c := &t.columns[i]; c.Priority >= Vital && len(naming) == i {
			naming = append(naming, i)
		} else if c.Priority > t.columns[most].Priority {
			most = i
		}
	}
	if naming == nil {
		return []int{most}
	}
	return naming
}

// mainColumns are the columns of the first page.
func (t *Table[R]) mainColumns() []int {
	var shown []int
	least, fair := gutter+bar-gap, gutter+bar-gap
	for i := range t.columns {
		if c := &t.columns[i]; !c.Wide {
			shown = append(shown, i)
			least += c.least() + gap
			fair += c.fair() + gap
		}
	}
	for fair > t.width && len(shown) > 1 {
		drop := 0
		for n, i := range shown {
			if t.columns[i].Priority <= t.columns[shown[drop]].Priority {
				drop = n
			}
		}
		c := &t.columns[shown[drop]]
		if c.Priority >= Vital && least <= t.width {
			break
		}
		least -= c.least() + gap
		fair -= c.fair() + gap
		shown = slices.Delete(shown, drop, drop+1)
	}
	return shown
}

// least is the width below which the column is not shown.
func (c *Column[R]) least() int { return max(c.Min, 1) }

// fair is the width that the column has before others join it.
func (c *Column[R]) fair() int { return max(c.Fair, c.least()) }

// arrange decides how wide the columns are, and reports whether that is new. Numbers, which nobody
// can read when they are cut, get what they need first, by priority. Then columns get what they need up to their fair
// width or their title, by priority. The others share what is left by weight until they have what they need, and then those with
// a weight share the rest.
func (t *Table[R]) arrange() (changed bool) {
	l := &t.layout
	widths := make([]int, len(l.shown))
	left := t.width - gutter - bar + gap
	for n, i := range l.shown {
		widths[n] = t.columns[i].least()
		left -= widths[n] + gap
	}
	if left < 0 { // one column is left, and it does not fit
		widths[0] = max(widths[0]+left, 0)
	}
	grant := func(n, upTo int) {
		more := max(min(upTo-widths[n], left), 0)
		widths[n] += more
		left -= more
	}
	places := t.byPriority()
	for _, n := range places {
		if c := l.shown[n]; t.columns[c].Right {
			grant(n, t.want(c))
		}
	}
	for _, n := range places {
		c := l.shown[n]
		grant(n, min(t.want(c), max(t.columns[c].fair(), t.titleWidth(c))))
	}
	left = t.share(widths, left, func(c int) (weight, upTo int) {
		return max(t.columns[c].Weight, 1), t.want(c)
	})
	t.share(widths, left, func(c int) (weight, upTo int) {
		if most := t.columns[c].Max; most > 0 {
			return t.columns[c].Weight, most
		}
		return t.columns[c].Weight, t.width
	})
	changed = !slices.Equal(l.widths, widths)
	l.widths = widths
	return changed
}

// want is the width that a column's title and content need, within its bounds.
func (t *Table[R]) want(column int) int {
	n := max(t.layout.now[column], t.layout.before[column], t.titleWidth(column))
	if most := t.columns[column].Max; most > 0 {
		n = min(n, most)
	}
	return n
}

// share gives what is left to the columns by their weight until they are as wide as upTo, and returns
// what is left then.
func (t *Table[R]) share(widths []int, left int, claim func(column int) (weight, upTo int)) int {
	for left > 0 {
		weights, given := 0, 0
		for n, c := range t.layout.shown {
			if weight, upTo := claim(c); widths[n] < upTo {
				weights += weight
			}
		}
		rest := left
		for n, c := range t.layout.shown {
			weight, upTo := claim(c)
			if weight == 0 || widths[n] >= upTo {
				continue
			}
			part := rest * weight / weights
			rest -= part
			weights -= weight
			part = min(part, upTo-widths[n])
			widths[n] += part
			given += part
		}
		if given == 0 {
			break
		}
		left -= given
	}
	return left
}

// byPriority are the places of the shown columns, the highest priority first.
func (t *Table[R]) byPriority() []int {
	places := make([]int, len(t.layout.shown))
	for n := range places {
		places[n] = n
	}
	slices.SortStableFunc(places, func(a, b int) int {
		return t.columns[t.layout.shown[b]].Priority - t.columns[t.layout.shown[a]].Priority
	})
	return places
}
