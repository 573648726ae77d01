package model

import (
	"strconv"
	"time"
)

// GroupRow is a group of any type as a row of a table.
type GroupRow struct {
	Group   *Group
	Insight *Insight
}

// GroupFields are what a filter can ask of a group.
func GroupFields() []Field[GroupRow] {
	return []Field[GroupRow]{
		{Name: "group", Plain: true, Text: func(r *GroupRow) string { return r.Group.ID }},
		{Name: "type", Text: func(r *GroupRow) string { return r.Group.Type.String() }},
		{Name: "state", Text: func(r *GroupRow) string { return r.Group.State }},
		{Name: "members", Number: func(r *GroupRow) Opt[float64] { return Some(float64(len(r.Group.Members))) }},
		{Name: "topics", Number: func(r *GroupRow) Opt[float64] { return Some(float64(r.Group.Topics())) }},
		{Name: "topic", Any: anyTopic},
		{Name: "client", Any: func(r *GroupRow, match func(string) bool) bool {
			return anyMember(r, match, func(m *Member) string { return m.ClientID })
		}},
		{Name: "host", Any: func(r *GroupRow, match func(string) bool) bool {
			return anyMember(r, match, func(m *Member) string { return m.Host })
		}},
		{Name: "lag", Number: func(r *GroupRow) Opt[float64] {
			sum, _ := r.Group.Lag()
			return floatOf(sum)
		}},
		{Name: "rate", Number: func(r *GroupRow) Opt[float64] { return r.Insight.Consumed }},
		{Name: "eta", Span: func(r *GroupRow) Opt[time.Duration] { return r.Insight.ETA }},
		{Name: "severity", Severity: func(r *GroupRow) Severity { return r.Insight.Verdict().Severity }},
		{Name: "verdict", Plain: true, Any: anyVerdict},
	}
}

// anyVerdict looks at the codes of all verdicts and at the words of the worst, which is the one on screen.
func anyVerdict(r *GroupRow, match func(string) bool) bool {
	for i := range r.Insight.Verdicts {
		v := &r.Insight.Verdicts[i]
		if match(v.Code) || i == 0 && match(v.Text) {
			return true
		}
	}
	return false
}

func anyTopic(r *GroupRow, match func(string) bool) bool {
	last := ""
	for i := range r.Group.Partitions {
		topic := r.Group.Partitions[i].Topic
		if i > 0 && topic == last {
			continue
		}
		if last = topic; match(topic) {
			return true
		}
	}
	return false
}

func anyMember(r *GroupRow, match func(string) bool, of func(*Member) string) bool {
	for i := range r.Group.Members {
		if match(of(&r.Group.Members[i])) {
			return true
		}
	}
	return false
}

func floatOf(n Int) Opt[float64] {
	v, known := n.Get()
	if !known {
		return None[float64]()
	}
	return Some(float64(v))
}

func yesNo(yes bool) string {
	if yes {
		return "yes"
	}
	return "no"
}

// TopicRow is a topic as a row of a table.
type TopicRow struct {
	Topic *Topic
	// Produced are records per second.
	Produced Opt[float64]
	// Groups counts the groups that have a position on it or are assigned it.
	Groups int
}

// TopicFields are what a filter can ask of a topic.
func TopicFields() []Field[TopicRow] {
	return []Field[TopicRow]{
		{Name: "topic", Plain: true, Text: func(r *TopicRow) string { return r.Topic.Name }},
		{Name: "partitions", Number: func(r *TopicRow) Opt[float64] { return Some(float64(len(r.Topic.Partitions))) }},
		{Name: "groups", Number: func(r *TopicRow) Opt[float64] { return Some(float64(r.Groups)) }},
		{Name: "rate", Number: func(r *TopicRow) Opt[float64] { return r.Produced }},
		{Name: "internal", Text: func(r *TopicRow) string { return yesNo(r.Topic.Internal) }},
	}
}

// BrokerFields are what a filter can ask of a broker.
func BrokerFields() []Field[Broker] {
	return []Field[Broker]{
		{Name: "broker", Plain: true, Text: func(b *Broker) string { return strconv.Itoa(int(b.ID)) }},
		{Name: "host", Plain: true, Text: func(b *Broker) string { return b.Host }},
		{Name: "rack", Plain: true, Text: func(b *Broker) string { return b.Rack }},
		{Name: "up", Text: func(b *Broker) string { return yesNo(b.Up) }},
	}
}

// EventFields are what a filter can ask of an event.
func EventFields() []Field[Event] {
	return []Field[Event]{
		{Name: "text", Plain: true, Text: func(e *Event) string { return e.Text }},
		{Name: "group", Plain: true, Text: func(e *Event) string { return e.Group }},
		{Name: "code", Text: func(e *Event) string { return e.Code }},
		{Name: "severity", Severity: func(e *Event) Severity { return e.Severity }},
	}
}
