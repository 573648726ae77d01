// Package spark draws numbers as small pictures inside a line of text: a curve over time and a
// gauge.
//
// # Rules
//
//   - Scales begin at zero, so that a flat line is low when the values are 0 and a small change of a
//     large value looks small.
//   - An unknown sample is a gap, never a zero.
package spark

import (
	"math"
	"unicode/utf8"

	"flightdeck/themes"
)

// levels is how many heights a sample has: the lowest is 0, the second anything above it.
const levels = 4

// left and right are the dots of a braille pattern's columns for each height.
var (
	left  = [levels + 1]rune{0, 0x40, 0x44, 0x46, 0x47}
	right = [levels + 1]rune{0, 0x80, 0xa0, 0xb0, 0xb8}
)

const (
	braille = 0x2800
	ascii   = " _-=#"
)

// Line draws the latest of n samples, oldest first, as a curve of exactly that many cells, flush
// right. at is a sample and whether it is known; values below 0 count as 0. Braille patterns hold two
// samples a cell, ASCII one.
func Line(n int, at func(i int) (value float64, known bool), cells int, g *themes.Glyphs) string {
	if cells <= 0 {
		return ""
	}
	slots := cells
	if g.Braille {
		slots *= 2
	}
	first := n - slots // negative: the first slots are gaps
	top := 0.0
	for i := max(first, 0); i < n; i++ {
		if v, known := at(i); known && !math.IsNaN(v) {
			top = max(top, v)
		}
	}
	level := func(slot int) int {
		i := first + slot
		if i < 0 {
			return 0
		}
		v, known := at(i)
		switch {
		case !known || math.IsNaN(v):
			return 0
		case v <= 0:
			return 1
		case math.IsInf(v, 1):
			return levels
		}
		return min(1+int(math.Ceil(v/top*(levels-1))), levels)
	}
	b := make([]byte, 0, cells*3)
	for c := range cells {
		if !g.Braille {
			b = append(b, ascii[level(c)])
			continue
		}
		if dots := left[level(2*c)] | right[level(2*c+1)]; dots != 0 {
			b = utf8.AppendRune(b, braille|dots)
		} else {
			b = append(b, ' ')
		}
	}
	return string(b)
}

// Gauge draws used of limit in exactly that many cells. Anything above 0 fills a cell, and only the
// limit or more fills all of them.
func Gauge(used, limit int64, cells int, g *themes.Glyphs) string {
	if cells <= 0 {
		return ""
	}
	full := 0
	switch {
	case used <= 0:
	case limit <= 0 || used >= limit:
		full = cells
	default:
		full = int(math.Round(float64(used) / float64(limit) * float64(cells)))
		full = max(min(full, cells-1), 1)
	}
	b := make([]byte, 0, cells*3)
	for c := range cells {
		if c < full {
			b = append(b, g.Full...)
		} else {
			b = append(b, g.Empty...)
		}
	}
	return string(b)
}
