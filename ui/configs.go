package ui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/form"
	"flightdeck/ui/table"
)

// configsView shows the settings of a group and changes them.
type configsView struct {
	*sheet[model.ConfigRow]
	configs model.ConfigSheet
	last    *change // what was done last; nil for nothing
}

// change is what became of a change of a setting.
type change struct {
	name, text string
	failed     bool
}

// openConfigs shows the settings of the selected group.
func (a *App) openConfigs() tea.Cmd {
	g, ok := a.selectedGroup()
	if !ok {
		return nil
	}
	return a.readConfigsOf(g.ID, g.Type, nil, nil)
}

// openConfigsOf asks for the id of a group, which need not exist, and shows its settings.
func (a *App) openConfigsOf() tea.Cmd {
	types := []string{model.TypeShare.String(), model.TypeConsumer.String(), model.TypeStreams.String()}
	f := form.New(
		form.Field{ID: "group", Label: "Group", Hint: "id of the group",
			Help: "It need not exist: what is set before the first member joins decides where a share group starts.",
			Check: func(s string) string {
				if s == "" {
					return "name a group"
				}
				return ""
			}},
		form.Field{ID: "type", Label: "Type", Kind: form.Choice, Choices: types, Help: "A group that exists is shown by its own type."},
	)
	d := &asker{title: "Settings of a group", form: f}
	d.done = func(a *App) tea.Cmd {
		id, kind := f.Value("group"), model.TypeShare
		switch f.Value("type") {
		case types[1]:
			kind = model.TypeConsumer
		case types[2]:
			kind = model.TypeStreams
		}
		if a.view != nil {
			if g, ok := a.view.Snapshot.Group(id); ok {
				kind = g.Type
			}
		}
		return a.readConfigsOf(id, kind, d, nil)
	}
	a.overlay = d
	return nil
}

// noAdmin says that nothing can be asked for here.
func (a *App) noAdmin() string {
	if a.options.Admin == nil {
		return "this cluster can only be looked at."
	}
	return ""
}

// readConfigsOf reads the settings of a group and shows them, with what was done last.
func (a *App) readConfigsOf(group string, kind model.GroupType, back overlay, last *change) tea.Cmd {
	w := &running{title: "Settings of " + model.Clean(group), words: "Reading the settings of the group.", back: back}
	job := Job[model.ConfigSheet]{Run: func(ctx context.Context) (model.ConfigSheet, error) {
		return a.options.Admin.GroupConfigs(ctx, group, kind)
	}}
	return work(a, w, job, func(a *App, configs model.ConfigSheet, err error) tea.Cmd {
		if err != nil {
			return a.fails(group, err)
		}
		a.showConfigs(configs, back, last)
		return nil
	})
}

func (a *App) showConfigs(configs model.ConfigSheet, back overlay, last *change) {
	v := &configsView{configs: configs, last: last}
	v.sheet = &sheet[model.ConfigRow]{
		title: "Settings of " + model.Clean(configs.Group),
		text:  v.paragraphs,
		grid:  newSheetGrid(a, func(r *model.ConfigRow) string { return r.Name }, configs.Rows, configColumns...),
		note:  configNote,
		back:  back,
	}
	v.keys = []sheetKey{
		{key: "enter", title: "change", off: v.fixed, do: v.change},
		{key: "u", title: "unset", off: v.notSet, do: v.unset},
		{key: "y", title: "copy", do: v.copyRow},
	}
	v.grid.blank = []string{"The brokers have no settings for groups of this type."}
	if configs.Type == model.TypeClassic {
		v.grid.blank = []string{"Classic groups have no settings on the brokers.", "Their members bring their own: session.timeout.ms, auto.offset.reset and the like are in the clients' configuration."}
	}
	if last != nil {
		v.grid.Select(last.name)
	}
	a.overlay = v.sheet
}

