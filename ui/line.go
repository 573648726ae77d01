package ui

import (
	"strings"

	"flightdeck/themes"
	"flightdeck/ui/text"
)

// span is a piece of a line in one style.
type span struct {
	text string
	tok  themes.Token
	// drop is when the span is left out of a line that is too long: the highest first, 0 never.
	drop int
}

// line is one row of text outside the tables.
type line []span

func (l line) width() int {
	w := 0
	for _, s := range l {
		w += text.Width(s.text)
	}
	return w
}

// worst is the highest drop of the line.
func (l line) worst() int {
	worst := 0
	for _, s := range l {
		worst = max(worst, s.drop)
	}
	return worst
}

// without is the line without the spans of that drop.
func (l line) without(drop int) line {
	kept := make(line, 0, len(l))
	for _, s := range l {
		if s.drop != drop {
			kept = append(kept, s)
		}
	}
	return kept
}

// append writes the line in at most w cells and returns how many it took.
func (l line) append(b *strings.Builder, theme *themes.Theme, w int) int {
	used := 0
	for _, s := range l {
		words, n := s.text, text.Width(s.text)
		if used+n > w {
			words = text.Truncate(words, w-used, theme.Glyphs.Ellipsis)
			n = text.Width(words)
		}
		if n == 0 {
			continue
		}
		style := theme.Style(s.tok)
		b.WriteString(style.Open)
		b.WriteString(words)
		b.WriteString(style.Close)
		used += n
	}
	return used
}

// spread writes left and right at the two ends of a row of w cells. Spans of both are left out by
// their drop until they fit.
func spread(b *strings.Builder, theme *themes.Theme, w int, left, right line) {
	const gap = 2
	for left.width()+right.width()+gap > w {
		l, r := left.worst(), right.worst()
		if l == 0 && r == 0 {
			break
		}
		if l >= r {
			left = left.without(l)
		} else {
			right = right.without(r)
		}
	}
	rw := right.width()
	if rw+gap >= w {
		right, rw = nil, 0
	}
	used := left.append(b, theme, w-rw-min(rw, gap))
	if rw > 0 {
		b.WriteString(strings.Repeat(" ", w-rw-used))
		right.append(b, theme, rw)
	}
}
