package model

import (
	"slices"
	"time"
)

// WithShareRecords returns a snapshot equal to s that knows the recorded state of share-partitions and the settings of
// share groups, by group id. Where a broker does not tell the lag of a share-partition (before Kafka 4.2), it is
// derived from the recorded state. s itself is not changed, and what is given must not be changed after.
func (s *Snapshot) WithShareRecords(r *ShareRecords, configs map[string]*GroupConfigs) *Snapshot {
	if r == nil && len(configs) == 0 || len(s.ShareGroups) == 0 {
		return s
	}
	next := *s
	next.Records = r
	next.ShareGroups = slices.Clone(s.ShareGroups)
	for i := range next.ShareGroups {
		g := &next.ShareGroups[i]
		if c := configs[g.ID]; c != nil {
			g.Configs = c
		}
		next.deriveLag(g)
	}
	return &next
}

// deriveLag fills in the lag of share-partitions where the broker has no figure to offer.
func (s *Snapshot) deriveLag(g *Group) {
	shared := true // with the snapshot before
	for i := range g.Partitions {
		p := &g.Partitions[i]
		r := s.ShareRecordsOf(g.ID, p.Topic, p.Number)
		if p.Lag.Known() || r == nil || !r.CaughtUp {
			continue
		}
		state := r.History.Now()
		// A broker that keeps the complete count knows the lag, and has its reasons when it does not tell it.
		lag := state.DerivedLag(p.End)
		if !lag.Known() || state.Complete.Known() || state.Partial {
			continue
		}
		if shared {
			g.Partitions, shared = slices.Clone(g.Partitions), false
			p = &g.Partitions[i]
		}
		p.Lag, p.LagDerived = lag, true
	}
}

// ShareKey is the key of a share-partition; ok is false when the topic is not known.
func (s *Snapshot) ShareKey(group, topic string, partition int32) (key SharePartitionKey, ok bool) {
	t, ok := s.Topic(topic)
	if !ok || t.ID == (TopicID{}) {
		return SharePartitionKey{}, false
	}
	return SharePartitionKey{Group: group, TopicID: t.ID, Partition: partition}, true
}

// ShareRecordsOf is what is recorded of a share-partition; nil when that is not known.
func (s *Snapshot) ShareRecordsOf(group, topic string, partition int32) *SharePartitionRecords {
	if s.Records == nil {
		return nil
	}
	key, ok := s.ShareKey(group, topic, partition)
	if !ok {
		return nil
	}
	return s.Records.Partitions[key]
}

