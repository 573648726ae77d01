package ui

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/form"
)

// takeMost is how many records can be asked for at once.
const takeMost = 500

// takeFacts are the group's numbers that a person should know before taking records.
type takeFacts struct {
	group, topic string
	others       int // members beside us
	joined       bool
	limit        model.Int
	lock         string // how long a record is held; empty when not known
	// exact is false where whole batches are handed out, and renewable where locks can not be extended.
	exact, renewable bool
	// counted is whether a delivery stays counted when we leave.
	counted model.Opt[bool]
}

func (a *App) takeFacts(group, topic string) takeFacts {
	f := takeFacts{group: model.Clean(group), topic: model.Clean(topic), exact: true, renewable: true}
	if a.view != nil {
		s := a.view.Snapshot
		if g, ok := s.Group(group); ok {
			f.others = len(g.Members)
			for _, h := range a.holds.all {
				if h.Group == group && slices.ContainsFunc(g.Members, func(m model.Member) bool { return m.ID == h.now.Member }) {
					f.others--
				}
			}
		}
		for _, l := range s.Cluster.Limits {
			f.exact = f.exact && l.API != "ShareFetch"
			f.renewable = f.renewable && l.API != "ShareAcknowledge"
		}
		switch s.Cluster.Version {
		case "", "4.2":
		case "4.1":
			f.counted = model.Some(false)
		default:
			f.counted = model.Some(true)
		}
	}
	for _, h := range a.holds.all {
		f.joined = f.joined || h.Group == group
	}
	configs := a.following.configs[group]
	f.limit = configs.DeliveryLimit()
	if d, ok := configs.LockDuration().Get(); ok {
		f.lock = model.Duration(d)
	}
	return f
}

// words are the sentences of the form.
func (f *takeFacts) words(count int64) []string {
	lock := "until its lock runs out"
	if f.lock != "" {
		lock = "for up to " + f.lock
	}
	counts := "Each taking counts as a delivery"
	if count == 1 {
		counts = "This counts as a delivery"
	}
	taken := model.Plural(int(max(count, 1)), "record")
	var join string
	switch {
	case f.joined:
		join = fmt.Sprintf("We are a member of %s already. %s more, each held %s.", f.group, taken, lock)
	case f.others == 0:
		join = fmt.Sprintf("This joins %s, which has no other member, and takes up to %s, each held %s.", f.group, taken, lock)
	default:
		join = fmt.Sprintf("This joins %s as a member beside %s and takes up to %s from them, each %s.", f.group, model.Plural(f.others, "other"), taken, lock)
	}
	if n, ok := f.limit.Get(); ok {
		counts += fmt.Sprintf(" (limit %d)", n)
	}
	ws := []string{join, counts + ". While we are in, the group can not be reset, and partitions may be assigned to us alone."}
	if !f.exact {
		ws = append(ws, "These brokers hand out a whole batch of the producer, whatever number is asked for: more may be taken.")
	}
	if !f.renewable {
		ws = append(ws, "Locks can not be extended on these brokers (Kafka 4.2 and later).")
	}
	return append(ws, f.leaving())
}

// leaving says what the end of the session does to what is held.
func (f *takeFacts) leaving() string {
	switch counted, known := f.counted.Get(); {
	case !known:
		return "When we leave, what is held goes back to the group."
	case counted:
		return "When we leave, what is held goes back to the group, and this delivery stays counted."
	default:
		return "When we leave, what is held goes back to the group, and this delivery is not counted (before Kafka 4.3)."
	}
}

// openTake asks how many records to take.
func (a *App) openTake() tea.Cmd {
	s, ok := a.screen().(*flightScreen)
	if !ok {
		return nil
	}
	facts := a.takeFacts(s.id, s.topic)
	have := a.holds.covering(s.id, s.topic, s.number)
	from := form.Field{ID: "from", Label: "From partitions", Value: strconv.Itoa(int(s.number)), Hint: "0, 2 or all", Check: checkPartitions,
		Help: "Partitions of " + facts.topic + ", separated by commas; all: those that the group assigns to us."}
	if have != nil {
		from.Off = "as before"
		from.Value = partitionsText(have.now.Partitions)
	}
	d := &asker{title: "Take records", form: form.New(
		form.Field{ID: "count", Label: "How many", Kind: form.Number, Value: "1", Min: 1, Max: takeMost}, from)}
	d.notes = func(*App) []paragraph {
		n, _ := d.form.Number("count")
		var ps []paragraph
		for i, w := range facts.words(n) {
			tok := themes.Muted
			if i == 0 {
				tok = themes.Warning
			}
			ps = append(ps, paragraph{text: w, tok: tok})
		}
		return ps
	}
	d.done = func(a *App) tea.Cmd {
		a.overlay = nil
		n, _ := d.form.Number("count")
		if have != nil && have.session != nil && !have.leaving {
			session := have.session
			return have.do(func() error { return session.More(int(n)) })
		}
		partitions, _ := parsePartitions(d.form.Value("from"))
		return a.beginTaking(TakeRequest{Group: s.id, Topic: s.topic, Partitions: partitions, Count: int(n)})
	}
	a.overlay = d
	return nil
}

// parsePartitions reads numbers separated by commas; all is none of them.
func parsePartitions(s string) ([]int32, bool) {
	if s = strings.TrimSpace(s); s == "all" {
		return nil, true
	}
	var out []int32
	for f := range strings.FieldsFuncSeq(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		n, err := strconv.ParseInt(f, 10, 32)
		if err != nil || n < 0 {
			return nil, false
		}
		if !slices.Contains(out, int32(n)) {
			out = append(out, int32(n))
		}
	}
	return out, len(out) > 0
}

func checkPartitions(s string) string {
	if _, ok := parsePartitions(s); !ok {
		return "numbers, or all"
	}
	return ""
}

func partitionsText(partitions []int32) string {
	words := make([]string, len(partitions))
	for i, p := range partitions {
		words[i] = strconv.Itoa(int(p))
	}
	return strings.Join(words, ", ")
}

// cannotTake says why no records can be taken.
func (a *App) cannotTake() string {
	switch s, ok := a.screen().(*flightScreen); {
	case a.options.Take == nil:
		return "there is no way to take records here."
	case ok && s.replay:
		return "this is the past; \\ returns to now."
	}
	return ""
}
