package themes

// attr is a set of text attributes.
type attr uint8

const (
	bold attr = 1 << iota
	italic
	underline
	reverse
)

// ink is how one token looks. Colours are 0xRRGGBB; a zero bg leaves the background alone.
type ink struct {
	fg, bg uint32
	ansi   int8 // colour of a 16-colour terminal, 0 to 15, plain or dim
	attrs  attr
	mono   attr // attributes of a terminal without colours
}

const (
	plain = -1 // the terminal's own foreground
	dim   = -2 // the same at half intensity; bright black is no choice, some palettes hide it
)

// palette is the ink of every token but the inferred record states, which are made from the
// others.
type palette struct {
	dark bool
	// paint asks the terminal for back[0] always, not only where its own background does not fit.
	paint bool
	// weak is by how many hundredths inferred record states move towards the background.
	weak int
	// back are backgrounds that the palette is readable on, the extremes of what terminals use. The
	// first one is asked of the terminal when its own background does not fit the palette.
	back     []uint32
	selected uint32 // background of the selected row
	inks     [inferredAvailable]ink
}

// with is the palette with some of its inks in other colours; a foreground alone leaves the rest of
// the ink as it is.
func (p palette) with(inks map[Token]ink) palette {
	for tok, in := range inks {
		base := p.inks[tok]
		base.fg = in.fg
		if in.bg != 0 {
			base.bg = in.bg
		}
		if in.ansi != 0 {
			base.ansi = in.ansi
		}
		base.attrs |= in.attrs
		p.inks[tok] = base
	}
	return p
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
	weak:     10,
	back:     []uint32{0x16181d, 0x000000, 0x282c34},
	selected: 0x24324a,
	inks: [inferredAvailable]ink{
		Text:         {fg: 0xdfe3ea, ansi: plain},
		Muted:        {fg: 0xb4bccb, ansi: plain},
		Faint:        {fg: 0x9aa3b4, ansi: dim},
		Accent:       {fg: 0x7cc0ff, ansi: 14, attrs: bold, mono: bold},
		Title:        {fg: 0xffffff, ansi: 15, attrs: bold, mono: bold},
		Header:       {fg: 0xb4bccb, ansi: 7, attrs: bold, mono: bold},
		Border:       {fg: 0x7d8799, ansi: dim},
		Key:          {fg: 0x7cc0ff, ansi: 14, attrs: bold, mono: bold},
		Match:        {fg: 0xf5d060, ansi: 11, attrs: underline, mono: underline},
		Selected:     {fg: 0xffffff, ansi: plain, attrs: bold, mono: bold},
		Marked:       {fg: 0xdcb4ff, ansi: 13, attrs: bold, mono: bold},
		Stale:        {fg: 0x9aa3b4, ansi: dim},
		Disabled:     {fg: 0x9aa3b4, ansi: dim},
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
	weak:     5,
	back:     []uint32{0xffffff, 0xfdf6e3},
	selected: 0xe3edfc,
	inks: [inferredAvailable]ink{
		Text:         {fg: 0x1f2328, ansi: plain},
		Muted:        {fg: 0x4a525d, ansi: plain},
		Faint:        {fg: 0x5f6874, ansi: dim},
		Accent:       {fg: 0x0a53b8, ansi: 4, attrs: bold, mono: bold},
		Title:        {fg: 0x000000, ansi: plain, attrs: bold, mono: bold},
		Header:       {fg: 0x4a525d, ansi: plain, attrs: bold, mono: bold},
		Border:       {fg: 0x767f8b, ansi: dim},
		Key:          {fg: 0x0a53b8, ansi: 4, attrs: bold, mono: bold},
		Match:        {fg: 0x8a4b00, ansi: 5, attrs: underline, mono: underline},
		Selected:     {fg: 0x000000, ansi: plain, attrs: bold, mono: bold},
		Marked:       {fg: 0x7a2fb5, ansi: 5, attrs: bold, mono: bold},
		Stale:        {fg: 0x5f6874, ansi: dim},
		Disabled:     {fg: 0x5f6874, ansi: dim},
		OK:           {fg: 0x11652f, ansi: 2},
		Info:         {fg: 0x0a53b8, ansi: 4},
		Warning:      {fg: 0x744a00, ansi: 5, mono: bold},
		Critical:     {fg: 0xb3131f, ansi: 1, attrs: bold, mono: bold | underline},
		ReadOnly:     {fg: 0xffffff, bg: 0x744a00, ansi: 5, attrs: bold, mono: bold},
		Demo:         {fg: 0xffffff, bg: 0x11652f, ansi: 2, attrs: bold, mono: bold},
		Profile:      {fg: 0xffffff, bg: 0x0a53b8, ansi: 4, attrs: bold, mono: bold},
		Available:    {fg: 0x0a53b8, ansi: 4},
		Acquired:     {fg: 0x744a00, ansi: 5, mono: bold},
		Acknowledged: {fg: 0x11652f, ansi: 2},
		Archiving:    {fg: 0x923a00, ansi: 1},
		Archived:     {fg: 0xb3131f, ansi: 1},
		Held:         {fg: 0x931983, ansi: 5, attrs: bold, mono: bold | underline},
	},
}
