package spark

import (
	"math"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"flightdeck/themes"
)

const unknown = -999

func line(samples []float64, cells int, g *themes.Glyphs) string {
	return Line(len(samples), func(i int) (float64, bool) { return samples[i], samples[i] != unknown }, cells, g)
}

func TestLine(t *testing.T) {
	cases := map[string]struct {
		samples        []float64
		cells          int
		unicode, ascii string
	}{
		"flat zero is low":             {[]float64{0, 0, 0, 0}, 2, "⣀⣀", "__"},
		"flat above zero is high":      {[]float64{7, 7, 7, 7}, 2, "⣿⣿", "##"},
		"rises":                        {[]float64{0, 1, 2, 3}, 2, "⣠⣾", "=#"},
		"falls":                        {[]float64{3, 2, 1, 0}, 2, "⣷⣄", "#_"},
		"small is not zero":            {[]float64{0, 1, 0, 1_000_000}, 2, "⣠⣸", "_#"},
		"gap":                          {[]float64{3, unknown, unknown, 3}, 2, "⡇⢸", " #"},
		"nothing known":                {[]float64{unknown, unknown}, 2, "  ", "  "},
		"no samples":                   {nil, 2, "  ", "  "},
		"few samples are at the right": {[]float64{3}, 2, " ⢸", " #"},
		"the latest of many":           {[]float64{9, 9, 9, 0, 0, 0, 0}, 2, "⣀⣀", "__"},
		"below zero":                   {[]float64{-5, 5}, 1, "⣸", "#"},
		"not a number":                 {[]float64{math.NaN(), 5}, 1, "⢸", "#"},
		"infinite":                     {[]float64{1, math.Inf(1)}, 1, "⣸", "#"},
		"no cells":                     {[]float64{1}, 0, "", ""},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := line(c.samples, c.cells, &themes.Unicode); got != c.unicode {
				t.Errorf("Unicode %q, want %q", got, c.unicode)
			}
			if got := line(c.samples, c.cells, &themes.ASCII); got != c.ascii {
				t.Errorf("ASCII %q, want %q", got, c.ascii)
			}
		})
	}
}

func TestLineWidth(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		samples := rapid.SliceOf(rapid.Float64()).Draw(t, "samples")
		cells := rapid.IntRange(0, 80).Draw(t, "cells")
		for _, g := range []*themes.Glyphs{&themes.Unicode, &themes.ASCII} {
			if n := (displaywidth.Options{EastAsianWidth: true}).String(line(samples, cells, g)); n != cells {
				t.Fatalf("%d cells, want %d", n, cells)
			}
		}
	})
}

func TestGauge(t *testing.T) {
	cases := map[string]struct {
		used, limit int64
		want        string
	}{
		"empty":          {0, 2000, "-----"},
		"one":            {1, 2000, "#----"},
		"half":           {1000, 2000, "###--"},
		"one below full": {1999, 2000, "####-"},
		"full":           {2000, 2000, "#####"},
		"over":           {3000, 2000, "#####"},
		"no limit":       {5, 0, "#####"},
		"below zero":     {-1, 2000, "-----"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Gauge(c.used, c.limit, 5, &themes.ASCII); got != c.want {
				t.Errorf("Gauge(%d, %d) = %q, want %q", c.used, c.limit, got, c.want)
			}
		})
	}
}
