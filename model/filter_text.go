package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// filterToken is one term of a filter, taken apart but not yet understood.
type filterToken struct {
	// column is that of its first character, from 1.
	column     int
	not, fuzzy bool
	// key and op are empty in a term without a key.
	key, op, value string
	// quoted is true when any of the value stood in quotes.
	quoted bool
}

func (t filterToken) errorf(format string, args ...any) error {
	return &FilterError{t.column, fmt.Sprintf("at %d: ", t.column) + fmt.Sprintf(format, args...)}
}

// filterTokens splits a filter into its terms.
func filterTokens(s string) ([]filterToken, error) {
	var tokens []filterToken
	column := 1
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if unicode.IsSpace(r) {
			s, column = s[size:], column+1
			continue
		}
		t, rest, err := nextToken(s, column)
		if err != nil {
			return nil, err
		}
		tokens = append(tokens, t)
		column += utf8.RuneCountInString(s[:len(s)-len(rest)])
		s = rest
	}
	return tokens, nil
}

// nextToken takes the term at the start of s, which is no space.
func nextToken(s string, column int) (t filterToken, rest string, err error) {
	t.column = column
	if s, t.not = strings.CutPrefix(s, "!"); !t.not || !strings.HasPrefix(s, "=") {
		if key, op, after := cutOperator(s); op != "" {
			t.key, t.op, s = strings.ToLower(key), op, after
		} else {
			s, t.fuzzy = strings.CutPrefix(s, "~")
		}
	}
	var value strings.Builder
	inQuotes := false
	for i, r := range s {
		switch {
		case r == '"':
			inQuotes, t.quoted = !inQuotes, true
		case !inQuotes && unicode.IsSpace(r):
			t.value = value.String()
			return t, s[i:], t.check()
		default:
			value.WriteString(s[i : i+utf8Len(s[i:])])
		}
	}
	if inQuotes {
		return t, "", t.errorf("a quote is not closed; add a \" at its end")
	}
	t.value = value.String()
	return t, "", t.check()
}

// utf8Len is the length of the first character of s; an invalid byte counts as one.
func utf8Len(s string) int {
	_, n := utf8.DecodeRuneInString(s)
	return n
}

func (t filterToken) check() error {
	switch {
	case t.op != "" || t.value != "":
		return nil
	case t.fuzzy:
		return t.errorf("~ needs the characters to look for after it, such as ~ords")
	case t.not:
		return t.errorf("! needs the term to exclude after it, such as !audit or !state=empty")
	}
	return nil
}

// cutOperator splits s at an operator that follows a key of letters, underscores and hyphens. What does not begin so has no
// operator: it is plain text.
func cutOperator(s string) (key, op, after string) {
	n := strings.IndexFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && r != '_' && r != '-' })
	if n <= 0 {
		return "", "", s
	}
	for _, op := range [...]string{">=", "<=", "!=", ">", "<", "="} {
		if after, ok := strings.CutPrefix(s[n:], op); ok {
			return s[:n], op, after
		}
	}
	return "", "", s
}

// parseNumber reads 1000, 12,480, 12_480, 1.5k, 3m and 2g, which are thousands, millions and
// thousands of millions.
func parseNumber(s string) (float64, bool) {
	s = strings.NewReplacer(",", "", "_", "").Replace(strings.ToLower(s))
	scale := 1.0
	if n := len(s) - 1; n > 0 {
		switch s[n] {
		case 'k':
			scale, s = 1e3, s[:n]
		case 'm':
			scale, s = 1e6, s[:n]
		case 'g':
			scale, s = 1e9, s[:n]
		}
	}
	// ParseFloat takes more than numbers that a person types: NaN, hex, infinities.
	if strings.Trim(s, "0123456789.-") != "" {
		return 0, false
	}
	v, err := strconv.ParseFloat(s, 64)
	return v * scale, err == nil
}

// parseSpan reads what [Duration] writes, and plain numbers as seconds.
func parseSpan(s string) (time.Duration, bool) {
	s = strings.ToLower(s)
	if strings.Trim(s, "0123456789.") == "" {
		s += "s"
	}
	var days time.Duration
	if n, after, ok := strings.Cut(s, "d"); ok {
		v, err := strconv.ParseUint(n, 10, 16)
		if err != nil {
			return 0, false
		}
		if days, s = time.Duration(v)*24*time.Hour, after; s == "" {
			return days, true
		}
	}
	d, err := time.ParseDuration(s)
	return days + d, err == nil
}

// containsFold returns a function that reports whether a text contains part, upper and lower case alike.
func containsFold(part string) func(string) bool {
	part = strings.ToLower(part)
	return func(s string) bool { return strings.Contains(strings.ToLower(s), part) }
}

// fuzzyMatch returns a function that reports whether a text has all characters of pattern in that
// order.
func fuzzyMatch(pattern string) func(string) bool {
	want := []rune(strings.ToLower(pattern))
	return func(s string) bool {
		n := 0
		for _, r := range strings.ToLower(s) {
			if n < len(want) && r == want[n] {
				n++
			}
		}
		return n == len(want)
	}
}

// matchWhole returns a function that reports whether a text is the pattern or fits it as a glob, upper
// and lower case alike.
func matchWhole(pattern string) (func(string) bool, error) {
	if !strings.ContainsAny(pattern, "*?[") {
		return func(s string) bool { return strings.EqualFold(s, pattern) }, nil
	}
	match, err := ParseGlob(strings.ToLower(pattern))
	if err != nil {
		return nil, err
	}
	return func(s string) bool { return match(strings.ToLower(s)) }, nil
}

// parseSeverity reads a severity, or how it begins.
func parseSeverity(s string) (Severity, bool) {
	for i, name := range severityNames {
		if len(s) > 0 && len(s) <= len(name) && strings.EqualFold(s, name[:len(s)]) {
			return Severity(i), true
		}
	}
	return 0, false
}
