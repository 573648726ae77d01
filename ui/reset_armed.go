package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// armedReset is a reset that waits for its group to become empty.
type armedReset struct {
	armed Armed
	state model.ArmedState
	over  bool // nothing will happen any more
	// sentences are of the plan that was made at planned; it can have thousands of rows.
	sentences []string
	planned   time.Time
}

// armedMsg says what happened to an armed reset.
type armedMsg struct {
	*armedReset
	state model.ArmedState
	err   error // there is nothing more to come
}

// wait waits for what happens next.
func (x *armedReset) wait(a *App) tea.Cmd {
	ctx, armed := a.ctx, x.armed
	return func() tea.Msg {
		m := armedMsg{armedReset: x}
		m.err = safely(func() (err error) {
			m.state, err = armed.Next(ctx)
			return err
		})
		return m
	}
}

func (m armedMsg) arrive(a *App) tea.Cmd {
	x := m.armedReset
	a.frame.old = true
	if m.err != nil {
		if !x.over { // it ended without a word
			return x.end(a)
		}
		return nil
	}
	x.state = m.state
	if x.state.Final() {
		return x.end(a)
	}
	return x.wait(a)
}

// end takes the reset from those that are armed, and says what came of it.
func (x *armedReset) end(a *App) tea.Cmd {
	x.over = true
	for i, other := range a.armed {
		if other == x {
			a.armed = append(a.armed[:i:i], a.armed[i+1:]...)
			break
		}
	}
	s := &x.state
	if !s.Final() {
		s.Phase = model.ArmedDisarmed
	}
	group := s.Plan.Group
	switch s.Phase {
	case model.ArmedDone:
		if a.overlay == nil {
			a.openResetResult(s.Outcome)
		}
		return a.acted(group, s.Sentence(a.now), s.Outcome.Failed())
	case model.ArmedFailed:
		return a.acted(group, s.Sentence(a.now), 1)
	}
	a.record(entry{severity: model.Warning, kind: kindAction, subject: group, text: s.Sentence(a.now)})
	return nil
}

// armedFor is the armed reset of a group, nil for none.
func (a *App) armedFor(group string) *armedReset {
	for _, x := range a.armed {
		if x.state.Plan.Group == group {
			return x
		}
	}
	return nil
}

// noArmed says that no reset is armed.
func (a *App) noArmed() string {
	if len(a.armed) == 0 {
		return "no reset is armed."
	}
	return ""
}

// openArmedResets shows the armed reset, or lets one choose among several.
func (a *App) openArmedResets() tea.Cmd {
	if len(a.armed) == 1 {
		a.openArmed(a.armed[0])
		return nil
	}
	var choices []choice
	for _, x := range a.armed {
		choices = append(choices, choice{id: x.state.Plan.Group, title: model.Clean(x.state.Plan.Group)})
	}
	a.overlay = newChooser(a, "Armed resets", "type a part of a name", choices, func(a *App, id string) tea.Cmd {
		if x := a.armedFor(id); x != nil {
			a.openArmed(x)
		}
		return nil
	})
	return nil
}

// openArmed shows an armed reset.
func (a *App) openArmed(x *armedReset) {
	s := &sheet[model.ResetRow]{title: "Armed: " + model.Clean(x.state.Plan.Group+" "+x.state.Plan.Spec.Text(x.state.Plan.At))}
	shown := x.state.Plan.At
	s.grid = newSheetGrid(a, resetRowKey, x.state.Plan.Rows, resetColumns...)
	s.note = func(r *model.ResetRow) string { return model.Clean(r.Note()) }
	s.text = func(a *App) []paragraph {
		if at := x.state.Plan.At; !at.Equal(shown) { // the log moved, and the plan was made anew
			shown = at
			s.grid.SetRows(x.state.Plan.Rows)
		}
		return x.paragraphs(a)
	}
	s.keys = []sheetKey{{key: "x", title: "cancel the reset", off: func(*App) string {
		if x.over {
			return "It is over."
		}
		return ""
	}, do: x.disarm}}
	a.overlay = s
}

func (x *armedReset) paragraphs(a *App) []paragraph {
	s := &x.state
	tok := themes.Title
	if s.Phase == model.ArmedFailed {
		tok = themes.Critical
	}
	ps := []paragraph{{text: model.Clean(s.Sentence(a.now)), tok: tok}}
	if s.Problem != nil && s.Phase != model.ArmedFailed {
		ps = append(ps, paragraph{lead: a.theme.Glyphs.Warning + " ", text: model.Clean(s.Problem.Text), tok: themes.Warning})
	}
	if s.Group != nil && len(s.Group.Members) > 0 {
		ps = append(ps, paragraph{text: "In the group: " + whoIsIn(s.Group) + ".", tok: themes.Muted})
	}
	if !x.planned.Equal(s.Plan.At) || x.sentences == nil {
		x.planned, x.sentences = s.Plan.At, s.Plan.Sentences()
	}
	for _, sentence := range x.sentences {
		ps = append(ps, paragraph{text: model.Clean(sentence), tok: themes.Text})
	}
	return append(ps, paragraph{text: "It ends with the program.", tok: themes.Faint})
}

// disarm gives the waiting up. What came of it arrives as a state.
func (x *armedReset) disarm(a *App) tea.Cmd {
	a.overlay = nil
	armed := x.armed
	return func() tea.Msg {
		armed.Disarm()
		return nil
	}
}

// endArmed asks before then, which ends the program and the waiting of armed resets with it.
func (a *App) endArmed(then func(*App) tea.Cmd) tea.Cmd {
	if len(a.armed) == 0 {
		return then(a)
	}
	action := model.Action{Impact: []string{"It waits for its group to become empty. Quitting ends the waiting, and nothing is moved."}}
	if len(a.armed) > 1 {
		action.Impact[0] = "They wait for their groups to become empty. Quitting ends the waiting, and nothing is moved."
	}
	return a.confirm(a.armedBadge()+": quit?", &action, nil, then)
}

// armedBadge names what is armed, for the top of every screen; empty for nothing.
func (a *App) armedBadge() string {
	switch len(a.armed) {
	case 0:
		return ""
	case 1:
		const most = 24
		return "ARMED " + text.Truncate(model.Clean(a.armed[0].state.Plan.Group), most, a.theme.Glyphs.Ellipsis)
	}
	return "ARMED " + model.Plural(len(a.armed), "reset")
}
