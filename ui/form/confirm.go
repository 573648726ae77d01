package form

import (
	"time"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"

	"flightdeck/themes"
	"flightdeck/ui/text"
)

// Grace is how long a confirmation takes no consent after it was opened: keys that come sooner were
// typed before it could be read.
const Grace = 700 * time.Millisecond

// Confirm asks before something is changed. With a name it is answered by typing that name, without
// by y.
type Confirm struct {
	name     string
	impact   []string
	input    textinput.Model
	readable time.Time
}

// NewConfirm asks, from now on, for consent to what impact says in sentences. A name that is not
// empty must be typed as it is shown.
func NewConfirm(now time.Time, impact []string, name string) *Confirm {
	c := &Confirm{name: name, impact: impact, input: newInput(len(name) + 100), readable: now.Add(Grace)}
	c.input.Focus()
	return c
}

// Update takes a key or a paste that came at that time. Within [Grace] it takes nothing but esc.
func (c *Confirm) Update(now time.Time, msg tea.Msg) Answer {
	key, isKey := msg.(tea.KeyPressMsg)
	if isKey && key.String() == "esc" {
		return Cancelled
	}
	if now.Before(c.readable) {
		return Open
	}
	if c.name == "" {
		switch {
		case isKey && key.String() == "y":
			return Done
		case isKey && key.String() == "n":
			return Cancelled
		}
		return Open
	}
	if isKey && key.String() == "enter" {
		if c.Matches() {
			return Done
		}
		return Open
	}
	c.input, _ = c.input.Update(msg)
	return Open
}

// Matches reports whether the name was typed.
func (c *Confirm) Matches() bool { return c.name == "" || c.input.Value() == c.name }

// View draws the confirmation in lines of at most w cells.
func (c *Confirm) View(theme *themes.Theme, w int) []string {
	var lines []string
	for _, sentence := range c.impact {
		for _, l := range text.Wrap(sentence, w) {
			lines = append(lines, theme.Style(themes.Text).Render(l))
		}
	}
	lines = append(lines, "")
	if c.name == "" {
		return append(lines, keys(theme, w, "y", "yes", "esc", "no"))
	}
	for _, l := range text.Wrap("Type "+c.name+" to go on:", w) {
		lines = append(lines, theme.Style(themes.Warning).Render(l))
	}
	lines = append(lines, drawInput(theme, &c.input, "", w))
	if c.Matches() {
		return append(lines, keys(theme, w, "enter", "do it", "esc", "back"))
	}
	return append(lines, keys(theme, w, "esc", "back"))
}

// keys writes pairs of a key and what it does, as many as fit.
func keys(theme *themes.Theme, w int, pairs ...string) string {
	line, used := "", 0
	for i := 0; i+1 < len(pairs); i += 2 {
		gap := min(i, 1) * 3
		n := gap + text.Width(pairs[i]) + 1 + text.Width(pairs[i+1])
		if used+n > w {
			break
		}
		used += n
		line += "   "[:gap] + theme.Style(themes.Key).Render(pairs[i]) + " " + theme.Style(themes.Muted).Render(pairs[i+1])
	}
	return line
}
