package ui

import (
	"context"
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
)

const (
	// contentLimit is how many bytes of a value, a key and a header are read.
	contentLimit = 64 << 10
	// contentTimeout bounds the reading of one record.
	contentTimeout = 10 * time.Second
)

// storyPane tells what is known of the record under the cursor, from where, and what is not known.
type storyPane struct {
	prose
	heading string

	// moments are the life of the record at offset, as told by records.
	moments []model.Moment
	records *model.SharePartitionRecords
	offset  int64
	telling bool
}

func newStoryPane() *storyPane { return &storyPane{offset: -1} }

func (s *storyPane) title() string {
	if s.heading == "" {
		return "Record"
	}
	return s.heading
}

// contentPane shows what the log holds at the cursor.
type contentPane struct {
	prose
	found   *model.RecordContent // nil until it was read
	err     string
	offset  int64 // that found or err is for, -1 for none
	reading bool
	format  format
}

func newContentPane() *contentPane { return &contentPane{offset: -1} }

func (c *contentPane) title() string { return "Content" }

// statesPane is the machine as a pane, for screens where its picture has no room beside the window.
type statesPane struct {
	prose
	machine *machine
	off     bool
}

func (s *statesPane) title() string { return "States" }
func (s *statesPane) lines() int    { return machineHeight }
func (s *statesPane) draw(theme *themes.Theme, w, h int) string {
	return s.machine.draw(theme, w, h)
}

// recordHeading names the record under the cursor.
func (s *flightScreen) recordHeading(a *App) string {
	if s.window == nil {
		return ""
	}
	return "Record " + model.Count(s.grid.cursor)
}

type (
	contentMsg struct {
		screen  *flightScreen
		offset  int64
		content model.RecordContent
		err     error
	}
	storyMsg struct {
		screen  *flightScreen
		offset  int64
		records *model.SharePartitionRecords
		moments []model.Moment
	}
)

// readContent reads the record under the cursor, unless that is under way or done.
func (s *flightScreen) readContent(a *App) tea.Cmd {
	offset := s.grid.cursor
	if a.options.Reader == nil || s.window == nil || s.content.reading || s.content.offset == offset && !s.grown(offset) {
		return nil
	}
	s.content.reading = true
	reader, parent := a.options.Reader, a.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, contentTimeout)
		defer cancel()
		msg := contentMsg{screen: s, offset: offset}
		msg.err = guard(func() (err error) {
			msg.content, err = reader.Record(ctx, s.topic, s.number, offset, contentLimit)
			return err
		})
		return msg
	}
}

// grown reports whether there was no record when it was read and now the log reaches further.
func (s *flightScreen) grown(offset int64) bool {
	c := s.content.found
	return c != nil && c.Status == model.RecordBeyondEnd && s.part != nil && offset < s.part.End.Or(0)
}

func (m contentMsg) arrive(a *App) tea.Cmd {
	c := m.screen.content
	c.reading, c.offset, c.err, c.found = false, m.offset, "", nil
	if m.err != nil {
		_, c.err = a.explain(m.err)
	} else {
		c.found = &m.content
	}
	c.top = 0
	a.frame.old = true
	m.screen.tell(a)
	return m.screen.readContent(a)
}

// readStory works out the life of the record under the cursor. A long history takes a while, hence a command.
func (s *flightScreen) readStory(*App) tea.Cmd {
	offset, records := s.grid.cursor, s.records
	if records == nil || s.story.telling || s.story.offset == offset && s.story.records == records {
		return nil
	}
	s.story.telling = true
	return func() tea.Msg {
		return storyMsg{s, offset, records, records.History.Timeline(offset)}
	}
}

func (m storyMsg) arrive(a *App) tea.Cmd {
	s := m.screen
	s.story.telling = false
	s.story.offset, s.story.records, s.story.moments = m.offset, m.records, m.moments
	a.frame.old = true
	s.tell(a)
	return s.readStory(a)
}

// tell writes down what is known of the record under the cursor.
func (s *flightScreen) tell(a *App) {
	s.story.set(s.storyParagraphs(a))
	s.content.set(s.contentParagraphs(a))
}

