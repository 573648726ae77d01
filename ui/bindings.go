package ui

import (
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
)

// binding ties keys to an action. It is the only place that knows a key: dispatch, footer, help,
// palette and the README's table are made from it.
type binding struct {
	// id is stable and unique.
	id string
	// keys as tea.KeyPressMsg.String writes them; none for an action of the palette alone.
	keys []string
	// spare keys do the same where no other binding has them.
	spare []string
	// title is the word in the footer, name what the palette calls it, help a sentence.
	title, name, help string
	// in is where it works.
	in place
	// section groups it in the help.
	section section
	// footer is its rank among the hints at the bottom: 1 is the first, those below 0 come before it; 0 keeps it out.
	footer int
	// passing keeps it out of the footer while unless says that it can not be used.
	passing bool
	// changes marks what alters the cluster: read-only mode disables it.
	changes bool
	// right is the ACL operation on the subject of the screen that it needs, 0 for none.
	right int32
	// unless, when not nil, says why it can not be used now; empty when it can.
	unless func(*App) string
	// do carries it out.
	do func(*App) tea.Cmd
}

// section is a heading of the help.
type section string

// The sections, in the order of the help.
const (
	sectionMove    section = "Move"
	sectionLook    section = "Look"
	sectionRecords section = "Records"
	sectionChange  section = "Change"
	sectionHold    section = "Hold records"
	sectionProgram section = "Program"
)

// sections is their order.
var sections = []section{sectionMove, sectionLook, sectionRecords, sectionHold, sectionChange, sectionProgram}

// newBindings is the table of all bindings.
func newBindings() []binding {
	table := []binding{
		{id: "up", keys: []string{"up", "k"}, title: "up", name: "Move up", help: "Moves one row up.",
			in: anywhere, section: sectionMove, do: moving(func(g mover) { g.Move(-1) })},
		{id: "down", keys: []string{"down", "j"}, title: "down", name: "Move down", help: "Moves one row down.",
			in: anywhere, section: sectionMove, do: moving(func(g mover) { g.Move(1) })},
		{id: "page-up", keys: []string{"pgup", "ctrl+b"}, title: "page up", name: "Page up", help: "Moves one page up.",
			in: anywhere, section: sectionMove, do: moving(mover.PageUp)},
		{id: "page-down", keys: []string{"pgdown", "ctrl+f"}, title: "page down", name: "Page down", help: "Moves one page down.",
			in: anywhere, section: sectionMove, do: moving(mover.PageDown)},
		{id: "home", keys: []string{"home"}, title: "first", name: "First row", help: "Moves to the first row.",
			in: anywhere, section: sectionMove, do: moving(mover.Home)},
		{id: "end", keys: []string{"end"}, title: "last", name: "Last row", help: "Moves to the last row.",
			in: anywhere, section: sectionMove, do: moving(mover.End)},
		{id: "open", keys: []string{"enter"}, spare: []string{"right", "l"}, title: "open", name: "Open", help: "Opens what is selected.",
			in: anywhere &^ reading, section: sectionMove, footer: 1, unless: (*App).nothingToOpen, do: (*App).open},
		{id: "read", keys: []string{"enter", "right", "l"}, title: "read", name: "Read in full", help: "Shows the selected line in full.",
			in: reading, section: sectionMove, footer: 1, unless: (*App).nothingToCopy, do: (*App).read},
		{id: "back", keys: []string{"esc"}, spare: []string{"left", "h"}, title: "back", name: "Back", help: "Clears the filter, then goes back to the screen before.",
			in: anywhere, section: sectionMove, footer: 2, unless: (*App).nothingToLeave, do: (*App).back},
		{id: "pane-next", keys: []string{"tab"}, title: "next part", name: "Next part", help: "Goes to the next part of the screen.",
			in: details | atCluster, section: sectionMove, footer: 3, do: func(a *App) tea.Cmd { return a.cycle(1) }},
		{id: "pane-previous", keys: []string{"shift+tab"}, title: "previous part", name: "Previous part", help: "Goes to the previous part of the screen.",
			in: details | atCluster, section: sectionMove, do: func(a *App) tea.Cmd { return a.cycle(-1) }},

		{id: "filter", keys: []string{"/"}, title: "filter", name: "Filter",
			help: "Keeps the rows that match: words, !not, ~fuzzy, lag>1000, state=empty, type=share, combined with spaces.",
			in:   lists | atActivity | atArchived, section: sectionLook, footer: 5, do: (*App).openFilter},
		{id: "why", keys: []string{"W"}, title: "why", name: "Why: verdicts with evidence",
			help: "Says how the selected group is doing, what was observed, and what to do.",
			in:   onGroup | atTopic | atFlight | atArchived, section: sectionLook, footer: 4, unless: (*App).noGroup, do: (*App).openWhy},
		{id: "sort", keys: []string{"s"}, title: "sort", name: "Sort by a column", help: "Picks the column to sort by.",
			in: anywhere &^ atFlight, section: sectionLook, footer: 6, unless: (*App).nothingToSort, do: (*App).openSort},
		{id: "reverse", keys: []string{"S"}, title: "reverse", name: "Reverse the sort order", help: "Turns the sort order round.",
			in: anywhere, section: sectionLook, unless: (*App).nothingToSort, do: (*App).reverse},
		{id: "wide", keys: []string{"w"}, title: "wide", name: "More columns", help: "Shows the columns that are left out for room, such as member ids, page by page, and the usual ones again.",
			in: anywhere, section: sectionLook, do: (*App).moreColumns},
		{id: "owned", keys: []string{"u"}, title: "unowned", name: "Leave out partitions without an owner", help: "Leaves partitions that no member owns out of lag, and counts them again.",
			in: atConsumers | atGroup | atTopic, section: sectionLook, do: (*App).toggleOwned},
		{id: "copy", keys: []string{"y"}, title: "copy", name: "Copy the name", help: "Copies the name of what is selected to the clipboard (OSC 52).",
			in: anywhere, section: sectionLook, unless: (*App).nothingToCopy, do: (*App).copy},
		{id: "pause", keys: []string{"space"}, title: "pause", name: "Pause or resume", help: "Stops reading, so that the screen stands still, and goes on.",
			in: anywhere, section: sectionLook, footer: 15, do: (*App).pause},
		{id: "refresh", keys: []string{"ctrl+r"}, title: "refresh", name: "Refresh now", help: "Reads the cluster now.",
			in: anywhere, section: sectionLook, do: (*App).refresh},

		{id: "palette", keys: []string{":", "ctrl+p"}, title: "commands", name: "Command palette", help: "Finds any action by its name.",
			in: anywhere, section: sectionProgram, footer: 14, do: (*App).openPalette},
		{id: "help", keys: []string{"?", "f1"}, title: "help", name: "Help", help: "Lists all keys; type to search.",
			in: anywhere, section: sectionProgram, footer: 16, do: (*App).openHelp},
		{id: "theme", keys: []string{"t"}, title: "theme", name: "Next theme", help: "Switches to the next theme.",
			in: anywhere, section: sectionProgram, do: (*App).nextTheme},
		{id: "suspend", keys: []string{"ctrl+z"}, title: "suspend", name: "Suspend", help: "Puts flightdeck in the background of the shell.",
			in: anywhere, section: sectionProgram, do: func(*App) tea.Cmd { return tea.Suspend }},
		{id: "redraw", keys: []string{"ctrl+l"}, title: "redraw", name: "Redraw the screen", help: "Draws the whole screen again.",
			in: anywhere, section: sectionProgram, do: func(*App) tea.Cmd { return tea.ClearScreen }},
		{id: "leave", keys: []string{"q"}, title: "quit", name: "Back, or quit", help: "Goes back, and quits where there is nothing to go back to.",
			in: anywhere, section: sectionProgram, footer: 17, do: (*App).leave},
		{id: "quit", keys: []string{"ctrl+c"}, title: "quit", name: "Quit", help: "Quits from anywhere.",
			in: anywhere, section: sectionProgram, do: func(*App) tea.Cmd { return tea.Quit }},
	}
	for i, name := range tabNames {
		table = append(table, binding{id: "tab-" + strings.ToLower(name), keys: []string{strconv.Itoa(i + 1)}, title: name,
			name: "Go to " + name, help: "Shows " + name + " as it was left; pressed again, its list.", in: anywhere, section: sectionMove,
			do: func(a *App) tea.Cmd { return a.goTo(i) }})
	}
	return slices.Concat(table, flightBindings(), heldBindings(), produceBindings(), changeBindings())
}

