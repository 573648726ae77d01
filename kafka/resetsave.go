package kafka

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// SavedReset is what a reset saved before it changed anything: enough to undo it, and to see what was
// intended when the program ended before the result.
type SavedReset struct {
	// Path is the JSON file; beside it is a CSV file with the old offsets for Kafka's own tools.
	Path      string    `json:"-"`
	At        time.Time `json:"saved"`
	ClusterID string    `json:"cluster_id,omitempty"`
	Bootstrap []string  `json:"bootstrap,omitempty"`
	Group     string    `json:"group"`
	// Type is that of the group: classic, consumer or share.
	Type string `json:"type"`
	// Text says in words what was to be done.
	Text string `json:"text"`
	// Before are the positions that the group had, with an unknown offset for a partition without one. Intended are
	// those that it was to get.
	Before   []model.GroupOffset `json:"before"`
	Intended []model.GroupOffset `json:"intended"`
	// Ended is when the result was written; zero when the program ended before.
	Ended  time.Time `json:"ended,omitzero"`
	OK     int       `json:"ok"`
	Failed int       `json:"failed"`
}

// Undo is the spec of a plan that takes the group back to where it was.
func (s *SavedReset) Undo() model.ResetSpec {
	return model.ResetSpec{Mode: model.ResetFile, Offsets: s.Before, File: "the file saved at " + model.Stamp(s.At)}
}

// SaveError means that the present offsets could not be saved, and so were not changed.
type SaveError struct {
	Path string
	Err  error
}

func (e *SaveError) Error() string {
	return fmt.Sprintf("The present offsets could not be saved, so nothing was changed: %v. Make room in %s.", e.Err, filepath.Dir(e.Path))
}

func (e *SaveError) Unwrap() error { return e.Err }

// save is a saved reset while it is written.
type save struct {
	SavedReset
	path    string
	problem error // of adding the result
}

// saveOf prepares what is saved for a plan. Only partitions that the plan changes are in it.
func (a *Admin) saveOf(ctx context.Context, plan *model.ResetPlan, before positions) *save {
	s := &save{SavedReset: SavedReset{
		At: time.Now(), ClusterID: a.clusterID(ctx), Bootstrap: a.conn.cfg.Bootstrap, Group: plan.Group, Type: plan.Type.String(),
		Text: plan.Spec.Text(plan.At), Intended: plan.Offsets(),
	}}
	for _, r := range plan.Planned() {
		o := model.GroupOffset{Topic: r.Topic, Partition: r.Number, Offset: before.of(r.Topic, r.Number)}
		if plan.Type == model.TypeShare && r.Now.Known() {
			o.Offset = r.Now // the effective start offset
		}
		s.Before = append(s.Before, o)
	}
	name := fmt.Sprintf("%s-%s-%s.json", s.At.UTC().Format("20060102T150405.000Z"), fileName(plan.Group), rand.Text()[:4])
	s.path = filepath.Join(a.resets(), name)
	return s
}

// resets is the folder of saved resets.
func (a *Admin) resets() string {
	dir := a.state
	if dir == "" {
		dir, _ = StateDir() // without one, writing fails and says so
	}
	return filepath.Join(dir, "resets")
}

// fileName keeps what is harmless in the name of a file. It is for people: the whole name is in the file.
func fileName(group string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '_'
	}, group)
	return out[:min(len(out), 100)]
}

// write saves, and returns when it is on disk.
func (s *save) write() error {
	err := os.MkdirAll(filepath.Dir(s.path), 0o700)
	if err == nil {
		err = writeDurably(strings.TrimSuffix(s.path, ".json")+".csv", []byte(model.OffsetsCSV(s.Before)))
	}
	if err == nil {
		err = s.writeJSON()
	}
	if err != nil {
		return &SaveError{s.path, err}
	}
	return nil
}

func (s *save) writeJSON() error {
	text, err := json.MarshalIndent(s.SavedReset, "", "  ")
	if err != nil {
		return err
	}
	return writeDurably(s.path, append(text, '\n'))
}

// finish adds the result.
func (s *save) finish(results []model.ActionResult) {
	s.Ended = time.Now()
	for i := range results {
		if results[i].OK {
			s.OK++
		} else {
			s.Failed++
		}
	}
	s.problem = s.writeJSON()
}

// remove takes back what was saved for something that was not done.
func (s *save) remove() {
	_ = os.Remove(s.path)
	_ = os.Remove(strings.TrimSuffix(s.path, ".json") + ".csv")
}

// writeDurably replaces a file as a whole: after a crash there is the old one or the new one.
func writeDurably(path string, text []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(text)
	err = errors.Join(err, f.Sync(), f.Close())
	if err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	syncDir(filepath.Dir(path))
	return nil
}

// SavedResets lists the resets of this cluster that were saved, the newest first; of one group, or of all when it is
// empty. Files that cannot be read are left out, and the error is of the last of them.
func (a *Admin) SavedResets(ctx context.Context, group string) ([]SavedReset, error) {
	entries, err := os.ReadDir(a.resets())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	id := a.clusterID(ctx)
	var out []SavedReset
	for _, e := range entries {
		if filepath.Ext(e.Name()) != ".json" || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		s, readErr := readSaved(filepath.Join(a.resets(), e.Name()))
		if readErr != nil {
			err = readErr
			continue
		}
		if (group == "" || s.Group == group) && (id == "" || s.ClusterID == "" || s.ClusterID == id) {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b SavedReset) int { return b.At.Compare(a.At) })
	return out, err
}

func readSaved(path string) (SavedReset, error) {
	s := SavedReset{Path: path}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.NewDecoder(bytes.NewReader(text)).Decode(&s)
	}
	if err != nil {
		return s, fmt.Errorf("the saved offsets in %s cannot be read: %w", path, err)
	}
	return s, nil
}

// clusterID is the id of the cluster, empty when it is not told.
func (a *Admin) clusterID(ctx context.Context) string {
	client, err := a.open()
	if err != nil {
		return ""
	}
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return ""
	}
	return deref(resp.ClusterID)
}
