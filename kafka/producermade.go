package kafka

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/model"
)

// longestLine is the longest line of a file of values, and the largest file that is one value.
const longestLine = 64 << 20

// made are the records of a [model.ProduceSpec].
type made struct {
	spec       *model.ProduceSpec
	n          int64
	key, value *model.Template
	headers    []*model.Template
	plain      *kgo.Record  // when all records are the same
	slab       []kgo.Record // copies of plain yet to be given out, since many small allocations are slow
	file       *os.File
	lines      *bufio.Scanner
	whole      []byte
}

func newMade(spec *model.ProduceSpec) (*made, error) {
	m := &made{spec: spec}
	var err error
	if m.key, err = model.ParseTemplate(spec.Key); err != nil {
		return nil, err
	}
	if m.value, err = model.ParseTemplate(spec.Value); err != nil {
		return nil, err
	}
	constant := m.key.Constant() && m.value.Constant() && (spec.File == "" || spec.Whole)
	for _, h := range spec.Headers {
		t, err := model.ParseTemplate(h.Value)
		if err != nil {
			return nil, err
		}
		constant = constant && t.Constant()
		m.headers = append(m.headers, t)
	}
	if err := m.open(); err != nil {
		return nil, err
	}
	if constant {
		if m.plain, err = m.make(); err != nil {
			m.close()
			return nil, err
		}
	}
	return m, nil
}

// open opens the file of values.
func (m *made) open() error {
	if m.spec.File == "" {
		return nil
	}
	f, err := os.Open(m.spec.File)
	if err != nil {
		return err
	}
	if !m.spec.Whole {
		m.file = f
		m.rewind()
		return nil
	}
	defer f.Close()
	m.whole, err = io.ReadAll(io.LimitReader(f, longestLine+1))
	if err == nil && len(m.whole) > longestLine {
		err = fmt.Errorf("%s is larger than a record can be", m.spec.File)
	}
	return err
}

func (m *made) rewind() {
	m.lines = bufio.NewScanner(m.file)
	m.lines.Buffer(make([]byte, 64<<10), longestLine)
}

func (m *made) close() {
	if m.file != nil {
		m.file.Close()
	}
}

func (m *made) next(context.Context) (*kgo.Record, model.RecordRef, error) {
	name := model.RecordRef{Topic: m.spec.Topic, Partition: -1}
	if m.spec.Count > 0 && m.n >= m.spec.Count {
		return nil, name, io.EOF
	}
	m.n++
	name.Offset = m.n
	if m.plain != nil {
		if len(m.slab) == 0 {
			m.slab = make([]kgo.Record, 128)
		}
		r := &m.slab[0]
		m.slab = m.slab[1:]
		*r = *m.plain
		return r, name, nil
	}
	r, err := m.make()
	return r, name, err
}

// make makes a record of its own.
func (m *made) make() (*kgo.Record, error) {
	data := model.TemplateData{N: max(m.n, 1), Time: time.Now()}
	r := &kgo.Record{Topic: m.spec.Topic, Partition: m.spec.Partition.Or(0)}
	var err error
	if m.spec.Key != "" {
		if r.Key, err = m.key.Execute(data); err != nil {
			return nil, err
		}
	}
	switch {
	case m.spec.Tombstone:
	case m.whole != nil:
		r.Value = m.whole
	case m.file != nil:
		if r.Value, err = m.line(); err != nil {
			return nil, err
		}
	default:
		if r.Value, err = m.value.Execute(data); err != nil {
			return nil, err
		}
	}
	for i, t := range m.headers {
		value, err := t.Execute(data)
		if err != nil {
			return nil, err
		}
		r.Headers = append(r.Headers, kgo.RecordHeader{Key: m.spec.Headers[i].Key, Value: value})
	}
	return r, nil
}

// line is the next line of the file. Where more records are wanted than it has lines, it begins again.
func (m *made) line() ([]byte, error) {
	for again := range 2 {
		if m.lines.Scan() {
			return append([]byte{}, m.lines.Bytes()...), nil
		}
		if err := m.lines.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", m.spec.File, err)
		}
		if again == 1 || m.spec.Count == 0 || m.n == 1 {
			break
		}
		if _, err := m.file.Seek(0, io.SeekStart); err != nil {
			return nil, err
		}
		m.rewind()
	}
	return nil, io.EOF
}
