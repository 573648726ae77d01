package ui

import (
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/ui/table"
)

// groups is the list of consumer groups or of share groups.
type groups struct {
	list[groupRow, model.GroupRow]
	lag     model.Int // of the rows that the filter lets through
	partial bool      // lag is only a part
}

func newGroups(at place, rows func(*App) []groupRow, none func(*App) []string, columns ...table.Column[groupRow]) *groups {
	g := newGrid("", groupKey, columns...)
	g.SetDim(func(r *groupRow) bool { return r.stale })
	g.SortBy("verdict")
	s := &groups{list: list[groupRow, model.GroupRow]{
		place: at, grid: g, noun: "group", rows: rows, none: none,
		fields: model.GroupFields(), facts: func(r *groupRow) *model.GroupRow { return &r.GroupRow },
	}}
	s.panes = []pane{g}
	return s
}

func newConsumers() screen {
	rows := func(a *App) []groupRow {
		if a.view == nil {
			return nil
		}
		return groupRows(a, a.view.Snapshot.Groups)
	}
	return newGroups(atConsumers, rows, noGroups, groupColumn, typeColumn, stateColumn, membersColumn, topicsColumn,
		lagColumn, trendColumn, rateColumn, etaColumn, coordinatorColumn, assignorColumn, verdictColumn)
}

func newShares() screen {
	rows := func(a *App) []groupRow {
		if a.view == nil {
			return nil
		}
		return groupRows(a, a.view.Snapshot.ShareGroups)
	}
	// What is recorded needs room, and who consumes is told before what was given up on.
	group, members, verdict := groupColumn, membersColumn, verdictColumn
	group.Fair, members.Priority, verdict.Fair = 18, 53, 26
	return newGroups(atShares, rows, noShareGroups, group, stateColumn, members, topicsColumn, lagColumn, windowColumn,
		releasedColumn, archivedColumn, worstColumn, trendColumn, rateColumn, coordinatorColumn, assignorColumn, verdict)
}

func (s *groups) group() string {
	if r, ok := s.grid.Selected(); ok {
		return r.Group.ID
	}
	return ""
}

func (s *groups) rights() model.Operations {
	if r, ok := s.grid.Selected(); ok {
		return r.Group.Operations
	}
	return model.Operations{}
}

func (s *groups) want(w *model.Want) {
	for _, r := range s.grid.InView() {
		w.Groups = append(w.Groups, r.Group.ID)
	}
}

// every is how often the list is drawn for the sake of records.
func (s *groups) every() time.Duration { return numberFrame }

func (s *groups) inside() func() screen {
	r, ok := s.grid.Selected()
	if !ok {
		return nil
	}
	return func() screen { return newGroupScreen(r.Group) }
}

func (s *groups) load(a *App) {
	s.list.load(a)
	s.lag, s.partial = model.Int{}, false
	for i := range s.shown {
		r := &s.shown[i]
		lag, ok := r.lag.Get()
		if ok {
			s.lag = model.Some(s.lag.Or(0) + lag)
		}
		s.partial = s.partial || !ok || r.partial
	}
}

func (s *groups) summary(a *App) string {
	text := s.list.summary(a)
	if s.lag.Known() {
		cell, _ := lagCell(s.lag, s.partial)
		words := " lag "
		if a.ownedOnly {
			words = " owned lag "
		}
		text += " " + a.theme.Glyphs.Bullet + words + cell
	}
	return text
}

// toggleOwned leaves partitions that nobody owns out, or counts them again.
func (a *App) toggleOwned() tea.Cmd {
	a.ownedOnly = !a.ownedOnly
	if a.ownedOnly {
		a.say(model.Info, "Lag leaves out partitions that no member owns. u counts them again.")
	} else {
		a.say(model.Info, "Lag counts all partitions that a group has a commit on.")
	}
	a.reload()
	return nil
}

// noGroups says why there are no consumer groups.
func noGroups(a *App) []string {
	if a.view == nil {
		return a.notYet("groups")
	}
	text := []string{"There are no consumer groups yet.",
		"A group appears here when a consumer with a group.id subscribes to a topic or commits an offset."}
	return append(text, a.hidden()...)
}

// noShareGroups says why there are no share groups: they are switched off, the brokers are too old, the right to see them
// is missing, or there are none.
func noShareGroups(a *App) []string {
	if a.view == nil {
		return a.notYet("share groups")
	}
	s := a.view.Snapshot
	switch s.Cluster.Share {
	case model.ShareOff:
		return []string{"Share groups are switched off on this cluster: share.version is 0.",
			"The brokers know them. To switch them on, an administrator runs: kafka-features.sh --bootstrap-server HOST:PORT upgrade --feature share.version=1",
			"Share groups (KIP-932) let many consumers share the records of one partition, each record acknowledged by itself."}
	case model.ShareTooOld:
		version := ""
		if s.Cluster.Version != "" {
			version = " (they look like Kafka " + model.Clean(s.Cluster.Version) + ")"
		}
		return []string{"The brokers are too old for share groups.",
			"Share groups (KIP-932) need Kafka 4.1 or later on all brokers" + version + ". Everything else works on this cluster."}
	case model.ShareUnknown:
		return append([]string{"Whether this cluster has share groups could not be found out."}, problemsOf(s, model.ScopeShare)...)
	}
	if why := problemsOf(s, model.ScopeShare); len(why) > 0 {
		return append([]string{"Share groups can not be seen."}, why...)
	}
	text := []string{"There are no share groups yet.",
		"A group appears here when a share consumer (KafkaShareConsumer, or kafka-console-share-consumer.sh) first subscribes."}
	return append(text, a.hidden()...)
}

func problemsOf(s *model.Snapshot, scope model.ProblemScope) []string {
	var texts []string
	for _, p := range s.Problems {
		if p.Scope == scope {
			texts = append(texts, model.Clean(p.Text))
		}
	}
	return texts
}

// notYet says that the first answer is awaited, or why none came.
func (a *App) notYet(what string) []string {
	if a.fault != "" {
		return []string{"No answer from the cluster yet.", model.Clean(a.fault), "flightdeck goes on trying; ctrl+r tries now."}
	}
	return []string{"Reading the " + what + " of the cluster."}
}

// hidden says that there may be groups that the brokers leave out.
func (a *App) hidden() []string {
	if model.Allowed(a.view.Snapshot.Cluster.Operations, model.OpDescribe) {
		return nil
	}
	return []string{"You lack DESCRIBE on the cluster, so the brokers list only groups that you may describe, and leave out the others without a word. Ask for the ACL DESCRIBE on CLUSTER, or on the groups."}
}
