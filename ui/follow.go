package ui

import (
	"context"
	"maps"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
)

// Follower follows what the brokers write about the records of share groups. Watch may be called at any time; Next is
// called from one command at a time.
type Follower interface {
	// Watch says which share-partitions to follow, and which of them are on screen. It does not wait.
	Watch(keys, visible []model.SharePartitionKey)
	// Next waits until something is not as in the value before. The error is that of ctx, or says that the
	// follower is closed.
	Next(ctx context.Context) (*model.ShareRecords, error)
}

// Reader reads single things on demand. Its methods are called from commands.
type Reader interface {
	// Record reads what a log holds at an offset, without a group. Key, value and each header are cut at limit bytes.
	Record(ctx context.Context, topic string, partition int32, offset int64, limit int) (model.RecordContent, error)
	// GroupConfigs reads the settings in force for a group.
	GroupConfigs(ctx context.Context, group string) (model.GroupConfigs, error)
}

// Changes of records are drawn as they come, but not more often than once in a frame: where records are looked at
// one by one that is a frame of the terminal, and elsewhere often enough for numbers.
const (
	recordFrame = time.Second / 60
	numberFrame = time.Second / 4
)

const (
	// configsAge is when settings are read again: those of a group on screen, and those of others.
	configsAge, configsAgeUnseen = 20 * time.Second, 5 * time.Minute
	// configsTimeout bounds one read of settings.
	configsTimeout = 15 * time.Second
)

// following is what is known of the records of share groups, and what is being read.
type following struct {
	records *model.ShareRecords // nil until the first answer
	cancel  context.CancelFunc  // ends the wait under way; nil when none is
	due     bool                // the next wait begins soon
	ahead   model.Opt[time.Duration]

	keys, visible []model.SharePartitionKey // as the follower was told

	configs map[string]*model.GroupConfigs // replaced as a whole, since views are computed from it
	tried   map[string]time.Time           // when settings were last asked for
	asking  bool
}

// arrival is a message that knows what it is for.
type arrival interface{ arrive(*App) tea.Cmd }

type (
	// recordsMsg is the next value of the follower.
	recordsMsg struct {
		records *model.ShareRecords
		err     error
	}
	// followDueMsg says that a frame has passed.
	followDueMsg struct{}
	configsMsg   struct {
		group   string
		configs model.GroupConfigs
		err     error
	}
)

// follow waits for the next change of records, unless it does already.
func (a *App) follow() tea.Cmd {
	f := a.options.Follower
	if f == nil || a.paused || a.following.cancel != nil || a.following.due || len(a.following.keys) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(a.ctx)
	a.following.cancel = cancel
	return func() tea.Msg {
		var msg recordsMsg
		msg.err = guard(func() (err error) {
			msg.records, err = f.Next(ctx)
			return err
		})
		return msg
	}
}

// stopFollowing ends the wait under way. What it has read is not lost: its message still comes.
func (a *App) stopFollowing() {
	if a.following.cancel != nil {
		a.following.cancel()
	}
}

func (m recordsMsg) arrive(a *App) tea.Cmd {
	if a.following.cancel != nil {
		a.following.cancel()
		a.following.cancel = nil
	}
	wait := time.Second
	if m.err == nil && m.records != nil {
		a.following.note(m.records)
		wait = numberFrame
		if s, ok := a.screen().(recordViewer); ok {
			a.frame.old = true
			wait = s.every()
			a.reload()
		}
	}
	a.following.due = true
	return tea.Batch(a.arrived(), tea.Tick(wait, func(time.Time) tea.Msg { return followDueMsg{} }))
}

func (followDueMsg) arrive(a *App) tea.Cmd {
	a.following.due = false
	return a.follow()
}

// recordViewer is a screen that shows the records of share groups.
type recordViewer interface {
	// every is how often it wants to be drawn at most.
	every() time.Duration
}

