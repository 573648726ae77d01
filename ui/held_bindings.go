package ui

import (
	"fmt"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/ui/form"
)

// heldBindings are the keys for taking records and deciding about them.
func heldBindings() []binding {
	decision := func(d model.Decision) func(*App) tea.Cmd {
		return func(a *App) tea.Cmd { return a.decide(d) }
	}
	return []binding{
		{id: "take", keys: []string{"c"}, title: "take", name: "Take records", help: "Joins the share group as a member and takes records of it, to look at them and to decide about each.",
			in: atFlight, section: sectionHold, footer: -1, changes: true, right: model.OpRead, unless: (*App).cannotTake, do: (*App).openTake},
		{id: "accept", keys: []string{"a"}, title: "accept", name: "Accept held records", help: "Accepts the selected held record, or all that are marked: they are finished.",
			in: atFlight, section: sectionHold, footer: -6, passing: true, changes: true, unless: (*App).nothingHeld, do: decision(model.DecisionAccept)},
		{id: "release", keys: []string{"r"}, title: "release", name: "Release held records", help: "Gives the selected held record, or all that are marked, back to the group.",
			in: atFlight, section: sectionHold, footer: -5, passing: true, changes: true, unless: (*App).nothingHeld, do: decision(model.DecisionRelease)},
		{id: "reject", keys: []string{"x"}, title: "reject", name: "Reject held records", help: "Gives up on the selected held record, or on all that are marked: they are archived.",
			in: atFlight, section: sectionHold, footer: -4, passing: true, changes: true, unless: (*App).nothingHeld, do: decision(model.DecisionReject)},
		{id: "extend", keys: []string{"e"}, title: "extend", name: "Extend the locks of held records", help: "Renews the lock of the selected held record, or of all that are marked (Kafka 4.2 and later).",
			in: atFlight, section: sectionHold, footer: -3, passing: true, changes: true, unless: (*App).notRenewable, do: decision(model.DecisionRenew)},
		{id: "auto-extend", keys: []string{"E"}, title: "keep extending", name: "Keep extending locks: switch", help: "Switches on that all locks are extended by themselves, for a stated time, and off again.",
			in: atFlight, section: sectionHold, changes: true, unless: (*App).notAutoRenewable, do: (*App).switchAutoRenew},
		{id: "mark-held", keys: []string{"m"}, title: "mark", name: "Mark a held record", help: "Marks the selected held record or unmarks it, and goes to the next.",
			in: atFlight, section: sectionHold, unless: (*App).notOnHeld, do: (*App).markHeld},
		{id: "mark-all", keys: []string{"M"}, title: "mark all", name: "Mark all held records", help: "Marks all held records of the share-partition, or none.",
			in: atFlight, section: sectionHold, unless: (*App).nothingHeld, do: (*App).markAllHeld},
		{id: "held-next", keys: []string{">"}, title: "next held", name: "Next held record", help: "Goes to the next record that we hold.",
			in: atFlight, section: sectionHold, unless: (*App).nothingHeld, do: func(a *App) tea.Cmd { return a.toHeld(1) }},
		{id: "held-previous", keys: []string{"<"}, title: "previous held", name: "Previous held record", help: "Goes to the record that we hold before this one.",
			in: atFlight, section: sectionHold, unless: (*App).nothingHeld, do: func(a *App) tea.Cmd { return a.toHeld(-1) }},
		{id: "leave-groups", keys: []string{"L"}, title: "leave group", name: "Leave the share groups that we are in", help: "Releases what is held and leaves the share groups that we joined.",
			in: anywhere, section: sectionHold, unless: (*App).inNoGroup, do: (*App).openLeave},
	}
}

// flight is the flight view on screen; nil when there is none.
func (a *App) flight() *flightScreen {
	s, _ := a.screen().(*flightScreen)
	return s
}

func (s *flightScreen) cursorRef() model.RecordRef {
	return model.RecordRef{Topic: s.topic, Partition: s.number, Offset: s.grid.cursor}
}

// nothingHeld says why no decision can be taken here.
func (a *App) nothingHeld() string {
	s := a.flight()
	switch {
	case s == nil:
		return ""
	case s.replay:
		return "this is the past; \\ returns to now."
	case len(a.holds.of(s.id, s.topic)) == 0 && len(a.holds.deeds[heldKey{s.id, s.cursorRef()}]) == 0:
		return "nothing is held here. c takes records."
	}
	return ""
}

