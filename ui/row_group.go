package ui

import (
	"cmp"
	"math/bits"
	"strconv"
	"strings"
	"time"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/spark"
	"flightdeck/ui/table"
)

// groupRow is a group in a list.
type groupRow struct {
	model.GroupRow
	lag     model.Int
	partial bool // lag is only a part
	derived bool // a part of lag is derived from the recorded state
	stale   bool // members and state are older than the screen
	oldLag  bool // and the positions
	glyphs  *themes.Glyphs
	// sum is what is recorded of a share group, and configs are its settings; nil until read.
	sum     model.ShareSum
	configs *model.GroupConfigs
}

func newGroupRow(a *App, g *model.Group) groupRow {
	r := groupRow{GroupRow: model.GroupRow{Group: g, Insight: a.insight(g.ID)}, glyphs: &a.theme.Glyphs}
	if !g.OffsetsAt.IsZero() {
		r.lag, r.partial = a.lag(g)
	}
	r.stale, r.oldLag = a.stale(g.Described), a.stale(g.OffsetsAt)
	if g.Type == model.TypeShare {
		r.configs = a.following.configs[g.ID]
		r.sum = a.following.records.Sum(a.shareKeys(g), a.brokerNow())
		for i := range g.Partitions {
			r.derived = r.derived || g.Partitions[i].LagDerived
		}
	}
	return r
}

// shareKeys are the keys of the share-partitions of a group.
func (a *App) shareKeys(g *model.Group) []model.SharePartitionKey {
	keys := make([]model.SharePartitionKey, 0, len(g.Partitions))
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if key, ok := a.view.Snapshot.ShareKey(g.ID, p.Topic, p.Number); ok && !p.Deleted {
			keys = append(keys, key)
		}
	}
	return keys
}

// lag is the lag of a group, of the partitions that are to be counted.
func (a *App) lag(g *model.Group) (sum model.Int, partial bool) {
	if !a.ownedOnly || !canOwn(g) {
		return g.Lag()
	}
	owned := *g
	owned.Partitions = nil
	for i := range g.Partitions {
		if g.Partitions[i].Member != model.NoMember {
			owned.Partitions = append(owned.Partitions, g.Partitions[i])
		}
	}
	return owned.Lag()
}

// canOwn reports whether partitions of the group have owners: not in a share group, nor in one that nobody is in.
func canOwn(g *model.Group) bool { return g.Type != model.TypeShare && len(g.Members) > 0 }

// groupRows are the rows of groups.
func groupRows(a *App, groups []model.Group) []groupRow {
	rows := make([]groupRow, len(groups))
	for i := range groups {
		rows[i] = newGroupRow(a, &groups[i])
	}
	return rows
}

// stale reports whether what was read at t is older than what the screen promises. What was never
// read is not stale but unknown.
func (a *App) stale(t time.Time) bool {
	if t.IsZero() {
		return false
	}
	return a.fault != "" || a.view.Snapshot.At.Sub(t) > a.lateAfter()
}

func groupKey(r *groupRow) string { return r.Group.ID }

// insight is what is concluded about a group; nothing while only names are known.
func (a *App) insight(group string) *model.Insight {
	if in := a.view.Insights[group]; in != nil {
		return in
	}
	return &noInsight
}

var noInsight model.Insight

// byTrouble puts the group first that needs help most: by severity, then by the magnitude of its lag.
func byTrouble(x, y *groupRow) int {
	return cmp.Or(cmp.Compare(x.Insight.Verdict().Severity, y.Insight.Verdict().Severity),
		cmp.Compare(magnitude(x.lag), magnitude(y.lag)))
}

// magnitude is a lag as far as it matters for the order of rows: powers of four from 256 on. Rows whose lags are
// about the same do not change places at every poll.
func magnitude(lag model.Int) int {
	return bits.Len64(uint64(max(lag.Or(0), 0))>>8) / 2
}

func byLag(x, y *groupRow) int { return compareOpt(x.lag, y.lag) }

