package kafka

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// newAdmin makes an admin that keeps its files in a folder of the test.
func newAdmin(t testing.TB, cfg Config) *Admin {
	t.Helper()
	dir := t.TempDir()
	if cfg.Audit == nil {
		cfg.Audit = NewAudit(filepath.Join(dir, "audit.jsonl"))
	}
	c := Connect(cfg)
	a := NewAdmin(c, dir)
	t.Cleanup(func() { a.Close(); c.Close() })
	return a
}

func (f *fakeCluster) admin() (*Admin, *wire) {
	w := new(wire)
	return newAdmin(f.t, Config{Bootstrap: f.ListenAddrs(), Dial: w.dial}), w
}

func planReset(t testing.TB, a *Admin, r ResetRequest) model.ResetPlan {
	t.Helper()
	plan, err := a.PlanReset(t.Context(), r, nil)
	if err != nil {
		t.Fatalf("plan %s: %v", r.Spec.Mode, err)
	}
	return plan
}

func applyReset(t testing.TB, a *Admin, plan model.ResetPlan) model.ResetOutcome {
	t.Helper()
	out, err := a.ApplyReset(t.Context(), plan, nil)
	if err != nil {
		t.Fatalf("apply: %v", err)
	}
	return out
}

// thens are the positions of a plan as topic/partition=offset.
func thens(plan model.ResetPlan) string {
	var out []string
	for _, r := range plan.Rows {
		then := r.Then.Text(model.Count)
		if r.Clear {
			then = "cleared"
		}
		out = append(out, fmt.Sprintf("%s/%d=%s", r.Topic, r.Number, then))
	}
	return strings.Join(out, " ")
}

