package table

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"flightdeck/themes"
)

// group is a row like those of the real screens.
type group struct {
	id, state, verdict string
	lag                int
	stale              bool
}

func groupKey(g *group) string { return g.id }

func groupColumns() []Column[group] {
	return []Column[group]{
		{ID: "id", Title: "GROUP", Min: 8, Max: 40, Weight: 1, Priority: 9,
			Cell:    func(g *group) (string, themes.Token) { return g.id, themes.Text },
			Compare: func(a, b *group) int { return cmp.Compare(a.id, b.id) }},
		{ID: "state", Title: "STATE", Min: 6, Priority: 5,
			Cell:    func(g *group) (string, themes.Token) { return g.state, themes.OK },
			Compare: func(a, b *group) int { return cmp.Compare(a.state, b.state) }},
		{ID: "lag", Title: "LAG", Min: 5, Priority: 8, Right: true, Desc: true,
			Cell:    func(g *group) (string, themes.Token) { return strconv.Itoa(g.lag), themes.Warning },
			Compare: func(a, b *group) int { return cmp.Compare(a.lag, b.lag) }},
		{ID: "verdict", Title: "VERDICT", Min: 10, Weight: 3, Priority: 7,
			Cell: func(g *group) (string, themes.Token) { return g.verdict, themes.Muted }},
		{ID: "extra", Title: "EXTRA", Min: 6, Priority: 1, Wide: true,
			Cell: func(g *group) (string, themes.Token) { return "more", themes.Faint }},
	}
}

func newTable(t testing.TB, w, h int, rows ...group) *Table[group] {
	t.Helper()
	tb := New(groupKey, groupColumns()...)
	theme, err := themes.ByName("dark", themes.Options{Profile: colorprofile.NoTTY})
	if err != nil {
		t.Fatal(err)
	}
	tb.SetTheme(theme)
	tb.SetSize(w, h)
	tb.SetRows(rows)
	return tb
}

func groups(n int) []group {
	rows := make([]group, n)
	for i := range rows {
		rows[i] = group{id: fmt.Sprintf("group-%05d", i), state: "Stable", lag: i * 7919 % 100_003, verdict: "catching up"}
	}
	return rows
}

// order are the ids in the order in which they are shown.
func order(tb *Table[group]) []string {
	var ids []string
	for _, i := range tb.order {
		ids = append(ids, tb.rows[i].id)
	}
	return ids
}

func selected(tb *Table[group]) string {
	if g, ok := tb.Selected(); ok {
		return g.id
	}
	return "nothing"
}

func TestSort(t *testing.T) {
	rows := []group{{id: "b", lag: 5}, {id: "c", lag: 9}, {id: "a", lag: 5}}
	cases := map[string]struct {
		do   func(*Table[group])
		want string
	}{
		"as given":              {func(tb *Table[group]) {}, "b c a"},
		"first direction":       {func(tb *Table[group]) { tb.SortBy("lag") }, "c a b"},
		"again turns it round":  {func(tb *Table[group]) { tb.SortBy("lag"); tb.SortBy("lag") }, "a b c"},
		"reverse":               {func(tb *Table[group]) { tb.SortBy("id"); tb.Reverse() }, "c b a"},
		"next":                  {func(tb *Table[group]) { tb.SortNext() }, "a b c"},
		"next round to first":   {func(tb *Table[group]) { tb.SortBy("lag"); tb.SortNext() }, "a b c"},
		"no such column":        {func(tb *Table[group]) { tb.SortBy("x") }, "b c a"},
		"column without order":  {func(tb *Table[group]) { tb.SortBy("verdict") }, "b c a"},
		"reverse without order": {func(tb *Table[group]) { tb.Reverse() }, "b c a"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, 60, 10, rows...)
			c.do(tb)
			if got := strings.Join(order(tb), " "); got != c.want {
				t.Errorf("order %s, want %s", got, c.want)
			}
		})
	}
}

