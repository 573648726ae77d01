package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/form"
)

// Where the values of a production come from, as the form has it.
const (
	fromTemplate  = "template"
	fromLines     = "file, a record a line"
	fromFile      = "file, the whole of it"
	fromTombstone = "none (tombstone)"
)

// produceForm is the form for producing records. It is an asker with one key more.
type produceForm struct {
	asker
	partition int32 // whose last record is a starting point; -1 for any
}

// produceFields are the fields that the form remembers.
var produceFields = []string{"topic", "key", "source", "value", "file", "headers", "partition", "count", "rate", "compression", "acks"}

// openProduce asks what to produce.
func (a *App) openProduce() tea.Cmd {
	topic, partition := a.produceTopic()
	had := a.produced
	value := func(id, otherwise string) string {
		if v, ok := had[id]; ok {
			return v
		}
		return otherwise
	}
	if topic == "" {
		topic = value("topic", "")
	}
	f := &produceForm{partition: partition}
	f.title = "Produce"
	check := func(v string) string {
		if _, err := model.ParseTemplate(v); err != nil {
			return err.Error()
		}
		return ""
	}
	const help = "{{.N}} {{.UUID}} {{.Now}} {{.Millis}} {{choice \"a\" \"b\"}} {{random 1 9}} are replaced in each record."
	f.form = form.New(
		form.Field{ID: "value", Label: "Value", Value: value("value", ""), Limit: 100_000, Hint: "empty", Check: check, Help: help},
		form.Field{ID: "key", Label: "Key", Value: value("key", ""), Limit: 10_000, Hint: "no key", Check: check, Help: "Records of one key go to one partition. " + help},
		form.Field{ID: "topic", Label: "Topic", Value: topic, Check: func(v string) string {
			if strings.TrimSpace(v) == "" {
				return "name a topic"
			}
			return ""
		}},
		form.Field{ID: "partition", Label: "Partition", Value: value("partition", ""), Hint: "automatic", Check: checkPartition, Help: "Empty: by the key, or balanced where there is none."},
		form.Field{ID: "headers", Label: "Headers", Value: value("headers", ""), Limit: 10_000, Hint: "name=value, name=value", Check: func(v string) string {
			if _, err := parseHeaders(v); err != nil {
				return err.Error()
			}
			return ""
		}},
		form.Field{ID: "count", Label: "How many", Kind: form.Number, Value: value("count", "1"), Max: 1_000_000_000, Help: "With a file of lines 0 is all of them."},
		form.Field{ID: "rate", Label: "Per second", Kind: form.Number, Value: value("rate", "0"), Max: 10_000_000, Help: "0 is as fast as the brokers take them."},
		form.Field{ID: "source", Label: "Values from", Kind: form.Choice, Value: value("source", fromTemplate), Choices: []string{fromTemplate, fromLines, fromFile, fromTombstone}},
		form.Field{ID: "file", Label: "File", Value: value("file", ""), Limit: 4096},
		form.Field{ID: "compression", Label: "Compression", Kind: form.Choice, Value: value("compression", "snappy"), Choices: model.Compressions},
		form.Field{ID: "acks", Label: "Acks", Kind: form.Choice, Value: value("acks", "all"), Choices: []string{"all", "leader", "none"},
			Help: "all: written once on all in-sync replicas, also after a retry. none: what became of records is not known."},
		form.Field{ID: "force", Label: "Internal topic", Hint: "its name once more", Help: "Topics of Kafka's own are written only when their name is typed here."},
	)
	f.changed = func() {
		source := f.form.Value("source")
		file, text := "values are not from a file", ""
		if source == fromLines || source == fromFile {
			file, text = "", "the file has them"
		} else if source == fromTombstone {
			text = "none"
		}
		f.form.Switch("file", file)
		f.form.Switch("value", text)
		force := "only for topics of Kafka's own"
		if t, ok := a.topicOf(f.form.Value("topic")); ok && t.Internal || strings.HasPrefix(f.form.Value("topic"), "__") {
			force = ""
		}
		f.form.Switch("force", force)
	}
	f.changed()
	f.notes = f.understood
	f.done = func(a *App) tea.Cmd {
		spec, err := f.spec()
		if err == nil {
			err = spec.Check()
		}
		if err != nil {
			a.say(model.Warning, sentence(err.Error()))
			return nil
		}
		a.produced = make(map[string]string)
		for _, id := range produceFields {
			a.produced[id] = f.form.Value(id)
		}
		return a.beginProduction("Produce to "+model.Clean(spec.Topic), func(ctx context.Context) ([]Production, error) {
			p, err := a.options.Produce(ctx, spec)
			if err != nil {
				return nil, err
			}
			return []Production{p}, nil
		})
	}
	a.overlay = f
	return nil
}

