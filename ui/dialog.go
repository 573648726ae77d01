package ui

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/form"
	"flightdeck/ui/text"
)

// asker is an overlay that asks for values.
type asker struct {
	title string
	form  *form.Form
	// notes are shown under the form: what was understood. nil for none.
	notes func(*App) []paragraph
	// changed follows a key, to suit the form to it. nil for nothing.
	changed func()
	done    func(*App) tea.Cmd
	back    overlay // what esc leads to
}

func (d *asker) update(a *App, msg tea.Msg) tea.Cmd {
	switch d.form.Update(msg) {
	case form.Done:
		return d.done(a)
	case form.Cancelled:
		a.overlay = d.back
	case form.Open:
		if d.changed != nil {
			d.changed()
		}
	}
	return nil
}

func (d *asker) draw(a *App, w, h int) []string {
	inner, room := min(w-6, 92), max(h-2, 1)
	var notes []string
	if d.notes != nil {
		notes = wrapped(a.theme, d.notes(a), inner)
	}
	if len(notes) > 0 {
		notes = append([]string{""}, notes...)
	}
	lines := d.form.ViewIn(a.theme, inner, max(room-len(notes), room/2))
	lines = append(lines, notes...)
	return box(a.theme, d.title, lines[:min(len(lines), room)], inner)
}

func (d *asker) hints() []hint {
	return []hint{{key: "enter", title: "go on"}, {key: "tab", title: "next field"}, {key: "left right", title: "choose"}, {key: "esc", title: "back"}}
}

// wrapped draws paragraphs in lines of at most w cells.
func wrapped(theme *themes.Theme, paragraphs []paragraph, w int) []string {
	p := prose{theme: theme, paragraphs: paragraphs}
	p.wrap(w)
	return p.wrapped
}

// confirmer is an overlay that asks for consent.
type confirmer struct {
	title   string
	confirm *form.Confirm
	opened  time.Time
	named   bool // a name has to be typed
	ready   bool // it could be read
	yes     func(*App) tea.Cmd
	back    overlay
}

// readableMsg says that a confirmation has been open for long enough to be read.
type readableMsg struct{ *confirmer }

func (m readableMsg) arrive(a *App) tea.Cmd {
	m.ready, a.frame.old = true, true
	return nil
}

// confirm asks for consent to an action. yes is called with no overlay open.
func (a *App) confirm(title string, action *model.Action, back overlay, yes func(*App) tea.Cmd) tea.Cmd {
	impact := make([]string, len(action.Impact))
	for i, s := range action.Impact {
		impact[i] = model.Clean(s)
	}
	c := &confirmer{title: title, confirm: form.NewConfirm(a.now, impact, model.Clean(action.Confirm)), opened: a.now, named: action.Confirm != "", yes: yes, back: back}
	a.overlay = c
	return tea.Tick(form.Grace, func(time.Time) tea.Msg { return readableMsg{c} })
}

func (c *confirmer) update(a *App, msg tea.Msg) tea.Cmd {
	// The app's clock is too coarse for the grace; a message of its own ends it.
	now := c.opened
	if c.ready {
		now = now.Add(form.Grace)
	}
	switch c.confirm.Update(now, msg) {
	case form.Done:
		a.overlay = nil
		return c.yes(a)
	case form.Cancelled:
		a.overlay = c.back
	case form.Open:
	}
	return nil
}

func (c *confirmer) draw(a *App, w, h int) []string {
	inner := min(w-6, 84)
	lines := c.confirm.View(a.theme, inner)
	// What is typed stays on screen; sentences that do not fit were read in the preview.
	const tail = 4
	if room := max(h-2, tail+1); len(lines) > room {
		cut := room - tail - 1
		more := a.theme.Style(themes.Faint).Render(fmt.Sprintf("and %d lines more", len(lines)-tail-cut))
		lines = append(append(lines[:cut:cut], more), lines[len(lines)-tail:]...)
	}
	return box(a.theme, c.title, lines, inner)
}

func (c *confirmer) hints() []hint {
	back := hint{key: "esc", title: "back"}
	switch {
	case !c.ready:
		return []hint{back}
	case !c.named:
		return []hint{{key: "y", title: "yes"}, back}
	}
	return []hint{{key: "enter", title: "do it", off: !c.confirm.Matches()}, back}
}

