package ui

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/table"
)

// sheet is an overlay of paragraphs above a table, with keys of its own: a preview, a result, settings.
type sheet[R any] struct {
	title string
	// text is what the paragraphs say now.
	text func(*App) []paragraph
	grid *grid[R] // nil for none
	// note is what is said of the selected row below the table. nil for none.
	note func(*R) string
	keys []sheetKey
	back overlay // what esc leads to

	prose   prose
	reading bool // the paragraphs have all the room
	partly  bool // they do not fit beside the table
	hinted  []hint
}

// sheetKey is a key of a sheet.
type sheetKey struct {
	key, title string
	// off says why it can not be used now; nil or empty when it can.
	off func(*App) string
	// dim reports that it would be of no use as things stand; nil for never.
	dim func(*App) bool
	do  func(*App) tea.Cmd
}

// newSheetGrid is a table for a sheet.
func newSheetGrid[R any](a *App, key func(*R) string, rows []R, columns ...table.Column[R]) *grid[R] {
	g := newGrid("", key, columns...)
	g.restyle(a.theme)
	g.SetRows(rows)
	return g
}

func (s *sheet[R]) update(a *App, msg tea.Msg) tea.Cmd {
	press, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	key := press.String()
	for i := range s.keys {
		k := &s.keys[i]
		if k.key != key {
			continue
		}
		if k.off != nil {
			if why := k.off(a); why != "" {
				a.say(model.Info, why)
				return nil
			}
		}
		return k.do(a)
	}
	switch key {
	case "esc", "q":
		a.overlay = s.back
	case "tab":
		s.reading = !s.reading && s.partly
	default:
		if s.reading || s.grid == nil {
			scroll(&s.prose, key)
		} else {
			scroll(s.grid, key)
		}
	}
	return nil
}

func (s *sheet[R]) draw(a *App, w, h int) []string {
	inner, room := min(w-4, 150), max(h-2, 1)
	s.prose.theme = a.theme
	paragraphs := s.text(a)
	if s.reading {
		paragraphs = append(paragraphs, s.selected()...)
	}
	s.prose.set(paragraphs)
	s.prose.wrap(inner)
	said := len(s.prose.wrapped)
	var lines []string
	if s.grid == nil || s.reading {
		lines = strings.Split(s.prose.draw(a.theme, inner, min(said, room)), "\n")
	} else {
		lines = s.both(a, inner, room)
	}
	if s.grid == nil {
		s.partly = false
	}
	s.hinted = s.hintsNow(a)
	return box(a.theme, s.title, lines[:min(len(lines), room)], inner)
}

// selected is the note on the selected row.
func (s *sheet[R]) selected() []paragraph {
	if s.grid == nil || s.note == nil {
		return nil
	}
	row, ok := s.grid.Selected()
	if !ok {
		return nil
	}
	return []paragraph{{text: s.note(row), tok: themes.Muted}}
}

// both draws the paragraphs, and the table with the note below.
func (s *sheet[R]) both(a *App, w, h int) []string {
	note := wrapped(a.theme, s.selected(), w)
	notes := 0
	if s.note != nil {
		notes = 2
	}
	want := s.grid.lines()
	gap := 0
	if h > 20 {
		gap = 1
	}
	h -= gap
	said := len(s.prose.wrapped)
	top := min(said, max(h-notes-want, h/2-notes, 2))
	cut := top < said
	s.partly = cut || len(note) > notes
	rows := max(min(want, h-notes-top), 2)
	lines := append([]string(nil), s.prose.wrapped[:top]...)
	if cut {
		lines[top-1] = a.theme.Style(themes.Faint).Render(" " + a.theme.Glyphs.Ellipsis + " tab shows all of this")
	}
	lines = append(lines, make([]string, gap)...)
	lines = append(lines, strings.Split(s.grid.draw(a.theme, w, rows), "\n")...)
	for i := range notes {
		l := ""
		if i < len(note) {
			l = note[i]
		}
		if i == notes-1 && len(note) > notes {
			l += a.theme.Style(themes.Faint).Render(a.theme.Glyphs.Ellipsis)
		}
		lines = append(lines, l)
	}
	return lines
}

func (s *sheet[R]) hintsNow(a *App) []hint {
	var hints []hint
	for i := range s.keys {
		k := &s.keys[i]
		hints = append(hints, hint{key: k.key, title: k.title, off: k.off != nil && k.off(a) != "" || k.dim != nil && k.dim(a)})
	}
	if s.partly {
		hints = append(hints, hint{key: "tab", title: "text"})
	}
	return append(hints, hint{key: "esc", title: "back"})
}

// hints are those of the last drawing, which comes before the footer.
func (s *sheet[R]) hints() []hint { return s.hinted }
