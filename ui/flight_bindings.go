package ui

import (
	"strconv"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// flightBindings are the keys of the flight view.
func flightBindings() []binding {
	in := func(do func(*App, *flightScreen) tea.Cmd) func(*App) tea.Cmd {
		return func(a *App) tea.Cmd {
			s, ok := a.screen().(*flightScreen)
			if !ok {
				return nil
			}
			cmd := do(a, s)
			a.reload()
			return tea.Batch(cmd, a.arrived())
		}
	}
	return []binding{
		{id: "record-left", keys: []string{"left", "h"}, title: "left", name: "Record to the left", help: "Moves to the record before.",
			in: atFlight, section: sectionMove, do: in(func(_ *App, s *flightScreen) tea.Cmd { s.sideways(-1); return nil })},
		{id: "record-right", keys: []string{"right", "l"}, title: "right", name: "Record to the right", help: "Moves to the record after.",
			in: atFlight, section: sectionMove, do: in(func(_ *App, s *flightScreen) tea.Cmd { s.sideways(1); return nil })},
		{id: "jump", keys: []string{"/"}, title: "jump", name: "Jump to an offset", help: "Goes to the record with an offset.",
			in: atFlight, section: sectionRecords, footer: 5, unless: (*App).noRecords, do: (*App).openJump},
		{id: "history-back", keys: []string{"["}, title: "earlier", name: "Replay: step back", help: "Steps back through the recorded history of the share-partition.",
			in: atFlight, section: sectionRecords, footer: 6, unless: (*App).noHistory, do: in(func(a *App, s *flightScreen) tea.Cmd { s.travel(a, -1); return nil })},
		{id: "history-forward", keys: []string{"]"}, title: "later", name: "Replay: step forward", help: "Steps forward through the recorded history.",
			in: atFlight, section: sectionRecords, footer: 7, unless: (*App).notInReplay, do: in(func(a *App, s *flightScreen) tea.Cmd { s.travel(a, 1); return nil })},
		{id: "history-back-far", keys: []string{"{"}, title: "far back", name: "Replay: ten steps back", help: "Steps ten writes back through the recorded history.",
			in: atFlight, section: sectionRecords, unless: (*App).noHistory, do: in(func(a *App, s *flightScreen) tea.Cmd { s.travel(a, -10); return nil })},
		{id: "history-forward-far", keys: []string{"}"}, title: "far forward", name: "Replay: ten steps forward", help: "Steps ten writes forward through the recorded history.",
			in: atFlight, section: sectionRecords, unless: (*App).notInReplay, do: in(func(a *App, s *flightScreen) tea.Cmd { s.travel(a, 10); return nil })},
		{id: "now", keys: []string{`\`}, title: "now", name: "Replay: return to now", help: "Returns from the history to what is so now.",
			in: atFlight, section: sectionRecords, footer: 8, unless: (*App).notInReplay, do: in(func(a *App, s *flightScreen) tea.Cmd { s.toNow(a); return nil })},
		{id: "redelivered-next", keys: []string{"n"}, title: "next redelivered", name: "Next record that was delivered again", help: "Goes to the next unfinished record that was delivered more than once.",
			in: atFlight, section: sectionRecords, footer: 10, unless: (*App).noRecords, do: in(func(a *App, s *flightScreen) tea.Cmd { a.redelivered(s, 1); return nil })},
		{id: "redelivered-previous", keys: []string{"N"}, title: "previous redelivered", name: "Previous record that was delivered again", help: "Goes to the unfinished record before that was delivered more than once.",
			in: atFlight, section: sectionRecords, unless: (*App).noRecords, do: in(func(a *App, s *flightScreen) tea.Cmd { a.redelivered(s, -1); return nil })},
		{id: "archived", keys: []string{"A"}, title: "archived", name: "Archived records", help: "Lists what the group gave up on, and what is close to it.",
			in: atFlight | atShareGroup, section: sectionRecords, footer: 9, do: (*App).openArchived},
		{id: "format", keys: []string{"v"}, title: "format", name: "Show values in another format", help: "Shows keys and values as they are (JSON or text where they are that), as text, or as hex.",
			in: atFlight, section: sectionRecords, footer: 11, do: in(func(a *App, s *flightScreen) tea.Cmd {
				s.content.format = (s.content.format + 1) % formats
				a.say(model.Info, "Values: "+s.content.format.String()+".")
				return nil
			})},
		{id: "zoom-in", keys: []string{"+", "="}, title: "closer", name: "Zoom in", help: "Shows fewer records a cell.",
			in: atFlight, section: sectionRecords, footer: 12, do: in(func(_ *App, s *flightScreen) tea.Cmd { s.grid.zoomBy(-1); return nil })},
		{id: "zoom-out", keys: []string{"-"}, title: "farther", name: "Zoom out", help: "Shows more records a cell; the worst state of them is drawn.",
			in: atFlight, section: sectionRecords, do: in(func(_ *App, s *flightScreen) tea.Cmd { s.grid.zoomBy(1); return nil })},
		{id: "zoom-fit", keys: []string{"0"}, title: "fit", name: "Zoom to fit", help: "Chooses the zoom so that what is in flight fits.",
			in: atFlight, section: sectionRecords, do: in(func(_ *App, s *flightScreen) tea.Cmd { s.grid.zoom = zoomAuto; return nil })},
	}
}

// sideways moves the cursor along the row; in other parts it scrolls.
func (s *flightScreen) sideways(n int) {
	if s.focus == 0 {
		s.grid.step(int64(n))
		return
	}
	s.focused().Move(n)
}

func (a *App) noRecords() string {
	if s, ok := a.screen().(*flightScreen); ok && s.window != nil {
		return ""
	}
	return "there are no records here yet."
}

func (a *App) noHistory() string {
	s, ok := a.screen().(*flightScreen)
	switch {
	case !ok || s.records == nil || s.records.History.Len() == 0:
		return "there is no history yet."
	case s.replay && s.position() == 0:
		return "this is the beginning of the history: older writes are not kept, or were pruned by the brokers."
	}
	return ""
}

func (a *App) notInReplay() string {
	if s, ok := a.screen().(*flightScreen); ok && s.replay {
		return ""
	}
	return "this is now; [ steps back."
}

// travel steps n writes through the history.
func (s *flightScreen) travel(a *App, n int) {
	h := &s.records.History
	at := s.position() + n
	if at >= h.Len() {
		s.toNow(a)
		return
	}
	s.showMoment(max(at, 0))
}

// showMoment shows the state at a position of the history.
func (s *flightScreen) showMoment(at int) {
	s.replay, s.moment = true, model.WriteRef{Offset: -1}
	if at > 0 {
		s.moment = s.records.History.Entry(at - 1).Ref
	}
}

// toNow ends the replay.
func (s *flightScreen) toNow(a *App) {
	s.replay = false
	s.last = model.WriteRef{}
	s.machine.dark()
	s.grid.lit = nil
	a.say(model.OK, "Now: the records as they come.")
}

func (a *App) redelivered(s *flightScreen, n int) {
	if !s.jumpToCount(n) {
		a.say(model.Info, "No record of the window was delivered more than once, as far as recorded.")
	}
}

// jumpPrompt is the line in which an offset is typed.
type jumpPrompt struct {
	screen *flightScreen
	input  textinput.Model
	wrong  string
}

func (a *App) openJump() tea.Cmd {
	s, ok := a.screen().(*flightScreen)
	if !ok {
		return nil
	}
	a.overlay = &jumpPrompt{screen: s, input: newInput(a.theme, "offset", "")}
	return nil
}

func (p *jumpPrompt) update(a *App, msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch key.String() {
		case "esc":
			a.overlay = nil
			return nil
		case "enter":
			return p.jump(a)
		}
	}
	p.input, _ = p.input.Update(msg)
	p.wrong = ""
	return nil
}

func (p *jumpPrompt) jump(a *App) tea.Cmd {
	w := p.screen.window
	typed := strings.NewReplacer(",", "", "_", "", " ", "").Replace(p.input.Value())
	offset, err := strconv.ParseInt(typed, 10, 64)
	switch {
	case w == nil:
		a.overlay = nil
		return nil
	case err != nil || offset < 0:
		p.wrong = "an offset is a number"
		return nil
	case offset >= w.End:
		p.wrong = "beyond the end of the log: the last offset is " + model.Count(w.End-1)
		return nil
	case offset < w.Start:
		// What is below is finished; its story and its content can still be looked at.
		p.screen.grid.cursor, p.screen.grid.held = offset, true
	default:
		p.screen.grid.moveTo(offset)
	}
	a.overlay = nil
	a.reload()
	return a.arrived()
}

func (p *jumpPrompt) draw(*App, int, int) []string { return nil }

func (p *jumpPrompt) prompt(a *App, w int) string {
	p.input.SetWidth(min(24, w-8))
	note, tok := "offset to go to", themes.Faint
	if s := p.screen.window; s != nil {
		note = "from " + model.Count(s.Start) + " to " + model.Count(max(s.End-1, s.Start))
	}
	if p.wrong != "" {
		note, tok = p.wrong, themes.Critical
	}
	in := p.input.View()
	return a.theme.Style(themes.Key).Render(" / ") + in + "  " +
		a.theme.Style(tok).Render(text.Truncate(note, max(w-text.Width(in)-6, 0), a.theme.Glyphs.Ellipsis))
}

func (p *jumpPrompt) hints() []hint {
	return []hint{{key: "enter", title: "go"}, {key: "esc", title: "close"}}
}
