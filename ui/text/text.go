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
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/clipperhouse/displaywidth"
	"github.com/clipperhouse/uax29/v2/graphemes"
)

// maxCluster is how many bytes of a grapheme cluster are kept. The longest in use are emoji
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
	if w > 0 && len(s) <= w && printableASCII(s) {
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
	start, used := len(dst), 0
	// The ellipsis replaces what follows cut, the last place where it would still fit.
	cut, cutUsed := start, 0
	tail := Width(ellipsis)
	if tail > w {
		ellipsis, tail = "", 0
	}
	for len(s) > 0 {
		cluster, cells := next(s)
		if used+cells > w {
			dst = append(dst[:cut], ellipsis...)
			return dst, cutUsed + tail
		}
		dst = appendCluster(dst, cluster)
		used += cells
		if used+tail <= w {
			cut, cutUsed = len(dst), used
		}
		s = s[len(cluster):]
	}
	return dst, used
}

// next is the first grapheme cluster of plain text and the cells that appendCluster makes of it.
func next(s string) (cluster string, cells int) {
	if s[0] < utf8.RuneSelf && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return s[:1], 1
	}
	it := graphemes.FromString(s)
	it.Next()
	cluster = it.Value()
	if isControl(cluster) {
		_, size := utf8.DecodeRuneInString(cluster)
		return cluster[:size], 1
	}
	if n := displaywidth.String(cluster); n > 0 {
		return cluster, n
	}
	return cluster, 0
}

// appendCluster appends what stands for a cluster on the screen.
func appendCluster(dst []byte, cluster string) []byte {
	if isControl(cluster) {
		return append(dst, '?')
	}
	if len(cluster) > maxCluster {
		_, size := utf8.DecodeRuneInString(cluster)
		cluster = cluster[:size]
	}
	return append(dst, cluster...)
}

// isControl reports whether a cluster starts with a C0 or C1 control character or a byte that is
// not UTF-8, which some terminals take for a C1 control.
func isControl(cluster string) bool {
	r, size := utf8.DecodeRuneInString(cluster)
	return r < 0x20 || r >= 0x7f && r < 0xa0 || r == utf8.RuneError && size <= 1
}

// printableASCII reports whether s is plain ASCII without control characters.
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
	for word := range strings.FieldsSeq(s) {
		cells := plainWidth(word)
		if used > 0 && used+1+cells > w {
			lines, line, used = append(lines, string(line)), line[:0], 0
		}
		if used > 0 {
			line, used = append(line, ' '), used+1
		}
		for len(word) > 0 {
			cluster, n := next(word)
			if used > 0 && used+n > w {
				lines, line, used = append(lines, string(line)), line[:0], 0
			}
			if n <= w {
				line, used = appendCluster(line, cluster), used+n
			}
			word = word[len(cluster):]
		}
	}
	return append(lines, string(line))
}

// plainWidth is the number of cells that AppendTruncated makes of plain text.
func plainWidth(s string) int {
	if printableASCII(s) {
		return len(s)
	}
	n := 0
	for len(s) > 0 {
		cluster, cells := next(s)
		n += cells
		s = s[len(cluster):]
	}
	return n
}