// where are the positions of a group as the coordinator tells them.
func where(t testing.TB, a *Admin, group string, typ model.GroupType) string {
	t.Helper()
	c, err := a.coordinator(t.Context(), group)
	if err != nil {
		t.Fatal(err)
	}
	now, err := c.positions(t.Context(), typ)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for tp, offset := range now {
		out = append(out, fmt.Sprintf("%s/%d=%d", tp.topic, tp.partition, offset))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

func TestResetModes(t *testing.T) {
	f := newFake(t)
	for n := range int32(3) {
		f.produce("orders", n, 10)
	}
	f.commit("other", "orders", 3)
	a, _ := f.admin()
	now := time.Now()
	orders := []model.TopicPartitions{{Topic: "orders"}}
	for name, tt := range map[string]struct {
		spec  model.ResetSpec
		scope []model.TopicPartitions
		want  string
	}{
		"earliest, what it has":     {model.ResetSpec{Mode: model.ResetEarliest}, nil, "orders/0=0 orders/1=0"},
		"latest, all of the topic":  {model.ResetSpec{Mode: model.ResetLatest}, orders, "orders/0=10 orders/1=10 orders/2=10"},
		"current":                   {model.ResetSpec{Mode: model.ResetCurrent}, orders, "orders/0=4 orders/1=10 orders/2=10"},
		"offset":                    {model.ResetSpec{Mode: model.ResetOffset, Offset: 7}, []model.TopicPartitions{{Topic: "orders", Partitions: []int32{1}}}, "orders/1=7"},
		"shift":                     {model.ResetSpec{Mode: model.ResetShift, Offset: -2}, orders, "orders/0=2 orders/1=8 orders/2=-"},
		"time, before all":          {model.ResetSpec{Mode: model.ResetTime, Time: now.Add(-time.Hour)}, orders, "orders/0=0 orders/1=0 orders/2=0"},
		"time, after all":           {model.ResetSpec{Mode: model.ResetTime, Time: now.Add(time.Hour)}, nil, "orders/0=10 orders/1=10"},
		"back":                      {model.ResetSpec{Mode: model.ResetBack, Back: time.Hour}, nil, "orders/0=0 orders/1=0"},
		"group":                     {model.ResetSpec{Mode: model.ResetGroup, Group: "other"}, nil, "orders/0=3"},
		"group, more than it has":   {model.ResetSpec{Mode: model.ResetGroup, Group: "other"}, orders, "orders/0=3 orders/1=- orders/2=-"},
		"file":                      {model.ResetSpec{Mode: model.ResetFile, Offsets: []model.GroupOffset{{Topic: "orders", Partition: 2, Offset: model.Some[int64](5)}}}, nil, "orders/2=5"},
		"no such topic":             {model.ResetSpec{Mode: model.ResetEarliest}, []model.TopicPartitions{{Topic: "gone", Partitions: []int32{0}}}, "gone/0=-"},
		"a partition too many":      {model.ResetSpec{Mode: model.ResetEarliest}, []model.TopicPartitions{{Topic: "orders", Partitions: []int32{2, 3}}}, "orders/2=0 orders/3=-"},
		"a topic without existence": {model.ResetSpec{Mode: model.ResetEarliest}, []model.TopicPartitions{{Topic: "gone"}}, "gone/-1=-"},
	} {
		t.Run(name, func(t *testing.T) {
			group := "g-" + strings.ReplaceAll(name, " ", "-")
			f.commit(group, "orders", 4, 10)
			plan := planReset(t, a, ResetRequest{Group: group, Spec: tt.spec, Scope: tt.scope})
			if got := thens(plan); got != tt.want {
				t.Fatalf("planned %s, want %s", got, tt.want)
			}
			if len(plan.Planned()) == 0 {
				if _, err := a.ApplyReset(t.Context(), plan, nil); err == nil {
					t.Error("a plan without anything to do was carried out")
				}
				return
			}
			out := applyReset(t, a, plan)
			if out.Failed() > 0 || len(out.Results) != len(plan.Planned()) {
				t.Fatalf("results %+v", out.Results)
			}
			is := where(t, a, group, model.TypeClassic)
			for _, r := range plan.Planned() {
				if want := fmt.Sprintf("%s/%d=%d", r.Topic, r.Number, r.Then.Or(-1)); !strings.Contains(is, want) {
					t.Errorf("it is at %s, want %s", is, want)
				}
			}
		})
	}
}

// Undoing brings back exactly what was there, partitions without a position included.
func TestResetUndo(t *testing.T) {
	f := newFake(t)
	for n := range int32(3) {
		f.produce("orders", n, 10)
	}
	f.commit("g", "orders", 4, 10)
	a, _ := f.admin()
	before := where(t, a, "g", model.TypeClassic)
	out := applyReset(t, a, planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetOffset, Offset: 1}, Scope: []model.TopicPartitions{{Topic: "orders"}}}))
	if is := where(t, a, "g", model.TypeClassic); is != "orders/0=1 orders/1=1 orders/2=1" {
		t.Fatalf("after the reset: %s", is)
	}
	saved, err := a.SavedResets(t.Context(), "g")
	if err != nil || len(saved) != 1 || saved[0].Path != out.Saved || saved[0].OK != 3 || saved[0].Ended.IsZero() {
		t.Fatalf("saved: %+v (%v)", saved, err)
	}
	csv, err := os.ReadFile(strings.TrimSuffix(out.Saved, ".json") + ".csv")
	if err != nil || string(csv) != "orders,0,4\norders,1,10\n" {
		t.Errorf("the CSV is %q (%v)", csv, err)
	}
	undo := planReset(t, a, ResetRequest{Group: "g", Spec: saved[0].Undo()})
	if got := thens(undo); got != "orders/0=4 orders/1=10 orders/2=cleared" {
		t.Errorf("the undo is %s", got)
	}
	if out := applyReset(t, a, undo); out.Failed() > 0 {
		t.Errorf("undo: %+v", out.Results)
	}
	if is := where(t, a, "g", model.TypeClassic); is != before {
		t.Errorf("after the undo: %s, before all: %s", is, before)
	}
	if other, err := a.SavedResets(t.Context(), "other"); err != nil || len(other) > 0 {
		t.Errorf("saved of another group: %+v (%v)", other, err)
	}
}

