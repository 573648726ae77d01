package ui

import (
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// frame is what was drawn last.
type frame struct {
	old     bool // something may have changed since
	content string
}

// The least size that the program is drawn in.
const (
	leastWidth  = 30
	leastHeight = 8
)

// layout says how many lines each part of the frame takes, from top to bottom.
type layout struct {
	topbar, tabs, gap, body, rule, status, footer int
}

// layoutFor is the layout of a terminal with h lines, at least leastHeight.
func layoutFor(h int) layout {
	l := layout{topbar: 1, tabs: 1, status: 1, footer: 1}
	if h >= 18 {
		l.rule = 1
	}
	if h >= 30 {
		l.gap = 1
	}
	l.body = h - l.topbar - l.tabs - l.gap - l.rule - l.status - l.footer
	return l
}

// View implements tea.Model.
func (a *App) View() tea.View {
	if a.frame.old || a.frame.content == "" {
		a.frame.content = a.draw()
		a.frame.old = false
	}
	v := tea.NewView(a.frame.content)
	v.AltScreen = true
	v.BackgroundColor, v.ForegroundColor = a.theme.Back, a.theme.Fore
	v.WindowTitle = "flightdeck " + a.clusterName()
	return v
}

func (a *App) draw() string {
	w, h := a.width, a.height
	if w <= 0 || h <= 0 {
		return " "
	}
	if w < leastWidth || h < leastHeight {
		words := fmt.Sprintf("flightdeck needs %dx%d; this is %dx%d.", leastWidth, leastHeight, w, h)
		return strings.Join(fillLines(text.Wrap(words, w), h), "\n")
	}
	l := layoutFor(h)
	var b strings.Builder
	b.Grow(len(a.frame.content) + 256)
	a.topbar(&b, w)
	b.WriteByte('\n')
	a.tabline(&b, w)
	b.WriteByte('\n')
	b.WriteString(strings.Repeat("\n", l.gap))
	body := a.screen().draw(a, w, l.body)
	if a.overlay != nil {
		if box := a.overlay.draw(a, w, l.body); len(box) > 0 {
			x, y := max((w-text.Width(box[0]))/2, 0), max((l.body-len(box))/3, 0)
			body = text.Place(body, strings.Join(box, "\n"), x, y)
		}
	}
	b.WriteString(body)
	b.WriteByte('\n')
	if l.rule > 0 {
		b.WriteString(a.theme.Style(themes.Border).Render(strings.Repeat(a.theme.Glyphs.Horizontal, w)))
		b.WriteByte('\n')
	}
	a.statusline(&b, w)
	b.WriteByte('\n')
	a.footer(&b, w)
	return b.String()
}

// tabline names the tabs; the active one goes on with the crumbs of the screens above it.
func (a *App) tabline(b *strings.Builder, w int) {
	l := a.tabsIn(true, true)
	if l.width() > w {
		l = a.tabsIn(false, true)
	}
	if l.width() > w {
		l = a.tabsIn(false, false)
	}
	l.append(b, a.theme, w)
}

// tabsIn is the tab line, with the counts of the other tabs or without, and with their names or their digits alone.
func (a *App) tabsIn(counts, names bool) line {
	var l line
	for i := range a.tabs {
		digit := strconv.Itoa(i + 1)
		count := ""
		if counts || i == a.tab {
			if n := a.tabCount(i); n != "" {
				count = " " + n
			}
		}
		if i == a.tab {
			l = append(l, span{text: " " + digit + " " + tabNames[i] + count + " ", tok: themes.Selected})
			for _, s := range a.tabs[i].stack[1:] {
				l = append(l, span{text: a.theme.Glyphs.Right + " ", tok: themes.Faint}, span{text: s.crumb() + " ", tok: themes.Title})
			}
			continue
		}
		l = append(l, span{text: " "}, span{text: digit, tok: themes.Key})
		if names {
			l = append(l, span{text: " " + tabNames[i], tok: themes.Muted}, span{text: count, tok: themes.Faint})
		}
		l = append(l, span{text: " "})
	}
	return l
}

// tabCount is how much there is in a tab; empty while unknown and where there is nothing to count.
func (a *App) tabCount(i int) string {
	if tabNames[i] == "Activity" {
		return model.Count(int64(len(a.log.entries)))
	}
	if a.view == nil {
		return ""
	}
	switch tabNames[i] {
	case "Consumers":
		return model.Count(int64(len(a.view.Snapshot.Groups)))
	case "Shares":
		return model.Count(int64(len(a.view.Snapshot.ShareGroups)))
	case "Topics":
		return model.Count(int64(len(a.view.Snapshot.Topics)))
	}
	return ""
}

// statusline is the last message, or the line of an overlay that is typed in there.
func (a *App) statusline(b *strings.Builder, w int) {
	if p, ok := a.overlay.(prompt); ok {
		b.WriteString(p.prompt(a, w))
		return
	}
	tok := severityToken(a.status.severity)
	l := line{{text: " "}, {text: severityGlyph(&a.theme.Glyphs, a.status.severity) + " ", tok: tok}}
	if a.status.severity < model.Warning {
		tok = themes.Muted
	}
	l = append(l, span{text: model.Clean(a.status.text), tok: tok})
	l.append(b, a.theme, w)
}

// hint is a key and its word in the footer.
type hint struct {
	key, title string
	off        bool
}

// footer lists the keys that work here now, and sums up what is shown.
func (a *App) footer(b *strings.Builder, w int) {
	hints := a.hints()
	left := make(line, 0, 4*len(hints))
	for i, h := range hints {
		key, title := themes.Key, themes.Muted
		if h.off {
			key, title = themes.Disabled, themes.Disabled
		}
		drop := i + 1 // the last hints go first
		if h.title == "help" {
			drop = 1
		}
		left = append(left, span{text: " ", drop: drop}, span{text: h.key, tok: key, drop: drop},
			span{text: " " + h.title, tok: title, drop: drop}, span{text: " ", drop: drop})
	}
	var right line
	if a.overlay == nil {
		if s := a.screen().summary(a); s != "" {
			right = line{{text: s, tok: themes.Muted, drop: 4}, {text: " ", drop: 4}}
		}
	}
	spread(b, a.theme, w, left, right)
}

// hints are those of the overlay, or the bindings of the screen by their rank.
func (a *App) hints() []hint {
	if a.overlay != nil {
		return a.overlay.hints()
	}
	const before, after = 8, 20
	var ranked [before + after]*binding
	at := a.screen().at()
	for i := range a.bindings {
		if k := &a.bindings[i]; k.footer != 0 && k.footer > -before && k.footer < after && k.in&at != 0 {
			ranked[before+k.footer] = k
		}
	}
	hints := make([]hint, 0, len(ranked))
	for _, k := range ranked {
		if k == nil {
			continue
		}
		why := a.reason(k)
		if why != "" && (!k.changes || k.passing && k.unless(a) != "") {
			continue // it will be back when there is something to use it on
		}
		hints = append(hints, hint{keyName(k.keys[0]), k.title, why != ""})
	}
	return hints
}
