package model

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// The verdicts are tested through History, poll by poll, since most of them speak of what happened over
// time. every says what happens between two polls a second apart.
type verdictTest struct {
	name  string
	setup func(w *world)
	every func(w *world, poll int)
	polls int
	group string // "g" unless set
	want  string // the codes, worst first
	text  string // of the worst
}

func (tt *verdictTest) run(t *testing.T) *Insight {
	w := newWorld().topic("t", 0, 0, 0)
	for i := range w.topics[0].Partitions {
		w.produce(0, i, 1000)
	}
	if tt.setup != nil {
		tt.setup(w)
	}
	h := NewHistory()
	v := h.Observe(w.snap(0))
	for i := range tt.polls {
		if tt.every != nil {
			tt.every(w, i)
		}
		v = h.Observe(w.snap(second))
	}
	id := tt.group
	if id == "" {
		id = "g"
	}
	in := v.Insights[id]
	if in == nil {
		t.Fatal("the group has no insight")
	}
	return in
}

func consumeAll(n int64) func(*world, int) {
	return func(w *world, _ int) {
		for i := range w.topics[0].Partitions {
			w.produce(0, i, 10)
			w.consume(0, i, n)
		}
	}
}

func with(positions ...int64) func(*world) {
	return func(w *world) { w.group("g", positions, "m1: 0 1 2") }
}

