package ui

import (
	"fmt"

	"flightdeck/model"
)

// list is a screen of one table of rows R with a filter, which looks at the F in each of them.
type list[R, F any] struct {
	paned
	place place
	grid  *grid[R]
	// noun names a row, such as "group".
	noun string
	// rows are all rows there are now.
	rows func(*App) []R
	// none says why there are no rows at all, and what would fill the list.
	none func(*App) []string
	// fields are what the filter can ask for.
	fields []model.Field[F]
	// facts are what the filter looks at in a row.
	facts func(*R) *F

	typed  string // the filter as it was typed
	filter model.Filter[F]
	bad    error // why typed can not be used; the filter before it stays
	all    int   // rows before the filter
	shown  []R   // rows after it
}

// filterable is a screen with a filter.
type filterable interface {
	// setFilter takes a filter as it was typed. With an error the filter in force stays.
	setFilter(text string) error
	filterText() string
	// filterKeys are the keys that the filter knows.
	filterKeys() []string
}

func (l *list[R, F]) at() place { return l.place }

func (l *list[R, F]) load(a *App) {
	rows := l.rows(a)
	l.all = len(rows)
	if !l.filter.Empty() {
		kept := rows[:0]
		for i := range rows {
			if l.filter.Match(l.facts(&rows[i])) {
				kept = append(kept, rows[i])
			}
		}
		rows = kept
	}
	l.grid.blank = nil
	if len(rows) == 0 {
		if l.all > 0 {
			l.grid.blank = []string{
				fmt.Sprintf("The filter hides all %s.", model.Plural(l.all, l.noun)),
				"It is " + model.Clean(l.typed) + " . Press esc to clear it, or / to change it.",
			}
		} else {
			l.grid.blank = l.none(a)
		}
	}
	l.shown = rows
	l.grid.SetRows(rows)
}

func (l *list[R, F]) draw(a *App, w, h int) string { return l.drawPanes(a, w, h) }

func (l *list[R, F]) setFilter(s string) error {
	l.typed = s
	f, err := model.ParseFilter(s, l.fields)
	l.bad = err
	if err == nil {
		l.filter = f
	}
	return err
}

func (l *list[R, F]) filterText() string { return l.typed }

func (l *list[R, F]) filterKeys() []string {
	names := make([]string, len(l.fields))
	for i := range l.fields {
		names[i] = l.fields[i].Name
	}
	return names
}

func (l *list[R, F]) summary(a *App) string {
	if a.view == nil {
		return ""
	}
	if !l.filter.Empty() {
		return fmt.Sprintf("%s of %s", model.Count(int64(l.grid.Len())), model.Plural(l.all, l.noun))
	}
	return model.Plural(l.all, l.noun)
}
