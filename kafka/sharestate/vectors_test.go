package sharestate_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"flightdeck/model"
)

// vector is a record of the state topic captured from a real broker, with what Kafka's own decoder made of it.
type vector struct {
	Step      string
	Partition int32
	Offset    int64
	Timestamp int64   `json:"record_timestamp"`
	KeyHex    string  `json:"key_hex"`
	ValueHex  *string `json:"value_hex"`
	Decoded   struct {
		Key struct {
			GroupID   string `json:"groupId"`
			Partition int32
			TopicID   string `json:"topicId"`
			Type      int
		}
		Value *struct {
			Version                                int
			SnapshotEpoch, StateEpoch, LeaderEpoch int32
			StartOffset                            int64
			CreateTimestamp, WriteTimestamp        int64
			DeliveryCompleteCount                  int32
			DccPresent                             bool
			StateBatches                           []struct {
				FirstOffset, LastOffset int64
				DeliveryState           int8
				DeliveryCount           int16
			}
		}
	}
}

func (v *vector) bytes(t *testing.T) (key, value []byte) {
	t.Helper()
	key, err := hex.DecodeString(v.KeyHex)
	if err != nil {
		t.Fatal(err)
	}
	if v.ValueHex == nil {
		return key, nil
	}
	if value, err = hex.DecodeString(*v.ValueHex); err != nil {
		t.Fatal(err)
	}
	return key, value
}

// want is what Kafka's own decoder made of the record, in the model's words.
func (v *vector) want(t *testing.T) (model.SharePartitionKey, model.ShareWrite) {
	t.Helper()
	k := model.SharePartitionKey{Group: v.Decoded.Key.GroupID, Partition: v.Decoded.Key.Partition}
	id, err := base64.RawURLEncoding.DecodeString(v.Decoded.Key.TopicID)
	if err != nil || copy(k.TopicID[:], id) != len(k.TopicID) {
		t.Fatalf("topic id %q: %v", v.Decoded.Key.TopicID, err)
	}
	d := v.Decoded.Value
	if d == nil {
		return k, model.ShareWrite{Kind: model.WriteTombstone}
	}
	w := model.ShareWrite{
		Kind: model.WriteUpdate, SnapshotEpoch: d.SnapshotEpoch, LeaderEpoch: d.LeaderEpoch, Start: d.StartOffset,
	}
	if v.Decoded.Key.Type == 0 {
		w.Kind, w.StateEpoch, w.CreatedMs, w.WrittenMs = model.WriteSnapshot, d.StateEpoch, d.CreateTimestamp, d.WriteTimestamp
	}
	if d.DccPresent {
		w.Complete = model.Some(d.DeliveryCompleteCount)
	}
	for _, b := range d.StateBatches {
		w.Batches = append(w.Batches, model.StateBatch{
			First: b.FirstOffset, Last: b.LastOffset, State: model.RecordState(b.DeliveryState), Count: b.DeliveryCount,
		})
	}
	return k, w
}

// vectors are the captured records by file.
func vectors(t testing.TB) map[string][]vector {
	t.Helper()
	files, err := filepath.Glob("testdata/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	all := make(map[string][]vector)
	for _, f := range files {
		b, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var v []vector
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		all[filepath.Base(f)] = v
	}
	return all
}