func TestCursor(t *testing.T) {
	abc := []group{{id: "a", lag: 1}, {id: "b", lag: 2}, {id: "c", lag: 3}, {id: "d", lag: 4}}
	cases := map[string]struct {
		do   func(*Table[group])
		want string
	}{
		"starts at the top":               {func(tb *Table[group]) {}, "a"},
		"stays at the top before a move":  {func(tb *Table[group]) { tb.SortBy("lag") }, "d"},
		"follows its row through a sort":  {func(tb *Table[group]) { tb.Down(); tb.SortBy("lag") }, "b"},
		"a move that goes nowhere counts": {func(tb *Table[group]) { tb.Up(); tb.SortBy("lag") }, "a"},
		"a mark counts as a move":         {func(tb *Table[group]) { tb.ToggleMark(); tb.SortBy("lag") }, "a"},
		"stops at the end":                {func(tb *Table[group]) { tb.Move(99) }, "d"},
		"stops at the top":                {func(tb *Table[group]) { tb.End(); tb.PageUp(); tb.Home(); tb.Up() }, "a"},
		"goes to a key":                   {func(tb *Table[group]) { tb.Select("c") }, "c"},
		"stays when the key is unknown":   {func(tb *Table[group]) { tb.Down(); tb.Select("x") }, "b"},
		"follows its row through rows before it": {func(tb *Table[group]) {
			tb.Select("c")
			tb.SetRows(append([]group{{id: "0"}, {id: "1"}}, abc...))
		}, "c"},
		"goes to the next when its row is gone": {func(tb *Table[group]) {
			tb.Select("b")
			tb.SetRows([]group{abc[0], abc[2], abc[3]})
		}, "c"},
		"goes up when nothing is below": {func(tb *Table[group]) {
			tb.Select("d")
			tb.SetRows(abc[:2])
		}, "b"},
		"no rows": {func(tb *Table[group]) { tb.Down(); tb.SetRows(nil) }, "nothing"},
		"rows come back": {func(tb *Table[group]) {
			tb.Select("c")
			tb.SetRows(nil)
			tb.SetRows(abc)
		}, "c"},
		"moves on no rows": {func(tb *Table[group]) {
			tb.SetRows(nil)
			tb.Down()
			tb.PageDown()
			tb.ToggleMark()
			tb.End()
		}, "nothing"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			tb := newTable(t, 60, 10, abc...)
			c.do(tb)
			if got := selected(tb); got != c.want {
				t.Errorf("selected %s, want %s", got, c.want)
			}
			tb.View()
		})
	}
}

// TestScroll: the selected row stays on its line of the screen when rows come and go above it.
func TestScroll(t *testing.T) {
	rows := groups(100)
	tb := newTable(t, 60, 11, rows...)
	tb.Select("group-00050")
	tb.Move(-3)
	line := tb.cursor - tb.offset
	tb.SetRows(append([]group{{id: "new-1"}, {id: "new-2"}}, rows...))
	if got := tb.cursor - tb.offset; got != line || selected(tb) != "group-00047" {
		t.Errorf("%s on line %d, want group-00047 on line %d", selected(tb), got, line)
	}
	tb.Home()
	tb.Down()
	tb.SetRows(append([]group{{id: "new-3"}}, rows...))
	if tb.offset != 0 {
		t.Errorf("a list that was not scrolled hides %d rows now", tb.offset)
	}
}

func TestMarks(t *testing.T) {
	rows := []group{{id: "a", lag: 1}, {id: "b", lag: 2}, {id: "c", lag: 3}}
	tb := newTable(t, 60, 10, rows...)
	tb.ToggleMark()
	tb.Select("c")
	tb.ToggleMark()
	tb.SortBy("lag")
	marked := func() string {
		var ids []string
		for _, g := range tb.Marked() {
			ids = append(ids, g.id)
		}
		return strings.Join(ids, " ")
	}
	if got := marked(); got != "c a" {
		t.Errorf("marked %q, want c a", got)
	}
	tb.SetRows(rows[:2])
	if got := marked(); got != "a" {
		t.Errorf("marked %q of the filtered rows, want a", got)
	}
	tb.SetRows(rows)
	tb.Select("c")
	tb.ToggleMark()
	if got := marked(); got != "a" {
		t.Errorf("marked %q after c was taken back, want a", got)
	}
	if tb.ClearMarks(); len(tb.Marked()) != 0 {
		t.Error("marks are left")
	}
}

