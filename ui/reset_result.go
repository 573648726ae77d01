package ui

import (
	"cmp"
	"slices"
	"strconv"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/table"
)

// resultRow is what became of one part of an action.
type resultRow struct {
	model.ActionResult
	was model.Int
}

// openResetResult shows what became of a reset.
func (a *App) openResetResult(out *model.ResetOutcome) {
	was := make(map[topicPartition]model.Int)
	for _, r := range out.Plan.Planned() {
		was[topicPartition{r.Topic, r.Number}] = r.Now
	}
	rows := make([]resultRow, len(out.Results))
	for i, r := range out.Results {
		rows[i] = resultRow{r, was[topicPartition{r.Topic, r.Partition}]}
	}
	plan := &out.Plan
	retry := sheetKey{key: "r", title: "retry failed", do: func(a *App) tea.Cmd { return a.planReset(retryOf(out), a.overlay) },
		off: func(*App) string {
			if out.Failed() == 0 {
				return "Nothing failed."
			}
			return ""
		}}
	undo := sheetKey{key: "U", title: "undo", do: func(a *App) tea.Cmd { return a.undo(plan.Group, plan.Type) },
		off: func(*App) string {
			switch {
			case out.Failed() == len(out.Results):
				return "Nothing was changed."
			case plan.Method == model.ResetByPolicy:
				return "This Kafka cannot set start offsets of share groups, so there is no way back."
			}
			return ""
		}}
	caveats, saved := out.Caveats, "The positions from before are in "+out.Saved+"."
	if out.Saved == "" {
		saved = ""
	} else if plan.Method == model.ResetByPolicy {
		caveats = append(slices.Clone(caveats), model.ConfigShareReset+" is "+plan.Policy()+" now, for new partitions too; g shows and unsets it.")
	} else {
		saved += " U takes the group back."
	}
	a.openResult("Moved "+plan.Group+" "+plan.Spec.Text(plan.At), out.Sentence(), caveats, saved, rows, resetResultColumns, retry, undo)
}

// retryOf asks for a plan of what failed. A moment that was found relative to now stays what it was.
func retryOf(out *model.ResetOutcome) ResetRequest {
	failed := out.Retry()
	r := ResetRequest{Group: failed.Group, Type: failed.Type, Spec: failed.Spec}
	if ms, ok := r.Spec.Timestamp(failed.At); ok {
		r.Spec = model.ResetSpec{Mode: model.ResetTime, Time: time.UnixMilli(ms).In(failed.At.Location())}
	}
	for i := range failed.Rows {
		row := &failed.Rows[i] // sorted by topic
		if n := len(r.Scope); n == 0 || r.Scope[n-1].Topic != row.Topic {
			r.Scope = append(r.Scope, model.TopicPartitions{Topic: row.Topic})
		}
		t := &r.Scope[len(r.Scope)-1]
		t.Partitions = append(t.Partitions, row.Number)
	}
	return r
}

// openResult shows what became of an action, what failed first.
func (a *App) openResult(title, sentence string, caveats []string, saved string, rows []resultRow, columns []table.Column[resultRow], keys ...sheetKey) {
	failed := 0
	for i := range rows {
		if !rows[i].OK {
			failed++
		}
	}
	s := &sheet[resultRow]{title: model.Clean(title), keys: keys}
	s.grid = newSheetGrid(a, resultKey, rows, columns...)
	s.grid.SortBy("result")
	s.grid.text = func(r *resultRow) string { return r.Text }
	s.note = func(r *resultRow) string { return model.Clean(r.Text) }
	s.text = func(a *App) []paragraph {
		severity := model.OK
		if failed > 0 {
			severity = model.Critical
		}
		ps := []paragraph{{lead: severityGlyph(&a.theme.Glyphs, severity) + " ", text: model.Clean(sentence), tok: severityToken(severity)}}
		for _, c := range caveats {
			ps = append(ps, paragraph{lead: a.theme.Glyphs.Warning + " ", text: model.Clean(c), tok: themes.Warning})
		}
		if saved != "" {
			ps = append(ps, paragraph{text: model.Clean(saved), tok: themes.Muted})
		}
		return ps
	}
	a.overlay = s
}

func resultKey(r *resultRow) string {
	return r.Topic + "/" + strconv.Itoa(int(r.Partition)+1_000_000_000) // in the order of numbers; -1 is the group
}

// The columns of results.
var (
	resultColumn = table.Column[resultRow]{ID: "result", Title: "RESULT", Min: 6, Priority: 99,
		Cell: func(r *resultRow) (string, themes.Token) {
			if r.OK {
				return "done", themes.OK
			}
			return "failed", themes.Critical
		},
		Compare: func(x, y *resultRow) int {
			if x.OK == y.OK {
				return 0
			}
			if !x.OK {
				return -1
			}
			return 1
		}}
	resultTopic = table.Column[resultRow]{ID: "topic", Title: "TOPIC", Min: 8, Fair: 16, Max: 60, Weight: 1, Priority: 90,
		Cell: func(r *resultRow) (string, themes.Token) {
			return model.Clean(cmp.Or(r.Topic, "(the group)")), themes.Text
		}}
	resultPartition = table.Column[resultRow]{ID: "partition", Title: "P", Min: 3, Priority: 100, Right: true,
		Cell: func(r *resultRow) (string, themes.Token) {
			if r.Partition < 0 {
				return "", themes.Text
			}
			return strconv.Itoa(int(r.Partition)), themes.Text
		}}
	resultWas = table.Column[resultRow]{ID: "was", Title: "WAS", Min: 9, Priority: 80, Right: true,
		Cell: func(r *resultRow) (string, themes.Token) { return offsetCell(r.was) }}
	resultText = table.Column[resultRow]{ID: "text", Title: "WHAT HAPPENED", Min: 14, Weight: 3, Priority: 70,
		Cell: func(r *resultRow) (string, themes.Token) { return model.Clean(r.Text), themes.Muted }}

	resetResultColumns = []table.Column[resultRow]{resultTopic, resultPartition, resultColumn, resultWas,
		{ID: "target", Title: "TO", Min: 9, Priority: 85, Right: true,
			Cell: func(r *resultRow) (string, themes.Token) { return offsetCell(r.Offset) }},
		resultText}
	deleteResultColumns = []table.Column[resultRow]{resultTopic, resultPartition, resultColumn, resultWas, resultText}
)
