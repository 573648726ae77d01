package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
)

// Reads that fail are tried again after backoffFirst, then twice as long each time, up to
// backoffMost, for ever.
const (
	backoffFirst = time.Second
	backoffMost  = 5 * time.Second
	// backoffDenied is for a user name or password that the brokers do not accept: who tries too often may be locked out.
	backoffDenied = 30 * time.Second
)

// offsetsTimeout is how long one read of share-group positions may take. It is generous because a
// real broker can stall for seconds on it, and nothing waits for it.
const offsetsTimeout = time.Minute

// loop is a series of reads, of which at most one is under way or waited for. Each carries the
// generation it was begun with; an answer of another generation is of something given up and is
// dropped.
type loop struct {
	generation uint64
	cancel     context.CancelFunc // ends the read under way; nil when none is
	failures   int                // in a row
	denied     bool               // the last one was of the user name or the password
}

// begin gives up what is under way and returns the context and the generation of what begins now.
func (l *loop) begin(parent context.Context, timeout time.Duration) (context.Context, uint64) {
	l.stop()
	ctx, cancel := context.WithTimeout(parent, timeout)
	l.cancel = cancel
	return ctx, l.generation
}

// stop gives up the read or the wait that is under way.
func (l *loop) stop() {
	l.generation++
	l.end()
}

// end notes that the read under way has answered.
func (l *loop) end() {
	if l.cancel != nil {
		l.cancel()
		l.cancel = nil
	}
}

// reading reports whether a read is under way.
func (l *loop) reading() bool { return l.cancel != nil }

// delay is how long to wait until the next read.
func (l *loop) delay(interval time.Duration) time.Duration {
	if l.failures == 0 {
		return interval
	}
	if l.denied {
		return backoffDenied
	}
	d := backoffFirst
	for i := 1; i < l.failures && d < backoffMost; i++ {
		d *= 2
	}
	return min(d, backoffMost)
}

// The messages of the two loops.
type (
	snapshotMsg struct {
		generation uint64
		snapshot   *model.Snapshot
		err        error
	}
	offsetsMsg struct {
		generation uint64
		offsets    model.ShareOffsets
		err        error
	}
	pollDueMsg    struct{ generation uint64 }
	offsetsDueMsg struct{ generation uint64 }
	// clockMsg is the time of day, once a second. It is the only clock that the program has.
	clockMsg time.Time
)

func tickClock() tea.Cmd {
	return tea.Every(time.Second, func(t time.Time) tea.Msg { return clockMsg(t) })
}

// guard turns a panic of read into an error: a fault in one poll must not take the terminal away.
func guard(read func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("flightdeck made a mistake while reading the cluster (%v); the next poll tries again", r)
		}
	}()
	return read()
}

// poll reads a snapshot now.
func (a *App) poll() tea.Cmd {
	want := a.want()
	ctx, generation := a.polls.begin(a.ctx, a.options.Timeout)
	source := a.options.Source
	return func() tea.Msg {
		msg := snapshotMsg{generation: generation}
		msg.err = guard(func() (err error) {
			msg.snapshot, err = source.Snapshot(ctx, want)
			return err
		})
		return msg
	}
}

// want is what the next poll is for: at first the list of groups alone, for a frame as soon as
// possible, then everything, beginning with what is on screen.
func (a *App) want() model.Want {
	want := model.Want{OnlyGroups: a.options.OnlyGroups}
	if a.base == nil {
		want.Depth = model.DepthListing
		return want
	}
	a.screen().want(&want)
	return want
}

// polled takes the answer of a poll and schedules the next one.
func (a *App) polled(msg snapshotMsg) tea.Cmd {
	if msg.generation != a.polls.generation {
		return nil
	}
	a.polls.end()
	if msg.err == nil && msg.snapshot == nil {
		msg.err = fmt.Errorf("the cluster gave no answer")
	}
	var observe tea.Cmd
	if msg.err != nil {
		a.polls.failures++
		a.pollFailed(msg.err)
	} else {
		if a.polls.failures > 0 {
			a.record(entry{severity: model.OK, kind: kindNotice, text: "The cluster answers again."})
		}
		a.polls.failures, a.polls.denied = 0, false
		a.fault = ""
		if a.asked {
			a.say(model.OK, "Read at "+model.Clock(msg.snapshot.At)+" in "+model.Duration(msg.snapshot.Took)+".")
		}
		a.asked = false
		observe = a.take(msg.snapshot)
		if msg.snapshot.Depth == model.DepthListing {
			return a.poll()
		}
	}
	cmds := []tea.Cmd{observe, a.readOffsets(), a.readConfigs()}
	if !a.paused {
		delay, generation := a.polls.delay(a.options.Interval), a.polls.generation
		cmds = append(cmds, tea.Tick(delay, func(time.Time) tea.Msg { return pollDueMsg{generation} }))
	}
	return tea.Batch(cmds...)
}

