package kafka

import (
	"context"

	"flightdeck/model"
)

// ReadShareRecords reads what the state topic holds about some share-partitions now, as a [Follower] does. When ctx
// ends before everything was read, what was not is marked as not caught up.
func ReadShareRecords(ctx context.Context, c *Connection, keys []model.SharePartitionKey) *model.ShareRecords {
	f := NewFollower(c, FollowOptions{})
	defer f.Close()
	f.Watch(keys, keys)
	last := new(model.ShareRecords)
	for !complete(last, keys) {
		next, err := f.Next(ctx)
		if err != nil {
			break
		}
		last = next
	}
	return last
}

// complete reports whether everything was read, or can not be read.
func complete(r *model.ShareRecords, keys []model.SharePartitionKey) bool {
	if r.Problem != nil {
		return true
	}
	for _, key := range keys {
		if p := r.Partitions[key]; p == nil || !p.CaughtUp && p.Unfollowed == "" {
			return false
		}
	}
	return true
}
