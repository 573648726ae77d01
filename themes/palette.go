package themes

// attr is a set of text attributes.
type attr uint8

const (
	bold attr = 1 << iota
	faint
	italic
	underline
	reverse
)

// ink is how one token looks. Colours are 0xRRGGBB; a zero fg is the terminal's own foreground, a
// zero bg leaves the background alone.
type ink struct {
	fg, bg uint32
	ansi   int8 // colour of a 16-colour terminal, 0 to 15, or plain
	attrs  attr
	mono   attr // attributes of a terminal without colours
}

// plain is the terminal's own foreground.
const plain = -1

// palette is the ink of every token but the inferred record states, which are made from the
// others.
type palette struct {
	dark bool
	// back are backgrounds that the palette is readable on, the extremes of what terminals use. The
	// first one is asked of the terminal when its own background does not fit the palette.
	back     []uint32
	selected uint32 // background of the selected row
	inks     [inferredAvailable]ink
}

// mix moves a to b by n/100.
func mix(a, b uint32, n int) uint32 {
	channel := func(shift uint) uint32 {
		x, y := int(a>>shift&0xff), int(b>>shift&0xff)
		return uint32(x+(y-x)*n/100) << shift
	}
	return channel(16) | channel(8) | channel(0)
}

var darkPalette = palette{
	dark:     true,
	back:     []uint32{0x16181d, 0x000000, 0x282c34},
	selected: 0x2b3a55,
	inks: [inferredAvailable]ink{
		Text:         {fg: 0xdfe3ea, ansi: plain},
		Muted:        {fg: 0xb4bccb, ansi: plain},
		Faint:        {fg: 0x98a1b2, ansi: 8, attrs: 0},
		Accent:       {fg: 0x7cc0ff, ansi: 14, attrs: bold, mono: bold},
		Title:        {fg: 0xffffff, ansi: 15, attrs: bold, mono: bold},
		Header:       {fg: 0xb4bccb, ansi: 7, attrs: bold, mono: bold},
		Border:       {fg: 0x7d8799, ansi: 8},
		Key:          {fg: 0x7cc0ff, ansi: 14, attrs: bold, mono: bold},
		Match:        {fg: 0xf5d060, ansi: 11, attrs: underline, mono: underline},
		Selected:     {fg: 0xffffff, ansi: plain, attrs: bold, mono: bold},
		Marked:       {fg: 0xdcb4ff, ansi: 13, attrs: bold, mono: bold},
		Stale:        {fg: 0x98a1b2, ansi: 8},
		Disabled:     {fg: 0x98a1b2, ansi: 8},
		OK:           {fg: 0x6fdc98, ansi: 10},
		Info:         {fg: 0x7cc0ff, ansi: 14},
		Warning:      {fg: 0xf5d060, ansi: 11, mono: bold},
		Critical:     {fg: 0xffa19a, ansi: 9, attrs: bold, mono: bold | underline},
		ReadOnly:     {fg: 0x16181d, bg: 0xf5d060, ansi: 11, attrs: bold, mono: bold},
		Demo:         {fg: 0x16181d, bg: 0x6fdc98, ansi: 10, attrs: bold, mono: bold},
		Profile:      {fg: 0x16181d, bg: 0x7cc0ff, ansi: 14, attrs: bold, mono: bold},
		Available:    {fg: 0x7cc0ff, ansi: 14},
		Acquired:     {fg: 0xf5d060, ansi: 11, mono: bold},
		Acknowledged: {fg: 0x6fdc98, ansi: 10},
		Archiving:    {fg: 0xffb877, ansi: 13},
		Archived:     {fg: 0xffa19a, ansi: 9},
		Held:         {fg: 0xff9bf5, ansi: 13, attrs: bold, mono: bold | underline},
	},
}

var lightPalette = palette{
	back:     []uint32{0xffffff, 0xfdf6e3},
	selected: 0xd6e4fa,
	inks: [inferredAvailable]ink{
		Text:         {fg: 0x1f2328, ansi: plain},
		Muted:        {fg: 0x4a525d, ansi: plain},
		Faint:        {fg: 0x5f6874, ansi: 8},
		Accent:       {fg: 0x0a53b8, ansi: 4, attrs: bold, mono: bold},
		Title:        {fg: 0x000000, ansi: plain, attrs: bold, mono: bold},
		Header:       {fg: 0x4a525d, ansi: plain, attrs: bold, mono: bold},
		Border:       {fg: 0x767f8b, ansi: 8},
		Key:          {fg: 0x0a53b8, ansi: 4, attrs: bold, mono: bold},
		Match:        {fg: 0x8a4b00, ansi: 5, attrs: underline, mono: underline},
		Selected:     {fg: 0x000000, ansi: plain, attrs: bold, mono: bold},
		Marked:       {fg: 0x7a2fb5, ansi: 5, attrs: bold, mono: bold},
		Stale:        {fg: 0x5f6874, ansi: 8},
		Disabled:     {fg: 0x5f6874, ansi: 8},
		OK:           {fg: 0x11652f, ansi: 2},
		Info:         {fg: 0x0a53b8, ansi: 4},
		Warning:      {fg: 0x7d5000, ansi: 5, mono: bold},
		Critical:     {fg: 0xb3131f, ansi: 1, attrs: bold, mono: bold | underline},
		ReadOnly:     {fg: 0xffffff, bg: 0x7d5000, ansi: 5, attrs: bold, mono: bold},
		Demo:         {fg: 0xffffff, bg: 0x11652f, ansi: 2, attrs: bold, mono: bold},
		Profile:      {fg: 0xffffff, bg: 0x0a53b8, ansi: 4, attrs: bold, mono: bold},
		Available:    {fg: 0x0a53b8, ansi: 4},
		Acquired:     {fg: 0x7d5000, ansi: 5, mono: bold},
		Acknowledged: {fg: 0x11652f, ansi: 2},
		Archiving:    {fg: 0x9a3d00, ansi: 1},
		Archived:     {fg: 0xb3131f, ansi: 1},
		Held:         {fg: 0x9b1c8a, ansi: 5, attrs: bold, mono: bold | underline},
	},
}
