package ui

import (
	"context"
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
)

// Production is records being produced.
type Production interface {
	// Next waits a moment and returns how far it has come. After the value that is Done comes an error.
	Next(ctx context.Context) (*model.Production, error)
	// Cancel ends it: nothing more is sent.
	Cancel()
}

// producing is an overlay with productions under way, or with what came of them.
type producing struct {
	title    string
	all      []Production
	now      []*model.Production // nil before the first value
	stopping bool
}

type (
	// producedMsg says whether productions were begun.
	producedMsg struct {
		*producing
		begun []Production
		err   error
	}
	// productionMsg is the next value of one of them.
	productionMsg struct {
		*producing
		i    int
		next *model.Production
		err  error
	}
)

// beginProduction begins productions and shows how they go.
func (a *App) beginProduction(title string, begin func(context.Context) ([]Production, error)) tea.Cmd {
	p := &producing{title: title}
	a.overlay = p
	ctx := a.ctx
	return func() tea.Msg {
		msg := producedMsg{producing: p}
		msg.err = guard(func() (err error) {
			msg.begun, err = begin(ctx)
			return err
		})
		return msg
	}
}

func (m producedMsg) arrive(a *App) tea.Cmd {
	a.frame.old = true
	p := m.producing
	p.all, p.now = m.begun, make([]*model.Production, len(m.begun))
	if m.err != nil {
		if len(m.begun) == 0 && a.overlay == overlay(p) { // else some are under way
			a.overlay = nil
		}
		a.refused("Nothing was produced", "", m.err)
	}
	cmds := make([]tea.Cmd, 0, len(p.all))
	for i := range p.all {
		if p.stopping {
			p.all[i].Cancel()
		}
		cmds = append(cmds, p.wait(a, i))
	}
	return tea.Batch(cmds...)
}

func (p *producing) wait(a *App, i int) tea.Cmd {
	ctx, one := a.ctx, p.all[i]
	return func() tea.Msg {
		msg := productionMsg{producing: p, i: i}
		msg.err = guard(func() (err error) {
			msg.next, err = one.Next(ctx)
			return err
		})
		return msg
	}
}

func (m productionMsg) arrive(a *App) tea.Cmd {
	if m.err != nil {
		return nil
	}
	p := m.producing
	p.now[m.i] = m.next
	a.frame.old = a.frame.old || a.overlay == overlay(p)
	if !m.next.Done {
		return p.wait(a, m.i)
	}
	severity := model.OK
	switch {
	case m.next.Failed > 0 || m.next.Problem != nil || m.next.Open > m.next.Unheard:
		severity = model.Warning
	case m.next.Unheard > 0:
		severity = model.Info
	}
	a.frame.old = true
	a.record(entry{severity: severity, kind: kindAction, subject: m.next.Topic, text: productionWords(m.next)})
	return nil
}

// productionWords sums up a production that has ended.
func productionWords(p *model.Production) string {
	var b strings.Builder
	if p.Unheard > 0 {
		fmt.Fprintf(&b, "sent %s with acks none, so it is not known whether they were written", model.Plural(int(p.Unheard), "record"))
	} else {
		fmt.Fprintf(&b, "produced %s", model.Plural(int(p.Acked), "record"))
	}
	for i, w := range p.Partitions {
		sep := ", "
		if i == 0 {
			sep = ": "
		}
		b.WriteString(sep + writtenText(p.Topic, &w))
	}
	if p.Failed > 0 {
		fmt.Fprintf(&b, "; %s failed", model.Count(p.Failed))
	}
	if open := p.Open - p.Unheard; open > 0 {
		fmt.Fprintf(&b, "; of %s it is not known", model.Count(open))
	}
	if p.Canceled {
		b.WriteString("; stopped")
	}
	switch {
	case p.Problem != nil:
		b.WriteString(": " + p.Problem.Text)
	case len(p.Reasons) > 0:
		b.WriteString(": " + p.Reasons[0].Text)
	}
	return b.String()
}

func writtenText(topic string, w *model.Produced) string {
	if w.Count == 1 {
		return fmt.Sprintf("%s/%d@%d", model.Clean(topic), w.Partition, w.First)
	}
	return fmt.Sprintf("%s/%d@%d-%d", model.Clean(topic), w.Partition, w.First, w.Last)
}

// done reports whether all have ended.
func (p *producing) done() bool {
	for _, one := range p.now {
		if one == nil || !one.Done {
			return false
		}
	}
	return len(p.now) > 0
}

func (p *producing) update(a *App, msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyPressMsg)
	if !ok {
		return nil
	}
	switch k := key.String(); {
	case k == "b" && !p.done():
		a.overlay = nil
		a.say(model.Info, "It goes on in the background; Activity says what comes of it.")
	case k == "esc" && !p.done():
		p.stopping = true
		for _, one := range p.all {
			one.Cancel()
		}
	case k == "esc" || k == "q":
		a.overlay = nil
	case k == "enter" && p.done():
		a.overlay = nil
		return p.jump(a)
	}
	return nil
}

