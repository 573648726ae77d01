package model

import (
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestParseOffsetsCSV(t *testing.T) {
	five := GroupOffset{Topic: "orders", Partition: 0, Offset: Some[int64](5)}
	grouped := five
	grouped.Group = "g"
	quoted := GroupOffset{Topic: `a topic with, a comma and "quotes"`, Partition: 3, Offset: Some[int64](7)}
	for name, tt := range map[string]struct {
		text string
		want []GroupOffset
		err  string
	}{
		"one group":           {"orders,0,5\n", []GroupOffset{five}, ""},
		"several groups":      {"g,orders,0,5\n", []GroupOffset{grouped}, ""},
		"quoted":              {`"a topic with, a comma and ""quotes""",3,7` + "\n", []GroupOffset{quoted}, ""},
		"Windows":             {"\ufefforders,0,5\r\n\r\n", []GroupOffset{five}, ""},
		"no end of line":      {"orders,0,5", []GroupOffset{five}, ""},
		"warnings":            {"\nWarn: Partition 0 from topic x is empty. Falling back to latest known offset.\norders,0,5\n\n", []GroupOffset{five}, ""},
		"no offset":           {"orders,0,5\norders,1,-1\n", nil, `line 2: "-1" is not an offset`},
		"no partition":        {"orders,x,5\n", nil, `line 1: "x" is not a partition`},
		"partition too large": {"orders,2147483648,5\n", nil, "line 1"},
		"fields":              {"orders,0\n", nil, "line 1: there are 2 fields"},
		"twice":               {"orders,0,5\n\norders,0,6\n", nil, "line 3 names orders/0 again, which line 1 had"},
		"twice in two groups": {"g,orders,0,5\nh,orders,0,5\n", []GroupOffset{grouped, {"h", "orders", 0, Some[int64](5)}}, ""},
		"empty":               {"\n\n", nil, "names no offsets"},
		"torn quote":          {"\"orders,0,5\n", nil, "line 1 is not CSV"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseOffsetsCSV(tt.text)
			switch {
			case tt.err != "":
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("%v (%v), want the error %q", got, err, tt.err)
				}
			case err != nil || !reflect.DeepEqual(got, tt.want):
				t.Errorf("%v (%v), want %v", got, err, tt.want)
			}
		})
	}
}

func TestOffsetsCSVIsReadBack(t *testing.T) {
	name := rapid.StringMatching(`[a-zA-Z0-9._-]{1,40}|[ -~]{1,20}`)
	rapid.Check(t, func(t *rapid.T) {
		grouped := rapid.Bool().Draw(t, "grouped")
		offsets := rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) GroupOffset {
			o := GroupOffset{Topic: name.Draw(t, "topic"), Partition: rapid.Int32Min(0).Draw(t, "partition"), Offset: Some(rapid.Int64Min(0).Draw(t, "offset"))}
			if grouped {
				o.Group = name.Draw(t, "group")
			}
			return o
		}), 1, 20, func(o GroupOffset) GroupOffset { o.Offset = Int{}; return o }).Draw(t, "offsets")
		text := OffsetsCSV(offsets)
		got, err := ParseOffsetsCSV(text)
		if err != nil || !reflect.DeepEqual(got, offsets) {
			t.Fatalf("%q is %v (%v), want %v", text, got, err, offsets)
		}
	})
}