func (f *produceForm) update(a *App, msg tea.Msg) tea.Cmd {
	if key, ok := msg.(tea.KeyPressMsg); ok && key.String() == "ctrl+l" {
		return f.readLast(a)
	}
	return f.asker.update(a, msg)
}

func (f *produceForm) hints() []hint {
	return []hint{{key: "enter", title: "produce"}, {key: "tab", title: "next field"}, {key: "ctrl+l", title: "last record"}, {key: "left right", title: "choose"}, {key: "esc", title: "back"}}
}

// spec is what the form says.
func (f *produceForm) spec() (model.ProduceSpec, error) {
	v := f.form.Value
	s := model.ProduceSpec{Topic: strings.TrimSpace(v("topic")), Key: v("key"), Compression: v("compression"), Force: strings.TrimSpace(v("force"))}
	switch v("source") {
	case fromTemplate:
		s.Value = v("value")
	case fromLines:
		s.File = strings.TrimSpace(v("file"))
	case fromFile:
		s.File, s.Whole = strings.TrimSpace(v("file")), true
	case fromTombstone:
		s.Tombstone = true
	}
	if (v("source") == fromLines || s.Whole) && s.File == "" {
		return s, errors.New("name a file")
	}
	if v("source") == fromTemplate && s.Value == "" && s.Key == "" {
		return s, errors.New("there is neither a value nor a key")
	}
	if s.Tombstone && s.Key == "" {
		return s, errors.New("a tombstone needs a key: it deletes the records of that key")
	}
	if p := strings.TrimSpace(v("partition")); p != "" {
		n, err := strconv.ParseInt(p, 10, 32)
		if err != nil {
			return s, errors.New("the partition has to be a number")
		}
		s.Partition = model.Some(int32(n))
	}
	s.Count, _ = f.form.Number("count")
	rate, _ := f.form.Number("rate")
	s.Rate = float64(rate)
	s.Acks = model.Acks(slices.Index([]string{"all", "leader", "none"}, v("acks")))
	var err error
	s.Headers, err = parseHeaders(v("headers"))
	return s, err
}

// understood shows the first record, and warns of what looks wrong.
func (f *produceForm) understood(*App) []paragraph {
	if f.form.Value("source") != fromTemplate {
		return nil
	}
	t, err := model.ParseTemplate(f.form.Value("value"))
	if err != nil {
		return []paragraph{{text: model.Clean(err.Error()), tok: themes.Critical}}
	}
	first, err := t.Execute(model.TemplateData{N: 1})
	if err != nil {
		return []paragraph{{text: model.Clean(err.Error()), tok: themes.Critical}}
	}
	var ps []paragraph
	if why := model.JSONProblem(string(first)); why != "" {
		ps = append(ps, paragraph{text: sentence(model.Clean(why)), tok: themes.Warning})
	}
	if !t.Constant() {
		ps = append(ps, paragraph{text: "The first: " + model.Clean(string(first[:min(len(first), 300)])), tok: themes.Muted})
	}
	return ps
}

func checkPartition(s string) string {
	if s = strings.TrimSpace(s); s == "" {
		return ""
	}
	if n, err := strconv.ParseInt(s, 10, 32); err != nil || n < 0 {
		return "a number, or empty"
	}
	return ""
}

// parseHeaders reads name=value, separated by commas.
func parseHeaders(s string) ([]model.HeaderSpec, error) {
	var out []model.HeaderSpec
	for part := range strings.SplitSeq(s, ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		if name = strings.TrimSpace(name); !ok || name == "" {
			return nil, errors.New("write name=value, separated by commas")
		}
		if _, err := model.ParseTemplate(value); err != nil {
			return nil, err
		}
		out = append(out, model.HeaderSpec{Key: name, Value: value})
	}
	return out, nil
}

// topicOf finds a topic in the present view.
func (a *App) topicOf(name string) (*model.Topic, bool) {
	if a.view == nil {
		return nil, false
	}
	return a.view.Snapshot.Topic(name)
}

