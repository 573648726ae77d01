package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// groupScreen is the detail of one group of any type: verdicts, partitions, members.
type groupScreen struct {
	paned
	id      string
	kind    model.GroupType
	found   *model.Group // in the present view; nil when it is not there
	insight *model.Insight

	why        *prose
	partitions *grid[partitionRow]
	members    *grid[memberRow]
}

// partitionRow is a group's position on one partition.
type partitionRow struct {
	*model.GroupPartition
	insight  model.PartitionInsight
	owner    *model.Member // nil for nobody
	sharers  []string      // client ids of the members of a share group that have it
	stale    bool
	deserted bool // the whole group has no members
	// sum is what is recorded of a share-partition, and configs are the settings of its group; nil until read.
	sum     model.ShareSum
	configs *model.GroupConfigs
}

// partitionKey names a partition so that keys sort as partitions do.
func partitionKey(r *partitionRow) string { return fmt.Sprintf("%s/%010d", r.Topic, r.Number) }

// memberRow is a member of a group.
type memberRow struct {
	*model.Member
	stale bool
}

func newGroupScreen(g *model.Group) *groupScreen {
	s := &groupScreen{id: g.ID, kind: g.Type, why: &prose{name: "Why"}}
	columns := consumerPartitionColumns
	name := "Partitions"
	if g.Type == model.TypeShare {
		columns, name = sharePartitionColumns, "Share-partitions"
	}
	s.partitions = newGrid(name, partitionKey, columns...)
	s.partitions.text = func(r *partitionRow) string { return r.Topic + "/" + strconv.Itoa(int(r.Number)) }
	s.partitions.SetDim(func(r *partitionRow) bool { return r.stale })
	s.partitions.SortBy("note")
	s.members = newGrid("Members", func(r *memberRow) string { return r.ID }, memberColumns...)
	s.members.SetDim(func(r *memberRow) bool { return r.stale })
	s.members.SortBy("client")
	s.members.text = func(r *memberRow) string { return r.ID }
	s.panes = []pane{s.why, s.partitions, s.members}
	s.focusOn(1)
	return s
}

func (s *groupScreen) at() place {
	if s.kind == model.TypeShare {
		return atShareGroup
	}
	return atGroup
}

func (s *groupScreen) crumb() string { return model.Clean(s.id) }
func (s *groupScreen) group() string { return s.id }

func (s *groupScreen) rights() model.Operations {
	if s.found == nil {
		return model.Operations{}
	}
	return s.found.Operations
}

func (s *groupScreen) want(w *model.Want) { w.Groups = append(w.Groups, s.id) }

// every is how often it is drawn for the sake of records.
func (s *groupScreen) every() time.Duration { return numberFrame }

// inside opens the flight view of a share-partition.
func (s *groupScreen) inside() func() screen {
	r, ok := s.partitions.Selected()
	if !ok || s.kind != model.TypeShare || s.focus != 1 {
		return nil
	}
	topic, number := r.Topic, r.Number
	return func() screen { return newFlightScreen(s.id, topic, number) }
}

func (s *groupScreen) load(a *App) {
	s.found, s.insight = nil, &noInsight
	if a.view != nil {
		if g, ok := a.view.Snapshot.Group(s.id); ok {
			s.found, s.insight = g, a.insight(s.id)
		}
	}
	s.why.set(whyParagraphs(a, s.found, s.insight))
	g := s.found
	if g == nil {
		s.partitions.blank = []string{"The group is not there any more.",
			"It was deleted, or its coordinator does not list it. esc goes back to the list."}
		s.partitions.SetRows(nil)
		s.members.blank = nil
		s.members.SetRows(nil)
		return
	}
	s.partitions.blank = noPartitions(g)
	s.partitions.SetRows(s.partitionRows(a, g))
	s.members.blank = noMembers(g)
	members := make([]memberRow, len(g.Members))
	for i := range g.Members {
		members[i] = memberRow{&g.Members[i], a.stale(g.Described)}
	}
	s.members.SetRows(members)
}

