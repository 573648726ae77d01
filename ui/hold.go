package ui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
)

// TakeRequest says which records to take from a share group.
type TakeRequest struct {
	Group, Topic string
	// Partitions are those to take from; none for those that the group assigns to us.
	Partitions []int32
	Count      int
}

// ShareSession is our membership in a share group, with the records that we hold. Its methods are called from commands,
// Next from one at a time.
type ShareSession interface {
	// Next waits until something is not as in the value before. The last value has the phase SessionLeft; after it
	// comes an error.
	Next(ctx context.Context) (*model.ShareSession, error)
	// More takes further records.
	More(count int) error
	// Decide says one thing about several records and has a result for each. The error means that nothing was
	// sent.
	Decide(ctx context.Context, refs []model.RecordRef, d model.Decision) ([]model.ActionResult, error)
	// AutoRenew extends all locks by itself for a time; 0 stops that.
	AutoRenew(d time.Duration) error
	// Leave releases what is held and leaves the group.
	Leave(ctx context.Context) error
}

// holding is a share session and what is known of it.
type holding struct {
	TakeRequest
	session ShareSession        // nil while it is begun
	now     *model.ShareSession // never nil
	leaving bool                // it was told to leave
	trouble string              // that was told last
}

// heldKey is a record as a group sees it.
type heldKey struct {
	group string
	ref   model.RecordRef
}

// deed is something that we did with a record, or that ended our hold on it.
type deed struct {
	at    time.Time
	text  string
	ok    bool
	count int16 // 0 when it does not apply
}

// holds are all share sessions.
type holds struct {
	all    []*holding
	marked map[heldKey]bool
	// deeds outlive the session, oldest first.
	deeds   map[heldKey][]deed
	ticking bool
}

// deedsMost is of how many records it is remembered what we did with them.
const deedsMost = 5000

func (h *holds) remember(group string, ref model.RecordRef, d deed) {
	key := heldKey{group, ref}
	if h.deeds == nil || len(h.deeds) >= deedsMost && h.deeds[key] == nil {
		h.deeds = make(map[heldKey][]deed)
	}
	h.deeds[key] = append(h.deeds[key], d)
}

// of are the sessions in a group that take from a topic.
func (h *holds) of(group, topic string) []*holding {
	var found []*holding
	for _, s := range h.all {
		if s.Group == group && s.Topic == topic {
			found = append(found, s)
		}
	}
	return found
}

// covering is the session that takes from a partition; nil when there is none.
func (h *holds) covering(group, topic string, partition int32) *holding {
	for _, s := range h.of(group, topic) {
		if !s.leaving && (slices.Contains(s.Partitions, partition) || slices.Contains(s.now.Partitions, partition)) {
			return s
		}
	}
	return nil
}

// records are the holds on a share-partition by offset, as [model.InferWindow] wants them.
func (h *holds) records(group, topic string, partition int32) []model.Hold {
	var found []model.Hold
	for _, s := range h.of(group, topic) {
		found = append(found, s.now.Holds(partition)...)
	}
	slices.SortFunc(found, func(x, y model.Hold) int { return cmp.Compare(x.Offset, y.Offset) })
	return found
}

// find finds a record that we hold.
func (h *holds) find(group string, ref model.RecordRef) (*holding, *model.HeldRecord) {
	for _, s := range h.of(group, ref.Topic) {
		if r, ok := s.now.Find(ref); ok {
			return s, r
		}
	}
	return nil, nil
}

// count is how many records are held.
func (h *holds) count() int {
	n := 0
	for _, s := range h.all {
		n += len(s.now.Held)
	}
	return n
}

// end forgets a session.
func (h *holds) end(gone *holding) {
	h.all = slices.DeleteFunc(h.all, func(s *holding) bool { return s == gone })
	h.prune()
}

// prune drops the marks on what is not held.
func (h *holds) prune() {
	for key := range h.marked {
		if _, r := h.find(key.group, key.ref); r == nil {
			delete(h.marked, key)
		}
	}
}

type (
	// takenMsg says whether a session was begun.
	takenMsg struct {
		*holding
		session ShareSession
		err     error
	}
	// sessionMsg is the next value of a session.
	sessionMsg struct {
		*holding
		next *model.ShareSession
		err  error
	}
	// decidedMsg brings the results of a decision.
	decidedMsg struct {
		*holding
		decision model.Decision
		results  []model.ActionResult
		err      error
		then     func(*App) tea.Cmd
	}
	// doneMsg brings the error of something else that was asked of a session.
	doneMsg struct {
		*holding
		err error
	}
	// holdTickMsg is the time while records are held, so that locks run down visibly.
	holdTickMsg time.Time
)

