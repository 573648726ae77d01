package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

var memberOptions = map[model.GroupType]func(id string) []kgo.Opt{
	model.TypeClassic: func(id string) []kgo.Opt { return []kgo.Opt{kgo.ConsumerGroup(id), kgo.DisableAutoCommit()} },
	model.TypeConsumer: func(id string) []kgo.Opt {
		return []kgo.Opt{kgo.ConsumerGroup(id), kgo.ServerSideBalancer(), kgo.DisableAutoCommit()}
	},
	model.TypeShare: func(id string) []kgo.Opt { return []kgo.Opt{kgo.ShareGroup(id)} },
}

// A group that became active is refused and nothing changes; armed, the reset fires when the last member has left, and can be
// undone.
func TestRealResetOfLiveGroups(t *testing.T) {
	t.Parallel()
	kafkatest.Run(t, func(t *testing.T, version string) {
		l := newRealLog(t, version)
		for _, typ := range []model.GroupType{model.TypeClassic, model.TypeConsumer, model.TypeShare} {
			t.Run(typ.String(), func(t *testing.T) {
				id := l.group(typ)
				byPolicy := typ == model.TypeShare && strings.HasPrefix(version, "4.1")
				if !byPolicy {
					l.place(id, typ)
				}
				before := l.where(id, typ)
				req := ResetRequest{Group: id, Type: typ, Spec: model.ResetSpec{Mode: model.ResetLatest}, Scope: []model.TopicPartitions{{Topic: l.topic}}}
				plan := planReset(t, l.admin, req)
				member := l.join(id, memberOptions[typ](id)...)
				out := applyReset(t, l.admin, plan)
				if !out.Refused() || len(out.Results) != 3 {
					t.Errorf("%+v", out.Results)
				}
				if typ != model.TypeShare { // a share group's own members set its start offsets
					if is := l.where(id, typ); is != before {
						t.Errorf("it was at %s and is at %s", before, is)
					}
				}

				x, err := l.admin.ArmReset(req, plan, time.Minute)
				if err != nil {
					t.Fatal(err)
				}
				s := armedUntil(t, x, func(s model.ArmedState) bool { return s.Group != nil })
				if s.Phase != model.ArmedWaiting || s.Gone.Known() != (typ != model.TypeClassic) {
					t.Errorf("%+v", s)
				}
				t.Log(s.Sentence(time.Now()))
				member.leave()
				left := time.Now()
				s = armedUntil(t, x, func(s model.ArmedState) bool { return s.Final() })
				t.Logf("%s after the member left: %s", time.Since(left).Round(time.Millisecond), s.Sentence(time.Now()))
				if s.Phase != model.ArmedDone || s.Outcome.Failed() > 0 {
					t.Fatalf("%s %+v", s.Sentence(time.Now()), s.Outcome)
				}
				if byPolicy {
					return
				}
				if is := l.where(id, typ); is != "0=20 1=20 2=20" {
					t.Errorf("armed, it went to %s", is)
				}
				saved, err := l.admin.SavedResets(t.Context(), id)
				if err != nil || len(saved) == 0 || saved[0].Path != s.Outcome.Saved {
					t.Fatalf("%+v (%v)", saved, err)
				}
				undo := applyReset(t, l.admin, planReset(t, l.admin, ResetRequest{Group: id, Type: typ, Spec: saved[0].Undo()}))
				if is := l.where(id, typ); undo.Failed() > 0 || is != before && typ != model.TypeShare {
					t.Errorf("undone, it is at %s, before at %s: %+v", is, before, undo.Results)
				}
			})
		}
	})
}