// worker is a screen with work of its own when records or the view have changed.
type worker interface{ work(*App) tea.Cmd }

// arrived lets the screen begin what follows from news.
func (a *App) arrived() tea.Cmd {
	if s, ok := a.screen().(worker); ok {
		return s.work(a)
	}
	return nil
}

// note takes the next value, and learns from what is new how far the brokers' clocks are from ours: a write
// is seen within milliseconds.
func (f *following) note(next *model.ShareRecords) {
	for _, key := range next.Changed {
		p := next.Partitions[key]
		if p == nil || !p.CaughtUp || f.records == nil || p.History.Len() == 0 {
			continue
		}
		before := f.records.Partitions[key]
		last := p.History.Now().Last
		if before == nil || !before.CaughtUp || before.History.Now().Last == last {
			continue
		}
		ahead := last.Time().Sub(next.At)
		f.ahead = model.Some(max(ahead, f.ahead.Or(ahead)))
	}
	f.records = next
}

// brokerNow is the time of day by the brokers' clocks, as far as known.
func (a *App) brokerNow() time.Time { return a.now.Add(a.following.ahead.Or(0)) }

// watch tells the follower what to follow: all share-partitions, those of the screen first.
func (a *App) watch() {
	f := a.options.Follower
	if f == nil || a.view == nil {
		return
	}
	s := a.view.Snapshot
	var want model.Want
	a.screen().want(&want)
	keys := s.ShareKeys(nil)
	visible := s.ShareKeys(func(id string) bool { return slices.Contains(want.Groups, id) })
	if len(keys) == 0 && len(s.Problems) > 0 {
		return // what could not be read is not gone
	}
	if slices.Equal(keys, a.following.keys) && slices.Equal(visible, a.following.visible) {
		return
	}
	a.following.keys, a.following.visible = keys, visible
	f.Watch(keys, visible)
}

// readConfigs reads the settings of the next share group whose turn it is, one group at a time: first those on
// screen, then those that were never read.
func (a *App) readConfigs() tea.Cmd {
	if a.options.Reader == nil || a.following.asking || a.paused || a.polls.denied || a.base == nil {
		return nil
	}
	group, ok := a.nextConfigs()
	if !ok {
		return nil
	}
	a.following.asking = true
	if a.following.tried == nil {
		a.following.tried = make(map[string]time.Time)
	}
	a.following.tried[group] = a.now
	reader, parent := a.options.Reader, a.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, configsTimeout)
		defer cancel()
		msg := configsMsg{group: group}
		msg.err = guard(func() (err error) {
			msg.configs, err = reader.GroupConfigs(ctx, group)
			return err
		})
		return msg
	}
}

func (a *App) nextConfigs() (group string, ok bool) {
	var want model.Want
	a.screen().want(&want)
	for i := range a.base.ShareGroups {
		id := a.base.ShareGroups[i].ID
		age := configsAgeUnseen
		if slices.Contains(want.Groups, id) {
			age = configsAge
		}
		last, tried := a.following.tried[id]
		switch {
		case tried && a.now.Sub(last) < age:
		case age == configsAge:
			return id, true
		case !ok:
			group, ok = id, true
		}
	}
	return group, ok
}

func (m configsMsg) arrive(a *App) tea.Cmd {
	a.following.asking = false
	next := m.configs
	if m.err != nil {
		next = model.GroupConfigs{Group: m.group}
		if old := a.following.configs[m.group]; old != nil {
			next.At, next.Values = old.At, old.Values
		}
		code, text := a.explain(m.err)
		next.Problems = []model.Problem{{Scope: model.ScopeGroup, Name: m.group, Code: code, Text: text}}
	}
	configs := maps.Clone(a.following.configs)
	if configs == nil {
		configs = make(map[string]*model.GroupConfigs)
	}
	configs[m.group] = &next
	a.following.configs = configs
	a.frame.old = true
	a.reload()
	return a.readConfigs()
}
