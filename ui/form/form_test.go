package form

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"flightdeck/themes"
)

// named are the keys that are not typed as themselves.
var named = map[string]tea.Key{
	"enter": {Code: tea.KeyEnter}, "esc": {Code: tea.KeyEscape}, "tab": {Code: tea.KeyTab},
	"shift+tab": {Code: tea.KeyTab, Mod: tea.ModShift}, "up": {Code: tea.KeyUp}, "down": {Code: tea.KeyDown},
	"left": {Code: tea.KeyLeft}, "right": {Code: tea.KeyRight}, "backspace": {Code: tea.KeyBackspace},
	"space": {Code: tea.KeySpace, Text: " "},
}

// press are the messages of keys; a word that is no key is typed letter by letter.
func press(keys string) []tea.Msg {
	var msgs []tea.Msg
	for word := range strings.FieldsSeq(keys) {
		if k, ok := named[word]; ok {
			msgs = append(msgs, tea.KeyPressMsg(k))
			continue
		}
		for _, r := range word {
			msgs = append(msgs, tea.KeyPressMsg{Code: r, Text: string(r)})
		}
	}
	return msgs
}

func plain(t testing.TB) *themes.Theme {
	t.Helper()
	theme, err := themes.ByName("dark", themes.Options{Profile: colorprofile.NoTTY, Glyphs: themes.ASCII})
	if err != nil {
		t.Fatal(err)
	}
	return theme
}

func produce() *Form {
	return New(
		Field{ID: "topic", Label: "Topic", Value: "orders", Off: "from the screen"},
		Field{ID: "value", Label: "Value", Hint: "text or {{.N}}", Check: func(v string) string {
			if v == "" {
				return "a value is needed"
			}
			return ""
		}},
		Field{ID: "count", Label: "Count", Kind: Number, Value: "1", Min: 1, Max: 1000, Help: "How many records."},
		Field{ID: "acks", Label: "Acks", Kind: Choice, Choices: []string{"all", "leader", "none"}},
		Field{ID: "json", Label: "Check JSON", Kind: Toggle, Value: "true"},
	)
}

func TestForm(t *testing.T) {
	cases := map[string]struct {
		keys   string
		answer Answer
		focus  string
		values map[string]string
	}{
		"starts at the first that can be changed": {"", Open, "value", map[string]string{"topic": "orders", "count": "1", "acks": "all", "json": "true"}},
		"types":                             {"abc enter", Done, "value", map[string]string{"value": "abc"}},
		"goes to what is wrong":             {"tab tab enter", Open, "value", nil},
		"goes to what is wrong, number":     {"abc tab 0000 tab enter", Open, "count", map[string]string{"count": "10000"}},
		"cancels":                           {"abc esc", Cancelled, "value", nil},
		"skips what can not be changed":     {"up", Open, "json", nil},
		"round":                             {"tab tab tab tab", Open, "value", nil},
		"shift+tab":                         {"tab tab shift+tab", Open, "count", nil},
		"chooses":                           {"tab tab right right", Open, "acks", map[string]string{"acks": "none"}},
		"chooses round":                     {"tab tab left", Open, "acks", map[string]string{"acks": "none"}},
		"chooses by letter":                 {"tab tab n", Open, "acks", map[string]string{"acks": "none"}},
		"letter that no choice starts with": {"tab tab x", Open, "acks", map[string]string{"acks": "all"}},
		"toggles":                           {"tab tab tab space", Open, "json", map[string]string{"json": "false"}},
		"toggles by no":                     {"tab tab tab n n", Open, "json", map[string]string{"json": "false"}},
		"letters of movement are text":      {"hjkl", Open, "value", map[string]string{"value": "hjkl"}},
		"space is text in a text":           {"a space b", Open, "value", map[string]string{"value": "a b"}},
		"what can not be changed stays":     {"abc", Open, "value", map[string]string{"topic": "orders"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f, got := produce(), Open
			for _, m := range press(c.keys) {
				got = f.Update(m)
			}
			if got != c.answer || f.Focus() != c.focus {
				t.Errorf("answer %d at %s, want %d at %s", got, f.Focus(), c.answer, c.focus)
			}
			for id, want := range c.values {
				if f.Value(id) != want {
					t.Errorf("%s is %q, want %q", id, f.Value(id), want)
				}
			}
		})
	}
}

func TestNumber(t *testing.T) {
	cases := map[string]struct {
		typed   string
		problem string
		want    int64
	}{
		"in bounds":    {"12", "", 12},
		"with commas":  {"1,000", "", 1000},
		"too small":    {"0", "at least 1", 0},
		"too large":    {"1001", "at most 1000", 0},
		"no number":    {"x", "a whole number from 1 to 1000", 0},
		"empty":        {"", "a whole number from 1 to 1000", 0},
		"out of range": {"99999999999999999999", "a whole number from 1 to 1000", 0},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			f := produce()
			f.Set("count", c.typed)
			if got := f.find("count").problem(); got != c.problem {
				t.Errorf("problem %q, want %q", got, c.problem)
			}
			if n, ok := f.Number("count"); n != c.want || ok != (c.problem == "") {
				t.Errorf("number %d, %v", n, ok)
			}
		})
	}
}

