package model

import (
	"strings"
	"time"
)

// Field is something about a row that a filter can ask for. Exactly one of its functions is set; it says
// what kind of field it is.
type Field[R any] struct {
	// Name is the key, in lower case letters.
	Name string
	// Plain means that words without a key look at this field too.
	Plain bool
	// Text is the value of a text field.
	Text func(row *R) string
	// Any is a text field with several values, such as the topics of a group: it reports whether match holds for
	// one of them.
	Any func(row *R, match func(string) bool) bool
	// Number is the value of a number field.
	Number func(row *R) Opt[float64]
	// Span is the value of a field that is a time span.
	Span func(row *R) Opt[time.Duration]
	// Severity is the value of a field that is one.
	Severity func(row *R) Severity
}

// Filter is a parsed filter. Its zero value lets everything through.
//
// The grammar, in terms separated by spaces that must all hold:
//
//	orders           a plain field contains the text, upper and lower case alike
//	"two words"      the same, for text with spaces or operators in it
//	~odrs            a plain field has these characters in this order (fuzzy)
//	state=empty      the field is the text, upper and lower case alike, or fits it as a glob ([ParseGlob])
//	topic=order-*
//	state!=stable    it is not
//	lag>1000         > >= < <= = != compare numbers: 12,480 or 12_480, 1.5k, 3m, 2g
//	eta<5m           and time spans: 500ms, 12s, 4m10s, 3h, 2d
//	severity>=warning  and severities: ok, info, warning, critical, or how they begin
//	lag=-            the value is unknown; state= without a value is an error, state="" means empty
//	!term            the term does not hold
//
// An unknown number satisfies no comparison but =- (and with it neither !=5 nor <5): it is not zero.
type Filter[R any] struct {
	terms []func(row *R) bool
}

// Match reports whether the row passes.
func (f Filter[R]) Match(row *R) bool {
	for _, holds := range f.terms {
		if !holds(row) {
			return false
		}
	}
	return true
}

// Empty reports whether the filter lets everything through.
func (f Filter[R]) Empty() bool { return len(f.terms) == 0 }

// FilterError says what is wrong with a filter.
type FilterError struct {
	// Column is where, in characters from 1.
	Column int
	// Text is a sentence without its full stop that says what is wrong and what is possible.
	Text string
}

func (e *FilterError) Error() string { return e.Text }

// ParseFilter parses s for rows with the given fields. The error is a *[FilterError].
func ParseFilter[R any](s string, fields []Field[R]) (Filter[R], error) {
	tokens, err := filterTokens(s)
	if err != nil {
		return Filter[R]{}, err
	}
	var f Filter[R]
	for _, t := range tokens {
		holds, err := parseTerm(t, fields)
		if err != nil {
			return Filter[R]{}, err
		}
		f.terms = append(f.terms, holds)
	}
	return f, nil
}

func parseTerm[R any](t filterToken, fields []Field[R]) (func(*R) bool, error) {
	if t.not {
		t.not = false
		holds, err := parseTerm(t, fields)
		if err != nil {
			return nil, err
		}
		return func(row *R) bool { return !holds(row) }, nil
	}
	if t.op == "" {
		match := containsFold(t.value)
		if t.fuzzy {
			match = fuzzyMatch(t.value)
		}
		return func(row *R) bool { return anyPlain(row, fields, match) }, nil
	}
	for i := range fields {
		if f := &fields[i]; strings.EqualFold(f.Name, t.key) {
			return compareTerm(t, f)
		}
	}
	names := make([]string, len(fields))
	for i := range fields {
		names[i] = fields[i].Name
	}
	return nil, t.errorf("there is no key %s here; the keys are %s", t.key, strings.Join(names, ", "))
}

func anyPlain[R any](row *R, fields []Field[R], match func(string) bool) bool {
	for i := range fields {
		f := &fields[i]
		if !f.Plain {
			continue
		}
		if f.Any != nil && f.Any(row, match) || f.Text != nil && match(f.Text(row)) {
			return true
		}
	}
	return false
}

func compareTerm[R any](t filterToken, f *Field[R]) (func(*R) bool, error) {
	if t.value == "" && !t.quoted {
		return nil, t.errorf("%s%s needs a value after it", t.key, t.op)
	}
	switch {
	case f.Number != nil:
		return compareValue(t, f.Number, parseNumber, "a number such as 1000, 12,480 or 1.5k")
	case f.Span != nil:
		return compareValue(t, f.Span, parseSpan, "a time span such as 12s, 4m10s or 3h")
	case f.Severity != nil:
		known := func(row *R) Opt[Severity] { return Some(f.Severity(row)) }
		return compareValue(t, known, parseSeverity, "one of "+strings.Join(severityNames[:], ", "))
	}
	match, err := matchWhole(t.value)
	if err != nil {
		return nil, t.errorf("%v", err)
	}
	has := func(row *R) bool { return match(f.Text(row)) }
	if f.Any != nil {
		has = func(row *R) bool { return f.Any(row, match) }
	}
	switch t.op {
	case "=":
		return has, nil
	case "!=":
		return func(row *R) bool { return !has(row) }, nil
	}
	return nil, t.errorf("%s is text, so it takes = or !=, not %s", f.Name, t.op)
}

func compareValue[R any, V float64 | time.Duration | Severity](t filterToken, value func(*R) Opt[V], parse func(string) (V, bool), example string) (func(*R) bool, error) {
	if t.value == Unknown {
		switch t.op {
		case "=":
			return func(row *R) bool { return !value(row).Known() }, nil
		case "!=":
			return func(row *R) bool { return value(row).Known() }, nil
		}
	}
	want, ok := parse(t.value)
	if !ok {
		return nil, t.errorf("%s%s needs %s", t.key, t.op, example)
	}
	var holds func(V) bool
	switch t.op {
	case ">":
		holds = func(v V) bool { return v > want }
	case ">=":
		holds = func(v V) bool { return v >= want }
	case "<":
		holds = func(v V) bool { return v < want }
	case "<=":
		holds = func(v V) bool { return v <= want }
	case "=":
		holds = func(v V) bool { return v == want }
	default:
		holds = func(v V) bool { return v != want }
	}
	return func(row *R) bool {
		v, known := value(row).Get()
		return known && holds(v)
	}, nil
}
