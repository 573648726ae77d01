package themes

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/colorprofile"
	"github.com/clipperhouse/displaywidth"
	"github.com/mattn/go-runewidth"
)

// palettes are all palettes with the least contrast that they promise for text.
var palettes = map[string]struct {
	palette *palette
	text    float64
}{
	"dark":                {&darkPalette, 4.5},
	"light":               {&lightPalette, 4.5},
	"high-contrast dark":  {&contrastDarkPalette, 7},
	"high-contrast light": {&contrastLightPalette, 7},
	"color-blind dark":    {&safeDarkPalette, 4.5},
	"color-blind light":   {&safeLightPalette, 4.5},
}

// TestContrast measures every token on every background that it is drawn on, by WCAG 2.
func TestContrast(t *testing.T) {
	for name, p := range palettes {
		t.Run(name, func(t *testing.T) {
			for _, tok := range Tokens() {
				in, want := p.palette.ink(tok), p.text
				if tok == Faint || tok == Border {
					want = 3
				}
				grounds := append(slices.Clone(p.palette.back), p.palette.selected)
				if in.bg != 0 {
					grounds = []uint32{in.bg}
				}
				for _, bg := range grounds {
					if got := contrast(in.fg, bg); got < want {
						t.Errorf("%v: #%06x on #%06x has contrast %.2f, want %.1f", tok, in.fg, bg, got, want)
					}
				}
			}
		})
	}
}

// TestColorBlind measures how far apart states are for people who miss one kind of cone.
func TestColorBlind(t *testing.T) {
	sets := map[string][]Token{
		"severities":    {OK, Warning, Critical},
		"record states": {Available, Acquired, Acknowledged, Archiving, Archived},
	}
	for _, name := range []string{"color-blind dark", "color-blind light"} {
		for kind, matrix := range deficiencies {
			for set, tokens := range sets {
				t.Run(name+" "+kind+" "+set, func(t *testing.T) {
					for i, a := range tokens {
						for _, b := range tokens[i+1:] {
							x := simulate(palettes[name].palette.inks[a].fg, matrix)
							y := simulate(palettes[name].palette.inks[b].fg, matrix)
							if d := distance(x, y); d < 12 {
								t.Errorf("%v and %v differ by %.1f only", a, b, d)
							}
						}
					}
				})
			}
		}
	}
}

func TestProfiles(t *testing.T) {
	sgr := map[string]struct {
		profile colorprofile.Profile
		allowed string
	}{
		"no terminal": {colorprofile.NoTTY, `^$`},
		"no colour":   {colorprofile.ASCII, `^(\x1b\[([147])(;[147])*m)?$`},
		"16 colours":  {colorprofile.ANSI, `^(\x1b\[([1247]|3\d|9\d)(;([1247]|3\d|9\d))*m)?$`},
		"256 colours": {colorprofile.ANSI256, `^\x1b\[([1347];)*38;5;\d+(;48;5;\d+)?m$`},
		"truecolor":   {colorprofile.TrueColor, `^\x1b\[([1347];)*38;2;\d+;\d+;\d+(;48;2;\d+;\d+;\d+)?m$`},
	}
	for name, c := range sgr {
		allowed := regexp.MustCompile(c.allowed)
		for _, theme := range Names() {
			t.Run(name+" "+theme, func(t *testing.T) {
				if theme == Mono {
					allowed = regexp.MustCompile(sgr["no colour"].allowed)
				}
				th, err := ByName(theme, Options{Profile: c.profile})
				if err != nil {
					t.Fatal(err)
				}
				for _, tok := range Tokens() {
					for _, s := range []Style{th.Style(tok), th.OnSelected(tok)} {
						if !allowed.MatchString(s.Open) {
							t.Errorf("%v opens with %q", tok, s.Open)
						}
						if (s.Open == "") != (s.Close == "") {
							t.Errorf("%v opens with %q and closes with %q", tok, s.Open, s.Close)
						}
					}
				}
			})
		}
	}
}