func TestSwitch(t *testing.T) {
	f := produce()
	f.Switch("value", "a file is used")
	if f.Focus() != "count" {
		t.Errorf("the focus is on %s, which can not be changed", f.Focus())
	}
	if f.Update(press("enter")[0]) != Done {
		t.Error("a value that is switched off was checked")
	}
	f.Switch("topic", "")
	if f.Update(press("up")[0]); f.Focus() != "topic" {
		t.Errorf("the focus is on %s, want topic", f.Focus())
	}
}

func TestFormView(t *testing.T) {
	f := produce()
	for _, m := range press("tab 0 backspace backspace enter tab") {
		f.Update(m)
	}
	want := `
  Topic       orders  from the screen
  Value       text or {{.N}}  a value is needed
> Count           a whole number from 1 to 1000
  Acks          all
  Check JSON  [x] yes

How many records.`
	var got strings.Builder
	for _, l := range f.View(plain(t), 60) {
		got.WriteString("\n" + strings.TrimRight(ansi.Strip(l), " "))
	}
	if got.String() != want {
		t.Errorf("got%s\nwant%s", got.String(), want)
	}
}

// TestWidth: no line of a form is wider than asked for.
func TestWidth(t *testing.T) {
	theme := plain(t)
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringN(0, 60, -1).Filter(utf8.ValidString)
		f := New(
			Field{ID: "a", Label: word.Draw(t, "label"), Value: word.Draw(t, "value"), Hint: word.Draw(t, "hint"), Help: word.Draw(t, "help"),
				Check: func(string) string { return "this does not hold because of something long" }},
			Field{ID: "b", Label: "b", Kind: Choice, Choices: []string{word.Draw(t, "choice")}},
			Field{ID: "c", Label: "c", Kind: Toggle},
			Field{ID: "d", Label: "d", Off: word.Draw(t, "off"), Value: word.Draw(t, "fixed")},
		)
		for range rapid.IntRange(0, 4).Draw(t, "tabs") {
			f.Update(tea.KeyPressMsg(named["tab"]))
		}
		f.finish()
		w := rapid.IntRange(1, 100).Draw(t, "w")
		confirm := NewConfirm(time.Time{}, []string{word.Draw(t, "impact")}, word.Draw(t, "name"))
		for _, l := range append(f.View(theme, w), confirm.View(theme, w)...) {
			if n := ansi.StringWidth(l); n > w {
				t.Fatalf("%d cells, want at most %d: %q", n, w, l)
			}
		}
	})
}

func TestConfirm(t *testing.T) {
	opened := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	late := opened.Add(Grace)
	cases := map[string]struct {
		name string
		at   time.Time
		keys string
		want Answer
	}{
		"name typed":                     {"orders", late, "orders enter", Done},
		"another name":                   {"orders", late, "order enter", Open},
		"longer name":                    {"orders", late, "orders2 enter", Open},
		"enter alone":                    {"orders", late, "enter", Open},
		"y is not consent to a name":     {"orders", late, "y", Open},
		"corrected":                      {"orders", late, "orderz backspace s enter", Done},
		"cancelled":                      {"orders", late, "orders esc", Cancelled},
		"typed before it could be read":  {"orders", opened, "orders enter", Open},
		"cancelled before":               {"orders", opened, "esc", Cancelled},
		"yes":                            {"", late, "y", Done},
		"no":                             {"", late, "n", Cancelled},
		"enter is not yes":               {"", late, "enter", Open},
		"yes before it could be read":    {"", late.Add(-time.Nanosecond), "y", Open},
		"quit key of the screen beneath": {"", late, "q", Open},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			confirm, got := NewConfirm(opened, []string{"Deletes the group."}, c.name), Open
			for _, m := range press(c.keys) {
				got = confirm.Update(c.at, m)
			}
			if got != c.want {
				t.Errorf("answer %d, want %d", got, c.want)
			}
		})
	}
}

func TestConfirmPaste(t *testing.T) {
	opened := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := NewConfirm(opened, nil, "orders")
	c.Update(opened, tea.PasteMsg{Content: "orders"})
	if c.Matches() {
		t.Error("a paste counted before the confirmation could be read")
	}
	c.Update(opened.Add(Grace), tea.PasteMsg{Content: "orders"})
	if !c.Matches() {
		t.Error("a pasted name is not taken")
	}
}

func TestConfirmView(t *testing.T) {
	opened := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	c := NewConfirm(opened, []string{"Deletes orders and its offsets on 3 partitions."}, "orders")
	for _, m := range press("orders") {
		c.Update(opened.Add(Grace), m)
	}
	want := `
Deletes orders and its
offsets on 3 partitions.

Type orders to go on:
orders
enter do it   esc back`
	var got strings.Builder
	for _, l := range c.View(plain(t), 26) {
		got.WriteString("\n" + strings.TrimRight(ansi.Strip(l), " "))
	}
	if got.String() != want {
		t.Errorf("got%s\nwant%s", got.String(), want)
	}
}
