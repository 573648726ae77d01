package main

import (
	"os"
	"strings"
	"testing"

	"flightdeck/ui"
)

// The table of keys in README is made from the bindings. UPDATE_GOLDEN=1 go test . -run README writes it anew.
func TestREADMEHasTheKeys(t *testing.T) {
	const begin, end = "<!-- keys -->\n", "<!-- /keys -->\n"
	file, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(file), begin)
	have, tail, closed := strings.Cut(rest, end)
	if !ok || !closed {
		t.Fatalf("README.md lacks %q or %q", begin, end)
	}
	want := ui.KeyTable()
	if have == want {
		return
	}
	if os.Getenv("UPDATE_GOLDEN") == "" {
		t.Fatal("the keys in README.md are not those of the program: UPDATE_GOLDEN=1 go test . -run README writes them anew")
	}
	if err := os.WriteFile("README.md", []byte(head+begin+want+end+tail), 0o644); err != nil {
		t.Fatal(err)
	}
}