func TestVerdicts(t *testing.T) {
	tests := []verdictTest{
		// How it moves.
		{name: "caught up", setup: with(1000, 1000, 1000), want: "caught_up", text: "caught up"},
		{name: "caught up and moving", setup: with(1000, 1000, 1000), every: consumeAll(10), polls: 30, want: "caught_up", text: "caught up"},
		{name: "first look at lag", setup: with(900, 800, 700), want: "behind", text: "600 behind"},
		{name: "second look", setup: with(900, 800, 700), every: consumeAll(12), polls: 2, want: "behind", text: "588 behind"},
		{name: "keeping up", setup: with(990, 995, 980), every: consumeAll(10), polls: 20, want: "keeping_up", text: "keeping up, 35 behind"},
		{name: "keeping up and gaining", setup: with(920, 920, 920), every: consumeAll(11), polls: 20, want: "keeping_up", text: "keeping up, 180 behind"},
		{name: "keeping up with a commit every 5 s", setup: with(1000, 1000, 1000), polls: 44, every: func(w *world, poll int) {
			for i := range 3 {
				w.produce(0, i, 10)
				if poll%5 == 4 {
					w.consume(0, i, 50)
				}
			}
		}, want: "keeping_up", text: "keeping up, 120 behind"},
		{name: "catching up", setup: with(0, 0, 0), every: consumeAll(30), polls: 20, want: "catching_up", text: "catching up, 30s left"},
		{name: "holding", setup: with(0, 0, 0), every: consumeAll(10), polls: 20, want: "moving", text: "3,000 behind, neither growing nor shrinking"},
		{name: "falling behind", setup: with(0, 0, 0), every: consumeAll(5), polls: 20, want: "falling_behind", text: "falling behind by 15/s"},
		{name: "falling behind on one partition", setup: with(990, 990, 0), polls: 20, every: func(w *world, _ int) {
			for i := range 3 {
				w.produce(0, i, 10)
			}
			w.consume(0, 0, 10)
			w.consume(0, 1, 10)
			w.consume(0, 2, 2)
		}, want: "falling_behind", text: "falling behind: 98 % of the lag on t/2"},
		{name: "uneven", setup: with(990, 990, 100), polls: 8, every: func(w *world, _ int) {
			consumeAll(10)(w, 0)
			w.consume(0, 2, 50)
		}, want: "catching_up uneven", text: "catching up, 10s left"},
		{name: "no progress for a while", setup: with(900, 1000, 1000), polls: 10, want: "behind uneven", text: "100 behind, no progress for 10s"},
		{name: "stalled", setup: with(900, 1000, 1000), polls: 25, want: "stalled uneven", text: "stalled: 100 behind, no progress for 25s"},
		{name: "stalled after it moved", setup: with(800, 1000, 1000), polls: 100, every: func(w *world, poll int) {
			if poll < 10 {
				w.consume(0, 0, 10)
			}
		}, want: "stalled uneven", text: "stalled: 100 behind, no progress for 1m30s"},
		{name: "commits every 45 s", setup: with(0, 0, 0), polls: 45*4 + 40, every: func(w *world, poll int) {
			if poll%45 == 0 {
				consumeAll(110)(w, poll)
			}
		}, want: "catching_up", text: "catching up, 3m45s left"},
		{name: "one partition stands still", setup: with(900, 900, 900), polls: 70, every: func(w *world, poll int) {
			for i := range 3 {
				w.produce(0, i, 10)
			}
			w.consume(0, 0, 10)
			w.consume(0, 1, 10)
		}, want: "falling_behind partition_stalled", text: "falling behind: 80 % of the lag on t/2"},
		{name: "control record", setup: with(999, 999, 1000), polls: 30, want: "control_record", text: "2 behind: may be a control record"},
		{name: "behind by one and written to", setup: with(999, 1000, 1000), polls: 30, every: func(w *world, poll int) {
			if poll == 0 {
				w.produce(0, 0, 1)
				w.produce(0, 1, 1)
			}
		}, want: "stalled", text: "stalled: 3 behind, no progress for 30s"},

		// Members.
		{name: "no members", setup: func(w *world) { w.group("g", []int64{900, 1000, 1000}) }, want: "no_members", text: "no members, 100 behind"},
		{name: "no members, and records were lost", setup: func(w *world) {
			w.group("g", []int64{900, 1000, 1000})
			w.topics[0].Partitions[0].Start = Some(int64(947))
		}, want: "no_members data_lost", text: "no members, 53 behind, 47 lost"},
		{name: "no members and nothing to read", setup: func(w *world) { w.group("g", []int64{1000, 1000, 1000}) }, want: "no_members", text: "no members"},
		{name: "the last member left", setup: with(900, 1000, 1000), polls: 12, every: func(w *world, poll int) {
			if poll == 10 {
				w.members(0)
			}
		}, want: "no_members", text: "nobody consumes since 14:02:11"},
		{name: "the last member of a moving group left", setup: with(0, 0, 0), polls: 14, every: func(w *world, poll int) {
			if poll < 10 {
				consumeAll(20)(w, poll)
			}
			if poll == 10 {
				w.members(0)
			}
		}, want: "no_members", text: "nobody consumes since 14:02:11"},
		{name: "moves on without members", setup: with(0, 0, 0), polls: 30, every: func(w *world, poll int) {
			consumeAll(20)(w, poll)
			if poll == 10 {
				w.members(0)
			}
		}, want: "moves_alone", text: "no members, yet its offsets move"},
		{name: "commits without members", setup: func(w *world) { w.group("g", []int64{0, 0, 0}) }, every: consumeAll(20), polls: 10,
			want: "moves_alone", text: "no members, yet its offsets move"},
		{name: "idle member", setup: func(w *world) { w.group("g", []int64{1000, 1000, 1000}, "m1: 0", "m2: 1", "m3: 2", "m4") },
			want: "idle_members caught_up", text: "1 member idle: 4 members, 3 partitions"},
		{name: "idle member of another topic", setup: func(w *world) { w.group("g", []int64{1000, 1000, 1000}, "m1: 0 1 2", "m4") },
			want: "idle_members caught_up", text: "1 member idle: 2 members, 3 partitions"},
		{name: "members without partitions", setup: func(w *world) { w.group("g", nil, "m1", "m2") }, want: "no_partitions", text: "no partitions for 2 members"},
		{name: "a topic that nobody reads", setup: func(w *world) {
			w.topic("old", 50)
			with(1000, 1000, 1000)(w)
			g := &w.groups[0]
			g.Partitions = slices.Insert(g.Partitions, 0, GroupPartition{Topic: "old", Member: NoMember, Position: Some(int64(10))})
			w.topics[0], w.topics[1] = w.topics[1], w.topics[0]
		}, want: "unassigned caught_up", text: "nobody reads old: 40 behind"},
		{name: "a partition that nobody reads", setup: func(w *world) { w.group("g", []int64{1000, 1000, 900}, "m1: 0 1") },
			want: "unassigned caught_up", text: "nobody reads some partitions of t: 100 behind"},
		{name: "rebalancing", setup: with(1000, 1000, 1000), polls: 5, every: func(w *world, _ int) { w.groups[0].State = "PreparingRebalance" },
			want: "rebalancing caught_up", text: "rebalancing for 4s"},
		{name: "rebalancing for long", setup: with(900, 1000, 1000), polls: 40, every: func(w *world, _ int) { w.groups[0].State = "PreparingRebalance" },
			want: "rebalancing behind uneven", text: "rebalancing for 39s"},
		{name: "rebalancing since before the first look", setup: func(w *world) { with(1000, 1000, 1000)(w); w.groups[0].State = "Reconciling" }, polls: 3,
			want: "rebalancing caught_up", text: "rebalancing for 3s or longer"},
		{name: "members are not known yet", setup: func(w *world) { w.group("g", []int64{1000, 1000, 1000}); w.groups[0].State = "Reconciling" },
			want: "rebalancing caught_up", text: "rebalancing"},
		{name: "rebalancing again and again", setup: with(1000, 1000, 1000), polls: 20, every: func(w *world, poll int) {
			w.groups[0].State = []string{"PreparingRebalance", "Stable", "Stable", "Stable"}[poll%4]
		}, want: "rebalances_often caught_up", text: "rebalanced 5 times in 10m"},

		// Positions.
		{name: "committed below the log start", setup: func(w *world) {
			with(10, 100, 1000)(w)
			for i := range 3 {
				w.topics[0].Partitions[i].Start = Some(int64(500))
			}
		}, want: "data_lost behind", text: "890 records lost on 2 partitions, most on t/0"},
		{name: "committed beyond the end", setup: with(1000, 1040, 1000), want: "beyond_end caught_up", text: "40 beyond the end of t/1"},
		{name: "topic deleted", setup: func(w *world) {
			with(1000, 1000, 1000)(w)
			g := &w.groups[0]
			g.Partitions = append(g.Partitions, GroupPartition{Topic: "u", Member: NoMember, Position: Some(int64(7)), Deleted: true},
				GroupPartition{Topic: "u", Number: 1, Member: NoMember, Position: Some(int64(7)), Deleted: true})
		}, want: "topic_deleted caught_up", text: "deleted: u"},
		{name: "no commit", setup: with(-1, -1, -1), want: "no_commit", text: "no commit yet"},
		{name: "no commit where there is nothing to read", setup: func(w *world) {
			with(1000, -1, 1000)(w)
			w.topics[0].Partitions[1].Start = w.topics[0].Partitions[1].End
		}, want: "caught_up", text: "caught up"},
		{name: "nothing to read anywhere", setup: func(w *world) {
			with(-1, -1, -1)(w)
			for i := range w.topics[0].Partitions {
				w.topics[0].Partitions[i].Start = w.topics[0].Partitions[i].End
			}
		}, want: "no_commit", text: "no commit yet: nothing to read"},
		{name: "no commit on some", setup: with(1000, -1, 1000), want: "no_commit caught_up", text: "no commit yet on 1 of 3 partitions"},

		// Reading.
		{name: "not read yet", setup: func(w *world) {
			w.groups = append(w.groups, Group{ID: "g", State: "Stable"})
			w.stale["g"] = true
		}, want: "not_read", text: "not read yet"},
		{name: "group forbidden", setup: func(w *world) {
			w.groups = append(w.groups, Group{ID: "g", State: "Stable", Problems: []Problem{{Scope: ScopeGroup, Name: "g", Code: "GROUP_AUTHORIZATION_FAILED", Text: "No."}}})
			w.stale["g"] = true
		}, want: "not_permitted", text: "not permitted: needs DESCRIBE on the group"},
		{name: "topic of the group forbidden", setup: func(w *world) {
			w.groups = append(w.groups, Group{ID: "g", Problems: []Problem{{Code: "TOPIC_AUTHORIZATION_FAILED", Text: "No."}}})
			w.stale["g"] = true
		}, want: "not_permitted", text: "not permitted: needs DESCRIBE on its topics"},
		{name: "not readable", setup: func(w *world) {
			with(1000, 1000, 1000)(w)
			w.groups[0].Problems = []Problem{{Code: "refused", Text: "Broker 2 at b:9094 refuses the connection. Check that it runs."}}
		}, want: "unreadable caught_up", text: "could not be read: broker 2 at b:9094 refuses the connection"},
		{name: "coordinator down", setup: func(w *world) { with(900, 1000, 1000)(w); w.groups[0].Coordinator = 2 }, polls: 40, every: func(w *world, _ int) {
			w.stale["g"], w.up[2] = true, false
		}, want: "stale behind uneven", text: "stale: broker 2 down, last read 40s ago"},
		{name: "not read for long", setup: with(1000, 1000, 1000), polls: 61, every: func(w *world, _ int) { w.stale["g"] = true },
			want: "stale caught_up", text: "stale: not read for 1m1s"},
		{name: "hidden partitions", setup: func(w *world) { with(1000, 1000, 1000)(w); w.groups[0].Hidden = true },
			want: "hidden caught_up", text: "total incomplete: topics hidden from you"},
		{name: "streams group, whose members are not described", setup: func(w *world) {
			w.groups = append(w.groups, w.makeGroup("g", TypeStreams, []int64{1000, 1000, 1000}, nil))
			w.groups[0].State = "Stable"
		}, want: "caught_up", text: "caught up"},
		{name: "nothing known", setup: func(w *world) {
			w.groups = append(w.groups, w.makeGroup("g", TypeStreams, nil, nil))
			w.groups[0].State = "Stable"
		}, want: "lag_unknown", text: "lag unknown"},

		// Share groups. Their lag is the broker's.
		{name: "share group caught up", setup: shareWith(0, 1000, 1000, 1000), want: "caught_up", text: "caught up"},
		{name: "share group without progress", setup: shareWith(40, 960, 1000, 1000), polls: 30, want: "share_no_progress", text: "no progress: 40 behind, start offset unmoved for 30s"},
		{name: "share group without members", setup: func(w *world) { shareWith(40, 960, 1000, 1000)(w); assign(&w.shares[0], "t", nil) },
			want: "no_members", text: "no members, 40 behind"},
		{name: "share group that was reset", setup: shareWith(-1, 0, 0, 0), want: "lag_unknown", text: "lag unknown until consuming starts"},
		{name: "share group that was given nothing", setup: shareWith(-1, -1, -1, -1), polls: 25, want: "share_nothing_delivered",
			text: "nothing delivered, or all in its first delivery"},
		{name: "share group that was given nothing, a moment later", setup: shareWith(-1, -1, -1, -1), polls: 5, want: "lag_unknown",
			text: "lag unknown until the first record is finished"},
		{name: "share group that reads from latest", setup: func(w *world) {
			shareWith(-1, -1, -1, -1)(w)
			w.shares[0].Configs = &GroupConfigs{Values: []ConfigValue{{Name: ConfigShareReset, Value: "latest"}}}
		}, polls: 25, want: "share_reads_latest", text: "reads nothing: share.auto.offset.reset is latest"},
		{name: "share group that reads from earliest", setup: func(w *world) {
			shareWith(-1, -1, -1, -1)(w)
			w.shares[0].Configs = &GroupConfigs{Values: []ConfigValue{{Name: ConfigShareReset, Value: "earliest"}}}
		}, polls: 25, want: "share_nothing_delivered", text: "nothing delivered, or all in its first delivery"},
		{name: "share state topic missing", setup: func(w *world) {
			shareWith(-1, -1, -1, -1)(w)
			w.topics = slices.Insert(w.topics, 0, Topic{Name: offsetsTopic, Internal: true})
		}, polls: 25, want: "share_state_topic", text: "nothing delivered: __share_group_state is missing"},
		{name: "share state topic missing from the start, so that nothing is assigned", setup: func(w *world) {
			w.share("g", nil, "m1:")
			w.topics = slices.Insert(w.topics, 0, Topic{Name: offsetsTopic, Internal: true})
		}, want: "share_state_topic", text: "nothing delivered: __share_group_state is missing"},
		{name: "share group whose topic does not exist", setup: func(w *world) {
			w.share("g", nil, "m1:")
			w.topics = slices.Insert(w.topics, 0, Topic{Name: ShareStateTopic, Internal: true})
		}, want: "no_partitions", text: "no partitions for 1 member"},
		{name: "share state topic without leaders", setup: func(w *world) {
			shareWith(-1, -1, -1, -1)(w)
			w.topics = slices.Insert(w.topics, 0, Topic{Name: ShareStateTopic, Internal: true, Partitions: []Partition{{Leader: 1}, {Number: 1, Leader: -1}}})
		}, polls: 25, want: "share_state_topic", text: "nothing delivered: 1 state partition without leader"},
	}
	seen := make(map[string]bool)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			in := tt.run(t)
			var codes []string
			for i, v := range in.Verdicts {
				codes = append(codes, v.Code)
				seen[v.Code] = true
				checkWords(t, v)
				if i > 0 && v.Severity > in.Verdicts[i-1].Severity {
					t.Errorf("%s is worse than %s before it", v.Code, in.Verdicts[i-1].Code)
				}
			}
			if got := strings.Join(codes, " "); got != tt.want {
				t.Errorf("verdicts %q, want %q", got, tt.want)
			}
			if keepsUp(in.Verdicts) && in.ETA.Known() {
				t.Errorf("done in %s, beside a verdict that there is nothing to catch up with", in.ETA.Text(Duration))
			}
			if in.Verdict().Text != tt.text {
				t.Errorf("text %q, want %q", in.Verdict().Text, tt.text)
			}
		})
	}
	for _, code := range verdictCodes(t) {
		if !seen[code] {
			t.Errorf("no test has a verdict %s", code)
		}
	}
}

