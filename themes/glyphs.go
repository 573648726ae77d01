package themes

import "strings"

// Glyphs are the characters that screens are drawn with, one cell each.
type Glyphs struct {
	Cursor   string // before the selected row
	Mark     string // before a marked row
	Ellipsis string // where text was cut off

	Up, Down, Left, Right string // sort direction, arrows, breadcrumbs
	Thumb, Track          string // scroll bar
	Full, Empty           string // gauge
	Bullet                string // list item, separator
	Spin                  string // frames of a spinner, one rune each

	Horizontal, Vertical                       string // frame lines
	TopLeft, TopRight, BottomLeft, BottomRight string
	TeeLeft, TeeRight                          string // ├ and ┤

	OK, Info, Warning, Critical string // severities

	Undelivered  string // a record that nobody was given yet
	Available    string // record states
	Acquired     string
	Acknowledged string
	Archiving    string
	Archived     string
	Held         string // acquired by this process
	Inferred     string // an acquired record, concluded and not seen
	Gap          string // an offset without a record

	// Braille is true when the terminal can be expected to draw braille patterns, which are fine
	// enough for curves.
	Braille bool
}

// Unicode is for terminals with UTF-8. Every glyph but the frame lines has the East Asian width
// class neutral or narrow.
var Unicode = Glyphs{
	Cursor: "▐", Mark: "✦", Ellipsis: "⋯",
	Up: "▴", Down: "▾", Left: "◂", Right: "▸",
	Thumb: "▐", Track: " ",
	Full: "▰", Empty: "▱",
	Bullet: "∙", Spin: "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏",
	Horizontal: "─", Vertical: "│",
	TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
	TeeLeft: "├", TeeRight: "┤",
	OK: "✓", Info: "∙", Warning: "▴", Critical: "✗",
	Undelivered: "∙", Available: "◦", Acquired: "◉", Acknowledged: "✓",
	Archiving: "⊗", Archived: "✗", Held: "❖", Inferred: "◌", Gap: " ",
	Braille: true,
}

// ASCII is for every other terminal.
var ASCII = Glyphs{
	Cursor: ">", Mark: "*", Ellipsis: "~",
	Up: "^", Down: "v", Left: "<", Right: ">",
	Thumb: "#", Track: "|",
	Full: "#", Empty: "-",
	Bullet: "-", Spin: `|/-\`,
	Horizontal: "-", Vertical: "|",
	TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
	TeeLeft: "+", TeeRight: "+",
	OK: "+", Info: "i", Warning: "!", Critical: "x",
	Undelivered: ".", Available: "o", Acquired: "@", Acknowledged: "+",
	Archiving: "%", Archived: "x", Held: "&", Inferred: "?", Gap: " ",
}

// EastAsian is [Unicode] with the frame lines of [ASCII]: box drawing characters are two cells wide
// on terminals that were set up for East Asian text.
var EastAsian = eastAsian()

func eastAsian() Glyphs {
	g := Unicode
	g.Horizontal, g.Vertical = ASCII.Horizontal, ASCII.Vertical
	g.TopLeft, g.TopRight, g.BottomLeft, g.BottomRight = ASCII.TopLeft, ASCII.TopRight, ASCII.BottomLeft, ASCII.BottomRight
	g.TeeLeft, g.TeeRight = ASCII.TeeLeft, ASCII.TeeRight
	return g
}

// all lists the glyphs.
func (g *Glyphs) all() []string {
	return []string{
		g.Cursor, g.Mark, g.Ellipsis, g.Up, g.Down, g.Left, g.Right, g.Thumb, g.Track, g.Full, g.Empty,
		g.Bullet, g.Spin, g.Horizontal, g.Vertical, g.TopLeft, g.TopRight, g.BottomLeft, g.BottomRight,
		g.TeeLeft, g.TeeRight, g.OK, g.Info, g.Warning, g.Critical, g.Undelivered, g.Available,
		g.Acquired, g.Acknowledged, g.Archiving, g.Archived, g.Held, g.Inferred, g.Gap,
	}
}

// GlyphsFor picks the glyphs for an environment: its locale (LC_ALL, LC_CTYPE, LANG, the first that
// is set and not empty) and terminal. lookup is os.LookupEnv or stands in for it.
func GlyphsFor(lookup func(string) (string, bool)) Glyphs {
	// The fonts of the Linux console hold 256 or 512 characters.
	if term, _ := lookup("TERM"); term == "linux" || term == "dumb" {
		return ASCII
	}
	if session, _ := lookup("WT_SESSION"); session != "" {
		return Unicode // Windows Terminal, which has no locale variables
	}
	var locale string
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v, _ := lookup(name); v != "" {
			locale = strings.ToLower(v)
			break
		}
	}
	if !strings.Contains(locale, "utf-8") && !strings.Contains(locale, "utf8") {
		return ASCII
	}
	language, _, _ := strings.Cut(locale, "_")
	if language == "zh" || language == "ja" || language == "ko" {
		return EastAsian
	}
	return Unicode
}
