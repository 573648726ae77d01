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

// topicScreen is the detail of one topic: its partitions and the groups that read it.
type topicScreen struct {
	paned
	name       string
	found      *model.Topic // in the present view; nil when it is not there
	partitions *grid[topicPartitionRow]
	readers    *grid[groupRow]
}

// topicPartitionRow is a partition of a topic.
type topicPartitionRow struct {
	*model.Partition
	stale bool
}

func newTopicScreen(name string) *topicScreen {
	s := &topicScreen{name: name}
	s.partitions = newGrid("Partitions", func(r *topicPartitionRow) string { return strconv.Itoa(int(r.Number)) }, topicPartitionColumns...)
	s.partitions.SetDim(func(r *topicPartitionRow) bool { return r.stale })
	s.partitions.SortBy("partition")
	s.readers = newGrid("Groups", groupKey, groupColumn, typeColumn, stateColumn, membersColumn, lagColumn, verdictColumn)
	s.readers.SetDim(func(r *groupRow) bool { return r.stale })
	s.readers.SortBy("verdict")
	s.panes = []pane{s.partitions, s.readers}
	s.focusOn(0)
	return s
}

func (s *topicScreen) at() place           { return atTopic }
func (s *topicScreen) crumb() string       { return model.Clean(s.name) }
func (s *topicScreen) want(w *model.Want)  { w.Topics = append(w.Topics, s.name) }
func (s *topicScreen) summary(*App) string { return "" }

func (s *topicScreen) rights() model.Operations {
	if s.found == nil {
		return model.Operations{}
	}
	return s.found.Operations
}

func (s *topicScreen) group() string {
	if r, ok := s.readers.Selected(); ok && s.focus == 1 {
		return r.Group.ID
	}
	return ""
}

func (s *topicScreen) inside() func() screen {
	if r, ok := s.readers.Selected(); ok && s.focus == 1 {
		return func() screen { return newGroupScreen(r.Group) }
	}
	return nil
}

func (s *topicScreen) load(a *App) {
	s.found = nil
	if a.view != nil {
		s.found, _ = a.view.Snapshot.Topic(s.name)
	}
	if s.found == nil {
		s.partitions.blank = []string{"The topic is not there any more.",
			"It was deleted, or you may not describe it any more. esc goes back to the list."}
		s.partitions.SetRows(nil)
		s.readers.SetRows(nil)
		return
	}
	rows := make([]topicPartitionRow, len(s.found.Partitions))
	for i := range s.found.Partitions {
		p := &s.found.Partitions[i]
		rows[i] = topicPartitionRow{p, a.stale(p.At)}
	}
	s.partitions.SetRows(rows)
	s.readers.blank = []string{"No group reads this topic.", "A group shows here when it has a position or a member on it."}
	s.readers.SetRows(s.readerRows(a))
}

// readerRows are the groups that read the topic, with their lag on it.
func (s *topicScreen) readerRows(a *App) []groupRow {
	var rows []groupRow
	for _, groups := range [][]model.Group{a.view.Snapshot.Groups, a.view.Snapshot.ShareGroups} {
		for i := range groups {
			g := &groups[i]
			var lag model.Int
			reads, partial := false, false
			for k := range g.Partitions {
				p := &g.Partitions[k]
				if p.Topic != s.name {
					continue
				}
				reads = true
				if n, ok := p.Lag.Get(); ok {
					lag = model.Some(lag.Or(0) + n)
				} else {
					partial = true
				}
			}
			if reads {
				r := newGroupRow(a, g)
				r.lag, r.partial = lag, partial
				rows = append(rows, r)
			}
		}
	}
	return rows
}

func (s *topicScreen) draw(a *App, w, h int) string {
	var b strings.Builder
	s.head(a).append(&b, a.theme, w)
	b.WriteByte('\n')
	b.WriteString(s.drawPanes(a, w, max(h-1, 1)))
	return b.String()
}

