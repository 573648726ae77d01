package ui

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/form"
)

// resetForm asks where the positions of a group are to go.
type resetForm struct {
	*asker
	a     *App
	group string
	kind  model.GroupType
	mode  model.ResetMode
}

// openReset asks where the positions of the selected group are to go, or shows the reset of it that is armed.
func (a *App) openReset() tea.Cmd {
	g, ok := a.selectedGroup()
	if !ok {
		return nil
	}
	if x := a.armedFor(g.ID); x != nil {
		a.openArmed(x)
		return nil
	}
	f := &resetForm{a: a, group: g.ID, kind: g.Type}
	f.asker = &asker{title: "Move the offsets of " + model.Clean(g.ID), notes: f.notes, changed: f.suit, done: f.done}
	f.build("", topicsText(markedPartitions(a.screen())))
	a.overlay = f.asker
	return nil
}

// noReset says why offsets can not be moved from here.
func (a *App) noReset() string {
	if a.options.Admin == nil {
		return "this cluster can only be looked at."
	}
	return a.noGroup()
}

// selectedGroup is the group that the screen is about.
func (a *App) selectedGroup() (*model.Group, bool) {
	if a.view == nil {
		return nil, false
	}
	return a.view.Snapshot.Group(a.screen().group())
}

// valueField is what a mode asks for besides, if it does.
func valueField(mode model.ResetMode) (label, hint, help string) {
	switch mode {
	case model.ResetOffset:
		return "Offset", "12480", "One offset for all partitions; outside of a log, its start or end is taken."
	case model.ResetShift:
		return "Shift by", "-100 or +100", "Back with a minus, forward without."
	case model.ResetTime:
		return "Time", "2026-01-02 14:03, ...Z, ...+09:00, 14:03, -2h30m", "The first record at or after a moment. Without a zone the local one is meant."
	case model.ResetBack:
		return "Back by", "2h30m, 1d, PT1H", "The first record at or after the moment that long before now."
	case model.ResetGroup:
		return "Group", "name of a group", "Where another group is."
	case model.ResetFile:
		return "File", "offsets.csv", "CSV as Kafka's tool writes it with --export: topic,partition,offset."
	}
	return "", "", ""
}

var modeHelp = map[model.ResetMode]string{
	model.ResetEarliest: "To the log start: everything that is kept is read again.",
	model.ResetLatest:   "To the log end: everything that is not read yet is skipped.",
	model.ResetCurrent:  "To where the group is; to the log end where it has no position. Useful to write its offsets to a file.",
}

// build makes the form for the present mode.
func (f *resetForm) build(value, topics string) {
	modes := make([]string, 0, len(model.ResetModes()))
	for _, m := range model.ResetModes() {
		modes = append(modes, m.String())
	}
	label, hint, help := valueField(f.mode)
	first := modeHelp[f.mode]
	if first == "" {
		first = help
	}
	fields := []form.Field{{ID: "mode", Label: "To", Kind: form.Choice, Choices: modes, Value: f.mode.String(), Help: first}}
	if label != "" {
		fields = append(fields, form.Field{ID: "value", Label: label, Value: value, Hint: hint, Help: help, Check: f.wrongValue})
	}
	fields = append(fields, form.Field{ID: "topics", Label: "Topics", Value: topics, Limit: 10_000, Hint: "all that the group has positions on",
		Help: "Topics, separated by spaces; orders:0,2 is two partitions. Empty for all.", Check: wrongTopics})
	f.form = form.New(fields...)
}

// suit makes the form anew when another mode was chosen.
func (f *resetForm) suit() {
	i := slices.IndexFunc(model.ResetModes(), func(m model.ResetMode) bool { return m.String() == f.form.Value("mode") })
	if mode := model.ResetModes()[i]; mode != f.mode {
		f.mode = mode
		f.build("", f.form.Value("topics"))
	}
}

// spec is what was typed, without the content of a file.
func (f *resetForm) spec() (model.ResetSpec, error) {
	value := strings.TrimSpace(f.form.Value("value"))
	if f.mode != model.ResetFile {
		return model.ParseReset(f.mode, value, f.a.now)
	}
	if value == "" {
		return model.ResetSpec{}, fmt.Errorf("name a file")
	}
	return model.ResetSpec{Mode: f.mode, File: value}, nil
}

func (f *resetForm) wrongValue(string) string {
	if _, err := f.spec(); err != nil {
		return err.Error()
	}
	return ""
}

// notes say what was understood.
func (f *resetForm) notes(*App) []paragraph {
	spec, err := f.spec()
	if err != nil {
		return nil
	}
	return []paragraph{{text: "Moves them " + model.Clean(spec.Text(f.a.now)) + ". A preview comes first.", tok: themes.Accent}}
}

func (f *resetForm) done(a *App) tea.Cmd {
	spec, err := f.spec()
	if err != nil {
		return nil
	}
	scope, _ := parseTopics(f.form.Value("topics"))
	return a.planReset(ResetRequest{Group: f.group, Type: f.kind, Spec: spec, Scope: scope}, f.asker)
}

