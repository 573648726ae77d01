package model

import (
	"strconv"
	"strings"
	"unicode"
)

// Clean makes text from Kafka safe to show on one line of a terminal: control, C1, bidi and
// zero-width characters and invalid UTF-8 become visible escapes.
func Clean(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }) < 0 {
		return s
	}
	q := strconv.QuoteToGraphic(s)
	return strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
}
