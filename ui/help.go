package ui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"flightdeck/themes"
	"flightdeck/ui/text"
)

// help is the overlay that lists all bindings.
type help struct {
	input  textinput.Model
	top    int
	height int
	total  int
}

func (a *App) openHelp() tea.Cmd {
	a.overlay = &help{input: newInput(a.theme, "type to search", "")}
	return nil
}

// Move, PageUp, PageDown, Home and End scroll.
func (h *help) Move(n int) { h.top = max(min(h.top+n, h.total-h.height), 0) }
func (h *help) PageUp()    { h.Move(-h.height) }
func (h *help) PageDown()  { h.Move(h.height) }
func (h *help) Home()      { h.top = 0 }
func (h *help) End()       { h.Move(h.total) }

func (h *help) update(a *App, msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch k := key.String(); k {
		case "esc", "f1":
			a.overlay = nil
			return nil
		case "enter", "q", "?":
			if k == "enter" || h.input.Value() == "" {
				a.overlay = nil
				return nil
			}
		case "/":
			if h.input.Value() == "" {
				return nil // what one types is searched for anyway
			}
		case "up", "down", "pgup", "pgdown", "home", "end":
			scroll(h, k)
			return nil
		}
	}
	h.input, _ = h.input.Update(msg)
	h.top = 0
	return nil
}

func (h *help) draw(a *App, w, height int) []string {
	inner := min(w-6, 110)
	// The box keeps its height while one types.
	h.height = max(min(height-4, len(h.lines(a, inner, ""))), 1)
	h.input.SetWidth(inner - 4)
	all := h.lines(a, inner, h.input.Value())
	h.total = len(all)
	h.Move(0)
	lines := []string{a.theme.Style(themes.Key).Render("/ ") + h.input.View(), ""}
	lines = append(lines, fillLines(append([]string(nil), all[h.top:]...), h.height)...)
	return box(a.theme, "Help", lines, inner)
}

// lines are the bindings that match the search, under the headings of their sections.
func (h *help) lines(a *App, w int, search string) []string {
	const keyWidth = 18
	search = strings.ToLower(search)
	at := a.screen().at()
	var lines []string
	for _, s := range sections {
		first := true
		for i := range a.bindings {
			b := &a.bindings[i]
			keys := b.keyNames()
			if b.section != s || !strings.Contains(strings.ToLower(keys+" "+b.name+" "+b.help), search) {
				continue
			}
			if first {
				if len(lines) > 0 {
					lines = append(lines, "")
				}
				lines = append(lines, a.theme.Style(themes.Header).Render(string(s)))
				first = false
			}
			words, tok, keyTok := b.help, themes.Text, themes.Key
			if b.in != anywhere {
				words += " In: " + b.in.String() + "."
			}
			if b.in&at == 0 || b.changes && a.reason(b) != "" {
				tok, keyTok = themes.Disabled, themes.Disabled
			}
			for n, l := range text.Wrap(words, max(w-keyWidth-2, 16)) {
				k := ""
				if n == 0 {
					k = keys
				}
				lines = append(lines, "  "+a.theme.Style(keyTok).Render(text.PadRight(k, keyWidth, a.theme.Glyphs.Ellipsis))+a.theme.Style(tok).Render(l))
			}
		}
	}
	if len(lines) == 0 {
		lines = append(lines, a.theme.Style(themes.Muted).Render("No key matches."))
	}
	return lines
}

func (h *help) hints() []hint {
	return []hint{{key: "esc", title: "close"}, {key: "up down", title: "scroll"}}
}
