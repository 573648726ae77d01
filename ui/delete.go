package ui

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/form"
	"flightdeck/ui/table"
)

// What can be deleted of a group.
const (
	deleteWhole  = "the group"
	deleteOffset = "offsets of a topic"
)

// openDelete asks what of the selected group is to be deleted.
func (a *App) openDelete() tea.Cmd {
	g, ok := a.selectedGroup()
	if !ok {
		return nil
	}
	topic, what := a.deleteTopic()
	var f *form.Form
	check := func(s string) string {
		if f == nil || f.Value("what") == deleteWhole {
			return ""
		}
		ts, err := parseTopics(s)
		switch {
		case err != nil:
			return err.Error()
		case len(ts) != 1:
			return "name one topic, or partitions of it"
		case g.Type == model.TypeShare && len(ts[0].Partitions) > 0:
			return "share groups: whole topics only"
		}
		return ""
	}
	help := "A topic, or partitions of it: orders:0,2. It may be deleted already."
	if g.Type == model.TypeShare {
		help = "A topic. Kafka deletes the offsets of share groups for whole topics only."
	}
	f = form.New(
		form.Field{ID: "what", Label: "Delete", Kind: form.Choice, Choices: []string{deleteWhole, deleteOffset}, Value: what,
			Help: "Only an empty group can be deleted. Offsets of a topic: where no member reads it. A preview comes first."},
		form.Field{ID: "topic", Label: "Topic", Value: topic, Hint: "orders or orders:0,2", Help: help, Check: check},
	)
	d := &asker{title: "Delete of " + model.Clean(g.ID), form: f}
	d.changed = func() { suitDelete(f) }
	d.done = func(a *App) tea.Cmd {
		scope := model.DeleteScope{Group: g.ID}
		if f.Value("what") == deleteOffset {
			ts, _ := parseTopics(f.Value("topic"))
			scope.Topic, scope.Partitions = ts[0].Topic, ts[0].Partitions
		}
		return a.planDelete(scope, g.Type, d)
	}
	suitDelete(f)
	a.overlay = d
	return nil
}

func suitDelete(f *form.Form) {
	why := ""
	if f.Value("what") == deleteWhole {
		why = "all of them"
	}
	f.Switch("topic", why)
}

// deleteTopic is what the screen points at: marked partitions of one topic, or the topic of the selected one.
func (a *App) deleteTopic() (topic, what string) {
	s, ok := a.screen().(*groupScreen)
	if !ok {
		return "", deleteWhole
	}
	if marked := markedPartitions(s); len(marked) == 1 {
		if s.kind == model.TypeShare {
			marked[0].Partitions = nil
		}
		return topicsText(marked), deleteOffset
	}
	if r, ok := s.partitions.Selected(); ok {
		return r.Topic, deleteWhole
	}
	return "", deleteWhole
}

// planDelete reads what would disappear and shows it.
func (a *App) planDelete(scope model.DeleteScope, kind model.GroupType, back overlay) tea.Cmd {
	title := "Delete " + deleted(&scope)
	w := &running{title: title, words: "Reading what would disappear.", back: back}
	job := Job[model.DeletePlan]{Run: func(ctx context.Context) (model.DeletePlan, error) {
		return a.options.Admin.PlanDelete(ctx, scope, kind)
	}}
	return work(a, w, job, func(a *App, plan model.DeletePlan, err error) tea.Cmd {
		if err != nil {
			return a.fails(scope.Group, err)
		}
		a.openDeletePreview(title, &plan, back)
		return nil
	})
}

// deleted names what is deleted.
func deleted(s *model.DeleteScope) string {
	if s.Topic == "" {
		return model.Clean(s.Group)
	}
	return model.Clean(s.Topic + " of " + s.Group)
}

func (a *App) openDeletePreview(title string, plan *model.DeletePlan, back overlay) {
	s := &sheet[model.GroupPartition]{title: title, back: back}
	s.grid = newSheetGrid(a, func(p *model.GroupPartition) string { return fmt.Sprintf("%s/%010d", p.Topic, p.Number) }, plan.Rows, deleteColumns...)
	s.grid.blank = []string{"There are no positions."}
	s.text = func(a *App) []paragraph {
		if plan.Why != "" {
			ps := []paragraph{{lead: a.theme.Glyphs.Warning + " ", text: model.Clean(plan.Why), tok: themes.Warning}}
			if len(plan.Members) > 0 {
				ps = append(ps, paragraph{lead: "  ", text: whoIsIn(&model.Group{Members: plan.Members}), tok: themes.Muted})
			}
			return ps
		}
		var ps []paragraph
		for i, text := range plan.Sentences() {
			tok := themes.Text
			if i == 0 {
				tok = themes.Title
			}
			ps = append(ps, paragraph{text: model.Clean(text), tok: tok})
		}
		return ps
	}
	s.keys = []sheetKey{{key: "enter", title: "delete", off: func(*App) string { return model.Clean(plan.Why) }, do: func(a *App) tea.Cmd {
		action := plan.Action()
		return a.confirm(title, &action, s, func(a *App) tea.Cmd { return a.applyDelete(title, plan, s) })
	}}}
	a.overlay = s
}