// shareWith is a share group with the given start offsets and the broker's lag on partition 0, -1 for unknown.
func shareWith(lag int64, positions ...int64) func(*world) {
	return func(w *world) {
		w.share("g", positions, "m1: 0 1 2", "m2: 0 1 2")
		w.brokerLag = lag
	}
}

// checkWords holds the rules of wording.
func checkWords(t *testing.T, v Verdict) {
	t.Helper()
	if n := len([]rune(v.Text)); n == 0 || n > 64 {
		t.Errorf("%s: text of %d characters: %q", v.Code, n, v.Text)
	}
	if strings.ContainsAny(v.Text, "!\n") || strings.Contains(v.Text+" ", ". ") {
		t.Errorf("%s: text %q", v.Code, v.Text)
	}
	for _, sentence := range append(slices.Clone(v.Evidence), v.Next) {
		if sentence != "" && (!strings.HasSuffix(sentence, ".") || strings.Contains(sentence, "!")) {
			t.Errorf("%s: %q is not a sentence", v.Code, sentence)
		}
	}
	if v.Severity >= Warning && (v.Next == "" && v.Code != VerdictUnreadable && v.Code != VerdictStale || len(v.Evidence) == 0) {
		t.Errorf("%s: a warning without evidence or a next step", v.Code)
	}
}

