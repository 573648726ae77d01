package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	tea "charm.land/bubbletea/v2"
)

func TestExitCodes(t *testing.T) {
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := refused.Addr().String()
	refused.Close()
	broken := filepath.Join(t.TempDir(), "client.properties")
	if err := os.WriteFile(broken, []byte("security.protocol=SASL_PLAINTEXT\nsasl.mechanism=PLAIN\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name       string
		args       []string
		code       int
		out, error string // parts of what is written
	}{
		{"version", []string{"--version"}, exitOK, "flightdeck ", ""},
		{"help", []string{"--help"}, exitOK, "--bootstrap-server", ""},
		{"unknown flag", []string{"--grup", "x"}, exitUsage, "", "did you mean --group?"},
		{"no cluster", nil, exitUsage, "", "which cluster?"},
		{"no such properties", []string{"-b", nobody, "--command-config", "nowhere.properties"}, exitUsage, "", "nowhere.properties"},
		{"properties without password", []string{"-b", nobody, "--command-config", broken}, exitUsage, "", "sasl.jaas.config"},
		{"log file in no folder", []string{"-b", nobody, "--log-file", filepath.Join(broken, "x", "log")}, exitUsage, "", "log file"},
		{"nobody listens", []string{"-b", nobody, "--output", "json"}, exitKafka, "", nobody},
		{"demo", []string{"--demo", "--output", "table"}, exitOK, "order-service", ""},
		{"no group matches", []string{"--demo", "--output", "json", "--group", "nobody-*"}, exitOK, `"groups": []`, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			stdout, stderr, code := pipe(t, tc.args...)
			if code != tc.code || !strings.Contains(stdout, tc.out) || !strings.Contains(stderr, tc.error) {
				t.Errorf("exit %d, want %d\nstdout %q, want %q in it\nstderr %q, want %q in it", code, tc.code, stdout, tc.out, stderr, tc.error)
			}
			if tc.code != exitOK && strings.Count(stderr, "\n") != 1 {
				t.Errorf("the error is not one line: %q", stderr)
			}
		})
	}
}

func TestOneShotJSONOfTheDemo(t *testing.T) {
	stdout, stderr, code := pipe(t, "--demo", "--output", "json", "--group", "order-*")
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	var doc struct {
		Schema  string
		Cluster struct{ Brokers []struct{ ID int } }
		Groups  []struct {
			ID  string
			Lag *int64
		}
		ShareGroups []struct {
			ID         string
			Partitions []struct {
				StartOffset, End *int64
			} `json:"partitions"`
		} `json:"share_groups"`
	}
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatal(err)
	}
	if doc.Schema != "flightdeck.snapshot/1" || len(doc.Cluster.Brokers) != 3 {
		t.Errorf("schema %q, %d brokers", doc.Schema, len(doc.Cluster.Brokers))
	}
	if len(doc.Groups) == 0 || len(doc.ShareGroups) == 0 {
		t.Fatalf("%d groups and %d share groups", len(doc.Groups), len(doc.ShareGroups))
	}
	for _, g := range doc.Groups {
		if !strings.HasPrefix(g.ID, "order-") {
			t.Errorf("group %s was not asked for", g.ID)
		}
		if g.Lag == nil {
			t.Errorf("group %s has no lag", g.ID)
		}
	}
	for _, g := range doc.ShareGroups {
		for _, p := range g.Partitions {
			if p.End == nil {
				t.Errorf("share group %s has a partition without end", g.ID)
			}
		}
	}
}

func TestWatchPrintsALineAPollUntilASignal(t *testing.T) {
	for _, tc := range []struct {
		signal syscall.Signal
		code   int
	}{{syscall.SIGINT, 130}, {syscall.SIGTERM, 143}, {syscall.SIGHUP, 129}} {
		t.Run(tc.signal.String(), func(t *testing.T) {
			t.Parallel()
			cmd := program("flightdeck", nil, "--demo", "--output", "jsonl", "--watch", "--interval", "100ms")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			var errs bytes.Buffer
			cmd.Stderr = &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			timer := time.AfterFunc(limit, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
			defer timer.Stop()
			lines := bufio.NewScanner(out)
			lines.Buffer(nil, 16<<20)
			for n := range 3 {
				if !lines.Scan() {
					t.Fatalf("line %d did not come: %v %s", n, lines.Err(), errs.String())
				}
				if !json.Valid(lines.Bytes()) {
					t.Fatalf("line %d is no JSON: %q", n, lines.Text())
				}
			}
			if err := cmd.Process.Signal(tc.signal); err != nil {
				t.Fatal(err)
			}
			for lines.Scan() {
			}
			if _, _, code := wait(t, cmd, new(bytes.Buffer), &errs); code != tc.code {
				t.Errorf("exit %d, want %d: %s", code, tc.code, errs.String())
			}
		})
	}
}

func TestTerminalIsWholeAfterEveryExit(t *testing.T) {
	for _, tc := range []struct {
		name string
		end  func(x *terminal)
		code int
	}{
		{"q", func(x *terminal) { x.press("q") }, exitOK},
		{"ctrl+c", func(x *terminal) { x.press("\x03") }, exitOK},
		{"SIGTERM", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGTERM) }, 143},
		{"SIGINT", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGINT) }, 130},
		{"SIGHUP", func(x *terminal) { _ = x.cmd.Process.Signal(syscall.SIGHUP) }, 129},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			x := open(t, "flightdeck", nil, "--demo")
			x.until("order-service")
			tc.end(x)
			if code := x.exit(); code != tc.code {
				t.Errorf("exit %d, want %d", code, tc.code)
			}
		})
	}
}

func TestTerminalIsWholeAfterAPanic(t *testing.T) {
	for _, where := range []string{"panic-in-update", "panic-in-view", "panic-in-command"} {
		t.Run(where, func(t *testing.T) {
			t.Parallel()
			x := open(t, where, nil)
			if code := x.exit(); code != exitKafka {
				t.Errorf("exit %d, want %d", code, exitKafka)
			}
			x.until("flightdeck: ")
		})
	}
}

// panicky is a program that panics where its name says.
type panicky string

// panicking runs one in place of flightdeck's screens.
func panicking(where string) {
	if err := runTerminal(context.Background(), panicky(where), os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "flightdeck: %v\n", err)
		os.Exit(exitKafka)
	}
	os.Exit(exitOK)
}

func (p panicky) Init() tea.Cmd {
	return func() tea.Msg {
		if p == "panic-in-command" {
			panic(p)
		}
		return p
	}
}

func (p panicky) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if _, ours := msg.(panicky); ours && p == "panic-in-update" {
		panic(p)
	}
	return p, nil
}

func (p panicky) View() tea.View {
	if p == "panic-in-view" {
		panic(p)
	}
	v := tea.NewView("")
	v.AltScreen = true
	return v
}

func TestDumbTerminalGetsATable(t *testing.T) {
	x := open(t, "flightdeck", []string{"TERM=dumb"}, "--demo")
	if code := x.exit(); code != exitOK {
		t.Errorf("exit %d", code)
	}
	x.until("order-service")
	if x.screen.IsAltScreen() {
		t.Error("the alternate screen was opened")
	}
}