func (s *flightScreen) storyParagraphs(a *App) []paragraph {
	if s.window == nil {
		return nil
	}
	offset, loc := s.grid.cursor, a.now.Location()
	run, inside := s.window.At(offset)
	var ps []paragraph
	if inside {
		glyph, tok := recordGlyph(&a.theme.Glyphs, &run)
		ps = append(ps, paragraph{lead: glyph + " ", text: s.stateWords(run), tok: tok},
			paragraph{text: model.Clean(s.window.Why(run, loc)), tok: themes.Muted})
	} else if s.blind {
		ps = append(ps, paragraph{text: "not held by us; more is not known", tok: themes.Muted}, paragraph{text: s.why[0], tok: themes.Muted})
	} else if offset < s.window.Start {
		ps = append(ps, paragraph{text: "below the start offset: finished", tok: themes.Muted})
	} else {
		ps = append(ps, paragraph{text: "beyond what is known of the log: not handed out, as far as recorded", tok: themes.Muted})
	}
	ps = append(ps, s.deedParagraphs(a)...)
	if s.records == nil || s.blind {
		return ps
	}
	told := s.story.offset == offset
	ps = append(ps, paragraph{}, paragraph{text: "Timeline, by the brokers' clocks", tok: themes.Header})
	switch {
	case !told:
		ps = append(ps, paragraph{text: "reading the history", tok: themes.Faint})
	case len(s.story.moments) == 0:
		ps = append(ps, paragraph{text: "nothing is recorded of it" + s.sinceWords(a), tok: themes.Muted})
	default:
		for _, m := range s.story.moments {
			ps = append(ps, s.momentParagraph(a, &m))
		}
	}
	if inside {
		if hidden := hiddenWords(&run); hidden != "" {
			ps = append(ps, paragraph{}, paragraph{text: "What nobody can know", tok: themes.Header}, paragraph{text: hidden, tok: themes.Muted})
		}
	}
	if s.lagOff >= lagOffPolls && !s.replay && s.part != nil {
		if diff, words := model.CheckLag(s.records.History.Now().DerivedLag(s.part.End), s.part.Lag); diff == model.Some(s.lagBy) {
			ps = append(ps, paragraph{}, paragraph{text: words, tok: themes.Faint})
		}
	}
	return ps
}

// lagOffPolls is for how many polls the broker's lag has to differ by the same number from what the recorded state makes
// it before that is worth a word. The two are read at different times, so that on a busy partition they differ all the
// time, and each time by something else.
const lagOffPolls = 6

// checkLag counts the polls in which the two differ by the same number.
func (s *flightScreen) checkLag(at time.Time) {
	if s.part == nil || s.records == nil || s.part.LagDerived || !at.After(s.lagAt) {
		return
	}
	s.lagAt = at
	diff, _ := model.CheckLag(s.records.History.Now().DerivedLag(s.part.End), s.part.Lag)
	switch by := diff.Or(0); {
	case by == 0:
		s.lagOff = 0
	case by == s.lagBy:
		s.lagOff++
	default:
		s.lagOff, s.lagBy = 1, by
	}
}

func (s *flightScreen) sinceWords(a *App) string {
	if from, ok := s.records.History.From(); ok {
		return " since the history begins, " + momentClock(from, a.now)
	}
	return ""
}

// stateWords names the state of a record, where that is known from, and its count.
func (s *flightScreen) stateWords(r model.Run) string {
	words := ""
	switch {
	case r.State != model.StateNone:
		words = r.State.String()
		switch r.Source {
		case model.SourceInferred:
			words += ", inferred"
		case model.SourceRecorded:
			words += ", recorded"
		case model.SourceObserved:
			words += ", held by us"
		}
	case r.Reason == model.ReasonNoOutcome:
		words = "no outcome recorded"
	case r.Reason == model.ReasonGone:
		words = "below the start of the log"
	default:
		words = "handed out once, now unknown"
	}
	n, ok := r.Count.Get()
	if !ok {
		return words
	}
	words += fmt.Sprintf(", delivery %d", n)
	if s.grid.limit > 0 {
		words += fmt.Sprintf(" of %d", s.grid.limit)
	}
	return words
}

