package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/table"
)

// archivedScreen lists what a share group gave up on, and what is close to it.
type archivedScreen struct {
	list[archivedRow, archivedRow]
	id string
	// of limits the list to one share-partition; nil is all of the group.
	of *topicPartition
}

// archivedRow is a run of records that was archived, or that may be soon.
type archivedRow struct {
	topic       string
	number      int32
	first, last int64
	count       int16
	limit       model.Int
	at          model.WriteRef
	when        string
	reason      string
	// near is true for what is not archived yet.
	near   bool
	glyphs *themes.Glyphs
}

func (a *App) openArchived() tea.Cmd {
	s := &archivedScreen{id: a.screen().group()}
	if f, ok := a.screen().(*flightScreen); ok {
		s.of = &topicPartition{f.topic, f.number}
	}
	g := newGrid("", func(r *archivedRow) string { return fmt.Sprintf("%s/%d/%020d/%t", r.topic, r.number, r.first, r.near) }, archivedColumns...)
	g.text = func(r *archivedRow) string { return fmt.Sprintf("%s/%d@%d", r.topic, r.number, r.first) }
	g.SortBy("when")
	s.list = list[archivedRow, archivedRow]{
		place: atArchived, grid: g, noun: "entry", rows: s.read, none: s.nothing, fields: archivedFields,
		facts: func(r *archivedRow) *archivedRow { return r },
	}
	s.panes = []pane{g}
	a.push(s)
	return nil
}

func (s *archivedScreen) crumb() string        { return "archived" }
func (s *archivedScreen) group() string        { return s.id }
func (s *archivedScreen) want(w *model.Want)   { w.Groups = append(w.Groups, s.id) }
func (s *archivedScreen) every() time.Duration { return time.Second }

// read lists the records.
func (s *archivedScreen) read(a *App) []archivedRow {
	records := a.following.records
	if records == nil || a.view == nil {
		return nil
	}
	g, ok := a.view.Snapshot.Group(s.id)
	if !ok {
		return nil
	}
	limit := a.following.configs[s.id].DeliveryLimit()
	var rows []archivedRow
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if s.of != nil && *s.of != (topicPartition{p.Topic, p.Number}) {
			continue
		}
		key, _ := a.view.Snapshot.ShareKey(s.id, p.Topic, p.Number)
		r := records.Partitions[key]
		if r.Unknown() != "" {
			continue
		}
		row := archivedRow{topic: p.Topic, number: p.Number, limit: limit, glyphs: &a.theme.Glyphs}
		for _, x := range r.History.Archived(limit) {
			row.first, row.last, row.count, row.at, row.reason = x.First, x.Last, x.Count, x.Ref, x.Likely.String()
			row.when = "before the history"
			if x.Ref.Ms != 0 {
				row.when = momentClock(x.Ref.Time(), a.now)
			}
			if x.DeadLettered {
				row.reason += ", through the dead-letter topic"
			}
			rows = append(rows, row)
		}
		if n, ok := limit.Get(); ok {
			rows = append(rows, nearRows(row, &r.History, n)...)
		}
	}
	return rows
}

// nearRows are the records that may be archived next.
func nearRows(row archivedRow, h *model.ShareHistory, limit int64) []archivedRow {
	w, ok := model.InferWindow(h.Now(), model.Int{}, model.Int{}, nil)
	if !ok {
		return nil
	}
	var rows []archivedRow
	row.near, row.at, row.when = true, model.WriteRef{}, "not yet"
	for _, r := range w.NearLimit(limit) {
		row.first, row.last, row.count = r.First, r.Last, r.Count.Or(0)
		row.reason = "close to the limit: archived when its next delivery fails"
		if int64(row.count) >= limit {
			row.reason = "at the limit: archived when this delivery fails"
		}
		rows = append(rows, row)
	}
	return rows
}

