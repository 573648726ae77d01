package ui

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"pgregory.net/rapid"

	"flightdeck/model"
	"flightdeck/themes"
)

// fakeFollower gives what it is fed.
type fakeFollower struct {
	feed          chan *model.ShareRecords
	keys, visible []model.SharePartitionKey
}

func (f *fakeFollower) Watch(keys, visible []model.SharePartitionKey) {
	f.keys, f.visible = slices.Clone(keys), slices.Clone(visible)
}

func (f *fakeFollower) Next(ctx context.Context) (*model.ShareRecords, error) {
	select {
	case r, ok := <-f.feed:
		if !ok {
			return nil, errors.New("closed")
		}
		return r, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// fakeReader answers with one record and the usual settings.
type fakeReader struct {
	record model.RecordContent
	err    error
	asked  []int64
}

func (f *fakeReader) Record(_ context.Context, topic string, partition int32, offset int64, _ int) (model.RecordContent, error) {
	f.asked = append(f.asked, offset)
	r := f.record
	r.Topic, r.Partition, r.Offset = topic, partition, offset
	return r, f.err
}

func (f *fakeReader) GroupConfigs(_ context.Context, group string) (model.GroupConfigs, error) {
	return model.GroupConfigs{Group: group, At: noon, Values: []model.ConfigValue{
		{Name: model.ConfigShareReset, Value: "earliest", Source: model.ConfigOfGroup},
		{Name: model.ConfigDeliveryLimit, Value: "5", Source: model.ConfigOfDefault},
		{Name: model.ConfigRecordLocks, Value: "2000", Source: model.ConfigOfDefault},
		{Name: model.ConfigLockDuration, Value: "30000", Source: model.ConfigOfDefault},
	}}, nil
}

func jsonRecord() model.RecordContent {
	value := []byte(`{"orderId":8812,"amount":42000}`)
	return model.RecordContent{Time: noon, Key: []byte("cust-8812"), KeySize: 9, Value: value, ValueSize: len(value),
		Headers: []model.RecordHeader{{Key: "trace-id", Value: []byte("9f2c"), Size: 4}}}
}

var ordersID = model.TopicID{1, 2, 3}

// flight is a share-partition whose history the test writes.
type flight struct {
	key     model.SharePartitionKey
	fold    *model.ShareFold
	written int
}

func newFlight() *flight {
	return &flight{key: model.SharePartitionKey{Group: "order-workers", TopicID: ordersID}, fold: model.NewShareFold(100)}
}

// write appends a write, a second after the one before. The last one of seven is written at noon.
func (f *flight) write(w model.ShareWrite) {
	at := noon.Add(time.Duration(f.written-6) * time.Second)
	f.fold.Apply(&w, model.WriteRef{Ms: at.UnixMilli(), Offset: int64(f.written)})
	f.written++
}

func update(start int64, batches ...model.StateBatch) model.ShareWrite {
	return model.ShareWrite{Kind: model.WriteUpdate, Start: start, Batches: batches}
}

func batch(first, last int64, state model.RecordState, count int16) model.StateBatch {
	return model.StateBatch{First: first, Last: last, State: state, Count: count}
}

// records is what a follower would say now.
func (f *flight) records() *model.ShareRecords {
	p := &model.SharePartitionRecords{Key: f.key, History: f.fold.History(), CaughtUp: true}
	return &model.ShareRecords{At: noon, Partitions: map[model.SharePartitionKey]*model.SharePartitionRecords{f.key: p},
		Changed: []model.SharePartitionKey{f.key}}
}

// sample is the flight of the frames: the head is out, one record was released twice, one archived.
func sample() *flight {
	f := newFlight()
	f.write(model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: 1, Start: -1})
	f.write(update(512_400, batch(512_400, 512_409, model.StateAcknowledged, 1)))
	f.write(update(512_410, batch(512_412, 512_419, model.StateAcknowledged, 1), batch(512_421, 512_421, model.StateAvailable, 1)))
	f.write(update(512_410, batch(512_424, 512_424, model.StateAvailable, 4)))
	f.write(update(512_410, batch(512_421, 512_421, model.StateAvailable, 2)))
	f.write(update(512_410, batch(512_425, 512_425, model.StateArchived, 1)))
	f.write(update(512_410, batch(512_426, 512_430, model.StateAcknowledged, 1)))
	return f
}

// flightRig is the App before its share groups, with a follower; run lets its commands work.
type flightRig struct {
	*live
	follower *fakeFollower
	reader   *fakeReader
}

func newFlightRig(t *testing.T, o Options) *flightRig {
	f := &flightRig{follower: &fakeFollower{feed: make(chan *model.ShareRecords, 8)}, reader: &fakeReader{record: jsonRecord()}}
	o.Follower, o.Reader = f.follower, f.reader
	s, _ := fixture()
	for i := range s.Topics {
		if s.Topics[i].Name == "order-events" {
			s.Topics[i].ID = ordersID
		}
	}
	o.Source = &fakeSource{snapshots: []*model.Snapshot{s}}
	f.live = &live{rig: newRig(t, o), msgs: make(chan tea.Msg), done: make(chan struct{})}
	t.Cleanup(func() {
		close(f.done)
		close(f.follower.feed)
		time.Sleep(time.Hour) // all timers fire, and their goroutines end
	})
	f.read(s)
	f.start(f.last)
	f.following.asking, f.following.tried = false, nil
	f.start(f.readConfigs())
	return f
}

// open goes to the flight view of order-events/0.
func (f *flightRig) open(records *model.ShareRecords) {
	f.follower.feed <- records
	f.press("2 down enter enter")
	f.run(time.Second / 2)
}

func TestFlightFrames(t *testing.T) {
	for _, shown := range []struct{ name, keys string }{{"flight", ""}, {"flight-replay", "[ [ ["}, {"flight-archived", "A"}, {"flight-states", "shift+tab"}, {"flight-far", "- - -"}} {
		for _, size := range sizes {
			name := shown.name + "-" + size.name
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					f := newFlightRig(t, Options{ClusterName: "prod-eu"})
					f.size(size.w, size.h)
					f.open(sample().records())
					f.press(shown.keys)
					f.run(time.Millisecond)
					f.now = noon
					f.reload()
					f.frameIs(filepath.Join("testdata", name+".txt"))
					checkBox(t, f.rig, size.w, size.h)
				})
			})
		}
	}
}

