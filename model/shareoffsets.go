package model

import "time"

// ShareOffsets are the positions of share groups, read apart from the snapshots
// (DescribeShareGroupOffsets can stall a real broker for seconds; see docs/share-groups.md).
// It is immutable once published.
type ShareOffsets struct {
	// At is when the last answer came.
	At time.Time
	// Groups holds the answers by group id.
	Groups map[string]ShareGroupOffsets
}

// ShareGroupOffsets are the positions of one share group, or why there are none.
type ShareGroupOffsets struct {
	// At is when they were read.
	At time.Time
	// Partitions are sorted by topic and number, with Position, Start, End and Lag as far as known. Lag is the broker's
	// (4.2 and later); unknown for the broker's -1.
	Partitions []GroupPartition
	// Problem is set when they could not be read.
	Problem *Problem
}

// WithShareOffsets returns a snapshot equal to s whose share groups have the positions of o. Groups
// that o does not mention stay as they are. s itself is not changed.
func (s *Snapshot) WithShareOffsets(o ShareOffsets) *Snapshot {
	if len(o.Groups) == 0 || len(s.ShareGroups) == 0 {
		return s
	}
	next := *s
	next.ShareGroups = append([]Group(nil), s.ShareGroups...)
	for i := range next.ShareGroups {
		g := &next.ShareGroups[i]
		read, ok := o.Groups[g.ID]
		if !ok {
			continue
		}
		g.OffsetsAt = read.At
		g.Partitions = read.Partitions
		if read.Problem != nil {
			g.Problems = append(append([]Problem(nil), g.Problems...), *read.Problem)
			next.Problems = append(append([]Problem(nil), next.Problems...), *read.Problem)
		}
	}
	return &next
}
