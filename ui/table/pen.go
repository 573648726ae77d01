package table

import (
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// pen writes one line from left to right. Blank cells are put together and never take the style of
// a neighbour, so that no underline runs on behind a word.
type pen struct {
	dst      []byte
	used     int // cells
	pending  int // of them blank and not yet written
	blank    themes.Style
	ellipsis string
}

// skip leaves n cells blank.
func (p *pen) skip(n int) {
	p.used += n
	p.pending += n
}

// flag writes a glyph of one cell, or leaves it blank.
func (p *pen) flag(set bool, glyph string, s themes.Style) {
	if !set {
		p.skip(1)
		return
	}
	p.flush()
	p.dst = s.Append(p.dst, glyph)
	p.used++
}

// cell writes text into w cells.
func (p *pen) cell(s string, style themes.Style, w int, right bool) {
	if s == "" || w <= 0 {
		p.skip(max(w, 0))
		return
	}
	var buf [128]byte
	shown, n := text.AppendTruncated(buf[:0], s, w, p.ellipsis)
	if right {
		p.skip(w - n)
	}
	p.flush()
	p.dst = append(p.dst, style.Open...)
	p.dst = append(p.dst, shown...)
	p.dst = append(p.dst, style.Close...)
	p.used += n
	if !right {
		p.skip(w - n)
	}
}

// noted writes text and a note behind it into w cells. Where both do not fit the text is cut.
func (p *pen) noted(s string, style themes.Style, note string, faint themes.Style, w int) {
	words := min(text.Cells(s, w), w-1-text.Cells(note, w))
	if words <= 0 {
		p.cell(s, style, w, false)
		return
	}
	p.cell(s, style, words, false)
	p.skip(1)
	p.cell(note, faint, w-words-1, false)
}

// flush writes the blank cells that are pending.
func (p *pen) flush() {
	if p.pending > 0 {
		p.dst = append(p.dst, p.blank.Open...)
		p.dst = text.AppendSpaces(p.dst, p.pending)
		p.dst = append(p.dst, p.blank.Close...)
		p.pending = 0
	}
}

// end fills the line up to width and returns it.
func (p *pen) end(width int) []byte {
	if width > p.used {
		p.skip(width - p.used)
	}
	p.flush()
	return p.dst
}
