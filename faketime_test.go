package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
	"github.com/twmb/franz-go/pkg/kfake"

	"flightdeck/kafka"
	"flightdeck/kafka/demo"
	"flightdeck/ui"
)

// cable is the network between flightdeck and the brokers, with a broker that can be cut off. The demo's own
// applications do not notice.
type cable struct {
	dial func(ctx context.Context, network, address string) (net.Conn, error)

	mu   sync.Mutex
	cut  string // the port that is cut off
	open map[net.Conn]string
}

func (c *cable) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	_, port, _ := net.SplitHostPort(address)
	c.mu.Lock()
	cut := c.cut == port
	c.mu.Unlock()
	if cut {
		return nil, &net.OpError{Op: "dial", Net: network, Err: syscall.ECONNREFUSED}
	}
	conn, err := c.dial(ctx, network, address)
	if err == nil {
		c.mu.Lock()
		c.open[conn] = port
		c.mu.Unlock()
	}
	return conn, err
}

// set cuts a port off, or none.
func (c *cable) set(port string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = port
	for conn, p := range c.open {
		if p == port {
			_ = conn.Close()
			delete(c.open, conn)
		}
	}
}

// fakeScreen is the terminal of a program that runs in fake time.
type fakeScreen struct {
	t  *testing.T
	mu sync.Mutex
	vt *vt.Emulator
	p  *tea.Program
}

// Write takes what the program writes. Without a real terminal Bubble Tea counts on a line feed to return the carriage, as
// a terminal driver does it.
func (s *fakeScreen) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := s.vt.Write(bytes.ReplaceAll(b, []byte("\n"), []byte("\r\n"))); err != nil {
		return 0, err
	}
	return len(b), nil
}

func (s *fakeScreen) resize(w, h int) {
	s.mu.Lock()
	s.vt.Resize(w, h)
	s.mu.Unlock()
	s.p.Send(tea.WindowSizeMsg{Width: w, Height: h})
}

func (s *fakeScreen) lines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Split(s.vt.String(), "\n")
}

// until waits in fake time until the screen shows all of the words.
func (s *fakeScreen) until(limit time.Duration, words ...string) {
	s.t.Helper()
	for end := time.Now().Add(limit); ; time.Sleep(100 * time.Millisecond) {
		text := strings.Join(s.lines(), "\n")
		missing := ""
		for _, w := range words {
			if !strings.Contains(text, w) {
				missing = w
			}
		}
		if missing == "" {
			return
		}
		if time.Now().After(end) {
			s.t.Fatalf("after %s the screen does not show %q:\n%s", limit, missing, text)
		}
	}
}

// The whole program against the embedded cluster, for minutes of fake time: it goes on polling, fits every size, says that a
// broker is down while the rest stays live, and has it back when it returns.
func TestProgramInFakeTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var vn kfake.VirtualNetwork
		cluster, err := demo.Start(t.Context(), demo.Options{Ports: []int{9092, 9093, 9094}, Listen: vn.Listen, Dial: vn.DialContext})
		if err != nil {
			t.Fatal(err)
		}
		wire := &cable{dial: vn.DialContext, open: make(map[net.Conn]string)}
		conn := kafka.Connect(kafka.Config{Bootstrap: cluster.Bootstrap(), Dial: wire.Dial})
		source, follower, reader := kafka.NewSource(conn), kafka.NewFollower(conn, kafka.FollowOptions{}), kafka.NewReader(conn)
		ctx, end := context.WithCancel(t.Context())

		s := &fakeScreen{t: t, vt: vt.NewEmulator(120, 40)}
		answers := make(chan struct{})
		go func() {
			defer close(answers)
			_, _ = io.Copy(io.Discard, s.vt)
		}()
		s.p = tea.NewProgram(ui.New(ctx, ui.Options{
			Source: source, Follower: follower, Reader: reader, Explain: conn.Explain, Interval: 2 * time.Second, Demo: true,
			LookupEnv: env("TERM", "xterm-256color", "LC_ALL", "C.UTF-8"),
		}), tea.WithInput(nil), tea.WithOutput(s), tea.WithoutSignalHandler(), tea.WithWindowSize(120, 40),
			tea.WithEnvironment([]string{"TERM=xterm-256color"}))
		done := make(chan error, 1)
		go func() {
			_, err := s.p.Run()
			done <- err
		}()

		s.until(5*time.Second, "order-service", "3/3 brokers")
		time.Sleep(2 * time.Minute)
		s.until(10*time.Second, "stalled", "falling behind", "member idle", "caught up")

		for _, size := range []struct{ w, h int }{{60, 20}, {40, 10}, {200, 60}, {120, 40}} {
			s.resize(size.w, size.h)
			time.Sleep(3 * time.Second)
			if lines := s.lines(); len(lines) > size.h {
				t.Errorf("%dx%d: %d lines", size.w, size.h, len(lines))
			} else if n := ansi.StringWidth(strings.TrimRight(lines[0], " ")); n > size.w || n == 0 {
				t.Errorf("%dx%d: the top line has %d cells", size.w, size.h, n)
			}
			s.until(5*time.Second, "DEMO", "billing")
		}

		wire.set("9094")
		s.until(15*time.Second, "2/3 brokers")
		s.until(10*time.Second, "order-service", "billing-export") // groups of the dead broker are stale, not gone
		wire.set("")
		s.until(40*time.Second, "3/3 brokers")

		s.p.Quit()
		if err := <-done; err != nil {
			t.Errorf("the program ended with %v", err)
		}
		end()
		reader.Close()
		follower.Close()
		source.Close()
		conn.Close()
		cluster.Close()
		_ = s.vt.Close()
		<-answers
		time.Sleep(time.Minute) // timers of the brokers
	})
}
