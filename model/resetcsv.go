package model

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// ParseOffsetsCSV reads offsets in the format of kafka-consumer-groups.sh --export: topic,partition,offset without a
// heading, or group,topic,partition,offset when several groups were exported. Empty lines and lines that the
// tool prints as warnings are skipped. The error is a sentence that names the line.
func ParseOffsetsCSV(text string) ([]GroupOffset, error) {
	r := csv.NewReader(strings.NewReader(stripWarnings(text)))
	r.FieldsPerRecord = -1
	seen := make(map[GroupOffset]int)
	var out []GroupOffset
	for {
		fields, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			if p, ok := errors.AsType[*csv.ParseError](err); ok {
				return nil, fmt.Errorf("line %d is not CSV: %w", p.StartLine, p.Err)
			}
			return nil, fmt.Errorf("the file is not CSV: %w", err)
		}
		line, _ := r.FieldPos(0)
		o, err := offsetOf(fields)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		where := o
		where.Offset = Int{}
		if first, twice := seen[where]; twice {
			return nil, fmt.Errorf("line %d names %s/%d again, which line %d had", line, o.Topic, o.Partition, first)
		}
		seen[where] = line
		out = append(out, o)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the file names no offsets: lines are topic,partition,offset")
	}
	return out, nil
}

// stripWarnings empties the lines that Kafka's tool mixes into an export, so that line numbers stay right.
func stripWarnings(text string) string {
	var b strings.Builder
	for line := range strings.Lines(strings.TrimPrefix(text, "\ufeff")) {
		if strings.HasPrefix(line, "Warn: ") {
			line = "\n"
		}
		b.WriteString(line)
	}
	return b.String()
}

func offsetOf(fields []string) (o GroupOffset, err error) {
	switch len(fields) {
	case 3:
	case 4:
		o.Group, fields = fields[0], fields[1:]
		if o.Group == "" {
			return o, fmt.Errorf("the group is empty")
		}
	default:
		return o, fmt.Errorf("there are %s, and not topic,partition,offset or group,topic,partition,offset", Plural(len(fields), "field"))
	}
	if o.Topic = fields[0]; o.Topic == "" {
		return o, fmt.Errorf("the topic is empty")
	}
	n, err := strconv.ParseInt(strings.TrimSpace(fields[1]), 10, 32)
	if err != nil || n < 0 {
		return o, fmt.Errorf("%q is not a partition", fields[1])
	}
	offset, err := strconv.ParseInt(strings.TrimSpace(fields[2]), 10, 64)
	if err != nil || offset < 0 {
		return o, fmt.Errorf("%q is not an offset", fields[2])
	}
	o.Partition, o.Offset = int32(n), Some(offset)
	return o, nil
}

// OffsetsCSV writes offsets so that Kafka's tools read them with --from-file. The group is written when any has one. What
// has no offset is left out, since the format cannot say that.
func OffsetsCSV(offsets []GroupOffset) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	grouped := false
	for i := range offsets {
		grouped = grouped || offsets[i].Group != ""
	}
	for i := range offsets {
		o := &offsets[i]
		offset, ok := o.Offset.Get()
		if !ok {
			continue
		}
		fields := []string{o.Topic, strconv.Itoa(int(o.Partition)), strconv.FormatInt(offset, 10)}
		if grouped {
			fields = append([]string{o.Group}, fields...)
		}
		_ = w.Write(fields) // a strings.Builder takes everything
	}
	w.Flush()
	return b.String()
}

// OffsetsFor are the offsets of a file that are for a group: those that name it, or all when the file names no
// groups.
func OffsetsFor(offsets []GroupOffset, group string) []GroupOffset {
	var out []GroupOffset
	for _, o := range offsets {
		if o.Group == "" || o.Group == group {
			out = append(out, o)
		}
	}
	return out
}