// hiddenWords says what can not be known from outside about a record.
func hiddenWords(r *model.Run) string {
	switch {
	case r.Source == model.SourceInferred:
		return "Which member holds it, until when, and in which delivery: only the leader's memory has that."
	case r.Reason == model.ReasonReturned:
		return "Whether it is out with a member right now. A new delivery is not recorded before its outcome."
	case r.Reason == model.ReasonNoOutcome:
		return "Whether it was delivered yet: the first delivery is not recorded before its outcome."
	case r.State == model.StateArchived:
		return "Who gave up on it: the topic holds no reason. The delivery count makes one likely."
	}
	return ""
}

func (s *flightScreen) momentParagraph(a *App, m *model.Moment) paragraph {
	p := paragraph{tok: themes.Text}
	if m.Kind == model.MomentKnown {
		p.lead = "before        "
	} else {
		p.lead = momentClock(m.Ref.Time(), a.now) + "  "
	}
	p.text = s.momentWords(m)
	if s.replay && m.Position > s.position() {
		p.tok = themes.Faint
		p.text += " (later)"
	}
	return p
}

func (s *flightScreen) momentWords(m *model.Moment) string {
	switch m.Kind {
	case model.MomentPassed:
		return "the start offset moved over it without an outcome"
	case model.MomentLeader:
		return "the leader changed: a hold on it, if there was one, is forgotten"
	case model.MomentReset:
		return "the group's offset was reset, or its state initialised"
	case model.MomentDeleted:
		return "the state of the group was deleted"
	}
	words := map[model.RecordState]string{
		model.StateAvailable: "available again: released, or the lock ran out", model.StateAcknowledged: "accepted",
		model.StateArchived: "archived", model.StateArchiving: "archiving, through the dead-letter topic",
	}[m.To.State]
	if words == "" {
		words = m.To.State.String()
	}
	words += fmt.Sprintf(", delivery %d", m.To.Count)
	if m.To.State == model.StateArchived && m.From.State != model.StateArchiving {
		switch {
		case s.grid.limit == 0:
		case int64(m.To.Count) >= s.grid.limit:
			words += ": likely the delivery limit"
		default:
			words += ": likely rejected by a client"
		}
	}
	return words
}

// contentParagraphs are the key, the headers and the value of the record.
func (s *flightScreen) contentParagraphs(a *App) []paragraph {
	c := s.content
	switch {
	case s.window == nil:
		return nil
	case a.options.Reader == nil:
		return []paragraph{{text: "Contents are not read here.", tok: themes.Muted}}
	case c.offset != s.grid.cursor:
		return []paragraph{{text: "Reading the record.", tok: themes.Faint}}
	case c.err != "":
		return []paragraph{{text: model.Clean(c.err), tok: themes.Warning}}
	case c.found == nil:
		return nil
	}
	return c.format.paragraphs(c.found, a.now.Location())
}

// jumpToCount moves the cursor to the next record, in direction n, that was delivered more than once: of those
// the ones with the highest count first, when there is one near the limit.
func (s *flightScreen) jumpToCount(n int) bool {
	if s.window == nil {
		return false
	}
	var at []int64
	for i := range s.window.Runs {
		r := &s.window.Runs[i]
		if r.Count.Or(0) > 1 && !r.State.Terminal() {
			at = append(at, r.First)
		}
	}
	if len(at) == 0 {
		for i := range s.window.Runs { // then those that are finished
			if r := &s.window.Runs[i]; r.Count.Or(0) > 1 {
				at = append(at, r.First)
			}
		}
	}
	if len(at) == 0 {
		return false
	}
	i, found := slices.BinarySearch(at, s.grid.cursor)
	switch {
	case n > 0 && found:
		i++
	case n < 0:
		i--
	}
	s.grid.moveTo(at[(i+len(at))%len(at)])
	return true
}
