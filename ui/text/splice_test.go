package text

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestSplice(t *testing.T) {
	cases := map[string]struct {
		line, over string
		x          int
		want       string
	}{
		"in the middle":          {"abcdefgh", "XY", 2, "abXYefgh"},
		"at the start":           {"abcdefgh", "XY", 0, "XYcdefgh"},
		"at the end":             {"abcd", "XY", 2, "abXY"},
		"behind the end":         {"ab", "XY", 4, "ab  XY"},
		"left of the line":       {"abcd", "XYZ", -1, "YZcd"},
		"wide character cut":     {"주문서비", "XY", 1, " XY 서비"},
		"half of one behind":     {"a주b", "XY", 0, "XY b"},
		"half of one before":     {"주ab", "X", 1, " Xab"},
		"empty line":             {"", "X", 2, "  X"},
		"nothing over":           {"abc", "", 1, "abc"},
		"styled line goes on":    {"\x1b[31mabcdef\x1b[m", "XY", 2, "\x1b[31mab\x1b[mXY\x1b[31mef\x1b[m"},
		"styles of both":         {"\x1b[31mabc\x1b[mdef", "\x1b[1mX\x1b[m", 4, "\x1b[31mabc\x1b[md\x1b[1mX\x1b[m\x1b[31m\x1b[mf"},
		"covered style is kept ": {"ab\x1b[7mcd\x1b[mef", "XXXX", 1, "a\x1b[7m\x1b[mXXXX\x1b[7m\x1b[mf"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Splice(c.line, c.over, c.x); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

func TestCenter(t *testing.T) {
	frame := strings.Join([]string{"......", "......", "......", "......"}, "\n")
	want := strings.Join([]string{"......", "..ab..", "..cd..", "......"}, "\n")
	if got := Center(frame, "ab\ncd", 6, 4); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := Center("..", "abcd\nefgh", 2, 1); got != "abcd" {
		t.Errorf("a box larger than the frame: %q", got)
	}
}

// TestSpliceWidth: the cells right of the box do not move.
func TestSpliceWidth(t *testing.T) {
	piece := rapid.SampledFrom([]string{"a", "bc", "주", "문", "\x1b[31m", "\x1b[m", "\x1b[1;7m", "e\u0301", "🇰🇷"})
	rapid.Check(t, func(t *rapid.T) {
		line := strings.Join(rapid.SliceOf(piece).Draw(t, "line"), "")
		over := strings.Join(rapid.SliceOf(piece).Draw(t, "over"), "")
		x := rapid.IntRange(0, 30).Draw(t, "x")
		got := Splice(line, over, x)
		if w, want := Width(got), max(Width(line), x+Width(over)); w != want {
			t.Fatalf("%d cells, want %d: %q", w, want, got)
		}
		if !strings.Contains(ansi.Strip(got), ansi.Strip(over)) {
			t.Fatalf("%q is not in %q", over, got)
		}
	})
}
