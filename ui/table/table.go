// Package table is a table of rows that are known by a key.
//
// # Vocabulary
//
// A row has a key that names the same thing in every refresh. The cursor is on the selected row;
// marks are rows picked for an action. The view is the part of the rows that is on the screen.
//
// # Rules
//
//   - Selection, marks and scroll follow the key through sorting, refreshing and filtering, never
//     the row number.
//   - Only rows in view are formatted, and only again when they changed.
//   - Rows given to SetRows belong to the table until the next SetRows: callers do not change them.
//   - The caller cleans untrusted text; no cell leaves its column all the same.
package table

import (
	"slices"
	"strings"

	"flightdeck/themes"
)

// Column says how one column is filled, sorted and sized.
type Column[R any] struct {
	// ID names the column to SortBy; Title is its header.
	ID, Title string
	// Min and Max bound the width in cells; a zero Max is no bound.
	Min, Max int
	// Weight is the share of the space that is left over which the column gets; 0 is none.
	Weight int
	// Fair is the width that the column should have before columns of a priority below [Vital] are shown
	// beside it, and before others are widened, if it has the content for it; 0 is Min.
	Fair int
	// Priority decides what stays on a narrow screen: the lowest goes first.
	Priority int
	// Right aligns the text to the right, as for numbers.
	Right bool
	// Wide leaves the column to the pages behind the first; see [Table.NextPage].
	Wide bool
	// Cell formats one cell. It is called only for rows in view.
	Cell func(*R) (text string, tok themes.Token)
	// Tail, when not nil, is a note behind the text of a cell, faint, such as +1; it stays when the text is cut. It
	// is not for columns that are aligned to the right.
	Tail func(*R) string
	// Compare orders rows by this column; nil when it can not be sorted by.
	Compare func(a, b *R) int
	// Desc is true when the largest comes first on first use, as people want of a lag.
	Desc bool
}

// Table shows rows in columns. It is not safe for use by several goroutines.
type Table[R any] struct {
	columns []Column[R]
	key     func(*R) string
	dim     func(*R) bool
	theme   *themes.Theme

	rows  []R
	keys  []string // key of each of rows
	spare []string // the keys before, for their memory
	order []int    // indices of rows as shown

	sort int // index of the column to sort by, or unsorted
	desc bool

	cursor   int    // place of the selected row in order
	selected string // its key
	held     bool   // the cursor was moved and follows its row
	offset   int    // place of the first row in view
	marks    map[string]bool

	width, height int
	page          int // of pages
	blurred       bool

	layout layout
	cache  cache
}

// Vital is the priority from which on a column is left out only when the columns above it do not fit at
// their Min.
const Vital = 90

// unsorted keeps the rows in the order in which they were given.
const unsorted = -1

// New makes an empty table. key names a row; it must be the same in every refresh and different
// for every row.
func New[R any](key func(*R) string, columns ...Column[R]) *Table[R] {
	return &Table[R]{
		key:     key,
		columns: columns,
		sort:    unsorted,
		marks:   map[string]bool{},
		theme:   themes.Default(themes.Options{}),
	}
}

// SetTheme sets the look.
func (t *Table[R]) SetTheme(theme *themes.Theme) {
	t.theme = theme
	t.cache.redraw()
}

// SetDim sets which rows are drawn as stale.
func (t *Table[R]) SetDim(dim func(*R) bool) {
	t.dim = dim
	t.cache.redraw()
}

// SetSize sets the width and height in cells, with the header.
func (t *Table[R]) SetSize(width, height int) {
	if width == t.width && height == t.height {
		return
	}
	if width != t.width {
		t.layout.reset()
	}
	t.width, t.height = max(width, 0), max(height, 0)
	t.cache.drop()
	t.follow()
}

// NextPage shows the next page of columns: those that the pages before left out for room, or because they are
// Wide, beside what names the row and as many of the others as fit. Behind the last page comes the first again, which is
// page 0. There is one page alone when it has all columns.
func (t *Table[R]) NextPage() (page, pages int) {
	n := len(t.pages())
	if t.width == 0 || n == 1 {
		return 0, 1
	}
	t.page = (t.page + 1) % n
	t.layout.reset()
	t.cache.drop()
	return t.page, n
}