func (a *App) notRenewable() string {
	if why := a.nothingHeld(); why != "" {
		return why
	}
	if s := a.flight(); s != nil {
		for _, h := range a.holds.of(s.id, s.topic) {
			if can, known := h.now.Renewable.Get(); known && !can {
				return h.now.RenewText
			}
		}
	}
	return ""
}

func (a *App) notAutoRenewable() string {
	if s := a.flight(); s != nil && len(a.holds.of(s.id, s.topic)) == 0 {
		return "nothing is held here. c takes records."
	}
	return a.notRenewable()
}

func (a *App) notOnHeld() string {
	if why := a.nothingHeld(); why != "" {
		return why
	}
	if s := a.flight(); s != nil {
		if _, r := a.holds.find(s.id, s.cursorRef()); r == nil {
			return fmt.Sprintf("record %s is not held by us; > goes to one that is.", model.Count(s.grid.cursor))
		}
	}
	return ""
}

func (a *App) inNoGroup() string {
	if len(a.holds.all) == 0 {
		return "we are in no group."
	}
	return ""
}

// targets are the records that a decision is about, by session: those that are marked, or else the one under the
// cursor. One that was held before is sent too: then its result says what became of it.
func (a *App) targets(s *flightScreen) map[*holding][]model.RecordRef {
	found := make(map[*holding][]model.RecordRef)
	for _, h := range a.holds.of(s.id, s.topic) {
		if h.session == nil {
			continue
		}
		for i := range h.now.Held {
			if ref := h.now.Held[i].Ref(); a.holds.marked[heldKey{s.id, ref}] {
				found[h] = append(found[h], ref)
			}
		}
	}
	if len(found) > 0 {
		return found
	}
	ref := s.cursorRef()
	if h, _ := a.holds.find(s.id, ref); h != nil {
		found[h] = []model.RecordRef{ref}
	} else if h := a.holds.covering(s.id, s.topic, s.number); h != nil && h.session != nil && len(a.holds.deeds[heldKey{s.id, ref}]) > 0 {
		found[h] = []model.RecordRef{ref}
	}
	return found
}

// decide carries out a decision about the marked records or the selected one.
func (a *App) decide(d model.Decision) tea.Cmd {
	s := a.flight()
	targets := a.targets(s)
	if len(targets) == 0 {
		words := "is not held by us; > goes to one that is."
		if deeds := a.holds.deeds[heldKey{s.id, s.cursorRef()}]; len(deeds) > 0 {
			words = "is not held any more: " + deeds[len(deeds)-1].text
		}
		a.say(model.Info, fmt.Sprintf("Record %s %s", model.Count(s.grid.cursor), words))
		return nil
	}
	send := func(a *App) tea.Cmd {
		var cmds []tea.Cmd
		for h, refs := range targets {
			cmds = append(cmds, h.decide(a, refs, d, nil))
		}
		clear(a.holds.marked)
		return tea.Batch(cmds...)
	}
	if d != model.DecisionRelease {
		return send(a)
	}
	last, limit := lastDeliveries(targets)
	if len(last) == 0 {
		return send(a)
	}
	words := fmt.Sprintf("%s is on its last delivery (%d of %d). Releasing it archives it: it is not delivered again.", rangesText(model.RangesOf(last)), limit, limit)
	if len(last) > 1 {
		words = fmt.Sprintf("%s are on their last delivery (%d of %d). Releasing them archives them: they are not delivered again.", rangesText(model.RangesOf(last)), limit, limit)
	}
	action := model.Action{Kind: model.ActionShareRelease, Impact: []string{words}, Danger: model.DangerLoss}
	return a.confirm("Release on the last delivery", &action, nil, send)
}

// lastDeliveries are the records that a release would archive.
func lastDeliveries(targets map[*holding][]model.RecordRef) (last []model.RecordRef, limit int64) {
	for h, refs := range targets {
		for _, ref := range refs {
			if r, ok := h.now.Find(ref); ok && h.now.Last(r) {
				last = append(last, ref)
				limit = h.now.Limit.Or(0)
			}
		}
	}
	return last, limit
}

