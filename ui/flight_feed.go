package ui

import (
	"fmt"
	"strings"
	"time"

	"flightdeck/model"
	"flightdeck/themes"
)

// momentText is the time of the moment in replay.
func (s *flightScreen) momentText(a *App) string {
	at := s.position()
	if at == 0 {
		return "the beginning of the history"
	}
	return momentClock(s.records.History.Entry(at-1).Ref.Time(), a.now)
}

// momentClock is a time of day with milliseconds, with the day in front when it is another one.
func momentClock(t, now time.Time) string {
	t = t.In(now.Location())
	return model.ClockOn(t, now) + t.Format(".000")
}

// footing are the lines under the window: what holds the start offset, and what the moment of a replay did.
func (s *flightScreen) footing(a *App, w int) []line {
	if s.window == nil {
		return nil
	}
	if s.blind {
		return []line{{{text: " only what we hold is shown: ", tok: themes.Muted}, {text: s.why[0], tok: themes.Warning}}}
	}
	head, ok := s.window.Head()
	if !ok || s.window.Used() == 0 {
		return []line{{{text: " nothing is in flight behind the start offset " + model.Count(s.window.Start), tok: themes.Muted}}}
	}
	glyph, tok := recordGlyph(&a.theme.Glyphs, &head.Run)
	l := line{{text: " head ", tok: themes.Muted}, {text: glyph + " " + model.Count(head.Run.First), tok: tok}, {text: " holds the start offset", tok: themes.Muted}}
	switch {
	case head.Since.Ms == 0:
	case s.replay:
		l = append(l, span{text: " since " + momentClock(head.Since.Time(), a.now), tok: themes.Muted})
	default:
		since := " for "
		if head.AtLeast {
			since = " for at least "
		}
		l = append(l, span{text: since + model.Duration(max(0, a.brokerNow().Sub(head.Since.Time()))), tok: themes.Text})
	}
	waiting := ", nothing finished waits"
	if n := head.Waiting; n == 1 {
		waiting = ", 1 finished record waits"
	} else if n > 1 {
		waiting = fmt.Sprintf(", %s finished records wait", model.Count(n))
	}
	l = append(l, span{text: waiting, tok: themes.Muted})
	lines := []line{l}
	if s.records != nil && s.records.Skipped > 0 {
		lines = append(lines, line{{text: fmt.Sprintf(" %s could not be understood, so this may be wrong: %s",
			model.Plural(s.records.Skipped, "write"), model.Clean(s.records.SkippedText)), tok: themes.Warning}})
	}
	if s.replay {
		lines = append(lines, line{{text: " " + s.momentDid(), tok: themes.Text}})
	}
	return lines
}

// momentDid says what the write of the moment did.
func (s *flightScreen) momentDid() string {
	at := s.position()
	if at == 0 {
		return "The state before the oldest write that is kept."
	}
	step := s.records.History.Step(at - 1)
	var did []string
	add := func(n int64, what string) {
		if n > 0 {
			did = append(did, model.Count(n)+" "+what)
		}
	}
	add(step.Tally.Accepted, "accepted")
	add(step.Tally.Released, "released")
	add(step.Tally.Archiving, "on the way to the dead-letter topic")
	add(step.Tally.Archived, "archived")
	add(step.Tally.Passed, "passed over without an outcome")
	if step.Reset {
		did = append(did, "the state begins anew (initialised or reset)")
	}
	if step.Leader {
		did = append(did, "the leader changed: holds are forgotten")
	}
	if before, after := step.EffectiveBefore, step.Effective; before >= 0 && after >= 0 && before != after {
		did = append(did, fmt.Sprintf("start offset %s %s %s", model.Count(before), "to", model.Count(after)))
	}
	if len(did) == 0 {
		did = append(did, "nothing changed")
	}
	return step.Write.Kind.String() + ": " + strings.Join(did, ", ")
}

// written is the i-th line of what was written last, the newest first. What we hold is shown without it too.
func (s *flightScreen) written(i int) line {
	if s.records == nil {
		return nil
	}
	h := &s.records.History
	at := s.position() - 1 - i
	if at < 0 {
		return nil
	}
	e := h.Entry(at)
	l := line{{text: " " + e.Ref.Time().In(s.clock.Location()).Format("15:04:05.000") + "  ", tok: themes.Faint}}
	if e.Write.Kind != model.WriteUpdate || len(e.Write.Batches) == 0 {
		words := e.Write.Kind.String()
		if at > 0 && e.Write.Kind == model.WriteUpdate && e.Write.LeaderEpoch > h.Entry(at-1).Write.LeaderEpoch {
			words = "the leader changed"
		}
		return append(l, span{text: words, tok: themes.Muted})
	}
	for k := range e.Write.Batches {
		b := &e.Write.Batches[k]
		run := model.Run{First: b.First, Last: b.Last, State: b.State, Source: model.SourceRecorded}
		glyph, tok := recordGlyph(s.glyphs, &run)
		words := model.Count(b.First)
		if b.Last > b.First {
			words += " to " + model.Count(b.Last)
		}
		l = append(l, span{text: glyph + " " + words, tok: tok})
		if b.Count > 1 {
			l = append(l, span{text: fmt.Sprintf(" (delivery %d)", b.Count), tok: themes.Muted})
		}
		l = append(l, span{text: "  "})
		if k == feedBatches {
			break
		}
	}
	return l
}

// feedBatches is how many batches of a write are named.
const feedBatches = 8