// TestSelectionWithoutColour: the cursor, badges and severities can be told apart by attributes.
func TestSelectionWithoutColour(t *testing.T) {
	th, _ := ByName("dark", Options{Profile: colorprofile.ASCII})
	for _, tok := range Tokens() {
		if th.Style(tok) == th.OnSelected(tok) && tok != Selected && tok < ReadOnly {
			t.Errorf("%v looks the same in the selected row", tok)
		}
	}
	looks := map[Style]Token{}
	for _, tok := range []Token{OK, Warning, Critical, ReadOnly} {
		if other, taken := looks[th.Style(tok)]; taken {
			t.Errorf("%v looks like %v", tok, other)
		}
		looks[th.Style(tok)] = tok
	}
}

// TestInferred: a state that was concluded never looks like one that was seen.
func TestInferred(t *testing.T) {
	for _, profile := range []colorprofile.Profile{colorprofile.ASCII, colorprofile.ANSI256, colorprofile.TrueColor} {
		for _, theme := range Names() {
			th, _ := ByName(theme, Options{Profile: profile})
			for tok := Available; tok <= Held; tok++ {
				if tok.Inferred() == tok || th.Style(tok) == th.Style(tok.Inferred()) {
					t.Errorf("%s %v: %v looks the same inferred", theme, profile, tok)
				}
			}
		}
	}
	if Critical.Inferred() != Critical {
		t.Error("only record states have an inferred form")
	}
}

func TestByName(t *testing.T) {
	cases := map[string]struct {
		name        string
		light       bool
		dark, asked bool
		err         string
	}{
		"auto on dark":          {name: "auto", dark: true},
		"auto on light":         {name: "auto", light: true},
		"dark on dark":          {name: "dark", dark: true},
		"dark on light":         {name: "dark", light: true, dark: true, asked: true},
		"light on dark":         {name: "light", asked: true},
		"high contrast on dark": {name: "high-contrast", dark: true, asked: true},
		"unknown":               {name: "solar", err: `there is no theme "solar"; the themes are auto, dark, light, high-contrast, color-blind, mono`},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			th, err := ByName(c.name, Options{Profile: colorprofile.TrueColor, Light: c.light})
			if c.err != "" {
				if err == nil || err.Error() != c.err {
					t.Fatalf("error %v, want %s", err, c.err)
				}
				return
			}
			if th.Dark != c.dark || (th.Back != nil) != c.asked {
				t.Errorf("dark %v, asks for a background %v; want %v, %v", th.Dark, th.Back != nil, c.dark, c.asked)
			}
		})
	}
}

func TestGlyphWidths(t *testing.T) {
	frame := "─│╭╮╰╯├┤"
	wide := runewidth.Condition{EastAsianWidth: true}
	for name, g := range map[string]Glyphs{"Unicode": Unicode, "EastAsian": EastAsian, "ASCII": ASCII} {
		for _, s := range g.all() {
			for _, r := range s {
				if name == "ASCII" && r >= utf8.RuneSelf {
					t.Errorf("ASCII has %q", r)
				}
				if name == "Unicode" && strings.ContainsRune(frame, r) {
					continue
				}
				if n := (displaywidth.Options{EastAsianWidth: true}).Rune(r); n != 1 {
					t.Errorf("%s: %q takes %d cells in East Asian locales", name, r, n)
				}
				if n := wide.RuneWidth(r); n != 1 {
					t.Errorf("%s: %q takes %d cells by go-runewidth", name, r, n)
				}
			}
		}
	}
}

func TestGlyphsFor(t *testing.T) {
	cases := map[string]struct {
		env  map[string]string
		want Glyphs
	}{
		"nothing set":               {nil, ASCII},
		"UTF-8":                     {map[string]string{"LANG": "en_US.UTF-8"}, Unicode},
		"utf8 spelled otherwise":    {map[string]string{"LANG": "C.utf8"}, Unicode},
		"Latin-1":                   {map[string]string{"LANG": "de_DE.ISO-8859-1"}, ASCII},
		"LC_ALL beats LANG":         {map[string]string{"LC_ALL": "C", "LANG": "en_US.UTF-8"}, ASCII},
		"empty LC_ALL counts not":   {map[string]string{"LC_ALL": "", "LANG": "en_US.UTF-8"}, Unicode},
		"LC_CTYPE beats LANG":       {map[string]string{"LC_CTYPE": "UTF-8", "LANG": "C"}, Unicode},
		"Korean":                    {map[string]string{"LANG": "ko_KR.UTF-8"}, EastAsian},
		"Japanese in EUC":           {map[string]string{"LANG": "ja_JP.eucJP"}, ASCII},
		"Konkani is not Korean":     {map[string]string{"LANG": "kok_IN.UTF-8"}, Unicode},
		"Linux console":             {map[string]string{"LANG": "en_US.UTF-8", "TERM": "linux"}, ASCII},
		"Windows Terminal, nothing": {map[string]string{"WT_SESSION": "1"}, Unicode},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := GlyphsFor(func(k string) (string, bool) { v, ok := c.env[k]; return v, ok })
			if got != c.want {
				t.Errorf("cursor %q, frame %q", got.Cursor, got.Horizontal)
			}
		})
	}
}