// produceTopic is the topic that the screen stands for, and the partition, -1 for none.
func (a *App) produceTopic() (topic string, partition int32) {
	switch s := a.screen().(type) {
	case *flightScreen:
		return s.topic, s.number
	case *topicScreen:
		if r, ok := s.partitions.Selected(); ok && s.focus == 0 {
			return s.name, r.Number
		}
		return s.name, -1
	case *topics:
		if r, ok := s.grid.Selected(); ok {
			return r.Topic.Name, -1
		}
	}
	return "", -1
}

// cannotProduce says why nothing can be produced here.
func (a *App) cannotProduce() string {
	if a.options.Produce == nil {
		return "there is no way to produce here."
	}
	name, _ := a.produceTopic()
	if t, ok := a.topicOf(name); ok && !model.Allowed(t.Operations, model.OpWrite) {
		return "you lack the right WRITE on topic " + model.Clean(name) + "; ask for the ACL."
	}
	return ""
}

// lastMsg brings the last record of a topic.
type lastMsg struct {
	*produceForm
	record model.RecordContent
	err    error
}

// readLast reads the last record of the topic as a starting point.
func (f *produceForm) readLast(a *App) tea.Cmd {
	name := strings.TrimSpace(f.form.Value("topic"))
	t, ok := a.topicOf(name)
	if !ok || a.options.Reader == nil {
		a.say(model.Warning, "Topic "+model.Clean(name)+" is not known, so its last record can not be read.")
		return nil
	}
	ends := make(map[int32]int64)
	for i := range t.Partitions {
		p := &t.Partitions[i]
		if end, ok := p.End.Get(); ok && end > p.Start.Or(0) && (f.partition < 0 || p.Number == f.partition) && len(ends) < 32 {
			ends[p.Number] = end
		}
	}
	a.say(model.Info, "Reading the last record of "+model.Clean(name)+".")
	reader, parent := a.options.Reader, a.ctx
	return func() tea.Msg {
		ctx, cancel := context.WithTimeout(parent, contentTimeout)
		defer cancel()
		msg := lastMsg{produceForm: f, err: errors.New("the topic has no record that could be read")}
		_ = guard(func() error {
			for p, end := range ends {
				r, err := reader.Record(ctx, name, p, end-1, contentLimit)
				if err == nil && r.Status <= model.RecordAborted && (msg.err != nil || r.Time.After(msg.record.Time)) {
					msg.record, msg.err = r, nil
				} else if err != nil && msg.err != nil {
					msg.err = err
				}
			}
			return nil
		})
		return msg
	}
}

func (m lastMsg) arrive(a *App) tea.Cmd {
	a.frame.old = true
	if m.err != nil {
		_, text := a.explain(m.err)
		a.say(model.Warning, text)
		return nil
	}
	r, left := &m.record, []string{}
	set := func(field string, b []byte, size int) {
		switch {
		case size > len(b) || !isText(b) || bytes.ContainsAny(b, "\r"):
			left = append(left, field)
		default:
			m.form.Set(field, literal(b))
		}
	}
	source := fromTemplate
	if r.ValueSize < 0 {
		source = fromTombstone
	} else {
		value := r.Value
		var compact bytes.Buffer
		if json.Compact(&compact, value) == nil {
			value = compact.Bytes()
		}
		set("value", value, min(r.ValueSize, len(value)))
	}
	m.form.Set("source", source)
	set("key", r.Key, max(r.KeySize, 0))
	var headers []string
	for _, h := range r.Headers {
		if !isText(h.Value) || bytes.ContainsAny(h.Value, ",\n") {
			left = append(left, "header "+model.Clean(h.Key))
			continue
		}
		headers = append(headers, h.Key+"="+literal(h.Value))
	}
	m.form.Set("headers", strings.Join(headers, ", "))
	m.changed()
	words := fmt.Sprintf("As in record %s of %s/%d.", model.Count(r.Offset), model.Clean(r.Topic), r.Partition)
	if len(left) > 0 {
		words += " Left out, since it is not a line of text: " + strings.Join(left, ", ") + "."
	}
	a.say(model.OK, words)
	return nil
}

// literal is bytes as a template that makes them.
func literal(b []byte) string { return strings.ReplaceAll(string(b), "{{", `{{"{{"}}`) }
