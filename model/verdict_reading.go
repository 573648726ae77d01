package model

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// checkProblems says that a group could not be read.
func checkProblems(s *situation) Verdict {
	if len(s.group.Problems) == 0 {
		return Verdict{}
	}
	p := &s.group.Problems[0]
	v := Verdict{Code: VerdictUnreadable, Severity: Warning, Text: "could not be read: " + lowerFirst(cmp.Or(firstSentence(p.Text), p.Code))}
	for i := range s.group.Problems {
		v.Evidence = append(v.Evidence, s.group.Problems[i].Text)
	}
	switch {
	case strings.HasPrefix(p.Code, "TOPIC_AUTHORIZATION"):
		v.Code, v.Text = VerdictNotPermitted, "not permitted: needs DESCRIBE on its topics"
		v.Next = "Ask for DESCRIBE on every topic that the members of " + s.group.ID + " read."
	case strings.HasSuffix(p.Code, "AUTHORIZATION_FAILED"):
		v.Code, v.Text = VerdictNotPermitted, "not permitted: needs DESCRIBE on the group"
		v.Next = "Ask for DESCRIBE on the group " + s.group.ID + "."
	}
	return v
}

// firstSentence is a sentence without what follows it, and without its full stop.
func firstSentence(text string) string {
	first, _, _ := strings.Cut(text, ". ")
	return strings.TrimSuffix(first, ".")
}

// lowerFirst makes a sentence the rest of one.
func lowerFirst(s string) string {
	r, n := utf8.DecodeRuneInString(s)
	return string(unicode.ToLower(r)) + s[n:]
}

// checkStale says that what is shown of a group is old.
func checkStale(s *situation) Verdict {
	g := s.group
	if g.Described.IsZero() {
		return Verdict{}
	}
	age := s.snapshot.At.Sub(g.Described)
	b := brokerOf(s.snapshot, g.Coordinator)
	down := b != nil && !b.Up && age > s.snapshot.Took
	if !down && age < staleAfter {
		return Verdict{}
	}
	v := Verdict{Code: VerdictStale, Severity: Warning,
		Text:     "stale: not read for " + Duration(age),
		Evidence: []string{"Last read at " + ClockOn(g.Described, s.snapshot.At) + "."}}
	if down {
		v.Text = fmt.Sprintf("stale: broker %d down, last read %s ago", b.ID, Duration(age))
		v.Evidence = append(v.Evidence, fmt.Sprintf("Its coordinator, broker %d (%s:%d), does not answer.", b.ID, b.Host, b.Port))
		v.Next = "Another broker takes over within about 10 s if there is one; otherwise bring the broker back."
	}
	return v
}

func brokerOf(s *Snapshot, id int32) *Broker {
	for i := range s.Cluster.Brokers {
		if s.Cluster.Brokers[i].ID == id {
			return &s.Cluster.Brokers[i]
		}
	}
	return nil
}

// checkNotRead is for the first frame of a large cluster.
func checkNotRead(s *situation) Verdict {
	g := s.group
	if !g.Described.IsZero() || !g.OffsetsAt.IsZero() || len(g.Problems) > 0 {
		return Verdict{}
	}
	return Verdict{Code: VerdictNotRead, Text: "not read yet"}
}

// checkDataLost looks for positions below the log start.
func checkDataLost(s *situation) Verdict {
	if s.lost.sum == 0 {
		return Verdict{}
	}
	p := s.lost.worst
	return Verdict{Code: VerdictDataLost, Severity: Warning,
		Text: fmt.Sprintf("%s lost on %s", records(s.lost.sum), s.lost.where()),
		Evidence: []string{fmt.Sprintf("The position on %s is %s, and its log starts at %s: what is between was removed before it was read.",
			p.name(), p.Position.Text(Count), p.Start.Text(Count))},
		Next: "A consumer goes on by its auto.offset.reset. Give the topic a longer retention, or keep the lag below it."}
}

// checkBeyondEnd looks for positions beyond the log end.
func checkBeyondEnd(s *situation) Verdict {
	if s.beyond.sum == 0 {
		return Verdict{}
	}
	p := s.beyond.worst
	return Verdict{Code: VerdictBeyondEnd, Severity: Warning,
		Text: fmt.Sprintf("%s beyond the end of %s", Count(s.beyond.sum), s.beyond.where()),
		Evidence: []string{fmt.Sprintf("The position on %s is %s, and its log ends at %s.",
			p.name(), p.Position.Text(Count), p.End.Text(Count))},
		Next: "The topic was probably deleted and created anew, or its log lost its end. Reset the group's offsets of " + p.Topic + "."}
}

// checkTopicDeleted looks for positions on topics that do not exist.
func checkTopicDeleted(s *situation) Verdict {
	if len(s.deleted) == 0 {
		return Verdict{}
	}
	severity := Info
	if s.hasMembers() {
		severity = Warning
	}
	return Verdict{Code: VerdictTopicDeleted, Severity: severity,
		Text:     "deleted: " + names(s.deleted),
		Evidence: []string{"The group has a position on " + names(s.deleted) + ", which does not exist, at least not with those partitions."},
		Next:     "Delete the group's offsets of " + names(s.deleted) + "."}
}

// checkNoCommit looks for owned partitions without a committed offset.
func checkNoCommit(s *situation) Verdict {
	if s.open == 0 || !s.settled() || s.group.Type == TypeShare || s.group.OffsetsAt.IsZero() {
		return Verdict{}
	}
	open := s.open - s.vacant
	if open == 0 && s.lag.Known() {
		return Verdict{}
	}
	if open == 0 {
		return Verdict{Code: VerdictNoCommit, Severity: Info, Text: "no commit yet: nothing to read",
			Evidence: []string{"Its partitions hold no record, so that there is nothing to commit."}}
	}
	v := Verdict{Code: VerdictNoCommit, Severity: Info, Text: "no commit yet",
		Evidence: []string{fmt.Sprintf("%s have a member and no committed offset, so that their lag is not known.", Plural(open, "partition"))},
		Next:     "If it stays so, the members do not commit, or keep their offsets elsewhere."}
	if open == 1 {
		v.Evidence[0] = "1 partition has a member and no committed offset, so that its lag is not known."
	}
	if open < s.owned {
		v.Text = fmt.Sprintf("no commit yet on %d of %d partitions", open, s.owned)
	}
	return v
}

// checkHidden says that the broker leaves out what the user may not see.
func checkHidden(s *situation) Verdict {
	if !s.group.Hidden {
		return Verdict{}
	}
	return Verdict{Code: VerdictHidden, Severity: Info,
		Text:     "total incomplete: topics hidden from you",
		Evidence: []string{"Members are assigned partitions that the broker does not answer for."},
		Next:     "Ask for DESCRIBE on every topic that the members of " + s.group.ID + " read."}
}
