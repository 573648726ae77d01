package model

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// WithUTC is a time with its zone, and in UTC: 2026-01-02 14:03:22.120 +09:00 (2026-01-02T05:03:22.120Z).
func WithUTC(t time.Time) string { return Stamp(t) + " (" + UTC(t) + ")" }

// Layouts of a moment once date and time are separated by a T. Go takes a fraction of a second after any
// of them. Those with a zone come first.
var (
	zonedLayouts = []string{"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04Z07:00", "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z0700", "2006-01-02T15:04:05Z07", "2006-01-02T15:04Z07"}
	localLayouts = []string{"2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02"}
	clockLayouts = []string{"15:04:05", "15:04"}
)

// ParseMoment reads a moment: ISO 8601 with a zone (2026-01-02T14:03:22.120+09:00, ...Z), without one (2026-01-02 14:03), a
// time of today (14:03), or relative to now (-2h30m). now is the present moment in the zone that is meant where none is
// given. The answer is in the zone it was given in. The error is a sentence.
func ParseMoment(text string, now time.Time) (time.Time, error) {
	text = strings.TrimSpace(text)
	t, err := parseMoment(text, now)
	switch {
	case err != nil:
		return time.Time{}, err
	case t.UnixMilli() < 0:
		return time.Time{}, fmt.Errorf("%s is before 1970, and Kafka has no such times", Stamp(t))
	}
	return t, nil
}

func parseMoment(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, fmt.Errorf("a time is missing: write one such as %s, or -2h30m", now.Format("2006-01-02T15:04:05Z07:00"))
	}
	if back, ok := strings.CutPrefix(text, "-"); ok {
		d, err := ParseSpan(back)
		if err != nil {
			return time.Time{}, err
		}
		return now.Add(-d), nil
	}
	iso := text
	if len(iso) > 10 && (iso[10] == ' ' || iso[10] == 't') {
		iso = iso[:10] + "T" + strings.TrimLeft(iso[11:], " ")
	}
	// The zone may stand apart: 2026-01-02 14:03 +09:00.
	iso = strings.ReplaceAll(strings.ReplaceAll(iso, " +", "+"), " -", "-")
	iso = strings.Replace(strings.TrimSuffix(iso, " UTC"), "z", "Z", 1)
	if strings.HasSuffix(text, " UTC") {
		iso += "Z"
	}
	for _, layout := range zonedLayouts {
		if t, err := time.Parse(layout, iso); err == nil {
			return t, nil
		}
	}
	for _, layout := range localLayouts {
		if t, err := time.ParseInLocation(layout, iso, now.Location()); err == nil {
			return exists(t, layout, iso)
		}
	}
	for _, layout := range clockLayouts {
		today := now.Format("2006-01-02T") + iso
		if t, err := time.ParseInLocation("2006-01-02T"+layout, today, now.Location()); err == nil {
			return exists(t, "2006-01-02T"+layout, today)
		}
	}
	return time.Time{}, fmt.Errorf("%q is not a time: write one such as %s, or -2h30m", text, now.Format("2006-01-02T15:04:05Z07:00"))
}

// exists refuses a local time that clocks skipped when they were set forward; Go would take another one for it.
func exists(t time.Time, layout, text string) (time.Time, error) {
	if whole, _, _ := strings.Cut(text, "."); t.Format(layout) != whole {
		return time.Time{}, fmt.Errorf("there is no %s in the zone %s: clocks were set forward over it; give the time with its zone", text, t.Location())
	}
	return t, nil
}

var (
	spanPattern = regexp.MustCompile(`^(?:(\d+)w)?(?:(\d+)d)?(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s)?(?:(\d+)ms)?$`)
	isoPattern  = regexp.MustCompile(`^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+)(?:[.,](\d{1,3}))?S)?)?$`)
	spanUnits   = [...]time.Duration{7 * 24 * time.Hour, 24 * time.Hour, time.Hour, time.Minute, time.Second, time.Millisecond}
)

// maxSpan is some 100 years: what is longer is a slip of the hand.
const maxSpan = 100 * 366 * 24 * time.Hour

// ParseSpan reads a duration: 2h30m, 1d12h, 90s, or ISO 8601 (PT2H30M, P1DT12H). It is above 0. The error is a
// sentence.
func ParseSpan(text string) (time.Duration, error) {
	text = strings.ReplaceAll(strings.TrimSpace(text), " ", "")
	parts := spanPattern.FindStringSubmatch(strings.ToLower(text))
	if parts == nil {
		if parts = isoPattern.FindStringSubmatch(strings.ToUpper(text)); parts != nil {
			parts[6] = (parts[6] + "000")[:3]
		}
	}
	if parts == nil || text == "" {
		return 0, fmt.Errorf("%q is not a duration: write one such as 2h30m, 1d or PT2H30M", text)
	}
	var sum time.Duration
	for i, unit := range spanUnits {
		if parts[i+1] == "" {
			continue
		}
		n, err := strconv.ParseInt(parts[i+1], 10, 64)
		if err != nil || n > int64(maxSpan/unit) {
			return 0, fmt.Errorf("%s is more than 100 years", text)
		}
		sum += time.Duration(n) * unit
	}
	switch {
	case sum > maxSpan:
		return 0, fmt.Errorf("%s is more than 100 years", text)
	case sum <= 0:
		return 0, fmt.Errorf("a duration of 0 goes nowhere: write one such as 2h30m")
	}
	return sum, nil
}

// ISODuration is a duration as Java's Duration.parse takes it, in milliseconds: P1DT2H30M.
func ISODuration(d time.Duration) string {
	const day = 24 * time.Hour
	out := "P"
	if n := d / day; n > 0 {
		out += strconv.FormatInt(int64(n), 10) + "D"
	}
	if d %= day; d > 0 {
		out += "T"
	}
	if n := d / time.Hour; n > 0 {
		out += strconv.FormatInt(int64(n), 10) + "H"
	}
	if n := d % time.Hour / time.Minute; n > 0 {
		out += strconv.FormatInt(int64(n), 10) + "M"
	}
	if n := d % time.Minute; n > 0 {
		seconds := fmt.Sprintf("%d.%03d", n/time.Second, n%time.Second/time.Millisecond)
		out += strings.TrimSuffix(strings.TrimRight(seconds, "0"), ".") + "S"
	}
	if out == "P" {
		return "PT0S"
	}
	return out
}
