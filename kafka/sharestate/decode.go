package sharestate

import (
	"encoding/binary"
	"errors"
	"fmt"

	"flightdeck/model"
)

// Topic is the name of the internal topic.
const Topic = "__share_group_state"

// The ways in which a record can not be understood; errors.Is tells them apart.
var (
	// ErrTruncated means that the bytes end too early.
	ErrTruncated = errors.New("record ends too early")
	// ErrTrailing means that bytes are left over.
	ErrTrailing = errors.New("bytes left over")
	// ErrType means a key of a type other than snapshot and update.
	ErrType = errors.New("unknown type of key")
	// ErrVersion means a value of a version that is not known.
	ErrVersion = errors.New("unknown version of value")
	// ErrMalformed means a value that contradicts the format.
	ErrMalformed = errors.New("malformed")
)

const (
	typeSnapshot = 0
	typeUpdate   = 1

	valueVersion = 0
	tagComplete  = 0

	batchSize = 8 + 8 + 1 + 2 // without its tags
)

// Identity returns the part of a key that names the share-partition: it is the same for snapshots,
// updates and tombstones, so it can serve as a map key without decoding. It is nil for a key too short
// to have one.
func Identity(key []byte) []byte {
	if len(key) < 2 {
		return nil
	}
	return key[2:]
}

// KeyKind is the kind of write that a key announces, if its record has a value. It looks at the key's type
// alone.
func KeyKind(key []byte) (model.WriteKind, error) {
	r := reader{b: key}
	switch typ := r.int16(); {
	case r.err != nil:
		return 0, fmt.Errorf("key: %w", r.err)
	case typ == typeSnapshot:
		return model.WriteSnapshot, nil
	case typ == typeUpdate:
		return model.WriteUpdate, nil
	default:
		return 0, fmt.Errorf("%w: %d", ErrType, typ)
	}
}

// DecodeKey reads a key. The kind is that of a record with a value.
func DecodeKey(key []byte) (model.SharePartitionKey, model.WriteKind, error) {
	var k model.SharePartitionKey
	kind, err := KeyKind(key)
	if err != nil {
		return k, 0, err
	}
	r := reader{b: Identity(key)}
	if n := r.int16(); n < 0 {
		r.fail(fmt.Errorf("%w: group of length %d", ErrMalformed, n))
	} else {
		k.Group = string(r.take(int(n)))
	}
	copy(k.TopicID[:], r.take(len(k.TopicID)))
	k.Partition = r.int32()
	if err := r.end(); err != nil {
		return model.SharePartitionKey{}, 0, fmt.Errorf("key: %w", err)
	}
	return k, kind, nil
}

// Decode reads a record. value is nil for a tombstone.
func Decode(key, value []byte) (model.SharePartitionKey, model.ShareWrite, error) {
	k, kind, err := DecodeKey(key)
	if err != nil {
		return k, model.ShareWrite{}, err
	}
	var w model.ShareWrite
	err = DecodeValue(kind, value, &w)
	return k, w, err
}

// DecodeValue reads a value into w and reuses the memory of w.Batches. kind is that of the key; a nil
// value of a snapshot is a tombstone. After an error w is not to be used.
func DecodeValue(kind model.WriteKind, value []byte, w *model.ShareWrite) error {
	*w = model.ShareWrite{Kind: kind, Batches: w.Batches[:0]}
	if value == nil {
		if kind != model.WriteSnapshot {
			return fmt.Errorf("%s: %w: no value", kind, ErrMalformed)
		}
		w.Kind = model.WriteTombstone
		return nil
	}
	r := reader{b: value}
	if v := r.int16(); r.err == nil && v != valueVersion {
		return fmt.Errorf("%s: %w: %d", kind, ErrVersion, v)
	}
	w.SnapshotEpoch = r.int32()
	if kind == model.WriteSnapshot {
		w.StateEpoch = r.int32()
	}
	w.LeaderEpoch = r.int32()
	w.Start = r.int64()
	if kind == model.WriteSnapshot {
		w.CreatedMs = r.int64()
		w.WrittenMs = r.int64()
	}
	r.batches(w)
	r.tags(func(tag uint64, b []byte) {
		if tag != tagComplete {
			return
		}
		t := reader{b: b}
		w.Complete = model.Some(t.int32())
		r.fail(t.end())
	})
	if err := r.end(); err != nil {
		return fmt.Errorf("%s: %w", kind, err)
	}
	return nil
}

func (r *reader) batches(w *model.ShareWrite) {
	n := r.uvarint()
	if r.err != nil {
		return
	}
	if n == 0 {
		r.fail(fmt.Errorf("%w: no batch list", ErrMalformed))
		return
	}
	n--
	// A batch takes at least its fixed part and the count of its tags, so a wrong count can not make
	// us allocate more than the record is long.
	if n > uint64(len(r.b)/(batchSize+1)) {
		r.fail(ErrTruncated)
		return
	}
	if uint64(cap(w.Batches)) < n {
		w.Batches = make([]model.StateBatch, 0, n)
	}
	for range n {
		b := r.take(batchSize)
		if b == nil {
			return
		}
		batch := model.StateBatch{
			First: int64(binary.BigEndian.Uint64(b)),
			Last:  int64(binary.BigEndian.Uint64(b[8:])),
			State: model.RecordState(b[16]),
			Count: int16(binary.BigEndian.Uint16(b[17:])),
		}
		if batch.First < 0 || batch.Last < batch.First {
			r.fail(fmt.Errorf("%w: batch from %d to %d", ErrMalformed, batch.First, batch.Last))
			return
		}
		w.Batches = append(w.Batches, batch)
		r.tags(nil)
	}
}

// reader reads from the front of b. After the first error it returns zeros.
type reader struct {
	b   []byte
	err error
}

func (r *reader) fail(err error) {
	if r.err == nil && err != nil {
		r.err, r.b = err, nil
	}
}

// end is the first error, or [ErrTrailing] when something is left.
func (r *reader) end() error {
	if r.err == nil && len(r.b) > 0 {
		r.err = fmt.Errorf("%w: %d", ErrTrailing, len(r.b))
	}
	return r.err
}

func (r *reader) take(n int) []byte {
	if r.err != nil || n > len(r.b) {
		r.fail(ErrTruncated)
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *reader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *reader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// uvarint reads an unsigned varint of at most 32 bits, Kafka's limit.
func (r *reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	switch {
	case r.err != nil:
	case n == 0:
		r.fail(ErrTruncated)
	case n < 0 || v > 1<<32-1:
		r.fail(fmt.Errorf("%w: varint out of range", ErrMalformed))
	default:
		r.b = r.b[n:]
		return v
	}
	return 0
}

// tags reads a tag section (KIP-482) and calls visit for each tag.
func (r *reader) tags(visit func(tag uint64, b []byte)) {
	for n := r.uvarint(); n > 0 && r.err == nil; n-- {
		tag := r.uvarint()
		size := r.uvarint()
		if size > uint64(len(r.b)) {
			r.fail(ErrTruncated)
			return
		}
		b := r.take(int(size))
		if visit != nil && r.err == nil {
			visit(tag, b)
		}
	}
}
