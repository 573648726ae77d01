package themes

import (
	"fmt"
	"image/color"
	"strconv"
	"strings"

	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
)

// Style is a pair of escape sequences around a piece of text.
type Style struct{ Open, Close string }

// Render puts s between the sequences.
func (s Style) Render(text string) string { return s.Open + text + s.Close }

// Append appends text in this style to dst.
func (s Style) Append(dst []byte, text string) []byte {
	dst = append(dst, s.Open...)
	dst = append(dst, text...)
	return append(dst, s.Close...)
}

// Options say what a theme is built for.
type Options struct {
	// Profile is what colours the terminal has.
	Profile colorprofile.Profile
	// Light is true when the terminal is known to have a light background.
	Light bool
	// Glyphs to draw with; zero is [Unicode].
	Glyphs Glyphs
}

// Theme is a palette made ready for one terminal. It is never changed after it was built.
type Theme struct {
	// Name as in [Names].
	Name string
	// Dark is true when the theme is for a dark background.
	Dark bool
	// Glyphs are the characters to draw with.
	Glyphs Glyphs
	// Back and Fore are the colours to ask the terminal for (as in tea.View) where it has a
	// background that the theme is not made for; nil when nothing is to be asked.
	Back, Fore color.Color

	styles [2][tokens]Style // by selected or not
}

// family is a theme's name with the palettes for a dark and a light background.
type family struct {
	name        string
	dark, light *palette
}

// Auto is the name of the theme that follows the terminal's background.
const Auto = "auto"

// Mono is the name of the theme without colours.
const Mono = "mono"

var families = []family{
	{Auto, &darkPalette, &lightPalette},
	{"dark", &darkPalette, &darkPalette},
	{"light", &lightPalette, &lightPalette},
	{"high-contrast", &contrastDarkPalette, &contrastLightPalette},
	{"color-blind", &safeDarkPalette, &safeLightPalette},
	{Mono, &darkPalette, &lightPalette},
}

// Names lists the themes in the order in which a key steps through them.
func Names() []string {
	names := make([]string, len(families))
	for i, f := range families {
		names[i] = f.name
	}
	return names
}

// ByName builds the theme of that name. On a terminal without colours every theme looks like
// [Mono].
func ByName(name string, o Options) (*Theme, error) {
	for _, f := range families {
		if f.name == name {
			return f.build(o), nil
		}
	}
	return nil, fmt.Errorf("there is no theme %q; the themes are %s", name, strings.Join(Names(), ", "))
}

// ProfileFor corrects a detected profile by the environment: NO_COLOR with any value (no-color.org)
// takes all colours away, and the Linux console has sixteen whatever COLORTERM says. lookup is
// os.LookupEnv or stands in for it.
func ProfileFor(detected colorprofile.Profile, lookup func(string) (string, bool)) colorprofile.Profile {
	if v, _ := lookup("NO_COLOR"); v != "" {
		return min(detected, colorprofile.ASCII)
	}
	if term, _ := lookup("TERM"); term == "linux" {
		return min(detected, colorprofile.ANSI)
	}
	return detected
}

// Default is the [Auto] theme.
func Default(o Options) *Theme { return families[0].build(o) }

func (f family) build(o Options) *Theme {
	p := f.dark
	if o.Light {
		p = f.light
	}
	if o.Glyphs == (Glyphs{}) {
		o.Glyphs = Unicode
	}
	if f.name == Mono && o.Profile > colorprofile.ASCII {
		o.Profile = colorprofile.ASCII
	}
	t := &Theme{Name: f.name, Dark: p.dark, Glyphs: o.Glyphs}
	if o.Profile > colorprofile.ANSI && (p.paint || p.dark == o.Light) {
		t.Back, t.Fore = rgb(p.back[0]), rgb(p.inks[Text].fg)
	}
	for tok := range tokens {
		t.styles[0][tok] = p.style(tok, o.Profile, false)
		t.styles[1][tok] = p.style(tok, o.Profile, true)
	}
	t.styles[0][Selected] = t.styles[1][Selected]
	return t
}

// Custom builds a theme of styles that were made elsewhere; style is asked once for every token.
func Custom(name string, g Glyphs, style func(tok Token, selected bool) Style) *Theme {
	t := &Theme{Name: name, Dark: true, Glyphs: g}
	for tok := range tokens {
		t.styles[0][tok], t.styles[1][tok] = style(tok, false), style(tok, true)
	}
	return t
}

// Style is the look of a token.
func (t *Theme) Style(tok Token) Style { return t.styles[0][tok] }

// OnSelected is the look of a token in the selected row.
func (t *Theme) OnSelected(tok Token) Style { return t.styles[1][tok] }

// ink is the ink of a token, also of the inferred ones.
func (p *palette) ink(tok Token) ink {
	base, inferred := tok.fact()
	in := p.inks[base]
	if inferred {
		in.fg = mix(in.fg, p.back[0], p.weak)
		in.attrs = in.attrs&^bold | italic
		in.mono = underline
	}
	return in
}

// style builds the sequences of a token for a terminal.
func (p *palette) style(tok Token, profile colorprofile.Profile, selected bool) Style {
	in := p.ink(tok)
	badge := in.bg != 0
	var codes []string
	switch {
	case profile <= colorprofile.NoTTY:
		return Style{}
	case profile == colorprofile.ASCII:
		a := in.mono
		if selected || badge {
			a |= reverse
		}
		codes = a.codes()
	case profile == colorprofile.ANSI:
		// A selected row is reversed: no background of sixteen suits all foregrounds. Tokens that
		// tell a state keep their colour, as a block.
		a := in.attrs &^ italic // the Linux console draws italics in another colour
		if selected || badge {
			a |= reverse
		}
		codes = a.codes()
		switch {
		case in.ansi == dim && !selected:
			codes = append(codes, "2")
		case in.ansi >= 0 && !(selected && tok < OK):
			codes = append(codes, basic(in.ansi))
		}
	default:
		codes = append(in.attrs.codes(), colour(in.fg, profile, false))
		bg := in.bg
		if selected && !badge {
			bg = p.selected
		}
		if bg != 0 {
			codes = append(codes, colour(bg, profile, true))
		}
	}
	if len(codes) == 0 {
		return Style{}
	}
	return Style{Open: "\x1b[" + strings.Join(codes, ";") + "m", Close: "\x1b[m"}
}

// codes are the SGR parameters of the attributes.
func (a attr) codes() []string {
	var codes []string
	for i, code := range []string{"1", "3", "4", "7"} {
		if a&(1<<i) != 0 {
			codes = append(codes, code)
		}
	}
	return codes
}

// basic is the SGR parameter of one of the sixteen colours as a foreground.
func basic(c int8) string {
	if c >= 8 {
		return strconv.Itoa(90 + int(c) - 8)
	}
	return strconv.Itoa(30 + int(c))
}

// colour is the SGR parameter of a colour on a terminal with 256 colours or more.
func colour(c uint32, profile colorprofile.Profile, background bool) string {
	layer := "38"
	if background {
		layer = "48"
	}
	if profile == colorprofile.ANSI256 {
		return fmt.Sprintf("%s;5;%d", layer, ansi.Convert256(rgb(c)))
	}
	return fmt.Sprintf("%s;2;%d;%d;%d", layer, c>>16&0xff, c>>8&0xff, c&0xff)
}

func rgb(c uint32) color.RGBA {
	return color.RGBA{R: uint8(c >> 16), G: uint8(c >> 8), B: uint8(c), A: 0xff}
}
