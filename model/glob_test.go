package model

import "testing"

func TestParseGlob(t *testing.T) {
	for _, tc := range []struct {
		name, pattern, id string
		want              bool
	}{
		{"exact", "orders", "orders", true},
		{"whole id only", "orders", "orders-2", false},
		{"star in the middle", "o*-eu", "orders-eu", true},
		{"star takes slashes and colons", "team/*", "team/a/b:c", true},
		{"star takes nothing", "orders*", "orders", true},
		{"star takes a line break", "a*b", "a\nb", true},
		{"question mark is one character", "g?", "g", false},
		{"question mark is one wide character", "g?", "gé", true},
		{"class", "g[0-9]", "g7", true},
		{"negated class", "g[!0-9]", "g7", false},
		{"dot is no metacharacter", "a.b", "axb", false},
		{"parenthesis is no metacharacter", "a(b", "a(b", true},
		{"escaped star", `a\*`, "a*", true},
		{"escaped star is no star", `a\*`, "ab", false},
		{"multi-byte text", "größe-*", "größe-1", true},
		{"empty matches the empty id only", "", "x", false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			match, err := ParseGlob(tc.pattern)
			if err != nil {
				t.Fatal(err)
			}
			if got := match(tc.id); got != tc.want {
				t.Errorf("%q on %q = %v, want %v", tc.pattern, tc.id, got, tc.want)
			}
		})
	}
	for _, bad := range []string{"a[", "a[]", `a\`, "a[z-a]"} {
		if _, err := ParseGlob(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

func FuzzParseGlob(f *testing.F) {
	f.Add("o*[a-z]?\\*", "orders")
	f.Fuzz(func(t *testing.T, pattern, id string) {
		if match, err := ParseGlob(pattern); err == nil {
			match(id)
		}
	})
}
