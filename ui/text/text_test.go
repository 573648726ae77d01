package text

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"
)

func TestTruncate(t *testing.T) {
	cases := map[string]struct {
		in   string
		w    int
		want string
	}{
		"fits":                           {"orders", 6, "orders"},
		"cut":                            {"order-service", 8, "order-s⋯"},
		"one cell":                       {"orders", 1, "⋯"},
		"no cell":                        {"orders", 0, ""},
		"below zero":                     {"orders", -1, ""},
		"empty":                          {"", 5, ""},
		"wide characters":                {"주문 서비스", 8, "주문 서⋯"},
		"wide character at the edge":     {"주문", 3, "주⋯"},
		"wide character in one cell":     {"주", 1, "⋯"},
		"combining marks stay":           {"e\u0301te\u0301", 3, "e\u0301te\u0301"},
		"combining marks are not split":  {"e\u0301e\u0301e\u0301", 2, "e\u0301⋯"},
		"flag":                           {"🇰🇷🇰🇷", 3, "🇰🇷⋯"},
		"Thai vowel signs count in full": {"น้ำ", 2, "น้ำ"},
		"escape sequence":                {"\x1b[31mred", 20, "?[31mred"},
		"C1 control":                     {"a\u009bb", 20, "a?b"},
		"invalid UTF-8":                  {"a\xff\x9bb", 20, "a??b"},
		"line ends and tabs":             {"a\nb\tc\r", 20, "a?b?c?"},
		"bidi override":                  {"a\u202eb", 20, "a?b"},
		"zero-width space":               {"a\u200bb", 20, "a?b"},
		"mark without a base":            {"\u0301a", 20, "?a"},
		"line separator":                 {"a\u2028b", 20, "a?b"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Truncate(c.in, c.w, "⋯"); got != c.want {
				t.Errorf("Truncate(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
			}
		})
	}
}

func TestTruncateLong(t *testing.T) {
	for name, s := range map[string]string{
		"ASCII":           strings.Repeat("x", 10_000),
		"wide":            strings.Repeat("주", 10_000),
		"combining marks": "e" + strings.Repeat("\u0301", 10_000),
		"escapes":         strings.Repeat("\x1b]0;", 10_000),
	} {
		t.Run(name, func(t *testing.T) {
			got := PadRight(s, 20, "~")
			if w := ansi.StringWidthWc(got); w != 20 {
				t.Errorf("%d cells: %q", w, got)
			}
			if len(got) > 20*maxCluster {
				t.Errorf("%d bytes for 20 cells", len(got))
			}
		})
	}
}

func TestPad(t *testing.T) {
	cases := map[string]struct{ got, want string }{
		"right":         {PadRight("ab", 5, "~"), "ab   "},
		"left":          {PadLeft("ab", 5, "~"), "   ab"},
		"left, wide":    {PadLeft("주", 5, "~"), "   주"},
		"cut":           {PadLeft("abcdef", 5, "~"), "abcd~"},
		"wide and odd":  {PadRight("주문주", 5, "~"), "주문~"},
		"gap at edge":   {PadRight("a주문", 3, "~"), "a~ "},
		"empty":         {PadLeft("", 3, "~"), "   "},
		"nothing":       {PadLeft("ab", 0, "~"), ""},
		"appends":       {string(AppendFit([]byte("x|"), "ab", 4, true, "~")), "x|  ab"},
		"long tail":     {PadRight("abcdef", 2, "..."), "ab"},
		"many spaces":   {PadRight("", 200, "~"), strings.Repeat(" ", 200)},
		"exactly fills": {PadLeft("abcde", 5, "~"), "abcde"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.got != c.want {
				t.Errorf("got %q, want %q", c.got, c.want)
			}
		})
	}
}

func TestWrap(t *testing.T) {
	cases := map[string]struct {
		in   string
		w    int
		want []string
	}{
		"fits":              {"stop the members", 20, []string{"stop the members"}},
		"between words":     {"stop the members", 9, []string{"stop the", "members"}},
		"long word":         {"a abcdefgh b", 4, []string{"a", "abcd", "efgh", "b"}},
		"wide":              {"주문 서비스", 6, []string{"주문", "서비스"}},
		"too narrow for it": {"주", 1, []string{""}},
		"line ends stay":    {"a\n\nb", 5, []string{"a", "", "b"}},
		"no cells":          {"a", 0, nil},
		"runs of spaces":    {"a    b", 5, []string{"a b"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Wrap(c.in, c.w); strings.Join(got, "\n") != strings.Join(c.want, "\n") || len(got) != len(c.want) {
				t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.w, got, c.want)
			}
		})
	}
}

// FuzzFit: whatever the text is, a cell keeps its width by the way of counting that the renderer
// starts with, and is never too wide by the other one.
func FuzzFit(f *testing.F) {
	for _, s := range []string{"orders", "주문", "e\u0301", "👩\u200d🚀 🏳\ufe0f\u200d🌈", "\x1b[31m", "\u009b31m", "\xff", "น้ำ", "1\ufe0f\u20e3", "\u202e"} {
		f.Add(s, 5, true)
	}
	f.Fuzz(func(t *testing.T, s string, w int, right bool) {
		w = min(max(w, 0), 300)
		got := string(AppendFit(nil, s, w, right, "⋯"))
		if strings.ContainsFunc(got, func(r rune) bool { return r < 0x20 || r >= 0x7f && r < 0xa0 }) {
			t.Errorf("control characters: %q", got)
		}
		wc, gr := ansi.StringWidthWc(got), ansi.StringWidth(got)
		if max(wc, gr) > w {
			t.Errorf("%d and %d cells instead of %d: %q from %q", wc, gr, w, got, s)
		}
		if again := string(AppendFit(nil, got, w, right, "⋯")); again != got {
			t.Errorf("fitted again: %q, before: %q", again, got)
		}
		if n := Cells(got, w+1); n != w {
			t.Errorf("counts %d cells instead of %d: %q", n, w, got)
		}
	})
}

func TestWrapNeverTooWide(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, w := rapid.String().Draw(t, "text"), rapid.IntRange(1, 40).Draw(t, "width")
		for _, line := range Wrap(s, w) {
			if n := ansi.StringWidthWc(line); n > w {
				t.Fatalf("%d cells in %q", n, line)
			}
		}
	})
}
