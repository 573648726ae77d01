package ui

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"flightdeck/model"
	"flightdeck/themes"
)

// screensByKeys are the screens and the keys that lead to them.
var screensByKeys = []struct{ name, keys string }{
	{"consumers", "1"},
	{"consumer-group", "down enter"},
	{"shares", "2"},
	{"share-group", "2 end enter"},
	{"topics", "3"},
	{"topic", "3 down down enter"},
	{"cluster", "4"},
	{"activity", "5"},
	{"help", "?"},
	{"palette", ":"},
	{"why", "down W"},
	{"sort", "s"},
	{"filter", "/ l a g > 1 0 0 0"},
}

var sizes = []struct {
	name string
	w, h int
}{{"120x40", 120, 40}, {"80x24", 80, 24}, {"60x20", 60, 20}, {"40x10", 40, 10}}

func TestFrames(t *testing.T) {
	for _, screen := range screensByKeys {
		for _, size := range sizes {
			name := screen.name + "-" + size.name
			t.Run(name, func(t *testing.T) {
				r := newRig(t, Options{ClusterName: "prod-eu", ReadOnly: true})
				r.log.add(entry{at: noon, severity: model.Critical, kind: kindError, text: "broker 2 refuses connections."})
				r.log.add(entry{at: noon, severity: model.Info, kind: kindEvent, subject: "order-service", text: "order-3 joined."})
				r.size(size.w, size.h)
				r.press(screen.keys)
				got := strings.Join(r.frame(), "\n") + "\n"
				path := filepath.Join("testdata", name+".txt")
				if os.Getenv("UPDATE_GOLDEN") != "" {
					if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				want, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				if got != string(want) {
					t.Errorf("%s differs; UPDATE_GOLDEN=1 go test ./ui writes it anew.\n%s", path, got)
				}
			})
		}
	}
}

// checkBox fails unless the frame fills the screen exactly.
func checkBox(t *testing.T, r *rig, w, h int) {
	t.Helper()
	lines := strings.Split(r.View().Content, "\n")
	if len(lines) > h {
		t.Errorf("%d lines on a screen of %d\n%s", len(lines), h, strings.Join(r.frame(), "\n"))
	}
	for i, l := range lines {
		if n := ansi.StringWidth(l); n > w {
			t.Errorf("line %d takes %d of %d cells: %q", i, n, w, ansi.Strip(l))
		}
	}
}

func TestEverySizeFits(t *testing.T) {
	for _, screen := range screensByKeys {
		r := newRig(t, Options{Profile: "production", Demo: true, ReadOnly: true})
		r.press(screen.keys)
		whole := r.View().Content
		for _, w := range []int{1, 20, 29, 30, 35, 40, 59, 72, 80, 99, 120, 250} {
			for _, h := range []int{1, 7, 8, 10, 14, 18, 24, 30, 70} {
				r.size(w, h)
				checkBox(t, r, w, h)
			}
		}
		r.size(120, 40)
		if got := r.View().Content; ansi.Strip(got) != ansi.Strip(whole) {
			t.Errorf("%s does not come back after the terminal was small:\n%s", screen.name, ansi.Strip(got))
		}
	}
}

func TestTinyTerminalNamesTheLeastSize(t *testing.T) {
	r := newRig(t, Options{})
	r.size(28, 5)
	r.sees("flightdeck needs 30x8; this\nis 28x5.")
}

func TestWorstGroupComesFirst(t *testing.T) {
	r := newRig(t, Options{})
	var order []string
	for _, l := range r.frame() {
		for _, id := range []string{"audit", "billing", "invoices", "order-service", "streams-join"} {
			if strings.HasPrefix(strings.TrimLeft(l, "▐ "), id+" ") {
				order = append(order, id)
			}
		}
	}
	if got := strings.Join(order, " "); got != "billing order-service audit invoices streams-join" {
		t.Errorf("the groups are in the order %s", got)
	}
	r.sees("3 of 7 groups need attention. billing: nobody consumes since 11:58:02.")
}

func TestSelectionFollowsTheGroup(t *testing.T) {
	r := newRig(t, Options{})
	r.press("down down")
	if got := r.screen().group(); got != "audit" {
		t.Fatalf("selected %s, want audit", got)
	}
	s, h := fixture()
	in := *h.insights["audit"]
	in.Verdicts = []model.Verdict{{Severity: model.Critical, Text: "stalled"}}
	h.insights["audit"] = &in
	s.Groups[0].Partitions[0].Lag = model.Some(int64(1_000_000))
	r.history = h
	r.read(s)
	if got := r.screen().group(); got != "audit" {
		t.Errorf("selected %s after a refresh that moved the row, want audit", got)
	}
	r.press("enter")
	r.sees("audit-log", "Members 4", "stalled")
}

func TestDeepScreensKeepTheirPlace(t *testing.T) {
	r := newRig(t, Options{})
	r.press("down enter 3 1")
	r.sees("Partitions 3", "COMMITTED")
	r.press("1")
	r.misses("COMMITTED")
	r.press("3 down enter tab enter")
	r.sees("invoices", "Members 2") // from the topic to a group that reads it
	r.press("esc esc")
	r.sees("PARTITIONS", "IN SYNC")
}

func TestGroupThatWentAway(t *testing.T) {
	r := newRig(t, Options{})
	r.press("down enter")
	s, _ := fixture()
	s.Groups = s.Groups[:1]
	r.read(s)
	r.sees("not there any more")
	r.press("esc")
	r.sees("audit")
}

func TestEmptyStatesSayWhatWouldFillThem(t *testing.T) {
	tests := []struct {
		name   string
		keys   string
		change func(*model.Snapshot)
		says   []string
	}{
		{"no groups", "1", func(s *model.Snapshot) { s.Groups = nil }, []string{"There are no consumer groups yet.", "group.id"}},
		{"no right to list", "1", func(s *model.Snapshot) { s.Groups, s.Cluster.Operations = nil, model.Some(int32(0)) }, []string{"You lack DESCRIBE on the cluster"}},
		{"no share groups", "2", func(s *model.Snapshot) { s.ShareGroups = nil }, []string{"There are no share groups yet."}},
		{"share groups off", "2", func(s *model.Snapshot) { s.ShareGroups, s.Cluster.Share = nil, model.ShareOff }, []string{"switched off", "share.version=1"}},
		{"brokers too old", "2", func(s *model.Snapshot) {
			s.ShareGroups, s.Cluster.Share, s.Cluster.Version = nil, model.ShareTooOld, "3.9"
		}, []string{"too old", "4.1", "3.9"}},
		{"no right to share groups", "2", func(s *model.Snapshot) {
			s.ShareGroups = nil
			s.Problems = []model.Problem{{Scope: model.ScopeShare, Code: "GROUP_AUTHORIZATION_FAILED", Text: "You lack DESCRIBE on the groups."}}
		}, []string{"can not be seen", "You lack DESCRIBE on the groups."}},
		{"no topics", "3", func(s *model.Snapshot) { s.Topics = nil }, []string{"no topics to see", "DESCRIBE on TOPIC"}},
		{"nothing happened", "5", func(*model.Snapshot) {}, []string{"Nothing happened yet."}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{})
			s, _ := fixture()
			tt.change(s)
			r.read(s)
			r.log = activity{}
			r.press(tt.keys)
			r.sees(tt.says...)
		})
	}
}

