package themetest

import (
	"testing"

	"flightdeck/themes"
)

func TestGrid(t *testing.T) {
	if len(letters) != len(themes.Tokens()) {
		t.Fatalf("%d letters for %d tokens", len(letters), len(themes.Tokens()))
	}
	seen := map[rune]bool{}
	for _, r := range letters {
		if seen[r] {
			t.Errorf("%c stands for two tokens", r)
		}
		seen[r] = true
	}
	theme := Theme(themes.Unicode)
	frame := theme.Style(themes.Header).Render("ab") + " " + theme.OnSelected(themes.Warning).Render("주") + "\n" +
		theme.Style(themes.Acquired.Inferred()).Render("x")
	if got, want := Grid(frame), "hh.WW\n2"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
