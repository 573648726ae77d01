package sharestate_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

func TestVectors(t *testing.T) {
	for file, all := range vectors(t) {
		for i := range all {
			v := &all[i]
			t.Run(fmt.Sprintf("%s/%s/%d-%d", file, v.Step, v.Partition, v.Offset), func(t *testing.T) {
				key, value := v.bytes(t)
				k, w, err := sharestate.Decode(key, value)
				if err != nil {
					t.Fatal(err)
				}
				wantKey, want := v.want(t)
				if len(w.Batches) == 0 {
					w.Batches = nil
				}
				if k != wantKey || !reflect.DeepEqual(w, want) {
					t.Errorf("decoded %+v %+v\nwant    %+v %+v", k, w, wantKey, want)
				}
				key2, value2 := sharestate.Encode(k, &w)
				if !bytes.Equal(key2, key) || !bytes.Equal(value2, value) || (value2 == nil) != (value == nil) {
					t.Errorf("encoded again %x %x\nwant          %x %x", key2, value2, key, value)
				}
				if p := sharestate.Partition(k, 50); p != v.Partition {
					t.Errorf("partition %d, want %d", p, v.Partition)
				}
			})
		}
	}
}

// The hash codes were computed by Java.
func TestPartition(t *testing.T) {
	id := model.TopicID{0xf0, 0xfe, 0x4b, 0x05, 0xf0, 0x79, 0x48, 0x2e, 0xb9, 0x7a, 0xda, 0x1e, 0x88, 0x3a, 0x55, 0x12}
	for _, c := range []struct {
		name string
		key  model.SharePartitionKey
		n    int32
		want int32
	}{
		{"colons in the group", model.SharePartitionKey{Group: "g:with:colon", Partition: 7}, 50, 1},
		{"two bytes in UTF-8", model.SharePartitionKey{Group: "Grüße", TopicID: id}, 50, 10},
		{"surrogate pair in UTF-16", model.SharePartitionKey{Group: "🚦x", TopicID: id, Partition: 12}, 50, 11},
		{"one partition", model.SharePartitionKey{Group: "g"}, 1, 0},
		{"no partitions", model.SharePartitionKey{Group: "g"}, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := sharestate.Partition(c.key, c.n); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}

const (
	updateKey   = "0001000967312d3136313030337740835b107543c7ba892a41efd8d35700000000"
	snapshotKey = "0000000967312d3136313030337740835b107543c7ba892a41efd8d35700000000"
	update      = "0000000000000000000000000000000000000200000000000000000000000000000000020001"
)

func TestDecodeOpen(t *testing.T) {
	for _, c := range []struct {
		name, key, value string
		want             model.ShareWrite
	}{
		{"complete count", updateKey, update + "00" + "01000400000001", model.ShareWrite{
			Kind: model.WriteUpdate, Complete: model.Some[int32](1), Batches: []model.StateBatch{{State: 2, Count: 1}},
		}},
		{"unknown tags are skipped", updateKey, update + "01" + "0902ffff" + "02" + "000400000001" + "0700", model.ShareWrite{
			Kind: model.WriteUpdate, Complete: model.Some[int32](1), Batches: []model.StateBatch{{State: 2, Count: 1}},
		}},
		{"unknown state is kept", updateKey, "0000" + "00000001" + "00000002" + "0000000000000003" + "02" +
			"0000000000000005" + "0000000000000006" + "07" + "0003" + "00" + "00", model.ShareWrite{
			Kind: model.WriteUpdate, SnapshotEpoch: 1, LeaderEpoch: 2, Start: 3, Batches: []model.StateBatch{{First: 5, Last: 6, State: 7, Count: 3}},
		}},
		{"no batches", updateKey, "0000" + "00000001" + "00000002" + "ffffffffffffffff" + "01" + "00", model.ShareWrite{
			Kind: model.WriteUpdate, SnapshotEpoch: 1, LeaderEpoch: 2, Start: -1,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, w, err := sharestate.Decode(unhex(t, c.key), unhex(t, c.value))
			if err != nil {
				t.Fatal(err)
			}
			if len(w.Batches) == 0 {
				w.Batches = nil
			}
			if !reflect.DeepEqual(w, c.want) {
				t.Errorf("got  %+v\nwant %+v", w, c.want)
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	for _, c := range []struct {
		name, key, value string
		want             error
	}{
		{"empty key", "", update, sharestate.ErrTruncated},
		{"type of key", "0002" + updateKey[4:], update, sharestate.ErrType},
		{"negative type of key", "ffff" + updateKey[4:], update, sharestate.ErrType},
		{"short key", updateKey[:40], update, sharestate.ErrTruncated},
		{"group of negative length", "0001ffff", update, sharestate.ErrMalformed},
		{"group longer than the key", "00010009" + "6731", update, sharestate.ErrTruncated},
		{"long key", updateKey + "00", update, sharestate.ErrTrailing},
		{"empty value", updateKey, "", sharestate.ErrTruncated},
		{"version", updateKey, "0001" + update[4:], sharestate.ErrVersion},
		{"value without its tags", updateKey, update, sharestate.ErrTruncated},
		{"snapshot cut in its times", snapshotKey, "0000000000000000000200000000ffffffffffffffff000001a2", sharestate.ErrTruncated},
		{"trailing byte", updateKey, update + "0000" + "00", sharestate.ErrTrailing},
		{"no batch list", updateKey, "0000" + "00000001" + "00000002" + "ffffffffffffffff" + "00" + "00", sharestate.ErrMalformed},
		{"more batches than bytes", updateKey, "0000" + "00000001" + "00000002" + "ffffffffffffffff" + "ffffffff0f" + "00", sharestate.ErrTruncated},
		{"varint of 64 bits", updateKey, "0000" + "00000001" + "00000002" + "ffffffffffffffff" + "ffffffffffffffff7f", sharestate.ErrMalformed},
		{"batch that ends before it begins", updateKey, "0000" + "00000001" + "00000002" + "0000000000000000" + "02" +
			"0000000000000005" + "0000000000000004" + "02" + "0001" + "00" + "00", sharestate.ErrMalformed},
		{"complete count too short", updateKey, update + "00" + "0100020001", sharestate.ErrTruncated},
		{"complete count too long", updateKey, update + "00" + "0100050000000001", sharestate.ErrTrailing},
		{"tag longer than the value", updateKey, update + "00" + "01090400", sharestate.ErrTruncated},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := sharestate.Decode(unhex(t, c.key), unhex(t, c.value))
			if !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
	t.Run("update without a value", func(t *testing.T) {
		if _, _, err := sharestate.Decode(unhex(t, updateKey), nil); !errors.Is(err, sharestate.ErrMalformed) {
			t.Errorf("got %v", err)
		}
	})
}

func TestIdentity(t *testing.T) {
	if s, u := sharestate.Identity(unhex(t, snapshotKey)), sharestate.Identity(unhex(t, updateKey)); !bytes.Equal(s, u) {
		t.Errorf("snapshot %x and update %x of one share-partition differ", s, u)
	}
	if b := sharestate.Identity([]byte{0}); b != nil {
		t.Errorf("got %x for a key of one byte", b)
	}
}

func TestDecodeValueReusesMemory(t *testing.T) {
	value := unhex(t, update+"00"+"01000400000001")
	var w model.ShareWrite
	n := testing.AllocsPerRun(100, func() {
		if err := sharestate.DecodeValue(model.WriteUpdate, value, &w); err != nil {
			t.Fatal(err)
		}
	})
	if n > 0 {
		t.Errorf("%v allocations a record", n)
	}
}

func FuzzDecode(f *testing.F) {
	for _, all := range vectors(f) {
		for i := range all {
			v := &all[i]
			key, _ := hex.DecodeString(v.KeyHex)
			var value []byte
			if v.ValueHex != nil {
				value, _ = hex.DecodeString(*v.ValueHex)
			}
			f.Add(key, value)
		}
	}
	f.Fuzz(func(t *testing.T, key, value []byte) {
		k, w, err := sharestate.Decode(key, value)
		if err != nil {
			return
		}
		// What was understood survives being written and read again.
		key2, value2 := sharestate.Encode(k, &w)
		k2, w2, err := sharestate.Decode(key2, value2)
		if err != nil {
			t.Fatalf("%+v does not decode after it was encoded: %v", w, err)
		}
		if !bytes.Equal(key, key2) || k != k2 || !reflect.DeepEqual(w, w2) {
			t.Fatalf("%+v %+v became %+v %+v", k, w, k2, w2)
		}
		sharestate.Partition(k, 50)
	})
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