// compareOpt orders what is unknown below everything.
func compareOpt[T cmp.Ordered](x, y model.Opt[T]) int {
	xv, xok := x.Get()
	yv, yok := y.Get()
	switch {
	case xok && yok:
		return cmp.Compare(xv, yv)
	case xok:
		return 1
	case yok:
		return -1
	}
	return 0
}

// The columns that lists of groups share.
var (
	groupColumn = table.Column[groupRow]{ID: "group", Title: "GROUP", Min: 12, Fair: 24, Max: 40, Weight: 2, Priority: 100,
		Cell:    func(r *groupRow) (string, themes.Token) { return model.Clean(r.Group.ID), themes.Text },
		Compare: func(x, y *groupRow) int { return strings.Compare(x.Group.ID, y.Group.ID) }}
	typeColumn = table.Column[groupRow]{ID: "type", Title: "TYPE", Min: 8, Priority: 20,
		Cell:    func(r *groupRow) (string, themes.Token) { return r.Group.Type.String(), themes.Muted },
		Compare: func(x, y *groupRow) int { return strings.Compare(x.Group.Type.String(), y.Group.Type.String()) }}
	stateColumn = table.Column[groupRow]{ID: "state", Title: "STATE", Min: 8, Max: 12, Priority: 60,
		Cell: func(r *groupRow) (string, themes.Token) {
			state, tok := stateCell(r.Group.State)
			return strings.TrimSuffix(state, "Rebalance"), tok
		},
		Compare: func(x, y *groupRow) int { return strings.Compare(x.Group.State, y.Group.State) }}
	membersColumn = table.Column[groupRow]{ID: "members", Title: "MEMBERS", Min: 7, Priority: 40, Right: true, Desc: true,
		Cell: func(r *groupRow) (string, themes.Token) {
			if r.Group.Described.IsZero() {
				return model.Unknown, themes.Faint
			}
			return model.Count(int64(len(r.Group.Members))), themes.Muted
		},
		Compare: func(x, y *groupRow) int { return cmp.Compare(len(x.Group.Members), len(y.Group.Members)) }}
	topicsColumn = table.Column[groupRow]{ID: "topics", Title: "TOPICS", Min: 6, Priority: 10, Right: true, Desc: true,
		Cell: func(r *groupRow) (string, themes.Token) {
			if r.Group.OffsetsAt.IsZero() && r.Group.Described.IsZero() {
				return model.Unknown, themes.Faint
			}
			return model.Count(int64(r.Group.Topics())), themes.Muted
		},
		Compare: func(x, y *groupRow) int { return cmp.Compare(x.Group.Topics(), y.Group.Topics()) }}
	lagColumn = table.Column[groupRow]{ID: "lag", Title: "LAG", Min: 7, Priority: 90, Right: true, Desc: true,
		Cell: func(r *groupRow) (string, themes.Token) {
			text, tok := lagCell(r.lag, r.partial)
			if r.oldLag {
				tok = themes.Stale
			}
			if r.derived {
				text += derived
			}
			return text, tok
		},
		Compare: byLag}
	trendColumn = table.Column[groupRow]{ID: "trend", Title: "TREND", Min: trendCells, Priority: 45,
		Cell: func(r *groupRow) (string, themes.Token) { return trendCell(r.Insight.Trend, r.glyphs) }}
	rateColumn = table.Column[groupRow]{ID: "rate", Title: "RATE", Min: 7, Priority: 50, Right: true, Desc: true,
		Cell:    func(r *groupRow) (string, themes.Token) { return rateCell(r.Insight.Consumed) },
		Compare: func(x, y *groupRow) int { return compareOpt(x.Insight.Consumed, y.Insight.Consumed) }}
	etaColumn = table.Column[groupRow]{ID: "eta", Title: "ETA", Min: 6, Priority: 15, Right: true,
		Cell: func(r *groupRow) (string, themes.Token) {
			eta, ok := r.Insight.ETA.Get()
			if !ok {
				return model.Unknown, themes.Faint
			}
			return model.Duration(eta), themes.Muted
		},
		Compare: func(x, y *groupRow) int { return compareOpt(x.Insight.ETA, y.Insight.ETA) }}
	coordinatorColumn = table.Column[groupRow]{ID: "coordinator", Title: "COORDINATOR", Min: 11, Priority: 85, Right: true, Wide: true,
		Cell: func(r *groupRow) (string, themes.Token) {
			if r.Group.Coordinator < 0 {
				return model.Unknown, themes.Faint
			}
			return strconv.Itoa(int(r.Group.Coordinator)), themes.Muted
		},
		Compare: func(x, y *groupRow) int { return cmp.Compare(x.Group.Coordinator, y.Group.Coordinator) }}
	assignorColumn = table.Column[groupRow]{ID: "assignor", Title: "ASSIGNOR", Min: 8, Max: 24, Priority: 84, Wide: true,
		Cell:    func(r *groupRow) (string, themes.Token) { return textCell(r.Group.Assignor, themes.Muted) },
		Compare: func(x, y *groupRow) int { return strings.Compare(x.Group.Assignor, y.Group.Assignor) }}
	verdictColumn = table.Column[groupRow]{ID: "verdict", Title: "VERDICT", Min: 14, Fair: 30, Weight: 5, Priority: 95, Desc: true,
		Cell: func(r *groupRow) (string, themes.Token) {
			v := r.Insight.Verdict()
			if v.Text == "" {
				return model.Unknown, themes.Faint
			}
			return severityGlyph(r.glyphs, v.Severity) + " " + model.Clean(v.Text), severityToken(v.Severity)
		},
		Tail: func(r *groupRow) string {
			if n := r.Insight.Others(); n > 0 {
				return "+" + strconv.Itoa(n)
			}
			return ""
		},
		Compare: byTrouble}
)