func TestBeforeTheFirstAnswer(t *testing.T) {
	r := &rig{App: New(t.Context(), Options{Source: &fakeSource{}}), t: t}
	r.size(100, 30)
	r.sees("connecting", "Reading the groups of the cluster.")
	for _, keys := range []string{"2", "3", "4", "5", "1", "W", "enter", "s", "esc", "/", "esc", "y", "w", "t"} {
		r.press(keys)
	}
	r.poll()
	r.send(snapshotMsg{generation: r.polls.generation, err: os.ErrDeadlineExceeded})
	r.sees("No answer from the cluster yet.", "no answer")
}

func TestFilter(t *testing.T) {
	r := newRig(t, Options{})
	r.press("/ l a g > 1 0 0 0")
	r.sees("order-service", "billing")
	r.misses("streams-join")
	r.press("enter")
	r.sees("2 of 5 groups")
	r.press("down enter")
	r.sees("COMMITTED")
	r.press("esc")
	r.sees("2 of 5 groups") // the filter is kept while one looks into a group
	r.press("esc")
	r.sees("streams-join", "5 groups")
}

func TestFilterErrorsAreShownAndKeepTheFilter(t *testing.T) {
	r := newRig(t, Options{})
	r.press("/ l a g > 1 0 0 0 space")
	r.text("colour=red")
	r.sees("there is no key colour", "order-service")
	r.misses("streams-join")
	r.press("esc")
	r.sees("streams-join")
}