// holdTick is how often locks are drawn.
const holdTick = 250 * time.Millisecond

// begin joins a group and takes records.
func (a *App) beginTaking(r TakeRequest) tea.Cmd {
	h := &holding{TakeRequest: r, now: &model.ShareSession{Group: r.Group, Topic: r.Topic, Missing: r.Count}}
	a.holds.all = append(a.holds.all, h)
	a.say(model.Info, fmt.Sprintf("Joining %s to take %s of %s.", model.Clean(r.Group), model.Plural(r.Count, "record"), model.Clean(r.Topic)))
	ctx, take := a.ctx, a.options.Take
	return func() tea.Msg {
		msg := takenMsg{holding: h}
		msg.err = guard(func() (err error) {
			msg.session, err = take(ctx, r)
			return err
		})
		return msg
	}
}

func (m takenMsg) arrive(a *App) tea.Cmd {
	a.frame.old = true
	if m.err != nil {
		a.holds.end(m.holding)
		a.refused("No records were taken", m.Group, m.err)
		a.reload()
		return nil
	}
	m.holding.session = m.session
	if m.leaving {
		m.holding.leaving = false
		return tea.Batch(m.wait(a), m.leave(a))
	}
	return m.wait(a)
}

// wait waits for the next value of the session.
func (h *holding) wait(a *App) tea.Cmd {
	ctx, session := a.ctx, h.session
	return func() tea.Msg {
		msg := sessionMsg{holding: h}
		msg.err = guard(func() (err error) {
			msg.next, err = session.Next(ctx)
			return err
		})
		return msg
	}
}

func (m sessionMsg) arrive(a *App) tea.Cmd {
	a.frame.old = true
	if m.err != nil {
		a.holds.end(m.holding)
		a.reload()
		return nil
	}
	m.holding.now = m.next
	a.holds.prune()
	if p := m.next.Problem; p != nil && p.Text != m.trouble {
		a.record(entry{severity: model.Critical, kind: kindError, subject: m.Group, text: p.Text})
	}
	m.holding.trouble = ""
	if m.next.Problem != nil {
		m.holding.trouble = m.next.Problem.Text
	}
	a.note(m.holding, m.next.Events)
	if m.next.Phase == model.SessionLeft {
		a.holds.end(m.holding)
		a.record(entry{severity: model.OK, kind: kindAction, subject: m.Group, text: "left the group, nothing is held of it."})
		if s := a.holds.of(m.Group, m.Topic); len(s) > 0 {
			a.say(model.OK, "Left "+model.Clean(m.Group)+" with one of our members.")
		}
		a.reload()
		return nil
	}
	if s, ok := a.screen().(*flightScreen); ok && s.id == m.Group && s.topic == m.Topic {
		s.took(a, m.next.Events)
	}
	a.reload()
	return tea.Batch(m.wait(a), a.tickHolds(), a.arrived())
}

// note keeps what happened in a session: in the timeline of each record, and in Activity.
func (a *App) note(h *holding, events []model.SessionEvent) {
	for i := 0; i < len(events); {
		e := &events[i]
		// Many records often fare alike.
		refs := []model.RecordRef{}
		for ; i < len(events) && alike(e, &events[i]); i++ {
			if ref := events[i].Record; ref.Topic != "" {
				refs = append(refs, ref)
				a.holds.remember(h.Group, ref, deed{events[i].At, eventWords(&events[i]), events[i].OK, events[i].Count})
			}
		}
		severity := model.OK
		if !e.OK {
			severity = model.Warning
		}
		text := eventWords(e)
		if len(refs) > 0 {
			text = rangesText(model.RangesOf(refs)) + ": " + text
		}
		a.record(entry{at: e.At, severity: severity, kind: kindAction, subject: h.Group, text: text})
	}
}

func alike(x, y *model.SessionEvent) bool {
	return x.Event == y.Event && x.OK == y.OK && x.Text == y.Text && (x.Record.Topic == "") == (y.Record.Topic == "")
}

// eventWords says what happened.
func eventWords(e *model.SessionEvent) string {
	switch {
	case e.Event == model.EventAcquire && e.OK && e.Record.Topic != "":
		return "taken by us"
	case e.OK || !decided(e.Event):
		return e.Text
	}
	return e.Event.String() + " failed: " + e.Text
}

// decided reports whether a person decides about the event.
func decided(e model.RecordEvent) bool {
	return e == model.EventAccept || e == model.EventRelease || e == model.EventReject || e == model.EventRenew
}

