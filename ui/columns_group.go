package ui

import (
	"cmp"
	"strconv"
	"strings"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/table"
)

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