// When the program ends while the request is on its way, the file tells what was there and what was intended.
func TestResetSavesBeforeItSends(t *testing.T) {
	f := newFake(t)
	f.produce("orders", 0, 10)
	f.commit("g", "orders", 4)
	a, _ := f.admin()
	plan := planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}})
	var s SavedReset
	f.ControlKey(kmsg.OffsetCommit.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		files, _ := filepath.Glob(filepath.Join(a.state, "resets", "*.json"))
		if len(files) != 1 {
			t.Errorf("when the request comes, the files are %v", files)
			return nil, nil, false
		}
		text, err := os.ReadFile(files[0])
		if err == nil {
			err = json.Unmarshal(text, &s)
		}
		if err != nil {
			t.Error(err)
		}
		return nil, nil, false
	})
	applyReset(t, a, plan)
	four, ten := model.Some[int64](4), model.Some[int64](10)
	if !s.Ended.IsZero() || len(s.Before) != 1 || s.Before[0].Offset != four || len(s.Intended) != 1 || s.Intended[0].Offset != ten || s.Group != "g" {
		t.Errorf("saved when the request came: %+v", s)
	}
	if lines := auditLines(t, a.conn.cfg.Audit); len(lines) != 2 || lines[0]["action"] != "offsets_reset" || lines[1]["ok"] != 1.0 {
		t.Errorf("audit: %v", lines)
	}
}

func TestResetIsNotDoneWhenItCannotBeSaved(t *testing.T) {
	f := newFake(t)
	f.produce("orders", 0, 10)
	f.commit("g", "orders", 4)
	a, w := f.admin()
	plan := planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}})
	if err := os.WriteFile(filepath.Join(a.state, "resets"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := a.ApplyReset(t.Context(), plan, nil)
	if _, ok := errors.AsType[*SaveError](err); !ok {
		t.Errorf("error %v", err)
	}
	if n := w.seen()[kmsg.OffsetCommit.Int16()]; n > 0 {
		t.Errorf("%d commits were sent", n)
	}
}

// A plan that was made before somebody else moved the offsets is not carried out.
func TestResetOfAnOutdatedPlan(t *testing.T) {
	f := newFake(t)
	f.produce("orders", 0, 10)
	f.commit("g", "orders", 4)
	a, w := f.admin()
	plan := planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}})
	f.commit("g", "orders", 5)
	_, err := a.ApplyReset(t.Context(), plan, nil)
	if _, ok := errors.AsType[*OutdatedError](err); !ok || w.seen()[kmsg.OffsetCommit.Int16()] > 0 {
		t.Errorf("error %v, requests %v", err, w.seen())
	}
}

func TestResetOfAGroupThatBecameActive(t *testing.T) {
	for name, opts := range map[string][]kgo.Opt{
		"classic":  {kgo.ConsumerGroup("g"), kgo.DisableAutoCommit()},
		"consumer": {kgo.ConsumerGroup("g"), kgo.ServerSideBalancer(), kgo.DisableAutoCommit()},
		"share":    {kgo.ShareGroup("g")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.produce("orders", 0, 10)
			a, _ := f.admin()
			typ := model.TypeClassic
			if name == "share" {
				typ = model.TypeShare
			}
			scope := []model.TopicPartitions{{Topic: "orders"}}
			applyReset(t, a, planReset(t, a, ResetRequest{Group: "g", Type: typ, Spec: model.ResetSpec{Mode: model.ResetOffset, Offset: 5}, Scope: scope}))
			plan := planReset(t, a, ResetRequest{Group: "g", Type: typ, Spec: model.ResetSpec{Mode: model.ResetEarliest}, Scope: scope})

			consume(t, f.client(append(opts, kgo.ConsumeTopics("orders"))...))
			awaitGroup(t, a, "g", func(g *model.Group) bool { return g.State == "Stable" && len(g.Members) == 1 })
			out := applyReset(t, a, plan)
			if !out.Refused() || out.Failed() != 3 || !strings.Contains(out.Sentence(), "nothing was changed") {
				t.Errorf("%s: %+v", out.Sentence(), out.Results)
			}
			if saved, err := a.SavedResets(t.Context(), "g"); err != nil || len(saved) != 1 || saved[0].Text != "to offset 5" || out.Saved != "" || len(out.Caveats) > 0 {
				t.Errorf("the last reset that changed something is not the one to undo: %+v (%v); the refused one has %q and says %q", saved, err, out.Saved, out.Caveats)
			}
			g, err := a.Group(t.Context(), "g", model.TypeUnknown)
			if err != nil {
				t.Fatal(err)
			}
			if why := model.ResetBlock(g); !strings.Contains(why, "g is Stable with 1 member") {
				t.Errorf("why: %s", why)
			}
			if is := where(t, a, "g", typ); !strings.Contains(is, "orders/0=5") && name != "share" {
				t.Errorf("it is at %s", is)
			}
		})
	}
}