func (a *App) markHeld() tea.Cmd {
	s := a.flight()
	key := heldKey{s.id, s.cursorRef()}
	if a.holds.marked == nil {
		a.holds.marked = make(map[heldKey]bool)
	}
	if a.holds.marked[key] {
		delete(a.holds.marked, key)
	} else {
		a.holds.marked[key] = true
	}
	a.sayMarks()
	return a.toHeld(1)
}

func (a *App) markAllHeld() tea.Cmd {
	s := a.flight()
	if len(a.holds.marked) > 0 {
		clear(a.holds.marked)
	} else {
		a.holds.marked = make(map[heldKey]bool)
		for _, r := range a.holds.records(s.id, s.topic, s.number) {
			a.holds.marked[heldKey{s.id, model.RecordRef{Topic: s.topic, Partition: s.number, Offset: r.Offset}}] = true
		}
	}
	a.sayMarks()
	return nil
}

func (a *App) sayMarks() {
	if n := len(a.holds.marked); n > 0 {
		a.say(model.Info, model.Plural(n, "record")+" marked: a r x e act on all of them.")
		return
	}
	a.say(model.Info, "No record is marked.")
}

// toHeld moves the cursor to the next record that we hold, in direction n.
func (a *App) toHeld(n int) tea.Cmd {
	s := a.flight()
	held := a.holds.records(s.id, s.topic, s.number)
	if len(held) == 0 {
		return nil
	}
	i, found := slices.BinarySearchFunc(held, s.grid.cursor, func(h model.Hold, at int64) int { return int(h.Offset - at) })
	switch {
	case n > 0 && found:
		i++
	case n < 0:
		i--
	}
	s.grid.moveTo(held[(i+len(held))%len(held)].Offset)
	a.reload()
	return a.arrived()
}

// took shows what happened in a session: the arrows light up, and unless the cursor is on a record that we hold, it
// goes to the first one that was taken.
func (s *flightScreen) took(a *App, events []model.SessionEvent) {
	var t model.ShareTally
	first := int64(-1)
	for i := range events {
		e := &events[i]
		if !e.OK && decided(e.Event) || e.Record.Topic != s.topic || e.Record.Partition != s.number {
			continue
		}
		switch e.Event {
		case model.EventAcquire:
			t.Acquired++
			if first < 0 || e.Record.Offset < first {
				first = e.Record.Offset
			}
		case model.EventAccept:
			t.Accepted++
		case model.EventReject:
			t.Archived++
		case model.EventRelease, model.EventLockTimeout, model.EventSessionClose, model.EventLeaderChange:
			t.Released++
		}
		if t.Acquired+t.Accepted+t.Archived+t.Released > 0 {
			s.grid.lit = append(s.grid.lit, model.Change{First: e.Record.Offset, Last: e.Record.Offset})
		}
	}
	if s.replay || t == (model.ShareTally{}) {
		return
	}
	s.machine.fire(t)
	s.fired++
	if _, r := a.holds.find(s.id, s.cursorRef()); r == nil && first >= 0 {
		s.grid.cursor, s.grid.held = first, true
	}
}

// autoMinutes is how long locks are extended unless told otherwise.
const autoMinutes = "10"

// switchAutoRenew stops the extending of locks, or asks for how long they are to be extended.
func (a *App) switchAutoRenew() tea.Cmd {
	s := a.flight()
	sessions := a.holds.of(s.id, s.topic)
	set := func(d time.Duration) tea.Cmd {
		var cmds []tea.Cmd
		for _, h := range sessions {
			if session := h.session; session != nil {
				cmds = append(cmds, h.do(func() error { return session.AutoRenew(d) }))
			}
		}
		return tea.Batch(cmds...)
	}
	for _, h := range sessions {
		if !h.now.RenewUntil.IsZero() {
			a.say(model.Info, "Locks are not extended by themselves any more.")
			return set(0)
		}
	}
	d := &asker{title: "Keep extending locks", form: form.New(form.Field{ID: "minutes", Label: "Minutes", Kind: form.Number, Value: autoMinutes, Min: 1, Max: 240,
		Help: "All locks of " + model.Clean(s.id) + " are renewed at every third of their time. It stops by itself after this time; E stops it before."})}
	d.done = func(a *App) tea.Cmd {
		a.overlay = nil
		n, _ := d.form.Number("minutes")
		a.say(model.Info, fmt.Sprintf("Locks are extended by themselves for %s.", model.Plural(int(n), "minute")))
		return set(time.Duration(n) * time.Minute)
	}
	a.overlay = d
	return nil
}
