package kafka

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"flightdeck/model"
)

// ErrNoAudit is what stands for an action on a connection without an audit file.
var ErrNoAudit = errors.New("there is no audit file, and nothing is done without one")

// AuditError means that a line could not be written to the audit file. Where it stands for an action, that was
// not carried out.
type AuditError struct {
	Path string
	Err  error
}

func (e *AuditError) Error() string {
	return fmt.Sprintf("the audit file %s cannot be written: %v", e.Path, e.Err)
}

func (e *AuditError) Unwrap() error { return e.Err }

// AuditPath is where the audit file is unless told otherwise: flightdeck/audit.jsonl in $XDG_STATE_HOME, which is
// ~/.local/state when it is not set.
func AuditPath() (string, error) {
	dir, err := StateDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "audit.jsonl"), nil
}

// StateDir is the folder for what outlives a run: flightdeck in $XDG_STATE_HOME, or in ~/.local/state.
func StateDir() (string, error) {
	// The XDG specification tells to ignore a relative path.
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "flightdeck"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("find the folder of the audit file: %w", err)
	}
	return filepath.Join(home, ".local", "state", "flightdeck"), nil
}

// Audit writes down every action, in JSON lines: what is intended before anything leaves for the cluster,
// and what came of it. An action whose intent cannot be written is not carried out. Lines hold coordinates and
// never what records contain.
//
// The file is opened for each line, so that it may be moved away (logrotate) and made anew; several processes may
// write to it. An Audit is safe for concurrent use.
type Audit struct {
	path string
	who  string

	mu  sync.Mutex // held while a line is written
	err error      // of the last line
}

// NewAudit prepares an audit file; it is made by Check or with the first line.
func NewAudit(path string) *Audit {
	a := &Audit{path: path}
	if u, err := user.Current(); err == nil {
		a.who = u.Username
	}
	return a
}

// Path is where the file is.
func (a *Audit) Path() string { return a.path }

// Check makes the file if it is not there, so that whoever is going to act knows beforehand when it cannot be written.
func (a *Audit) Check() error {
	err := os.MkdirAll(filepath.Dir(a.path), 0o700)
	if err == nil {
		var f *os.File
		if f, err = os.OpenFile(a.path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600); err == nil {
			err = f.Close()
		}
	}
	if err != nil {
		return &AuditError{Path: a.path, Err: err}
	}
	return nil
}

// Err is why the last line could not be written; nil when it was.
func (a *Audit) Err() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.err
}

// auditLine is one line of the file. The names are a contract with whoever reads it.
type auditLine struct {
	Time  time.Time        `json:"time"`
	Phase string           `json:"phase"` // intent or result
	ID    string           `json:"id"`    // the same in both lines of an action
	Kind  model.ActionKind `json:"action"`
	// Who is the user of this machine and Cluster the bootstrap servers.
	Who     string              `json:"user,omitempty"`
	Cluster []string            `json:"cluster,omitempty"`
	Target  *model.ActionTarget `json:"target,omitempty"`
	Impact  []string            `json:"impact,omitempty"`
	// The rest is of results only.
	Millis  *int64        `json:"took_ms,omitempty"`
	OK      *int64        `json:"ok,omitempty"`
	Failed  *int64        `json:"failed,omitempty"`
	Results []auditResult `json:"results,omitempty"`
}

// auditResult is what became of records or partitions that fared alike.
type auditResult struct {
	Group     string `json:"group,omitempty"`
	Topic     string `json:"topic,omitempty"`
	Partition *int32 `json:"partition,omitempty"`
	First     *int64 `json:"first,omitempty"`
	Last      *int64 `json:"last,omitempty"`
	OK        bool   `json:"ok"`
	Code      string `json:"code,omitempty"`
	Text      string `json:"text,omitempty"`
}

// audited is an action that was written down and may be carried out.
type audited struct {
	audit *Audit
	line  auditLine
	began time.Time
}

