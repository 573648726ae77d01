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

// Redriver puts records that a share group gave up on back into work. Its methods are called from commands.
type Redriver interface {
	// Preview says of each record what would be produced, or why nothing can be. target is the topic that they go to;
	// empty is where each is from.
	Preview(ctx context.Context, group string, refs []model.RecordRef, target string) ([]model.RedriveItem, error)
	// Redrive produces the items that are ready; force names an internal topic that is to be written all the same.
	Redrive(ctx context.Context, items []model.RedriveItem, force string) ([]Production, error)
}

// redriveMost is how many records are redriven at once.
const redriveMost = 10_000

// redrive is a choice of records to be produced again.
type redrive struct {
	group  string // empty where the records say it
	refs   []model.RecordRef
	target string
}

// produceBindings are the keys for producing, and for producing again.
func produceBindings() []binding {
	return []binding{
		{id: "produce", keys: []string{"p"}, title: "produce", name: "Produce records", help: "Produces records to the topic: from a template or a file, at a rate, with progress.",
			in: atTopic | atTopics | atFlight, section: sectionChange, footer: 13, passing: true, changes: true, unless: (*App).cannotProduce, do: (*App).openProduce},
		{id: "redrive", keys: []string{"R"}, title: "redrive", name: "Redrive records", help: "Produces records that a group gave up on again: those of the list, or those of a dead-letter topic. A preview comes first.",
			in: atArchived | atTopic, section: sectionChange, footer: -2, passing: true, changes: true, unless: (*App).nothingToRedrive, do: (*App).openRedrive},
		{id: "mark-archived", keys: []string{"m"}, title: "mark", name: "Mark archived records", help: "Marks the selected records for R or unmarks them, and goes to the next.",
			in: atArchived, section: sectionChange, footer: 11, unless: (*App).nothingToRedrive, do: func(a *App) tea.Cmd {
				s := a.screen().(*archivedScreen)
				s.grid.ToggleMark()
				s.grid.Move(1)
				a.say(model.Info, fmt.Sprintf("%d marked: R acts on all of them; without a mark on the selected line.", len(s.grid.Marked())))
				return nil
			}},
	}
}

func (a *App) nothingToRedrive() string {
	switch s := a.screen().(type) {
	case *archivedScreen:
		if len(s.shown) == 0 {
			return "the list is empty."
		}
	case *topicScreen:
		if s.found == nil {
			return "the topic is not there."
		}
	}
	if a.options.Redriver == nil {
		return "there is no way to produce here."
	}
	return ""
}

// openRedrive shows what would be produced again.
func (a *App) openRedrive() tea.Cmd {
	switch s := a.screen().(type) {
	case *archivedScreen:
		rows := s.grid.Marked()
		if len(rows) == 0 {
			if r, ok := s.grid.Selected(); ok {
				rows = []*archivedRow{r}
			}
		}
		r := redrive{group: s.id}
		near := false
		for _, row := range rows {
			near = near || row.near
			for o := row.first; o <= row.last && !row.near && len(r.refs) <= redriveMost; o++ {
				r.refs = append(r.refs, model.RecordRef{Topic: row.topic, Partition: row.number, Offset: o})
			}
		}
		switch {
		case len(r.refs) > redriveMost:
			a.say(model.Warning, fmt.Sprintf("At most %s records are redriven at once: mark fewer.", model.Count(redriveMost)))
			return nil
		case len(r.refs) == 0 && near:
			a.say(model.Info, "These records are not archived yet: the group still works on them.")
			return nil
		}
		return a.previewRedrive(r, nil)
	case *topicScreen:
		return a.askRedrive(s)
	}
	return nil
}

// askRedrive asks which records of a topic are meant.
func (a *App) askRedrive(s *topicScreen) tea.Cmd {
	partition, from := int32(0), int64(0)
	if r, ok := s.partitions.Selected(); ok {
		partition = r.Number
		from = max(r.Start.Or(0), r.End.Or(0)-10)
	}
	d := &asker{title: "Redrive from " + model.Clean(s.name), form: form.New(
		form.Field{ID: "partition", Label: "Partition", Kind: form.Number, Value: fmt.Sprint(partition), Max: 1 << 30},
		form.Field{ID: "from", Label: "From offset", Kind: form.Number, Value: fmt.Sprint(from), Max: 1 << 62},
		form.Field{ID: "count", Label: "How many", Kind: form.Number, Value: "10", Min: 1, Max: redriveMost},
		form.Field{ID: "target", Label: "To topic", Hint: "where each is from", Help: "Dead-letter records (Kafka 4.4) say in their headers where they are from. Other records need a topic here."})}
	d.notes = func(*App) []paragraph {
		return []paragraph{{text: "A preview comes first: what exists, what is gone, where it goes.", tok: themes.Muted}}
	}
	d.done = func(a *App) tea.Cmd {
		p, _ := d.form.Number("partition")
		first, _ := d.form.Number("from")
		n, _ := d.form.Number("count")
		r := redrive{target: strings.TrimSpace(d.form.Value("target"))}
		end := first + n
		if part, ok := s.found.Partition(int32(p)); ok {
			end = min(end, part.End.Or(end))
		}
		for o := first; o < end; o++ {
			r.refs = append(r.refs, model.RecordRef{Topic: s.name, Partition: int32(p), Offset: o})
		}
		if len(r.refs) == 0 {
			a.say(model.Warning, "There is no record from this offset on.")
			return nil
		}
		return a.previewRedrive(r, d)
	}
	a.overlay = d
	return nil
}

