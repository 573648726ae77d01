package demo

import (
	"maps"
	"slices"

	"flightdeck/model"
)

// coordinator is what the share coordinator has recorded of a share-partition.
type coordinator struct {
	start int64
	// outcomes are what is recorded of records from start on: never acquired.
	outcomes      map[int64]model.Delivery
	snapshotEpoch int32
	stateEpoch    int32
	updates       int // since the last snapshot
	created       int64
	exists        bool // neither before the first assignment nor after a deletion
}

// updatesPerSnapshot is Kafka's share.coordinator.snapshot.update.records.per.snapshot.
const updatesPerSnapshot = 500

// initialise begins anew, at a start offset or with [model.StartUnchanged] when it is not known yet. Kafka
// knows the complete count after a reset (0) and not after an assignment.
func (c *coordinator) initialise(start int64, complete model.Opt[int32], ms int64) model.ShareWrite {
	c.stateEpoch++
	if c.exists {
		c.snapshotEpoch++
	} else {
		c.snapshotEpoch = 0
	}
	c.start, c.outcomes, c.updates, c.created, c.exists = start, make(map[int64]model.Delivery), 0, ms, true
	return c.snapshot(complete, ms)
}

// record takes over outcomes from the leader, whose start offset was start before them and who counts complete
// finished records from there on. What it returns is an update, or after enough of them a snapshot.
func (c *coordinator) record(start int64, complete int32, changed map[int64]model.Delivery, ms int64) model.ShareWrite {
	c.start = start
	maps.Copy(c.outcomes, changed)
	maps.DeleteFunc(c.outcomes, func(o int64, _ model.Delivery) bool { return o < start })
	if c.updates++; c.updates >= updatesPerSnapshot {
		return c.replace(complete, ms)
	}
	return model.ShareWrite{
		Kind: model.WriteUpdate, SnapshotEpoch: c.snapshotEpoch, Start: start,
		Complete: model.Some(complete), Batches: runs(changed),
	}
}

// replace says everything again.
func (c *coordinator) replace(complete int32, ms int64) model.ShareWrite {
	c.snapshotEpoch++
	c.updates = 0
	return c.snapshot(model.Some(complete), ms)
}

func (c *coordinator) snapshot(complete model.Opt[int32], ms int64) model.ShareWrite {
	return model.ShareWrite{
		Kind: model.WriteSnapshot, SnapshotEpoch: c.snapshotEpoch, StateEpoch: c.stateEpoch, Start: c.start,
		Complete: complete, CreatedMs: c.created, WrittenMs: ms, Batches: runs(c.outcomes),
	}
}

// drop forgets everything but the state epoch, which goes on rising.
func (c *coordinator) drop() model.ShareWrite {
	c.outcomes, c.exists = nil, false
	return model.ShareWrite{Kind: model.WriteTombstone}
}

// runs joins equal outcomes of neighbours to batches.
func runs(outcomes map[int64]model.Delivery) []model.StateBatch {
	var batches []model.StateBatch
	for _, o := range slices.Sorted(maps.Keys(outcomes)) {
		out := outcomes[o]
		if n := len(batches); n > 0 {
			if b := &batches[n-1]; b.Last+1 == o && b.State == out.State && b.Count == out.Count {
				b.Last = o
				continue
			}
		}
		batches = append(batches, model.StateBatch{First: o, Last: o, State: out.State, Count: out.Count})
	}
	return batches
}
