// Package text measures, cuts and pads text in terminal cells.
//
// # Vocabulary
//
// A cell is one column of one line of the terminal. Plain text has no escape sequences; styled text
// may have them, and they take no cells.
//
// # Rules
//
//   - Callers clean untrusted text before. Functions for plain text hold their width all the same:
//     a control character becomes "?" and what a terminal might draw over its neighbours is cut.
//   - Text is taken apart at grapheme clusters, never inside one.
package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// maxCluster is how many bytes of a grapheme cluster are kept together. The longest in use are emoji
// families of about 40 bytes; what is longer is a pile of combining marks.
const maxCluster = 48

// Width is the number of cells that plain or styled text takes.
func Width(s string) int {
	if printableASCII(s) {
		return len(s)
	}
	return ansi.StringWidth(s)
}

// Truncate cuts plain text to at most w cells and ends it in the ellipsis where something was cut.
func Truncate(s string, w int, ellipsis string) string {
	if len(s) <= w && printableASCII(s) {
		return s
	}
	b, _ := AppendTruncated(nil, s, w, ellipsis)
	return string(b)
}

// PadRight cuts or fills plain text to exactly w cells, text first.
func PadRight(s string, w int, ellipsis string) string {
	return string(AppendFit(nil, s, w, false, ellipsis))
}

// PadLeft cuts or fills plain text to exactly w cells, text last.
func PadLeft(s string, w int, ellipsis string) string {
	return string(AppendFit(nil, s, w, true, ellipsis))
}

// AppendFit appends plain text to dst, cut or filled to exactly w cells, flush right if right.
func AppendFit(dst []byte, s string, w int, right bool, ellipsis string) []byte {
	if w <= 0 {
		return dst
	}
	start := len(dst)
	dst, n := AppendTruncated(dst, s, w, ellipsis)
	if !right {
		return AppendSpaces(dst, w-n)
	}
	end := len(dst)
	dst = AppendSpaces(dst, w-n)
	if pad := len(dst) - end; pad > 0 && end > start {
		copy(dst[start+pad:], dst[start:end])
		for i := range pad {
			dst[start+i] = ' '
		}
	}
	return dst
}

// AppendSpaces appends n spaces to dst.
func AppendSpaces(dst []byte, n int) []byte {
	const spaces = "                                                                "
	for n > len(spaces) {
		dst = append(dst, spaces...)
		n -= len(spaces)
	}
	if n > 0 {
		dst = append(dst, spaces[:n]...)
	}
	return dst
}

// AppendTruncated appends plain text to dst, cut to at most w cells, and returns the number of
// cells that it took.
func AppendTruncated(dst []byte, s string, w int, ellipsis string) ([]byte, int) {
	if w <= 0 {
		return dst, 0
	}
	if len(s) <= w && printableASCII(s) {
		return append(dst, s...), len(s)
	}
	tail := Width(ellipsis)
	if tail > w {
		ellipsis, tail = "", 0
	}
	used := 0
	end, endUsed := len(dst), 0 // the last place where the ellipsis fits behind
	for len(s) > 0 {
		cluster, shown, cells := next(s)
		if used+cells > w {
			return append(dst[:end], ellipsis...), endUsed + tail
		}
		dst = append(dst, shown...)
		used += cells
		if used+tail <= w {
			end, endUsed = len(dst), used
		}
		s = s[len(cluster):]
	}
	return dst, used
}

// Cells is the number of cells that plain text takes when it is drawn by this package. It stops
// counting at the limit, however long the text is.
func Cells(s string, limit int) int {
	n := 0
	for n < limit && len(s) > 0 {
		cluster, _, cells := next(s)
		n += cells
		s = s[len(cluster):]
	}
	return min(n, limit)
}

// next is the first grapheme cluster of plain text, what to show for it, and the cells it takes.
//
// Terminals count some clusters by their first character and some by the sum of all (Thai and
// Indic vowel signs, skin tones), and the renderer follows the terminal. The larger of both is
// taken, so that a line is never too long.
func next(s string) (cluster, shown string, cells int) {
	const hidden = "?"
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		if s[0] < 0x20 || s[0] == 0x7f {
			return s[:1], hidden, 1
		}
		return s[:1], s[:1], 1
	}
	first, size := utf8.DecodeRuneInString(s)
	// A mark without a base would join what stands before it.
	if first == utf8.RuneError && size == 1 || unicode.IsMark(first) || !unicode.IsPrint(first) && !unicode.Is(unicode.Zs, first) {
		return s[:size], hidden, 1
	}
	// A cluster of more than maxCluster bytes is cut there, without looking for its end.
	it := graphemes.FromString(s[:min(len(s), maxCluster)])
	it.Next()
	cluster = it.Value()
	for len(cluster) > size && !utf8.ValidString(cluster) {
		cluster = cluster[:len(cluster)-1]
	}
	shown = cluster
	cells = max(ansi.StringWidth(shown), ansi.StringWidthWc(shown))
	if cells == 0 {
		return cluster, hidden, 1
	}
	return cluster, shown, cells
}

// printableASCII reports whether s is ASCII without control characters.
func printableASCII(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// Wrap breaks plain text into lines of at most w cells, between words where it can. Line ends in
// the text stay line ends.
func Wrap(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	for paragraph := range strings.SplitSeq(s, "\n") {
		lines = append(lines, wrapParagraph(paragraph, w)...)
	}
	return lines
}

func wrapParagraph(s string, w int) []string {
	var lines []string
	var line []byte
	used := 0
	end := func() { lines, line, used = append(lines, string(line)), line[:0], 0 }
	for word := range strings.FieldsSeq(s) {
		if used > 0 && used+1+Cells(word, w) > w {
			end()
		}
		if used > 0 {
			line, used = append(line, ' '), used+1
		}
		for len(word) > 0 {
			cluster, shown, cells := next(word)
			if used > 0 && used+cells > w {
				end()
			}
			if cells <= w {
				line, used = append(line, shown...), used+cells
			}
			word = word[len(cluster):]
		}
	}
	end()
	return lines
}

// Break breaks plain text into lines of at most w cells wherever that is, and keeps its spaces.
func Break(s string, w int) []string {
	if w <= 0 {
		return nil
	}
	var lines []string
	var line []byte
	used := 0
	for len(s) > 0 {
		cluster, shown, cells := next(s)
		if used > 0 && used+cells > w {
			lines, line, used = append(lines, string(line)), line[:0], 0
		}
		if cells <= w {
			line, used = append(line, shown...), used+cells
		}
		s = s[len(cluster):]
	}
	return append(lines, string(line))
}