// The columns of what is recorded of share groups.
var (
	windowColumn = table.Column[groupRow]{ID: "window", Title: "WINDOW", Min: 10, Priority: 55, Right: true, Desc: true,
		Cell: func(r *groupRow) (string, themes.Token) {
			limit := r.configs.RecordLocks()
			tok := usedToken(r.sum.Used, limit)
			if !r.sum.Used.Known() || !limit.Known() {
				return usedText(r.sum.Used, limit), tok
			}
			return spark.Gauge(r.sum.Used.Or(0), limit.Or(0), windowCells, r.glyphs) + " " + usedText(r.sum.Used, limit), tok
		},
		Compare: func(x, y *groupRow) int { return compareOpt(x.sum.Used, y.sum.Used) }}
	releasedColumn = table.Column[groupRow]{ID: "released", Title: "RELEASED", Min: 8, Priority: 48, Right: true, Desc: true,
		Cell:    func(r *groupRow) (string, themes.Token) { return countCell(r.sum.Released, themes.Muted) },
		Compare: func(x, y *groupRow) int { return compareOpt(x.sum.Released, y.sum.Released) }}
	archivedColumn = table.Column[groupRow]{ID: "archived", Title: "ARCHIVED", Min: 8, Priority: 52, Right: true, Desc: true,
		Cell:    func(r *groupRow) (string, themes.Token) { return countCell(r.sum.Archived, themes.Archived) },
		Compare: func(x, y *groupRow) int { return compareOpt(x.sum.Archived, y.sum.Archived) }}
	worstColumn = table.Column[groupRow]{ID: "worst", Title: "WORST", Min: 5, Priority: 54, Right: true, Desc: true,
		Cell:    func(r *groupRow) (string, themes.Token) { return worstCell(r.sum.Worst, r.configs.DeliveryLimit()) },
		Compare: func(x, y *groupRow) int { return compareOpt(x.sum.Worst, y.sum.Worst) }}
)

// windowCells is the width of the gauge of a window in a list.
const windowCells = 4