// pollFailed says why nothing could be read. The last snapshot stays, and with it its age.
func (a *App) pollFailed(err error) {
	var code string
	code, a.fault = a.explain(err)
	if a.polls.denied = model.LoginDenied(code); a.polls.denied {
		a.fault += " It is tried again every " + model.Duration(backoffDenied) + " only, since accounts can be locked after too many tries; ctrl+r tries at once."
	}
	a.nextTry = a.now.Add(a.polls.delay(a.options.Interval))
	a.record(entry{severity: model.Critical, kind: kindError, text: a.fault})
	a.reload()
}

// explain turns an error of the source into a code and a sentence.
func (a *App) explain(err error) (code, text string) {
	if a.options.Explain != nil {
		return a.options.Explain(err)
	}
	return "error", err.Error()
}

// take makes a snapshot the one that is known.
func (a *App) take(s *model.Snapshot) tea.Cmd {
	if s.At.After(a.now) {
		a.now = s.At
	}
	a.base = s
	if s.Depth == model.DepthListing {
		// Nothing can be concluded from a list of names: no history, no verdicts.
		a.show(&model.View{Snapshot: s})
		return nil
	}
	return a.observe()
}

// observedMsg is what the history makes of the latest snapshot.
type observedMsg struct {
	view *model.View
	err  error
}

// observe computes the view of the latest snapshot with the latest share offsets. On a large cluster that takes
// longer than a person wants to wait for a key, so it is a command; since a history has one user at a
// time, what comes meanwhile waits for the next round.
func (a *App) observe() tea.Cmd {
	if a.observing {
		a.observeAgain = true
		return nil
	}
	a.observing, a.observeAgain = true, false
	return a.observation()
}

// observation is the work of observe. What it works on is not changed meanwhile.
func (a *App) observation() tea.Cmd {
	history, base, offsets := a.history, a.base, a.offsets
	records, configs := a.following.records, a.following.configs
	return func() tea.Msg {
		var msg observedMsg
		msg.err = guard(func() error {
			msg.view = history.Observe(base.WithShareOffsets(offsets).WithShareRecords(records, configs))
			return nil
		})
		return msg
	}
}

// observed shows a view that was computed.
func (a *App) observed(msg observedMsg) tea.Cmd {
	a.observing = false
	if msg.err != nil {
		a.record(entry{severity: model.Critical, kind: kindError, text: msg.err.Error()})
	} else {
		a.show(msg.view)
	}
	cmds := []tea.Cmd{a.follow(), a.arrived()}
	if a.observeAgain {
		cmds = append(cmds, a.observe())
	}
	return tea.Batch(cmds...)
}

// show makes v what is on screen, and notes what came with it.
func (a *App) show(v *model.View) {
	old := a.view
	a.view = v
	for i := range v.Events {
		e := &v.Events[i]
		if toldAsProblem(old, v, e) {
			continue
		}
		a.log.add(entry{at: e.At, severity: e.Severity, kind: kindEvent, subject: e.Group, text: e.Text})
	}
	if old == nil || old.Snapshot.Depth == model.DepthListing {
		if v.Snapshot.Depth != model.DepthListing {
			a.greet()
		}
	} else {
		a.noteVerdicts(old, v)
		if a.greeting = a.greeting && a.status.text == a.connected(); a.greeting {
			a.greet()
		}
	}
	a.noteProblems(old, v)
	a.reload()
}

// toldAsProblem reports whether an event is about a broker that stopped answering or answers again: why, and how many
// groups that concerns, is told as a problem.
func toldAsProblem(old, next *model.View, e *model.Event) bool {
	if old == nil || e.Code != model.EventBrokerDown && e.Code != model.EventBrokerUp {
		return false
	}
	return slices.ContainsFunc(slices.Concat(old.Snapshot.Problems, next.Snapshot.Problems), func(p model.Problem) bool {
		return p.Scope == model.ScopeBroker && strings.HasPrefix(e.Text, "Broker "+p.Name+" ")
	})
}

