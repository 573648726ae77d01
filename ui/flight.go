package ui

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/text"
)

// flightScreen shows one share-partition: its window record by record, the state machine, and the record under
// the cursor with its content and its way through the states. Its panes are, in this order, the window, the
// story of the record, its content, and the states where the picture of the machine has no room.
type flightScreen struct {
	paned
	id     string // group
	topic  string
	number int32

	key        model.SharePartitionKey
	part       *model.GroupPartition // in the present view; nil when it is not there
	operations model.Operations
	configs    *model.GroupConfigs
	records    *model.SharePartitionRecords // nil when nothing is known
	why        []string                     // why there is no window
	window     *model.ShareWindow           // of the moment that is shown; nil when there is none
	blind      bool                         // window is made of what we hold alone
	gone       bool                         // the group is not there any more

	// replay is true while a moment of the past is shown: the state after the write at moment, which has offset
	// -1 for the state that the history begins with.
	replay bool
	moment model.WriteRef

	lagOff int // polls in a row in which the lag is not what the recorded state makes it, by lagBy
	lagBy  int64
	lagAt  time.Time      // when that was last looked at
	clock  time.Time      // the time of day at the last load
	glyphs *themes.Glyphs // of the theme then
	last   model.WriteRef // the last write that was shown live
	fired  uint64         // numbers what lit the machine, so that only the last one darkens it

	grid    *windowGrid
	machine machine
	states  *statesPane
	story   *storyPane
	content *contentPane
}

func newFlightScreen(group, topic string, partition int32) *flightScreen {
	s := &flightScreen{id: group, topic: topic, number: partition, grid: newWindowGrid()}
	s.states = &statesPane{machine: &s.machine}
	s.story = newStoryPane()
	s.content = newContentPane()
	s.grid.below = s.written
	s.panes = []pane{s.grid, s.story, s.content, s.states}
	s.focusOn(0)
	return s
}

func (s *flightScreen) at() place                { return atFlight }
func (s *flightScreen) crumb() string            { return fmt.Sprintf("%s/%d", model.Clean(s.topic), s.number) }
func (s *flightScreen) group() string            { return s.id }
func (s *flightScreen) rights() model.Operations { return s.operations }
func (s *flightScreen) want(w *model.Want)       { w.Groups = append(w.Groups, s.id) }
func (s *flightScreen) every() time.Duration     { return recordFrame }

// cycle moves the focus, past the states while the machine is in the picture.
func (s *flightScreen) cycle(n int) {
	s.paned.cycle(n)
	if s.focused() == pane(s.states) && s.states.off {
		s.paned.cycle(n)
	}
}

// load takes what is known now.
func (s *flightScreen) load(a *App) {
	s.clock, s.glyphs = a.now, &a.theme.Glyphs
	s.part, s.configs = nil, a.following.configs[s.id]
	var logStart, end model.Int
	var read time.Time // when the positions were
	s.gone = false
	if a.view != nil {
		g, ok := a.view.Snapshot.Group(s.id)
		s.gone = !ok
		if ok {
			s.operations, read = g.Operations, g.OffsetsAt
			if p, ok := g.Partition(s.topic, s.number); ok {
				s.part = p
				logStart, end = p.Start, p.End
			}
		}
		if key, ok := a.view.Snapshot.ShareKey(s.id, s.topic, s.number); ok {
			s.key = key
		}
		if t, ok := a.view.Snapshot.Topic(s.topic); ok && !end.Known() {
			if p, ok := t.Partition(s.number); ok {
				logStart, end = p.Start, p.End
			}
		}
	}
	if s.records != nil && s.records.Key != s.key {
		s.records = nil
	}
	if r := a.following.records; r != nil && r.Partitions[s.key] != nil {
		s.records = r.Partitions[s.key]
	} else if r != nil && r.Problem != nil {
		s.records = nil
	} // else what was followed until its group was gone is still worth a look
	s.checkLag(read)
	s.grid.limit = s.configs.DeliveryLimit().Or(0)
	s.window, s.why = nil, s.noWindow(a)
	var held []model.Hold
	if !s.replay {
		held = a.holds.records(s.id, s.topic, s.number)
	}
	s.blind = len(held) > 0 && (s.records == nil || s.records.Unfollowed != "" || !s.records.History.Now().Recorded)
	if s.blind {
		// What we hold is known even where the state topic is not.
		if w, ok := model.InferWindow((&model.ShareHistory{}).Now(), logStart, model.Int{}, held); ok {
			w.Runs = slices.DeleteFunc(w.Runs, func(r model.Run) bool { return r.Source != model.SourceObserved })
			s.window = &w
		}
	}
	if s.records != nil && s.records.Unfollowed == "" && !s.blind && (!s.gone || s.replay) {
		state := s.records.History.Now()
		if s.replay {
			state = s.records.History.At(s.position())
			logStart, end = model.Int{}, model.Int{} // what they were then is not known
		}
		if w, ok := model.InferWindow(state, logStart, end, held); ok {
			s.window = &w
		} else if s.replay {
			s.why = []string{"Nothing was recorded at this moment.", "] steps forward, \\ returns to now."}
		}
		s.notice(a)
	}
	s.grid.blank = s.why
	s.grid.set(s.window)
	s.machine.set(s.window)
	s.machine.blind = s.blind
	s.machine.rates = model.Opt[model.ShareRates]{}
	if s.records != nil && !s.replay {
		s.machine.rates = s.records.History.Rates(a.brokerNow(), rateSpan)
	}
	s.tell(a)
}