// planReset reads the plan of a reset and shows it.
func (a *App) planReset(r ResetRequest, back overlay) tea.Cmd {
	w := &running{title: "Move the offsets of " + model.Clean(r.Group), words: "Reading the positions of the group and the bounds of the logs.", back: back}
	r.Records = a.following.records
	job := Job[model.ResetPlan]{}
	if r.Spec.Mode == model.ResetFile && r.Spec.Offsets == nil {
		job.Run = func(ctx context.Context) (model.ResetPlan, error) {
			var err error
			if r.Spec.Offsets, err = readOffsets(r.Spec.File); err != nil {
				return model.ResetPlan{}, err
			}
			return a.options.Admin.PlanReset(r).Run(ctx)
		}
	} else {
		job = a.options.Admin.PlanReset(r)
	}
	return work(a, w, job, func(a *App, plan model.ResetPlan, err error) tea.Cmd {
		if err != nil {
			return a.fails(r.Group, err)
		}
		a.openResetPreview(r, plan, back)
		return nil
	})
}

// undoReset plans the way back from the last reset of the selected group.
func (a *App) undoReset() tea.Cmd {
	g, ok := a.selectedGroup()
	if !ok {
		return nil
	}
	return a.undo(g.ID, g.Type)
}

func (a *App) undo(group string, kind model.GroupType) tea.Cmd {
	type last struct {
		spec model.ResetSpec
		ok   bool
	}
	w := &running{title: "Undo the last reset of " + model.Clean(group), words: "Looking for the offsets that were saved before it."}
	job := Job[last]{Run: func(ctx context.Context) (l last, err error) {
		l.spec, l.ok, err = a.options.Admin.Undo(ctx, group)
		return l, err
	}}
	return work(a, w, job, func(a *App, l last, err error) tea.Cmd {
		switch {
		case err != nil:
			return a.fails(group, err)
		case !l.ok:
			a.say(model.Info, group+": no reset was saved that could be undone.")
			return nil
		}
		return a.planReset(ResetRequest{Group: group, Type: kind, Spec: l.spec}, nil)
	})
}

// wrongTopics is the check of a field with topics.
func wrongTopics(s string) string {
	if _, err := parseTopics(s); err != nil {
		return err.Error()
	}
	return ""
}

// parseTopics reads topics separated by spaces, with partitions after a colon as Kafka's tools take them; nil for none.
func parseTopics(s string) ([]model.TopicPartitions, error) {
	var out []model.TopicPartitions
	for word := range strings.FieldsSeq(s) {
		name, numbers, some := strings.Cut(word, ":")
		t := model.TopicPartitions{Topic: name}
		if some {
			for part := range strings.SplitSeq(numbers, ",") {
				n, err := strconv.ParseInt(part, 10, 32)
				if err != nil || n < 0 {
					return nil, fmt.Errorf("%q is not a partition", part)
				}
				t.Partitions = append(t.Partitions, int32(n))
			}
		}
		out = append(out, t)
	}
	return out, nil
}

// topicsText is what parseTopics reads.
func topicsText(ts []model.TopicPartitions) string {
	words := make([]string, len(ts))
	for i, t := range ts {
		numbers := make([]string, len(t.Partitions))
		for k, n := range t.Partitions {
			numbers[k] = strconv.Itoa(int(n))
		}
		words[i] = t.Topic
		if len(numbers) > 0 {
			words[i] += ":" + strings.Join(numbers, ",")
		}
	}
	return strings.Join(words, " ")
}

// markedPartitions are the partitions that are marked on a screen of a group, by topic.
func markedPartitions(s screen) []model.TopicPartitions {
	g, ok := s.(*groupScreen)
	if !ok {
		return nil
	}
	return byTopic(g.partitions.Marked())
}

// byTopic puts the partitions of a topic together, in the order of their numbers.
func byTopic(rows []*partitionRow) []model.TopicPartitions {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, byPartition)
	var out []model.TopicPartitions
	for _, r := range rows {
		if n := len(out); n == 0 || out[n-1].Topic != r.Topic {
			out = append(out, model.TopicPartitions{Topic: r.Topic})
		}
		t := &out[len(out)-1]
		t.Partitions = append(t.Partitions, r.Number)
	}
	return out
}

// mark marks the selected partition for o and D.
func (a *App) mark() tea.Cmd {
	if s, ok := a.screen().(*groupScreen); ok {
		s.partitions.ToggleMark()
		s.partitions.Move(1)
		if n := len(s.partitions.Marked()); n > 0 {
			a.say(model.Info, model.Plural(n, "partition")+" marked: o and D act on "+them(n)+".")
		} else {
			a.say(model.Info, "No partition is marked: o acts on all.")
		}
	}
	return nil
}

func them(n int) string {
	if n == 1 {
		return "it"
	}
	return "them"
}

func (a *App) nothingToMark() string {
	s, ok := a.screen().(*groupScreen)
	if !ok || s.focus != 1 || s.partitions.Len() == 0 {
		return "go to the partitions first: tab."
	}
	return ""
}

// giveUpAfter is how long an armed reset waits unless told otherwise.
const giveUpAfter = 10 * time.Minute
