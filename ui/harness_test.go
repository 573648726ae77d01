package ui

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"flightdeck/model"
)

// rig drives an App by messages, without a terminal. Commands are not run unless the test says so.
type rig struct {
	*App
	t    *testing.T
	last tea.Cmd
}

// newRig is the App on the fixture, after its first full poll, in 120x40.
func newRig(t *testing.T, o Options) *rig {
	t.Helper()
	if o.Source == nil {
		o.Source = &fakeSource{}
	}
	r := &rig{App: New(context.Background(), o), t: t}
	s, h := fixture()
	r.history = h
	r.size(120, 40)
	r.send(clockMsg(noon))
	r.read(s)
	return r
}

// send updates and draws, as the program does.
func (r *rig) send(msg tea.Msg) {
	_, r.last = r.Update(msg)
	r.View()
}

func (r *rig) size(w, h int) { r.send(tea.WindowSizeMsg{Width: w, Height: h}) }

// press types keys, separated by spaces: names as in bindings, or characters.
func (r *rig) press(keys string) {
	r.t.Helper()
	for _, k := range strings.Fields(keys) {
		r.send(keyPress(k))
	}
}

// text types a text as one paste does.
func (r *rig) text(s string) { r.send(tea.PasteMsg{Content: s}) }

func keyPress(k string) tea.KeyPressMsg {
	named := map[string]rune{"enter": tea.KeyEnter, "esc": tea.KeyEscape, "tab": tea.KeyTab, "up": tea.KeyUp, "down": tea.KeyDown,
		"left": tea.KeyLeft, "right": tea.KeyRight, "home": tea.KeyHome, "end": tea.KeyEnd, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown,
		"space": tea.KeySpace, "backspace": tea.KeyBackspace, "f1": tea.KeyF1}
	var msg tea.KeyPressMsg
	for {
		if rest, ok := strings.CutPrefix(k, "ctrl+"); ok {
			msg.Mod |= tea.ModCtrl
			k = rest
			continue
		}
		if rest, ok := strings.CutPrefix(k, "shift+"); ok {
			msg.Mod |= tea.ModShift
			k = rest
			continue
		}
		break
	}
	if code, ok := named[k]; ok {
		msg.Code = code
		if k == "space" && msg.Mod == 0 {
			msg.Text = " "
		}
		return msg
	}
	msg.Code = []rune(k)[0]
	if msg.Mod == 0 {
		msg.Text = k
	}
	return msg
}

// frame is the screen as plain text, a line each, without trailing spaces.
func (r *rig) frame() []string {
	lines := strings.Split(ansi.Strip(r.View().Content), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// sees fails unless the screen contains all the words.
func (r *rig) sees(words ...string) {
	r.t.Helper()
	screen := strings.Join(r.frame(), "\n")
	for _, w := range words {
		if !strings.Contains(screen, w) {
			r.t.Errorf("the screen does not say %q:\n%s", w, screen)
		}
	}
}

// misses fails if the screen contains any of the words.
func (r *rig) misses(words ...string) {
	r.t.Helper()
	screen := strings.Join(r.frame(), "\n")
	for _, w := range words {
		if strings.Contains(screen, w) {
			r.t.Errorf("the screen says %q:\n%s", w, screen)
		}
	}
}

// quits reports whether the last command ends the program.
func (r *rig) quits() bool {
	if r.last == nil {
		return false
	}
	_, ok := r.last().(tea.QuitMsg)
	return ok
}

// live runs an App with its commands, in the fake time of a synctest bubble.
type live struct {
	*rig
	msgs chan tea.Msg
	done chan struct{}
}

func newLive(t *testing.T, o Options) *live {
	l := &live{rig: &rig{App: New(t.Context(), o), t: t}, msgs: make(chan tea.Msg), done: make(chan struct{})}
	t.Cleanup(func() {
		close(l.done)
		time.Sleep(time.Hour) // all timers fire, and their goroutines end
	})
	_, h := fixture()
	l.history = h
	l.size(120, 40)
	l.start(l.Init())
	return l
}

func (l *live) start(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	go func() {
		msg := cmd()
		if batch, ok := msg.(tea.BatchMsg); ok {
			for _, c := range batch {
				l.start(c)
			}
			return
		}
		select {
		case l.msgs <- msg:
		case <-l.done:
		}
	}()
}

// run lets time pass.
func (l *live) run(d time.Duration) {
	end := time.After(d)
	for {
		select {
		case msg := <-l.msgs:
			l.send(msg)
			l.start(l.last)
		case <-end:
			synctest.Wait() // what was going on has come to rest, and may be looked at
			return
		}
	}
}

// press types keys and runs what they start.
func (l *live) press(keys string) {
	for _, k := range strings.Fields(keys) {
		l.send(keyPress(k))
		l.start(l.last)
	}
}

// read takes s as the answer of the poll under way.
func (r *rig) read(s *model.Snapshot) {
	r.send(snapshotMsg{generation: r.polls.generation, snapshot: s})
	if r.observing {
		r.send(r.observation()())
	}
}