// Job is work on the cluster that can take a while.
type Job[T any] struct {
	// Run does it; it is called once, from a command, and returns soon after ctx ends.
	Run func(ctx context.Context) (T, error)
	// Progress says how far Run is, total 0 while that is not known. It may be called while Run works. nil: nobody knows.
	Progress func() (stage string, done, total int64)
}

// running is an overlay that stands while a job runs.
type running struct {
	title, words string
	// lasting jobs change something: they are asked to stop, and their result is shown all the same.
	lasting  bool
	back     overlay
	cancel   context.CancelFunc
	progress func() (stage string, done, total int64)

	stopping    bool
	stage       string
	done, total int64
}

// ranMsg brings the result of a job.
type ranMsg struct {
	*running
	then func(*App) tea.Cmd
}

func (m ranMsg) arrive(a *App) tea.Cmd {
	m.cancel()
	a.frame.old = true
	if a.overlay != m.running {
		return nil // given up
	}
	a.overlay = m.back
	return m.then(a)
}

// progressMsg says how far a job is.
type progressMsg struct {
	*running
	stage       string
	done, total int64
}

func (m progressMsg) arrive(a *App) tea.Cmd {
	if a.overlay != m.running {
		return nil
	}
	w := m.running
	a.frame.old = true
	w.stage, w.done, w.total = m.stage, m.done, m.total
	return w.look()
}

// progressEvery is how often progress is looked at.
const progressEvery = 100 * time.Millisecond

func (w *running) look() tea.Cmd {
	if w.progress == nil {
		return nil
	}
	return tea.Tick(progressEvery, func(time.Time) tea.Msg {
		m := progressMsg{running: w}
		m.stage, m.done, m.total = w.progress()
		return m
	})
}

// work runs a job under an overlay; then takes the result with its back as the overlay.
func work[T any](a *App, w *running, job Job[T], then func(*App, T, error) tea.Cmd) tea.Cmd {
	ctx, cancel := context.WithCancel(a.ctx)
	w.cancel, w.progress = cancel, job.Progress
	a.overlay = w
	return tea.Batch(w.look(), func() tea.Msg {
		var out T
		err := safely(func() (err error) {
			out, err = job.Run(ctx)
			return err
		})
		return ranMsg{w, func(a *App) tea.Cmd { return then(a, out, err) }}
	})
}

// safely turns a panic of a job into an error: a fault there must not take the terminal away.
func safely(run func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("flightdeck made a mistake (%v): look at what became of it before you go on", r)
		}
	}()
	return run()
}

func (w *running) update(a *App, msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); !ok || key.String() != "esc" {
		return nil
	}
	w.cancel()
	w.stopping = true
	if !w.lasting {
		a.overlay = w.back
	}
	return nil
}

func (w *running) draw(a *App, width, _ int) []string {
	inner := min(width-6, 64)
	words := w.words
	if w.stopping {
		words = "Stopping: what was sent is waited for and read back."
	}
	var lines []string
	for _, l := range text.Wrap(words, inner) {
		lines = append(lines, a.theme.Style(themes.Text).Render(l))
	}
	state := w.stage
	if w.total > 0 {
		state += " " + model.Count(w.done) + " of " + model.Count(w.total)
		cells := int(w.done * int64(inner) / w.total)
		lines = append(lines, a.theme.Style(themes.Accent).Render(strings.Repeat(a.theme.Glyphs.Horizontal, max(min(cells, inner), 0))))
	} else {
		lines = append(lines, "")
	}
	return box(a.theme, w.title, append(lines, a.theme.Style(themes.Muted).Render(text.Truncate(state, inner, a.theme.Glyphs.Ellipsis))), inner)
}

func (w *running) hints() []hint { return []hint{{key: "esc", title: "stop"}} }

// fails says in the status line, and in Activity, why something was not done.
func (a *App) fails(subject string, err error) tea.Cmd {
	text := err.Error()
	if a.options.Explain != nil {
		_, text = a.options.Explain(err)
	}
	a.record(entry{severity: model.Critical, kind: kindAction, subject: subject, text: text})
	return nil
}
