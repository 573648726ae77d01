// Package form asks a person for values and for consent: forms of several fields, and
// confirmations.
//
// # Vocabulary
//
// An answer is what a key led to: still open, done, or cancelled. A confirmation is readable some
// time after it was opened; keys typed before were meant for the screen under it.
//
// # Rules
//
//   - Nothing here has a clock or sends commands: time comes in, answers go out.
//   - Drawing gives lines without a frame, each at most as wide as asked for; who opens a form frames
//     it.
//   - Texts shown are cleaned by the caller.
package form

import (
	tea "charm.land/bubbletea/v2"
)

// Answer is what came of a key.
type Answer uint8

// The answers.
const (
	Open      Answer = iota // nothing is decided
	Done                    // the values hold; the person wants to go on
	Cancelled               // the person wants to go back
)

// Form is a list of fields, one of which has the focus.
type Form struct {
	fields []field
	focus  int
	tried  bool // to finish: from then on every error is shown
}

// New makes a form. The first field that can be changed has the focus.
func New(fields ...Field) *Form {
	f := &Form{}
	for _, spec := range fields {
		f.fields = append(f.fields, newField(spec))
	}
	if len(f.fields) > 0 {
		f.focus = len(f.fields) - 1
		f.step(1)
	}
	return f
}

// Update takes a key or a paste. Tab and the arrows up and down go from field to field, enter
// finishes when every value holds and goes to the first one that does not otherwise, esc cancels;
// other keys are for the field.
func (f *Form) Update(msg tea.Msg) Answer {
	if len(f.fields) == 0 {
		return Cancelled
	}
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc":
			return Cancelled
		case "enter":
			return f.finish()
		case "tab", "down":
			f.step(1)
			return Open
		case "shift+tab", "up":
			f.step(-1)
			return Open
		}
	}
	f.fields[f.focus].update(msg)
	return Open
}

// step moves the focus by n fields, past those that can not be changed.
func (f *Form) step(n int) {
	f.fields[f.focus].leave()
	for range f.fields {
		f.focus = (f.focus + n + len(f.fields)) % len(f.fields)
		if f.fields[f.focus].Off == "" {
			break
		}
	}
	f.fields[f.focus].enter()
}

func (f *Form) finish() Answer {
	f.tried = true
	for i := range f.fields {
		if f.fields[i].problem() != "" {
			f.fields[f.focus].leave()
			f.focus = i
			f.fields[i].enter()
			return Open
		}
	}
	return Done
}

// Value is what a field holds, as text: of a toggle "true" or "false". It is empty when there is no
// such field.
func (f *Form) Value(id string) string {
	if fd := f.find(id); fd != nil {
		return fd.value()
	}
	return ""
}

// Number is the value of a number field; false while it is none, or out of its bounds.
func (f *Form) Number(id string) (int64, bool) {
	fd := f.find(id)
	if fd == nil || fd.problem() != "" {
		return 0, false
	}
	return fd.number()
}

// On is the value of a toggle.
func (f *Form) On(id string) bool { return f.Value(id) == on }

// Set replaces the value of a field.
func (f *Form) Set(id, value string) {
	if fd := f.find(id); fd != nil {
		fd.set(value)
	}
}

// Switch says why a field can not be changed; an empty reason makes it changeable.
func (f *Form) Switch(id, reason string) {
	if fd := f.find(id); fd != nil {
		fd.Off = reason
		if reason != "" && fd == &f.fields[f.focus] {
			f.step(1)
		}
	}
}

// Focus is the id of the field with the focus.
func (f *Form) Focus() string {
	if len(f.fields) == 0 {
		return ""
	}
	return f.fields[f.focus].ID
}

func (f *Form) find(id string) *field {
	for i := range f.fields {
		if f.fields[i].ID == id {
			return &f.fields[i]
		}
	}
	return nil
}
