package kafka

import (
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

func TestAlterGroupConfigs(t *testing.T) {
	f := newFake(t)
	a, _ := f.admin()
	// The group does not exist.
	s, err := a.GroupConfigs(t.Context(), "new", model.TypeShare)
	if err != nil {
		t.Fatal(err)
	}
	if row, ok := s.Row(model.ConfigShareReset); !ok || row.Fixed != "" {
		t.Errorf("%+v", row)
	}
	change := []model.ConfigChange{{Name: model.ConfigShareReset, Value: model.Some("earliest")}}
	if err := a.TryGroupConfigs(t.Context(), "new", change); err != nil {
		t.Error(err)
	}
	results, err := a.AlterGroupConfigs(t.Context(), model.PlanConfigs(&s, change))
	if err != nil || len(results) != 1 || !results[0].OK || results[0].Text != "share.auto.offset.reset is earliest, read back." {
		t.Fatalf("%+v (%v)", results, err)
	}
	if s, err = a.GroupConfigs(t.Context(), "new", model.TypeShare); err != nil {
		t.Fatal(err)
	}
	if row, _ := s.Row(model.ConfigShareReset); row.Value.Value != "earliest" || row.Value.Source != model.ConfigOfGroup {
		t.Errorf("%+v", row)
	}
	results, err = a.AlterGroupConfigs(t.Context(), model.PlanConfigs(&s, []model.ConfigChange{{Name: model.ConfigShareReset}}))
	if err != nil || !results[0].OK {
		t.Errorf("removed: %+v (%v)", results, err)
	}
	if lines := auditLines(t, a.conn.cfg.Audit); len(lines) != 4 || lines[0]["action"] != "config_alter" {
		t.Errorf("audit: %v", lines)
	}
}

func TestAdminOfAReadOnlyConnection(t *testing.T) {
	f := newFake(t)
	f.produce("orders", 0, 10)
	f.commit("g", "orders", 4)
	w := new(wire)
	a := newAdmin(t, Config{Bootstrap: f.ListenAddrs(), Dial: w.dial, ReadOnly: true})
	plan := planReset(t, a, ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}})
	deletion, err := a.PlanDelete(t.Context(), model.DeleteScope{Group: "g"}, model.TypeUnknown)
	if err != nil {
		t.Fatal(err)
	}
	change := []model.ConfigChange{{Name: model.ConfigShareReset, Value: model.Some("earliest")}}
	for name, try := range map[string]func() error{
		"reset":       func() error { _, err := a.ApplyReset(t.Context(), plan, nil); return err },
		"armed":       func() error { _, err := a.ArmReset(ResetRequest{Group: "g"}, plan, time.Minute); return err },
		"delete":      func() error { _, _, err := a.ApplyDelete(t.Context(), deletion); return err },
		"try configs": func() error { return a.TryGroupConfigs(t.Context(), "g", change) },
		// Past the check, the wire still refuses.
		"commit": func() error {
			c, err := a.coordinator(t.Context(), "g")
			if err != nil {
				return err
			}
			r := &reset{a: a, c: c, plan: &plan}
			for _, res := range r.run(t.Context()) {
				if res.OK || res.Code != "read_only" {
					t.Errorf("%+v", res)
				}
			}
			return ErrReadOnly
		},
	} {
		if code, text := a.conn.Explain(try()); code != "read_only" {
			t.Errorf("%s: %s: %s", name, code, text)
		}
	}
	for key := range w.seen() {
		if !slices.Contains(reads, kmsg.Key(key)) {
			t.Errorf("%s was sent", kmsg.NameForKey(key))
		}
	}
	if files, _ := filepath.Glob(filepath.Join(a.state, "resets", "*")); len(files) > 0 {
		t.Errorf("files were left: %v", files)
	}
}
