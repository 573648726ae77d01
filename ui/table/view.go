package table

import (
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// cell is a formatted cell.
type cell struct {
	text string
	tok  themes.Token
}

// cache keeps what was drawn, for as long as it holds.
type cache struct {
	valid bool
	lines []line
	frame []byte
	cells []cell
}

// line is one drawn row.
type line struct {
	row              int // place in order
	selected, marked bool
	bytes            []byte
	drawn            bool
}

func (c *cache) drop() { c.valid = false }

// View draws the table: exactly the lines and cells of SetSize.
func (t *Table[R]) View() string {
	if t.width == 0 || t.height == 0 {
		return ""
	}
	t.measure()
	b := t.cache.frame[:0]
	if t.height > 1 {
		b = t.appendHeader(b)
	}
	for n := range t.lines() {
		if len(b) > 0 {
			b = append(b, '\n')
		}
		b = t.appendLine(b, n)
	}
	t.cache.frame = b
	return string(b)
}

// inView are the rows on the screen, as indices of rows.
func (t *Table[R]) inView() []int {
	return t.order[t.offset:min(t.offset+t.lines(), len(t.order))]
}

// measure formats the rows in view when something changed, and sizes the columns to them.
func (t *Table[R]) measure() {
	c := &t.cache
	rows := t.inView()
	if c.valid && len(c.lines) > 0 && c.lines[0].row == t.offset {
		return
	}
	for len(c.lines) < t.lines() {
		c.lines = append(c.lines, line{})
	}
	c.lines = c.lines[:t.lines()]
	if t.layout.now == nil {
		t.layout.now, t.layout.before = make([]int, len(t.columns)), make([]int, len(t.columns))
	}
	c.cells = c.cells[:0]
	shown := t.columnsShown()
	for _, r := range rows {
		for _, i := range shown {
			s, tok := t.columns[i].Cell(&t.rows[r])
			t.layout.see(i, text.Cells(s, t.width))
			c.cells = append(c.cells, cell{s, tok})
		}
	}
	t.arrange()
	for n := range c.lines {
		c.lines[n].drawn = false
		c.lines[n].row = t.offset + n
	}
	c.valid = true
}

// titleWidth is the width of a column's header with its arrow.
func (t *Table[R]) titleWidth(column int) int {
	n := text.Cells(t.columns[column].Title, t.width)
	if column == t.sort {
		n += 2
	}
	return n
}

func (t *Table[R]) appendHeader(b []byte) []byte {
	b = text.AppendSpaces(b, min(gutter, t.width))
	used := gutter
	for n, i := range t.layout.shown {
		c := &t.columns[i]
		if n > 0 {
			b = text.AppendSpaces(b, gap)
			used += gap
		}
		title, style := c.Title, t.theme.Style(themes.Header)
		if i == t.sort {
			arrow := t.theme.Glyphs.Up
			if t.desc {
				arrow = t.theme.Glyphs.Down
			}
			title, style = title+" "+arrow, t.theme.Style(themes.Accent)
		}
		b = append(b, style.Open...)
		b = text.AppendFit(b, title, t.layout.widths[n], c.Right, t.theme.Glyphs.Ellipsis)
		b = append(b, style.Close...)
		used += t.layout.widths[n]
	}
	return text.AppendSpaces(b, t.width-used)
}

// appendLine appends the n-th row on the screen.
func (t *Table[R]) appendLine(b []byte, n int) []byte {
	place := t.offset + n
	if place >= len(t.order) {
		return text.AppendSpaces(b, t.width)
	}
	l := &t.cache.lines[n]
	selected, marked := place == t.cursor, t.marks[t.keys[t.order[place]]]
	if !l.drawn || l.selected != selected || l.marked != marked {
		l.bytes = t.drawRow(l.bytes[:0], n, selected, marked)
		l.drawn, l.selected, l.marked = true, selected, marked
	}
	b = append(b, l.bytes...)
	return t.appendBar(b, n)
}

// drawRow draws the n-th row on the screen, all but the scroll bar.
func (t *Table[R]) drawRow(b []byte, n int, selected, marked bool) []byte {
	style := t.theme.Style
	if selected {
		style = t.theme.OnSelected
	}
	g := &t.theme.Glyphs
	space := style(themes.Text)
	if t.width >= 1 {
		cursor := " "
		if selected {
			cursor = g.Cursor
		}
		b = style(themes.Accent).Append(b, cursor)
	}
	if t.width >= 2 {
		mark := " "
		if marked {
			mark = g.Mark
		}
		b = style(themes.Marked).Append(b, mark)
	}
	used := gutter
	cells := t.cache.cells[n*len(t.layout.shown):]
	stale := t.dim != nil && t.dim(&t.rows[t.order[t.offset+n]])
	for k, i := range t.layout.shown {
		if k > 0 {
			b = append(b, space.Open...)
			b = text.AppendSpaces(b, gap)
			b = append(b, space.Close...)
			used += gap
		}
		tok := cells[k].tok
		if stale {
			tok = themes.Stale
		}
		s := style(tok)
		b = append(b, s.Open...)
		b = text.AppendFit(b, cells[k].text, t.layout.widths[k], t.columns[i].Right, g.Ellipsis)
		b = append(b, s.Close...)
		used += t.layout.widths[k]
	}
	if rest := t.width - bar - used; rest > 0 {
		b = append(b, space.Open...)
		b = text.AppendSpaces(b, rest)
		b = append(b, space.Close...)
	}
	return b
}

// appendBar appends the scroll bar's cell of the n-th line; it is blank when all rows fit.
func (t *Table[R]) appendBar(b []byte, n int) []byte {
	if t.width <= gutter {
		return b
	}
	lines, rows := t.lines(), len(t.order)
	if rows <= lines {
		return append(b, ' ')
	}
	size := max(lines*lines/rows, 1)
	top := t.offset * (lines - size) / (rows - lines)
	glyph := t.theme.Glyphs.Track
	if n >= top && n < top+size {
		glyph = t.theme.Glyphs.Thumb
	}
	return t.theme.Style(themes.Border).Append(b, glyph)
}
