package ui

import (
	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
)

// screen is what fills the body.
type screen interface {
	// at is the kind of screen, for the bindings.
	at() place
	// crumb is its name in the tab line; empty for the first screen of a tab.
	crumb() string
	// load takes the data, and whatever else of the app the screen shows.
	load(*App)
	// restyle takes another theme.
	restyle(*themes.Theme)
	// draw is the body of w by h cells. It is called only when something may have changed.
	draw(a *App, w, h int) string
	// want adds what is on screen to what the next poll reads first.
	want(*model.Want)
	// focused is what the keys of movement act on; nil for nothing.
	focused() pane
	// cycle moves the focus by n parts.
	cycle(n int)
	// group is the group that the screen or its selected row stands for; empty for none.
	group() string
	// rights are what the user may do to what the screen or its selected row stands for.
	rights() model.Operations
	// summary is a short line about what is shown, such as "42 groups".
	summary(*App) string
	// inside makes the screen that enter opens; nil when there is none.
	inside() func() screen
}

// tab is a stack of screens; the first is the tab's own.
type tab struct{ stack []screen }

var tabNames = [...]string{"Consumers", "Shares", "Topics", "Cluster", "Activity"}

func newTabs() []tab {
	roots := []screen{newConsumers(), newShares(), newTopics(), newCluster(), newActivity()}
	tabs := make([]tab, len(roots))
	for i, s := range roots {
		tabs[i].stack = []screen{s}
	}
	return tabs
}

// screen is the one on screen.
func (a *App) screen() screen {
	stack := a.tabs[a.tab].stack
	return stack[len(stack)-1]
}

// reload hands the data to the screen on top. The others take it when they come up again.
func (a *App) reload() {
	a.screen().load(a)
	a.watch()
}

// goTo shows a tab where it was left, or its list when it is shown already.
func (a *App) goTo(i int) tea.Cmd {
	if a.tab == i {
		a.tabs[i].stack = a.tabs[i].stack[:1]
	}
	a.tab = i
	a.reload()
	if tabNames[i] == "Topics" {
		return a.sooner() // the offsets of topics are read only while somebody looks at them
	}
	return a.arrived()
}

// push shows a screen above the present one.
func (a *App) push(s screen) {
	t := &a.tabs[a.tab]
	t.stack = append(t.stack, s)
	s.restyle(a.theme)
	a.reload()
}

func (a *App) nothingToOpen() string {
	if a.screen().inside() == nil {
		return "nothing is selected that can be opened."
	}
	return ""
}

func (a *App) open() tea.Cmd {
	a.push(a.screen().inside()())
	return tea.Batch(a.sooner(), a.arrived(), a.readConfigs())
}

// sooner polls now when a new screen asks for more than the last poll has read.
func (a *App) sooner() tea.Cmd {
	if a.paused || a.base == nil || a.fault != "" || a.polls.reading() {
		return nil
	}
	return a.poll()
}

func (a *App) nothingToLeave() string {
	if a.filterText() == "" && len(a.tabs[a.tab].stack) == 1 {
		return "this is the outermost screen. q quits."
	}
	return ""
}

func (a *App) back() tea.Cmd {
	if a.filterText() != "" {
		a.setFilter("")
		return nil
	}
	return a.goAway((*App).pop)
}

func (a *App) leave() tea.Cmd {
	if len(a.tabs[a.tab].stack) == 1 {
		return a.endArmed((*App).goQuit)
	}
	return a.goAway((*App).pop)
}

// pop goes back to the screen below.
func (a *App) pop() tea.Cmd {
	t := &a.tabs[a.tab]
	t.stack = t.stack[:len(t.stack)-1]
	a.reload()
	return a.arrived()
}

func (a *App) cycle(n int) tea.Cmd {
	a.screen().cycle(n)
	return nil
}
