package model

// SharePartitionKey identifies a share-partition: a group on a partition of a topic. It holds the topic's id
// and not its name, so a topic that was deleted and made again is another one.
type SharePartitionKey struct {
	Group     string
	TopicID   TopicID
	Partition int32
}

// StateBatch is a run of records, First to Last inclusive, that share state and delivery count.
type StateBatch struct {
	First, Last int64
	State       RecordState
	// Count is how often the records were delivered: 1 after the first acquire. Brokers before 4.3 take
	// the attempt back when a session closes, so that 0 is normal there.
	Count int16
}

// Len is the number of offsets in the batch.
func (b StateBatch) Len() int64 { return b.Last - b.First + 1 }

// WriteKind is the kind of a record in __share_group_state.
type WriteKind uint8

const (
	// WriteSnapshot replaces everything that was written for the share-partition before.
	WriteSnapshot WriteKind = iota
	// WriteUpdate changes what it mentions.
	WriteUpdate
	// WriteTombstone removes the share-partition: its offsets, its group or its topic were deleted.
	WriteTombstone
)

var writeKindNames = [...]string{"snapshot", "update", "tombstone"}

// String is the kind in lower case.
func (k WriteKind) String() string {
	if int(k) < len(writeKindNames) {
		return writeKindNames[k]
	}
	return "unknown"
}

// StartUnchanged is [ShareWrite.Start] of an update that does not move the start offset, and of a snapshot
// written before any outcome was recorded.
const StartUnchanged int64 = -1

// ShareWrite is the content of one record of __share_group_state (KIP-932, ShareSnapshotValue and
// ShareUpdateValue). A tombstone has nothing but its kind.
type ShareWrite struct {
	Kind WriteKind
	// SnapshotEpoch counts the snapshots since the state was made; updates carry that of the snapshot they
	// belong to.
	SnapshotEpoch int32
	// StateEpoch rises with each reset and each initialisation of the state. Snapshots only.
	StateEpoch int32
	// LeaderEpoch is the epoch of the partition's leader that wrote it; 0 after a reset.
	LeaderEpoch int32
	// Start is the start offset (SPSO). It trails by one write; see [StartUnchanged] for -1.
	Start int64
	// Complete is the delivery complete count: the finished offsets at or above Start (Kafka 4.2 and later).
	Complete Opt[int32]
	// CreatedMs and WrittenMs are the broker's times in milliseconds since 1970. Snapshots only.
	CreatedMs, WrittenMs int64
	// Batches ascend and do not overlap in what brokers write; the fold does not rely on it.
	Batches []StateBatch
}
