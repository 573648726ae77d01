package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"flightdeck/model"
	"flightdeck/themes"
)

// topbar says what cluster this is, how it is seen, and how old the picture is.
func (a *App) topbar(b *strings.Builder, w int) {
	left := line{{text: " "}, {text: "flightdeck", tok: themes.Accent, drop: 7}, {text: "  ", drop: 7},
		{text: a.clusterName(), tok: themes.Title}}
	var right line
	badge := func(text string, tok themes.Token, drop int) {
		right = append(right, span{text: " " + text + " ", tok: tok, drop: drop}, span{text: " ", drop: drop})
	}
	fact := func(text string, tok themes.Token, drop int) {
		left = append(left, span{text: " " + a.theme.Glyphs.Bullet + " ", tok: themes.Faint, drop: drop}, span{text: text, tok: tok, drop: drop})
	}
	if a.view != nil {
		c := &a.view.Snapshot.Cluster
		if c.Version != "" {
			fact("Kafka "+model.Clean(c.Version), themes.Muted, 4)
		}
		tok, drop := themes.Muted, 3
		if c.Up() < len(c.Brokers) {
			tok, drop = themes.Warning, 0
		}
		up := strconv.Itoa(c.Up())
		if a.fault != "" {
			up, tok, drop = "-", themes.Warning, 0 // nothing could be read: how many are up is not known
		}
		fact(fmt.Sprintf("%s/%d brokers", up, len(c.Brokers)), tok, drop)
		for _, f := range c.Features {
			if f.Name == "share.version" {
				fact("share.version "+strconv.Itoa(int(f.Finalized.Or(0))), themes.Muted, 8)
			}
		}
		n := 0
		for i := range a.view.Snapshot.Problems {
			if !a.view.Snapshot.Problems[i].Standing() {
				n++
			}
		}
		if n > 0 {
			fact(a.theme.Glyphs.Warning+" "+model.Plural(n, "problem"), themes.Warning, 5)
		}
	}
	if m := a.membership(); m != "" {
		badge(m, themes.Held, 0)
	}
	if a.options.Profile != "" {
		badge(model.Clean(a.options.Profile), themes.Profile, 2)
	}
	if a.options.Demo {
		badge("DEMO", themes.Demo, 1)
	}
	if a.options.ReadOnly {
		badge("READ-ONLY", themes.ReadOnly, 0)
	}
	if armed := a.armedBadge(); armed != "" {
		badge(armed, themes.ReadOnly, 0)
	}
	if a.paused {
		badge("PAUSED", themes.ReadOnly, 0)
	}
	right = append(right, a.age()...)
	spread(b, a.theme, w, left, append(right, span{text: " "}))
}

func (a *App) clusterName() string {
	switch {
	case a.options.ClusterName != "":
		return model.Clean(a.options.ClusterName)
	case a.options.Demo:
		return "embedded cluster"
	case a.view != nil && a.view.Snapshot.Cluster.ID != "":
		return model.Clean(a.view.Snapshot.Cluster.ID)
	case a.options.Address != "":
		return model.Clean(a.options.Address)
	}
	return "cluster"
}

// age says how old the data is and how long it took to read.
func (a *App) age() line {
	var next line
	if a.fault != "" && !a.paused {
		words := "trying now"
		if !a.polls.reading() {
			words = "next try in " + model.Duration(max(a.nextTry.Sub(a.now), time.Second).Round(time.Second))
		}
		next = line{{text: " " + a.theme.Glyphs.Bullet + " ", tok: themes.Faint, drop: 2}, {text: words, tok: themes.Muted, drop: 2}}
	}
	if a.view == nil {
		if a.fault != "" {
			return append(line{{text: "no answer", tok: themes.Critical}}, next...)
		}
		return line{{text: "connecting", tok: themes.Muted}}
	}
	age := max(0, a.now.Sub(a.view.Snapshot.At))
	tok := themes.Muted
	if !a.paused && (a.fault != "" || age > a.lateAfter()) {
		tok = themes.Critical
	}
	if next != nil {
		return append(line{{text: ageWords(age), tok: tok}}, next...)
	}
	return line{
		{text: ageWords(age), tok: tok},
		{text: " " + a.theme.Glyphs.Bullet + " ", tok: themes.Faint, drop: 6},
		{text: model.Duration(a.view.Snapshot.Took), tok: themes.Muted, drop: 6},
	}
}

// ageWords is an age in whole seconds, so that it does not flicker.
func ageWords(age time.Duration) string {
	if age < time.Second {
		return "now"
	}
	return model.Duration(age) + " ago"
}

// lateAfter is the age from which on data is called stale: twice the longest a sound poll takes.
func (a *App) lateAfter() time.Duration {
	return 2*a.options.Interval + 5*time.Second
}
