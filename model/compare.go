package model

import (
	"cmp"
	"fmt"
	"strings"
)

// The codes of events. They are stable.
const (
	EventBrokerDown       = "broker_down"       // a broker stopped answering, or is gone from the cluster
	EventBrokerUp         = "broker_up"         // a broker answers again, or is new
	EventTopicCreated     = "topic_created"     //
	EventTopicDeleted     = "topic_deleted"     // or no longer visible
	EventTopicRecreated   = "topic_recreated"   // the same name with another topic id
	EventPartitionsAdded  = "partitions_added"  //
	EventLogEndBack       = "log_end_back"      // a log lost its end
	EventGroupAppeared    = "group_appeared"    //
	EventGroupGone        = "group_gone"        //
	EventGroupType        = "group_type"        // a classic group became a consumer group, or back
	EventMemberJoined     = "member_joined"     //
	EventMemberLeft       = "member_left"       //
	EventOffsetsBack      = "offsets_back"      // committed offsets or start offsets went back
	EventRebalanceStarted = "rebalance_started" //
	EventRebalanceEnded   = "rebalance_ended"   // with who gave and who got
)

// Compare tells what happened to the cluster between two snapshots, in a fixed order: brokers, topics,
// groups. Only what both could see is compared: while a broker is down its groups and logs are not
// taken for deleted, and old values carried over from an earlier poll say nothing new.
//
// Rebalances can span several snapshots, so [History] tells of them.
func Compare(prev, next *Snapshot) []Event {
	if prev == nil || prev == next {
		return nil
	}
	c := comparison{prev: prev, next: next}
	c.brokers()
	c.topics()
	c.groups(prev.Groups, next.Groups)
	c.groups(prev.ShareGroups, next.ShareGroups)
	return c.events
}

// comparison gathers the events between two snapshots.
type comparison struct {
	prev, next *Snapshot
	events     []Event
}

func (c *comparison) add(severity Severity, code, group, format string, args ...any) {
	c.events = append(c.events, Event{c.next.At, severity, code, group, fmt.Sprintf(format, args...)})
}

// mergeSorted walks two sorted lists side by side. visit gets nil for what one of them does not have.
func mergeSorted[T any](a, b []T, compare func(x, y *T) int, visit func(x, y *T)) {
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		order := 0
		switch {
		case i == len(a):
			order = 1
		case j == len(b):
			order = -1
		default:
			order = compare(&a[i], &b[j])
		}
		switch {
		case order < 0:
			visit(&a[i], nil)
			i++
		case order > 0:
			visit(nil, &b[j])
			j++
		default:
			visit(&a[i], &b[j])
			i, j = i+1, j+1
		}
	}
}

func compareBrokers(x, y *Broker) int { return cmp.Compare(x.ID, y.ID) }
func compareTopics(x, y *Topic) int   { return cmp.Compare(x.Name, y.Name) }
func compareGroups(x, y *Group) int   { return cmp.Compare(x.ID, y.ID) }

func comparePartitions(x, y *GroupPartition) int {
	if x.Topic != y.Topic {
		return cmp.Compare(x.Topic, y.Topic)
	}
	return cmp.Compare(x.Number, y.Number)
}

func (c *comparison) brokers() {
	if len(c.next.Cluster.Brokers) == 0 || len(c.prev.Cluster.Brokers) == 0 {
		return
	}
	mergeSorted(c.prev.Cluster.Brokers, c.next.Cluster.Brokers, compareBrokers, func(was, is *Broker) {
		switch {
		case was == nil && is.Up:
			c.add(Info, EventBrokerUp, "", "Broker %d (%s:%d) joined the cluster.", is.ID, is.Host, is.Port)
		case was == nil:
		case is == nil && was.Up:
			c.add(Warning, EventBrokerDown, "", "Broker %d (%s:%d) is no longer in the cluster.", was.ID, was.Host, was.Port)
		case is == nil:
		case was.Up && !is.Up:
			why := ""
			if is.Why != "" {
				why = ": " + strings.TrimSuffix(is.Why, ".")
			}
			c.add(Critical, EventBrokerDown, "", "Broker %d (%s:%d) does not answer%s.", is.ID, is.Host, is.Port, why)
		case !was.Up && is.Up:
			c.add(Info, EventBrokerUp, "", "Broker %d (%s:%d) answers again.", is.ID, is.Host, is.Port)
		}
	})
}

// listed reports whether the topics of a snapshot are all that there are.
func listed(s *Snapshot) bool {
	for i := range s.Problems {
		if s.Problems[i].Scope == ScopeCluster {
			return false
		}
	}
	return len(s.Topics) > 0
}

// allUp reports whether every broker answered. Then the groups of a snapshot are all that there are;
// otherwise those that the dead broker coordinates are missing for a while (about 9 s, until others take
// over).
func allUp(s *Snapshot) bool {
	n := len(s.Cluster.Brokers)
	return n > 0 && s.Cluster.Up() == n
}

func (c *comparison) topics() {
	bothListed := listed(c.prev) && listed(c.next)
	mergeSorted(c.prev.Topics, c.next.Topics, compareTopics, func(was, is *Topic) {
		switch {
		case was == nil:
			if bothListed {
				c.add(Info, EventTopicCreated, "", "Topic %s was created, with %s.", is.Name, Plural(len(is.Partitions), "partition"))
			}
		case is == nil:
			if bothListed {
				c.add(Warning, EventTopicDeleted, "", "Topic %s was deleted, or may no longer be seen.", was.Name)
			}
		case was.ID != is.ID && was.ID != TopicID{} && is.ID != TopicID{}:
			c.add(Warning, EventTopicRecreated, "", "Topic %s was deleted and created anew.", is.Name)
		default:
			c.partitions(was, is)
		}
	})
}

func (c *comparison) partitions(was, is *Topic) {
	if n := len(is.Partitions); n > len(was.Partitions) && len(was.Partitions) > 0 {
		c.add(Info, EventPartitionsAdded, "", "Topic %s has %d partitions now, %d before.", is.Name, n, len(was.Partitions))
	}
	for i := range is.Partitions {
		now := &is.Partitions[i]
		before, ok := was.Partition(now.Number)
		if !ok || !now.At.After(before.At) {
			continue
		}
		end, ok1 := now.End.Get()
		old, ok2 := before.End.Get()
		if ok1 && ok2 && end < old {
			c.add(Critical, EventLogEndBack, "", "The log of %s/%d ended at %s and ends at %s now: its last %s were lost, as after an unclean leader election, or the topic was created anew.",
				is.Name, now.Number, Count(old), Count(end), records(old-end))
		}
	}
}

func (c *comparison) groups(prev, next []Group) {
	bothListed := allUp(c.prev) && allUp(c.next) && !c.unlisted()
	mergeSorted(prev, next, compareGroups, func(was, is *Group) {
		switch {
		case was == nil:
			if bothListed {
				c.add(Info, EventGroupAppeared, is.ID, "The group appeared.")
			}
		case is == nil:
			if bothListed {
				c.add(Info, EventGroupGone, was.ID, "The group is gone: it was deleted, or it expired.")
			}
		default:
			c.group(was, is)
		}
	})
}

// unlisted reports whether either snapshot lacks groups for another reason than a dead broker.
func (c *comparison) unlisted() bool {
	for _, s := range [...]*Snapshot{c.prev, c.next} {
		for i := range s.Problems {
			switch s.Problems[i].Scope {
			case ScopeCluster, ScopeBroker, ScopeShare:
				return true
			}
		}
	}
	return false
}
