package model

import (
	"math"
	"testing"
	"time"
)

func TestFormats(t *testing.T) {
	zone := time.FixedZone("", 9*3600)
	at := time.Date(2026, 1, 2, 14, 3, 22, 120e6, zone)
	tests := []struct{ name, got, want string }{
		{"count 0", Count(0), "0"},
		{"count of three digits", Count(999), "999"},
		{"count of four digits", Count(1000), "1,000"},
		{"count", Count(12480), "12,480"},
		{"count of millions", Count(1234567), "1,234,567"},
		{"negative count", Count(-12480), "-12,480"},
		{"negative count of three digits", Count(-480), "-480"},
		{"smallest count", Count(math.MinInt64), "-9,223,372,036,854,775,808"},

		{"short whole", ShortCount(7), "7"},
		{"short 0", ShortCount(0), "0"},
		{"short 999", ShortCount(999), "999"},
		{"short 1000", ShortCount(1000), "1.0k"},
		{"short 12480", ShortCount(12480), "12k"},
		{"short 999,499", ShortCount(999499), "999k"},
		{"short 999,500", ShortCount(999500), "1.0M"},
		{"short largest", ShortCount(math.MaxInt64), "9.2E"},

		{"rate 0", Rate(0), "0/s"},
		{"rate small", Rate(0.2), "0.2/s"},
		{"rate smaller", Rate(0.001), "<0.1/s"},
		{"rate of one digit", Rate(3), "3.0/s"},
		{"rate just below ten", Rate(9.96), "10/s"},
		{"rate", Rate(310.4), "310/s"},
		{"rate just below a thousand", Rate(999.7), "1.0k/s"},
		{"rate of thousands", Rate(1234), "1.2k/s"},
		{"rate of 31k", Rate(31234), "31k/s"},
		{"rate not a number", Rate(math.NaN()), "-"},

		{"duration none", Duration(0), "0s"},
		{"duration negative", Duration(-time.Second), "0s"},
		{"duration ms", Duration(12 * time.Millisecond), "12ms"},
		{"duration s", Duration(12*time.Second + 900*time.Millisecond), "12s"},
		{"duration m", Duration(250 * time.Second), "4m10s"},
		{"duration even m", Duration(4 * time.Minute), "4m"},
		{"duration h", Duration(3 * time.Hour), "3h"},
		{"duration h m", Duration(3*time.Hour + 5*time.Minute), "3h5m"},
		{"duration d", Duration(48 * time.Hour), "2d"},
		{"duration d h", Duration(52 * time.Hour), "2d4h"},
		{"duration long", Duration(2400 * 24 * time.Hour), "2,400d"},

		{"bytes", Bytes(312), "312 B"},
		{"bytes k", Bytes(1234), "1.2 kB"},
		{"bytes M", Bytes(48_200_000), "48 MB"},

		{"percent", Percent(0.81), "81 %"},
		{"percent all", Percent(1), "100 %"},
		{"percent nearly all", Percent(0.999), "99 %"},
		{"percent nearly none", Percent(0.001), "<1 %"},

		{"clock", Clock(at), "14:03:22"},
		{"clock today", ClockOn(at, at.Add(time.Hour)), "14:03:22"},
		{"clock tomorrow", ClockOn(at, at.Add(10*time.Hour)), "Jan 2 14:03:22"},
		{"clock today in another zone", ClockOn(at, at.Add(9*time.Hour).UTC()), "14:03:22"},
		{"stamp", Stamp(at), "2026-01-02 14:03:22.120 +09:00"},
		{"UTC", UTC(at), "2026-01-02T05:03:22.120Z"},

		{"one", Plural(1, "member"), "1 member"},
		{"many", Plural(1200, "member"), "1,200 members"},
		{"none", Plural(0, "member"), "0 members"},

		{"known", Some(int64(12480)).Text(Count), "12,480"},
		{"unknown", Int{}.Text(Count), "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if tt.got != tt.want {
				t.Errorf("got %q, want %q", tt.got, tt.want)
			}
		})
	}
}

func TestWidthsStaySmall(t *testing.T) {
	for v := 0.001; v < 1e18; v *= 1.37 {
		if s := Rate(v); len(s) > 6 {
			t.Errorf("Rate(%v) = %q, longer than 6", v, s)
		}
		if s := ShortCount(int64(v)); len(s) > 4 {
			t.Errorf("ShortCount(%v) = %q, longer than 4", v, s)
		}
	}
	for d := time.Millisecond; d < 100*24*time.Hour; d += d/3 + 1 {
		if s := Duration(d); len(s) > 6 {
			t.Errorf("Duration(%v) = %q, longer than 6", d, s)
		}
	}
}
