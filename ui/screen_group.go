package ui

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/table"
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

// byPartition is the order of topic and partition number.
func byPartition(x, y *partitionRow) int {
	return cmp.Or(strings.Compare(x.Topic, y.Topic), cmp.Compare(x.Number, y.Number))
}

var (
	partitionTopic = table.Column[partitionRow]{ID: "topic", Title: "TOPIC", Min: 10, Fair: 16, Max: 60, Weight: 1, Priority: 90,
		Cell: func(r *partitionRow) (string, themes.Token) {
			if r.Deleted {
				return model.Clean(r.Topic) + " (deleted)", themes.Warning
			}
			return model.Clean(r.Topic), themes.Text
		},
		Compare: byPartition}
	partitionNumber = table.Column[partitionRow]{ID: "partition", Title: "P", Min: 3, Priority: 100, Right: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return strconv.Itoa(int(r.Number)), themes.Text },
		Compare: func(x, y *partitionRow) int { return cmp.Or(cmp.Compare(x.Number, y.Number), byPartition(x, y)) }}
	partitionStart = table.Column[partitionRow]{ID: "start", Title: "LOG START", Min: 9, Priority: 30, Right: true, Desc: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return offsetCell(r.Start) },
		Compare: func(x, y *partitionRow) int { return compareOpt(x.Start, y.Start) }}
	partitionEnd = table.Column[partitionRow]{ID: "end", Title: "LOG END", Min: 7, Priority: 50, Right: true, Desc: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return offsetCell(r.End) },
		Compare: func(x, y *partitionRow) int { return compareOpt(x.End, y.End) }}
	partitionLag = table.Column[partitionRow]{ID: "lag", Title: "LAG", Min: 7, Priority: 95, Right: true, Desc: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return partitionLagCell(r.GroupPartition) },
		Compare: func(x, y *partitionRow) int { return compareOpt(x.Lag, y.Lag) }}
	partitionRate = table.Column[partitionRow]{ID: "rate", Title: "RATE", Min: 7, Priority: 60, Right: true, Desc: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return rateCell(r.insight.Consumed) },
		Compare: func(x, y *partitionRow) int { return compareOpt(x.insight.Consumed, y.insight.Consumed) }}
	partitionNote = table.Column[partitionRow]{ID: "note", Title: "NOTE", Min: 4, Weight: 1, Priority: 25,
		Cell: func(r *partitionRow) (string, themes.Token) { return r.note() }, Compare: byHarm, Desc: true}
)

// trails reports whether the start offset of a share-partition is below the log end although there is no lag.
func (r *partitionRow) trails() bool {
	end, known := r.End.Get()
	return known && r.Lag == model.Some(int64(0)) && r.Position.Known() && r.Position.Or(0) < end
}

// byHarm puts the partition first that needs a look most. Equal ones stay in the order of their keys.
func byHarm(x, y *partitionRow) int {
	return cmp.Or(cmp.Compare(x.harm(), y.harm()), cmp.Compare(magnitude(x.Lag), magnitude(y.Lag)))
}

func (r *partitionRow) harm() model.Severity {
	switch {
	case r.Lost > 0 || r.Beyond > 0:
		return model.Critical
	case r.Deleted:
		return model.Warning
	}
	return model.OK
}

// note says what is odd about a position.
func (r *partitionRow) note() (string, themes.Token) {
	switch {
	case r.Deleted:
		return "topic or partition deleted", themes.Warning
	case r.Lost > 0:
		return model.Count(r.Lost) + " lost to retention", themes.Critical
	case r.Beyond > 0:
		return model.Count(r.Beyond) + " beyond the log end", themes.Critical
	case !r.Position.Known():
		return "no commit", themes.Faint
	}
	return "", themes.Text
}

var consumerPartitionColumns = []table.Column[partitionRow]{
	partitionTopic, partitionNumber,
	{ID: "committed", Title: "COMMITTED", Min: 9, Priority: 70, Right: true, Desc: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return offsetCell(r.Position) },
		Compare: func(x, y *partitionRow) int { return compareOpt(x.Position, y.Position) }},
	partitionStart, partitionEnd, partitionLag, partitionRate,
	{ID: "member", Title: "MEMBER", Min: 10, Max: 30, Weight: 1, Priority: 80,
		Cell: func(r *partitionRow) (string, themes.Token) {
			if r.owner == nil {
				return r.nobody()
			}
			return textCell(r.owner.ClientID, themes.Muted)
		},
		Compare: func(x, y *partitionRow) int { return strings.Compare(x.client(), y.client()) }},
	{ID: "host", Title: "HOST", Min: 9, Max: 40, Priority: 20,
		Cell: func(r *partitionRow) (string, themes.Token) {
			if r.owner == nil {
				return model.Unknown, themes.Faint
			}
			return textCell(r.owner.Host, themes.Faint)
		}},
	partitionNote,
}

// nobody stands for the missing owner. It stands out where the group has members that could be the owner.
func (r *partitionRow) nobody() (string, themes.Token) {
	if r.deserted {
		return "nobody", themes.Faint
	}
	return "nobody", themes.Warning
}

func (r *partitionRow) client() string {
	if r.owner == nil {
		return ""
	}
	return r.owner.ClientID
}

