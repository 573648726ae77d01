package ui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"flightdeck/themes"
	"flightdeck/ui/text"
)

// filterPrompt is the line in which a filter is typed. It filters while one types.
type filterPrompt struct {
	input textinput.Model
	keys  string
	err   error
}

func (a *App) openFilter() tea.Cmd {
	f, ok := a.screen().(filterable)
	if !ok {
		return nil
	}
	p := &filterPrompt{input: newInput(a.theme, "text, !not, ~fuzzy, key=value, key>number", f.filterText())}
	p.keys = strings.Join(f.filterKeys(), " ")
	a.overlay = p
	return nil
}

// filterText is the filter of the screen as typed; empty for none.
func (a *App) filterText() string {
	if f, ok := a.screen().(filterable); ok {
		return f.filterText()
	}
	return ""
}

func (a *App) setFilter(s string) error {
	f, ok := a.screen().(filterable)
	if !ok {
		return nil
	}
	err := f.setFilter(s)
	a.reload()
	return err
}

func (p *filterPrompt) update(a *App, msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc":
			a.overlay = nil
			_ = a.setFilter("") // clearing a filter can not fail
			return nil
		case "enter":
			if p.err == nil {
				a.overlay = nil
			}
			return nil
		case "up", "down", "pgup", "pgdown":
			if m := a.screen().focused(); m != nil {
				scroll(m, key.String())
			}
			return nil
		}
	}
	before := p.input.Value()
	p.input, _ = p.input.Update(msg)
	if v := p.input.Value(); v != before {
		p.err = a.setFilter(v)
	}
	return nil
}

func (p *filterPrompt) draw(*App, int, int) []string { return nil }

func (p *filterPrompt) prompt(a *App, w int) string {
	note, tok := p.keys, themes.Faint
	if p.err != nil {
		note, tok = p.err.Error(), themes.Critical
	}
	p.input.SetWidth(min(40, w-8))
	in := p.input.View()
	lead := a.theme.Style(themes.Key).Render(" / ")
	rest := w - 3 - text.Width(in) - 3
	if rest < 8 && p.err != nil { // no room for both: the error is what matters now
		return lead + a.theme.Style(tok).Render(text.Truncate(note, w-4, a.theme.Glyphs.Ellipsis))
	}
	return lead + in + "  " + a.theme.Style(tok).Render(text.Truncate(note, max(rest, 0), a.theme.Glyphs.Ellipsis))
}

func (p *filterPrompt) hints() []hint {
	return []hint{{key: "enter", title: "keep"}, {key: "esc", title: "clear"}, {key: "up down", title: "move"}}
}
