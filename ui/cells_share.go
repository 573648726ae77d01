package ui

import (
	"fmt"
	"strings"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/spark"
)

// The cells of what is recorded of share groups.

// usedText is how much of a window is in use, as n/limit.
func usedText(used, limit model.Int) string {
	if !used.Known() {
		return model.Unknown
	}
	if !limit.Known() {
		return used.Text(model.Count)
	}
	return used.Text(model.Count) + "/" + limitText(limit.Or(0))
}

// limitText is a limit, shortly when it is so many thousands.
func limitText(limit int64) string {
	if limit >= 1000 && limit%1000 == 0 {
		return model.Count(limit/1000) + "k"
	}
	return model.Count(limit)
}

// usedToken says how bad it is: a window that is full lets nothing new through.
func usedToken(used, limit model.Int) themes.Token {
	n, of := used.Or(0), limit.Or(0)
	switch {
	case !used.Known():
		return themes.Faint
	case of > 0 && n >= of*9/10:
		return themes.Critical
	case of > 0 && n >= of*8/10:
		return themes.Warning
	case n == 0:
		return themes.Faint
	}
	return themes.Muted
}

// usedCell is how much of a window is in use, with a gauge of some cells.
func usedCell(theme *themes.Theme, used, limit model.Int, cells int) line {
	tok := usedToken(used, limit)
	if !used.Known() || limit.Or(0) == 0 {
		return line{{text: usedText(used, limit) + " used", tok: tok}}
	}
	return line{{text: spark.Gauge(used.Or(0), limit.Or(0), cells, &theme.Glyphs), tok: tok, drop: 4},
		{text: fmt.Sprintf(" %s of %s used", used.Text(model.Count), limit.Text(model.Count)), tok: themes.Text, drop: 1}}
}

// worstCell is a delivery count with its limit.
func worstCell(worst, limit model.Int) (string, themes.Token) {
	n, ok := worst.Get()
	if !ok {
		return model.Unknown, themes.Faint
	}
	of, known := limit.Get()
	tok := themes.Muted
	switch {
	case known && n >= of-1:
		tok = themes.Warning
	case n <= 1:
		tok = themes.Faint
	}
	if !known {
		return model.Count(n), tok
	}
	return fmt.Sprintf("%d/%d", n, of), tok
}

// countCell is a number that matters when it is not 0.
func countCell(n model.Int, tok themes.Token) (string, themes.Token) {
	v, ok := n.Get()
	switch {
	case !ok:
		return model.Unknown, themes.Faint
	case v == 0:
		return "0", themes.Faint
	}
	return model.Count(v), tok
}

// derived marks a lag that the broker does not tell.
const derived = "*"

// partitionLagCell is the lag of one partition.
func partitionLagCell(p *model.GroupPartition) (string, themes.Token) {
	cell, tok := lagCell(p.Lag, false)
	if p.LagDerived {
		cell += derived
	}
	return cell, tok
}

// configWords are the settings of a share group that somebody set, with who did, and how many are as Kafka has them.
func configWords(c *model.GroupConfigs) string {
	if c == nil {
		return ""
	}
	var set []string
	defaults := 0
	for _, v := range c.Values {
		switch {
		case !strings.HasPrefix(v.Name, "share.") && !strings.HasPrefix(v.Name, "errors.deadletterqueue"):
		case v.Source == model.ConfigOfDefault:
			defaults++
		case v.Value != "":
			set = append(set, fmt.Sprintf("%s=%s (%s)", v.Name, model.Clean(v.Value), v.Source))
		}
	}
	switch {
	case len(set) == 0 && defaults == 0:
		return ""
	case len(set) == 0:
		return "all are Kafka's defaults"
	case defaults > 0:
		set = append(set, model.Plural(defaults, "default"))
	}
	return strings.Join(set, ", ")
}