// awaitGroup waits until the group is as wanted.
func awaitGroup(t testing.TB, a *Admin, id string, ok func(*model.Group) bool) {
	t.Helper()
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		g, err := a.Group(t.Context(), id, model.TypeUnknown)
		if err == nil && ok(g) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("group %s is %+v (%v)", id, g, err)
		}
	}
}

func TestResetOfOnePartitionFails(t *testing.T) {
	f := newFake(t)
	for n := range int32(3) {
		f.produce("orders", n, 10)
	}
	f.commit("g", "orders", 4, 4, 4)
	a, _ := f.admin()
	plan := planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}})
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Topic: "orders", Partitions: []int32{1}, Err: kerr.TopicAuthorizationFailed})
	out := applyReset(t, a, plan)
	if out.Failed() != 1 || out.Results[1].OK || out.Results[1].Code != "TOPIC_AUTHORIZATION_FAILED" || !strings.Contains(out.Results[1].Text, "READ") {
		t.Errorf("results: %+v", out.Results)
	}
	if is := where(t, a, "g", model.TypeClassic); is != "orders/0=10 orders/1=4 orders/2=10" {
		t.Errorf("it is at %s", is)
	}
	retry := out.Retry()
	if got := thens(retry); got != "orders/1=10" {
		t.Errorf("to be tried again: %s", got)
	}
	if out := applyReset(t, a, retry); out.Failed() > 0 {
		t.Errorf("tried again: %+v", out.Results)
	}
}

// A topic that is deleted between preview and execution fails alone.
func TestResetTopicDeletedInBetween(t *testing.T) {
	f := newFake(t, kfake.SeedTopics(1, "orders", "doomed"))
	f.produce("orders", 0, 10)
	f.produce("doomed", 0, 10)
	f.commit("g", "orders", 4)
	a, _ := f.admin()
	scope := []model.TopicPartitions{{Topic: "doomed"}, {Topic: "orders"}}
	plan := planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}, Scope: scope})
	if _, err := kadm.NewClient(f.client()).DeleteTopics(t.Context(), "doomed"); err != nil {
		t.Fatal(err)
	}
	out := applyReset(t, a, plan)
	for _, r := range out.Results {
		if r.OK != (r.Topic == "orders") {
			t.Errorf("%+v", r)
		}
	}
}

// A request whose answer is lost is read back before anything is said about it.
func TestResetWithLostAnswer(t *testing.T) {
	f := newFake(t)
	f.produce("orders", 0, 10)
	f.commit("g", "orders", 4)
	a, _ := f.admin()
	plan := planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}})
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.RequestTimedOut})
	out := applyReset(t, a, plan)
	if r := out.Results[0]; r.OK != (where(t, a, "g", model.TypeClassic) == "orders/0=10") {
		t.Errorf("%+v, and it is at %s", r, where(t, a, "g", model.TypeClassic))
	}
}

