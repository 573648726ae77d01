// Command trivial is the least Bubble Tea program that fills a terminal: what the start of flightdeck is measured against.
package main

import (
	"os"

	tea "charm.land/bubbletea/v2"
)

type trivial struct{}

func (trivial) Init() tea.Cmd { return nil }

func (t trivial) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ok := msg.(tea.KeyPressMsg); ok {
		return t, tea.Quit
	}
	return t, nil
}

func (trivial) View() tea.View {
	v := tea.NewView("trivial")
	v.AltScreen = true
	return v
}

func main() {
	if _, err := tea.NewProgram(trivial{}).Run(); err != nil {
		os.Exit(1)
	}
}