func (v *configsView) paragraphs(a *App) []paragraph {
	c := &v.configs
	first := fmt.Sprintf("A %s group", c.Type)
	if a.view != nil {
		if _, ok := a.view.Snapshot.Group(c.Group); !ok {
			first = fmt.Sprintf("There is no group %s yet. What is set here is in force when it is made as a %s group", model.Clean(c.Group), c.Type)
		}
	}
	if c.Version != "" {
		first += " on Kafka " + model.Clean(c.Version)
	}
	ps := []paragraph{{text: first + ".", tok: themes.Title}}
	if l := v.last; l != nil {
		severity := model.OK
		if l.failed {
			severity = model.Critical
		}
		ps = append(ps, paragraph{lead: severityGlyph(&a.theme.Glyphs, severity) + " ", text: model.Clean(l.text), tok: severityToken(severity)})
	}
	if c.Assignors != "" {
		ps = append(ps, paragraph{text: "Assignors of the brokers: " + model.Clean(c.Assignors) + ".", tok: themes.Muted})
	}
	for _, p := range c.Problems {
		ps = append(ps, paragraph{lead: a.theme.Glyphs.Warning + " ", text: model.Clean(p.Text), tok: themes.Warning})
	}
	return ps
}

// configNote is what is known of a setting, besides its value.
func configNote(r *model.ConfigRow) string {
	words := []string{r.Meaning}
	if b := r.Bounds(); b != "" {
		words = append(words, "Takes "+b+".")
	}
	if r.Fixed != "" {
		words = append(words, r.Fixed)
	} else {
		words = append(words, "Since Kafka "+r.Since+".")
	}
	return model.Clean(strings.Join(words, " "))
}

// locked says why no setting can be changed.
func (v *configsView) locked(a *App) string {
	if a.options.ReadOnly {
		return "Read-only mode: nothing on the cluster can be changed. Start without --read-only to do this."
	}
	if a.view != nil {
		// Where the brokers do not tell of the right to see settings, which is had, they do not tell of this one either.
		g, ok := a.view.Snapshot.Group(v.configs.Group)
		if ok && model.Allowed(g.Operations, model.OpDescribeConfigs) && !model.Allowed(g.Operations, model.OpAlterConfigs) {
			return "You lack the right ALTER_CONFIGS on this group; ask for the ACL."
		}
	}
	return ""
}

// fixed says why the selected setting can not be changed.
func (v *configsView) fixed(a *App) string {
	if why := v.locked(a); why != "" {
		return why
	}
	r, ok := v.grid.Selected()
	if !ok {
		return "There is nothing to change."
	}
	return model.Clean(r.Fixed)
}

// notSet says why the selected setting can not be unset.
func (v *configsView) notSet(a *App) string {
	if why := v.fixed(a); why != "" {
		return why
	}
	if r, _ := v.grid.Selected(); r.Value.Source != model.ConfigOfGroup {
		return r.Name + " is not set for this group."
	}
	return ""
}

func (v *configsView) copyRow(a *App) tea.Cmd {
	r, ok := v.grid.Selected()
	if !ok {
		return nil
	}
	return a.copyText(model.Clean(r.Name+"="+r.Value.Value), r.Name)
}

// change asks for a new value of the selected setting.
func (v *configsView) change(a *App) tea.Cmd {
	r, _ := v.grid.Selected()
	row := *r
	field := form.Field{ID: "value", Label: "Value", Value: row.Value.Value, Hint: row.Bounds(), Help: configNote(&row), Check: func(s string) string {
		return row.Check(strings.TrimSpace(s))
	}}
	// Where one of the choices is only the beginning of a value, it is typed.
	if n := len(row.Choices); n > 0 && !strings.HasSuffix(row.Choices[n-1], ":") {
		field.Kind, field.Choices = form.Choice, row.Choices
	}
	f := form.New(field)
	d := &asker{title: row.Name, form: f, back: v.sheet}
	d.done = func(a *App) tea.Cmd {
		return v.propose(a, model.ConfigChange{Name: row.Name, Value: model.Some(strings.TrimSpace(f.Value("value")))}, d)
	}
	a.overlay = d
	return nil
}

