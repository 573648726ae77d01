package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"

	"flightdeck/kafka/kafkatest"
)

// runAsProgram, when set in the environment, makes the test binary behave as flightdeck itself, so that tests
// run the whole program without building it a second time. Its value chooses what runs.
const runAsProgram = "FLIGHTDECK_TEST_RUN_AS"

func TestMain(m *testing.M) {
	switch os.Getenv(runAsProgram) {
	case "flightdeck":
		main()
	case "panic-in-update", "panic-in-view", "panic-in-command":
		panicking(os.Getenv(runAsProgram))
	}
	kafkatest.Main(m)
}

// program is the command that runs flightdeck with a clean environment of its own.
func program(as string, env []string, args ...string) *exec.Cmd {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	cmd := exec.Command(self, args...)
	for _, kv := range os.Environ() {
		if !strings.HasPrefix(kv, "FLIGHTDECK_") && !strings.HasPrefix(kv, "NO_COLOR=") {
			cmd.Env = append(cmd.Env, kv)
		}
	}
	cmd.Env = append(cmd.Env, runAsProgram+"="+as, "TERM=xterm-256color", "LC_ALL=C.UTF-8")
	cmd.Env = append(cmd.Env, env...)
	return cmd
}

// limit bounds how long a test waits for the program on a slow machine.
const limit = 30 * time.Second

// pipe runs the program with pipes and returns what it wrote and its exit code.
func pipe(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	cmd := program("flightdeck", nil, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(limit, func() { _ = cmd.Process.Signal(syscall.SIGQUIT) })
	defer timer.Stop()
	return wait(t, cmd, &out, &errs)
}

func wait(t *testing.T, cmd *exec.Cmd, out, errs *bytes.Buffer) (stdout, stderr string, code int) {
	t.Helper()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// terminal is a person at a terminal in which the program runs.
type terminal struct {
	t        *testing.T
	cmd      *exec.Cmd
	keyboard *os.File // the side of the pty that a terminal emulator holds
	tty      *os.File // the side that the program has; kept open to ask for its modes
	modes    *term.State

	mu     sync.Mutex
	screen *vt.Emulator
	bytes  int
}

// open starts the program in a terminal of 120 x 40.
func open(t *testing.T, as string, env []string, args ...string) *terminal {
	t.Helper()
	keyboard, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(keyboard, &pty.Winsize{Cols: 120, Rows: 40}); err != nil {
		t.Fatal(err)
	}
	modes, err := term.GetState(tty.Fd())
	if err != nil {
		t.Fatal(err)
	}
	x := &terminal{t: t, cmd: program(as, env, args...), keyboard: keyboard, tty: tty, modes: modes, screen: vt.NewEmulator(120, 40)}
	x.cmd.Stdin, x.cmd.Stdout, x.cmd.Stderr = tty, tty, tty
	x.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	go io.Copy(io.Discard, x.screen) // the emulator's answers to queries: like a terminal that knows none
	go func() {
		b := make([]byte, 1<<16)
		for {
			n, err := keyboard.Read(b)
			x.mu.Lock()
			x.bytes += n
			_, _ = x.screen.Write(b[:n])
			x.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	if err := x.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = x.cmd.Process.Kill()
		_ = tty.Close()
		_ = keyboard.Close()
	})
	return x
}

// text is what is on the screen now, without trailing blanks.
func (x *terminal) text() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	lines := strings.Split(x.screen.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}

// until waits for a text on the screen.
func (x *terminal) until(want string) {
	x.t.Helper()
	x.untilTrue("the screen shows "+want, func() bool { return strings.Contains(x.text(), want) })
}

func (x *terminal) untilTrue(what string, condition func() bool) {
	x.t.Helper()
	for end := time.Now().Add(limit); !condition(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			x.t.Fatalf("not in time: %s\n%s", what, x.text())
		}
	}
}

func (x *terminal) press(keys string) {
	x.t.Helper()
	if _, err := x.keyboard.WriteString(keys); err != nil {
		x.t.Fatal(err)
	}
}

// exit waits for the program to end and returns its exit code, after checking that it left the terminal as
// it found it.
func (x *terminal) exit() int {
	x.t.Helper()
	timer := time.AfterFunc(limit, func() { _ = x.cmd.Process.Signal(syscall.SIGQUIT) })
	defer timer.Stop()
	_ = x.cmd.Wait()
	// What the program wrote last may still be on its way through the pty.
	x.untilTrue("the main screen is back", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return !x.screen.IsAltScreen()
	})
	x.untilTrue("the cursor is shown", func() bool {
		x.mu.Lock()
		defer x.mu.Unlock()
		return !x.screen.CursorHidden()
	})
	modes, err := term.GetState(x.tty.Fd())
	if err != nil {
		x.t.Fatal(err)
	}
	if *modes != *x.modes {
		x.t.Errorf("the terminal is left in modes %+v, it had %+v", *modes, *x.modes)
	}
	return x.cmd.ProcessState.ExitCode()
}