// nothing says why the list is empty.
func (s *archivedScreen) nothing(a *App) []string {
	r := a.following.records
	switch {
	case a.options.Follower == nil:
		return []string{"The state of records is not followed here."}
	case r == nil:
		return []string{"Reading the state topic."}
	case r.Problem != nil:
		return []string{model.Clean(r.Problem.Text)}
	}
	return []string{"The group gave up on nothing.", "A record is archived when a client rejects it, or when its delivery count reaches the limit. " +
		"The list goes as far back as the state topic is kept."}
}

func (s *archivedScreen) summary(a *App) string {
	gone, near := int64(0), int64(0)
	for i := range s.shown {
		if n := s.shown[i].last - s.shown[i].first + 1; s.shown[i].near {
			near += n
		} else {
			gone += n
		}
	}
	if gone+near == 0 {
		return ""
	}
	return fmt.Sprintf("%s archived %s %s close to it", model.Count(gone), a.theme.Glyphs.Bullet, model.Count(near))
}

// inside opens the flight view at the moment in which the record was given up.
func (s *archivedScreen) inside() func() screen {
	r, ok := s.grid.Selected()
	if !ok {
		return nil
	}
	row := *r
	return func() screen {
		f := newFlightScreen(s.id, row.topic, row.number)
		f.grid.cursor, f.grid.held = row.first, true
		if row.at.Ms != 0 {
			f.replay, f.moment = true, row.at
		}
		return f
	}
}

func byWhen(x, y *archivedRow) int {
	if x.near != y.near { // what can still be helped comes first
		if x.near {
			return 1
		}
		return -1
	}
	return cmp.Or(cmp.Compare(x.at.Ms, y.at.Ms), cmp.Compare(x.first, y.first))
}

var archivedColumns = []table.Column[archivedRow]{
	{ID: "when", Title: "ARCHIVED AT", Min: 12, Priority: 80, Desc: true, Compare: byWhen,
		Cell: func(r *archivedRow) (string, themes.Token) {
			if r.near {
				return r.when, themes.Warning
			}
			return r.when, themes.Muted
		}},
	{ID: "topic", Title: "TOPIC", Min: 8, Fair: 14, Max: 60, Weight: 1, Priority: 70,
		Cell: func(r *archivedRow) (string, themes.Token) { return textCell(r.topic, themes.Text) },
		Compare: func(x, y *archivedRow) int {
			return cmp.Or(strings.Compare(x.topic, y.topic), cmp.Compare(x.number, y.number))
		}},
	{ID: "partition", Title: "P", Min: 3, Priority: 75, Right: true,
		Cell:    func(r *archivedRow) (string, themes.Token) { return strconv.Itoa(int(r.number)), themes.Text },
		Compare: func(x, y *archivedRow) int { return cmp.Compare(x.number, y.number) }},
	{ID: "offset", Title: "OFFSET", Min: 8, Priority: 100, Right: true, Desc: true,
		Cell: func(r *archivedRow) (string, themes.Token) {
			if r.first == r.last {
				return model.Count(r.first), themes.Text
			}
			return model.Count(r.first) + "-" + model.Count(r.last), themes.Text
		},
		Compare: func(x, y *archivedRow) int { return cmp.Compare(x.first, y.first) }},
	{ID: "count", Title: "DELIVERIES", Min: 10, Priority: 90, Right: true, Desc: true,
		Cell: func(r *archivedRow) (string, themes.Token) {
			return worstCell(model.Some(int64(r.count)), r.limit)
		},
		Compare: func(x, y *archivedRow) int { return cmp.Compare(x.count, y.count) }},
	{ID: "reason", Title: "LIKELY REASON", Min: 20, Weight: 3, Priority: 95,
		Cell: func(r *archivedRow) (string, themes.Token) {
			if r.near {
				return r.glyphs.Warning + " " + r.reason, themes.Warning
			}
			return r.glyphs.Archived + " " + r.reason, themes.Archived
		},
		Compare: func(x, y *archivedRow) int { return strings.Compare(x.reason, y.reason) }},
}

var archivedFields = []model.Field[archivedRow]{
	{Name: "topic", Plain: true, Text: func(r *archivedRow) string { return r.topic }},
	{Name: "reason", Plain: true, Text: func(r *archivedRow) string { return r.reason }},
}
