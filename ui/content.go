package ui

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"flightdeck/model"
	"flightdeck/themes"
)

// format is how bytes are shown.
type format uint8

const (
	formatAuto format = iota // JSON, text or hex, as the bytes are
	formatText
	formatHex
	formats
)

func (f format) String() string { return [...]string{"as it is", "text", "hex"}[f%formats] }

// paragraphs show a record.
func (f format) paragraphs(r *model.RecordContent, loc *time.Location) []paragraph {
	label := func(name string) paragraph { return paragraph{text: name, tok: themes.Header, verbatim: true} }
	if r.Status > model.RecordAborted {
		return []paragraph{{text: sentence(r.Status.String()), tok: themes.Muted}}
	}
	var ps []paragraph
	if r.Status != model.RecordFound {
		ps = append(ps, paragraph{text: sentence(r.Status.String()), tok: themes.Warning})
	}
	clock := "set by the producer"
	if r.LogAppend {
		clock = "set by the broker"
	}
	ps = append(ps, paragraph{lead: "time  ", text: model.Stamp(r.Time.In(loc)) + ", " + clock, tok: themes.Muted})
	key := f.bytes(r.Key, r.KeySize)
	if len(key) == 1 {
		key[0].lead = "key   "
		ps = append(ps, key[0])
	} else {
		ps = append(append(ps, label("Key")), key...)
	}
	if len(r.Headers) > 0 {
		ps = append(ps, label(fmt.Sprintf("Headers %d", len(r.Headers)+r.HeadersLeft)))
		for _, h := range r.Headers {
			lines := f.bytes(h.Value, h.Size)
			lines[0].lead = "  " + model.Clean(h.Key) + " = "
			ps = append(ps, lines...)
		}
		if r.HeadersLeft > 0 {
			ps = append(ps, paragraph{lead: "  ", text: fmt.Sprintf("and %d more", r.HeadersLeft), tok: themes.Faint})
		}
	}
	kind := f.kind(r.Value)
	title := "Value"
	switch {
	case r.ValueSize > 0:
		title += fmt.Sprintf(", %s, %s", kind, model.Bytes(int64(r.ValueSize)))
	case r.ValueSize == 0:
		title += ", 0 B"
	}
	ps = append(ps, label(title))
	return append(ps, f.bytes(r.Value, r.ValueSize)...)
}

// kind names how a value is shown.
func (f format) kind(b []byte) string {
	switch {
	case f == formatAuto && isJSON(b):
		return "JSON"
	case f == formatText, f == formatAuto && isText(b):
		return "text"
	}
	return "hex"
}

// bytes shows bytes in lines; at least one. size is their whole length, -1 when there are none.
func (f format) bytes(b []byte, size int) []paragraph {
	switch {
	case size < 0:
		return []paragraph{{text: "none", tok: themes.Faint}}
	case size == 0:
		return []paragraph{{text: "empty", tok: themes.Faint}}
	}
	var ps []paragraph
	switch f.kind(b) {
	case "JSON":
		var indented bytes.Buffer
		if json.Indent(&indented, b, "", "  ") == nil {
			b = indented.Bytes()
		}
		ps = textLines(b)
	case "text":
		ps = textLines(b)
	default:
		ps = hexLines(b)
	}
	if len(b) > 0 && size > contentLimit {
		ps = append(ps, paragraph{text: fmt.Sprintf("cut after %s of %s", model.Bytes(contentLimit), model.Bytes(int64(size))), tok: themes.Warning})
	}
	return ps
}

func isJSON(b []byte) bool {
	t := bytes.TrimSpace(b)
	return len(t) > 1 && (t[0] == '{' || t[0] == '[') && json.Valid(t)
}

// isText reports whether bytes are text of some language: UTF-8 with hardly a control character.
func isText(b []byte) bool {
	if !utf8.Valid(b) {
		// A value that was cut may end inside a character.
		for cut := 1; cut < utf8.UTFMax && cut < len(b); cut++ {
			if utf8.Valid(b[:len(b)-cut]) {
				return len(b) >= contentLimit
			}
		}
		return false
	}
	odd := 0
	for _, r := range string(b) {
		if r == 0 || unicode.IsControl(r) && r != '\n' && r != '\r' && r != '\t' {
			odd++
		}
	}
	return odd*20 <= len(b)
}

func textLines(b []byte) []paragraph {
	var ps []paragraph
	for l := range strings.SplitSeq(strings.TrimRight(string(b), "\n"), "\n") {
		l = strings.ReplaceAll(strings.TrimSuffix(l, "\r"), "\t", "    ")
		ps = append(ps, paragraph{text: model.Clean(l), tok: themes.Text, verbatim: true})
	}
	return ps
}

// hexLine is how many bytes a line of hex shows.
const hexLine = 8

func hexLines(b []byte) []paragraph {
	var ps []paragraph
	if len(b) > 5 && b[0] == 0 {
		ps = append(ps, paragraph{text: fmt.Sprintf("may be of schema %d of a schema registry (magic byte 0)", binary.BigEndian.Uint32(b[1:5])), tok: themes.Faint})
	}
	for at := 0; at < len(b); at += hexLine {
		part := b[at:min(at+hexLine, len(b))]
		shown := make([]byte, len(part))
		for i, c := range part {
			shown[i] = '.'
			if c >= 0x20 && c < 0x7f {
				shown[i] = c
			}
		}
		digits := hex.EncodeToString(part)
		var spaced strings.Builder
		for i := 0; i < len(digits); i += 2 {
			spaced.WriteString(digits[i:i+2] + " ")
		}
		ps = append(ps, paragraph{text: fmt.Sprintf("%06x  %-24s %s", at, spaced.String(), shown), tok: themes.Text, verbatim: true})
	}
	return ps
}