// begin writes down what is intended, and returns when that is on disk. The error means that it must not be done.
func (c *Connection) begin(action model.Action) (*audited, error) {
	if c.cfg.ReadOnly {
		return nil, ErrReadOnly
	}
	if c.cfg.Audit == nil {
		return nil, ErrNoAudit
	}
	return c.cfg.Audit.begin(c.cfg.Bootstrap, action)
}

// act carries out an action between its two lines in the audit file. The error means that it was not carried
// out; a result that could not be written down is told by [Audit.Err]. Nothing that changes a cluster is done
// outside of act, or of begin and end.
func (c *Connection) act(action model.Action, do func() []model.ActionResult) ([]model.ActionResult, error) {
	begun, err := c.begin(action)
	if err != nil {
		return nil, err
	}
	results := do()
	begun.end(results)
	return results, nil
}

func (a *Audit) begin(cluster []string, action model.Action) (*audited, error) {
	begun := &audited{audit: a, began: time.Now(), line: auditLine{ID: rand.Text(), Kind: action.Kind}}
	line := begun.line
	line.Time, line.Phase, line.Who, line.Cluster = begun.began, "intent", a.who, cluster
	line.Target, line.Impact = &action.Target, action.Impact
	if err := a.write(line); err != nil {
		return nil, err
	}
	return begun, nil
}

// end writes down what came of the action.
func (b *audited) end(results []model.ActionResult) {
	ok, failed := int64(0), int64(0)
	for i := range results {
		if results[i].OK {
			ok++
		} else {
			failed++
		}
	}
	b.endWith(ok, failed, results)
}

// endWith is end for actions with more records than can be listed.
func (b *audited) endWith(ok, failed int64, some []model.ActionResult) {
	took := time.Since(b.began).Milliseconds()
	line := b.line
	line.Time, line.Phase = time.Now(), "result"
	line.Millis, line.OK, line.Failed, line.Results = &took, &ok, &failed, joinResults(some)
	_ = b.audit.write(line) // told by Err: the action is done
}

// joinResults makes one of neighbours that fared alike.
func joinResults(results []model.ActionResult) []auditResult {
	var out []auditResult
	for i := range results {
		r := &results[i]
		one := auditResult{Group: r.Group, Topic: r.Topic, OK: r.OK, Code: r.Code, Text: r.Text}
		if r.Partition >= 0 {
			one.Partition = &r.Partition
		}
		if offset, known := r.Offset.Get(); known {
			one.First, one.Last = &offset, &offset
			if n := len(out); n > 0 && out[n-1].followedBy(one) {
				out[n-1].Last = &offset
				continue
			}
		}
		out = append(out, one)
	}
	return out
}

func (a *auditResult) followedBy(b auditResult) bool {
	return a.Last != nil && *a.Last+1 == *b.First && a.Partition != nil && b.Partition != nil && *a.Partition == *b.Partition &&
		a.Group == b.Group && a.Topic == b.Topic && a.OK == b.OK && a.Code == b.Code && a.Text == b.Text
}

// write appends a line, and returns when it is on disk.
func (a *Audit) write(line auditLine) error {
	text, err := json.Marshal(line)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err == nil {
		err = appendLine(a.path, text)
	}
	if err != nil {
		err = &AuditError{Path: a.path, Err: err}
	}
	a.err = err
	return err
}

// appendLine appends text and a line feed to a file, in one write so that lines of several processes do not mix, and
// syncs it. A line that a full disk cut off is ended first.
func appendLine(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	_, missing := os.Stat(path)
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	text = append(bytes.TrimRight(text, "\n"), '\n')
	var last [1]byte
	if end, err := f.Seek(0, io.SeekEnd); err == nil && end > 0 {
		if _, err := f.ReadAt(last[:], end-1); err == nil && last[0] != '\n' {
			text = slices.Concat([]byte{'\n'}, text)
		}
	}
	if _, err := f.Write(text); err != nil {
		return err
	}
	if err := f.Sync(); err != nil {
		return err
	}
	if missing != nil {
		syncDir(filepath.Dir(path)) // the name of a new file is in its folder
	}
	return f.Close()
}

// syncDir syncs a folder, where the system can do that.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
