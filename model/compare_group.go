package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

func (c *comparison) group(was, is *Group) {
	if was.Type != is.Type && was.Type != TypeUnknown && is.Type != TypeUnknown {
		c.add(Info, EventGroupType, is.ID, "The group is of type %s now; it was %s.", is.Type, was.Type)
	}
	if !was.Described.IsZero() && is.Described.After(was.Described) {
		c.members(was, is)
	}
	if !was.OffsetsAt.IsZero() && is.OffsetsAt.After(was.OffsetsAt) {
		c.offsets(was, is)
	}
}

func (c *comparison) members(was, is *Group) {
	joined := membersNotIn(is, was)
	left := membersNotIn(was, is)
	if len(joined) > 0 {
		c.add(Info, EventMemberJoined, is.ID, "%s joined: %s now.", names(joined), Plural(len(is.Members), "member"))
	}
	if len(left) == 0 {
		return
	}
	if len(is.Members) == 0 {
		c.add(Warning, EventMemberLeft, is.ID, "%s left: nobody consumes now.", names(left))
		return
	}
	c.add(Info, EventMemberLeft, is.ID, "%s left: %s now.", names(left), Plural(len(is.Members), "member"))
}

// membersNotIn names the members of g that other does not have.
func membersNotIn(g, other *Group) (labels []string) {
	if slices.EqualFunc(g.Members, other.Members, func(a, b Member) bool { return a.ID == b.ID }) {
		return nil
	}
	known := make(map[string]bool, len(other.Members))
	for i := range other.Members {
		known[other.Members[i].ID] = true
	}
	for i := range g.Members {
		if !known[g.Members[i].ID] {
			labels = append(labels, g.MemberLabel(g.Members[i].ID))
		}
	}
	return labels
}

// MemberLabel names a member of the group for a person: by its client id, and by the end of its member
// id too where several members have the same client id. An id that is not in the group stands for itself.
func (g *Group) MemberLabel(id string) string {
	label, same := "", 0
	for i := range g.Members {
		if g.Members[i].ID == id {
			label = g.Members[i].ClientID
			break
		}
	}
	if label == "" {
		return id
	}
	for i := range g.Members {
		if g.Members[i].ClientID == label {
			same++
		}
	}
	if same > 1 {
		return label + " …" + tail(id, 6)
	}
	return label
}

// tail is the last n characters of s.
func tail(s string, n int) string {
	r := []rune(s)
	return string(r[max(0, len(r)-n):])
}

// names lists up to three names in words.
func names(list []string) string {
	const most = 3
	switch n := len(list); {
	case n == 1:
		return list[0]
	case n <= most:
		return strings.Join(list[:n-1], ", ") + " and " + list[n-1]
	default:
		return strings.Join(list[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
}

// offsets looks for positions that went back: a reset, or a group that starts over.
func (c *comparison) offsets(was, is *Group) {
	var (
		partitions      int
		sum, most       int64
		worst           *GroupPartition
		worstWas, worse int64
	)
	mergeSorted(was.Partitions, is.Partitions, comparePartitions, func(old, now *GroupPartition) {
		if old == nil || now == nil {
			return
		}
		before, ok1 := old.Position.Get()
		after, ok2 := now.Position.Get()
		if !ok1 || !ok2 || after >= before {
			return
		}
		partitions, sum = partitions+1, sum+before-after
		if before-after > most {
			most, worst, worstWas, worse = before-after, now, before, after
		}
	})
	if partitions == 0 {
		return
	}
	what := "committed offset"
	if is.Type == TypeShare {
		what = "start offset"
	}
	if partitions == 1 {
		c.add(Warning, EventOffsetsBack, is.ID, "The %s on %s/%d went back by %s, from %s to %s.",
			what, worst.Topic, worst.Number, Count(sum), Count(worstWas), Count(worse))
		return
	}
	c.add(Warning, EventOffsetsBack, is.ID, "The %ss went back on %d partitions by %s in all, most on %s/%d from %s to %s.",
		what, partitions, Count(sum), worst.Topic, worst.Number, Count(worstWas), Count(worse))
}

// records is a count of records in words.
func records(n int64) string {
	if n == 1 {
		return "1 record"
	}
	return Count(n) + " records"
}

// PartitionRanges writes ascending partition numbers with runs drawn together: 0-3,7.
func PartitionRanges(numbers []int32) string {
	var b strings.Builder
	for i := 0; i < len(numbers); {
		j := i
		for j+1 < len(numbers) && numbers[j+1] == numbers[j]+1 {
			j++
		}
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.Itoa(int(numbers[i])))
		if j > i {
			b.WriteByte('-')
			b.WriteString(strconv.Itoa(int(numbers[j])))
		}
		i = j + 1
	}
	return b.String()
}