func TestFilterThatHidesAll(t *testing.T) {
	r := newRig(t, Options{})
	r.press("/")
	r.text("nosuchgroup")
	r.press("enter")
	r.sees("The filter hides all 5 groups.", "nosuchgroup")
}

func TestSorting(t *testing.T) {
	r := newRig(t, Options{})
	r.press("s")
	r.sees("Sort by", "sorted, largest first")
	r.text("LAG")
	r.press("enter")
	r.sees("Sorted by LAG, largest first.", "LAG ▾")
	r.press("S")
	r.sees("Sorted by LAG, smallest first.", "LAG ▴")
}

func TestStaleRows(t *testing.T) {
	r := newRig(t, Options{})
	s, _ := fixture()
	s.At = noon.Add(r.lateAfter() * 2)
	for i := range s.Groups {
		s.Groups[i].Described = s.At
	}
	s.Groups[0].Described = noon // its coordinator died
	r.read(s)
	if g := newGroupRow(r.App, &s.Groups[0]); !g.stale {
		t.Error("a group whose coordinator does not answer is not shown as stale")
	}
	if g := newGroupRow(r.App, &s.Groups[1]); g.stale {
		t.Error("a group that was just read is shown as stale")
	}
	stale := r.theme.Style(themes.Stale).Open
	if !strings.Contains(r.View().Content, stale+"audit") {
		t.Error("the stale row is not dim")
	}
}

func TestThemesAndTerminals(t *testing.T) {
	env := func(pairs ...string) func(string) (string, bool) {
		m := map[string]string{"LANG": "en_US.UTF-8", "TERM": "xterm-256color"}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return func(k string) (string, bool) { v, ok := m[k]; return v, ok }
	}
	t.Run("NO_COLOR with any value", func(t *testing.T) {
		r := newRig(t, Options{LookupEnv: env("NO_COLOR", "please")})
		if c := r.View().Content; strings.Contains(c, "[38;") || strings.Contains(c, "[48;") {
			t.Error("colours with NO_COLOR")
		}
		r.press("t t t")
		if c := r.View().Content; strings.Contains(c, "[38;") {
			t.Error("colours with NO_COLOR after the theme was switched")
		}
	})
	for _, tt := range []struct{ name, key, value string }{{"console", "TERM", "linux"}, {"latin", "LANG", "de_DE.ISO-8859-1"}} {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, Options{LookupEnv: env(tt.key, tt.value)})
			for _, keys := range []string{"1", "down enter", "4", "?", "esc", ":"} {
				r.press(keys)
				for _, l := range r.frame() {
					if i := strings.IndexFunc(l, func(c rune) bool { return c > 126 }); i >= 0 {
						t.Fatalf("%q is not ASCII", l)
					}
				}
			}
		})
	}
	t.Run("t steps through all themes", func(t *testing.T) {
		r := newRig(t, Options{})
		seen := map[string]bool{}
		for range themes.Names() {
			r.press("t")
			seen[r.theme.Name] = true
			r.sees("order-service", "Theme: "+r.theme.Name)
		}
		if len(seen) != len(themes.Names()) {
			t.Errorf("t reaches %v of %v", seen, themes.Names())
		}
	})
	t.Run("a theme that does not exist is said", func(t *testing.T) {
		r := &rig{App: New(t.Context(), Options{Source: &fakeSource{}, Theme: "solarised"}), t: t}
		r.size(150, 30)
		r.sees("solarised")
	})
}

