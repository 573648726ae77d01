package table

// Move moves the cursor by n rows, up when n is below 0, and stops at the ends.
func (t *Table[R]) Move(n int) {
	t.cursor += n
	t.held = true
	t.follow()
}

// Up moves the cursor one row up.
func (t *Table[R]) Up() { t.Move(-1) }

// Down moves the cursor one row down.
func (t *Table[R]) Down() { t.Move(1) }

// PageUp moves the cursor up by one screen less a row.
func (t *Table[R]) PageUp() { t.Move(-max(t.lines()-1, 1)) }

// PageDown moves the cursor down by one screen less a row.
func (t *Table[R]) PageDown() { t.Move(max(t.lines()-1, 1)) }

// Home moves the cursor to the first row.
func (t *Table[R]) Home() { t.Move(-len(t.order)) }

// End moves the cursor to the last row.
func (t *Table[R]) End() { t.Move(len(t.order)) }

// Selected is the row under the cursor; false when there are no rows. The row is shared with the
// table and must not be changed.
func (t *Table[R]) Selected() (*R, bool) {
	if len(t.order) == 0 {
		return nil, false
	}
	return &t.rows[t.order[t.cursor]], true
}

// Index is the place of the cursor among the rows as shown, from 0.
func (t *Table[R]) Index() int { return t.cursor }

// InView are the rows on the screen, from the top, shared with the table.
func (t *Table[R]) InView() []*R {
	rows := make([]*R, 0, t.lines())
	for _, i := range t.order[t.offset:min(t.offset+t.lines(), len(t.order))] {
		rows = append(rows, &t.rows[i])
	}
	return rows
}

// Select puts the cursor on the row with that key and reports whether there is one.
func (t *Table[R]) Select(key string) bool {
	i := t.place(key)
	if i < 0 {
		return false
	}
	t.Move(i - t.cursor)
	return true
}

// lines is the number of rows that fit on the screen.
func (t *Table[R]) lines() int {
	if t.height > 1 {
		return t.height - 1
	}
	return t.height
}

// follow keeps the cursor on a row and the row in view, and remembers its key.
func (t *Table[R]) follow() {
	t.cursor = max(min(t.cursor, len(t.order)-1), 0)
	if lines := t.lines(); lines > 0 {
		t.offset = max(min(t.offset, t.cursor, len(t.order)-lines), t.cursor-lines+1, 0)
	}
	if len(t.order) > 0 {
		t.selected = t.keys[t.order[t.cursor]]
	}
}

// ToggleMark marks the selected row, or takes its mark away.
func (t *Table[R]) ToggleMark() {
	if len(t.order) == 0 {
		return
	}
	t.held = true
	if t.marks[t.selected] {
		delete(t.marks, t.selected)
	} else {
		t.marks[t.selected] = true
	}
}

// ClearMarks takes all marks away.
func (t *Table[R]) ClearMarks() { clear(t.marks) }

// Marked are the marked rows in the order in which they are shown, shared with the table. Marks on
// rows that a filter took away are kept and are not among them.
func (t *Table[R]) Marked() []*R {
	var rows []*R
	for _, i := range t.order {
		if t.marks[t.keys[i]] {
			rows = append(rows, &t.rows[i])
		}
	}
	return rows
}
