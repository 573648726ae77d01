package ui

import (
	"strconv"
	"strings"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/spark"
)

// The cells and words that several screens share, so that the same thing looks the same everywhere.

func severityToken(s model.Severity) themes.Token {
	switch s {
	case model.OK:
		return themes.OK
	case model.Info:
		return themes.Info
	case model.Warning:
		return themes.Warning
	}
	return themes.Critical
}

func severityGlyph(g *themes.Glyphs, s model.Severity) string {
	switch s {
	case model.OK:
		return g.OK
	case model.Info:
		return g.Info
	case model.Warning:
		return g.Warning
	}
	return g.Critical
}

// stateCell is a group's state. Only what is not the rule stands out.
func stateCell(state string) (string, themes.Token) {
	switch state {
	case "":
		return model.Unknown, themes.Faint
	case "Stable":
		return state, themes.Muted
	case "Empty":
		return state, themes.Faint
	case "Dead", "NotReady":
		return state, themes.Critical
	case "PreparingRebalance", "CompletingRebalance", "Assigning", "Reconciling":
		return state, themes.Warning
	}
	return model.Clean(state), themes.Text
}

// lagCell is a lag; one that misses partitions is marked as a lower bound.
func lagCell(lag model.Int, partial bool) (string, themes.Token) {
	n, ok := lag.Get()
	switch {
	case !ok:
		return model.Unknown, themes.Faint
	case partial:
		return ">=" + model.Count(n), themes.Text
	case n == 0:
		return "0", themes.Faint
	}
	return model.Count(n), themes.Text
}

func offsetCell(n model.Int) (string, themes.Token) {
	v, ok := n.Get()
	if !ok {
		return model.Unknown, themes.Faint
	}
	return model.Count(v), themes.Muted
}

func rateCell(r model.Opt[float64]) (string, themes.Token) {
	v, ok := r.Get()
	if !ok {
		return model.Unknown, themes.Faint
	}
	if v == 0 {
		return model.Rate(v), themes.Faint
	}
	return model.Rate(v), themes.Muted
}

// textCell is untrusted text, "-" when there is none.
func textCell(s string, tok themes.Token) (string, themes.Token) {
	if s == "" {
		return model.Unknown, themes.Faint
	}
	return model.Clean(s), tok
}

// nodes are broker ids in words: 1, 2, 3.
func nodes(ids []int32) string {
	if len(ids) == 0 {
		return model.Unknown
	}
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(id)))
	}
	return b.String()
}

// ranges writes partition numbers shortly: 0-2,5.
func ranges(ns []int32) string {
	var b strings.Builder
	for i := 0; i < len(ns); {
		j := i
		for j+1 < len(ns) && ns[j+1] == ns[j]+1 {
			j++
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(ns[i])))
		if j > i {
			b.WriteString("-" + strconv.Itoa(int(ns[j])))
		}
		i = j + 1
	}
	return b.String()
}

// assignment writes what a member has: orders/0-2,5 payments/1.
func assignment(ts []model.TopicPartitions) string {
	parts := make([]string, 0, len(ts))
	for _, t := range ts {
		parts = append(parts, model.Clean(t.Topic)+"/"+ranges(t.Partitions))
	}
	return strings.Join(parts, " ")
}

// trendCells is the width of a trend.
const trendCells = 8

// trendCell draws how the lag moved over the last samples.
func trendCell(trend []model.Int, g *themes.Glyphs) (string, themes.Token) {
	at := func(i int) (float64, bool) {
		n, ok := trend[i].Get()
		return float64(n), ok
	}
	return spark.Line(len(trend), at, trendCells, g), themes.Muted
}