// position is that of the moment that is shown, in the history as it is now.
func (s *flightScreen) position() int {
	h := &s.records.History
	if !s.replay {
		return h.Len()
	}
	n := h.Len()
	for n > 0 && h.Entry(n-1).Ref.Offset > s.moment.Offset {
		n--
	}
	return n
}

// noWindow says why there may be no window, and what remains.
func (s *flightScreen) noWindow(a *App) []string {
	var known []string
	if s.part != nil {
		known = append(known, fmt.Sprintf("The broker says: start offset %s, log end %s, lag %s.",
			s.part.Position.Text(model.Count), s.part.End.Text(model.Count), s.part.Lag.Text(model.Count)))
	}
	all := a.following.records
	if s.gone {
		return []string{"The group is not there any more.", "It was deleted, or its coordinator does not list it. [ steps back through what was recorded, esc goes back."}
	}
	switch {
	case a.options.Follower == nil:
		return append([]string{"The state of records is not followed here."}, known...)
	case all != nil && all.Problem != nil:
		return append([]string{model.Clean(all.Problem.Text)}, known...)
	case s.records == nil:
		return append([]string{"Reading the state topic."}, known...)
	case s.records.Unfollowed != "":
		return append([]string{model.Clean(s.records.Unfollowed) + "."}, known...)
	case !s.records.CaughtUp:
		return []string{"Reading the state topic: " + model.Plural(s.records.History.Len(), "write") + " so far."}
	case !s.records.History.Now().Recorded:
		return append([]string{"Nothing is recorded for this share-partition.", "No member of the group was ever assigned it, or its state was deleted."}, known...)
	}
	return append([]string{sentence(model.NothingRecorded)}, known...)
}

// sentence makes a phrase of package model a sentence.
func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// notice lights what happened since the last look. In replay it is what the write of that moment did.
func (s *flightScreen) notice(a *App) {
	h := &s.records.History
	n := h.Len()
	if s.replay {
		s.machine.dark()
		s.grid.lit = nil
		if at := s.position(); at > 0 {
			step := h.Step(at - 1)
			s.machine.fire(step.Tally)
			s.grid.lit = step.Changes
		}
		return
	}
	if n == 0 || !s.records.CaughtUp {
		return
	}
	newest := h.Entry(n - 1).Ref
	if s.last == (model.WriteRef{}) || newest == s.last {
		s.last = newest
		return
	}
	first := n
	for first > 0 && h.Entry(first-1).Ref.Offset > s.last.Offset && n-first < lightMost {
		first--
	}
	for i := first; i < n; i++ {
		s.machine.fire(h.Entry(i).Tally)
	}
	if n-first <= lightCells {
		s.grid.lit = nil
		for i := first; i < n; i++ {
			for _, b := range h.Entry(i).Write.Batches {
				s.grid.lit = append(s.grid.lit, model.Change{First: b.First, Last: b.Last})
			}
		}
	}
	s.last = newest
	s.fired++
}

const (
	// lightTime is how long the arrow that fired is lit.
	lightTime = 600 * time.Millisecond
	// Of many writes at once only some are looked at: which arrows fire, and which records are lit.
	lightMost, lightCells = 256, 16
)

// darkMsg ends the light of what fired.
type darkMsg struct {
	screen *flightScreen
	fired  uint64
}

func (m darkMsg) arrive(a *App) tea.Cmd {
	s := m.screen
	if s.fired != m.fired || s.replay {
		return nil
	}
	s.machine.dark()
	s.grid.lit = nil
	a.frame.old = true
	return nil
}

// work begins what follows from a change: the light goes out, the record under the cursor is read and its story is
// told.
func (s *flightScreen) work(a *App) tea.Cmd {
	var cmds []tea.Cmd
	if s.machine.lit != [arrows]bool{} && !s.replay {
		msg := darkMsg{s, s.fired}
		cmds = append(cmds, tea.Tick(lightTime, func(time.Time) tea.Msg { return msg }))
	}
	cmds = append(cmds, s.readContent(a), s.readStory(a))
	return tea.Batch(cmds...)
}

// The layout: the machine is drawn beside the window when there is room, and the story beside the content.
const (
	wideFlight  = 100
	leastFlight = 11 // lines, below which only one part is shown
)