// head sums the topic up in one line.
func (s *topicScreen) head(a *App) line {
	l := line{{text: " "}, {text: model.Clean(s.name), tok: themes.Title}, {text: "  "}}
	if s.found == nil {
		return append(l, span{text: "not there", tok: themes.Critical})
	}
	h := healthOf(s.found)
	l = append(l, span{text: model.Plural(len(s.found.Partitions), "partition"), tok: themes.Muted})
	fact := func(text string, tok themes.Token) {
		l = append(l, span{text: " " + a.theme.Glyphs.Bullet + " ", tok: themes.Faint}, span{text: text, tok: tok})
	}
	if h.severity() > model.OK {
		fact(h.words(), severityToken(h.severity()))
	} else {
		fact(fmt.Sprintf("%d/%d replicas in sync", h.inSync, h.replicas), themes.Muted)
	}
	if rate, ok := a.view.Produced[s.name]; ok {
		fact("written "+model.Rate(rate), themes.Muted)
	}
	if s.found.Internal {
		fact("internal", themes.Muted)
	}
	return l
}

var topicPartitionColumns = []table.Column[topicPartitionRow]{
	{ID: "partition", Title: "P", Min: 4, Priority: 100, Right: true,
		Cell:    func(r *topicPartitionRow) (string, themes.Token) { return strconv.Itoa(int(r.Number)), themes.Text },
		Compare: func(x, y *topicPartitionRow) int { return cmp.Compare(x.Number, y.Number) }},
	{ID: "leader", Title: "LEADER", Min: 6, Priority: 90, Right: true,
		Cell: func(r *topicPartitionRow) (string, themes.Token) {
			switch {
			case r.Leader < 0:
				return "none", themes.Critical
			case len(r.Replicas) > 0 && r.Leader != r.Replicas[0]:
				return strconv.Itoa(int(r.Leader)), themes.Info
			}
			return strconv.Itoa(int(r.Leader)), themes.Muted
		},
		Compare: func(x, y *topicPartitionRow) int { return cmp.Compare(x.Leader, y.Leader) }},
	{ID: "replicas", Title: "REPLICAS", Min: 8, Max: 24, Priority: 50,
		Cell: func(r *topicPartitionRow) (string, themes.Token) { return nodes(r.Replicas), themes.Muted }},
	{ID: "isr", Title: "IN SYNC", Min: 7, Max: 24, Priority: 70,
		Cell: func(r *topicPartitionRow) (string, themes.Token) {
			if len(r.ISR) < len(r.Replicas) {
				return nodes(r.ISR), themes.Warning
			}
			return nodes(r.ISR), themes.Muted
		},
		Compare: func(x, y *topicPartitionRow) int {
			return cmp.Compare(len(y.Replicas)-len(y.ISR), len(x.Replicas)-len(x.ISR))
		}},
	{ID: "start", Title: "LOG START", Min: 10, Priority: 60, Right: true, Desc: true,
		Cell:    func(r *topicPartitionRow) (string, themes.Token) { return offsetCell(r.Start) },
		Compare: func(x, y *topicPartitionRow) int { return compareOpt(x.Start, y.Start) }},
	{ID: "end", Title: "LOG END", Min: 10, Priority: 80, Right: true, Desc: true,
		Cell:    func(r *topicPartitionRow) (string, themes.Token) { return offsetCell(r.End) },
		Compare: func(x, y *topicPartitionRow) int { return compareOpt(x.End, y.End) }},
	{ID: "records", Title: "RECORDS", Min: 8, Priority: 75, Right: true, Desc: true,
		Cell:    func(r *topicPartitionRow) (string, themes.Token) { return lagCell(r.records(), false) },
		Compare: func(x, y *topicPartitionRow) int { return compareOpt(x.records(), y.records()) }},
	{ID: "note", Title: "NOTE", Min: 4, Weight: 1, Priority: 40,
		Cell: func(r *topicPartitionRow) (string, themes.Token) {
			switch {
			case r.Leader < 0:
				return "no leader: it can not be read or written", themes.Critical
			case len(r.ISR) < len(r.Replicas):
				return "replicas out of sync", themes.Warning
			case len(r.Replicas) > 0 && r.Leader != r.Replicas[0]:
				return fmt.Sprintf("not led by its preferred replica %d", r.Replicas[0]), themes.Info
			}
			return "", themes.Text
		}},
}

// records counts the offsets between log start and log end; compaction and transactions leave gaps
// among them.
func (r *topicPartitionRow) records() model.Int {
	start, ok := r.Start.Get()
	end, okEnd := r.End.Get()
	if !ok || !okEnd {
		return model.Int{}
	}
	return model.Some(end - start)
}