func TestColors(t *testing.T) {
	cases := map[string]struct {
		env  map[string]string
		want colorprofile.Profile
	}{
		"as detected":    {nil, colorprofile.TrueColor},
		"NO_COLOR=1":     {map[string]string{"NO_COLOR": "1"}, colorprofile.ASCII},
		"NO_COLOR=yes":   {map[string]string{"NO_COLOR": "yes"}, colorprofile.ASCII},
		"NO_COLOR=false": {map[string]string{"NO_COLOR": "false"}, colorprofile.ASCII},
		"NO_COLOR empty": {map[string]string{"NO_COLOR": ""}, colorprofile.TrueColor},
		"TERM=linux":     {map[string]string{"TERM": "linux"}, colorprofile.ANSI},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := ProfileFor(colorprofile.TrueColor, func(k string) (string, bool) { v, ok := c.env[k]; return v, ok })
			if got != c.want {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// luminance is the relative luminance of WCAG 2.
func luminance(c uint32) float64 {
	r, g, b := linear(c)
	return 0.2126*r + 0.7152*g + 0.0722*b
}

func linear(c uint32) (r, g, b float64) {
	f := func(v uint32) float64 {
		x := float64(v&0xff) / 255
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}
	return f(c >> 16), f(c >> 8), f(c)
}

func contrast(a, b uint32) float64 {
	x, y := luminance(a), luminance(b)
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// deficiencies are the matrices of Machado, Oliveira and Fernandes (2009) at full severity, for
// linear RGB.
var deficiencies = map[string][9]float64{
	"protanopia":   {0.152286, 1.052583, -0.204868, 0.114503, 0.786281, 0.099216, -0.003882, -0.048116, 1.051998},
	"deuteranopia": {0.367322, 0.860646, -0.227968, 0.280085, 0.672501, 0.047413, -0.011820, 0.042940, 0.968881},
	"tritanopia":   {1.255528, -0.076749, -0.178779, -0.078411, 0.930809, 0.147602, 0.004733, 0.691367, 0.303900},
}

func simulate(c uint32, m [9]float64) [3]float64 {
	r, g, b := linear(c)
	var out [3]float64
	for i := range out {
		out[i] = min(max(m[3*i]*r+m[3*i+1]*g+m[3*i+2]*b, 0), 1)
	}
	return out
}

// distance is the CIE76 difference of two colours in linear RGB.
func distance(a, b [3]float64) float64 {
	lab := func(c [3]float64) [3]float64 {
		f := func(t float64) float64 {
			if t > 216.0/24389 {
				return math.Cbrt(t)
			}
			return (24389.0/27*t + 16) / 116
		}
		x := f((0.4124*c[0] + 0.3576*c[1] + 0.1805*c[2]) / 0.95047)
		y := f(0.2126*c[0] + 0.7152*c[1] + 0.0722*c[2])
		z := f((0.0193*c[0] + 0.1192*c[1] + 0.9505*c[2]) / 1.08883)
		return [3]float64{116*y - 16, 500 * (x - y), 200 * (y - z)}
	}
	x, y := lab(a), lab(b)
	return math.Sqrt((x[0]-y[0])*(x[0]-y[0]) + (x[1]-y[1])*(x[1]-y[1]) + (x[2]-y[2])*(x[2]-y[2]))
}

func TestTokenNames(t *testing.T) {
	seen := map[string]bool{}
	for _, tok := range Tokens() {
		if tok.String() == "" || seen[tok.String()] {
			t.Errorf("token %d has the name %q", tok, tok)
		}
		seen[tok.String()] = true
	}
	if len(seen) != int(tokens) {
		t.Error(fmt.Sprint(slices.Sorted(maps.Keys(seen))))
	}
}