func TestHostileTextStaysInItsCells(t *testing.T) {
	evil := []string{
		"\x1b[2J\x1b]0;owned\x07", "\u202egnp.exe", "a\u200bb\u200dc", strings.Repeat("x", 10_000), "\xff\xfe\x80", "\u009b31m",
		"日本語グループ名前", "👩‍👩‍👧‍👦👍🏽", "line\nbreak\ttab\r", "e\u0301\u0301\u0301\u0301\u0301\u0301\u0301\u0301",
	}
	for i, s := range evil {
		snap, h := fixture()
		g := snap.Groups[0]
		in := *h.insights[g.ID]
		in.Verdicts = []model.Verdict{{Severity: model.Critical, Text: s, Evidence: []string{s}, Next: s}}
		g.ID, g.State, g.Assignor = s, s, s
		g.Members = []model.Member{{ID: s, ClientID: s, Host: s, InstanceID: s, Rack: s, Assignment: []model.TopicPartitions{{Topic: s, Partitions: []int32{0}}}}}
		g.Partitions = []model.GroupPartition{partition(s, 0, 1, 0, 10, 0)}
		g.Problems = []model.Problem{{Scope: model.ScopeGroup, Name: s, Code: s, Text: s}}
		snap.Groups, snap.Problems = []model.Group{g}, g.Problems
		snap.Topics = []model.Topic{topic(s, 1, 10)}
		snap.Cluster.ID, snap.Cluster.Version = s, s
		snap.Cluster.Brokers[0].Host, snap.Cluster.Brokers[0].Rack, snap.Cluster.Brokers[0].Why = s, s, s
		snap.Cluster.Features = []model.Feature{{Name: s}}
		snap.Cluster.Limits = []model.Limit{{API: s, Text: s}}
		h.insights[s] = &in
		for _, size := range sizes {
			r := newRig(t, Options{ClusterName: s, Profile: s})
			r.history = h
			r.size(size.w, size.h)
			r.read(snap)
			for _, keys := range []string{"1", "enter", "tab", "W", "esc", "3", "enter", "4", "tab", "5", "y", ":", "esc"} {
				r.press(keys)
				checkBox(t, r, size.w, size.h)
				v := r.View()
				for _, c := range ansi.Strip(v.Content) + v.WindowTitle {
					if c < 0x20 && c != '\n' || c >= 0x7f && c < 0xa0 || c == 0x202e || c == 0x200b || c == 0xfffd {
						t.Fatalf("text %d, %s after %s: %U reaches the terminal", i, size.name, keys, c)
					}
				}
				if strings.Contains(v.Content, "\x1b[2J") || strings.Contains(v.Content, "\x1b]") {
					t.Fatalf("text %d: an escape sequence reaches the terminal", i)
				}
			}
		}
	}
}

func TestGroupsThatTurnAreAnnouncedOnce(t *testing.T) {
	r := newRig(t, Options{})
	turn := func(v model.Verdict) {
		s, h := fixture()
		s.At = r.view.Snapshot.At.Add(2 * time.Second)
		in := *h.insights["streams-join"]
		in.Verdicts = []model.Verdict{v}
		h.insights["streams-join"] = &in
		r.history = h
		r.read(s)
	}
	stalled, well := model.Verdict{Code: "stalled", Severity: model.Critical, Text: "stalled for 20s"}, model.Verdict{Code: "caught_up", Text: "caught up"}
	turn(stalled)
	r.sees("streams-join: stalled for 20s")
	turn(well)
	r.sees("streams-join: caught up")
	turn(stalled)
	turn(well)
	turn(stalled)
	if n := len(r.log.entries); n != 2 {
		t.Errorf("a group on the edge takes %d entries of Activity", n)
	}
}