// frameIs compares the screen with a file.
func (r *rig) frameIs(path string) {
	r.t.Helper()
	r.App.frame.old = true
	got := strings.Join(r.frame(), "\n") + "\n"
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			r.t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		r.t.Fatal(err)
	}
	if got != string(want) {
		r.t.Errorf("%s differs; UPDATE_GOLDEN=1 go test ./ui writes it anew.\n%s", path, got)
	}
}

func TestTheHistoryOfAGroupThatIsGoneCanStillBeSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlightRig(t, Options{})
		f.open(sample().records())
		next := *f.view.Snapshot
		next.At = next.At.Add(time.Second)
		next.ShareGroups = slices.DeleteFunc(slices.Clone(next.ShareGroups), func(g model.Group) bool { return g.ID == "order-workers" })
		f.read(&next)
		f.follower.feed <- &model.ShareRecords{At: noon, Partitions: map[model.SharePartitionKey]*model.SharePartitionRecords{}}
		f.run(time.Second)
		f.sees("The group is not there any more.")
		f.misses("Reading the state topic", "holds the start offset")
		f.press("[")
		f.run(time.Millisecond)
		f.sees("REPLAY", "holds the start offset")
		f.press("\\")
		f.run(time.Millisecond)
		f.sees("The group is not there any more.")
	})
}

func TestFlightFollowsWhatIsOnScreen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlightRig(t, Options{})
		if len(f.follower.keys) != 3 || len(f.follower.visible) != 0 {
			t.Errorf("on Consumers %d share-partitions are watched, %d of them visible; want 3 and 0", len(f.follower.keys), len(f.follower.visible))
		}
		f.open(sample().records())
		if len(f.follower.visible) != 3 {
			t.Errorf("in the flight view %d share-partitions are visible, want 3", len(f.follower.visible))
		}
	})
}

func TestFlightMovesWithTheWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlightRig(t, Options{})
		p := sample()
		f.open(p.records())
		f.sees("Record 512,410", "acquired, inferred", "head ◌ 512,410 holds the start offset", "14 finished records wait")
		p.write(update(512_410, batch(512_410, 512_411, model.StateAcknowledged, 1)))
		f.follower.feed <- p.records()
		f.run(100 * time.Millisecond)
		f.sees("Record 512,420", "window 512,420 to 512,430", "6 finished records")
		if s := f.screen().(*flightScreen); !s.machine.lit[arrowAccept] || s.machine.lit[arrowRelease] {
			t.Errorf("lit are %v, want accept alone of the outcomes", s.machine.lit)
		}
		f.run(time.Second)
		if s := f.screen().(*flightScreen); s.machine.lit != [arrows]bool{} {
			t.Errorf("lit are %v a second later, want none", s.machine.lit)
		}
	})
}

func TestFlightKeepsTheRecordThatIsLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlightRig(t, Options{})
		p := sample()
		f.open(p.records())
		f.press("right")
		p.write(update(512_410, batch(512_410, 512_411, model.StateAcknowledged, 1)))
		f.follower.feed <- p.records()
		f.run(100 * time.Millisecond)
		f.sees("Record 512,411", "below the start offset: finished", "accepted, delivery 1")
		f.press("home")
		f.run(time.Millisecond)
		f.sees("Record 512,420")
	})
}

func TestFlightJump(t *testing.T) {
	for _, tt := range []struct{ name, typed, sees string }{
		{"an offset", "512424", "Record 512,424"},
		{"with grouping", "512,424", "Record 512,424"},
		{"finished", "512402", "below the start offset: finished"},
		{"no number", "x", "an offset is a number"},
		{"beyond the end", "600000", "beyond the end of the log: the last offset is 512,479"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFlightRig(t, Options{})
				f.open(sample().records())
				f.press("/")
				f.text(tt.typed)
				f.press("enter")
				f.run(time.Millisecond)
				f.sees(tt.sees)
			})
		})
	}
}

func TestFlightNextRedelivered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlightRig(t, Options{})
		f.open(sample().records())
		for _, want := range []string{"Record 512,421", "Record 512,424", "Record 512,421"} {
			f.press("n")
			f.sees(want)
		}
		f.press("N")
		f.sees("Record 512,424", "available, recorded, delivery 4 of 5")
	})
}

