package ui

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"flightdeck/model"
)

// logLen is how many entries Activity keeps.
const logLen = 1000

// The kinds of entries.
const (
	kindNotice = "notice"
	kindEvent  = "event"
	kindError  = "error"
	kindAction = "action"
)

// entry is one line of Activity.
type entry struct {
	// seq identifies the entry for the life of the program.
	seq uint64
	at  time.Time
	// times is how often the same entry came in a row; at is the last time.
	times    int
	severity model.Severity
	kind     string
	// subject is the group, topic or broker; empty for the program and the cluster.
	subject string
	text    string
}

// activity is what happened in this session, oldest first, at most logLen entries.
type activity struct {
	entries []entry
	seq     uint64
}

// add appends e. An entry equal to the last one counts it up instead, so that a cluster that is down for an
// hour does not push out what happened before.
func (l *activity) add(e entry) {
	if n := len(l.entries); n > 0 {
		last := &l.entries[n-1]
		if last.kind == e.kind && last.subject == e.subject && last.text == e.text && last.severity == e.severity {
			last.times++
			last.at = e.at
			return
		}
	}
	l.seq++
	e.seq, e.times = l.seq, 1
	if len(l.entries) >= logLen {
		l.entries = append(l.entries[:0], l.entries[logLen/10:]...)
	}
	l.entries = append(l.entries, e)
}

// message is what the status line says.
type message struct {
	severity model.Severity
	text     string
}

// say shows text in the status line until something else is said.
func (a *App) say(severity model.Severity, text string) {
	a.status = message{severity, text}
}

// record shows the entry in the status line and keeps it in Activity.
func (a *App) record(e entry) {
	if e.at.IsZero() {
		e.at = a.now
	}
	a.log.add(e)
	text := e.text
	if e.subject != "" {
		text = e.subject + ": " + text
	}
	a.say(e.severity, text)
}

// greet says on the first sight of the cluster what needs attention most, or that nothing does, once the positions of
// all groups were read.
func (a *App) greet() {
	var worst *groupRow
	troubled, total, known := 0, 0, true
	for _, groups := range [][]model.Group{a.view.Snapshot.Groups, a.view.Snapshot.ShareGroups} {
		for i := range groups {
			total++
			known = known && !groups[i].OffsetsAt.IsZero()
			r := newGroupRow(a, &groups[i])
			if r.Insight.Verdict().Severity < model.Warning {
				continue
			}
			troubled++
			a.troubled[groups[i].ID] = !unread(r.Insight.Verdict().Code)
			if worst == nil || byTrouble(&r, worst) > 0 {
				worst = &r
			}
		}
	}
	switch {
	case worst != nil:
		v := worst.Insight.Verdict()
		a.say(v.Severity, fmt.Sprintf("%s of %s need attention. %s: %s. W says why.", model.Count(int64(troubled)), model.Plural(total, "group"), worst.Group.ID, v.Text))
	case total > 0 && known:
		a.say(model.OK, "Nothing needs attention in "+model.Plural(total, "group")+".")
	default:
		// The screen says that there are no groups yet; said here, it would stay when there are.
		a.say(model.Info, a.connected())
	}
	a.greeting = worst == nil && !known
}

func (a *App) connected() string { return "Connected to " + a.clusterName() + "." }

// announcement is what was said about a group, so that a group on the edge is not announced at every poll.
type announcement struct {
	group, code string
}

// announceAgain is when the same is said of the same group again.
const announceAgain = 2 * time.Minute

// noteVerdicts records the groups that began to need attention between two views, and those of which it was said and
// that do not need it any more.
func (a *App) noteVerdicts(old, next *model.View) {
	if len(a.announced) > logLen {
		maps.DeleteFunc(a.announced, func(_ announcement, at time.Time) bool { return next.Snapshot.At.Sub(at) >= announceAgain })
	}
	said := 0
	for _, groups := range [][]model.Group{next.Snapshot.Groups, next.Snapshot.ShareGroups} {
		for i := range groups {
			id := groups[i].ID
			was, is := old.Insights[id], next.Insights[id]
			if was == nil || is == nil || len(was.Verdicts) == 0 || len(is.Verdicts) == 0 {
				continue
			}
			if g, ok := old.Snapshot.Group(id); !ok || g.Described.IsZero() || g.OffsetsAt.IsZero() {
				continue // it did not turn, it became known
			}
			before, now := was.Verdict(), is.Verdict()
			if unread(now.Code) {
				continue // told as what could not be read
			}
			worse := now.Severity >= model.Warning && now.Code != before.Code && !(unread(before.Code) && a.troubled[id])
			better := now.Severity < model.Warning && a.troubled[id]
			if !worse && !better {
				continue
			}
			what := announcement{id, now.Code}
			if last, ok := a.announced[what]; ok && next.Snapshot.At.Sub(last) < announceAgain || said == noteAtOnce {
				continue
			}
			said++
			a.announced[what] = next.Snapshot.At
			a.troubled[id] = worse
			a.record(entry{at: next.Snapshot.At, severity: now.Severity, kind: kindEvent, subject: id, text: now.Text})
		}
	}
}