// SetFocus sets whether the keyboard is with this table; where it is not, the cursor is drawn as a
// mark in the margin alone. A new table has the focus.
func (t *Table[R]) SetFocus(focus bool) {
	t.blurred = !focus
	t.cache.redraw()
}

// SetRows replaces the rows. The cursor follows its row; when that is gone it goes to the next one
// that is still there. Before it is first moved it stays at the top, so that a table that is still
// filling shows what sorts first.
func (t *Table[R]) SetRows(rows []R) {
	t.layout.tick()
	keys := t.spare[:0]
	for i := range rows {
		keys = append(keys, t.key(&rows[i]))
	}
	if !slices.Equal(keys, t.keys) {
		if t.held && !slices.Contains(keys, t.selected) {
			t.selected = t.heir(keys)
		}
		t.order = t.order[:0]
		for i := range rows {
			t.order = append(t.order, i)
		}
	}
	t.rows, t.keys, t.spare = rows, keys, t.keys
	t.resort()
}

// heir is the key of the row nearest to the cursor, first below and then above it, that is among
// keys; the selected one when there is none.
func (t *Table[R]) heir(keys []string) string {
	kept := make(map[string]bool, len(keys))
	for _, k := range keys {
		kept[k] = true
	}
	for i := t.cursor + 1; i < len(t.order); i++ {
		if k := t.keys[t.order[i]]; kept[k] {
			return k
		}
	}
	for i := min(t.cursor, len(t.order)) - 1; i >= 0; i-- {
		if k := t.keys[t.order[i]]; kept[k] {
			return k
		}
	}
	return t.selected
}

// Len is the number of rows.
func (t *Table[R]) Len() int { return len(t.order) }

// resort brings order up to date and lets the cursor follow its row.
func (t *Table[R]) resort() {
	t.cache.drop()
	compare := t.compare()
	if !slices.IsSortedFunc(t.order, compare) {
		slices.SortFunc(t.order, compare)
	}
	line, top := t.cursor-t.offset, t.offset == 0
	if i := t.place(t.selected); t.held && i >= 0 {
		t.cursor = i
	}
	if !top {
		t.offset = t.cursor - line // the row stays where the eye is
	}
	t.follow()
}

// compare is the order of rows: the sort column, and the key where it does not decide.
func (t *Table[R]) compare() func(a, b int) int {
	if t.sort == unsorted {
		return func(a, b int) int { return a - b }
	}
	by := t.columns[t.sort].Compare
	return func(a, b int) int {
		n := by(&t.rows[a], &t.rows[b])
		if t.desc {
			n = -n
		}
		if n == 0 {
			return strings.Compare(t.keys[a], t.keys[b])
		}
		return n
	}
}

// place is the place of a key in order, or -1.
func (t *Table[R]) place(key string) int {
	return slices.IndexFunc(t.order, func(i int) bool { return t.keys[i] == key })
}

// SortBy sorts by a column in its first direction, or turns the direction round when the table is
// sorted by it already. It reports whether there is such a column.
func (t *Table[R]) SortBy(id string) bool {
	i := slices.IndexFunc(t.columns, func(c Column[R]) bool { return c.ID == id && c.Compare != nil })
	switch i {
	case -1:
		return false
	case t.sort:
		t.desc = !t.desc
	default:
		t.sort, t.desc = i, t.columns[i].Desc
	}
	t.resort()
	return true
}

// SortNext sorts by the next column that is on the screen and can be sorted by.
func (t *Table[R]) SortNext() {
	shown := t.columnsShown()
	from := slices.Index(shown, t.sort)
	for n := 1; n <= len(shown); n++ {
		if i := shown[(from+n)%len(shown)]; t.columns[i].Compare != nil && i != t.sort {
			t.SortBy(t.columns[i].ID)
			return
		}
	}
}

// Reverse turns the direction of the sort round.
func (t *Table[R]) Reverse() {
	if t.sort != unsorted {
		t.desc = !t.desc
		t.resort()
	}
}

// Sort is the id of the column that the table is sorted by, empty for none, and whether the
// largest comes first.
func (t *Table[R]) Sort() (id string, desc bool) {
	if t.sort == unsorted {
		return "", false
	}
	return t.columns[t.sort].ID, t.desc
}