// moving is an action on what has the focus.
func moving(move func(mover)) func(*App) tea.Cmd {
	return func(a *App) tea.Cmd {
		if g := a.screen().focused(); g != nil {
			move(g)
		}
		return a.arrived()
	}
}

// reason says why the binding can not be used now; empty when it can.
func (a *App) reason(b *binding) string {
	if b.in&a.screen().at() == 0 {
		return "works in " + b.in.String() + "."
	}
	if b.changes && a.options.ReadOnly {
		return "read-only mode: nothing on the cluster can be changed. Start without --read-only to do this."
	}
	if b.right != 0 && !model.Allowed(a.screen().rights(), b.right) {
		return "you lack the right " + rightName(b.right) + " on this; ask for the ACL."
	}
	if b.unless != nil {
		return b.unless(a)
	}
	return ""
}

func rightName(op int32) string {
	switch op {
	case model.OpRead:
		return "READ"
	case model.OpWrite:
		return "WRITE"
	case model.OpDelete:
		return "DELETE"
	case model.OpDescribe:
		return "DESCRIBE"
	case model.OpDescribeConfigs:
		return "DESCRIBE_CONFIGS"
	case model.OpAlterConfigs:
		return "ALTER_CONFIGS"
	}
	return "operation " + strconv.Itoa(int(op))
}

// run carries out a binding, or says why not.
func (a *App) run(b *binding) tea.Cmd {
	if why := a.reason(b); why != "" {
		a.say(model.Info, b.name+": "+why)
		return nil
	}
	return b.do(a)
}

// bindingFor finds the binding of a key: the one that works here, or else one that works elsewhere.
func (a *App) bindingFor(key string) *binding {
	var spare, elsewhere *binding
	for i := range a.bindings {
		b := &a.bindings[i]
		here := b.in&a.screen().at() != 0
		switch {
		case here && slices.Contains(b.keys, key):
			return b
		case here && slices.Contains(b.spare, key):
			spare = b
		case slices.Contains(b.keys, key):
			elsewhere = b
		}
	}
	if spare != nil {
		return spare
	}
	return elsewhere
}

// keyName is how a key is written for people.
func keyName(key string) string {
	switch key {
	case "pgup":
		return "page up"
	case "pgdown":
		return "page down"
	}
	return key
}

// keyNames are all keys of the binding.
func (b *binding) keyNames() string {
	var names []string
	for _, k := range slices.Concat(b.keys, b.spare) {
		names = append(names, keyName(k))
	}
	return strings.Join(names, " ")
}