// rangesText names records, such as orders/0 128-130,132.
func rangesText(ranges []model.RecordRange) string {
	var b strings.Builder
	for i, r := range ranges {
		switch {
		case i > 0 && r.Topic == ranges[i-1].Topic && r.Partition == ranges[i-1].Partition:
			b.WriteByte(',')
		case i > 0:
			b.WriteString(", ")
			fallthrough
		default:
			fmt.Fprintf(&b, "%s/%d@", model.Clean(r.Topic), r.Partition)
		}
		fmt.Fprintf(&b, "%d", r.First)
		if r.Last > r.First {
			fmt.Fprintf(&b, "-%d", r.Last)
		}
	}
	return b.String()
}

// refused says why something was not done, in Activity and in a box that stays until it was read.
func (a *App) refused(title, subject string, err error) {
	a.fails(subject, err)
	if a.overlay != nil {
		return
	}
	p := &prose{}
	p.restyle(a.theme)
	p.set([]paragraph{{text: model.Clean(a.log.entries[len(a.log.entries)-1].text), tok: themes.Critical}})
	a.overlay = &reader{title: title, prose: p}
}

// tickHolds keeps the locks running down while something is held.
func (a *App) tickHolds() tea.Cmd {
	if a.holds.ticking || a.holds.count() == 0 {
		return nil
	}
	a.holds.ticking = true
	return tea.Tick(holdTick, func(t time.Time) tea.Msg { return holdTickMsg(t) })
}

func (m holdTickMsg) arrive(a *App) tea.Cmd {
	a.holds.ticking = false
	if t := time.Time(m); t.After(a.now) {
		a.now = t
	}
	if s, ok := a.screen().(*flightScreen); ok && len(a.holds.of(s.id, s.topic)) > 0 {
		a.frame.old = true
	}
	return a.tickHolds()
}

// decide sends a decision about records of one session; then follows, when not nil.
func (h *holding) decide(a *App, refs []model.RecordRef, d model.Decision, then func(*App) tea.Cmd) tea.Cmd {
	ctx, session := a.ctx, h.session
	return func() tea.Msg {
		msg := decidedMsg{holding: h, decision: d, then: then}
		msg.err = guard(func() (err error) {
			msg.results, err = session.Decide(ctx, refs, d)
			return err
		})
		return msg
	}
}

// Codes of results for which the session has no event: nothing was sent.
var unsent = map[string]bool{"not_held": true, "deciding": true, "closed": true, "not_renewable": true}

func (m decidedMsg) arrive(a *App) tea.Cmd {
	a.frame.old = true
	if m.err != nil {
		a.refused("Nothing was decided", m.Group, m.err)
		return nil
	}
	done, failed := 0, ""
	for _, r := range m.results {
		if r.OK {
			done++
			continue
		}
		failed = r.Text
		if offset, ok := r.Offset.Get(); ok && unsent[r.Code] {
			ref := model.RecordRef{Topic: r.Topic, Partition: r.Partition, Offset: offset}
			text := m.decision.String() + " failed: " + r.Text
			a.holds.remember(m.Group, ref, deed{a.now, text, false, 0})
			a.record(entry{severity: model.Warning, kind: kindAction, subject: m.Group, text: rangesText(model.RangesOf([]model.RecordRef{ref})) + ": " + text})
		}
	}
	verbs := map[model.Decision]string{model.DecisionAccept: "accepted", model.DecisionRelease: "released", model.DecisionReject: "rejected", model.DecisionRenew: "extended"}
	switch n := len(m.results) - done; {
	case n == 0:
		a.say(model.OK, fmt.Sprintf("%s %s.", model.Plural(done, "record"), verbs[m.decision]))
	case done == 0 && n == 1:
		a.say(model.Warning, sentence(m.decision.String()+" failed")+" "+failed)
	default:
		a.say(model.Warning, fmt.Sprintf("%d %s, %d not. %s", done, verbs[m.decision], n, failed))
	}
	a.reload()
	if m.then != nil {
		return tea.Batch(m.then(a), a.arrived())
	}
	return a.arrived()
}

// do asks something else of the session.
func (h *holding) do(f func() error) tea.Cmd {
	return func() tea.Msg { return doneMsg{h, guard(f)} }
}

func (m doneMsg) arrive(a *App) tea.Cmd {
	a.frame.old = true
	if m.err != nil {
		a.fails(m.Group, m.err)
	}
	return nil
}

// leave tells a session to release what it holds and to leave its group. What comes of it is told by its last values.
func (h *holding) leave(a *App) tea.Cmd {
	if h.leaving {
		return nil
	}
	h.leaving = true
	if h.session == nil {
		return nil // it is told when it has begun
	}
	session, ctx := h.session, a.ctx
	return h.do(func() error { return session.Leave(ctx) })
}