// previewRedrive reads the records and shows what would be produced.
func (a *App) previewRedrive(r redrive, back overlay) tea.Cmd {
	w := &running{title: "Redrive", words: "Reading " + model.Plural(len(r.refs), "record") + ".", back: back}
	redriver := a.options.Redriver
	job := Job[[]model.RedriveItem]{Run: func(ctx context.Context) ([]model.RedriveItem, error) {
		return redriver.Preview(ctx, r.group, r.refs, r.target)
	}}
	return work(a, w, job, func(a *App, items []model.RedriveItem, err error) tea.Cmd {
		if err != nil {
			return a.fails(r.group, err)
		}
		a.showRedrive(r, items, back)
		return nil
	})
}

func (a *App) showRedrive(r redrive, items []model.RedriveItem, back overlay) {
	ready, again := 0, 0
	targets := make(map[string]bool)
	for i := range items {
		if items[i].Ready {
			ready++
			targets[items[i].Target] = true
			if items[i].Before > 0 {
				again++
			}
		}
	}
	var names []string
	for name := range targets {
		names = append(names, model.Clean(name))
	}
	s := &sheet[model.RedriveItem]{title: "Redrive", back: back}
	s.grid = newSheetGrid(a, func(i *model.RedriveItem) string {
		return fmt.Sprintf("%s/%010d/%020d", i.Marked.Topic, i.Marked.Partition, i.Marked.Offset)
	}, items, redriveColumns...)
	s.text = func(*App) []paragraph {
		ps := []paragraph{{text: fmt.Sprintf("%s would be produced to %s, with key, value and headers as they were, and headers that say where they were.",
			model.Plural(ready, "record"), strings.Join(names, ", ")), tok: themes.Title}}
		if ready == 0 {
			ps[0].text = "None of the records can be produced again."
		}
		if left := len(items) - ready; left > 0 && ready > 0 {
			ps = append(ps, paragraph{text: model.Plural(left, "record") + " left out: see the notes.", tok: themes.Warning})
		}
		if again > 0 {
			ps = append(ps, paragraph{text: fmt.Sprintf("%s redriven already since flightdeck was started: once more makes duplicates.", model.Plural(again, "record")), tok: themes.Warning})
		}
		return ps
	}
	s.note = redriveNote
	s.keys = []sheetKey{
		{key: "enter", title: "produce again", off: func(*App) string {
			if ready == 0 {
				return "None of the records can be produced again."
			}
			return ""
		}, do: func(a *App) tea.Cmd {
			impact := []string{fmt.Sprintf("Produces %s to %s.", model.Plural(ready, "record"), strings.Join(names, ", "))}
			if again > 0 {
				impact = append(impact, fmt.Sprintf("%s redriven already in this session.", model.Plural(again, "record")))
			}
			action := model.Action{Kind: model.ActionRedrive, Impact: impact, Danger: model.DangerSome}
			return a.confirm("Redrive", &action, s, func(a *App) tea.Cmd {
				redriver := a.options.Redriver
				return a.beginProduction("Redrive", func(ctx context.Context) ([]Production, error) { return redriver.Redrive(ctx, items, "") })
			})
		}},
		{key: "t", title: "to another topic", do: func(a *App) tea.Cmd {
			d := &asker{title: "Redrive to", back: s, form: form.New(form.Field{ID: "target", Label: "Topic", Value: r.target, Hint: "where each is from"})}
			d.done = func(a *App) tea.Cmd {
				r.target = strings.TrimSpace(d.form.Value("target"))
				return a.previewRedrive(r, back)
			}
			a.overlay = d
			return nil
		}},
	}
	a.overlay = s
}

// redriveNote is what is known of an item.
func redriveNote(i *model.RedriveItem) string {
	words := sentence(strings.TrimSuffix(model.Clean(i.Text), "."))
	if i.Group != "" {
		words += " Given up on by " + model.Clean(i.Group)
		if i.Reason != "" {
			words += ": " + strings.TrimSuffix(model.Clean(i.Reason), ".")
		}
		words += "."
	}
	return strings.TrimSpace(words)
}

var redriveColumns = []table.Column[model.RedriveItem]{
	{ID: "record", Title: "RECORD", Min: 12, Max: 50, Priority: 100,
		Cell: func(i *model.RedriveItem) (string, themes.Token) {
			return rangesText(model.RangesOf([]model.RecordRef{i.Origin})), themes.Text
		}},
	{ID: "target", Title: "TO", Min: 6, Max: 40, Priority: 80,
		Cell: func(i *model.RedriveItem) (string, themes.Token) {
			if !i.Ready {
				return model.Unknown, themes.Faint
			}
			return model.Clean(i.Target), themes.Text
		}},
	{ID: "key", Title: "KEY", Min: 6, Max: 24, Priority: 50,
		Cell: func(i *model.RedriveItem) (string, themes.Token) {
			return previewBytes(i.Content.Key, 40), themes.Muted
		}},
	{ID: "value", Title: "VALUE", Min: 10, Weight: 1, Priority: 40,
		Cell: func(i *model.RedriveItem) (string, themes.Token) {
			return previewBytes(i.Content.Value, 200), themes.Muted
		}},
	{ID: "note", Title: "NOTE", Min: 10, Weight: 2, Priority: 90,
		Cell: func(i *model.RedriveItem) (string, themes.Token) {
			switch {
			case !i.Ready:
				return model.Clean(i.Text), themes.Critical
			case i.Before > 0:
				return "redriven before, " + model.Plural(i.Before, "time"), themes.Warning
			}
			return model.Clean(i.Text), themes.Warning
		}},
}

// previewBytes is the beginning of a key or a value in a line.
func previewBytes(b []byte, n int) string {
	cut := b[:min(len(b), n)]
	if !isText(cut) {
		return "binary, " + model.Bytes(int64(len(b)))
	}
	return model.Clean(string(cut))
}