// verdictCodes reads the table of codes from its source, so that none is forgotten.
func verdictCodes(t *testing.T) (codes []string) {
	source, err := os.ReadFile("verdict.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile(`Verdict\w+ += "(\w+)"`).FindAllStringSubmatch(string(source), -1) {
		codes = append(codes, m[1])
	}
	if len(codes) < 20 {
		t.Fatalf("only %d codes found", len(codes))
	}
	return codes
}

func TestSeverityGrowsWithTime(t *testing.T) {
	stall := func(polls int) Severity {
		return (&verdictTest{setup: with(900, 1000, 1000), polls: polls}).run(t).Verdict().Severity
	}
	rebalance := func(polls int) Severity {
		return (&verdictTest{setup: with(1000, 1000, 1000), polls: polls, every: func(w *world, _ int) {
			w.groups[0].State = "PreparingRebalance"
		}}).run(t).Verdict().Severity
	}
	tests := []struct {
		name      string
		got, want Severity
	}{
		{"not stalled yet", stall(10), Info}, {"stalled", stall(30), Warning}, {"stalled for long", stall(61), Critical},
		{"rebalancing", rebalance(5), Info}, {"rebalancing for long", rebalance(20), Warning}, {"rebalancing for minutes", rebalance(125), Critical},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, tt.got, tt.want)
		}
	}
}

func TestStalledEvidence(t *testing.T) {
	in := (&verdictTest{setup: with(800, 1000, 1000), polls: 100, every: func(w *world, poll int) {
		if poll < 10 {
			w.consume(0, 0, 10)
		}
	}}).run(t)
	expect(t, in.Verdict().Evidence,
		"No partition moved since 14:02:10.",
		"100 records are to be read on 1 partition, most on t/0.",
		"The group is Stable with 1 member.")
	if at := in.Partitions[0].Since; !at.Equal(start.Add(10 * time.Second)) {
		t.Errorf("t/0 moved last at %v", at)
	}
}
