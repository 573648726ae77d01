package kafka

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"flightdeck/model"
)

// auditFile is an audit in a folder of the test.
func auditFile(t testing.TB) *Audit {
	return NewAudit(filepath.Join(t.TempDir(), "state", "audit.jsonl"))
}

// auditLines are the lines of an audit file.
func auditLines(t testing.TB, a *Audit) []map[string]any {
	t.Helper()
	data, err := os.ReadFile(a.Path())
	if err != nil {
		t.Fatal(err)
	}
	var lines []map[string]any
	for text := range strings.Lines(string(data)) {
		var line map[string]any
		if err := json.Unmarshal([]byte(text), &line); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		lines = append(lines, line)
	}
	return lines
}

var acceptTwo = model.Action{
	Kind:   model.ActionShareAccept,
	Target: model.ActionTarget{Group: "g", Records: []model.RecordRange{{Topic: "orders", Partition: 1, First: 3, Last: 4}}},
}

func TestAuditWritesIntentBeforeAndResultAfter(t *testing.T) {
	a := auditFile(t)
	c := Connect(Config{Bootstrap: []string{"kafka:9092"}, Audit: a})
	defer c.Close()
	done := false
	got, err := c.act(acceptTwo, func() []model.ActionResult {
		done = true
		if lines := auditLines(t, a); len(lines) != 1 || lines[0]["phase"] != "intent" {
			t.Errorf("when it is carried out, the file has %v", lines)
		}
		return []model.ActionResult{
			{Topic: "orders", Partition: 1, Offset: model.Some[int64](3), OK: true},
			{Topic: "orders", Partition: 1, Offset: model.Some[int64](4), OK: true},
			{Topic: "orders", Partition: 1, Offset: model.Some[int64](5), Code: "INVALID_RECORD_STATE", Text: "lost"},
		}
	})
	if err != nil || !done || len(got) != 3 {
		t.Fatal(err, done, got)
	}
	lines := auditLines(t, a)
	if len(lines) != 2 || lines[1]["phase"] != "result" || lines[0]["id"] != lines[1]["id"] || lines[0]["action"] != "share_accept" {
		t.Fatalf("lines: %v", lines)
	}
	if results := lines[1]["results"].([]any); len(results) != 2 || results[0].(map[string]any)["last"] != 4.0 {
		t.Errorf("the results are not joined: %v", results)
	}
	if lines[1]["ok"] != 2.0 || lines[1]["failed"] != 1.0 {
		t.Errorf("counts of %v", lines[1])
	}
}

func TestActionIsRefusedWithoutAudit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		cfg  Config
		code string
	}{
		"no audit file":  {Config{}, "no_audit"},
		"disk full":      {Config{Audit: NewAudit("/dev/full")}, "audit_failed"},
		"no such folder": {Config{Audit: NewAudit(filepath.Join(file, "audit.jsonl"))}, "audit_failed"},
		"read-only":      {Config{Audit: auditFile(t), ReadOnly: true}, "read_only"},
	} {
		t.Run(name, func(t *testing.T) {
			c := Connect(tt.cfg)
			defer c.Close()
			_, err := c.act(acceptTwo, func() []model.ActionResult {
				t.Error("it was carried out")
				return nil
			})
			if code, text := c.Explain(err); code != tt.code || text == "" {
				t.Errorf("%s: %s", code, text)
			}
		})
	}
}

// A line that was cut off does not spoil the next.
func TestAuditAfterTornLine(t *testing.T) {
	a := auditFile(t)
	if err := os.MkdirAll(filepath.Dir(a.Path()), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.Path(), []byte(`{"torn":`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := a.begin(nil, acceptTwo); err != nil {
		t.Fatal(err)
	}
	data, _ := os.ReadFile(a.Path())
	if lines := strings.Split(string(data), "\n"); len(lines) != 3 || !json.Valid([]byte(lines[1])) {
		t.Errorf("the file is %q", data)
	}
}

func TestAuditCheck(t *testing.T) {
	a := auditFile(t)
	if err := a.Check(); err != nil {
		t.Fatal(err)
	}
	if lines := auditLines(t, a); len(lines) != 0 {
		t.Errorf("the check wrote %v", lines)
	}
	blocked := NewAudit(filepath.Join(a.Path(), "audit.jsonl")) // its folder is a file
	if _, ok := errors.AsType[*AuditError](blocked.Check()); !ok {
		t.Errorf("%v, want an AuditError", blocked.Check())
	}
}
