// Package sharestate reads and writes the records of __share_group_state, the topic in which Kafka keeps
// what became of the records of share groups (KIP-932).
//
// A record belongs to a share-partition. Its key says which one and whether the value is a snapshot or an
// update; a snapshot's key without a value is a tombstone. Numbers are big endian:
//
//	key    int16 type (0 snapshot, 1 update), int16 length and UTF-8 of the group, 16 bytes topic id, int32 partition
//	value  int16 version 0, then
//	       snapshot  int32 snapshot epoch, int32 state epoch, int32 leader epoch, int64 start offset,
//	                 int64 created, int64 written (ms), batches, tags
//	       update    int32 snapshot epoch, int32 leader epoch, int64 start offset (-1 unchanged), batches, tags
//	batches uvarint n+1, then n times int64 first, int64 last, int8 state, int16 delivery count, tags
//	tags   uvarint n, then n times uvarint tag, uvarint size, bytes; tag 0 of a value is the
//	       int32 delivery complete count (Kafka 4.2 and later)
//
// What this package does not understand is an error and never a guess: the caller reports that record and
// goes on with the next. Two things are open by design and no errors: state codes without a name, and tags
// without a meaning, which are skipped.
package sharestate
