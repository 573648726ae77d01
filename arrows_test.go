package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "flightdeck"

// layer is what the packages of one folder may do. Patterns match an import path: a name ending in
// "..." matches itself and everything below it.
type layer struct {
	dir string

	// may lists our own packages that it may import, in tests too. A package may always import what is
	// under its own folder.
	may []string

	// never lists other packages that its code, tests aside, may not import; "other..." is every
	// package outside the standard library and this module.
	never []string

	// noGo forbids go statements, and noClock reading the time, in code that is not a test.
	noGo, noClock bool
}

// layers has the innermost folder first. The rules stand in the package comments: the terminal knows
// nothing of the wire, the wire nothing of the terminal, and the model nothing of either.
var layers = []layer{
	{
		dir:   "model",
		never: []string{"other...", "os...", "net...", "sync...", "log..."},
		noGo:  true, noClock: true,
	},
	{
		dir:   "themes",
		never: []string{"github.com/twmb/franz-go...", "charm.land/bubbletea...", "net...", "sync..."},
		noGo:  true,
	},
	{
		dir:   "ui",
		may:   []string{"model", "themes..."},
		never: []string{"github.com/twmb/franz-go...", "net...", "sync..."},
		noGo:  true,
	},
	{
		dir:   "kafka",
		may:   []string{"model"},
		never: []string{"charm.land/...", "github.com/charmbracelet/..."},
	},
	{
		dir:   "docs",
		never: []string{"github.com/twmb/franz-go...", "net..."},
	},
	{
		dir: ".",
		may: []string{"model", "themes...", "ui...", "kafka..."},
	},
}

func TestArrows(t *testing.T) {
	files := sources(t)
	for name, file := range files {
		l := layerOf(path.Dir(name))
		if l == nil {
			t.Errorf("%s: no layer knows this folder: give it a place in arrows_test.go", name)
			continue
		}
		for _, offence := range l.offences(name, file) {
			t.Error(offence)
		}
	}
	if len(files) < 5 {
		t.Errorf("found %d Go files: the test does not see the tree", len(files))
	}
}

func TestArrowsAreSeen(t *testing.T) {
	for _, tt := range []struct {
		name, file, source string
		want               string
	}{
		{"screen that speaks to Kafka", "ui/a.go", `import "github.com/twmb/franz-go/pkg/kgo"`, "franz-go/pkg/kgo"},
		{"screen that imports the source", "ui/a.go", `import "flightdeck/kafka"`, "flightdeck/kafka"},
		{"screen test that imports the source", "ui/a_test.go", `import "flightdeck/kafka"`, "flightdeck/kafka"},
		{"widget with a lock", "ui/table/a.go", `import "sync"`, "sync"},
		{"widget with an atomic", "ui/table/a.go", `import "sync/atomic"`, "sync/atomic"},
		{"screen with a goroutine", "ui/a.go", `func f() { go f() }`, "go statement"},
		{"screen test with a goroutine", "ui/a_test.go", `func f() { go f() }`, ""},
		{"screen that imports a widget", "ui/a.go", `import "flightdeck/ui/table"`, ""},
		{"screen that imports the model", "ui/a.go", `import "flightdeck/model"`, ""},
		{"source that draws", "kafka/a.go", `import "charm.land/bubbletea/v2"`, "bubbletea"},
		{"source that imports a theme", "kafka/demo/a.go", `import "flightdeck/themes"`, "flightdeck/themes"},
		{"source that imports its decoder", "kafka/a.go", `import "flightdeck/kafka/sharestate"`, ""},
		{"source that ships the test rig", "kafka/a.go", `import "flightdeck/kafka/kafkatest"`, "kafkatest"},
		{"source test on real Kafka", "kafka/a_test.go", `import "flightdeck/kafka/kafkatest"`, ""},
		{"screen that ships a test package", "ui/a.go", `import "flightdeck/themes/themetest"`, "themetest"},
		{"screen test with a test package", "ui/a_test.go", `import "flightdeck/themes/themetest"`, ""},
		{"program that ships the test rig", "main.go", `import "flightdeck/kafka/kafkatest"`, "kafkatest"},
		{"model with a library", "model/a.go", `import "github.com/dustin/go-humanize"`, "go-humanize"},
		{"model test with a library", "model/a_test.go", `import "pgregory.net/rapid"`, ""},
		{"model that imports a theme", "model/a.go", `import "flightdeck/themes"`, "flightdeck/themes"},
		{"model with a clock of its own", "model/a.go", `import "time"; var start = time.Now()`, "time.Now"},
		{"model that computes with times", "model/a.go", `import "time"; const d = time.Second`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			file, err := parser.ParseFile(token.NewFileSet(), tt.file, "package p; "+tt.source, 0)
			if err != nil {
				t.Fatal(err)
			}
			got := strings.Join(layerOf(path.Dir(tt.file)).offences(tt.file, file), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want it to name %q", got, tt.want)
			}
		})
	}
}

// sources parses every Go file of the module, on whatever system it builds, by its slashed path.
func sources(t *testing.T) map[string]*ast.File {
	files := map[string]*ast.File{}
	err := filepath.WalkDir(".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return filepath.SkipDir
		case d.IsDir() || filepath.Ext(name) != ".go":
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		files[filepath.ToSlash(name)] = file
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func layerOf(dir string) *layer {
	top, _, _ := strings.Cut(dir, "/")
	for i := range layers {
		if layers[i].dir == top {
			return &layers[i]
		}
	}
	return nil
}

// offences returns one sentence for each rule that the file breaks.
func (l *layer) offences(name string, file *ast.File) []string {
	test := strings.HasSuffix(name, "_test.go")
	var found []string
	for _, spec := range file.Imports {
		imported, _ := strconv.Unquote(spec.Path.Value)
		own, ours := strings.CutPrefix(imported, module+"/")
		switch {
		case ours && strings.HasSuffix(own, "test") && !test && path.Dir(name) != own: // kafkatest, as in httptest
			found = append(found, fmt.Sprintf("%s: only tests may import %s", name, imported))
		case ours && !l.mayImport(own), !ours && !test && l.forbids(imported):
			found = append(found, fmt.Sprintf("%s: %s may not import %s", name, l.dir, imported))
		}
	}
	if test {
		return found
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GoStmt:
			if l.noGo {
				found = append(found, fmt.Sprintf("%s: %s may not have a go statement", name, l.dir))
			}
		case *ast.SelectorExpr:
			pkg, _ := n.X.(*ast.Ident)
			if l.noClock && pkg != nil && pkg.Name == "time" && slices.Contains([]string{"Now", "Since", "Until", "After", "Sleep"}, n.Sel.Name) {
				found = append(found, fmt.Sprintf("%s: %s may not call time.%s", name, l.dir, n.Sel.Name))
			}
		}
		return true
	})
	return found
}

func (l *layer) mayImport(own string) bool {
	return matches(l.dir+"...", own) || slices.ContainsFunc(l.may, func(p string) bool { return matches(p, own) })
}

func (l *layer) forbids(imported string) bool {
	first, _, _ := strings.Cut(imported, "/")
	other := strings.Contains(first, ".") // the standard library has no dots
	return slices.ContainsFunc(l.never, func(p string) bool { return p == "other..." && other || matches(p, imported) })
}

// matches says whether an import path is the pattern, or, where that ends in "...", is below it.
func matches(pattern, imported string) bool {
	root, below := strings.CutSuffix(pattern, "...")
	root = strings.TrimSuffix(root, "/")
	return imported == root || below && strings.HasPrefix(imported, root+"/")
}
