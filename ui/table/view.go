package table

import (
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// cell is a formatted cell.
type cell struct {
	text string
	tok  themes.Token
	tail string
}

// cache keeps what was formatted and drawn, for as long as it holds.
type cache struct {
	// lines is a ring: the row at place p is kept in line p modulo their number, so that scrolling
	// formats only the rows that come into view.
	lines    []line
	arranged bool
	frame    []byte
}

// line is what is kept of one row.
type line struct {
	place            int // in order; -1 for none
	cells            []cell
	drawn            bool
	selected, marked bool // as it was drawn
	bytes            []byte
}

// drop forgets everything, when rows or columns changed.
func (c *cache) drop() {
	c.arranged = false
	for n := range c.lines {
		c.lines[n].place = -1
	}
}

// redraw forgets what was drawn, when the look changed.
func (c *cache) redraw() {
	for n := range c.lines {
		c.lines[n].drawn = false
	}
}

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

// measure formats the rows that came into view, and sizes the columns to them.
func (t *Table[R]) measure() {
	c, l := &t.cache, &t.layout
	if len(c.lines) != t.lines() {
		c.lines = make([]line, t.lines())
		c.drop()
	}
	if l.shown == nil {
		l.shown = t.columnsShown()
	}
	if l.now == nil {
		l.now, l.before = make([]int, len(t.columns)), make([]int, len(t.columns))
	}
	for place := t.offset; place < min(t.offset+t.lines(), len(t.order)); place++ {
		kept := &c.lines[place%len(c.lines)]
		if kept.place == place {
			continue
		}
		kept.place, kept.drawn, kept.cells = place, false, kept.cells[:0]
		for _, i := range l.shown {
			row, tail := &t.rows[t.order[place]], ""
			s, tok := t.columns[i].Cell(row)
			width := text.Cells(s, t.width)
			if t.columns[i].Tail != nil {
				tail = t.columns[i].Tail(row)
			}
			if tail != "" {
				width += 1 + text.Cells(tail, t.width)
			}
			if l.see(i, width) {
				c.arranged = false
			}
			kept.cells = append(kept.cells, cell{s, tok, tail})
		}
	}
	if !c.arranged {
		c.arranged = true
		if t.arrange() {
			c.redraw()
		}
	}
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
	p := pen{dst: b, ellipsis: t.theme.Glyphs.Ellipsis}
	p.skip(min(gutter, t.width))
	for n, i := range t.layout.shown {
		if n > 0 {
			p.skip(gap)
		}
		title, tok := t.columns[i].Title, themes.Header
		if i == t.sort {
			arrow := t.theme.Glyphs.Up
			if t.desc {
				arrow = t.theme.Glyphs.Down
			}
			title, tok = title+" "+arrow, themes.Accent
		}
		p.cell(title, t.theme.Style(tok), t.layout.widths[n], t.columns[i].Right)
	}
	return p.end(t.width)
}

// appendLine appends the n-th row on the screen.
func (t *Table[R]) appendLine(b []byte, n int) []byte {
	place := t.offset + n
	if place >= len(t.order) {
		return text.AppendSpaces(b, t.width)
	}
	l := &t.cache.lines[place%len(t.cache.lines)]
	selected, marked := place == t.cursor, t.marks[t.keys[t.order[place]]]
	if !l.drawn || l.selected != selected || l.marked != marked {
		l.drawn, l.selected, l.marked = true, selected, marked
		l.bytes = t.appendRow(l.bytes[:0], l)
	}
	return t.appendBar(append(b, l.bytes...), n)
}

// appendRow appends a row, all but the scroll bar. The selected row is lit in the margin and in its
// first column alone: what a step of the cursor changes has to be sent again, and a lit row of 200
// cells is a kilobyte over a slow line.
func (t *Table[R]) appendRow(b []byte, l *line) []byte {
	lit, p := l.selected && !t.blurred, pen{dst: b, ellipsis: t.theme.Glyphs.Ellipsis}
	style := func(tok themes.Token) themes.Style {
		if lit {
			return t.theme.OnSelected(tok)
		}
		return t.theme.Style(tok)
	}
	if lit {
		p.blank = style(themes.Text)
	}
	if t.width >= gutter {
		p.flag(l.selected, t.theme.Glyphs.Cursor, style(themes.Accent))
		p.flag(l.marked, t.theme.Glyphs.Mark, style(themes.Marked))
	}
	stale := t.dim != nil && t.dim(&t.rows[t.order[l.place]])
	for k, i := range t.layout.shown {
		tok := l.cells[k].tok
		if stale {
			tok = themes.Stale
		}
		if k == 1 {
			p.flush()
			lit, p.blank = false, themes.Style{}
		}
		if k > 0 {
			p.skip(gap)
		}
		if tail := l.cells[k].tail; tail != "" {
			p.noted(l.cells[k].text, style(tok), tail, style(themes.Faint), t.layout.widths[k])
			continue
		}
		p.cell(l.cells[k].text, style(tok), t.layout.widths[k], t.columns[i].Right)
	}
	return p.end(t.width - bar)
}

// appendBar appends the scroll bar's cell of the n-th line; it is blank when all rows fit.
func (t *Table[R]) appendBar(b []byte, n int) []byte {
	if t.width < gutter+bar {
		return text.AppendSpaces(b, t.width%gutter)
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
