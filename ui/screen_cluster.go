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

// cluster is the screen of brokers, features, limits and problems.
type cluster struct {
	paned
	brokers  *grid[brokerRow]
	features *grid[model.Feature]
	limits   *grid[model.Limit]
	problems *grid[problemRow]
}

// brokerRow is a broker with what it is responsible for.
type brokerRow struct {
	*model.Broker
	controller bool
	leads      int // partitions
	groups     int // coordinated
	age        string
	stale      bool // whether it is up now is not known
}

// problemRow is a problem; n tells those apart that are alike.
type problemRow struct {
	model.Problem
	n int
}

func newCluster() screen {
	s := &cluster{
		brokers:  newGrid("Brokers", func(r *brokerRow) string { return strconv.Itoa(int(r.ID)) }, brokerColumns...),
		features: newGrid("Features", func(f *model.Feature) string { return f.Name }, featureColumns...),
		limits:   newGrid("Limits", func(l *model.Limit) string { return l.API + l.Text }, limitColumns...),
		problems: newGrid("Problems", func(r *problemRow) string { return strconv.Itoa(r.n) }, problemColumns...),
	}
	s.brokers.SortBy("broker")
	s.brokers.text = func(r *brokerRow) string {
		return strings.TrimSpace(fmt.Sprintf("broker %d at %s:%d is %s. %s", r.ID, r.Host, r.Port, r.state(), r.Why))
	}
	s.limits.text = func(l *model.Limit) string { return l.API + ": " + l.Text }
	s.problems.text = func(r *problemRow) string { return strings.TrimSpace(r.Name + ": " + r.Text + " (" + r.Code + ")") }
	s.limits.blank = []string{"Nothing is out of sight: the brokers offer all that flightdeck reads."}
	s.problems.blank = []string{"Everything could be read."}
	s.panes = []pane{s.brokers, s.problems, s.features, s.limits}
	s.focusOn(0)
	return s
}

func (s *cluster) at() place           { return atCluster }
func (s *cluster) summary(*App) string { return "" }

func (s *cluster) draw(a *App, w, h int) string {
	if a.view == nil {
		return drawBlank(a.theme, a.notYet("brokers"), w, h)
	}
	return s.drawPanes(a, w, h)
}

func (s *cluster) load(a *App) {
	if a.view == nil {
		return
	}
	snap := a.view.Snapshot
	leads, coordinates := make(map[int32]int), make(map[int32]int)
	for i := range snap.Topics {
		for k := range snap.Topics[i].Partitions {
			leads[snap.Topics[i].Partitions[k].Leader]++
		}
	}
	for _, groups := range [][]model.Group{snap.Groups, snap.ShareGroups} {
		for i := range groups {
			coordinates[groups[i].Coordinator]++
		}
	}
	brokers := make([]brokerRow, len(snap.Cluster.Brokers))
	for i := range snap.Cluster.Brokers {
		b := &snap.Cluster.Brokers[i]
		r := brokerRow{Broker: b, controller: b.ID == snap.Cluster.Controller, leads: leads[b.ID], groups: coordinates[b.ID], stale: a.fault != ""}
		if !b.Answered.IsZero() {
			at := snap.At
			if r.stale {
				at = a.now
			}
			r.age = ageWords(max(0, at.Sub(b.Answered)))
		}
		brokers[i] = r
	}
	s.brokers.SetRows(brokers)
	s.features.SetRows(append([]model.Feature(nil), snap.Cluster.Features...))
	s.limits.SetRows(append([]model.Limit(nil), snap.Cluster.Limits...))
	problems := make([]problemRow, len(snap.Problems))
	for i, p := range snap.Problems {
		problems[i] = problemRow{p, i}
	}
	s.problems.SetRows(problems)
}

