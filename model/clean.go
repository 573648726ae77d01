package model

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxMarks is how many combining marks a character keeps. Two are enough for Vietnamese, four for the
// Indic and Semitic scripts; a pile of marks beyond that would draw over the lines above and below.
const maxMarks = 4

// Clean makes text from Kafka safe to show on one line of a terminal. What is printable stays as it
// is, wide characters included; everything else becomes a visible escape of Go's kind, such as \n,
// \x1b, \u202e, or \xff for a byte that is not UTF-8:
//
//   - control characters, C1 included, line and paragraph separators, bidi controls;
//   - what takes no room: zero-width characters, variation selectors, fillers;
//   - spaces other than U+0020 and the wide one of East Asian text, since they pass for it;
//   - private and unassigned characters, whose look and width nobody knows;
//   - flags and skin tones, whose width depends on the terminal, so that text measured in one way
//     is drawn in the same width everywhere;
//   - combining marks without a character to sit on, and all beyond the fourth on one character.
//
// Backslashes are left alone: Clean(Clean(s)) == Clean(s), and a path stays readable. The result is
// not cut to a length; that is for whoever knows the width.
func Clean(s string) string {
	if i := firstUnclean(s); i < len(s) {
		return cleanFrom(s, i)
	}
	return s
}

// firstUnclean is the index of the first byte that Clean has to look at closely: anything but printable
// ASCII. It is len(s) for nearly every id there is.
func firstUnclean(s string) int {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < ' ' || c > '~' {
			return i
		}
	}
	return len(s)
}

func cleanFrom(s string, i int) string {
	var b strings.Builder
	b.Grow(len(s) + 16)
	b.WriteString(s[:i])
	// marks counts those on the present character; a mark needs one that was not escaped.
	marks, base := 0, i > 0
	for i < len(s) {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			writeByteEscape(&b, s[i])
			base = false
		case stacks(r):
			marks++
			if !base || marks > maxMarks {
				writeEscape(&b, r)
				base = false
			} else {
				b.WriteString(s[i : i+size])
			}
		case shows(r):
			b.WriteString(s[i : i+size])
			marks, base = 0, true
		default:
			writeEscape(&b, r)
			base = false
		}
		i += size
	}
	return b.String()
}

// shows reports whether r has a look and a width of its own.
func shows(r rune) bool {
	switch {
	case r < 0x7f:
		return r >= ' '
	case r == '\u3000':
		return true
	case r == '\u2800', r >= 0x1f1e6 && r <= 0x1f1ff, r >= 0x1f3fb && r <= 0x1f3ff:
		// Braille blank, regional indicators, skin tones.
		return false
	}
	return unicode.IsPrint(r) && !unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}

// stacks reports whether r is drawn on top of the character before it: combining marks, and the vowels and
// final consonants of decomposed Hangul.
func stacks(r rune) bool {
	if r < 0x300 {
		return false
	}
	if r > 0x1160 && r <= 0x11ff || r >= 0xd7b0 && r <= 0xd7fb {
		return true
	}
	return unicode.In(r, unicode.Mn, unicode.Me, unicode.Mc) && shows(r)
}

const hexDigits = "0123456789abcdef"

func writeByteEscape(b *strings.Builder, c byte) {
	b.WriteString(`\x`)
	b.WriteByte(hexDigits[c>>4])
	b.WriteByte(hexDigits[c&0xf])
}

func writeEscape(b *strings.Builder, r rune) {
	digits := 4
	switch {
	case r == '\n':
		b.WriteString(`\n`)
		return
	case r == '\r':
		b.WriteString(`\r`)
		return
	case r == '\t':
		b.WriteString(`\t`)
		return
	case r < 0x80:
		writeByteEscape(b, byte(r))
		return
	case r > 0xffff:
		b.WriteString(`\U`)
		digits = 8
	default:
		b.WriteString(`\u`)
	}
	for shift := (digits - 1) * 4; shift >= 0; shift -= 4 {
		b.WriteByte(hexDigits[r>>shift&0xf])
	}
}
