package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/table"
)

// topicRow is a topic in the list.
type topicRow struct {
	model.TopicRow
	health  health
	records model.Int // between log start and log end, of the partitions that are known
	partial bool      // records is only a part
	readers []string  // ids of the groups that read it
}

// health sums up the replicas of a topic.
type health struct {
	replicas, inSync     int
	leaderless, shrunken int // partitions without a leader, and with fewer replicas in sync than there are
}

func healthOf(t *model.Topic) health {
	var h health
	for i := range t.Partitions {
		p := &t.Partitions[i]
		h.replicas += len(p.Replicas)
		h.inSync += len(p.ISR)
		if p.Leader < 0 {
			h.leaderless++
		}
		if len(p.ISR) < len(p.Replicas) {
			h.shrunken++
		}
	}
	return h
}

func (h health) severity() model.Severity {
	switch {
	case h.leaderless > 0:
		return model.Critical
	case h.shrunken > 0:
		return model.Warning
	}
	return model.OK
}

// words says what is wrong with the replicas; empty when nothing is.
func (h health) words() string {
	switch {
	case h.leaderless > 0:
		return model.Plural(h.leaderless, "partition") + " without a leader"
	case h.shrunken > 0:
		return model.Plural(h.shrunken, "partition") + " with replicas out of sync"
	}
	return ""
}

// topics is the list of topics.
type topics struct {
	list[topicRow, model.TopicRow]
}

func newTopics() screen {
	g := newGrid("", func(r *topicRow) string { return r.Topic.Name }, topicColumns...)
	g.SortBy("topic")
	s := &topics{list[topicRow, model.TopicRow]{
		place: atTopics, grid: g, noun: "topic", rows: topicRows, none: noTopics,
		fields: model.TopicFields(), facts: func(r *topicRow) *model.TopicRow { return &r.TopicRow },
	}}
	s.panes = []pane{g}
	return s
}

func topicRows(a *App) []topicRow {
	if a.view == nil {
		return nil
	}
	s := a.view.Snapshot
	readers := readersOf(s)
	rows := make([]topicRow, len(s.Topics))
	for i := range s.Topics {
		t := &s.Topics[i]
		r := topicRow{TopicRow: model.TopicRow{Topic: t}, health: healthOf(t), readers: readers[t.Name]}
		r.Groups = len(r.readers)
		if rate, ok := a.view.Produced[t.Name]; ok {
			r.Produced = model.Some(rate)
		}
		for k := range t.Partitions {
			start, startKnown := t.Partitions[k].Start.Get()
			end, endKnown := t.Partitions[k].End.Get()
			if !startKnown || !endKnown {
				r.partial = true
				continue
			}
			r.records = model.Some(r.records.Or(0) + end - start)
		}
		rows[i] = r
	}
	return rows
}

// readersOf are the ids of the groups by the topics that they have a position or a member on.
func readersOf(s *model.Snapshot) map[string][]string {
	readers := make(map[string][]string, len(s.Topics))
	for _, groups := range [][]model.Group{s.Groups, s.ShareGroups} {
		for i := range groups {
			g, last := &groups[i], ""
			for k := range g.Partitions {
				if t := g.Partitions[k].Topic; t != last {
					readers[t] = append(readers[t], g.ID)
					last = t
				}
			}
		}
	}
	return readers
}

func noTopics(a *App) []string {
	if a.view == nil {
		return a.notYet("topics")
	}
	return []string{"There are no topics to see.",
		"Brokers leave out topics that you may not describe. Ask for the ACL DESCRIBE on TOPIC if there should be some."}
}

func (s *topics) rights() model.Operations {
	if r, ok := s.grid.Selected(); ok {
		return r.Topic.Operations
	}
	return model.Operations{}
}

func (s *topics) want(w *model.Want) {
	for _, r := range s.grid.InView() {
		w.Topics = append(w.Topics, r.Topic.Name)
	}
}

func (s *topics) inside() func() screen {
	if r, ok := s.grid.Selected(); ok {
		return func() screen { return newTopicScreen(r.Topic.Name) }
	}
	return nil
}

var topicColumns = []table.Column[topicRow]{
	{ID: "topic", Title: "TOPIC", Min: 12, Max: 50, Weight: 2, Priority: 100,
		Cell: func(r *topicRow) (string, themes.Token) {
			if r.Topic.Internal {
				return model.Clean(r.Topic.Name), themes.Faint
			}
			return model.Clean(r.Topic.Name), themes.Text
		},
		// Internal topics come after the others.
		Compare: func(x, y *topicRow) int {
			if x.Topic.Internal != y.Topic.Internal {
				if y.Topic.Internal {
					return -1
				}
				return 1
			}
			return strings.Compare(x.Topic.Name, y.Topic.Name)
		}},
	{ID: "partitions", Title: "PARTITIONS", Min: 10, Priority: 60, Right: true, Desc: true,
		Cell:    func(r *topicRow) (string, themes.Token) { return strconv.Itoa(len(r.Topic.Partitions)), themes.Muted },
		Compare: func(x, y *topicRow) int { return cmp.Compare(len(x.Topic.Partitions), len(y.Topic.Partitions)) }},
	{ID: "replicas", Title: "IN SYNC", Min: 7, Priority: 70, Right: true, Desc: true,
		Cell: func(r *topicRow) (string, themes.Token) {
			tok := themes.Muted
			if s := r.health.severity(); s > model.OK {
				tok = severityToken(s)
			}
			return fmt.Sprintf("%d/%d", r.health.inSync, r.health.replicas), tok
		},
		Compare: func(x, y *topicRow) int {
			return cmp.Or(cmp.Compare(x.health.severity(), y.health.severity()), cmp.Compare(x.health.shrunken, y.health.shrunken))
		}},
	{ID: "records", Title: "RECORDS", Min: 8, Priority: 50, Right: true, Desc: true,
		Cell:    func(r *topicRow) (string, themes.Token) { return lagCell(r.records, r.partial) },
		Compare: func(x, y *topicRow) int { return compareOpt(x.records, y.records) }},
	{ID: "rate", Title: "WRITTEN", Min: 7, Priority: 80, Right: true, Desc: true,
		Cell:    func(r *topicRow) (string, themes.Token) { return rateCell(r.Produced) },
		Compare: func(x, y *topicRow) int { return compareOpt(x.Produced, y.Produced) }},
	{ID: "groups", Title: "GROUPS", Min: 6, Priority: 75, Right: true, Desc: true,
		Cell: func(r *topicRow) (string, themes.Token) {
			if len(r.readers) == 0 {
				return "0", themes.Faint
			}
			return strconv.Itoa(len(r.readers)), themes.Muted
		},
		Compare: func(x, y *topicRow) int { return cmp.Compare(len(x.readers), len(y.readers)) }},
	{ID: "readers", Title: "READ BY", Min: 10, Weight: 3, Priority: 40,
		Cell: func(r *topicRow) (string, themes.Token) {
			if w := r.health.words(); w != "" {
				return w, severityToken(r.health.severity())
			}
			names := make([]string, len(r.readers))
			for i, id := range r.readers {
				names[i] = model.Clean(id)
			}
			return strings.Join(names, ", "), themes.Faint
		}},
}
