// Package output writes one view of a cluster for programs and for pipes: a JSON document, a JSON
// line, or a table of plain text. docs/output.md is the contract of the JSON; a field once there
// keeps its name and meaning within a schema version.
//
// What is not known is null, never 0.
package output

import (
	"io"
	"maps"
	"slices"
	"time"

	"flightdeck/model"
)

// Schema names the layout of the JSON documents.
const Schema = "flightdeck.snapshot/1"

// JSON writes the view as one indented document.
func JSON(w io.Writer, v *model.View) error {
	e := encoder{w: w, indent: true}
	e.document(v)
	return e.end()
}

// JSONLine writes the view as one line.
func JSONLine(w io.Writer, v *model.View) error {
	e := encoder{w: w}
	e.document(v)
	return e.end()
}

func (e *encoder) document(v *model.View) {
	s := v.Snapshot
	e.open("", '{')
	e.text("schema", Schema)
	e.text("at", s.At.UTC().Format(time.RFC3339Nano))
	e.cluster(&s.Cluster)
	e.open("groups", '[')
	for i := range s.Groups {
		e.group(&s.Groups[i], v.Insights[s.Groups[i].ID])
	}
	e.close(']')
	e.open("share_groups", '[')
	for i := range s.ShareGroups {
		e.shareGroup(s, &s.ShareGroups[i], v.Insights[s.ShareGroups[i].ID])
	}
	e.close(']')
	e.open("problems", '[')
	for _, p := range s.Problems {
		e.open("", '{')
		e.text("scope", string(p.Scope))
		e.text("name", p.Name)
		e.text("code", p.Code)
		e.text("text", p.Text)
		e.close('}')
	}
	e.close(']')
	e.close('}')
}

func (e *encoder) cluster(c *model.Cluster) {
	e.open("cluster", '{')
	e.textOrNull("id", c.ID)
	if c.Controller >= 0 {
		e.number("controller", int64(c.Controller))
	} else {
		e.null("controller")
	}
	e.open("brokers", '[')
	for _, b := range c.Brokers {
		e.open("", '{')
		e.number("id", int64(b.ID))
		e.text("host", b.Host)
		e.number("port", int64(b.Port))
		e.textOrNull("rack", b.Rack)
		e.close('}')
	}
	e.close(']')
	levels := make(map[string]int16, len(c.Features))
	for _, f := range c.Features {
		if level, ok := f.Finalized.Get(); ok {
			levels[f.Name] = level
		}
	}
	e.open("features", '{')
	for _, name := range slices.Sorted(maps.Keys(levels)) {
		e.number(name, int64(levels[name]))
	}
	e.close('}')
	e.close('}')
}

func (e *encoder) group(g *model.Group, in *model.Insight) {
	e.open("", '{')
	e.text("id", g.ID)
	e.text("type", g.Type.String())
	e.text("state", stateOrUnknown(g.State))
	e.members(g.Members)
	e.lag(g)
	if in != nil {
		e.rateOrNull("rate", in.Consumed)
	} else {
		e.null("rate")
	}
	e.verdicts(in)
	e.open("partitions", '[')
	for i := range g.Partitions {
		p := &g.Partitions[i]
		e.open("", '{')
		e.text("topic", p.Topic)
		e.number("partition", int64(p.Number))
		e.numberOrNull("committed", p.Position)
		e.numberOrNull("start", p.Start)
		e.numberOrNull("end", p.End)
		e.numberOrNull("lag", p.Lag)
		if p.Lost != 0 {
			e.number("lost", p.Lost)
		}
		if p.Beyond != 0 {
			e.number("beyond", p.Beyond)
		}
		if p.Member >= 0 && int(p.Member) < len(g.Members) {
			e.text("member", g.Members[p.Member].ID)
		} else {
			e.null("member")
		}
		e.close('}')
	}
	e.close(']')
	e.close('}')
}

func (e *encoder) shareGroup(s *model.Snapshot, g *model.Group, in *model.Insight) {
	e.open("", '{')
	e.text("id", g.ID)
	e.text("state", stateOrUnknown(g.State))
	e.members(g.Members)
	e.lag(g)
	e.verdicts(in)
	e.open("partitions", '[')
	for i := range g.Partitions {
		p := &g.Partitions[i]
		e.open("", '{')
		e.text("topic", p.Topic)
		e.number("partition", int64(p.Number))
		e.numberOrNull("start_offset", p.Position)
		e.numberOrNull("end", p.End)
		e.numberOrNull("lag", p.Lag)
		if p.LagDerived {
			e.flag("lag_derived", true)
		}
		if p.Beyond != 0 {
			e.number("beyond", p.Beyond)
		}
		if s.Records != nil {
			e.window(s, g, p)
		}
		e.close('}')
	}
	e.close(']')
	e.close('}')
}

func (e *encoder) lag(g *model.Group) {
	lag, partial := g.Lag()
	e.numberOrNull("lag", lag)
	e.flag("lag_partial", partial)
}

func (e *encoder) members(members []model.Member) {
	e.open("members", '[')
	for i := range members {
		m := &members[i]
		e.open("", '{')
		e.text("id", m.ID)
		e.text("client_id", m.ClientID)
		e.text("host", m.Host)
		e.textOrNull("instance_id", m.InstanceID)
		e.open("assignment", '[')
		for _, a := range m.Assignment {
			e.open("", '{')
			e.text("topic", a.Topic)
			e.open("partitions", '[')
			for _, n := range a.Partitions {
				e.number("", int64(n))
			}
			e.close(']')
			e.close('}')
		}
		e.close(']')
		e.close('}')
	}
	e.close(']')
}

func (e *encoder) verdicts(in *model.Insight) {
	e.open("verdicts", '[')
	if in != nil {
		for _, v := range in.Verdicts {
			e.open("", '{')
			e.text("code", v.Code)
			e.text("severity", v.Severity.String())
			e.text("text", v.Text)
			e.close('}')
		}
	}
	e.close(']')
}

// stateOrUnknown is Kafka's word for the state; Unknown is one of them.
func stateOrUnknown(state string) string {
	if state == "" {
		return "Unknown"
	}
	return state
}