// ShareKeys are the keys of all share-partitions of the groups for which want is true, in the order of the
// snapshot. A nil want is all.
func (s *Snapshot) ShareKeys(want func(group string) bool) []SharePartitionKey {
	var keys []SharePartitionKey
	for i := range s.ShareGroups {
		g := &s.ShareGroups[i]
		if want != nil && !want(g.ID) {
			continue
		}
		for k := range g.Partitions {
			p := &g.Partitions[k]
			if key, ok := s.ShareKey(g.ID, p.Topic, p.Number); ok && !p.Deleted {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// shareFacts are what the verdicts on the records of a share group are drawn from.
func (s *Snapshot) shareFacts(g *Group) *ShareGroupFacts {
	f := &ShareGroupFacts{Now: s.At, Version: s.Cluster.Version, Configs: g.Configs}
	for i := range g.Partitions {
		p := &g.Partitions[i]
		if r := s.ShareRecordsOf(g.ID, p.Topic, p.Number); r != nil {
			f.Partitions = append(f.Partitions, SharePartitionFacts{Topic: p.Topic, Number: p.Number, Records: r, LogStart: p.Start, End: p.End})
		}
	}
	return f
}

// ShareRecent is how far back [ShareSum] counts what happened to records.
const ShareRecent = recentRecords

// ShareSum sums up what is recorded of one share-partition or of several. What is not known is left out, and then Why
// says so.
type ShareSum struct {
	// Used is how many offsets of the window are in use, as far as outcomes tell: the most of any share-partition.
	Used Int
	// Worst is the highest delivery count of an unfinished record.
	Worst Int
	// Released and Archived count the records that went back and those that were given up on, since [ShareRecent].
	Released, Archived Int
	// Why says why a share-partition is not known; empty when all are.
	Why string
}

// Sum sums the share-partitions up; r may be nil.
func (r *ShareRecords) Sum(keys []SharePartitionKey, now time.Time) ShareSum {
	var sum ShareSum
	if r == nil {
		sum.Why = "the state topic is not followed"
		return sum
	}
	for _, key := range keys {
		sum.add(r.Partitions[key].Sum(now))
	}
	if r.Problem != nil {
		sum.Why = r.Problem.Text
	}
	return sum
}

// Unknown says why the state of the share-partition is not known; empty when it is. r may be nil.
func (r *SharePartitionRecords) Unknown() string {
	switch {
	case r == nil:
		return "the state topic is not read for it yet"
	case r.Unfollowed != "":
		return r.Unfollowed
	case !r.CaughtUp:
		return "reading the state topic"
	}
	return ""
}

// Sum sums one share-partition up; r may be nil.
func (r *SharePartitionRecords) Sum(now time.Time) ShareSum {
	if why := r.Unknown(); why != "" {
		return ShareSum{Why: why}
	}
	var sum ShareSum
	state := r.History.Now()
	if start, ok := state.Effective().Get(); ok {
		sum.Used = Some(state.Highest().Or(start-1) + 1 - start)
	}
	for _, b := range state.Batches {
		if !b.State.Terminal() {
			sum.Worst = Some(max(sum.Worst.Or(0), int64(b.Count)))
		}
	}
	tally, _, _ := r.History.Tally(now.Add(-ShareRecent))
	sum.Released, sum.Archived = Some(tally.Released), Some(tally.Archived)
	return sum
}

func (s *ShareSum) add(o ShareSum) {
	larger := func(a, b Int) Int {
		if !b.Known() || a.Known() && a.Or(0) > b.Or(0) {
			return a
		}
		return b
	}
	plus := func(a, b Int) Int {
		if !b.Known() {
			return a
		}
		return Some(a.Or(0) + b.Or(0))
	}
	s.Used, s.Worst = larger(s.Used, o.Used), larger(s.Worst, o.Worst)
	s.Released, s.Archived = plus(s.Released, o.Released), plus(s.Archived, o.Archived)
	if o.Why != "" {
		s.Why = o.Why
	}
}

// Window is what is known of the records of a share-partition; ok is false when nothing is, and then
// [Snapshot.UnknownWindows] says why.
func (s *Snapshot) Window(group string, p *GroupPartition) (w ShareWindow, ok bool) {
	r := s.ShareRecordsOf(group, p.Topic, p.Number)
	if s.Records == nil || s.Records.Problem != nil || r.Unknown() != "" {
		return ShareWindow{}, false
	}
	return InferWindow(r.History.Now(), p.Start, p.End, nil)
}

// UnknownWindows says of which share-partitions the records are not known, and why.
func (s *Snapshot) UnknownWindows() []Problem {
	if s.Records == nil {
		return nil
	}
	if s.Records.Problem != nil {
		return []Problem{*s.Records.Problem}
	}
	var problems []Problem
	for i := range s.ShareGroups {
		g := &s.ShareGroups[i]
		for k := range g.Partitions {
			p := &g.Partitions[k]
			if _, ok := s.Window(g.ID, p); ok {
				continue
			}
			why, code := s.ShareRecordsOf(g.ID, p.Topic, p.Number).Unknown(), "window_unknown"
			if why == "" {
				why, code = NothingRecorded, "nothing_recorded"
			}
			problems = append(problems, Problem{Scope: ScopeShare, Name: g.ID, Code: code, Text: "Records of " + g.ID + " on " + p.name() + ": " + why + "."})
		}
	}
	return problems
}
