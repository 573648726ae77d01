package ui

import (
	"cmp"
	"strconv"
	"strings"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/table"
)

// activityScreen lists what happened in this session, newest first.
type activityScreen struct {
	list[entryRow, entry]
}

// entryRow is an entry of the log.
type entryRow struct {
	entry
	when   string
	glyphs *themes.Glyphs
}

func newActivity() screen {
	g := newGrid("Activity", func(r *entryRow) string { return strconv.FormatUint(r.seq, 10) }, entryColumns...)
	g.text = (*entryRow).full
	g.SortBy("time")
	s := &activityScreen{list[entryRow, entry]{
		place: atActivity, grid: g, noun: "entry", rows: entryRows,
		none: func(*App) []string {
			return []string{"Nothing happened yet.", "Errors, what groups do, and every action of this session appear here."}
		},
		fields: entryFields, facts: func(r *entryRow) *entry { return &r.entry },
	}}
	s.panes = []pane{g}
	return s
}

// full is the entry as it is read and copied.
func (r *entryRow) full() string {
	text := r.when + " "
	if r.subject != "" {
		text += r.subject + ": "
	}
	return text + r.text
}

func entryRows(a *App) []entryRow {
	rows := make([]entryRow, len(a.log.entries))
	for i, e := range a.log.entries {
		when := "at start" // before anybody told the time
		if !e.at.IsZero() {
			when = model.ClockOn(e.at, a.now)
		}
		rows[i] = entryRow{e, when, &a.theme.Glyphs}
	}
	return rows
}

func (s *activityScreen) summary(a *App) string {
	var paths []string
	if a.options.LogFile != "" {
		paths = append(paths, "log "+model.Clean(a.options.LogFile))
	}
	switch {
	case a.options.NoAudit:
		paths = append(paths, "audit file not writable: nothing can be changed")
	case a.options.AuditLog != "":
		paths = append(paths, "audit "+model.Clean(a.options.AuditLog))
	}
	return strings.Join(paths, "  ")
}

var entryColumns = []table.Column[entryRow]{
	{ID: "time", Title: "TIME", Min: 8, Priority: 70, Desc: true,
		Cell:    func(r *entryRow) (string, themes.Token) { return r.when, themes.Faint },
		Compare: func(x, y *entryRow) int { return cmp.Compare(x.seq, y.seq) }},
	{ID: "kind", Title: "KIND", Min: 6, Priority: 40,
		Cell:    func(r *entryRow) (string, themes.Token) { return r.kind, themes.Muted },
		Compare: func(x, y *entryRow) int { return strings.Compare(x.kind, y.kind) }},
	{ID: "subject", Title: "CONCERNS", Min: 8, Max: 36, Priority: 80,
		Cell:    func(r *entryRow) (string, themes.Token) { return textCell(r.subject, themes.Text) },
		Compare: func(x, y *entryRow) int { return strings.Compare(x.subject, y.subject) }},
	{ID: "times", Title: "TIMES", Min: 5, Priority: 20, Right: true, Desc: true,
		Cell: func(r *entryRow) (string, themes.Token) {
			if r.times == 1 {
				return "", themes.Text
			}
			return model.Count(int64(r.times)), themes.Muted
		},
		Compare: func(x, y *entryRow) int { return cmp.Compare(x.times, y.times) }},
	{ID: "text", Title: "WHAT HAPPENED", Min: 20, Weight: 1, Priority: 100,
		Cell: func(r *entryRow) (string, themes.Token) {
			tok := severityToken(r.severity)
			if r.severity <= model.Info {
				tok = themes.Muted
			}
			return severityGlyph(r.glyphs, r.severity) + " " + model.Clean(r.text), tok
		},
		Compare: func(x, y *entryRow) int { return cmp.Compare(x.severity, y.severity) }},
}

var entryFields = []model.Field[entry]{
	{Name: "text", Plain: true, Text: func(e *entry) string { return e.text }},
	{Name: "group", Plain: true, Text: func(e *entry) string { return e.subject }},
	{Name: "kind", Text: func(e *entry) string { return e.kind }},
	{Name: "severity", Severity: func(e *entry) model.Severity { return e.severity }},
}