func (v *configsView) unset(a *App) tea.Cmd {
	r, _ := v.grid.Selected()
	return v.propose(a, model.ConfigChange{Name: r.Name}, v.sheet)
}

// propose asks the broker whether it would take a change, and then the person.
func (v *configsView) propose(a *App, change model.ConfigChange, back overlay) tea.Cmd {
	changes := []model.ConfigChange{change}
	plan := model.PlanConfigs(&v.configs, changes)
	if plan.Why != "" {
		a.say(model.Info, plan.Why)
		return nil
	}
	group := v.configs.Group
	w := &running{title: v.title, words: "Asking the broker whether it would take this.", back: back}
	job := Job[struct{}]{Run: func(ctx context.Context) (struct{}, error) {
		return struct{}{}, a.options.Admin.TryGroupConfigs(ctx, group, changes)
	}}
	return work(a, w, job, func(a *App, _ struct{}, err error) tea.Cmd {
		if err != nil {
			return a.fails(group, err)
		}
		action := plan.Action()
		return a.confirm(v.title, &action, back, func(a *App) tea.Cmd { return v.apply(a, &plan) })
	})
}

func (v *configsView) apply(a *App, plan *model.ConfigPlan) tea.Cmd {
	group := plan.Group
	w := &running{title: v.title, words: "Changing the setting.", lasting: true, back: v.sheet}
	job := Job[[]model.ActionResult]{Run: func(ctx context.Context) ([]model.ActionResult, error) {
		return a.options.Admin.AlterGroupConfigs(ctx, *plan)
	}}
	return work(a, w, job, func(a *App, results []model.ActionResult, err error) tea.Cmd {
		if err != nil {
			return a.fails(group, err)
		}
		failed := 0
		last := &change{name: plan.Changes[0].Name}
		for _, r := range results { // one, since one setting is changed at a time
			last.text = r.Text
			if last.failed = !r.OK; last.failed {
				failed++
			}
		}
		return tea.Batch(a.acted(group, last.text, failed), a.readConfigsOf(group, v.configs.Type, v.back, last))
	})
}

var configColumns = []table.Column[model.ConfigRow]{
	{ID: "name", Title: "SETTING", Min: 18, Fair: 30, Max: 42, Weight: 1, Priority: 100,
		Cell: func(r *model.ConfigRow) (string, themes.Token) {
			if r.Fixed != "" {
				return r.Name, themes.Faint
			}
			return r.Name, themes.Text
		}},
	{ID: "value", Title: "VALUE", Min: 10, Max: 40, Priority: 99,
		Cell: func(r *model.ConfigRow) (string, themes.Token) {
			switch {
			case !r.Known:
				return model.Unknown, themes.Faint
			case r.Value.Source == model.ConfigOfGroup:
				return textCell(r.Value.Value, themes.Title)
			}
			return textCell(r.Value.Value, themes.Muted)
		}},
	{ID: "source", Title: "FROM", Min: 7, Priority: 95,
		Cell: func(r *model.ConfigRow) (string, themes.Token) {
			switch {
			case !r.Known:
				return "", themes.Faint
			case r.Value.Source == model.ConfigOfGroup:
				return string(r.Value.Source), themes.Accent
			}
			return string(r.Value.Source), themes.Faint
		}},
	{ID: "bounds", Title: "TAKES", Min: 12, Max: 40, Priority: 60,
		Cell: func(r *model.ConfigRow) (string, themes.Token) { return textCell(r.Bounds(), themes.Muted) }},
	{ID: "meaning", Title: "MEANING", Min: 20, Weight: 3, Priority: 40,
		Cell: func(r *model.ConfigRow) (string, themes.Token) { return r.Meaning, themes.Muted }},
}
