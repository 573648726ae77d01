package ui

import (
	"fmt"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/form"
)

// leaver is an overlay that asks what is to become of held records before a person goes.
type leaver struct {
	title    string
	sessions []*holding
	held     int
	words    []string
	ready    bool // it could be read
	quit     bool
	then     func(*App) tea.Cmd // goes; nil for staying
}

// leaverReadyMsg says that the question has been open for long enough to be read.
type leaverReadyMsg struct{ *leaver }

func (m leaverReadyMsg) arrive(a *App) tea.Cmd {
	m.ready = true
	a.frame.old = true
	return nil
}

// openLeave asks about all groups that we are in.
func (a *App) openLeave() tea.Cmd { return a.askLeave(a.holds.all, false, nil) }

// goAway is what leads out of the screen on top: at once, or after a question when records are held there.
func (a *App) goAway(then func(*App) tea.Cmd) tea.Cmd {
	s := a.flight()
	if s == nil {
		return then(a)
	}
	sessions := a.holds.of(s.id, s.topic)
	held := 0
	for _, h := range sessions {
		held += len(h.now.Held)
	}
	if held > 0 {
		return a.askLeave(sessions, false, then)
	}
	// A member that holds nothing only keeps partitions from others.
	var cmds []tea.Cmd
	for _, h := range sessions {
		cmds = append(cmds, h.leave(a))
	}
	return tea.Batch(append(cmds, then(a))...)
}

// goQuit ends the program, after a question when records are held.
func (a *App) goQuit() tea.Cmd {
	if a.holds.count() == 0 {
		return tea.Quit
	}
	return a.askLeave(a.holds.all, true, func(*App) tea.Cmd { return tea.Quit })
}

func (a *App) askLeave(sessions []*holding, quit bool, then func(*App) tea.Cmd) tea.Cmd {
	l := &leaver{sessions: append([]*holding(nil), sessions...), quit: quit, then: then}
	targets := make(map[*holding][]model.RecordRef)
	for _, h := range sessions {
		l.held += len(h.now.Held)
		for i := range h.now.Held {
			targets[h] = append(targets[h], h.now.Held[i].Ref())
		}
	}
	l.title = model.Plural(l.held, "record") + " held"
	if l.held == 0 {
		l.title = "Leave"
	}
	facts := a.takeFacts(sessions[0].Group, sessions[0].Topic)
	l.words = []string{facts.leaving()}
	if last, limit := lastDeliveries(targets); len(last) > 0 && facts.counted.Or(true) {
		l.words = append(l.words, fmt.Sprintf("%s on the last delivery (%d of %d): released, it is archived and not delivered again.", model.Plural(len(last), "record"), limit, limit))
	}
	a.overlay = l
	return tea.Tick(form.Grace, func(time.Time) tea.Msg { return leaverReadyMsg{l} })
}

func (l *leaver) update(a *App, msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	if key.String() == "esc" {
		a.overlay = nil
		return nil
	}
	if !l.ready {
		return nil
	}
	switch key.String() {
	case "r":
		a.overlay = nil
		return tea.Batch(l.leave(a), l.proceed(a))
	case "k":
		if l.then == nil || l.quit {
			return nil
		}
		a.overlay = nil
		a.say(model.Info, "Still a member; L leaves from anywhere.")
		return l.then(a)
	case "a":
		if l.held == 0 {
			return nil
		}
		a.overlay = nil
		return l.accept(a)
	}
	return nil
}

// proceed goes where the person wanted to.
func (l *leaver) proceed(a *App) tea.Cmd {
	if l.then == nil {
		return nil
	}
	return l.then(a)
}

func (l *leaver) leave(a *App) tea.Cmd {
	var cmds []tea.Cmd
	for _, h := range l.sessions {
		cmds = append(cmds, h.leave(a))
	}
	return tea.Batch(cmds...)
}

// accept accepts everything, and leaves each group when the answer is there.
func (l *leaver) accept(a *App) tea.Cmd {
	var cmds []tea.Cmd
	waiting := 0
	for _, h := range l.sessions {
		refs := make([]model.RecordRef, len(h.now.Held))
		for i := range h.now.Held {
			refs[i] = h.now.Held[i].Ref()
		}
		if len(refs) == 0 || h.session == nil {
			cmds = append(cmds, h.leave(a))
			continue
		}
		waiting++
		cmds = append(cmds, h.decide(a, refs, model.DecisionAccept, func(a *App) tea.Cmd {
			waiting--
			if l.quit && waiting == 0 {
				return tea.Batch(h.leave(a), l.proceed(a))
			}
			return h.leave(a)
		}))
	}
	if !l.quit {
		cmds = append(cmds, l.proceed(a))
	}
	return tea.Batch(cmds...)
}

func (l *leaver) draw(a *App, w, h int) []string {
	inner := min(w-6, 72)
	ps := make([]paragraph, 0, len(l.words)+5)
	for _, s := range l.words {
		ps = append(ps, paragraph{text: s, tok: themes.Text})
	}
	lines := append(wrapped(a.theme, ps, inner), "")
	for _, k := range l.choices() {
		style := a.theme.Style(themes.Key)
		if !l.ready && k.key != "esc" {
			style = a.theme.Style(themes.Disabled)
		}
		lines = append(lines, " "+style.Render(k.key)+" "+a.theme.Style(themes.Text).Render(k.title))
	}
	return box(a.theme, l.title, lines[:min(len(lines), max(h-2, 1))], inner)
}

func (l *leaver) choices() []hint {
	release, accept := "release and leave the group", "accept all and leave the group"
	if l.quit {
		release, accept = "release and quit", "accept all and quit"
	}
	if l.held == 0 {
		release = "leave the group"
	}
	choices := []hint{{key: "r", title: release}}
	if l.then != nil && !l.quit {
		choices = append(choices, hint{key: "k", title: "keep them, and go back all the same"})
	}
	if l.held > 0 {
		choices = append(choices, hint{key: "a", title: accept})
	}
	return append(choices, hint{key: "esc", title: "stay here"})
}

func (l *leaver) hints() []hint {
	hints := []hint{{key: "r", title: "release"}}
	if l.then != nil && !l.quit {
		hints = append(hints, hint{key: "k", title: "keep"})
	}
	return append(hints, hint{key: "a", title: "accept", off: l.held == 0}, hint{key: "esc", title: "stay"})
}