// gone is what became of a deletion.
type gone struct {
	results []model.ActionResult
	saved   string
}

func (a *App) applyDelete(title string, plan *model.DeletePlan, back overlay) tea.Cmd {
	w := &running{title: title, words: "Deleting.", lasting: true, back: back}
	job := Job[gone]{Run: func(ctx context.Context) (g gone, err error) {
		g.results, g.saved, err = a.options.Admin.ApplyDelete(ctx, *plan)
		return g, err
	}}
	return work(a, w, job, func(a *App, g gone, err error) tea.Cmd {
		group := plan.Scope.Group
		if err != nil {
			return a.fails(group, err)
		}
		was := make(map[topicPartition]model.Int)
		for i := range plan.Rows {
			was[topicPartition{plan.Rows[i].Topic, plan.Rows[i].Number}] = plan.Rows[i].Position
		}
		rows := make([]resultRow, len(g.results))
		failed := 0
		for i, r := range g.results {
			rows[i] = resultRow{r, was[topicPartition{r.Topic, r.Partition}]}
			if !r.OK {
				failed++
			}
		}
		sentence := strings.ToUpper(what(plan)[:1]) + what(plan)[1:] + " deleted."
		if failed > 0 {
			sentence = fmt.Sprintf("%d of %d results failed.", failed, len(rows))
		}
		// Kafka sets start offsets of share groups that exist, and no others.
		back := g.saved != "" && len(plan.Rows) > 0 && (plan.Type != model.TypeShare || plan.Scope.Topic != "")
		undo := sheetKey{key: "U", title: "bring them back", do: func(a *App) tea.Cmd { return a.undo(group, plan.Type) }, off: func(*App) string {
			if !back {
				return "There is nothing that could be brought back."
			}
			return ""
		}}
		saved := ""
		if len(plan.Rows) > 0 && g.saved != "" {
			saved = "The positions from before are in " + g.saved + "."
			if back {
				saved += " U brings them back."
			}
		}
		a.openResult(title, sentence, nil, saved, rows, deleteResultColumns, undo)
		return a.acted(group, sentence, failed)
	})
}

// what is deleted, before the word deleted.
func what(plan *model.DeletePlan) string {
	if plan.Scope.Topic == "" {
		return "group " + plan.Scope.Group + " is"
	}
	return "the offsets of " + plan.Scope.Group + " on " + plan.Scope.Topic + " are"
}

var deleteColumns = []table.Column[model.GroupPartition]{
	{ID: "topic", Title: "TOPIC", Min: 8, Fair: 16, Max: 60, Weight: 1, Priority: 90,
		Cell: func(p *model.GroupPartition) (string, themes.Token) {
			if p.Deleted {
				return model.Clean(p.Topic) + " (deleted)", themes.Warning
			}
			return model.Clean(p.Topic), themes.Text
		}},
	{ID: "partition", Title: "P", Min: 3, Priority: 100, Right: true,
		Cell: func(p *model.GroupPartition) (string, themes.Token) { return strconv.Itoa(int(p.Number)), themes.Text }},
	{ID: "position", Title: "POSITION", Min: 9, Priority: 97, Right: true,
		Cell: func(p *model.GroupPartition) (string, themes.Token) { return offsetCell(p.Position) }},
	{ID: "start", Title: "LOG START", Min: 9, Priority: 40, Right: true,
		Cell: func(p *model.GroupPartition) (string, themes.Token) { return offsetCell(p.Start) }},
	{ID: "end", Title: "LOG END", Min: 9, Priority: 50, Right: true,
		Cell: func(p *model.GroupPartition) (string, themes.Token) { return offsetCell(p.End) }},
	{ID: "lag", Title: "LAG", Min: 7, Priority: 95, Right: true,
		Cell: func(p *model.GroupPartition) (string, themes.Token) { return lagCell(p.Lag, false) }},
}