// TestFollowsKey plays random refreshes, sorts, filters and resizes. Whatever happens, a row that
// was selected and is still there stays selected and in view.
func TestFollowsKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tb := New(groupKey, groupColumns()...)
		tb.SetSize(80, 12)
		tb.SetRows(groups(20))
		tb.Down()
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			want := selected(tb)
			marks := len(tb.marks)
			switch rapid.SampledFrom([]string{"refresh", "sort", "reverse", "resize", "wide", "move", "mark", "view"}).Draw(t, "step") {
			case "refresh":
				var rows []group
				for _, id := range rapid.SliceOfDistinct(rapid.IntRange(0, 30), rapid.ID[int]).Draw(t, "ids") {
					rows = append(rows, group{id: fmt.Sprintf("group-%05d", id), lag: rapid.IntRange(0, 3).Draw(t, "lag")})
				}
				tb.SetRows(rows)
			case "sort":
				tb.SortBy(rapid.SampledFrom([]string{"id", "lag", "state"}).Draw(t, "column"))
			case "reverse":
				tb.Reverse()
			case "resize":
				tb.SetSize(rapid.IntRange(0, 120).Draw(t, "w"), rapid.IntRange(0, 30).Draw(t, "h"))
			case "wide":
				tb.NextPage()
			case "move":
				tb.Move(rapid.IntRange(-9, 9).Draw(t, "rows"))
				want = selected(tb)
			case "mark":
				tb.ToggleMark()
				marks = len(tb.marks)
			case "view":
				tb.View()
			}
			if tb.Len() == 0 {
				continue
			}
			if slices.Contains(order(tb), want) && selected(tb) != want {
				t.Fatalf("selected %s, want %s", selected(tb), want)
			}
			if n := tb.cursor - tb.offset; tb.height > 0 && (n < 0 || n >= tb.lines()) {
				t.Fatalf("the cursor is on line %d of %d", n, tb.lines())
			}
			if len(tb.marks) != marks {
				t.Fatalf("%d marks, want %d", len(tb.marks), marks)
			}
			if by, desc := tb.Sort(); by == "lag" && !slices.IsSortedFunc(tb.order, func(a, b int) int {
				n := cmp.Compare(tb.rows[a].lag, tb.rows[b].lag)
				if desc {
					n = -n
				}
				return cmp.Or(n, cmp.Compare(tb.rows[a].id, tb.rows[b].id))
			}) {
				t.Fatalf("not in order: %v", order(tb))
			}
		}
	})
}

// TestSize: whatever is in the cells, the table is as large as it was told to be.
func TestSize(t *testing.T) {
	hostile := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{
		strings.Repeat("x", 10_000), strings.Repeat("주", 10_000), "e" + strings.Repeat("\u0301", 10_000),
		"\x1b[31mred\x1b[2J", "\u009b31m", "\xff\xfe", "a\nb\tc", "\u202eabc", "👩\u200d🚀", "❤\ufe0f", "น้ำ",
	}))
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 220).Draw(t, "w"), rapid.IntRange(1, 40).Draw(t, "h")
		profile := rapid.SampledFrom([]colorprofile.Profile{colorprofile.NoTTY, colorprofile.ASCII, colorprofile.TrueColor}).Draw(t, "profile")
		theme, _ := themes.ByName("dark", themes.Options{Profile: profile})
		tb := New(groupKey, groupColumns()...)
		tb.SetTheme(theme)
		tb.SetDim(func(g *group) bool { return g.stale })
		tb.SetSize(w, h)
		for range rapid.IntRange(0, 3).Draw(t, "pages") {
			tb.NextPage()
		}
		tb.SortBy("lag")
		var rows []group
		for i := range rapid.IntRange(0, 60).Draw(t, "rows") {
			rows = append(rows, group{id: hostile.Draw(t, "id") + strconv.Itoa(i), verdict: hostile.Draw(t, "verdict"), lag: i, stale: i%3 == 0})
		}
		tb.SetRows(rows)
		tb.ToggleMark()
		tb.Move(rapid.IntRange(0, 60).Draw(t, "move"))
		lines := strings.Split(tb.View(), "\n")
		if len(lines) != h {
			t.Fatalf("%d lines, want %d", len(lines), h)
		}
		for _, l := range lines {
			if n := max(ansi.StringWidthWc(l), ansi.StringWidth(l)); n > w {
				t.Fatalf("%d cells, want %d: %q", n, w, l)
			}
			if strings.Count(l, "\x1b[") != strings.Count(l, "m")-strings.Count(ansi.Strip(l), "m") {
				t.Fatalf("an escape sequence that the theme did not make: %q", l)
			}
		}
	})
}

// TestColumnsStay: a column does not get narrower at a refresh, and does after a while.
func TestColumnsStay(t *testing.T) {
	tb := newTable(t, 100, 5, group{id: "a", lag: 1_000_000, state: "Stable"})
	tb.View()
	wide := tb.layout.widths[2]
	for n := range 2 * period {
		tb.SetRows([]group{{id: "a", lag: 1, state: "Stable"}})
		tb.View()
		if n < period-1 && tb.layout.widths[2] != wide {
			t.Fatalf("the column changed from %d to %d cells after %d refreshes", wide, tb.layout.widths[2], n+1)
		}
	}
	if tb.layout.widths[2] >= wide {
		t.Errorf("the column still has %d cells", wide)
	}
}