func (s *groupScreen) partitionRows(a *App, g *model.Group) []partitionRow {
	rows := make([]partitionRow, 0, len(g.Partitions))
	stale := a.stale(g.OffsetsAt)
	var sharers map[topicPartition][]string
	if g.Type == model.TypeShare {
		sharers = sharersOf(g)
	}
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if a.ownedOnly && canOwn(g) && p.Member == model.NoMember {
			continue
		}
		r := partitionRow{GroupPartition: p, stale: stale, deserted: len(g.Members) == 0}
		if i < len(s.insight.Partitions) {
			r.insight = s.insight.Partitions[i]
		}
		if p.Member >= 0 && int(p.Member) < len(g.Members) {
			r.owner = &g.Members[p.Member]
		}
		r.sharers = sharers[topicPartition{p.Topic, p.Number}]
		if g.Type == model.TypeShare {
			key, _ := a.view.Snapshot.ShareKey(g.ID, p.Topic, p.Number)
			r.sum = a.following.records.Sum([]model.SharePartitionKey{key}, a.brokerNow())
			r.configs = a.following.configs[g.ID]
		}
		rows = append(rows, r)
	}
	return rows
}

type topicPartition struct {
	topic     string
	partition int32
}

// sharersOf are the client ids of the members that share each partition.
func sharersOf(g *model.Group) map[topicPartition][]string {
	sharers := make(map[topicPartition][]string)
	for i := range g.Members {
		m := &g.Members[i]
		for _, t := range m.Assignment {
			for _, n := range t.Partitions {
				key := topicPartition{t.Topic, n}
				sharers[key] = append(sharers[key], model.Clean(m.ClientID))
			}
		}
	}
	return sharers
}

func noPartitions(g *model.Group) []string {
	switch {
	case g.OffsetsAt.IsZero():
		return []string{"Reading the positions of the group."}
	case g.Type == model.TypeShare:
		return []string{"The group has no share-partitions.",
			"They appear when a member subscribes to a topic that exists. A group whose topics were all deleted has none."}
	}
	return []string{"The group has no positions.", "They appear when a member is assigned partitions or an offset is committed."}
}

func noMembers(g *model.Group) []string {
	if g.Described.IsZero() {
		return []string{"Reading the members of the group."}
	}
	return []string{"The group has no members.", "Nothing is read until a consumer joins it."}
}

func (s *groupScreen) draw(a *App, w, h int) string {
	var b strings.Builder
	s.head(a, w).append(&b, a.theme, w)
	b.WriteByte('\n')
	b.WriteString(s.drawPanes(a, w, max(h-1, 1)))
	return b.String()
}

// head sums the group up in one line of w cells. An id that would leave no room for that is cut; it is in full below.
func (s *groupScreen) head(a *App, w int) line {
	id := text.Truncate(model.Clean(s.id), w/2, a.theme.Glyphs.Ellipsis)
	l := line{{text: " "}, {text: id, tok: themes.Title}, {text: "  "}}
	g := s.found
	if g == nil {
		return append(l, span{text: "not there", tok: themes.Critical})
	}
	first := true
	fact := func(text string, tok themes.Token) {
		if !first {
			l = append(l, span{text: " " + a.theme.Glyphs.Bullet + " ", tok: themes.Faint})
		}
		first = false
		l = append(l, span{text: text, tok: tok})
	}
	fact(g.Type.String(), themes.Muted)
	fact(stateCell(g.State))
	if !g.Described.IsZero() {
		fact(model.Plural(len(g.Members), "member"), themes.Muted)
	}
	lag, partial := a.lag(g)
	if lag.Known() {
		cell, tok := lagCell(lag, partial)
		fact("lag "+cell, tok)
	}
	if rate, ok := s.insight.Consumed.Get(); ok {
		fact("reads "+model.Rate(rate), themes.Muted)
	}
	if rate, ok := s.insight.Produced.Get(); ok {
		fact("written "+model.Rate(rate), themes.Muted)
	}
	if eta, ok := s.insight.ETA.Get(); ok {
		fact("done in "+model.Duration(eta), themes.Muted)
	}
	if a.stale(g.Described) {
		fact("members read "+ageWords(a.now.Sub(g.Described)), themes.Warning)
	}
	if a.stale(g.OffsetsAt) {
		fact("positions read "+ageWords(a.now.Sub(g.OffsetsAt)), themes.Warning)
	}
	if g.Assignor != "" {
		fact("assignor "+model.Clean(g.Assignor), themes.Faint)
	}
	if g.Coordinator >= 0 {
		fact(fmt.Sprintf("coordinator %d", g.Coordinator), themes.Faint)
	}
	if epoch, ok := g.Epoch.Get(); ok {
		fact(fmt.Sprintf("epoch %d", epoch), themes.Faint)
	}
	return l
}

