package ui

import (
	"strings"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// windowGrid is the pane that draws a window: a cell for each record, or for a run of records of which
// the worst is shown. Rows begin at multiples of their length, so that a record stays in its column while the window
// moves on.
type windowGrid struct {
	name   string
	window *model.ShareWindow // nil when there is none
	blank  []string           // what to say then
	limit  int64              // delivery count limit, 0 when unknown
	// below are the lines to draw where rows are left, the first one at the top; nil for none.
	below func(i int) line
	// lit are the records that have just changed.
	lit []model.Change

	cursor int64
	// held is true once the person moved the cursor; before, it follows the head of the window.
	held bool
	zoom int // index of zooms, zoomAuto for what fits

	focus  bool
	width  int
	height int
	top    int64 // first row in view, counted from offset 0
	scale  scale // as last drawn
	buf    []byte
}

// scale is how many records a cell and a row of the grid hold.
type scale struct {
	per   int64 // records a cell
	cell  int   // width of a cell
	cells int   // cells a row
	label int   // width of the label of a row
}

// row is how many records a row holds.
func (s scale) row() int64 { return s.per * int64(s.cells) }

// zooms are the scales to choose from: records a cell, and its width. Cells of one record have room for a count.
var zooms = [...]struct {
	per  int64
	cell int
}{{1, 3}, {1, 1}, {10, 1}, {100, 1}, {1000, 1}, {10_000, 1}}

const zoomAuto = -1

func newWindowGrid() *windowGrid { return &windowGrid{name: "Window", zoom: zoomAuto} }

func (g *windowGrid) title() string         { return g.name }
func (g *windowGrid) restyle(*themes.Theme) {}
func (g *windowGrid) SetFocus(on bool)      { g.focus = on }
func (g *windowGrid) copied() string        { return "" }
func (g *windowGrid) lines() int            { return 12 }

// set takes a window.
func (g *windowGrid) set(w *model.ShareWindow) {
	g.window = w
	if w != nil && !g.held {
		g.cursor = w.Start
	}
}

// scaleFor is the scale in w by h cells.
func (g *windowGrid) scaleFor(w, h int) scale {
	label := len(model.Count(max(g.window.End, g.window.Start))) + 2 // a space on each side
	fit := func(i int) scale {
		s := scale{per: zooms[i].per, cell: zooms[i].cell, label: label}
		room := w - label
		if s.cell == 1 {
			room -= room / 11 // a gap after ten
		}
		s.cells = max(room/s.cell, 1)
		if s.cells > 10 {
			s.cells -= s.cells % 10
		}
		return s
	}
	if g.zoom != zoomAuto {
		return fit(g.zoom)
	}
	// What is in flight should fit; what nobody was given yet need not.
	last := g.window.Highest.Or(g.window.Start)
	for i := range zooms {
		s := fit(i)
		if last/s.row()-g.window.Start/s.row() < int64(h) {
			return s
		}
	}
	return fit(len(zooms) - 1)
}

// zoomBy goes n scales closer (below 0) or farther.
func (g *windowGrid) zoomBy(n int) {
	now := g.zoom
	if now == zoomAuto {
		for i := range zooms {
			if zooms[i].per == g.scale.per && zooms[i].cell == g.scale.cell {
				now = i
			}
		}
	}
	g.zoom = max(0, min(now+n, len(zooms)-1))
}

// moveTo puts the cursor on an offset.
func (g *windowGrid) moveTo(offset int64) {
	g.cursor, g.held = offset, true
	g.clamp()
}

// step moves the cursor by n cells.
func (g *windowGrid) step(n int64) {
	if g.window == nil {
		return
	}
	if per := max(g.scale.per, 1); per > 1 {
		g.cursor -= g.cursor % per
		n *= per
	}
	g.moveTo(g.cursor + n)
}

// clamp keeps the cursor in the window.
func (g *windowGrid) clamp() {
	if g.window != nil {
		g.cursor = max(min(g.cursor, g.window.End-1), g.window.Start)
	}
}

// Move, PageUp, PageDown, Home and End move the cursor; Home goes to the record that holds the start offset, End
// to the last one with an outcome and then to the last of the log.
func (g *windowGrid) Move(rows int) { g.step(int64(rows) * int64(max(g.scale.cells, 1))) }
func (g *windowGrid) PageUp()       { g.Move(-max(g.height-1, 1)) }
func (g *windowGrid) PageDown()     { g.Move(max(g.height-1, 1)) }

func (g *windowGrid) Home() {
	g.held = false
	g.set(g.window)
}

func (g *windowGrid) End() {
	if g.window == nil {
		return
	}
	if last := g.window.Highest.Or(g.cursor); g.cursor < last {
		g.moveTo(last)
		return
	}
	g.moveTo(g.window.End - 1)
}

// draw draws the rows in view.
func (g *windowGrid) draw(theme *themes.Theme, w, h int) string {
	g.width, g.height = w, h
	if g.window == nil {
		return drawBlank(theme, g.blank, w, h)
	}
	s := g.scaleFor(w, h)
	g.scale = s
	first, last := g.window.Start/s.row(), max(g.window.End-1, g.window.Start)/s.row()
	if at := g.cursor / s.row(); g.held && g.cursor >= g.window.Start {
		g.top = max(min(g.top, at), at-int64(h)+1)
	} else {
		g.top = first
	}
	g.top = max(min(g.top, last-int64(h)+1), first)

	p := gridPen{dst: g.buf[:0], theme: theme, grid: g, runs: g.window.Runs}
	for row := g.top; row < g.top+int64(h); row++ {
		if row > g.top {
			p.dst = append(p.dst, '\n')
		}
		if row <= last {
			p.row(row * s.row())
		} else if g.below != nil && row > last+1 {
			p.feed(int(row-last) - 2)
		}
	}
	g.buf = p.dst
	return string(p.dst)
}

// inkOf is what a piece is drawn in.
type inkOf struct {
	tok      themes.Token
	selected bool
}

// gridPen draws rows of a grid from top to bottom.
type gridPen struct {
	dst   []byte
	theme *themes.Theme
	grid  *windowGrid
	runs  []model.Run // from the one on that the next cell begins in
	// look is the style that is open; nothing is open when on is false.
	look  inkOf
	on    bool
	close string
}

// ink goes on in a style, selected or not.
func (p *gridPen) ink(tok themes.Token, selected bool) {
	if p.on && p.look == (inkOf{tok, selected}) {
		return
	}
	p.end()
	s := p.theme.Style(tok)
	if selected {
		s = p.theme.OnSelected(tok)
	}
	p.dst = append(p.dst, s.Open...)
	p.look, p.on, p.close = inkOf{tok, selected}, true, s.Close
}

func (p *gridPen) end() {
	if p.on {
		p.dst = append(p.dst, p.close...)
		p.on = false
	}
}

// feed draws the i-th line of what is below the records.
func (p *gridPen) feed(i int) {
	if l := p.grid.below(i); l != nil {
		var b strings.Builder
		l.append(&b, p.theme, p.grid.width)
		p.dst = append(p.dst, b.String()...)
	}
}

// row draws the row whose first record is from.
func (p *gridPen) row(from int64) {
	g, s := p.grid, p.grid.scale
	p.ink(themes.Faint, false)
	p.dst = text.AppendFit(p.dst, model.Count(from), s.label-1, true, "")
	p.end()
	if s.cell == 1 {
		p.dst = append(p.dst, ' ')
	}
	for i := range s.cells {
		if s.cell == 1 && i > 0 && i%10 == 0 {
			p.end()
			p.dst = append(p.dst, ' ')
		}
		first := from + int64(i)*s.per
		if first >= g.window.End && first > g.window.Start {
			break
		}
		p.cell(first, first+s.per-1)
	}
	p.end()
}

// cell draws the records from first to last.
func (p *gridPen) cell(first, last int64) {
	g := p.grid
	worst, count := p.worst(first, last)
	glyph, tok := p.theme.Glyphs.Gap, themes.Faint
	if worst != nil {
		glyph, tok = recordGlyph(&p.theme.Glyphs, worst)
		if g.limit > 0 && count >= g.limit-1 && !worst.State.Terminal() {
			tok = themes.Warning
		}
	}
	here := g.cursor >= first && g.cursor <= last
	if g.scale.cell == 1 {
		p.ink(tok, here || p.isLit(first, last))
		p.dst = append(p.dst, glyph...)
		return
	}
	if here && g.focus {
		p.ink(themes.Accent, false)
		p.dst = append(p.dst, p.theme.Glyphs.Cursor...)
	} else {
		p.end()
		p.dst = append(p.dst, ' ')
	}
	p.ink(tok, here || p.isLit(first, last))
	p.dst = append(p.dst, glyph...)
	switch {
	case count > 9:
		p.dst = append(p.dst, '+')
	case count > 1:
		p.dst = append(p.dst, '0'+byte(count))
	default:
		p.dst = append(p.dst, ' ')
	}
}

func (p *gridPen) isLit(first, last int64) bool {
	for _, c := range p.grid.lit {
		if c.First <= last && c.Last >= first {
			return true
		}
	}
	return false
}

// worst is the run that matters most of the records from first to last, nil for none, and the highest delivery count
// of the unfinished ones.
func (p *gridPen) worst(first, last int64) (worst *model.Run, count int64) {
	for len(p.runs) > 0 && p.runs[0].Last < first {
		p.runs = p.runs[1:]
	}
	for i := range p.runs {
		r := &p.runs[i]
		if r.First > last {
			break
		}
		if n, ok := r.Count.Get(); ok && !r.State.Terminal() {
			count = max(count, int64(n))
		}
		if worst == nil || gravity(r) > gravity(worst) {
			worst = r
		}
	}
	if worst != nil && worst.State.Terminal() {
		count = int64(worst.Count.Or(0))
	}
	return worst, count
}

// gravity orders what is known of records by how much it matters.
func gravity(r *model.Run) int {
	switch {
	case r.Source == model.SourceObserved:
		return 9
	case r.State == model.StateArchived:
		return 8
	case r.State == model.StateArchiving:
		return 7
	case r.State == model.StateAvailable:
		return 6
	case r.State == model.StateAcquired:
		return 5
	case r.State == model.StateAcknowledged:
		return 0
	case r.State != model.StateNone:
		return 4 // a code that we do not know
	case r.Reason == model.ReasonGone:
		return 1
	case r.Reason == model.ReasonNoOutcome:
		return 2
	}
	return 3
}

// recordGlyph is how a record is drawn.
func recordGlyph(g *themes.Glyphs, r *model.Run) (glyph string, tok themes.Token) {
	switch r.State {
	case model.StateAvailable:
		return g.Available, themes.Available
	case model.StateAcquired:
		if r.Source == model.SourceObserved {
			return g.Held, themes.Held
		}
		return g.Inferred, themes.Acquired.Inferred()
	case model.StateAcknowledged:
		return g.Acknowledged, themes.Acknowledged
	case model.StateArchiving:
		return g.Archiving, themes.Archiving
	case model.StateArchived:
		return g.Archived, themes.Archived
	case model.StateNone:
		switch r.Reason {
		case model.ReasonNoOutcome:
			return g.Undelivered, themes.Faint
		case model.ReasonGone:
			return g.Gap, themes.Faint
		}
		return unsure, themes.Muted
	}
	return "#", themes.Warning
}

// unsure is drawn for a record that was handed out and may have been forgotten since.
const unsure = "~"