// TestFormatsWhatIsInView counts calls of Cell.
func TestFormatsWhatIsInView(t *testing.T) {
	calls := 0
	tb := New(groupKey, Column[group]{ID: "id", Title: "ID", Min: 4, Weight: 1, Cell: func(g *group) (string, themes.Token) {
		calls++
		return g.id, themes.Text
	}})
	tb.SetSize(40, 11)
	tb.SetRows(groups(1000))
	steps := []struct {
		name string
		do   func()
		want int
	}{
		{"first view", func() {}, 10},
		{"same view", func() {}, 0},
		{"one step", tb.Down, 0},
		{"scroll by one", func() { tb.Move(9) }, 1},
		{"page", tb.PageDown, 9},
		{"refresh", func() { tb.SetRows(groups(1000)) }, 10},
		{"theme", func() { tb.SetTheme(themes.Default(themes.Options{})) }, 0},
	}
	for _, s := range steps {
		calls = 0
		s.do()
		tb.View()
		if calls != s.want {
			t.Errorf("%s: %d cells formatted, want %d", s.name, calls, s.want)
		}
	}
}

// TestAllocations holds the budget of a frame: 200 by 60 cells of 10,000 rows.
func TestAllocations(t *testing.T) {
	tb := bigTable(t)
	step := 1
	if n := testing.AllocsPerRun(200, func() {
		if tb.Move(step); tb.Index() == 9_999 {
			step = -1
		}
		tb.View()
	}); n > 20 {
		t.Errorf("%v allocations for a step of the cursor and a frame, want at most 20", n)
	}
	rows := groups(10_000)
	if n := testing.AllocsPerRun(20, func() { tb.SetRows(rows); tb.View() }); n > 100 {
		t.Errorf("%v allocations for a refresh and a frame besides those of the cells, want at most 100", n)
	}
}

// bigTable has 8 columns that format without allocating, so that what is counted is the table's.
func bigTable(t testing.TB) *Table[group] {
	columns := groupColumns()
	columns[2].Cell = func(g *group) (string, themes.Token) { return g.id[6:], themes.Warning }
	for i := range 4 {
		columns = append(columns, Column[group]{ID: strconv.Itoa(i), Title: "COLUMN", Min: 8, Priority: 2,
			Cell: func(g *group) (string, themes.Token) { return g.state, themes.Text }})
	}
	tb := New(groupKey, columns...)
	theme, err := themes.ByName("dark", themes.Options{Profile: colorprofile.TrueColor})
	if err != nil {
		t.Fatal(err)
	}
	tb.SetTheme(theme)
	tb.SetSize(200, 60)
	tb.SortBy("lag")
	tb.SetRows(groups(10_000))
	tb.View()
	return tb
}

func BenchmarkView(b *testing.B) {
	b.Run("same", func(b *testing.B) {
		tb := bigTable(b)
		b.ReportAllocs()
		for b.Loop() {
			tb.View()
		}
	})
	b.Run("step", func(b *testing.B) {
		tb := bigTable(b)
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			tb.Move(1 - n&64/32)
			tb.View()
		}
	})
	b.Run("page", func(b *testing.B) {
		tb := bigTable(b)
		b.ReportAllocs()
		for n := 0; b.Loop(); n++ {
			tb.Move(59 - n&64/32*59)
			tb.View()
		}
	})
	b.Run("restyle", func(b *testing.B) {
		tb := bigTable(b)
		b.ReportAllocs()
		for b.Loop() {
			tb.SetTheme(tb.theme)
			tb.View()
		}
	})
}

func BenchmarkSetRows(b *testing.B) {
	same, moved := groups(10_000), groups(10_000)
	for i := range moved {
		moved[i].lag = rand.IntN(100_000)
	}
	fewer := slices.Clone(same[100:])
	for name, other := range map[string][]group{"same": same, "values": moved, "rows": fewer} {
		b.Run(name, func(b *testing.B) {
			tb := bigTable(b)
			tb.Down()
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				if n%2 == 0 {
					tb.SetRows(other)
				} else {
					tb.SetRows(same)
				}
			}
		})
	}
}
