package model

import (
	"fmt"
	"strings"
	"time"
)

// ShareLoss is what a share group forgets of a share-partition when its start offset is set: the outcomes recorded from its
// effective start offset on. Counted are offsets.
type ShareLoss struct {
	// Accepted and Archived are finished records that come again.
	Accepted, Archived int64
	// Counted are records whose recorded delivery count is forgotten.
	Counted int64
	// done are finished records below the new start offset: they are no loss.
	done int64
}

func (l *ShareLoss) add(m *ShareLoss) {
	l.Accepted += m.Accepted
	l.Archived += m.Archived
	l.Counted += m.Counted
	l.done += m.done
}

// lossOf is what is forgotten when a share-partition that is at now is set to then.
func lossOf(s *ShareState, now Int, then int64) *ShareLoss {
	from, ok := now.Get()
	if !ok {
		return new(ShareLoss)
	}
	l := new(ShareLoss)
	for _, b := range s.Batches {
		first := max(b.First, from)
		if first > b.Last {
			continue
		}
		finished := b.State.Terminal() || b.State == StateArchiving
		if !finished {
			l.Counted += b.Last - first + 1
			continue
		}
		if below := min(b.Last, then-1) - first + 1; below > 0 {
			l.done += below
			first += below
		}
		switch n := b.Last - first + 1; {
		case n <= 0:
		case b.State == StateAcknowledged:
			l.Accepted += n
		default:
			l.Archived += n
		}
	}
	return l
}

func (t *ResetTotals) lossSentences() []string {
	var out []string
	if n := t.Loss.Accepted; n > 0 {
		out = append(out, fmt.Sprintf("%s already accepted out of order will come again.", records(n)))
	}
	if n := t.Loss.Archived; n > 0 {
		out = append(out, fmt.Sprintf("%s that the group gave up on will come again.", records(n)))
	}
	if n := t.Loss.Counted; n > 0 {
		out = append(out, fmt.Sprintf("The recorded delivery counts of %s are forgotten.", records(n)))
	}
	if t.LossUnknown > 0 {
		out = append(out, fmt.Sprintf("What the group has recorded on %s was not read: records finished out of order there will come again, and delivery counts are forgotten.",
			Plural(t.LossUnknown, "partition")))
	}
	return out
}

// ResetMethod is how a plan is carried out.
type ResetMethod uint8

// The methods.
const (
	// ResetByCommit commits offsets without being a member (OffsetCommit); it works on empty groups.
	ResetByCommit ResetMethod = iota
	// ResetByAlter sets start offsets (AlterShareGroupOffsets, Kafka 4.2 and later); it works on empty groups.
	ResetByAlter
	// ResetByPolicy sets share.auto.offset.reset and deletes the offsets of whole topics, which is what Kafka 4.1 can
	// do: there AlterShareGroupOffsets answers OK and changes nothing.
	ResetByPolicy
	// ResetImpossible means that the cluster cannot do it.
	ResetImpossible
)

// method chooses how to carry the plan out, or says why it cannot be.
func (p *ResetPlan) method() (ResetMethod, string) {
	switch {
	case p.Type == TypeStreams:
		return ResetImpossible, "Offsets of a streams group are kept in step with the application's state: use kafka-streams-groups.sh --reset-offsets."
	case p.Type != TypeShare:
		return ResetByCommit, ""
	case versionBefore(p.Version, 4, 1):
		return ResetImpossible, "Kafka " + p.Version + " has no share groups."
	case !versionBefore(p.Version, 4, 2):
		return ResetByAlter, ""
	case p.Policy() == "":
		return ResetImpossible, "Kafka " + p.Version + " cannot set start offsets of share groups. It can start a topic over from the log start, from the log end, or from a duration ago."
	}
	for i := range p.Rows {
		if r := &p.Rows[i]; r.Planned() && !p.whole[r.Topic] {
			return ResetImpossible, "Kafka " + p.Version + " can move a share group only for whole topics, and not all partitions of " + r.Topic + " are in the plan."
		}
	}
	return ResetByPolicy, ""
}

// Policy is the value of share.auto.offset.reset that comes to the same as the plan; empty when none does.
func (p *ResetPlan) Policy() string {
	switch p.Spec.Mode {
	case ResetEarliest:
		return "earliest"
	case ResetLatest:
		return "latest"
	case ResetBack:
		return "by_duration:" + ISODuration(p.Spec.Back.Truncate(time.Millisecond))
	}
	return ""
}

// versionBefore reports whether a version such as "4.3" or "4.4+" is below major.minor. What is not known is
// not: the broker decides in the end.
func versionBefore(version string, major, minor int) bool {
	var a, b int
	if n, _ := fmt.Sscanf(strings.TrimSuffix(version, "+"), "%d.%d", &a, &b); n != 2 {
		return false
	}
	return a < major || a == major && b < minor
}
