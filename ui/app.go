package ui

import (
	"context"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
)

// App is the whole program as a tea.Model.
type App struct {
	ctx     context.Context
	options Options
	history *model.History
	view    *model.View
}

// New is the program on what o says. Its polls end with ctx.
func New(ctx context.Context, o Options) *App {
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	return &App{ctx: ctx, options: o, history: model.NewHistory()}
}

// Init implements tea.Model.
func (a *App) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyPressMsg); ok && (key.String() == "ctrl+c" || key.String() == "q") {
		return a, tea.Quit
	}
	return a, nil
}

// View implements tea.Model.
func (a *App) View() tea.View {
	v := tea.NewView("flightdeck")
	v.AltScreen = true
	return v
}
