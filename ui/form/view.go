package form

import (
	"charm.land/bubbles/v2/textinput"
	"github.com/charmbracelet/x/ansi"

	"flightdeck/themes"
	"flightdeck/ui/text"
)

// View draws the form, a line a field with what is wrong beside it, and the help of the field that
// has the focus below. Lines are styled and at most w cells wide.
func (f *Form) View(theme *themes.Theme, w int) []string {
	label := 0
	for i := range f.fields {
		label = max(label, text.Width(f.fields[i].Label))
	}
	label = min(label, w/3)
	lines := make([]string, 0, len(f.fields)+3)
	for i := range f.fields {
		lines = append(lines, f.line(theme, i, label, w))
	}
	if len(f.fields) == 0 {
		return lines
	}
	if help := f.fields[f.focus].Help; help != "" {
		lines = append(lines, "")
		for _, l := range text.Wrap(help, w) {
			lines = append(lines, theme.Style(themes.Muted).Render(l))
		}
	}
	return lines
}

// ViewIn is View in at most h lines: the fields around the one that has the focus, and its help as far as there is room.
func (f *Form) ViewIn(theme *themes.Theme, w, h int) []string {
	lines := f.View(theme, w)
	if len(lines) <= h || len(f.fields) == 0 {
		return lines
	}
	fields, help := lines[:len(f.fields)], lines[len(f.fields):]
	if most := max(h/3, h-len(fields)); len(help) > most {
		help = help[:most]
	}
	room := max(h-len(help), 1)
	top := max(min(f.focus-room/2, len(fields)-room), 0)
	return append(append([]string(nil), fields[top:min(top+room, len(fields))]...), help...)
}

func (f *Form) line(theme *themes.Theme, i, label, w int) string {
	fd, g := &f.fields[i], &theme.Glyphs
	cursor, tok := " ", themes.Text
	if i == f.focus {
		cursor, tok = g.Right, themes.Accent
	}
	if fd.Off != "" {
		tok = themes.Disabled
	}
	b := theme.Style(themes.Accent).Render(cursor) + " " + theme.Style(tok).Render(text.PadRight(fd.Label, label, g.Ellipsis)) + "  "
	left := w - label - 4
	if left <= 0 {
		return ansi.Truncate(b, w, "")
	}
	note, noteTok := "", themes.Critical
	if fd.Off != "" {
		note, noteTok = fd.Off, themes.Disabled
	} else if f.tried || fd.touched && i != f.focus {
		note = fd.problem()
	}
	room := left
	if note != "" {
		note = text.Truncate(note, max(left*2/3, 1), g.Ellipsis)
		room = left - text.Width(note) - 2
	}
	b += fd.draw(theme, i == f.focus, room)
	if note != "" {
		b += "  " + theme.Style(noteTok).Render(note)
	}
	return ansi.Truncate(b, w, "")
}

// draw draws the value in at most w cells.
func (fd *field) draw(theme *themes.Theme, focus bool, w int) string {
	g := &theme.Glyphs
	switch fd.Kind {
	case Toggle:
		box := "[ ] no"
		if fd.on {
			box = "[x] yes"
		}
		return theme.Style(fd.token()).Render(text.Truncate(box, w, g.Ellipsis))
	case Choice:
		value := text.Truncate(fd.value(), max(w-4, 1), g.Ellipsis)
		if !focus {
			return theme.Style(fd.token()).Render(text.Truncate("  "+value, w, g.Ellipsis))
		}
		arrow := theme.Style(themes.Key)
		return ansi.Truncate(arrow.Render(g.Left)+" "+theme.OnSelected(themes.Text).Render(value)+" "+arrow.Render(g.Right), w, "")
	}
	if !focus {
		if fd.value() == "" {
			return theme.Style(themes.Faint).Render(text.Truncate(fd.Hint, w, g.Ellipsis))
		}
		return theme.Style(fd.token()).Render(text.Truncate(fd.value(), w, g.Ellipsis))
	}
	return drawInput(theme, &fd.input, fd.Hint, w)
}

// token is the look of a value that has no focus.
func (fd *field) token() themes.Token {
	if fd.Off != "" {
		return themes.Disabled
	}
	return themes.Text
}

// drawInput draws a line to type in, with its cursor, in at most w cells; the hint stands where
// nothing was typed.
func drawInput(theme *themes.Theme, in *textinput.Model, hint string, w int) string {
	if w <= 0 {
		return ""
	}
	if in.Value() == "" {
		const cursor = "\x1b[7m \x1b[m"
		if w < 3 {
			return cursor
		}
		return cursor + theme.Style(themes.Faint).Render(" "+text.Truncate(hint, w-2, theme.Glyphs.Ellipsis))
	}
	in.SetWidth(max(w-1, 1))
	return ansi.Truncate(theme.Style(themes.Text).Open+in.View()+"\x1b[m", w, "")
}
