package model

import "time"

// ShareRecords is what the state topic says about the share-partitions that are watched. It is immutable once
// published.
type ShareRecords struct {
	// At is when it was put together, by flightdeck's clock.
	At time.Time
	// Partitions holds one for every share-partition that is watched.
	Partitions map[SharePartitionKey]*SharePartitionRecords
	// Changed are those that are not the same as in the value before.
	Changed []SharePartitionKey
	// Problem says why the state topic can not be read at all; nil when it can.
	Problem *Problem
}

// SharePartitionRecords is what the state topic says about one share-partition.
type SharePartitionRecords struct {
	Key SharePartitionKey
	// History holds the present state and the way to it.
	History ShareHistory
	// CaughtUp is true once everything was read that the topic held when reading began: only then
	// is "nothing recorded" a fact.
	CaughtUp bool
	// PrunedBefore is the offset in the state topic before which everything was pruned by the brokers, so that older
	// history is not to be had; 0 when nothing was.
	PrunedBefore int64
	// Unfollowed says why the share-partition is not followed; empty when it is.
	Unfollowed string
	// Skipped counts records of the share-partition that could not be understood, and SkippedText says why the
	// last one was not. The state may be wrong then.
	Skipped     int
	SkippedText string
}
