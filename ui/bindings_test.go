package ui

import (
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
)

func TestEveryBindingSaysWhatItIs(t *testing.T) {
	ids := map[string]bool{}
	for _, b := range newBindings() {
		if b.id == "" || ids[b.id] {
			t.Errorf("binding %q: the id is missing or used twice", b.id)
		}
		ids[b.id] = true
		if b.title == "" || b.name == "" || !strings.HasSuffix(b.help, ".") {
			t.Errorf("binding %s: title %q, name %q, help %q; want all, and a sentence of help", b.id, b.title, b.name, b.help)
		}
		if strings.Contains(b.help, "!") && b.id != "filter" { // ! is part of the filter's grammar
			t.Errorf("binding %s: an exclamation mark in %q", b.id, b.help)
		}
		if b.in == 0 || b.do == nil {
			t.Errorf("binding %s works nowhere or does nothing", b.id)
		}
		found := false
		for _, s := range sections {
			found = found || s == b.section
		}
		if !found {
			t.Errorf("binding %s: section %q is not in the help", b.id, b.section)
		}
	}
}

func TestKeysDoNotConflict(t *testing.T) {
	for _, c := range conflicts(newBindings()) {
		t.Error(c)
	}
	clash := append(newBindings(), binding{id: "clash", keys: []string{"y"}, in: atTopic})
	if len(conflicts(clash)) != 1 {
		t.Errorf("a conflict on y is not found: %v", conflicts(clash))
	}
}

// conflicts lists the keys that two bindings claim in one place.
func conflicts(table []binding) []string {
	var found []string
	for i := range table {
		for k := range table[:i] {
			for _, key := range table[i].keys {
				for _, other := range table[k].keys {
					if key == other && table[i].in&table[k].in != 0 {
						found = append(found, key+" is claimed by "+table[k].id+" and "+table[i].id)
					}
				}
			}
		}
	}
	return found
}

func TestFooterRanksAreUnique(t *testing.T) {
	for at := place(1); at < placesEnd; at <<= 1 {
		ranks := map[int]string{}
		for _, b := range newBindings() {
			if b.footer == 0 || b.in&at == 0 {
				continue
			}
			if other := ranks[b.footer]; other != "" {
				t.Errorf("%s and %s have the same rank in the footer of %s", other, b.id, at)
			}
			ranks[b.footer] = b.id
		}
	}
}

func TestHelpListsAllBindings(t *testing.T) {
	r := newRig(t, Options{})
	r.size(200, 160)
	r.press("?")
	for _, b := range r.bindings {
		r.sees(b.keyNames(), b.help[:min(len(b.help), 60)])
	}
}

func TestHelpSearch(t *testing.T) {
	r := newRig(t, Options{})
	r.press("? / c l i p b o a r d") // the slash is what starts a search elsewhere
	r.sees("Copies the name", "Help")
	r.misses("Moves one row up")
	r.press("esc")
	r.misses("Help ──")
}

func TestPaletteFindsByName(t *testing.T) {
	r := newRig(t, Options{})
	r.press(": g o t o p")
	r.press("enter")
	r.sees("3 Topics", "order-events", "PARTITIONS")
}

func TestKeyTableHasAllKeys(t *testing.T) {
	table := KeyTable()
	for _, b := range newBindings() {
		for _, k := range b.keys {
			if !strings.Contains(table, "`"+keyName(k)+"`") {
				t.Errorf("%s is not in the table of keys", k)
			}
		}
	}
}

// withDelete is the App with a delete that only counts.
func withDelete(t *testing.T, o Options) (*rig, *int) {
	r, done := newRig(t, o), 0
	for i := range r.bindings {
		if b := &r.bindings[i]; b.id == "delete" {
			b.unless, b.do = nil, func(*App) tea.Cmd { done++; return nil }
		}
	}
	return r, &done
}

func TestBindingsThatCanNotBeUsedSayWhy(t *testing.T) {
	tests := []struct {
		name    string
		options Options
		rights  model.Operations
		keys    string
		says    string
		done    int
	}{
		{"allowed", Options{}, model.Some(model.OpDelete | model.OpDescribe), "D", "", 1},
		{"rights unknown", Options{}, model.Operations{}, "D", "", 1},
		{"read-only", Options{ReadOnly: true}, model.Operations{}, "D", "Delete a group or its offsets: read-only mode", 0},
		{"missing right", Options{}, model.Some(model.OpDescribe), "D", "Delete a group or its offsets: you lack the right DELETE", 0},
		{"elsewhere", Options{}, model.Operations{}, "3 D", "Delete a group or its offsets: works in Consumers, Shares, a consumer group, a share group.", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, done := withDelete(t, tt.options)
			s, _ := fixture()
			for i := range s.Groups {
				s.Groups[i].Operations = tt.rights
			}
			r.read(s)
			r.press(tt.keys)
			if *done != tt.done {
				t.Errorf("done %d times, want %d", *done, tt.done)
			}
			r.sees(tt.says)
			if tt.keys == "D" {
				r.sees("D delete") // visible in the footer, greyed or not
			}
		})
	}
}

func TestNothingSelectedSaysWhy(t *testing.T) {
	r := newRig(t, Options{})
	empty, _ := fixture()
	empty.Groups = nil
	r.read(empty)
	for _, k := range []string{"W", "y", "enter", "esc"} {
		r.say(model.OK, "")
		r.press(k)
		if r.status.text == "" {
			t.Errorf("%s does nothing and says nothing", k)
		}
	}
}

func TestQuitting(t *testing.T) {
	r := newRig(t, Options{})
	r.press("enter q")
	if r.quits() {
		t.Error("q in a detail quits")
	}
	r.sees("TYPE", "order-service")
	r.press("q")
	if !r.quits() {
		t.Error("q at the top does not quit")
	}
	for _, before := range []string{"enter", ":", "?", "/", "W", "s"} {
		r := newRig(t, Options{})
		r.press(before + " ctrl+c")
		if !r.quits() {
			t.Errorf("ctrl+c after %s does not quit", before)
		}
	}
}