func TestRealDelete(t *testing.T) {
	t.Parallel()
	kafkatest.Run(t, func(t *testing.T, version string) {
		l := newRealLog(t, version)
		remove := func(scope model.DeleteScope) []model.ActionResult {
			t.Helper()
			plan, err := l.admin.PlanDelete(t.Context(), scope, model.TypeUnknown)
			if err != nil || plan.Why != "" || len(plan.Rows) == 0 {
				t.Fatalf("%+v (%v)", plan, err)
			}
			results, _, err := l.admin.ApplyDelete(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if !r.OK || !strings.Contains(r.Text, "read back as gone") {
					t.Errorf("%+v", r)
				}
			}
			return results
		}
		for _, typ := range []model.GroupType{model.TypeClassic, model.TypeConsumer, model.TypeShare} {
			t.Run(typ.String(), func(t *testing.T) {
				id := l.group(typ)
				if typ == model.TypeShare {
					l.SetGroupConfig(t, id, model.ConfigShareReset, "earliest")
					l.acceptAll(t, id)
					remove(model.DeleteScope{Group: id, Topic: l.topic})
					l.acceptAll(t, id)
				} else {
					l.place(id, typ)
					remove(model.DeleteScope{Group: id, Topic: l.topic, Partitions: []int32{1}})
					if is := l.where(id, typ); is != "0=8" {
						t.Errorf("left: %s", is)
					}
				}
				remove(model.DeleteScope{Group: id})
			})
		}
	})
}

func TestRealGroupConfigs(t *testing.T) {
	kafkatest.Run(t, func(t *testing.T, version string) {
		k := kafkatest.Shared(t, version)
		a := newAdmin(t, Config{Bootstrap: k.Bootstrap()})
		id := kafkatest.Name("new")
		s, err := a.GroupConfigs(t.Context(), id, model.TypeShare)
		if err != nil || len(s.Problems) > 0 {
			t.Fatalf("%+v (%v)", s, err)
		}
		for _, row := range s.Rows {
			t.Logf("%s = %s (%s), %s%s", row.Name, row.Value.Value, row.Value.Source, row.Bounds(), row.Fixed)
			if row.Known == (strings.HasPrefix(row.Fixed, "Groups have it from")) {
				t.Errorf("%+v", row)
			}
		}
		if row, _ := s.Row(model.ConfigLockDuration); row.Bounds() != "15,000 to 60,000" || s.Assignors != "simple" {
			t.Errorf("%+v", row)
		}
		tooShort := []model.ConfigChange{{Name: model.ConfigLockDuration, Value: model.Some("14999")}}
		if why := model.PlanConfigs(&s, tooShort).Why; !strings.Contains(why, "15,000 to 60,000") {
			t.Errorf("we say %q", why)
		}
		if _, text := a.conn.Explain(a.TryGroupConfigs(t.Context(), id, tooShort)); !strings.Contains(text, "lock.duration.ms must be") {
			t.Errorf("the broker says %q", text)
		}
		for _, value := range []model.Opt[string]{model.Some("by_duration:P1DT2H30M"), {}} {
			results, err := a.AlterGroupConfigs(t.Context(), model.PlanConfigs(&s, []model.ConfigChange{{Name: model.ConfigShareReset, Value: value}}))
			if err != nil || !results[0].OK || results[0].Code != "" {
				t.Fatalf("%+v (%v)", results, err)
			}
			if s, err = a.GroupConfigs(t.Context(), id, model.TypeShare); err != nil {
				t.Fatal(err)
			}
			if row, _ := s.Row(model.ConfigShareReset); row.Value.Value != value.Or("latest") {
				t.Errorf("%+v", row)
			}
		}
	})
}

