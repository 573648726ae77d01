package kafka

import (
	"context"
	"fmt"
	"time"

	"flightdeck/model"
)

// readBackLimit is how long the state topic is waited for. What a coordinator appended while its topic had too few
// replicas shows up later still.
const readBackLimit = 30 * time.Second

// doubt has the outcome of a decision read back.
func (s *sessionState) doubt(v *verdict) {
	v.sent, v.doubtful = true, true
	if v.decision == model.DecisionNone {
		s.conclude(v, false, "unknown", "", false)
		return
	}
	if v.decision == model.DecisionRenew {
		// Renewals are never recorded.
		s.conclude(v, false, "unknown", "It is not known whether the lock was extended.", true)
		return
	}
	s.doubts = append(s.doubts, v)
	s.dirty = true
}

// readBack looks into the state topic for what became of decisions.
func (s *sessionState) readBack(now time.Time) {
	if len(s.doubts) == 0 || !s.reading.IsZero() {
		return
	}
	asked := s.doubts
	s.doubts, s.asked, s.reading = nil, asked, now
	questions := make([]question, len(asked))
	for i, v := range asked {
		questions[i] = question{
			key:    model.SharePartitionKey{Group: s.group, TopicID: s.topicID, Partition: v.partition()},
			offset: v.offset(), count: v.hold.Count, decision: v.decision, leaderEpoch: v.hold.leaderEpoch,
		}
	}
	s.do(func() func() {
		found := s.conn.readBack(s.life, questions)
		return func() {
			s.reading, s.asked = time.Time{}, nil
			for i, v := range asked {
				f := found[i]
				s.conclude(v, f.ok, f.code, f.text, !f.known && s.held[v.hold.Ref()] == v.hold)
			}
		}
	})
}

// question is what is to be found out about a decision.
type question struct {
	key         model.SharePartitionKey
	offset      int64
	count       int16 // with which it was handed to us
	decision    model.Decision
	leaderEpoch int32 // under which it was handed to us
}

// finding is what the state topic says about a decision.
type finding struct {
	known bool // false while nothing is recorded
	ok    bool
	code  string
	text  string
}

// readBack reads the state topic until it answers all questions, or the time for that is over.
func (c *Connection) readBack(ctx context.Context, questions []question) []finding {
	ctx, cancel := context.WithTimeout(ctx, readBackLimit)
	defer cancel()
	found := make([]finding, len(questions))
	seen := make(map[model.SharePartitionKey]bool)
	var keys []model.SharePartitionKey
	for i, q := range questions {
		found[i] = finding{code: "unknown", text: "The outcome is not known: no answer came, and the state topic has none. It may still appear there."}
		if !seen[q.key] {
			seen[q.key] = true
			keys = append(keys, q.key)
		}
	}
	f := NewFollower(c, FollowOptions{})
	defer f.Close()
	f.Watch(keys, keys)
	for {
		records, err := f.Next(ctx)
		if err != nil {
			return found
		}
		if p := records.Problem; p != nil {
			for i := range found {
				found[i].text = "The outcome is not known: no answer came, and the state topic cannot be read. " + p.Text
			}
			if p.Code == "no_state_topic" {
				return found
			}
			continue
		}
		open := false
		for i, q := range questions {
			if at := records.Partitions[q.key]; at != nil && at.CaughtUp {
				if answer := q.answer(&at.History); answer.known {
					found[i] = answer
					continue
				}
			}
			open = true
		}
		if !open {
			return found
		}
	}
}

// answer finds out what a history says about a decision. Counts tell our delivery from others: what is recorded with a
// lower one is from before.
func (q *question) answer(h *model.ShareHistory) finding {
	life := h.Timeline(q.offset)
	for i := len(life) - 1; i >= 0; i-- {
		m := &life[i]
		if m.Kind != model.MomentOutcome && m.Kind != model.MomentKnown || m.To.State == model.StateNone || m.To.Count < q.count {
			continue
		}
		if m.To.Count == q.count {
			return q.recorded(m.To.State)
		}
		if i == 0 || life[i-1].To.Count < q.count {
			return q.recorded(model.StateAvailable) // delivered again since
		}
	}
	now := h.Now()
	start, known := now.Effective().Get()
	switch {
	case known && q.offset < start:
		return finding{known: true, code: "unknown", text: "The outcome is not known: no answer came, and the record is finished since, without a trace of how."}
	case now.Recorded && now.LeaderEpoch > q.leaderEpoch:
		return finding{known: true, code: "not_recorded", text: "No answer came, and it was not recorded before the partition's leader changed: the record went back to the group."}
	}
	return finding{}
}

// recorded compares an outcome with the decision.
func (q *question) recorded(state model.RecordState) finding {
	text := fmt.Sprintf("No answer came; the state topic says: %s.", state)
	ok := false
	switch q.decision {
	case model.DecisionAccept:
		ok = state == model.StateAcknowledged
	case model.DecisionReject:
		ok = state == model.StateArchived || state == model.StateArchiving
	case model.DecisionRelease:
		ok = state != model.StateAcknowledged
	}
	if !ok {
		return finding{known: true, code: "not_recorded", text: text + " So this did not come about."}
	}
	return finding{known: true, ok: true, code: "read_back", text: text}
}
