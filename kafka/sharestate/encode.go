package sharestate

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"strconv"
	"unicode/utf16"

	"flightdeck/model"
)

// AppendKey appends the key of a write of the given kind to b. A tombstone has the key of a snapshot. The group
// is at most 32,767 bytes long.
func AppendKey(b []byte, k model.SharePartitionKey, kind model.WriteKind) []byte {
	typ := uint16(typeSnapshot)
	if kind == model.WriteUpdate {
		typ = typeUpdate
	}
	b = binary.BigEndian.AppendUint16(b, typ)
	b = binary.BigEndian.AppendUint16(b, uint16(len(k.Group)))
	b = append(b, k.Group...)
	b = append(b, k.TopicID[:]...)
	return binary.BigEndian.AppendUint32(b, uint32(k.Partition))
}

// Encode returns key and value of a write as a broker writes them. The value of a tombstone is nil.
func Encode(k model.SharePartitionKey, w *model.ShareWrite) (key, value []byte) {
	key = AppendKey(nil, k, w.Kind)
	if w.Kind == model.WriteTombstone {
		return key, nil
	}
	b := make([]byte, 0, 48+len(w.Batches)*(batchSize+1))
	b = binary.BigEndian.AppendUint16(b, valueVersion)
	b = binary.BigEndian.AppendUint32(b, uint32(w.SnapshotEpoch))
	if w.Kind == model.WriteSnapshot {
		b = binary.BigEndian.AppendUint32(b, uint32(w.StateEpoch))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(w.LeaderEpoch))
	b = binary.BigEndian.AppendUint64(b, uint64(w.Start))
	if w.Kind == model.WriteSnapshot {
		b = binary.BigEndian.AppendUint64(b, uint64(w.CreatedMs))
		b = binary.BigEndian.AppendUint64(b, uint64(w.WrittenMs))
	}
	b = binary.AppendUvarint(b, uint64(len(w.Batches))+1)
	for _, batch := range w.Batches {
		b = binary.BigEndian.AppendUint64(b, uint64(batch.First))
		b = binary.BigEndian.AppendUint64(b, uint64(batch.Last))
		b = append(b, byte(batch.State))
		b = binary.BigEndian.AppendUint16(b, uint16(batch.Count))
		b = append(b, 0) // no tags
	}
	complete, known := w.Complete.Get()
	if !known {
		return key, append(b, 0)
	}
	b = append(b, 1, tagComplete, 4)
	return key, binary.BigEndian.AppendUint32(b, uint32(complete))
}

// Partition is the partition of the state topic, out of n, that holds the state of a share-partition:
// Java's String.hashCode of "group:topicId:partition", with the topic id in URL-safe base64 without padding.
func Partition(k model.SharePartitionKey, n int32) int32 {
	if n <= 0 {
		return 0
	}
	name := k.Group + ":" + base64.RawURLEncoding.EncodeToString(k.TopicID[:]) + ":" + strconv.Itoa(int(k.Partition))
	h := javaHash(name)
	if h == math.MinInt32 {
		h = 0 // as Kafka's Utils.abs
	}
	return max(h, -h) % n
}

// javaHash is Java's String.hashCode: over UTF-16 code units, in 32 bits that wrap.
func javaHash(s string) int32 {
	var h int32
	for _, r := range s {
		if r1, r2 := utf16.EncodeRune(r); r1 != '\uFFFD' {
			h = 31*(31*h+r1) + r2
			continue
		}
		h = 31*h + r
	}
	return h
}
