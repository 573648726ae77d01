// Package output writes one view of a cluster for programs and for pipes: a JSON document, a JSON
// line, or a table of plain text. docs/output.md is the contract of the JSON; a field once there
// keeps its name and meaning within a schema version.
//
// What is not known is null, never 0.
package output

import (
	"encoding/json"
	"io"
	"time"

	"flightdeck/model"
)

// Schema names the layout of the JSON documents.
const Schema = "flightdeck.snapshot/1"

type document struct {
	Schema      string       `json:"schema"`
	At          string       `json:"at"`
	Cluster     cluster      `json:"cluster"`
	Groups      []group      `json:"groups"`
	ShareGroups []shareGroup `json:"share_groups"`
	Problems    []problem    `json:"problems"`
}

type cluster struct {
	ID         *string          `json:"id"`
	Controller *int32           `json:"controller"`
	Brokers    []broker         `json:"brokers"`
	Features   map[string]int16 `json:"features"`
}

type broker struct {
	ID   int32   `json:"id"`
	Host string  `json:"host"`
	Port int32   `json:"port"`
	Rack *string `json:"rack"`
}

type group struct {
	ID         string             `json:"id"`
	Type       string             `json:"type"`
	State      string             `json:"state"`
	Members    []member           `json:"members"`
	Lag        model.Int          `json:"lag"`
	LagPartial bool               `json:"lag_partial"`
	Rate       model.Opt[float64] `json:"rate"`
	Verdicts   []verdict          `json:"verdicts"`
	Partitions []partition        `json:"partitions"`
}

type shareGroup struct {
	ID         string           `json:"id"`
	State      string           `json:"state"`
	Members    []member         `json:"members"`
	Lag        model.Int        `json:"lag"`
	LagPartial bool             `json:"lag_partial"`
	Verdicts   []verdict        `json:"verdicts"`
	Partitions []sharePartition `json:"partitions"`
}

type member struct {
	ID         string            `json:"id"`
	ClientID   string            `json:"client_id"`
	Host       string            `json:"host"`
	InstanceID *string           `json:"instance_id"`
	Assignment []topicPartitions `json:"assignment"`
}

type topicPartitions struct {
	Topic      string  `json:"topic"`
	Partitions []int32 `json:"partitions"`
}

type verdict struct {
	Code     string `json:"code"`
	Severity string `json:"severity"`
	Text     string `json:"text"`
}

type partition struct {
	Topic     string    `json:"topic"`
	Partition int32     `json:"partition"`
	Committed model.Int `json:"committed"`
	Start     model.Int `json:"start"`
	End       model.Int `json:"end"`
	Lag       model.Int `json:"lag"`
	Lost      int64     `json:"lost,omitempty"`
	Beyond    int64     `json:"beyond,omitempty"`
	Member    *string   `json:"member"`
}

type sharePartition struct {
	Topic       string    `json:"topic"`
	Partition   int32     `json:"partition"`
	StartOffset model.Int `json:"start_offset"`
	End         model.Int `json:"end"`
	Lag         model.Int `json:"lag"`
	Beyond      int64     `json:"beyond,omitempty"`
}

type problem struct {
	Scope string `json:"scope"`
	Name  string `json:"name"`
	Code  string `json:"code"`
	Text  string `json:"text"`
}

// JSON writes the view as one indented document.
func JSON(w io.Writer, v *model.View) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(newDocument(v))
}

// JSONLine writes the view as one line.
func JSONLine(w io.Writer, v *model.View) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc.Encode(newDocument(v))
}

