package kafka

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/model"
)

func TestDelete(t *testing.T) {
	f := newFake(t, kfake.SeedTopics(2, "orders", "refunds"))
	f.produce("orders", 0, 10)
	commit := func(group string) {
		f.commit(group, "orders", 4, 5)
		f.commit(group, "refunds", 0)
	}
	a, _ := f.admin()
	for name, tt := range map[string]struct {
		scope model.DeleteScope
		rows  int
		left  string
	}{
		"a topic":     {model.DeleteScope{Topic: "orders"}, 2, "refunds/0=0"},
		"a partition": {model.DeleteScope{Topic: "orders", Partitions: []int32{1}}, 1, "orders/0=4 refunds/0=0"},
		"the group":   {model.DeleteScope{}, 3, ""},
	} {
		t.Run(name, func(t *testing.T) {
			tt.scope.Group = "g-" + strings.ReplaceAll(name, " ", "-")
			commit(tt.scope.Group)
			plan, err := a.PlanDelete(t.Context(), tt.scope, model.TypeUnknown)
			if err != nil || plan.Why != "" || len(plan.Rows) != tt.rows {
				t.Fatalf("%+v (%v)", plan, err)
			}
			results, saved, err := a.ApplyDelete(t.Context(), plan)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range results {
				if !r.OK || !strings.Contains(r.Text, "read back as gone") {
					t.Errorf("%+v", r)
				}
			}
			if is := where(t, a, tt.scope.Group, model.TypeClassic); is != tt.left {
				t.Errorf("left: %s", is)
			}
			s, err := readSaved(saved)
			if err != nil || len(s.Before) != tt.rows {
				t.Errorf("saved: %+v (%v)", s, err)
			}
		})
	}
	t.Run("not empty", func(t *testing.T) {
		f.produce("orders", 0, 1)
		consume(t, f.client(kgo.ConsumerGroup("busy"), kgo.ConsumeTopics("orders"), kgo.AutoCommitInterval(100*time.Millisecond)))
		awaitGroup(t, a, "busy", func(g *model.Group) bool { return g.State == "Stable" })
		plan, err := a.PlanDelete(t.Context(), model.DeleteScope{Group: "busy"}, model.TypeUnknown)
		if err != nil || !strings.Contains(plan.Why, "busy is Stable with 1 member") {
			t.Errorf("%+v (%v)", plan, err)
		}
		if _, _, err := a.ApplyDelete(t.Context(), plan); err == nil {
			t.Error("it was tried all the same")
		}
	})
	t.Run("missing", func(t *testing.T) {
		plan, err := a.PlanDelete(t.Context(), model.DeleteScope{Group: "nobody"}, model.TypeUnknown)
		if err != nil || plan.Why != "There is no group nobody." {
			t.Errorf("%+v (%v)", plan, err)
		}
	})
	t.Run("share", func(t *testing.T) {
		scope := []model.TopicPartitions{{Topic: "orders"}, {Topic: "refunds"}}
		applyReset(t, a, planReset(t, a, ResetRequest{Group: "s", Type: model.TypeShare, Spec: model.ResetSpec{Mode: model.ResetEarliest}, Scope: scope}))
		plan, err := a.PlanDelete(t.Context(), model.DeleteScope{Group: "s", Topic: "orders"}, model.TypeUnknown)
		if err != nil || len(plan.Rows) != 2 {
			t.Fatalf("%+v (%v)", plan, err)
		}
		results, _, err := a.ApplyDelete(t.Context(), plan)
		if err != nil || !results[0].OK || !results[1].OK || where(t, a, "s", model.TypeShare) != "refunds/0=0 refunds/1=0" {
			t.Errorf("%+v (%v), at %s", results, err, where(t, a, "s", model.TypeShare))
		}
	})
}
