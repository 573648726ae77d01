package text

import "strings"

// Beside puts the lines of right, which may be styled, beside those of left, from cell x on. Lines of left that
// are longer run into right: callers draw them narrower.
func Beside(left, right string, x int) string {
	var b strings.Builder
	b.Grow(len(left) + len(right) + 256)
	var buf [256]byte
	for left, right, more := left, right, true; more; {
		var l, r string
		var lmore, rmore bool
		l, left, lmore = strings.Cut(left, "\n")
		r, right, rmore = strings.Cut(right, "\n")
		b.WriteString(l)
		if r != "" {
			b.Write(AppendSpaces(buf[:0], x-Width(l)))
			b.WriteString(r)
		}
		if more = lmore || rmore; more {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
