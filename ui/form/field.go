package form

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
)

// Kind is what a field holds.
type Kind uint8

// The kinds.
const (
	Text   Kind = iota // any text of one line
	Number             // a whole number between Min and Max
	Choice             // one of Choices, by left and right or its first letter
	Toggle             // yes or no, by space, left and right
)

// Values of a toggle.
const (
	on  = "true"
	off = "false"
)

// Field says what is asked for.
type Field struct {
	// ID names the field in the program, Label on the screen.
	ID, Label string
	Kind      Kind
	// Value is there at the start. A choice without one starts at the first.
	Value string
	// Hint is shown in an empty text, Help under the form while the field has the focus.
	Hint, Help string
	Choices    []string
	// Min and Max bound a number, both included; both zero is no bound.
	Min, Max int64
	// Limit is the most characters of a text; 0 is 500.
	Limit int
	// Check says what is wrong with a value, in words; empty when nothing is.
	Check func(value string) string
	// Off says why the field can not be changed; empty when it can.
	Off string
}

// field is a Field with what the person did to it.
type field struct {
	Field
	input   textinput.Model
	choice  int
	on      bool
	touched bool // was left with the focus once: its error is shown
}

func newField(spec Field) field {
	fd := field{Field: spec}
	if fd.typed() {
		fd.input = newInput(spec.Limit)
	}
	fd.set(spec.Value)
	return fd
}

// newInput is a line to type in that does not blink: blinking costs commands and bytes.
func newInput(limit int) textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	in.CharLimit = limit
	if limit == 0 {
		in.CharLimit = 500
	}
	in.SetStyles(textinput.Styles{})
	return in
}

func (fd *field) set(value string) {
	switch fd.Kind {
	case Choice:
		fd.choice = max(slices.Index(fd.Choices, value), 0)
	case Toggle:
		fd.on = value == on
	default:
		fd.input.SetValue(value)
		fd.input.CursorEnd()
	}
}

func (fd *field) value() string {
	switch fd.Kind {
	case Choice:
		if fd.choice < len(fd.Choices) {
			return fd.Choices[fd.choice]
		}
		return ""
	case Toggle:
		if fd.on {
			return on
		}
		return off
	}
	return fd.input.Value()
}

func (fd *field) number() (int64, bool) {
	n, err := strconv.ParseInt(strings.ReplaceAll(strings.TrimSpace(fd.value()), ",", ""), 10, 64)
	return n, err == nil
}

// typed reports whether the value is typed letter by letter.
func (fd *field) typed() bool { return fd.Kind == Text || fd.Kind == Number }

func (fd *field) enter() {
	if fd.typed() {
		fd.input.Focus()
	}
}

func (fd *field) leave() {
	if fd.typed() {
		fd.input.Blur()
	}
	fd.touched = true
}

func (fd *field) update(msg tea.Msg) {
	if fd.Off != "" {
		return
	}
	if fd.typed() {
		// The command is dropped: it would blink, or read the clipboard of the machine that the
		// program runs on, which is not that of the person. A terminal's paste comes as a message.
		fd.input, _ = fd.input.Update(msg)
		return
	}
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return
	}
	switch k := key.String(); {
	case fd.Kind == Toggle:
		switch k {
		case "space", "left", "right", "h", "l":
			fd.on = !fd.on
		case "y":
			fd.on = true
		case "n":
			fd.on = false
		}
	case k == "right" || k == "space" || k == "l":
		fd.pick(fd.choice + 1)
	case k == "left" || k == "h":
		fd.pick(fd.choice - 1)
	default:
		for n := 1; n <= len(fd.Choices); n++ {
			if i := (fd.choice + n) % len(fd.Choices); key.Text != "" && strings.HasPrefix(fd.Choices[i], key.Text) {
				fd.choice = i
				break
			}
		}
	}
}

func (fd *field) pick(i int) {
	if n := len(fd.Choices); n > 0 {
		fd.choice = (i + n) % n
	}
}

// problem says what is wrong with the value, in words.
func (fd *field) problem() string {
	if fd.Off != "" {
		return ""
	}
	if fd.Kind == Number {
		n, ok := fd.number()
		bounded := fd.Min != 0 || fd.Max != 0
		switch {
		case !ok && bounded:
			return fmt.Sprintf("a whole number from %d to %d", fd.Min, fd.Max)
		case !ok:
			return "a whole number"
		case bounded && n < fd.Min:
			return fmt.Sprintf("at least %d", fd.Min)
		case bounded && n > fd.Max:
			return fmt.Sprintf("at most %d", fd.Max)
		}
	}
	if fd.Check != nil {
		return fd.Check(fd.value())
	}
	return ""
}