// readOffsets starts the loop of share offsets when there are share groups and it rests.
func (a *App) readOffsets() tea.Cmd {
	if a.offsetReads.reading() || a.offsetsWaiting || a.paused || a.polls.denied || a.base == nil || len(a.base.ShareGroups) == 0 {
		return nil
	}
	ids := a.shareIDs()
	ctx, generation := a.offsetReads.begin(a.ctx, offsetsTimeout)
	source := a.options.Source
	return func() tea.Msg {
		msg := offsetsMsg{generation: generation}
		msg.err = guard(func() (err error) {
			msg.offsets, err = source.ShareOffsets(ctx, ids)
			return err
		})
		return msg
	}
}

// shareIDs are the ids of all share groups, those on screen first.
func (a *App) shareIDs() []string {
	var want model.Want
	a.screen().want(&want)
	groups := a.base.ShareGroups
	ids := make([]string, 0, len(groups))
	first := make(map[string]bool, len(want.Groups))
	for _, id := range want.Groups {
		first[id] = true
	}
	for _, visible := range []bool{true, false} {
		for i := range groups {
			if first[groups[i].ID] == visible {
				ids = append(ids, groups[i].ID)
			}
		}
	}
	return ids
}

// offsetsRead takes the positions of share groups and schedules the next read.
func (a *App) offsetsRead(msg offsetsMsg) tea.Cmd {
	if msg.generation != a.offsetReads.generation {
		return nil
	}
	a.offsetReads.end()
	var observe, again tea.Cmd
	if msg.err != nil {
		a.offsetReads.failures++
		_, text := a.explain(msg.err)
		a.record(entry{severity: model.Warning, kind: kindError, text: "Positions of share groups: " + text})
	} else {
		a.offsetReads.failures = 0
		a.offsets = mergeOffsets(a.offsets, msg.offsets)
		if a.base.Depth != model.DepthListing {
			observe = a.observe()
		}
		if a.fault != "" && !a.paused && !a.polls.reading() && anyRead(msg.offsets) {
			again = a.poll() // the cluster is back: why wait for the next try
		}
	}
	if a.paused {
		return observe
	}
	a.offsetsWaiting = true
	delay, generation := a.offsetReads.delay(a.options.Interval), a.offsetReads.generation
	return tea.Batch(observe, again, tea.Tick(delay, func(time.Time) tea.Msg { return offsetsDueMsg{generation} }))
}

// anyRead reports whether the positions of some group could be read.
func anyRead(o model.ShareOffsets) bool {
	for _, g := range o.Groups {
		if g.Problem == nil {
			return true
		}
	}
	return false
}

// mergeOffsets is old with what next has read. Where next could not read a group, its old positions
// stay, with their age, beside the problem.
func mergeOffsets(old, next model.ShareOffsets) model.ShareOffsets {
	merged := model.ShareOffsets{At: next.At, Groups: make(map[string]model.ShareGroupOffsets, len(old.Groups))}
	for id, g := range old.Groups {
		merged.Groups[id] = g
	}
	for id, g := range next.Groups {
		if last, ok := merged.Groups[id]; ok && g.Problem != nil && len(g.Partitions) == 0 {
			g.At, g.Partitions = last.At, last.Partitions
		}
		merged.Groups[id] = g
	}
	return merged
}

// pause stops both loops, or starts them again.
func (a *App) pause() tea.Cmd {
	a.paused = !a.paused
	if a.paused {
		a.polls.stop()
		a.stopOffsets()
		a.stopFollowing()
		a.say(model.Info, "Paused: nothing is read until space is pressed again. ctrl+r reads once.")
		return nil
	}
	a.say(model.OK, "Live again.")
	return tea.Batch(a.poll(), a.follow())
}

func (a *App) stopOffsets() {
	a.offsetReads.stop()
	a.offsetsWaiting = false
}

// refresh reads everything now, without waiting for the interval or the back-off.
func (a *App) refresh() tea.Cmd {
	a.stopOffsets()
	a.asked = true
	a.say(model.OK, "Reading the cluster now.")
	return a.poll()
}