var sharePartitionColumns = []table.Column[partitionRow]{
	partitionTopic, partitionNumber,
	{ID: "position", Title: "START OFFSET", Min: 12, Priority: 70, Right: true, Desc: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return offsetCell(r.Position) },
		Compare: func(x, y *partitionRow) int { return compareOpt(x.Position, y.Position) }},
	partitionStart, partitionEnd, partitionLag, partitionRate,
	{ID: "window", Title: "WINDOW", Min: 6, Priority: 75, Right: true, Desc: true,
		Cell: func(r *partitionRow) (string, themes.Token) {
			limit := r.configs.RecordLocks()
			return usedText(r.sum.Used, limit), usedToken(r.sum.Used, limit)
		},
		Compare: func(x, y *partitionRow) int { return compareOpt(x.sum.Used, y.sum.Used) }},
	{ID: "released", Title: "RELEASED", Min: 8, Priority: 40, Right: true, Desc: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return countCell(r.sum.Released, themes.Muted) },
		Compare: func(x, y *partitionRow) int { return compareOpt(x.sum.Released, y.sum.Released) }},
	{ID: "archived", Title: "ARCHIVED", Min: 8, Priority: 65, Right: true, Desc: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return countCell(r.sum.Archived, themes.Archived) },
		Compare: func(x, y *partitionRow) int { return compareOpt(x.sum.Archived, y.sum.Archived) }},
	{ID: "worst", Title: "WORST", Min: 5, Priority: 68, Right: true, Desc: true,
		Cell:    func(r *partitionRow) (string, themes.Token) { return worstCell(r.sum.Worst, r.configs.DeliveryLimit()) },
		Compare: func(x, y *partitionRow) int { return compareOpt(x.sum.Worst, y.sum.Worst) }},
	{ID: "shared", Title: "SHARED BY", Min: 10, Weight: 2, Priority: 80, Desc: true,
		Cell: func(r *partitionRow) (string, themes.Token) {
			if len(r.sharers) == 0 {
				return r.nobody()
			}
			return strconv.Itoa(len(r.sharers)) + ": " + strings.Join(r.sharers, ", "), themes.Muted
		},
		Compare: func(x, y *partitionRow) int { return cmp.Compare(len(x.sharers), len(y.sharers)) }},
	{ID: "note", Title: "NOTE", Min: 4, Weight: 4, Priority: 45,
		Cell: func(r *partitionRow) (string, themes.Token) {
			switch {
			case r.Deleted || r.harm() > model.OK:
				return r.note()
			case r.sum.Why != "":
				return model.Clean(r.sum.Why), themes.Muted
			case r.LagDerived:
				return derived + " lag derived from the recorded state", themes.Faint
			case r.trails():
				// The broker counts finished records out of the lag, and moves the start offset over them later.
				if !r.sum.Used.Known() {
					return "none recorded yet", themes.Muted
				}
				return "start trails: all finished", themes.Muted
			case !r.Position.Known():
				return "nothing consumed yet", themes.Faint
			}
			return "", themes.Text
		}, Compare: byHarm, Desc: true},
}

var memberColumns = []table.Column[memberRow]{
	{ID: "client", Title: "CLIENT ID", Min: 12, Max: 40, Weight: 1, Priority: 100,
		Cell:    func(r *memberRow) (string, themes.Token) { return textCell(r.ClientID, themes.Text) },
		Compare: func(x, y *memberRow) int { return strings.Compare(x.ClientID, y.ClientID) }},
	{ID: "host", Title: "HOST", Min: 9, Max: 40, Priority: 70,
		Cell:    func(r *memberRow) (string, themes.Token) { return textCell(r.Host, themes.Muted) },
		Compare: func(x, y *memberRow) int { return strings.Compare(x.Host, y.Host) }},
	{ID: "partitions", Title: "PARTITIONS", Min: 10, Priority: 90, Right: true, Desc: true,
		Cell: func(r *memberRow) (string, themes.Token) {
			n := r.Assigned()
			if n == 0 {
				return "idle", themes.Warning
			}
			return strconv.Itoa(n), themes.Muted
		},
		Compare: func(x, y *memberRow) int { return cmp.Compare(x.Assigned(), y.Assigned()) }},
	{ID: "assignment", Title: "ASSIGNMENT", Min: 12, Weight: 3, Priority: 60,
		Cell: func(r *memberRow) (string, themes.Token) {
			now := assignment(r.Assignment)
			if r.Target != nil {
				if target := assignment(r.Target); target != now {
					return now + " > " + target, themes.Warning
				}
			}
			return textCell(now, themes.Muted)
		}},
	{ID: "instance", Title: "INSTANCE", Min: 8, Max: 24, Priority: 86, Wide: true,
		Cell: func(r *memberRow) (string, themes.Token) { return textCell(r.InstanceID, themes.Muted) }},
	{ID: "rack", Title: "RACK", Min: 4, Max: 16, Priority: 84, Wide: true,
		Cell: func(r *memberRow) (string, themes.Token) { return textCell(r.Rack, themes.Muted) }},
	{ID: "id", Title: "MEMBER ID", Min: 22, Max: 60, Priority: 85, Wide: true,
		Cell: func(r *memberRow) (string, themes.Token) { return textCell(r.ID, themes.Faint) }},
}