var brokerColumns = []table.Column[brokerRow]{
	{ID: "broker", Title: "ID", Min: 3, Priority: 100, Right: true,
		Cell:    func(r *brokerRow) (string, themes.Token) { return strconv.Itoa(int(r.ID)), themes.Text },
		Compare: func(x, y *brokerRow) int { return cmp.Compare(x.ID, y.ID) }},
	{ID: "state", Title: "STATE", Min: 7, Priority: 95,
		Cell: func(r *brokerRow) (string, themes.Token) {
			switch s := r.state(); s {
			case "up":
				return s, themes.OK
			case "down":
				return s, themes.Critical
			default:
				return s, themes.Stale
			}
		},
		Compare: func(x, y *brokerRow) int { return strings.Compare(x.state(), y.state()) }},
	{ID: "address", Title: "ADDRESS", Min: 14, Max: 50, Weight: 1, Priority: 90,
		Cell: func(r *brokerRow) (string, themes.Token) {
			return model.Clean(r.Host) + ":" + strconv.Itoa(int(r.Port)), themes.Muted
		},
		Compare: func(x, y *brokerRow) int { return strings.Compare(x.Host, y.Host) }},
	{ID: "rack", Title: "RACK", Min: 4, Fair: 8, Max: 20, Priority: 30,
		Cell: func(r *brokerRow) (string, themes.Token) { return textCell(r.Rack, themes.Muted) }},
	{ID: "leads", Title: "LEADS", Min: 6, Priority: 60, Right: true, Desc: true,
		Cell:    func(r *brokerRow) (string, themes.Token) { return model.Count(int64(r.leads)), themes.Muted },
		Compare: func(x, y *brokerRow) int { return cmp.Compare(x.leads, y.leads) }},
	{ID: "groups", Title: "GROUPS", Min: 6, Priority: 50, Right: true, Desc: true,
		Cell:    func(r *brokerRow) (string, themes.Token) { return model.Count(int64(r.groups)), themes.Muted },
		Compare: func(x, y *brokerRow) int { return cmp.Compare(x.groups, y.groups) }},
	{ID: "answered", Title: "ANSWERED", Min: 8, Priority: 40, Right: true,
		Cell: func(r *brokerRow) (string, themes.Token) {
			if r.age == "" {
				return "never", themes.Warning
			}
			return r.age, themes.Faint
		}},
	{ID: "note", Title: "NOTE", Min: 6, Fair: 14, Weight: 3, Priority: 70,
		Cell: func(r *brokerRow) (string, themes.Token) {
			switch {
			case r.Why != "":
				return model.Clean(r.Why), themes.Critical
			case r.controller:
				return "controller", themes.Faint
			}
			return "", themes.Text
		}},
}

func (r *brokerRow) state() string {
	switch {
	case !r.Up:
		return "down"
	case r.stale:
		return "unknown"
	}
	return "up"
}

var featureColumns = []table.Column[model.Feature]{
	{ID: "feature", Title: "FEATURE", Min: 16, Max: 40, Priority: 100,
		Cell:    func(f *model.Feature) (string, themes.Token) { return model.Clean(f.Name), themes.Text },
		Compare: func(x, y *model.Feature) int { return strings.Compare(x.Name, y.Name) }},
	{ID: "level", Title: "LEVEL", Min: 5, Priority: 90, Right: true,
		Cell: func(f *model.Feature) (string, themes.Token) {
			level, ok := f.Finalized.Get()
			if !ok {
				return "0", themes.Faint
			}
			return strconv.Itoa(int(level)), themes.Muted
		},
		Compare: func(x, y *model.Feature) int { return cmp.Compare(x.Finalized.Or(0), y.Finalized.Or(0)) }},
	{ID: "supported", Title: "BROKERS SUPPORT", Min: 8, Priority: 80,
		Cell: func(f *model.Feature) (string, themes.Token) {
			return fmt.Sprintf("%d to %d", f.Min, f.Max), themes.Faint
		}},
}

var limitColumns = []table.Column[model.Limit]{
	{ID: "api", Title: "REQUEST", Min: 16, Max: 34, Priority: 90,
		Cell:    func(l *model.Limit) (string, themes.Token) { return model.Clean(l.API), themes.Text },
		Compare: func(x, y *model.Limit) int { return strings.Compare(x.API, y.API) }},
	{ID: "max", Title: "NEWEST", Min: 6, Priority: 60, Right: true,
		Cell: func(l *model.Limit) (string, themes.Token) {
			if l.Max < 0 {
				return "none", themes.Muted
			}
			return "v" + strconv.Itoa(int(l.Max)), themes.Muted
		}},
	{ID: "text", Title: "WHAT IS MISSING", Min: 20, Weight: 1, Priority: 100,
		Cell: func(l *model.Limit) (string, themes.Token) { return model.Clean(l.Text), themes.Muted }},
}

var problemColumns = []table.Column[problemRow]{
	{ID: "scope", Title: "CONCERNS", Min: 8, Priority: 60,
		Cell:    func(r *problemRow) (string, themes.Token) { return string(r.Scope), themes.Muted },
		Compare: func(x, y *problemRow) int { return cmp.Compare(x.Scope, y.Scope) }},
	{ID: "name", Title: "NAME", Min: 6, Max: 36, Priority: 80,
		Cell:    func(r *problemRow) (string, themes.Token) { return textCell(r.Name, themes.Text) },
		Compare: func(x, y *problemRow) int { return strings.Compare(x.Name, y.Name) }},
	{ID: "text", Title: "WHAT HAPPENED", Min: 20, Weight: 1, Priority: 100,
		Cell: func(r *problemRow) (string, themes.Token) { return model.Clean(r.Text), themes.Warning }},
	{ID: "code", Title: "CODE", Min: 10, Max: 36, Priority: 20,
		Cell:    func(r *problemRow) (string, themes.Token) { return model.Clean(r.Code), themes.Faint },
		Compare: func(x, y *problemRow) int { return strings.Compare(x.Code, y.Code) }},
}
