package ui

import (
	"fmt"
	"strings"
	"time"

	"flightdeck/model"
	"flightdeck/themes"
)

// heldLines are the lines above the record: our membership, and the records that we hold with their locks running
// down, at most n lines of them.
func (s *flightScreen) heldLines(a *App, w, n int) []line {
	sessions := a.holds.of(s.id, s.topic)
	if len(sessions) == 0 {
		return nil
	}
	var lines []line
	for _, h := range sessions {
		lines = append(lines, h.statusLine(a, s))
	}
	var chips []line
	at := 0
	for _, h := range sessions {
		for i := range h.now.Held {
			r := &h.now.Held[i]
			if r.Partition != s.number {
				continue
			}
			if r.Offset <= s.grid.cursor {
				at = len(chips)
			}
			chips = append(chips, s.chip(a, h, r))
		}
	}
	return append(lines, flow(chips, at, w, max(n, 1))...)
}

// statusLine says what a session is doing.
func (h *holding) statusLine(a *App, s *flightScreen) line {
	g := &a.theme.Glyphs
	words := h.now.Status(a.now)
	if h.leaving {
		words = "leaving the group"
	}
	tok := themes.Held
	for _, w := range h.now.Waits {
		if a.now.Sub(w.Since) >= 2*time.Second {
			tok = themes.Warning
		}
	}
	l := line{{text: " " + g.Held + " " + words, tok: tok}}
	fact := func(text string, tok themes.Token, drop int) {
		l = append(l, span{text: " " + g.Bullet + " ", tok: themes.Faint, drop: drop}, span{text: text, tok: tok, drop: drop})
	}
	fact(fmt.Sprintf("%d held", len(h.now.Held)), themes.Text, 0)
	here := len(h.now.Holds(s.number))
	if other := len(h.now.Held) - here; other > 0 {
		fact(fmt.Sprintf("%d of them in other partitions", other), themes.Muted, 3)
	}
	if n := len(a.holds.marked); n > 0 {
		fact(fmt.Sprintf("%d marked", n), themes.Marked, 1)
	}
	if until := h.now.RenewUntil; !until.IsZero() {
		fact("extended until "+model.ClockOn(until.In(a.now.Location()), a.now), themes.Info, 2)
	}
	return l
}

// chip shows a held record and how its lock runs down.
func (s *flightScreen) chip(a *App, h *holding, r *model.HeldRecord) line {
	g := &a.theme.Glyphs
	ref := r.Ref()
	mark, tok := " ", themes.Held
	if a.holds.marked[heldKey{s.id, ref}] {
		mark, tok = g.Mark, themes.Marked
	}
	name := span{text: mark + model.Count(r.Offset), tok: tok}
	if r.Offset == s.grid.cursor {
		name.tok = themes.Selected
	}
	left := max(r.Until.Sub(a.now), 0)
	lockTok := themes.Text
	if left < 5*time.Second {
		lockTok = themes.Warning
	}
	chip := line{name, {text: " "}}
	if r.Deciding != model.DecisionNone {
		return append(chip, span{text: r.Deciding.String() + g.Ellipsis, tok: themes.Info}, span{text: "  "})
	}
	const cells = 6
	if lock, ok := h.now.Lock.Get(); ok && lock > 0 {
		full := min(int((left*cells+lock-1)/lock), cells)
		chip = append(chip, span{text: strings.Repeat(g.Full, full), tok: lockTok}, span{text: strings.Repeat(g.Empty, cells-full), tok: themes.Faint}, span{text: " "})
	}
	chip = append(chip, span{text: fmt.Sprintf("%2d s", int((left+time.Second-1)/time.Second)), tok: lockTok})
	count, tok := fmt.Sprintf(" %d", r.Count), themes.Muted
	if limit, ok := h.now.Limit.Get(); ok {
		count = fmt.Sprintf(" %d/%d", r.Count, limit)
		if h.now.Last(r) {
			count, tok = count+" last", themes.Warning
		}
	}
	return append(chip, span{text: count, tok: tok}, span{text: "  "})
}

// flow lays chips out in at most n lines of w cells, so that chip at is among them.
func flow(chips []line, at, w, n int) []line {
	if len(chips) == 0 {
		return nil
	}
	widest := 0
	for _, c := range chips {
		widest = max(widest, c.width())
	}
	columns := max((w-1)/widest, 1)
	rows := (len(chips) + columns - 1) / columns
	first := max(min(at/columns-n/2, rows-n), 0)
	var lines []line
	for row := first; row < min(first+n, rows); row++ {
		l := line{{text: " "}}
		for i := row * columns; i < min((row+1)*columns, len(chips)); i++ {
			l = append(l, chips[i]...)
			l = append(l, span{text: strings.Repeat(" ", widest-chips[i].width())})
		}
		lines = append(lines, l)
	}
	return lines
}

// deedParagraphs tell what we did with the record under the cursor.
func (s *flightScreen) deedParagraphs(a *App) []paragraph {
	deeds := a.holds.deeds[heldKey{s.id, s.cursorRef()}]
	if len(deeds) == 0 {
		return nil
	}
	ps := []paragraph{{}, {text: "By us, by this machine's clock", tok: themes.Header}}
	for _, d := range deeds {
		p := paragraph{lead: momentClock(d.at, a.now) + "  ", text: model.Clean(d.text), tok: themes.Held}
		if d.count > 0 {
			p.text += fmt.Sprintf(" (delivery %d)", d.count)
		}
		if !d.ok {
			p.tok = themes.Warning
		}
		ps = append(ps, p)
	}
	return ps
}

// membership is the badge of the groups that we are in; empty for none.
func (a *App) membership() string {
	if len(a.holds.all) == 0 {
		return ""
	}
	groups := make(map[string]bool)
	for _, h := range a.holds.all {
		groups[h.Group] = true
	}
	who := model.Plural(len(groups), "group")
	if len(groups) == 1 {
		who = model.Clean(a.holds.all[0].Group)
	}
	return fmt.Sprintf("MEMBER of %s, %d held", who, a.holds.count())
}
