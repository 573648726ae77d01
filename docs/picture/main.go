// Command picture draws the pictures of README from real frames: it runs flightdeck's demo in a terminal of its own,
// presses keys, and writes the screen as SVG.
//
//	go run ./docs/picture
package main

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image/color"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	uv "github.com/charmbracelet/ultraviolet"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
)

const (
	columns, rows         = 120, 32
	cellWidth, cellHeight = 8.4, 18
	background            = "#161820"
	foreground            = "#d8dce6"
)

// shots are the pictures: what is pressed before each, and the text that shows that the screen is there.
var shots = []struct {
	name  string
	keys  []string
	until string
	// watch is how long the demo runs before the picture, for trends and rates to fill.
	watch time.Duration
}{
	{name: "consumers", until: "order-service", watch: 45 * time.Second},
	{name: "flight", keys: []string{"2", "/", "order-workers", "\r", "\r", "\r"}, until: "ACKNOWLEDGED", watch: 12 * time.Second},
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("picture: ")
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	dir, err := os.MkdirTemp("", "flightdeck-picture-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "flightdeck")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	x, err := open(program, "--demo")
	if err != nil {
		return err
	}
	defer x.close()
	for _, s := range shots {
		for _, k := range s.keys {
			if _, err := io.WriteString(x.keyboard, k); err != nil {
				return err
			}
			time.Sleep(300 * time.Millisecond) // a person's pace: each key finds the screen of the one before
		}
		if err := x.until(s.until); err != nil {
			return err
		}
		time.Sleep(s.watch)
		if err := os.WriteFile(filepath.Join("docs", s.name+".svg"), x.svg(), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// terminal is the terminal in which the program runs.
type terminal struct {
	cmd      *exec.Cmd
	keyboard *os.File
	mu       sync.Mutex
	screen   *vt.Emulator
}

func open(program string, args ...string) (*terminal, error) {
	x := &terminal{cmd: exec.Command(program, args...), screen: vt.NewEmulator(columns, rows)}
	x.cmd.Env = append(os.Environ(), "TERM=xterm-256color", "COLORTERM=truecolor", "LC_ALL=C.UTF-8")
	var err error
	if x.keyboard, err = pty.StartWithSize(x.cmd, &pty.Winsize{Cols: columns, Rows: rows}); err != nil {
		return nil, err
	}
	go io.Copy(io.Discard, x.screen)
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, err := x.keyboard.Read(b)
			x.mu.Lock()
			_, _ = x.screen.Write(b[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return x, nil
}

func (x *terminal) close() {
	_, _ = io.WriteString(x.keyboard, "\x03")
	_ = x.cmd.Wait()
	_ = x.keyboard.Close()
}

func (x *terminal) until(text string) error {
	for range 200 {
		x.mu.Lock()
		found := strings.Contains(x.screen.String(), text)
		x.mu.Unlock()
		if found {
			return nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	return fmt.Errorf("%q did not appear on the screen", text)
}

// svg draws the screen: a rectangle per run of background, a text per run of equal style.
func (x *terminal) svg() []byte {
	x.mu.Lock()
	defer x.mu.Unlock()
	var b bytes.Buffer
	width, height := columns*cellWidth+20, float64(rows*cellHeight+20)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	fmt.Fprintf(&b, `<g font-family="ui-monospace, 'DejaVu Sans Mono', Menlo, Consolas, monospace" font-size="14" xml:space="preserve">`+"\n")
	for y := range rows {
		for at := 0; at < columns; {
			look, text, next := x.run(at, y)
			look.write(&b, text, at, next-at, y)
			at = next
		}
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

type look struct {
	fore, back string
	bold       bool
	faint      bool
}

// run is the longest run of cells of one look from column at on.
func (x *terminal) run(at, y int) (first look, text string, next int) {
	var b strings.Builder
	for next = at; next < columns; {
		c := x.screen.CellAt(next, y)
		l := lookOf(c)
		if next == at {
			first = l
		} else if l != first {
			break
		}
		if c == nil || c.Content == "" {
			b.WriteByte(' ')
			next++
			continue
		}
		b.WriteString(c.Content)
		next += max(1, c.Width)
	}
	return first, b.String(), next
}

func lookOf(c *uv.Cell) look {
	l := look{fore: foreground}
	if c == nil {
		return l
	}
	if c.Style.Fg != nil {
		l.fore = hex(c.Style.Fg)
	}
	if c.Style.Bg != nil {
		l.back = hex(c.Style.Bg)
	}
	if c.Style.Attrs&uv.AttrReverse != 0 {
		l.fore, l.back = cmp.Or(l.back, background), l.fore
	}
	l.bold = c.Style.Attrs&uv.AttrBold != 0
	l.faint = c.Style.Attrs&uv.AttrFaint != 0
	return l
}

func (l look) write(b *bytes.Buffer, text string, at, cells, y int) {
	left, top := 10+float64(at)*cellWidth, float64(10+y*cellHeight)
	if l.back != "" {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.0f" width="%.1f" height="%d" fill="%s"/>`, left, top, float64(cells)*cellWidth, cellHeight, l.back)
	}
	trimmed := strings.TrimRight(text, " ")
	if trimmed == "" {
		return
	}
	attrs := ""
	if l.bold {
		attrs += ` font-weight="bold"`
	}
	if l.faint {
		attrs += ` opacity="0.6"`
	}
	// textLength holds the columns whatever font the reader has.
	used := cells - (len(text) - len(trimmed))
	fmt.Fprintf(b, `<text x="%.1f" y="%.0f" fill="%s" textLength="%.1f" lengthAdjust="spacingAndGlyphs"%s>%s</text>`+"\n",
		left, top+13.5, l.fore, float64(used)*cellWidth, attrs, html.EscapeString(trimmed))
}

func hex(c color.Color) string {
	r, g, b, _ := c.RGBA()
	return fmt.Sprintf("#%02x%02x%02x", r>>8, g>>8, b>>8)
}