// Rights that are missing are told per partition, and the rest is done.
func TestRealResetWithoutRights(t *testing.T) {
	t.Parallel()
	k := kafkatest.Start(t, kafkatest.Latest(t), kafkatest.Options{Listeners: []kafkatest.Listener{kafkatest.SASLPlaintext}, ACLs: true})
	adm := kadm.NewClient(k.Client(t))
	mine, seen := kafkatest.Name("mine"), kafkatest.Name("seen")
	for _, topic := range []string{mine, seen} {
		k.CreateTopic(t, topic, 1)
		k.Produce(t, topic, 0, 10)
	}
	for _, acl := range []*kadm.ACLBuilder{
		kadm.NewACLs().Allow("User:alice").AllowHosts().Groups("g", "s").Operations(kadm.OpRead).ResourcePatternType(kadm.ACLPatternLiteral),
		kadm.NewACLs().Allow("User:alice").AllowHosts().Topics(mine).Operations(kadm.OpRead).ResourcePatternType(kadm.ACLPatternLiteral),
		kadm.NewACLs().Allow("User:alice").AllowHosts().Topics(seen).Operations(kadm.OpDescribe).ResourcePatternType(kadm.ACLPatternLiteral),
	} {
		if _, err := adm.CreateACLs(t.Context(), acl); err != nil {
			t.Fatal(err)
		}
	}
	cfg := Config{Bootstrap: k.Addrs(kafkatest.SASLPlaintext), SASL: kafkatest.Mechanism(kafkatest.Plain, "alice", kafkatest.Password("alice"))}
	a := newAdmin(t, cfg)
	kafkatest.Await(t, "the rights are in force", func() error { _, err := a.Group(t.Context(), "g", model.TypeClassic); return err })
	scope := []model.TopicPartitions{{Topic: mine}, {Topic: seen}, {Topic: "hidden", Partitions: []int32{0}}}
	for id, typ := range map[string]model.GroupType{"g": model.TypeClassic, "s": model.TypeShare} {
		plan := planReset(t, a, ResetRequest{Group: id, Type: typ, Spec: model.ResetSpec{Mode: model.ResetLatest}, Scope: scope})
		if hidden := plan.Rows[0]; hidden.Topic != "hidden" || hidden.Planned() || !strings.Contains(hidden.Note(), "DESCRIBE") {
			t.Errorf("%+v", hidden)
		}
		out := applyReset(t, a, plan)
		for _, r := range out.Results {
			t.Logf("%s %s: %s %s", id, r.Topic, r.Code, r.Text)
			if r.OK != (r.Topic == mine) || r.Topic == seen && (r.Code != "TOPIC_AUTHORIZATION_FAILED" || !strings.Contains(r.Text, "READ")) {
				t.Errorf("%+v", r)
			}
		}
	}
	if _, err := a.PlanReset(t.Context(), ResetRequest{Group: "forbidden", Type: model.TypeClassic, Spec: model.ResetSpec{Mode: model.ResetLatest}}, nil); err == nil {
		t.Error("the group may not be seen")
	} else if code, text := a.conn.Explain(err); code != "GROUP_AUTHORIZATION_FAILED" {
		t.Errorf("%s: %s", code, text)
	}
	plan, err := a.PlanDelete(t.Context(), model.DeleteScope{Group: "g"}, model.TypeUnknown)
	if err != nil {
		t.Fatal(err)
	}
	results, _, err := a.ApplyDelete(t.Context(), plan)
	if err != nil || results[0].OK || results[0].Code != "GROUP_AUTHORIZATION_FAILED" || !strings.Contains(results[0].Text, "DELETE") {
		t.Errorf("%+v (%v)", results, err)
	}
}

// The offsets of a topic that was deleted go with it, or can be deleted.
func TestRealDeleteOfADeletedTopic(t *testing.T) {
	t.Parallel()
	l := newRealLog(t, kafkatest.Latest(t))
	id := l.group(model.TypeClassic)
	l.place(id, model.TypeClassic)
	if _, err := kadm.NewClient(l.Client(t)).DeleteTopics(t.Context(), l.topic); err != nil {
		t.Fatal(err)
	}
	plan, err := l.admin.PlanDelete(t.Context(), model.DeleteScope{Group: id, Topic: l.topic}, model.TypeClassic)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Why != "" { // the brokers were faster
		if is := l.where(id, model.TypeClassic); is != "" {
			t.Errorf("%s, and it is at %s", plan.Why, is)
		}
		return
	}
	results, _, err := l.admin.ApplyDelete(t.Context(), plan)
	for _, r := range results {
		if !r.OK {
			t.Errorf("%+v", r)
		}
	}
	if err != nil || l.where(id, model.TypeClassic) != "" {
		t.Errorf("%+v (%v), at %s", results, err, l.where(id, model.TypeClassic))
	}
}
