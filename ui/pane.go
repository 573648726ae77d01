package ui

import (
	"strings"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/table"
	"flightdeck/ui/text"
)

// mover is what the keys of movement act on.
type mover interface {
	Move(rows int)
	PageUp()
	PageDown()
	Home()
	End()
}

// pane is a part of a screen.
type pane interface {
	mover
	// title is its heading, with a count where it has rows.
	title() string
	restyle(*themes.Theme)
	// SetFocus says whether the keys of movement act on it.
	SetFocus(bool)
	// lines is how many lines it would like to have.
	lines() int
	// draw is exactly h lines.
	draw(theme *themes.Theme, w, h int) string
	// copied is what the copy key takes; empty for nothing. It is clean: what is pasted into a shell must not
	// press enter there.
	copied() string
}

// sorter is a pane that can be sorted.
type sorter interface {
	// sortable are the columns that it can be sorted by.
	sortable() []choice
	Sort() (id string, desc bool)
	SortBy(id string) bool
	Reverse()
}

// grid is a pane with rows.
type grid[R any] struct {
	*table.Table[R]
	columns []table.Column[R]
	// name is its heading; empty for a pane that fills its screen.
	name string
	// text is what the copy key takes of a row.
	text func(*R) string
	// blank are the lines to show instead of no rows, the first one the most important.
	blank []string
}

func newGrid[R any](name string, key func(*R) string, columns ...table.Column[R]) *grid[R] {
	return &grid[R]{Table: table.New(key, columns...), columns: columns, name: name, text: key}
}

func (g *grid[R]) title() string {
	if g.name == "" {
		return ""
	}
	return g.name + " " + model.Count(int64(g.Len()))
}

func (g *grid[R]) restyle(t *themes.Theme) { g.SetTheme(t) }

func (g *grid[R]) lines() int { return max(g.Len()+1, len(g.blank)+1) }

func (g *grid[R]) draw(theme *themes.Theme, w, h int) string {
	if g.Len() == 0 && len(g.blank) > 0 {
		return drawBlank(theme, g.blank, w, h)
	}
	g.SetSize(w, h)
	return g.View()
}

func (g *grid[R]) copied() string {
	r, ok := g.Selected()
	if !ok || g.text == nil {
		return ""
	}
	return model.Clean(g.text(r))
}

func (g *grid[R]) sortable() []choice {
	var choices []choice
	for _, c := range g.columns {
		if c.Compare != nil {
			choices = append(choices, choice{id: c.ID, title: c.Title})
		}
	}
	return choices
}

// drawBlank writes paragraphs where rows would be: what is so, and what would change it.
func drawBlank(theme *themes.Theme, paragraphs []string, w, h int) string {
	const indent = 2
	var lines []string
	if h > 8 {
		lines = append(lines, "")
	}
	for i, p := range paragraphs {
		tok := themes.Muted
		if i == 0 {
			tok = themes.Title
		}
		for _, l := range text.Wrap(p, min(w-2*indent, 90)) {
			lines = append(lines, strings.Repeat(" ", indent)+theme.Style(tok).Render(l))
		}
		if h > 8 {
			lines = append(lines, "")
		}
	}
	return strings.Join(fillLines(lines, h), "\n")
}

// fillLines cuts or extends lines to h.
func fillLines(lines []string, h int) []string {
	if len(lines) > h {
		return lines[:max(h, 0)]
	}
	for len(lines) < h {
		lines = append(lines, "")
	}
	return lines
}

// prose is a pane of text that is wrapped to the width and scrolled.
type prose struct {
	name       string
	paragraphs []paragraph
	top        int
	width      int // that wrapped is for
	wrapped    []string
	height     int
	theme      *themes.Theme
}

// paragraph is one piece of a prose. Its first line has the lead in front, the others are indented by as
// much.
type paragraph struct {
	lead string
	text string
	tok  themes.Token
	// verbatim keeps the spaces of the text, and breaks it at the width alone.
	verbatim bool
}

func (p *prose) title() string           { return p.name }
func (p *prose) SetFocus(bool)           {}
func (p *prose) restyle(t *themes.Theme) { p.theme, p.width = t, 0 }
func (p *prose) copied() string {
	var b strings.Builder
	for _, g := range p.paragraphs {
		b.WriteString(g.lead + g.text + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func (p *prose) set(paragraphs []paragraph) { p.paragraphs, p.width = paragraphs, 0 }

func (p *prose) wrap(w int) {
	if p.width == w {
		return
	}
	p.width, p.wrapped = w, p.wrapped[:0]
	for _, g := range p.paragraphs {
		style, lead := p.theme.Style(g.tok), text.Width(g.lead)
		wrap := text.Wrap
		if g.verbatim {
			wrap = text.Break
		}
		for i, l := range wrap(g.text, max(w-lead-2, 8)) {
			before := g.lead
			if i > 0 {
				before = strings.Repeat(" ", lead)
			}
			p.wrapped = append(p.wrapped, " "+style.Render(before+l))
		}
	}
}

// lines is what it took at the last width, 1 at least; before the first drawing, a guess.
func (p *prose) lines() int {
	if p.width > 0 {
		return max(len(p.wrapped), 1)
	}
	return max(len(p.paragraphs), 1)
}

func (p *prose) draw(theme *themes.Theme, w, h int) string {
	if p.theme == nil {
		p.theme = theme
	}
	p.wrap(w)
	p.height = h
	p.top = max(min(p.top, len(p.wrapped)-h), 0)
	return strings.Join(fillLines(append([]string(nil), p.wrapped[p.top:]...), h), "\n")
}

// Move, PageUp, PageDown, Home and End scroll.
func (p *prose) Move(n int) { p.top = max(min(p.top+n, len(p.wrapped)-p.height), 0) }
func (p *prose) PageUp()    { p.Move(-max(p.height-1, 1)) }
func (p *prose) PageDown()  { p.Move(max(p.height-1, 1)) }
func (p *prose) Home()      { p.top = 0 }
func (p *prose) End()       { p.Move(len(p.wrapped)) }
