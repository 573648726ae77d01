package ui

import (
	"strings"
	"time"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// arrow is a transition of the state machine that is drawn.
type arrow uint8

const (
	arrowAcquire arrow = iota
	arrowAccept
	arrowRelease
	arrowArchive
	arrows
)

// machine draws the states of records with their counts, and the transitions with their rates.
type machine struct {
	counts [stateBoxes]int64
	// known is false when there is nothing to count.
	known bool
	// blind is true when nothing but our own holds is known.
	blind bool
	rates model.Opt[model.ShareRates]
	// lit are the arrows that have just fired.
	lit [arrows]bool
}

// stateBox is a place of the machine that records are in.
type stateBox uint8

const (
	boxNone stateBox = iota // no outcome recorded
	boxUnsure
	boxAvailable
	boxInferred
	boxObserved
	boxAcknowledged
	boxArchiving
	boxArchived
	boxOther
	stateBoxes
)

// set takes the counts of a window; nil for none.
func (m *machine) set(w *model.ShareWindow) {
	m.counts, m.known = [stateBoxes]int64{}, w != nil
	if w == nil {
		return
	}
	for i := range w.Runs {
		r := &w.Runs[i]
		m.counts[boxOf(r)] += r.Len()
	}
}

func boxOf(r *model.Run) stateBox {
	switch r.State {
	case model.StateNone:
		if r.Reason == model.ReasonNoOutcome {
			return boxNone
		}
		return boxUnsure
	case model.StateAvailable:
		return boxAvailable
	case model.StateAcquired:
		if r.Source == model.SourceObserved {
			return boxObserved
		}
		return boxInferred
	case model.StateAcknowledged:
		return boxAcknowledged
	case model.StateArchiving:
		return boxArchiving
	case model.StateArchived:
		return boxArchived
	}
	return boxOther
}

// fire lights the arrows of what happened.
func (m *machine) fire(t model.ShareTally) {
	m.lit[arrowAcquire] = m.lit[arrowAcquire] || t.Acquired > 0
	m.lit[arrowAccept] = m.lit[arrowAccept] || t.Accepted > 0
	m.lit[arrowRelease] = m.lit[arrowRelease] || t.Released > 0
	m.lit[arrowArchive] = m.lit[arrowArchive] || t.Archived+t.Archiving > 0
}

func (m *machine) dark() { m.lit = [arrows]bool{} }

// count writes how many records are in a state; those of acquired are concluded and marked.
func (m *machine) count(box stateBox) string {
	if !m.known || m.blind {
		return model.Unknown
	}
	return model.ShortCount(m.counts[box])
}

// acquired counts what is out: inferred with a mark, and our own holds beside it, never in one number.
func (m *machine) acquired(g *themes.Glyphs) string {
	if !m.known {
		return model.Unknown
	}
	s := model.Unknown
	if !m.blind {
		s = model.ShortCount(m.counts[boxInferred]) + "*"
	}
	if n := m.counts[boxObserved]; n > 0 {
		s = model.ShortCount(n) + g.Held + " " + s
	}
	return s
}

func (m *machine) rate(of func(model.ShareRates) float64) string {
	r, ok := m.rates.Get()
	if !ok {
		return ""
	}
	return model.Rate(of(r))
}

// The size of the whole machine.
const machineWidth, machineHeight = 48, 15

// draw draws the machine in w by h cells: as a picture where it fits, as a list otherwise.
func (m *machine) draw(theme *themes.Theme, w, h int) string {
	if w >= machineWidth && h >= machineHeight {
		return m.picture(theme, w, h)
	}
	lines := m.list(theme)
	var b strings.Builder
	for i := range h {
		if i > 0 {
			b.WriteByte('\n')
		}
		if i < len(lines) {
			lines[i].append(&b, theme, w)
		}
	}
	return b.String()
}

// list is the machine in lines of words.
func (m *machine) list(theme *themes.Theme) []line {
	g := &theme.Glyphs
	state := func(glyph, name, count string, tok themes.Token) line {
		return line{{text: " " + glyph + " ", tok: tok}, {text: text.PadRight(name, 22, ""), tok: tok}, {text: text.PadLeft(count, 6, ""), tok: themes.Text}}
	}
	fired := func(l line, a arrow, words string) line {
		tok := themes.Muted
		if m.lit[a] {
			tok = themes.Accent
		}
		return append(l, span{text: "   "}, span{text: words, tok: tok})
	}
	lines := []line{
		state(g.Undelivered, "no outcome recorded", m.count(boxNone), themes.Muted),
		fired(state(g.Available, "available", m.count(boxAvailable), themes.Available), arrowRelease, "release "+m.rate(released)),
		fired(state(g.Inferred, "acquired", m.acquired(g), themes.Acquired.Inferred()), arrowAcquire, "acquire "+m.rate(acquired)),
		fired(state(g.Acknowledged, "acknowledged", m.count(boxAcknowledged), themes.Acknowledged), arrowAccept, "accept "+m.rate(accepted)),
		fired(state(g.Archived, "archived", m.count(boxArchived), themes.Archived), arrowArchive, "reject, limit "+m.rate(archived)),
	}
	return append(lines, m.rest(g)...)
}

// rest are the states that are rare, and what the mark means.
func (m *machine) rest(g *themes.Glyphs) []line {
	var lines []line
	if n := m.counts[boxUnsure]; n > 0 {
		lines = append(lines, line{{text: " " + unsure + " handed out before a leader change, now unknown: " + model.ShortCount(n), tok: themes.Muted}})
	}
	if n := m.counts[boxArchiving]; n > 0 {
		lines = append(lines, line{{text: " " + g.Archiving + " archiving, on the way to the dead-letter topic: " + model.ShortCount(n), tok: themes.Archiving}})
	}
	if n := m.counts[boxOther]; n > 0 {
		lines = append(lines, line{{text: " # in a state that flightdeck does not know: " + model.ShortCount(n), tok: themes.Warning}})
	}
	if m.counts[boxObserved] > 0 {
		return append(lines, line{{text: " " + g.Held + " held by us", tok: themes.Held}, {text: "  * inferred: no outcome yet", tok: themes.Faint}})
	}
	return append(lines, line{{text: " * inferred: handed out, no outcome yet", tok: themes.Faint}})
}

func acquired(r model.ShareRates) float64 { return r.Acquired }
func accepted(r model.ShareRates) float64 { return r.Accepted }
func released(r model.ShareRates) float64 { return r.Released }
func archived(r model.ShareRates) float64 { return r.Archived }

// rateSpan is the time over which the rates of the machine are taken.
const rateSpan = 30 * time.Second

// picture draws states as boxes and transitions as arrows between them.
func (m *machine) picture(theme *themes.Theme, w, h int) string {
	g := &theme.Glyphs
	c := newCanvas(w, h)
	tok := func(a arrow) themes.Token {
		if m.lit[a] {
			return themes.Accent
		}
		return themes.Muted
	}
	c.put(1, 0, g.Undelivered+" no outcome recorded "+m.count(boxNone), themes.Muted)
	c.put(10, 1, g.Down, themes.Muted)
	c.box(g, 1, 2, 21, themes.Available, g.Available+" AVAILABLE", m.count(boxAvailable))

	// acquire: from available to the right and down
	t := tok(arrowAcquire)
	c.horizontal(g, 22, 33, 3, t)
	c.put(34, 3, g.TopRight, t)
	c.put(34, 4, g.Vertical, t)
	c.put(34, 5, g.Down, t)
	c.put(24, 2, "acquire "+m.rate(acquired), t)
	c.box(g, 24, 6, 21, themes.Acquired, g.Inferred+" ACQUIRED", m.acquired(g))

	// release: from acquired to the left and up
	t = tok(arrowRelease)
	c.put(8, 5, g.Up, t)
	c.put(8, 6, g.Vertical, t)
	c.put(8, 7, g.BottomLeft, t)
	c.horizontal(g, 9, 23, 7, t)
	c.put(10, 6, "release "+m.rate(released), t)
	c.put(10, 8, "or lock lost", t)

	// accept and give up
	t = tok(arrowAccept)
	c.put(27, 9, g.Vertical, t)
	c.put(27, 10, g.BottomRight, t)
	c.horizontal(g, 11, 26, 10, t)
	c.put(10, 10, g.TopLeft, t)
	c.put(10, 11, g.Down, t)
	c.put(12, 9, "accept "+m.rate(accepted), t)
	c.box(g, 1, 12, 21, themes.Acknowledged, g.Acknowledged+" ACKNOWLEDGED", m.count(boxAcknowledged))
	t = tok(arrowArchive)
	c.put(34, 9, g.Vertical, t)
	c.put(34, 10, g.Vertical, t)
	c.put(34, 11, g.Down, t)
	c.put(36, 10, "reject or", t)
	c.put(36, 11, "limit "+m.rate(archived), t)
	c.box(g, 24, 12, 21, themes.Archived, g.Archived+" ARCHIVED", m.count(boxArchived))
	for i, l := range m.rest(g) {
		x := 0
		for _, s := range l {
			c.put(x, machineHeight+i, s.text, s.tok)
			x += text.Width(s.text)
		}
	}
	return c.render(theme)
}

// canvas is a sheet of cells to draw on.
type canvas struct {
	w, h  int
	cells []canvasCell
}

type canvasCell struct {
	glyph string // one cell wide; empty is blank
	tok   themes.Token
}

func newCanvas(w, h int) *canvas { return &canvas{w, h, make([]canvasCell, w*h)} }

// put writes text whose characters are one cell wide each; what is outside is cut.
func (c *canvas) put(x, y int, s string, tok themes.Token) {
	if y < 0 || y >= c.h {
		return
	}
	for _, r := range s {
		if x >= 0 && x < c.w {
			c.cells[y*c.w+x] = canvasCell{string(r), tok}
		}
		x++
	}
}

func (c *canvas) horizontal(g *themes.Glyphs, from, to, y int, tok themes.Token) {
	c.put(from, y, strings.Repeat(g.Horizontal, to-from+1), tok)
}

// box draws a frame of w by 3 cells with a name at the left and a number at the right.
func (c *canvas) box(g *themes.Glyphs, x, y, w int, tok themes.Token, name, count string) {
	c.put(x, y, g.TopLeft, tok)
	c.horizontal(g, x+1, x+w-2, y, tok)
	c.put(x+w-1, y, g.TopRight, tok)
	c.put(x, y+1, g.Vertical, tok)
	c.put(x+w-1, y+1, g.Vertical, tok)
	c.put(x, y+2, g.BottomLeft, tok)
	c.horizontal(g, x+1, x+w-2, y+2, tok)
	c.put(x+w-1, y+2, g.BottomRight, tok)
	left, right := x+2, x+w-2-text.Width(count)
	if right <= left+text.Width(name) { // no room for blanks inside of the frame
		left, right = left-1, right+1
	}
	c.put(left, y+1, name, tok)
	c.put(right, y+1, count, themes.Text)
}

func (c *canvas) render(theme *themes.Theme) string {
	var b strings.Builder
	b.Grow(len(c.cells) * 2)
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		row := c.cells[y*c.w : (y+1)*c.w]
		for len(row) > 0 && row[len(row)-1].glyph == "" {
			row = row[:len(row)-1]
		}
		for x := 0; x < len(row); {
			end := x + 1
			for end < len(row) && row[end].tok == row[x].tok && (row[end].glyph == "") == (row[x].glyph == "") {
				end++
			}
			style := theme.Style(row[x].tok)
			if row[x].glyph != "" {
				b.WriteString(style.Open)
			}
			for _, cell := range row[x:end] {
				if cell.glyph == "" {
					b.WriteByte(' ')
				} else {
					b.WriteString(cell.glyph)
				}
			}
			if row[x].glyph != "" {
				b.WriteString(style.Close)
			}
			x = end
		}
	}
	return b.String()
}
