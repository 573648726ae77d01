package ui

import (
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// overlay lies over the screen and takes the keys while it is open.
type overlay interface {
	// update takes a key or a paste. An overlay closes itself by setting App.overlay.
	update(*App, tea.Msg) tea.Cmd
	// draw is the box over a body of w by h cells: lines of one width; none for an overlay that is not in
	// the body.
	draw(a *App, w, h int) []string
	// hints are its keys.
	hints() []hint
}

// prompt is an overlay in the place of the status line.
type prompt interface {
	prompt(a *App, w int) string
}

// box frames lines with a title. Each line may be styled and is cut or filled to the inner width w.
func box(theme *themes.Theme, title string, lines []string, w int) []string {
	g, border := &theme.Glyphs, theme.Style(themes.Border)
	title = text.Truncate(title, w-4, g.Ellipsis)
	head := border.Render(g.TopLeft+g.Horizontal+" ") + theme.Style(themes.Title).Render(title) +
		border.Render(" "+strings.Repeat(g.Horizontal, max(w-text.Width(title)-1, 0))+g.TopRight)
	out := make([]string, 0, len(lines)+2)
	out = append(out, head)
	for _, l := range lines {
		if text.Width(l) > w {
			l = ansi.Truncate(l, w, g.Ellipsis)
		}
		out = append(out, border.Render(g.Vertical)+" "+l+strings.Repeat(" ", max(w-text.Width(l), 0))+" "+border.Render(g.Vertical))
	}
	return append(out, border.Render(g.BottomLeft+strings.Repeat(g.Horizontal, w+2)+g.BottomRight))
}

// newInput is a line to type in.
func newInput(theme *themes.Theme, placeholder, value string) textinput.Model {
	in := textinput.New()
	in.Prompt = ""
	in.Placeholder = placeholder
	in.CharLimit = 500
	in.SetValue(value)
	in.CursorEnd()
	var s textinput.Styles
	s.Focused.Placeholder = lipgloss.NewStyle().Faint(true)
	s.Cursor.Blink = false
	in.SetStyles(s)
	in.Focus()
	return in
}

// openWhy shows the verdicts on the selected group.
func (a *App) openWhy() tea.Cmd {
	id := a.screen().group()
	g, ok := a.view.Snapshot.Group(id)
	if !ok {
		return nil
	}
	p := &prose{}
	p.restyle(a.theme)
	p.set(whyParagraphs(a, g, a.insight(id)))
	a.overlay = &reader{title: model.Clean(id), prose: p}
	return nil
}

// read shows the selected line in full.
func (a *App) read() tea.Cmd {
	pane := a.screen().focused()
	p := &prose{}
	p.restyle(a.theme)
	p.set([]paragraph{{text: pane.copied(), tok: themes.Text}})
	a.overlay = &reader{title: pane.title(), prose: p}
	return nil
}

func (a *App) noGroup() string {
	if a.screen().group() == "" || a.view == nil {
		return "no group is selected."
	}
	return ""
}

// reader is an overlay with text to read.
type reader struct {
	title string
	prose *prose
}

func (r *reader) update(a *App, msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	switch key.String() {
	case "esc", "enter", "q", "W", "left", "h":
		a.overlay = nil
	case "y":
		return a.copyText(r.prose.copied(), "the text")
	default:
		scroll(r.prose, key.String())
	}
	return nil
}

// scroll moves m by a key of movement and reports whether it was one.
func scroll(m mover, key string) bool {
	switch key {
	case "up", "k", "ctrl+p":
		m.Move(-1)
	case "down", "j", "ctrl+n":
		m.Move(1)
	case "pgup", "ctrl+b":
		m.PageUp()
	case "pgdown", "ctrl+f", "space":
		m.PageDown()
	case "home":
		m.Home()
	case "end":
		m.End()
	default:
		return false
	}
	return true
}

func (r *reader) draw(a *App, w, h int) []string {
	inner := min(w-6, 96)
	r.prose.wrap(inner)
	lines := strings.Split(r.prose.draw(a.theme, inner, min(len(r.prose.wrapped), max(h-2, 1))), "\n")
	return box(a.theme, r.title, lines, inner)
}

func (r *reader) hints() []hint {
	return []hint{{key: "esc", title: "close"}, {key: "up down", title: "scroll"}, {key: "y", title: "copy"}}
}

func (a *App) nothingToCopy() string {
	if p := a.screen().focused(); p == nil || p.copied() == "" {
		return "nothing is selected."
	}
	return ""
}

func (a *App) copy() tea.Cmd {
	name := a.screen().focused().copied()
	what := name
	if strings.Contains(name, "\n") {
		what = "the text"
	}
	return a.copyText(name, what)
}

// copyText puts clean text on the clipboard of the terminal.
func (a *App) copyText(s, what string) tea.Cmd {
	a.say(model.Info, "Sent to the clipboard: "+what)
	return tea.SetClipboard(s)
}