func TestFlightReplay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlightRig(t, Options{})
		p := sample()
		f.open(p.records())
		f.press("n [ [ [")
		f.run(time.Millisecond)
		f.sees("REPLAY", "11:59:57.000, write 4 of 7", "window 512,410 to 512,424", "update: 1 released", "(later)")
		if s := f.screen().(*flightScreen); !s.machine.lit[arrowRelease] || s.machine.lit[arrowAccept] {
			t.Errorf("lit are %v, want release", s.machine.lit)
		}

		// News do not move the moment.
		p.write(update(512_410, batch(512_410, 512_411, model.StateAcknowledged, 1)))
		f.follower.feed <- p.records()
		f.run(100 * time.Millisecond)
		f.sees("write 4 of 8", "window 512,410 to 512,424")

		f.press("]")
		f.sees("write 5 of 8", "11:59:58.000")
		f.press("{")
		f.sees("the beginning of the history, write 0 of 8", "Nothing was recorded at this moment.")
		f.press("[")
		f.sees("this is the beginning of the history")
		f.press(`\`)
		f.misses("REPLAY")
		f.sees("window 512,420 to 512,430")
		f.press("]")
		f.sees("this is now; [ steps back.")
	})
}

func TestFlightArchived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlightRig(t, Options{})
		f.open(sample().records())
		f.press("A")
		f.sees("512,425", "1/5", "rejected by a client", "512,424", "4/5", "close to the limit", "1 archived ∙ 1 close to it")
		f.press("down enter") // at the moment in which it was given up
		f.run(time.Millisecond)
		f.sees("REPLAY", "11:59:59.000, write 6 of 7", "Record 512,425", "likely rejected by a")
	})
}

func TestFlightShowsBytesSafely(t *testing.T) {
	for _, tt := range []struct {
		name   string
		keys   string
		value  []byte
		sees   []string
		misses []string
	}{
		{"JSON", "", []byte(`{"a":{"b":1}}`), []string{"Value, JSON, 13 B", `  "a": {`, `    "b": 1`}, nil},
		{"JSON as hex", "v v", []byte(`{"a":1}`), []string{"Value, hex, 7 B", "000000  7b 22 61 22 3a 31 7d     {\"a\":1}"}, nil},
		{"escape sequences", "", []byte("a\x1b[2Jb\x1b]0;title\a\u202ec and more text than there are control characters in it, as in a message"), []string{"Value, text", `\x1b[2Jb`, `\u202e`}, []string{"\x1b", "\a", "\u202e"}},
		{"binary", "", []byte{0, 0, 0, 0, 7, 0xff, 0xfe, 'o', 'k', 1}, []string{"Value, hex, 10 B", "00 00 00 00 07 ff fe 6f", "schema 7"}, nil},
		{"a name with line ends", "", []byte("one\r\ntwo\n"), []string{"one", "two"}, []string{"\r"}},
		{"empty", "", []byte{}, []string{"Value, 0 B", "empty"}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFlightRig(t, Options{})
				r := jsonRecord()
				r.Key, r.KeySize = nil, -1
				r.Value, r.ValueSize = tt.value, len(tt.value)
				r.Headers = []model.RecordHeader{{Key: "h\x1bx", Value: []byte{0x9b, '3'}, Size: 2}}
				f.reader.record = r
				f.open(sample().records())
				f.press(tt.keys)
				f.sees(append(tt.sees, "key   none", `h\x1bx`)...)
				f.misses(tt.misses...)
			})
		})
	}
}

func TestFlightWithoutState(t *testing.T) {
	denied := &model.ShareRecords{At: noon, Problem: &model.Problem{Code: "TOPIC_AUTHORIZATION_FAILED", Text: "You lack READ on __share_group_state."}}
	untold := sample().records()
	untold.Partitions[newFlight().key] = &model.SharePartitionRecords{Key: newFlight().key, Unfollowed: "not followed: over the budget"}
	fresh := newFlight()
	fresh.write(model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: 1, Start: -1})
	for _, tt := range []struct {
		name    string
		records *model.ShareRecords
		sees    []string
	}{
		{"no right", denied, []string{"You lack READ on __share_group_state.", "The broker says: start offset 512,400, log end 512,480, lag 80."}},
		{"over the budget", untold, []string{"not followed: over the budget."}},
		{"nothing recorded", fresh.records(), []string{"Nothing recorded yet: nothing was delivered"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := newFlightRig(t, Options{})
				f.open(tt.records)
				f.sees(tt.sees...)
				f.press("[ / n + A esc") // nothing of this falls over
			})
		})
	}
}

func TestSharesColumns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlightRig(t, Options{})
		f.size(200, 40)
		f.follower.feed <- sample().records()
		f.press("2")
		f.run(time.Second)
		f.sees("WINDOW", "RELEASED", "ARCHIVED", "WORST", "21/2k", "4/5")
		f.press("down enter")
		f.sees("settings: share.auto.offset.reset=earliest (group)")
	})
}

// TestAnyKeysInFlight presses keys in any order while records come, and holds that the frame fits.
func TestAnyKeysInFlight(t *testing.T) {
	var keys []string
	for _, b := range flightBindings() {
		keys = append(keys, b.keys...)
	}
	keys = append(keys, "up", "down", "pgup", "pgdown", "home", "end", "tab", "shift+tab", "enter", "esc", "5", "1", "2")
	rapid.Check(t, func(rt *rapid.T) {
		s, _ := fixture()
		for i := range s.Topics {
			s.Topics[i].ID = ordersID
		}
		r := &rig{App: New(t.Context(), Options{Source: &fakeSource{}, Follower: &fakeFollower{}, Reader: &fakeReader{}}), t: t}
		_, r.history = fixture()
		w, h := 120, 40
		r.size(w, h)
		r.poll()
		r.read(s)
		p := newFlight()
		p.write(model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: 1, Start: 512_400})
		r.press("2 down enter enter")
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				w, h = rapid.IntRange(1, 130).Draw(rt, "w"), rapid.IntRange(1, 50).Draw(rt, "h")
				r.size(w, h)
			case 1, 2:
				switch rapid.IntRange(0, 9).Draw(rt, "write") {
				case 0:
					p.write(model.ShareWrite{Kind: model.WriteTombstone})
				case 1:
					p.write(model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: int32(p.written), Start: rapid.Int64Range(-1, 600_000).Draw(rt, "start")})
				default:
					first := rapid.Int64Range(512_390, 512_500).Draw(rt, "first")
					p.write(update(-1, batch(first, first+rapid.Int64Range(0, 5).Draw(rt, "more"),
						model.RecordState(rapid.SampledFrom([]int8{0, 2, 3, 4, 7}).Draw(rt, "state")), rapid.Int16Range(0, 12).Draw(rt, "count"))))
				}
				r.send(recordsMsg{records: p.records()})
			default:
				r.send(keyPress(rapid.SampledFrom(keys).Draw(rt, "key")))
			}
			checkBox(t, r, w, h)
			if t.Failed() {
				rt.FailNow()
			}
		}
	})
}

func BenchmarkDrawWindow(b *testing.B) {
	p := newFlight()
	p.write(model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: 1, Start: 0})
	var batches []model.StateBatch
	for o := int64(1); o < 10_000; o += 3 {
		batches = append(batches, batch(o, o, model.StateAcknowledged, 1), batch(o+1, o+1, model.StateAvailable, int16(o%4+1)))
	}
	p.write(update(0, batches...))
	h := p.fold.History()
	w, _ := model.InferWindow(h.Now(), model.Int{}, model.Some(int64(10_000)), nil)
	for _, zoom := range []struct {
		name string
		zoom int
	}{{"auto", zoomAuto}, {"roomy", 0}, {"dense", 1}} {
		b.Run(zoom.name, func(b *testing.B) {
			g := newWindowGrid()
			g.zoom, g.limit = zoom.zoom, 5
			g.set(&w)
			theme := themes.Default(themes.Options{Profile: colorprofile.TrueColor})
			b.ReportAllocs()
			for b.Loop() {
				g.draw(theme, 200, 60)
			}
		})
	}
}

// The broker's lag and the recorded state are read at different times. What differs by something else each time is
// that; what differs by the same number is worth a word.
func TestALagThatStaysOffIsTold(t *testing.T) {
	steady, late := slices.Repeat([]int64{80}, lagOffPolls), slices.Repeat([]int64{80}, lagOffPolls-1)
	cases := map[string]struct {
		lags []int64
		told bool
	}{
		"stays off":         {steady, true},
		"off for a while":   {late, false},
		"off in every poll": {[]int64{80, 81, 79, 80, 82, 78, 80, 83}, false},
		"agrees once":       {slices.Concat(late, []int64{56}, late), false},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			s := &flightScreen{}
			for _, p := range sample().records().Partitions {
				s.records = p
			}
			for i, lag := range c.lags {
				s.part = &model.GroupPartition{End: model.Some(int64(512_480)), Lag: model.Some(lag)}
				s.checkLag(noon.Add(time.Duration(i+1) * time.Second))
			}
			if told := s.lagOff >= lagOffPolls; told != c.told {
				t.Errorf("told %v after lags %v, want %v", told, c.lags, c.told)
			}
		})
	}
}
