package ui

import (
	"strings"

	"flightdeck/model"
	"flightdeck/themes"
)

// paned is the part of a screen that lays out panes from top to bottom. Screens embed it; its
// methods are what a screen does that has nothing to say itself.
type paned struct {
	panes []pane
	focus int
}

func (p *paned) crumb() string            { return "" }
func (p *paned) want(*model.Want)         {}
func (p *paned) group() string            { return "" }
func (p *paned) rights() model.Operations { return model.Operations{} }
func (p *paned) inside() func() screen    { return nil }

func (p *paned) focused() pane { return p.panes[p.focus] }

func (p *paned) cycle(n int) { p.focusOn((p.focus + n + len(p.panes)) % len(p.panes)) }

// focusOn gives pane i the focus.
func (p *paned) focusOn(i int) {
	p.focus = i
	for k, g := range p.panes {
		g.SetFocus(k == i)
	}
}

func (p *paned) restyle(t *themes.Theme) {
	for _, g := range p.panes {
		g.restyle(t)
	}
}

// leastPane is the height, heading included, below which a pane is not shown beside others.
const leastPane = 4

// drawPanes draws the panes in w by h cells, one under the other where they fit, or the focused
// one alone.
func (p *paned) drawPanes(a *App, w, h int) string {
	if len(p.panes) == 1 {
		return p.panes[0].draw(a.theme, w, h)
	}
	var b strings.Builder
	heights := p.heights(h)
	if heights == nil {
		p.headings(&b, a.theme, w)
		b.WriteByte('\n')
		b.WriteString(p.focused().draw(a.theme, w, max(h-1, 1)))
		return b.String()
	}
	for i, g := range p.panes {
		if i > 0 {
			b.WriteByte('\n')
		}
		p.heading(&b, a.theme, i, w)
		if heights[i] > 1 {
			b.WriteByte('\n')
			b.WriteString(g.draw(a.theme, w, heights[i]-1))
		}
	}
	return b.String()
}

// heights splits h among the panes, headings included; nil when they do not all fit. A pane gets what it would like
// to have if that is less than its part, and the last one what is left.
func (p *paned) heights(h int) []int {
	n := len(p.panes)
	heights := make([]int, n)
	left := h
	for i, g := range p.panes {
		heights[i] = min(g.lines()+1, leastPane)
		left -= heights[i]
	}
	if left < 0 {
		return nil
	}
	for open := n; left > 0 && open > 0; {
		open = 0
		part := max(left/n, 1)
		for i, g := range p.panes {
			more := min(g.lines()+1-heights[i], part, left)
			if more <= 0 {
				continue
			}
			heights[i] += more
			left -= more
			open++
		}
	}
	heights[n-1] += left
	return heights
}

// heading is the line above pane i.
func (p *paned) heading(b *strings.Builder, theme *themes.Theme, i, w int) {
	tok := themes.Header
	if i == p.focus {
		tok = themes.Accent
	}
	rule := theme.Glyphs.Horizontal
	l := line{{text: rule + " ", tok: themes.Border}, {text: p.panes[i].title(), tok: tok}, {text: " ", tok: themes.Border}}
	if rest := w - l.width(); rest > 0 {
		l = append(l, span{text: strings.Repeat(rule, rest), tok: themes.Border})
	}
	l.append(b, theme, w)
}

// headings names all panes in one line, where only the focused one is shown.
func (p *paned) headings(b *strings.Builder, theme *themes.Theme, w int) {
	var l line
	for i, g := range p.panes {
		tok := themes.Muted
		if i == p.focus {
			tok = themes.Accent
		}
		l = append(l, span{text: " ", tok: themes.Border}, span{text: g.title(), tok: tok}, span{text: " ", tok: themes.Border})
	}
	l.append(b, theme, w)
}
