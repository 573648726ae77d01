package text

import (
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// Splice lays styled text over a styled line from cell x on. What is left of the line keeps its
// cells and styles; a wide character that is half covered becomes a space.
func Splice(line, over string, x int) string {
	if x < 0 {
		over, x = ansi.TruncateLeft(over, -x, ""), 0
	}
	width := Width(over)
	head := ansi.Truncate(line, x, "")
	b := append([]byte(nil), head...)
	b = AppendSpaces(b, x-Width(head))
	b = append(b, over...)
	if rest := Width(line) - x - width; rest > 0 {
		tail := ansi.TruncateLeft(line, x+width, "")
		b = AppendSpaces(b, rest-Width(tail))
		// Half of a wide character was kept: it goes.
		if extra := Width(tail) - rest; extra > 0 {
			tail = ansi.TruncateLeft(line, x+width+extra, "")
			b = AppendSpaces(b, rest-Width(tail))
		}
		b = append(b, tail...)
	}
	return string(b)
}

// Place lays a box of styled lines over a frame with its upper left corner at cell x of line y.
// Lines of the box that would be outside the frame are left out.
func Place(frame, box string, x, y int) string {
	lines := strings.Split(frame, "\n")
	for i, over := range strings.Split(box, "\n") {
		if at := y + i; at >= 0 && at < len(lines) {
			lines[at] = Splice(lines[at], over, x)
		}
	}
	return strings.Join(lines, "\n")
}

// Center lays a box over the middle of a frame of w by h cells.
func Center(frame, box string, w, h int) string {
	width, lines := 0, strings.Split(box, "\n")
	for _, l := range lines {
		width = max(width, Width(l))
	}
	return Place(frame, box, max((w-width)/2, 0), max((h-len(lines))/2, 0))
}
