package model

import (
	"fmt"
	"math"
	"testing"
	"time"
)

const sec = int64(time.Second)

// feed reads a counter at the given seconds and values and returns its rate at the last.
func feed(readings ...[2]int64) (*progress, string) {
	var p progress
	var now int64
	for _, r := range readings {
		now = r[0] * sec
		p.observe(r[1], now)
	}
	return &p, p.rate(now).Text(func(v float64) string { return fmt.Sprintf("%.4g", v) })
}

func TestRate(t *testing.T) {
	steps := func(n, every, step int64) (readings [][2]int64) {
		for s := range n {
			readings = append(readings, [2]int64{100 + s, (s / every) * step})
		}
		return readings
	}
	tests := []struct {
		name     string
		readings [][2]int64
		want     string
	}{
		{"nothing read", nil, "-"},
		{"one reading", [][2]int64{{100, 5}}, "-"},
		{"the same reading again", [][2]int64{{100, 5}, {100, 5}}, "-"},
		{"an older reading is ignored", [][2]int64{{100, 5}, {99, 50}}, "-"},
		{"standing still", [][2]int64{{100, 5}, {101, 5}}, "0"},
		{"two readings", [][2]int64{{100, 0}, {102, 20}}, "10"},
		{"steady, every second", steps(30, 1, 10), "10"},
		{"steady, every thirty seconds", [][2]int64{{100, 0}, {130, 300}, {160, 600}}, "10"},
		{"commits every 5 s, just after one", steps(26, 5, 50), "10"},
		{"commits every 5 s, just before one", steps(30, 5, 50), "10"},
		{"commits every 30 s, just before one", steps(150, 30, 300), "10"},
		{"stood still for 15 s", append(steps(20, 1, 10), [2]int64{119 + 16, 190}), "0"},
		{"went back", [][2]int64{{100, 50}, {102, 60}, {104, 0}}, "-"},
		{"went back and moves", [][2]int64{{100, 50}, {102, 60}, {104, 0}, {106, 8}}, "4"},
		{"moves again after a long stop", [][2]int64{{100, 0}, {103, 30}, {106, 60}, {200, 60}, {202, 70}}, "5"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := feed(tt.readings...); got != tt.want {
				t.Errorf("rate = %s, want %s", got, tt.want)
			}
		})
	}
}

func TestRateFollowsAChangeOfPace(t *testing.T) {
	var p progress
	v, now := int64(0), 100*sec
	for range 60 {
		v, now = v+10, now+sec
		p.observe(v, now)
	}
	for range 20 {
		v, now = v+100, now+sec
		p.observe(v, now)
	}
	if r := p.rate(now).Or(0); math.Abs(r-100) > 5 {
		t.Errorf("20 s after the pace went from 10 to 100 a second the rate is %v", r)
	}
}

func TestRateOfAnOldReadingIsUnknown(t *testing.T) {
	p, _ := feed([2]int64{100, 0}, [2]int64{102, 20})
	if got := p.rate(102*sec + int64(staleAfter) + 1); got.Known() {
		t.Errorf("rate = %v a minute after the last reading, want unknown", got)
	}
}

func TestMoved(t *testing.T) {
	p, _ := feed([2]int64{100, 5}, [2]int64{101, 5})
	if got := p.moved(); got != 0 {
		t.Errorf("moved = %v before any move, want 0", got)
	}
	p, _ = feed([2]int64{100, 5}, [2]int64{103, 6}, [2]int64{110, 6})
	if got := p.moved(); got != 103*sec {
		t.Errorf("moved = %v, want 103 s", got/sec)
	}
}

func TestSeries(t *testing.T) {
	var s series
	var held [][]Int
	for i := range int64(500) {
		s.add(Some(i))
		w := s.window()
		if len(w) != int(min(i+1, TrendLen)) || w[len(w)-1] != Some(i) || w[0] != Some(max(0, i-TrendLen+1)) {
			t.Fatalf("after %d values the window has %d, from %v to %v", i+1, len(w), w[0], w[len(w)-1])
		}
		held = append(held, w)
	}
	for i, w := range held {
		if w[len(w)-1] != Some(int64(i)) {
			t.Fatalf("window %d was changed after it was handed out", i)
		}
	}
	if c := cap(s.values); c > 2*TrendLen {
		t.Errorf("the series holds %d values", c)
	}
}

func TestETA(t *testing.T) {
	none := None[float64]()
	tests := []struct {
		name               string
		lag                Int
		consumed, produced Opt[float64]
		want               string
	}{
		{"shrinks", Some(int64(1000)), Some(150.0), Some(50.0), "10s"},
		{"nothing produced", Some(int64(100)), Some(10.0), Some(0.0), "10s"},
		{"nearly there", Some(int64(1)), Some(100.0), Some(0.0), "1s"},
		{"no lag", Some(int64(0)), Some(10.0), Some(1.0), "-"},
		{"grows", Some(int64(10)), Some(10.0), Some(11.0), "-"},
		{"stands", Some(int64(10)), Some(10.0), Some(10.0), "-"},
		{"takes for ever", Some(int64(math.MaxInt64)), Some(10.0), Some(9.0), "-"},
		{"lag unknown", Int{}, Some(10.0), Some(1.0), "-"},
		{"consumed unknown", Some(int64(10)), none, Some(1.0), "-"},
		{"produced unknown", Some(int64(10)), Some(10.0), none, "-"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := eta(tt.lag, tt.consumed, tt.produced).Text(Duration); got != tt.want {
				t.Errorf("eta = %s, want %s", got, tt.want)
			}
		})
	}
}