func (s *flightScreen) draw(a *App, w, h int) string {
	var b strings.Builder
	spread(&b, a.theme, w, s.head(a), nil)
	b.WriteByte('\n')
	h--
	if h < leastFlight {
		s.states.off = false
		s.headings(&b, a.theme, w)
		b.WriteByte('\n')
		b.WriteString(s.focused().draw(a.theme, w, max(h-1, 1)))
		return b.String()
	}
	wide := w >= wideFlight
	upper := max(h/2, min(machineHeight+2, h-9))
	if !wide {
		upper = h / 2
	}
	s.states.off = wide
	if s.states.off && s.focused() == pane(s.states) {
		s.focusOn(0)
	}
	foot, held := s.footing(a, w), s.heldLines(a, w, h/9)
	gridHeight := max(upper-len(foot), 2)
	if !wide {
		gridHeight = max(gridHeight-len(held), 2)
	}
	foot = append(foot, held...)
	if wide {
		gw := w - machineWidth - 2
		b.WriteString(text.Beside(s.grid.draw(a.theme, gw, gridHeight), s.machine.draw(a.theme, machineWidth, gridHeight), gw+2))
	} else {
		b.WriteString(s.grid.draw(a.theme, w, gridHeight))
	}
	b.WriteByte('\n')
	for _, l := range foot {
		l.append(&b, a.theme, w)
		b.WriteByte('\n')
	}
	lower := h - gridHeight - len(foot)
	s.lower(&b, a, w, lower, wide)
	return b.String()
}

// lower draws the panes under the window: side by side, or the one that was in focus last.
func (s *flightScreen) lower(b *strings.Builder, a *App, w, h int, wide bool) {
	s.story.heading = s.recordHeading(a)
	if wide {
		left := (w - 2) / 2
		var l, r strings.Builder
		s.heading(&l, a.theme, 1, left)
		l.WriteByte('\n')
		l.WriteString(s.story.draw(a.theme, left, h-1))
		s.heading(&r, a.theme, 2, w-left-2)
		r.WriteByte('\n')
		r.WriteString(s.content.draw(a.theme, w-left-2, h-1))
		b.WriteString(text.Beside(l.String(), r.String(), left+2))
		return
	}
	shown := s.focus
	if shown == 0 {
		shown = 1
	}
	var l line
	for i, p := range s.panes[1:] {
		tok := themes.Muted
		if i+1 == shown {
			tok = themes.Header
		}
		if i+1 == s.focus {
			tok = themes.Accent
		}
		l = append(l, span{text: a.theme.Glyphs.Horizontal + " ", tok: themes.Border}, span{text: p.title(), tok: tok}, span{text: " "})
	}
	if rest := w - l.width(); rest > 0 {
		l = append(l, span{text: strings.Repeat(a.theme.Glyphs.Horizontal, rest), tok: themes.Border})
	}
	l.append(b, a.theme, w)
	b.WriteByte('\n')
	b.WriteString(s.panes[shown].draw(a.theme, w, h-1))
}

// head is the line above everything: the window in numbers, and what moment is shown.
func (s *flightScreen) head(a *App) line {
	l := line{{text: " "}}
	if s.replay && s.records != nil {
		at := s.position()
		l = append(l, span{text: " REPLAY ", tok: themes.Demo}, span{text: " "},
			span{text: s.momentText(a), tok: themes.Title}, span{text: fmt.Sprintf(", write %d of %d", at, s.records.History.Len()), tok: themes.Title, drop: 5}, span{text: "  "})
	}
	if s.window == nil {
		return append(l, span{text: model.Clean(s.id), tok: themes.Title}, span{text: "  " + s.crumb(), tok: themes.Muted})
	}
	w := s.window
	what := "window "
	if s.blind {
		what = "held by us "
	}
	l = append(l, span{text: what, tok: themes.Muted})
	if w.Used() == 0 {
		l = append(l, span{text: "empty at " + model.Count(w.Start), tok: themes.Text})
	} else {
		l = append(l, span{text: fmt.Sprintf("%s to %s", model.Count(w.Start), model.Count(w.Start+w.Used()-1)), tok: themes.Text})
	}
	if !s.blind {
		l = append(l, span{text: "  "})
		l = append(l, usedCell(a.theme, model.Some(w.Used()), s.configs.RecordLocks(), 10)...)
	}
	if !s.replay && s.part != nil {
		cell, tok := partitionLagCell(s.part)
		l = append(l, span{text: "  lag ", tok: themes.Muted, drop: 2}, span{text: cell, tok: tok, drop: 2})
	}
	if g := s.grid.scale; g.per > 1 {
		l = append(l, span{text: "  each cell " + model.Plural(int(g.per), "record"), tok: themes.Faint, drop: 3})
	}
	return l
}

// summary says where in the history we are.
func (s *flightScreen) summary(a *App) string {
	if s.records == nil {
		return ""
	}
	if from, ok := s.records.History.From(); ok {
		return "history from " + model.ClockOn(from.In(a.now.Location()), a.now)
	}
	return ""
}
