package model

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"text/template"
	"time"
)

// Template makes keys and values of records. It is not safe for concurrent use.
type Template struct {
	text string
	t    *template.Template // nil for a plain text
	buf  bytes.Buffer
}

// TemplateData is what a template can use:
//
//	{{.N}}                  the number of the record, from 1
//	{{.UUID}}               a random UUID
//	{{.Now}}                the time in ISO 8601 with milliseconds, UTC
//	{{.Millis}}             the time in milliseconds since 1970
//	{{choice "a" "b"}}      one of several, at random
//	{{random 1 100}}        a number from 1 to 100, at random
type TemplateData struct {
	// N is the number of the record, from 1.
	N    int64
	Time time.Time
}

// UUID is a random UUID (version 4).
func (TemplateData) UUID() string {
	hi, lo := rand.Uint64(), rand.Uint64()
	hi = hi&^0xf000 | 0x4000
	lo = lo&^(3<<62) | 2<<62
	return fmt.Sprintf("%08x-%04x-%04x-%04x-%012x", hi>>32, hi>>16&0xffff, hi&0xffff, lo>>48, lo&(1<<48-1))
}

// Now is the time in ISO 8601 with milliseconds, UTC.
func (d TemplateData) Now() string { return d.Time.UTC().Format("2006-01-02T15:04:05.000Z") }

// Millis is the time in milliseconds since 1970.
func (d TemplateData) Millis() int64 { return d.Time.UnixMilli() }

var templateFunctions = template.FuncMap{
	"choice": func(of ...any) (any, error) {
		if len(of) == 0 {
			return nil, errors.New("choice needs something to choose from")
		}
		return of[rand.IntN(len(of))], nil
	},
	"random": func(from, to int64) (int64, error) {
		if to < from {
			return 0, fmt.Errorf("there is no number from %d to %d", from, to)
		}
		return from + rand.Int64N(to-from+1), nil
	},
}

// ParseTemplate parses a template (text/template); see [TemplateData]. It is tried once, so that a field that does
// not exist is an error here.
func ParseTemplate(text string) (*Template, error) {
	if !strings.Contains(text, "{{") {
		return &Template{text: text}, nil
	}
	t, err := template.New("template").Funcs(templateFunctions).Option("missingkey=error").Parse(text)
	if err != nil {
		return nil, templateError(err)
	}
	out := &Template{text: text, t: t}
	if _, err := out.Execute(TemplateData{N: 1}); err != nil {
		return nil, err
	}
	return out, nil
}

// Constant reports whether the text is the same for every record.
func (t *Template) Constant() bool { return t.t == nil }

// Execute makes the text of one record.
func (t *Template) Execute(d TemplateData) ([]byte, error) {
	if t.t == nil {
		return []byte(t.text), nil
	}
	t.buf.Reset()
	if err := t.t.Execute(&t.buf, d); err != nil {
		return nil, templateError(err)
	}
	return bytes.Clone(t.buf.Bytes()), nil
}

// templateError leaves out what is of no use to somebody who typed a line.
func templateError(err error) error {
	return errors.New(strings.TrimPrefix(strings.TrimPrefix(err.Error(), "template: "), "template:"))
}