// jump goes to the first record that was written, in the flight view of a share group that reads the topic.
func (p *producing) jump(a *App) tea.Cmd {
	for _, one := range p.now {
		if len(one.Partitions) == 0 {
			continue
		}
		w := one.Partitions[0]
		if s := a.flight(); s != nil && s.topic == one.Topic {
			for i := range one.Partitions {
				if one.Partitions[i].Partition == s.number {
					s.aim(one.Partitions[i].First)
					a.reload()
					return a.arrived()
				}
			}
			return a.toFlight(s.id, one.Topic, w)
		}
		if a.view == nil {
			return nil
		}
		for i := range a.view.Snapshot.ShareGroups {
			g := &a.view.Snapshot.ShareGroups[i]
			if _, ok := g.Partition(one.Topic, w.Partition); ok {
				return a.toFlight(g.ID, one.Topic, w)
			}
		}
		a.say(model.Info, "No share group reads "+model.Clean(one.Topic)+", so there is no flight view to go to.")
	}
	return nil
}

// aim puts the cursor on a record that may not be in the window yet.
func (s *flightScreen) aim(offset int64) {
	if s.replay {
		s.replay, s.last = false, model.WriteRef{}
	}
	s.grid.cursor, s.grid.held = offset, true
}

func (a *App) toFlight(group, topic string, w model.Produced) tea.Cmd {
	s := newFlightScreen(group, topic, w.Partition)
	s.aim(w.First)
	a.push(s)
	return tea.Batch(a.sooner(), a.arrived())
}

func (p *producing) draw(a *App, w, h int) []string {
	inner := min(w-6, 84)
	var ps []paragraph
	for _, one := range p.now {
		if one == nil {
			ps = append(ps, paragraph{text: "Beginning.", tok: themes.Muted})
			continue
		}
		ps = append(ps, p.paragraphs(a, one, inner)...)
	}
	if len(p.now) == 0 {
		ps = append(ps, paragraph{text: "Looking the topic up.", tok: themes.Muted})
	}
	lines := wrapped(a.theme, ps, inner)
	return box(a.theme, p.title, lines[:min(len(lines), max(h-2, 1))], inner)
}

// paragraphs say how far one production is.
func (p *producing) paragraphs(a *App, one *model.Production, w int) []paragraph {
	g := &a.theme.Glyphs
	of, bar := "", ""
	if total, ok := one.Total.Get(); ok && total > 0 {
		of = " of " + model.Count(total)
		cells := max(w-4, 1)
		full := int((one.Acked + one.Unheard + one.Failed) * int64(cells) / total)
		bar = strings.Repeat(g.Full, min(full, cells)) + strings.Repeat(g.Empty, max(cells-full, 0))
	}
	state := "running"
	switch {
	case one.Done && one.Canceled:
		state = "stopped"
	case one.Done:
		state = "done in " + model.Duration(one.Ended.Sub(one.Began))
	case p.stopping:
		state = "stopping"
	}
	count, done := one.Acked, "written"
	if one.Unheard > 0 {
		count, done = one.Unheard, "sent"
	}
	ps := []paragraph{{text: fmt.Sprintf("%s: %s%s %s, %s, %s of keys and values, %s", model.Clean(one.Topic), model.Count(count), of, done, model.Rate(one.Rate), model.Bytes(one.Bytes), state), tok: themes.Title}}
	if bar != "" && !one.Done {
		ps = append(ps, paragraph{text: bar, tok: themes.Accent})
	}
	if one.Failed > 0 {
		ps = append(ps, paragraph{lead: g.Critical + " ", text: model.Count(one.Failed) + " failed", tok: themes.Critical})
	}
	if one.Open > 0 {
		ps = append(ps, paragraph{lead: g.Warning + " ", text: "of " + model.Count(one.Open) + " it is not known whether they were written", tok: themes.Warning})
	}
	if one.Problem != nil {
		ps = append(ps, paragraph{lead: g.Critical + " ", text: model.Clean(one.Problem.Text), tok: themes.Critical})
	}
	for _, r := range one.Reasons {
		ps = append(ps, paragraph{lead: "  ", text: model.Count(r.Count) + " times: " + model.Clean(r.Text), tok: themes.Warning})
	}
	for i := range one.Partitions {
		ps = append(ps, paragraph{lead: "  ", text: writtenText(one.Topic, &one.Partitions[i]), tok: themes.Muted})
	}
	return ps
}

func (p *producing) hints() []hint {
	if p.done() {
		return []hint{{key: "enter", title: "go to the record"}, {key: "esc", title: "close"}}
	}
	return []hint{{key: "esc", title: "stop"}, {key: "b", title: "background"}}
}