func TestTopLine(t *testing.T) {
	tests := []struct {
		name    string
		options Options
		change  func(*model.Snapshot)
		says    []string
	}{
		{"cluster id", Options{}, nil, []string{"b3JkZXJzLXByb2Q", "Kafka 4.3", "3/3 brokers", "share.version 1", "now"}},
		{"name and badges", Options{ClusterName: "prod-eu", Profile: "prod", ReadOnly: true}, nil, []string{"prod-eu", " prod ", "READ-ONLY"}},
		{"demo", Options{Demo: true}, nil, []string{"embedded cluster", "DEMO"}},
		{"broker down", Options{}, func(s *model.Snapshot) { s.Cluster.Brokers[1].Up = false }, []string{"2/3 brokers"}},
		{"share.version not finalized", Options{}, func(s *model.Snapshot) { s.Cluster.Features[2].Finalized = model.Opt[int16]{} }, []string{"share.version 0"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := newRig(t, tt.options)
			if tt.change != nil {
				s, _ := fixture()
				tt.change(s)
				r.read(s)
			}
			r.sees(tt.says...)
		})
	}
}

func TestCopyCleansWhatItCopies(t *testing.T) {
	r := newRig(t, Options{})
	s, h := fixture()
	s.Groups = s.Groups[:1]
	s.Groups[0].ID = "a\nrm -rf"
	h.insights[s.Groups[0].ID] = &model.Insight{}
	r.history = h
	r.read(s)
	r.press("y")
	if got := fmt.Sprintf("%v", r.last()); strings.Contains(got, "\n") {
		t.Errorf("the clipboard gets %q", got)
	}
	r.sees(`Sent to the clipboard: a\nrm -rf`)
}

func TestStalePositionsOfAFreshGroup(t *testing.T) {
	r := newRig(t, Options{})
	s, _ := fixture()
	s.At = noon.Add(time.Minute)
	for i := range s.ShareGroups {
		s.ShareGroups[i].Described = s.At // the positions are those of noon: the broker stalls
	}
	r.read(s)
	r.press("2")
	if stale := r.theme.Style(themes.Stale).Open; !strings.Contains(r.View().Content, stale+"97") {
		t.Error("a lag that is a minute old is not dim")
	}
	r.press("down enter")
	r.sees("positions read 1m ago")
	r.misses("members read")
}

func TestWide(t *testing.T) {
	r := newRig(t, Options{})
	r.misses("COORDINATOR")
	r.press("w")
	r.sees("COORDINATOR", "ASSIGNOR", "VERDICT")
	r.press("w")
	r.misses("COORDINATOR")
	r.press("enter tab w")
	r.press("q down enter tab w")
	r.sees("MEMBER ID", "order-1-5f1c2a")
}

func TestLongLinesAreReadInFull(t *testing.T) {
	r := newRig(t, Options{})
	r.size(60, 20)
	r.log.add(entry{at: noon, severity: model.Warning, kind: kindError, subject: "order-service", text: "first words, " + strings.Repeat("more of it, ", 8) + "last words."})
	r.press("5")
	r.misses("last words.")
	r.press("enter")
	r.sees("first words", "last words.")
	r.press("esc 4 enter")
	r.sees("broker 1 at kafka-1.internal:9092 is up.")
}

func TestPartitionsWithoutAnOwnerAreLeftOutOnRequest(t *testing.T) {
	r := newRig(t, Options{})
	s, _ := fixture()
	g := &s.Groups[3] // order-service gave up a topic that is still written to
	g.Partitions = append(g.Partitions, partition("payments", 0, 0, 0, 1_000_000, model.NoMember))
	r.read(s)
	r.sees("1,012,480")
	r.press("u")
	r.sees("12,480", "leaves out")
	r.misses("1,012,480")
	r.sees("3,211") // a group that nobody is in has no owners to ask for
	r.press("down enter")
	r.sees("1 partition without an owner left out", "Partitions 3")
	r.press("u")
	r.sees("1,000,000", "nobody", "Partitions 4")
}

func TestRefreshSaysWhenItIsDone(t *testing.T) {
	r := newRig(t, Options{})
	r.press("ctrl+r")
	r.sees("Reading the cluster now.")
	s, _ := fixture()
	r.read(s)
	r.sees("Read at 12:00:00 in 12ms.")
}
