// Package themetest makes the looks of a frame readable in tests: a theme whose styles name their
// tokens, and a grid that shows the token of every cell as a letter.
package themetest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"flightdeck/themes"
)

// letters are the signs of the tokens in a grid, in the order of the tokens. Letters are upper case
// in the selected row; digits, the inferred record states, are the same there.
const letters = "tmfaihbkx" + "syld" + "onwc" + "rep" + "quvzgj" + "123456"

// Theme is a theme for [Grid].
func Theme(g themes.Glyphs) *themes.Theme {
	return themes.Custom("roles", g, func(tok themes.Token, selected bool) themes.Style {
		row := 49
		if selected {
			row = 7
		}
		return themes.Style{Open: fmt.Sprintf("\x1b[38;5;%d;%dm", tok, row), Close: "\x1b[m"}
	})
}

// Grid is a frame that was drawn with [Theme], with the letter of its token in place of every cell and
// a dot where there is none.
func Grid(frame string) string {
	var b strings.Builder
	sign := byte('.')
	state := byte(0)
	for len(frame) > 0 {
		seq, width, n, next := ansi.DecodeSequence(frame, state, nil)
		frame, state = frame[n:], next
		switch {
		case seq == "\n":
			b.WriteByte('\n')
		case seq == "\x1b[m":
			sign = '.'
		case width == 0:
			var tok, row int
			if _, err := fmt.Sscanf(seq, "\x1b[38;5;%d;%dm", &tok, &row); err == nil && tok < len(letters) {
				sign = letters[tok]
				if row == 7 && sign >= 'a' {
					sign -= 'a' - 'A'
				}
			}
		default:
			for range width {
				b.WriteByte(sign)
			}
		}
	}
	return b.String()
}

// Golden compares a frame that was drawn with [Theme], as text and as a grid, with the file of the
// test's name under testdata. With UPDATE_GOLDEN set it writes the file.
func Golden(t *testing.T, frame string) {
	t.Helper()
	var b strings.Builder
	for part := range strings.SplitSeq(ansi.Strip(frame)+"\n\n"+Grid(frame), "\n") {
		if part != "" {
			part = "[" + part + "]"
		}
		b.WriteString(part + "\n")
	}
	got := b.String()
	name := filepath.Join("testdata", strings.NewReplacer("/", "-", " ", "-", ",", "").Replace(t.Name())+".txt")
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; UPDATE_GOLDEN=1 go test writes it", err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant (%s)\n%s", got, name, want)
	}
}