// unread reports whether a verdict is about the reading of a group and not about the group.
func unread(code string) bool {
	switch code {
	case model.VerdictUnreadable, model.VerdictNotPermitted, model.VerdictStale, model.VerdictNotRead:
		return true
	}
	return false
}

type problemKey struct {
	scope      model.ProblemScope
	name, code string
}

// keyOf names a problem. Why a group cannot be read changes from poll to poll while a broker fails, and is no news.
func keyOf(p *model.Problem) problemKey {
	if p.Scope == model.ScopeGroup {
		return problemKey{p.Scope, p.Name, ""}
	}
	return problemKey{p.Scope, p.Name, p.Code}
}

// noteAtOnce is how many problems of one poll get an entry each.
const noteAtOnce = 5

// noteProblems records the problems that came and went between two views.
func (a *App) noteProblems(old, next *model.View) {
	had := make(map[problemKey]bool)
	if old != nil {
		for i := range old.Snapshot.Problems {
			had[keyOf(&old.Snapshot.Problems[i])] = true
		}
	}
	var fresh []model.Problem
	for _, p := range next.Snapshot.Problems {
		key := keyOf(&p)
		if had[key] {
			delete(had, key)
			continue
		}
		switch {
		case p.Standing():
			a.log.add(entry{at: next.Snapshot.At, severity: model.Info, kind: kindNotice, text: p.Text})
		case p.Scope == model.ScopeGroup && coordinatorDown(next.Snapshot, p.Name):
			// Told of the broker, with the number of its groups.
		default:
			fresh = append(fresh, p)
		}
	}
	for i, e := range problemEntries(next.Snapshot, fresh) {
		if i == noteAtOnce {
			a.record(entry{severity: model.Warning, kind: kindError, text: "More could not be read; Cluster lists all."})
			break
		}
		a.record(e)
	}
	for key := range had {
		if key.scope != model.ScopeBroker {
			continue // a group or topic that can be read again, or is gone, is seen in its row
		}
		p := model.Problem{Scope: key.scope, Name: key.name}
		if slices.ContainsFunc(next.Snapshot.Problems, func(now model.Problem) bool { return now.Scope == p.Scope && now.Name == p.Name }) {
			continue // it fails for another reason by now
		}
		a.record(entry{severity: model.OK, kind: kindNotice, subject: subject(p), text: "answers again."})
	}
}

// problemEntries are the lines for problems: one for groups that cannot be read for the same reason.
func problemEntries(s *model.Snapshot, problems []model.Problem) []entry {
	var entries []entry
	groups := make(map[string][]string) // by the reason
	for _, p := range problems {
		if p.Scope == model.ScopeGroup {
			groups[p.Text] = append(groups[p.Text], p.Name)
		}
	}
	for _, p := range problems {
		e := entry{severity: model.Warning, kind: kindError, subject: subject(p), text: p.Text}
		switch ids := groups[p.Text]; {
		case p.Scope == model.ScopeBroker:
			if n := coordinated(s, p.Name); n > 0 {
				e.text += " It coordinates " + model.Plural(n, "group") + "."
			}
		case p.Scope != model.ScopeGroup || len(ids) == 1:
		case p.Name == ids[0]:
			e.subject, e.text = "", model.Plural(len(ids), "group")+" could not be read; Cluster lists them. "+p.Text
		default:
			continue
		}
		entries = append(entries, e)
	}
	return entries
}

// coordinated counts the groups that a broker coordinates.
func coordinated(s *model.Snapshot, broker string) int {
	n := 0
	for _, groups := range [][]model.Group{s.Groups, s.ShareGroups} {
		for i := range groups {
			if strconv.Itoa(int(groups[i].Coordinator)) == broker {
				n++
			}
		}
	}
	return n
}

// coordinatorDown reports whether the coordinator of a group is known to be down.
func coordinatorDown(s *model.Snapshot, group string) bool {
	g, ok := s.Group(group)
	if !ok {
		return false
	}
	for i := range s.Cluster.Brokers {
		if b := &s.Cluster.Brokers[i]; b.ID == g.Coordinator {
			return !b.Up
		}
	}
	return false
}

// subject names what a problem concerns.
func subject(p model.Problem) string {
	if p.Scope == model.ScopeBroker && p.Name != "" {
		return "broker " + p.Name
	}
	return p.Name
}
