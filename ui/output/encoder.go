package output

import (
	"bytes"
	"encoding/json"
	"io"
	"strconv"
	"unicode/utf8"

	"flightdeck/model"
)

// encoder writes a JSON document as it is told its fields, in the layout of [encoding/json]. The document of 10,000 groups
// has 40 MB: by reflection it would be in memory several times, and take longer than the poll did.
type encoder struct {
	w      io.Writer
	indent bool
	b      []byte // not written yet
	depth  int
	empty  bool // nothing is in the innermost object or array so far
	err    error
}

// flushAt is how much is written at once.
const flushAt = 64 << 10

// open begins an object or an array, as bracket says: a field where name is not empty, and otherwise an element.
func (e *encoder) open(name string, bracket byte) {
	e.next(name)
	e.b = append(e.b, bracket)
	e.depth++
	e.empty = true
}

// close ends what was opened last.
func (e *encoder) close(bracket byte) {
	e.depth--
	if !e.empty {
		e.newline()
	}
	e.b = append(e.b, bracket)
	e.empty = false
	if len(e.b) >= flushAt {
		e.flush()
	}
}

// end ends the document.
func (e *encoder) end() error {
	e.b = append(e.b, '\n')
	e.flush()
	return e.err
}

func (e *encoder) flush() {
	if e.err == nil {
		_, e.err = e.w.Write(e.b)
	}
	e.b = e.b[:0]
}

// next goes to the place of the next value.
func (e *encoder) next(name string) {
	if e.depth > 0 {
		if !e.empty {
			e.b = append(e.b, ',')
		}
		e.newline()
	}
	e.empty = false
	if name != "" {
		e.b = appendText(e.b, name)
		e.b = append(e.b, ':')
		if e.indent {
			e.b = append(e.b, ' ')
		}
	}
}

func (e *encoder) newline() {
	if !e.indent {
		return
	}
	e.b = append(e.b, '\n')
	for range e.depth {
		e.b = append(e.b, "  "...)
	}
}

func (e *encoder) null(name string) {
	e.next(name)
	e.b = append(e.b, "null"...)
}

func (e *encoder) text(name, value string) {
	e.next(name)
	e.b = appendText(e.b, value)
}

// textOrNull is text, with null for none.
func (e *encoder) textOrNull(name, value string) {
	if value == "" {
		e.null(name)
		return
	}
	e.text(name, value)
}

func (e *encoder) flag(name string, value bool) {
	e.next(name)
	e.b = strconv.AppendBool(e.b, value)
}

func (e *encoder) number(name string, value int64) {
	e.next(name)
	e.b = strconv.AppendInt(e.b, value, 10)
}

// numberOrNull is number, with null for what is not known.
func (e *encoder) numberOrNull(name string, value model.Int) {
	if n, ok := value.Get(); ok {
		e.number(name, n)
	} else {
		e.null(name)
	}
}

// rateOrNull writes a finite number, or null for what is not known.
func (e *encoder) rateOrNull(name string, value model.Opt[float64]) {
	if f, ok := value.Get(); ok {
		e.next(name)
		e.b = strconv.AppendFloat(e.b, f, 'f', -1, 64)
	} else {
		e.null(name)
	}
}

// appendText appends a JSON string. Most are plain; the others are left to encoding/json.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			var quoted bytes.Buffer
			enc := json.NewEncoder(&quoted)
			enc.SetEscapeHTML(false)
			_ = enc.Encode(s) // a string can always be encoded
			return append(b, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}
