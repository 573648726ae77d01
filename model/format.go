package model

import (
	"math"
	"strconv"
	"time"
)

// Unknown is what a screen shows for a value that is not known.
const Unknown = "-"

// Text is the value in the given format, such as g.Lag.Text(Count), or [Unknown].
func (o Opt[T]) Text(format func(T) string) string {
	if !o.known {
		return Unknown
	}
	return format(o.value)
}

// Count is a number with its digits in groups of three: 12,480.
func Count(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, digits = "-", digits[1:]
	}
	if len(digits) <= 3 {
		return sign + digits
	}
	b := make([]byte, 0, len(sign)+len(digits)+len(digits)/3)
	b = append(b, sign...)
	for i := range len(digits) {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b = append(b, ',')
		}
		b = append(b, digits[i])
	}
	return string(b)
}

// ShortCount is a number in at most four characters (five with a sign) for narrow cells: 999, 1.2k, 31k, 310k, 1.2M, and so
// on to 9.2E. Two digits are right, the rest is rounded.
func ShortCount(n int64) string { return short(float64(n), 1) }

// Rate is a number a second in at most six characters (seven with a sign): 0/s, 0.2/s, 310/s, 1.2k/s. A rate that is not
// zero is never shown as zero: it is <0.1/s.
func Rate(perSecond float64) string {
	if a := math.Abs(perSecond); a > 0 && a < 0.05 {
		return "<0.1/s"
	}
	if math.IsNaN(perSecond) || math.IsInf(perSecond, 0) {
		return Unknown
	}
	return short(perSecond, 10) + "/s"
}

// short writes v with a unit of thousands. Below 10 it has one decimal, below 1,000 none; without a
// unit it has decimals only when scale is 10 (tenths matter), not when it is 1 (v is a whole number).
func short(v, scale float64) string {
	sign := ""
	if v < 0 {
		sign, v = "-", -v
	}
	units := [...]string{"", "k", "M", "G", "T", "P", "E"}
	unit := 0
	// 999.5 is 1.0k, so the step up is taken where rounding would make four digits.
	for v >= 999.5 && unit < len(units)-1 {
		v, unit = v/1000, unit+1
	}
	decimals := 0
	if v < 9.95 && v > 0 && (unit > 0 || scale > 1) {
		decimals = 1
	}
	return sign + strconv.FormatFloat(v, 'f', decimals, 64) + units[unit]
}

// Duration is a time span in its one or two largest units, rounded down: 12ms, 12s, 4m10s, 3h, 3h5m, 2d, 2d4h. Negative
// spans, which clocks that were set back can make, are 0s.
func Duration(d time.Duration) string {
	const day = 24 * time.Hour
	switch {
	case d < time.Millisecond:
		return "0s"
	case d < time.Second:
		return strconv.FormatInt(d.Milliseconds(), 10) + "ms"
	case d < time.Minute:
		return twoUnits(d, time.Second, "s", 0, "")
	case d < time.Hour:
		return twoUnits(d, time.Minute, "m", time.Second, "s")
	case d < day:
		return twoUnits(d, time.Hour, "h", time.Minute, "m")
	case d < 100*day:
		return twoUnits(d, day, "d", time.Hour, "h")
	}
	return Count(int64(d/day)) + "d"
}

func twoUnits(d, large time.Duration, largeName string, small time.Duration, smallName string) string {
	s := strconv.FormatInt(int64(d/large), 10) + largeName
	if small > 0 && d%large >= small {
		s += strconv.FormatInt(int64(d%large/small), 10) + smallName
	}
	return s
}

// Bytes is a size with a decimal unit: 312 B, 1.2 kB, 48 MB.
func Bytes(n int64) string {
	if n > -1000 && n < 1000 {
		return strconv.FormatInt(n, 10) + " B"
	}
	s := short(float64(n), 1)
	return s[:len(s)-1] + " " + s[len(s)-1:] + "B"
}

// Percent is a part of a whole between 0 and 1: 81 %. What is not all is never 100 %, and what is not nothing is never 0 %.
func Percent(part float64) string {
	n := int(math.Round(part * 100))
	switch {
	case n <= 0 && part > 0:
		return "<1 %"
	case n >= 100 && part < 1:
		n = 99
	}
	return strconv.Itoa(n) + " %"
}

// Clock is the time of day in t's own location: 14:02:11.
func Clock(t time.Time) string { return t.Format("15:04:05") }

// ClockOn is [Clock], with the day in front when that is not the day of now: Jan 2 14:02:11.
func ClockOn(t, now time.Time) string {
	y, m, d := t.Date()
	ny, nm, nd := now.In(t.Location()).Date()
	if y == ny && m == nm && d == nd {
		return Clock(t)
	}
	return t.Format("Jan 2 15:04:05")
}

// Stamp is a moment with date, milliseconds and zone: 2026-01-02 14:03:22.120 +09:00.
func Stamp(t time.Time) string { return t.Format("2006-01-02 15:04:05.000 -07:00") }

// UTC is a moment in UTC, as it is written to files and logs: 2026-01-02T05:03:22.120Z.
func UTC(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// Plural is a count with its noun: 1 member, 3 members. The plural is the noun with an s.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Count(int64(n)) + " " + noun + "s"
}
