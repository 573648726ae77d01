package ui

import (
	"context"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"flightdeck/model"
	"flightdeck/themes"
)

// App is the whole program as a tea.Model.
type App struct {
	ctx      context.Context
	options  Options
	bindings []binding

	// What is known. base is the last snapshot as the source gave it, view what is shown.
	history        observer
	observing      bool // the history is at work
	observeAgain   bool // and something new came meanwhile
	base           *model.Snapshot
	offsets        model.ShareOffsets
	view           *model.View
	now            time.Time // of the last clock tick or snapshot
	log            activity
	announced      map[announcement]time.Time
	troubled       map[string]bool // groups that were said to need attention
	greeting       bool            // whether something needs attention is to be said once all was read
	fault          string          // why the last poll failed; empty when it did not
	nextTry        time.Time       // after a fault
	polls          loop
	offsetReads    loop
	offsetsWaiting bool // for the next read of share offsets
	paused         bool
	following      following
	holds          holds
	produced       map[string]string // what the form for producing had
	asked          bool              // a person waits for the poll under way
	ownedOnly      bool              // leave out partitions that no member owns
	armed          []*armedReset

	// What is on screen.
	width, height int
	look          look
	theme         *themes.Theme
	tabs          []tab
	tab           int
	overlay       overlay
	status        message
	frame         frame
}

// observer is a [model.History], or stands in for one. It has one user at a time.
type observer interface {
	Observe(*model.Snapshot) *model.View
}

// look is what the theme is made from.
type look struct {
	name    string
	profile colorprofile.Profile
	light   bool
	glyphs  themes.Glyphs
}

// New is the program on what o says. What it reads ends with ctx.
func New(ctx context.Context, o Options) *App {
	if o.Interval <= 0 {
		o.Interval = DefaultInterval
	}
	if o.Timeout <= 0 {
		o.Timeout = DefaultTimeout
	}
	a := &App{ctx: ctx, options: o, history: model.NewHistory(), bindings: newBindings(), tabs: newTabs(),
		announced: make(map[announcement]time.Time), troubled: make(map[string]bool), now: time.Now()}
	a.look = firstLook(o)
	a.restyle()
	for _, text := range o.Notices {
		a.record(entry{severity: model.Warning, kind: kindNotice, text: text})
	}
	if a.status.text == "" {
		a.say(model.Info, "Reading the cluster.")
	}
	a.reload()
	return a
}

func firstLook(o Options) look {
	l := look{name: o.Theme, profile: colorprofile.TrueColor, glyphs: themes.Unicode}
	if l.name == "" {
		l.name = themes.Auto
	}
	if o.LookupEnv != nil {
		l.glyphs = themes.GlyphsFor(o.LookupEnv)
		if v, _ := o.LookupEnv("NO_COLOR"); v != "" {
			l.profile = colorprofile.ASCII
		}
	}
	if o.ASCII {
		l.glyphs = themes.ASCII
	}
	return l
}

// restyle builds the theme anew and hands it to all that is drawn.
func (a *App) restyle() {
	o := themes.Options{Profile: a.look.profile, Light: a.look.light, Glyphs: a.look.glyphs}
	theme, err := themes.ByName(a.look.name, o)
	if err != nil {
		a.record(entry{severity: model.Warning, kind: kindNotice, text: err.Error() + "."})
		a.look.name = themes.Auto
		theme = themes.Default(o)
	}
	a.theme = theme
	for i := range a.tabs {
		for _, s := range a.tabs[i].stack {
			s.restyle(theme)
		}
	}
}

// nextTheme switches to the theme after the present one.
func (a *App) nextTheme() tea.Cmd {
	names := themes.Names()
	next := names[0]
	for i, name := range names {
		if name == a.look.name {
			next = names[(i+1)%len(names)]
		}
	}
	a.look.name = next
	a.restyle()
	a.say(model.Info, "Theme: "+next+".")
	return nil
}

// Init implements tea.Model.
func (a *App) Init() tea.Cmd {
	if a.options.LookupEnv != nil {
		if term, _ := a.options.LookupEnv("TERM"); term == "linux" {
			return tea.Batch(a.poll(), tickClock()) // the console does not know the question
		}
	}
	return tea.Batch(a.poll(), tickClock(), tea.RequestBackgroundColor)
}

// Update implements tea.Model.
func (a *App) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	a.frame.old = true
	switch msg := msg.(type) {
	case tea.KeyPressMsg:
		return a, a.press(msg)
	case tea.PasteMsg:
		if a.overlay != nil {
			return a, a.overlay.update(a, msg)
		}
	case tea.WindowSizeMsg:
		a.width, a.height = msg.Width, msg.Height
	case snapshotMsg:
		return a, a.polled(msg)
	case observedMsg:
		return a, a.observed(msg)
	case offsetsMsg:
		return a, a.offsetsRead(msg)
	case pollDueMsg:
		if msg.generation == a.polls.generation {
			return a, a.poll()
		}
	case offsetsDueMsg:
		if msg.generation == a.offsetReads.generation {
			a.offsetsWaiting = false
			return a, a.readOffsets()
		}
	case clockMsg:
		a.now = time.Time(msg)
		return a, tickClock()
	case tea.ColorProfileMsg:
		if a.look.profile != colorprofile.ASCII { // NO_COLOR stands
			a.look.profile = msg.Profile
			a.restyle()
		}
	case tea.BackgroundColorMsg:
		if light := !msg.IsDark(); light != a.look.light {
			a.look.light = light
			a.restyle()
		}
	case tea.ResumeMsg:
		return a, a.refresh()
	case arrival:
		a.frame.old = false
		return a, msg.arrive(a)
	default:
		a.frame.old = false
	}
	return a, nil
}

// press handles a key: ctrl+c always quits, an overlay takes the rest, and otherwise the bindings do.
func (a *App) press(msg tea.KeyPressMsg) tea.Cmd {
	key := msg.String()
	if key == "ctrl+c" {
		return tea.Quit
	}
	if a.overlay != nil {
		return a.overlay.update(a, msg)
	}
	if b := a.bindingFor(key); b != nil {
		return a.run(b)
	}
	return nil
}