func (s *groupScreen) summary(a *App) string {
	if s.found == nil {
		return ""
	}
	if n := len(s.found.Partitions) - s.partitions.Len(); n > 0 {
		return model.Plural(n, "partition") + " without an owner left out"
	}
	return model.Plural(len(s.found.Partitions), "partition")
}

// whyParagraphs are the verdicts on a group with their evidence, and what could not be read.
func whyParagraphs(a *App, g *model.Group, in *model.Insight) []paragraph {
	var ps []paragraph
	glyphs := &a.theme.Glyphs
	if g != nil && text.Width(model.Clean(g.ID)) > groupColumn.Max {
		ps = append(ps, paragraph{text: model.Clean(g.ID), tok: themes.Title, verbatim: true})
	}
	for _, v := range in.Verdicts {
		ps = append(ps, paragraph{lead: severityGlyph(glyphs, v.Severity) + " ", text: model.Clean(v.Text), tok: severityToken(v.Severity)})
		for _, e := range v.Evidence {
			ps = append(ps, paragraph{lead: "  " + glyphs.Bullet + " ", text: model.Clean(e), tok: themes.Muted})
		}
		if v.Next != "" {
			ps = append(ps, paragraph{lead: "  " + glyphs.Right + " ", text: model.Clean(v.Next), tok: themes.Text})
		}
	}
	if g != nil {
		for _, p := range g.Problems {
			ps = append(ps, paragraph{lead: glyphs.Warning + " ", text: model.Clean(p.Text), tok: themes.Warning})
		}
		if g.Hidden {
			ps = append(ps, paragraph{lead: glyphs.Warning + " ", tok: themes.Warning,
				text: "Members have partitions that you may not see, so totals are too low. Ask for the ACL DESCRIBE on their topics."})
		}
		ps = append(ps, settings(a, g)...)
	}
	switch {
	case len(ps) > 0:
	case g == nil:
		ps = append(ps, paragraph{text: "The group is not there.", tok: themes.Muted})
	default:
		ps = append(ps, paragraph{text: "Nothing can be said yet: it takes two readings.", tok: themes.Muted})
	}
	return ps
}

// settings are those in force for a share group, with who set them, and why its records can not be seen.
func settings(a *App, g *model.Group) []paragraph {
	if g.Type != model.TypeShare {
		return nil
	}
	var ps []paragraph
	if r := a.following.records; r != nil && r.Problem != nil {
		ps = append(ps, paragraph{lead: a.theme.Glyphs.Warning + " ", text: model.Clean(r.Problem.Text), tok: themes.Warning})
	}
	c := a.following.configs[g.ID]
	if c == nil {
		return ps
	}
	if words := configWords(c); words != "" {
		ps = append(ps, paragraph{lead: "  ", text: "settings: " + words + "; g shows all", tok: themes.Faint})
	}
	for _, p := range c.Problems {
		ps = append(ps, paragraph{lead: a.theme.Glyphs.Warning + " ", text: "settings: " + model.Clean(p.Text), tok: themes.Warning})
	}
	return ps
}
