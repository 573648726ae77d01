package model

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

var seoul = time.FixedZone("KST", 9*60*60)

// noon is the present moment of these tests.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, seoul)

func TestParseMoment(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		text string
		now  time.Time
		want string // in UTC; empty for an error
	}{
		"with a zone":           {"2026-01-02T14:03:22.120+09:00", noon, "2026-01-02T05:03:22.120Z"},
		"UTC":                   {"2026-01-02T14:03:22Z", noon, "2026-01-02T14:03:22.000Z"},
		"lower case":            {"2026-01-02t14:03:22z", noon, "2026-01-02T14:03:22.000Z"},
		"short zone":            {"2026-01-02T14:03+0900", noon, "2026-01-02T05:03:00.000Z"},
		"hours of a zone":       {"2026-01-02T14:03+09", noon, "2026-01-02T05:03:00.000Z"},
		"zone apart":            {"2026-01-02 14:03 -05:00", noon, "2026-01-02T19:03:00.000Z"},
		"UTC in words":          {"2026-01-02 14:03 UTC", noon, "2026-01-02T14:03:00.000Z"},
		"local":                 {"2026-01-02 14:03", noon, "2026-01-02T05:03:00.000Z"},
		"local with fraction":   {"2026-01-02T14:03:22.5", noon, "2026-01-02T05:03:22.500Z"},
		"a day":                 {"2026-01-02", noon, "2026-01-01T15:00:00.000Z"},
		"a time of today":       {"08:30", noon, "2026-01-01T23:30:00.000Z"},
		"ago":                   {"-2h30m", noon, "2026-01-02T00:30:00.000Z"},
		"days ago":              {"-1d", noon, "2026-01-01T03:00:00.000Z"},
		"winter":                {"2026-01-15 12:00", noon.In(berlin), "2026-01-15T11:00:00.000Z"},
		"summer":                {"2026-07-15 12:00", noon.In(berlin), "2026-07-15T10:00:00.000Z"},
		"skipped by the clocks": {"2026-03-29 02:30", noon.In(berlin), ""},
		"not a day":             {"2026-02-30 12:00", noon, ""},
		"before 1970":           {"1969-12-31T23:59:59.999Z", noon, ""}, // -1 would be the log end
		"1970":                  {"1970-01-01T00:00:00Z", noon, "1970-01-01T00:00:00.000Z"},
		"nothing":               {" ", noon, ""},
		"words":                 {"yesterday", noon, ""},
		"too far back":          {"-90000d", noon, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseMoment(tt.text, tt.now)
			switch {
			case tt.want == "" && err == nil:
				t.Errorf("%q is %s", tt.text, WithUTC(got))
			case tt.want != "" && (err != nil || UTC(got) != tt.want):
				t.Errorf("%q is %s (%v), want %s", tt.text, WithUTC(got), err, tt.want)
			}
		})
	}
}

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"2h30m": 150 * time.Minute, "1d": 24 * time.Hour, "1w 2d": 9 * 24 * time.Hour, "90s": 90 * time.Second, "250ms": 250 * time.Millisecond,
		"PT2H30M": 150 * time.Minute, "P1DT12H": 36 * time.Hour, "pt1.5s": 1500 * time.Millisecond, "P2D": 48 * time.Hour,
		"": 0, "P": 0, "0s": 0, "-1h": 0, "1x": 0, "99999999999999999999s": 0, "40000d": 0, "h": 0,
	} {
		got, err := ParseSpan(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("%q is %v (%v), want %v", text, got, err, want)
		}
	}
}

func TestISODurationIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := time.Duration(rapid.Int64Range(1, int64(maxSpan/time.Millisecond)).Draw(t, "ms")) * time.Millisecond
		if got, err := ParseSpan(ISODuration(d)); err != nil || got != d {
			t.Fatalf("%v is %s, and that is %v (%v)", d, ISODuration(d), got, err)
		}
	})
}

func TestParseResetSaysWhatItUnderstood(t *testing.T) {
	for _, tt := range []struct {
		mode     ResetMode
		argument string
		want     string // empty for an error
	}{
		{ResetEarliest, "", "to the log start"},
		{ResetOffset, "12,480", "to offset 12,480"},
		{ResetOffset, "-1", ""},
		{ResetOffset, "-2", ""},
		{ResetOffset, "", ""},
		{ResetShift, "-1000", "back by 1,000"},
		{ResetShift, "+5", "forward by 5"},
		{ResetShift, "0", ""},
		{ResetTime, "2026-01-02 09:00", "to the first record at or after 2026-01-02 09:00:00.000 +09:00 (2026-01-02T00:00:00.000Z)"},
		{ResetBack, "30m", "back by 30m, to the first record at or after 2026-01-02 11:30:00.000 +09:00 (2026-01-02T02:30:00.000Z)"},
		{ResetGroup, "billing", "to where group billing is"},
		{ResetGroup, " ", ""},
		{ResetFile, "orders,0,5\n", "to what the file says"},
		{ResetFile, "", ""},
	} {
		spec, err := ParseReset(tt.mode, tt.argument, noon)
		if got := spec.Text(noon); (err == nil) != (tt.want != "") || err == nil && got != tt.want {
			t.Errorf("%s %q: %q (%v), want %q", tt.mode, tt.argument, got, err, tt.want)
		}
	}
}