func newDocument(v *model.View) document {
	s := v.Snapshot
	d := document{
		Schema:      Schema,
		At:          s.At.UTC().Format(time.RFC3339Nano),
		Cluster:     newCluster(&s.Cluster),
		Groups:      make([]group, 0, len(s.Groups)),
		ShareGroups: make([]shareGroup, 0, len(s.ShareGroups)),
		Problems:    make([]problem, 0, len(s.Problems)),
	}
	for i := range s.Groups {
		d.Groups = append(d.Groups, newGroup(&s.Groups[i], v.Insights[s.Groups[i].ID]))
	}
	for i := range s.ShareGroups {
		d.ShareGroups = append(d.ShareGroups, newShareGroup(&s.ShareGroups[i], v.Insights[s.ShareGroups[i].ID]))
	}
	for _, p := range s.Problems {
		d.Problems = append(d.Problems, problem{string(p.Scope), p.Name, p.Code, p.Text})
	}
	return d
}

func newCluster(c *model.Cluster) cluster {
	out := cluster{
		ID:       textOrNull(c.ID),
		Brokers:  make([]broker, 0, len(c.Brokers)),
		Features: make(map[string]int16, len(c.Features)),
	}
	if c.Controller >= 0 {
		out.Controller = &c.Controller
	}
	for _, b := range c.Brokers {
		out.Brokers = append(out.Brokers, broker{b.ID, b.Host, b.Port, textOrNull(b.Rack)})
	}
	for _, f := range c.Features {
		if level, ok := f.Finalized.Get(); ok {
			out.Features[f.Name] = level
		}
	}
	return out
}

func newGroup(g *model.Group, in *model.Insight) group {
	lag, partial := g.Lag()
	out := group{
		ID: g.ID, Type: g.Type.String(), State: stateOrUnknown(g.State),
		Members: newMembers(g.Members),
		Lag:     lag, LagPartial: partial,
		Verdicts:   newVerdicts(in),
		Partitions: make([]partition, 0, len(g.Partitions)),
	}
	if in != nil {
		out.Rate = in.Consumed
	}
	for i := range g.Partitions {
		p := &g.Partitions[i]
		row := partition{
			Topic: p.Topic, Partition: p.Number,
			Committed: p.Position, Start: p.Start, End: p.End,
			Lag: p.Lag, Lost: p.Lost, Beyond: p.Beyond,
		}
		if p.Member >= 0 && int(p.Member) < len(g.Members) {
			row.Member = &g.Members[p.Member].ID
		}
		out.Partitions = append(out.Partitions, row)
	}
	return out
}

func newShareGroup(g *model.Group, in *model.Insight) shareGroup {
	lag, partial := g.Lag()
	out := shareGroup{
		ID: g.ID, State: stateOrUnknown(g.State),
		Members: newMembers(g.Members),
		Lag:     lag, LagPartial: partial,
		Verdicts:   newVerdicts(in),
		Partitions: make([]sharePartition, 0, len(g.Partitions)),
	}
	for i := range g.Partitions {
		p := &g.Partitions[i]
		out.Partitions = append(out.Partitions, sharePartition{
			Topic: p.Topic, Partition: p.Number,
			StartOffset: p.Position, End: p.End, Lag: p.Lag, Beyond: p.Beyond,
		})
	}
	return out
}

func newMembers(members []model.Member) []member {
	out := make([]member, 0, len(members))
	for i := range members {
		m := &members[i]
		row := member{
			ID: m.ID, ClientID: m.ClientID, Host: m.Host, InstanceID: textOrNull(m.InstanceID),
			Assignment: make([]topicPartitions, 0, len(m.Assignment)),
		}
		for _, a := range m.Assignment {
			row.Assignment = append(row.Assignment, topicPartitions{a.Topic, append([]int32{}, a.Partitions...)})
		}
		out = append(out, row)
	}
	return out
}

func newVerdicts(in *model.Insight) []verdict {
	if in == nil {
		return []verdict{}
	}
	out := make([]verdict, 0, len(in.Verdicts))
	for _, v := range in.Verdicts {
		out = append(out, verdict{v.Code, v.Severity.String(), v.Text})
	}
	return out
}

// stateOrUnknown is Kafka's word for the state; Unknown is one of them.
func stateOrUnknown(state string) string {
	if state == "" {
		return "Unknown"
	}
	return state
}

func textOrNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