// The number of requests does not depend on the number of partitions.
func TestPlanOfManyPartitions(t *testing.T) {
	const partitions = 10_000
	f := newFake(t, kfake.SeedTopics(partitions, "wide"))
	a, w := f.admin()
	progress := new(Progress)
	plan, err := a.PlanReset(t.Context(), ResetRequest{
		Group: "g", Type: model.TypeClassic, Spec: model.ResetSpec{Mode: model.ResetTime, Time: time.Now()}, Scope: []model.TopicPartitions{{Topic: "wide"}},
	}, progress)
	if err != nil || len(plan.Planned()) != partitions {
		t.Fatalf("%d planned (%v)", len(plan.Planned()), err)
	}
	if stage, done, total := progress.Now(); stage != "logs" || done != total || total != 3*partitions {
		t.Errorf("progress: %s, %d of %d", stage, done, total)
	}
	seen := w.seen()
	if seen[kmsg.ListOffsets.Int16()] != 3*3 || seen[kmsg.OffsetFetch.Int16()] != 1 || seen[kmsg.FindCoordinator.Int16()] != 1 || seen[kmsg.Metadata.Int16()] > 3 {
		t.Errorf("requests: %v", seen)
	}
	out := applyReset(t, a, plan)
	if out.Failed() > 0 {
		t.Errorf("%s", out.Sentence())
	}
	if n := w.seen()[kmsg.OffsetCommit.Int16()]; n != partitions/partitionsPerCommit {
		t.Errorf("%d commits", n)
	}
}

func TestPlanIsCanceled(t *testing.T) {
	f := newFake(t)
	f.commit("g", "orders", 0)
	a, _ := f.admin()
	ctx, cancel := context.WithCancel(t.Context())
	f.ControlKey(kmsg.ListOffsets.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		cancel()
		return nil, nil, false
	})
	if _, err := a.PlanReset(ctx, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}}, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

func TestResetOfAShareGroup(t *testing.T) {
	f := newFake(t)
	for n := range int32(3) {
		f.produce("orders", n, 10)
	}
	a, _ := f.admin()
	orders := []model.TopicPartitions{{Topic: "orders"}}
	first := applyReset(t, a, planReset(t, a, ResetRequest{Group: "g", Type: model.TypeShare, Spec: model.ResetSpec{Mode: model.ResetOffset, Offset: 400}, Scope: orders}))
	if first.Failed() > 0 || len(first.Caveats) == 0 {
		t.Fatalf("%+v", first)
	}
	if is := where(t, a, "g", model.TypeShare); is != "orders/0=10 orders/1=10 orders/2=10" {
		t.Errorf("offsets beyond the end were sent: %s", is)
	}
	plan := planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetShift, Offset: -4}})
	if out := applyReset(t, a, plan); plan.Type != model.TypeShare || out.Failed() > 0 || where(t, a, "g", model.TypeShare) != "orders/0=6 orders/1=6 orders/2=6" {
		t.Errorf("%+v, at %s", out.Results, where(t, a, "g", model.TypeShare))
	}
	// An answer that leaves partitions out, as that of Kafka 4.1, is not taken for success.
	f.ControlKey(kmsg.AlterShareGroupOffsets.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		return req.ResponseKind(), nil, true
	})
	out := applyReset(t, a, planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}}))
	if out.Failed() != 3 || out.Results[0].Code != model.CodeIgnored {
		t.Errorf("ignored: %+v", out.Results)
	}
}

// TestRecordedOfAnotherTime: what was followed before somebody moved the start offset back says nothing of now.
func TestRecordedOfAnotherTime(t *testing.T) {
	key := model.SharePartitionKey{Group: "g", Partition: 0}
	fold := model.NewShareFold(8)
	fold.Apply(&model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: 1, Start: 10,
		Batches: []model.StateBatch{{First: 10, Last: 14, State: model.StateAcknowledged, Count: 1}}}, model.WriteRef{Ms: 1, Offset: 1})
	req := ResetRequest{Group: "g", Records: &model.ShareRecords{Partitions: map[model.SharePartitionKey]*model.SharePartitionRecords{
		key: {Key: key, CaughtUp: true, History: fold.History()}}}}
	for name, c := range map[string]struct {
		broker, now int64
		used        bool
	}{
		"as the broker has it": {10, 15, true},
		"trailing by a write":  {12, 15, true},
		"moved forward since":  {20, 20, true},
		"moved back since":     {4, 4, false},
		"moved back to zero":   {0, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := model.ResetPartition{Now: model.Some(c.broker)}
			recorded(&p, req, model.TopicID{})
			if got := p.Now.Or(-1); got != c.now || (p.State != nil) != c.used {
				t.Errorf("now %d with state %v, want %d, %v", got, p.State != nil, c.now, c.used)
			}
		})
	}
}
