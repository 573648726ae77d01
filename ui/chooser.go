package ui

import (
	"fmt"
	"strings"

	"charm.land/bubbles/v2/textinput"
	tea "charm.land/bubbletea/v2"
	"github.com/sahilm/fuzzy"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// choice is a line of a chooser.
type choice struct {
	id, title string
	// key is shown at the right.
	key string
	// off says why it can not be chosen; empty when it can.
	off string
}

// chooser is an overlay with a list to choose from by typing.
type chooser struct {
	title   string
	input   textinput.Model
	choices []choice
	shown   []fuzzy.Match
	cursor  int
	height  int
	pick    func(*App, string) tea.Cmd
	again   string // a key that moves on, besides down: the one that opened it
}

func newChooser(a *App, title, placeholder string, choices []choice, pick func(*App, string) tea.Cmd) *chooser {
	c := &chooser{title: title, input: newInput(a.theme, placeholder, ""), choices: choices, pick: pick}
	c.search()
	return c
}

func (c *chooser) search() {
	c.cursor = 0
	if pattern := c.input.Value(); pattern != "" {
		titles := make([]string, len(c.choices))
		for i := range c.choices {
			titles[i] = c.choices[i].title
		}
		c.shown = fuzzy.Find(pattern, titles)
		return
	}
	c.shown = c.shown[:0]
	for i := range c.choices {
		c.shown = append(c.shown, fuzzy.Match{Index: i})
	}
}

// Move, PageUp, PageDown, Home and End move the cursor.
func (c *chooser) Move(n int) { c.cursor = max(min(c.cursor+n, len(c.shown)-1), 0) }
func (c *chooser) PageUp()    { c.Move(-c.height) }
func (c *chooser) PageDown()  { c.Move(c.height) }
func (c *chooser) Home()      { c.cursor = 0 }
func (c *chooser) End()       { c.Move(len(c.shown)) }

func (c *chooser) update(a *App, msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok {
		switch k := key.String(); k {
		case "esc":
			a.overlay = nil
			return nil
		case "enter":
			return c.choose(a)
		case "up", "down", "pgup", "pgdown", "home", "end", "ctrl+n", "ctrl+p":
			scroll(c, k)
			return nil
		case "tab", c.again:
			c.Move(1)
			return nil
		}
	}
	before := c.input.Value()
	c.input, _ = c.input.Update(msg)
	if c.input.Value() != before {
		c.search()
	}
	return nil
}

func (c *chooser) choose(a *App) tea.Cmd {
	if len(c.shown) == 0 {
		return nil
	}
	picked := &c.choices[c.shown[c.cursor].Index]
	if picked.off != "" {
		a.say(model.Info, picked.title+": "+picked.off)
		return nil
	}
	a.overlay = nil
	return c.pick(a, picked.id)
}

func (c *chooser) draw(a *App, w, h int) []string {
	inner := min(w-6, 64)
	c.height = max(min(len(c.choices), h-3), 1)
	c.input.SetWidth(inner - 4)
	lines := []string{a.theme.Style(themes.Key).Render(a.theme.Glyphs.Right+" ") + c.input.View()}
	top := max(min(c.cursor-c.height/2, len(c.shown)-c.height), 0)
	for i := top; i < min(top+c.height, len(c.shown)); i++ {
		lines = append(lines, c.line(a.theme, i, inner))
	}
	if len(c.shown) == 0 {
		lines = append(lines, a.theme.Style(themes.Muted).Render("Nothing matches."))
	}
	// The box keeps its height while one types.
	for len(lines) < c.height+1 {
		lines = append(lines, "")
	}
	return box(a.theme, c.title, lines, inner)
}

// line draws one choice, the letters that matched lit.
func (c *chooser) line(theme *themes.Theme, i, w int) string {
	m := c.shown[i]
	ch := &c.choices[m.Index]
	style, lead := theme.Style, "  "
	if i == c.cursor {
		style, lead = theme.OnSelected, theme.Glyphs.Cursor+" "
	}
	tok := themes.Text
	if ch.off != "" {
		tok = themes.Disabled
	}
	matched := make(map[int]bool, len(m.MatchedIndexes))
	for _, at := range m.MatchedIndexes {
		matched[at] = true
	}
	var b strings.Builder
	b.WriteString(style(themes.Accent).Render(lead))
	title := text.Truncate(ch.title, w-2-text.Width(ch.key)-1, theme.Glyphs.Ellipsis)
	for at, r := range title {
		t := tok
		if matched[at] {
			t = themes.Match
		}
		b.WriteString(style(t).Render(string(r)))
	}
	pad := max(w-2-text.Width(title)-text.Width(ch.key), 0)
	b.WriteString(style(themes.Text).Render(strings.Repeat(" ", pad)))
	b.WriteString(style(themes.Key).Render(ch.key))
	return b.String()
}

func (c *chooser) hints() []hint {
	return []hint{{key: "enter", title: "choose"}, {key: "up down", title: "move"}, {key: "esc", title: "close"}}
}

// openPalette lists every action by name.
func (a *App) openPalette() tea.Cmd {
	var choices []choice
	for i := range a.bindings {
		b := &a.bindings[i]
		if b.section == sectionMove && !strings.HasPrefix(b.id, "tab-") {
			continue // moving by name is of no use
		}
		if b.id == "palette" {
			continue
		}
		choices = append(choices, choice{id: b.id, title: b.name, key: b.keyNames(), off: a.reason(b)})
	}
	a.overlay = newChooser(a, "Commands", "type a part of a name", choices, func(a *App, id string) tea.Cmd {
		for i := range a.bindings {
			if a.bindings[i].id == id {
				return a.run(&a.bindings[i])
			}
		}
		return nil
	})
	return nil
}

func (a *App) nothingToSort() string {
	if s, ok := a.screen().focused().(sorter); !ok || len(s.sortable()) == 0 {
		return "this part has no columns to sort by."
	}
	return ""
}

// openSort lists the columns of the focused table, the present one first under the cursor.
func (a *App) openSort() tea.Cmd {
	s := a.screen().focused().(sorter)
	now, desc := s.Sort()
	choices := s.sortable()
	c := newChooser(a, "Sort by", "type a part of a name", choices, func(a *App, id string) tea.Cmd {
		if id != now {
			s.SortBy(id)
		}
		return a.reverseNote(s)
	})
	for i := range choices {
		if choices[i].id == now {
			c.cursor = i
			choices[i].key = "sorted, smallest first"
			if desc {
				choices[i].key = "sorted, largest first"
			}
		}
	}
	c.again = "s"
	a.overlay = c
	return nil
}

func (a *App) reverse() tea.Cmd {
	s := a.screen().focused().(sorter)
	s.Reverse()
	return a.reverseNote(s)
}

// reverseNote says how the table is sorted now.
func (a *App) reverseNote(s sorter) tea.Cmd {
	id, desc := s.Sort()
	order := "smallest first"
	if desc {
		order = "largest first"
	}
	for _, c := range s.sortable() {
		if c.id == id {
			a.say(model.Info, "Sorted by "+c.title+", "+order+". S turns it round.")
		}
	}
	return nil
}

// moreColumns shows the next page of columns.
func (a *App) moreColumns() tea.Cmd {
	p, ok := a.screen().focused().(interface{ NextPage() (page, pages int) })
	if !ok {
		return nil
	}
	switch page, pages := p.NextPage(); {
	case pages == 1:
		a.say(model.Info, "All columns are on the screen.")
	case page == 0:
		a.say(model.Info, "The usual columns.")
	default:
		a.say(model.Info, fmt.Sprintf("Columns, page %d of %d. w goes on.", page+1, pages))
	}
	return nil
}
