package model

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

func TestClean(t *testing.T) {
	tests := []struct{ name, in, want string }{
		{"plain id", "order-service.v2_x", "order-service.v2_x"},
		{"empty", "", ""},
		{"quotes and backslash stay", `C:\tmp "x"`, `C:\tmp "x"`},
		{"escape sequence", "a\x1b[2Jb", `a\x1b[2Jb`},
		{"newline, return, tab", "a\nb\rc\td", `a\nb\rc\td`},
		{"delete and nul", "\x7f\x00", `\x7f\x00`},
		{"C1 CSI", "a\u009b31mb", `a\u009b31mb`},
		{"C1 as a lone byte", "a\x9b31mb", `a\x9b31mb`},
		{"bidi override", "gpj.\u202eexe", `gpj.\u202eexe`},
		{"bidi isolate", "\u2066a\u2069", `\u2066a\u2069`},
		{"zero-width space and joiner", "a\u200bb\u200dc\ufeff", `a\u200bb\u200dc\ufeff`},
		{"soft hyphen", "a\u00adb", `a\u00adb`},
		{"line separator", "a\u2028b", `a\u2028b`},
		{"no-break space", "a\u00a0b", `a\u00a0b`},
		{"wide text stays", "주문-処理", "주문-処理"},
		{"ideographic space stays", "a\u3000b", "a\u3000b"},
		{"emoji stays, its selector shows", "❤\ufe0f", `❤\ufe0f`},
		{"flag", "\U0001f1f0\U0001f1f7", `\U0001f1f0\U0001f1f7`},
		{"skin tone", "👍\U0001f3fd", `👍\U0001f3fd`},
		{"hangul filler", "a\u3164b", `a\u3164b`},
		{"tag characters", "a\U000e0041", `a\U000e0041`},
		{"private use", "\ue0b0", `\ue0b0`},
		{"unassigned", "\u0378", `\u0378`},
		{"invalid UTF-8", "a\xff\xc3(", `a\xff\xc3(`},
		{"surrogate half", "\xed\xa0\x80", `\xed\xa0\x80`},
		{"a true replacement character stays", "a\ufffd", "a\ufffd"},
		{"accent stays", "e\u0301", "e\u0301"},
		{"mark at the start", "\u0301a", `\u0301a`},
		{"mark after an escape", "\x1b\u0301", `\x1b\u0301`},
		{"flood of marks", "a" + strings.Repeat("\u0301", 6), "a" + strings.Repeat("\u0301", 4) + `\u0301\u0301`},
		{"marks count anew for each character", "a\u0301\u0301\u0301b\u0301\u0301\u0301", "a\u0301\u0301\u0301b\u0301\u0301\u0301"},
		{"long id", strings.Repeat("x", 10000) + "\x1b", strings.Repeat("x", 10000) + `\x1b`},
		{"decomposed hangul stays", "\u1112\u1161\u11ab", "\u1112\u1161\u11ab"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := Clean(tt.in); got != tt.want {
				t.Errorf("Clean(%q) = %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

func TestCleanOfPlainTextDoesNotAllocate(t *testing.T) {
	id := strings.Repeat("order-service.", 700)
	if n := testing.AllocsPerRun(10, func() { Clean(id) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
}

func FuzzClean(f *testing.F) {
	for _, s := range []string{"", "orders", "a\x1b[0m", "\u202e\u200b\xff", "e\u0301\u0301\u0301\u0301\u0301\u0301", "주문\u3000👍\U0001f3fd", strings.Repeat("\x9b", 100)} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) {
			t.Fatalf("Clean(%q) = %q is not UTF-8", s, got)
		}
		marks := 0
		for i, r := range got {
			if !unicode.IsPrint(r) && r != '\u3000' || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Bidi_Control, unicode.Variation_Selector) {
				t.Fatalf("Clean(%q) = %q has %U at %d", s, got, r, i)
			}
			if unicode.Is(unicode.M, r) {
				marks++
			} else {
				marks = 0
			}
			if marks > maxMarks || marks > 0 && i == 0 {
				t.Fatalf("Clean(%q) = %q has a pile of marks or a mark on nothing", s, got)
			}
		}
		if again := Clean(got); again != got {
			t.Fatalf("Clean(%q) = %q, and once more %q", s, got, again)
		}
		if len(got) > 5*len(s) {
			t.Fatalf("Clean made %d bytes of %d", len(got), len(s))
		}
	})
}

func BenchmarkClean(b *testing.B) {
	for name, s := range map[string]string{"ascii": "order-service.payments.v2", "wide": "주문-処理-service", "hostile": strings.Repeat("\x1b\u202e", 100)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Clean(s)
			}
		})
	}
}
