package ui

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"

	"flightdeck/model"
)

// meter counts what is written to the terminal.
type meter struct{ n atomic.Int64 }

func (m *meter) Write(b []byte) (int, error) {
	m.n.Add(int64(len(b)))
	return len(b), nil
}

// TestBytesToTheTerminal holds what a person on a slow line feels.
func TestBytesToTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		feed := make(chan *model.Snapshot)
		a := New(ctx, Options{Source: &scripted{snapshot: func(ctx context.Context, _ int, _ model.Want) (*model.Snapshot, error) {
			select {
			case s := <-feed:
				return s, nil
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}}, Timeout: time.Hour, Interval: time.Millisecond})
		s, h := crowd(10_000)
		s.ShareGroups = nil
		a.history = h
		out := &meter{}
		p := tea.NewProgram(a, tea.WithOutput(out), tea.WithInput(nil), tea.WithoutSignalHandler(), tea.WithWindowSize(200, 60),
			tea.WithColorProfile(colorprofile.TrueColor), tea.WithEnvironment([]string{"TERM=xterm-256color"}))
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			if _, err := p.Run(); err != nil {
				t.Error(err)
			}
		}()
		time.Sleep(time.Second)
		feed <- s
		time.Sleep(100 * time.Millisecond)
		synctest.Wait()

		written := func(msg tea.Msg) int64 {
			before := out.n.Load()
			p.Send(msg)
			time.Sleep(50 * time.Millisecond)
			synctest.Wait()
			return out.n.Load() - before
		}
		var most int64
		for range 30 {
			most = max(most, written(down))
		}
		t.Logf("a step of the cursor writes at most %d bytes", most)
		if most >= 300 {
			t.Errorf("a step of the cursor writes %d bytes, want fewer than 300", most)
		}

		before := out.n.Load()
		for i := range 11 {
			if i == 1 { // the first change reordered the rows
				before = out.n.Load()
			}
			next := *s
			next.Groups = append([]model.Group(nil), s.Groups...)
			for k := range 5 { // five cells of rows on screen
				g := &next.Groups[1+5*k]
				g.Partitions = append([]model.GroupPartition(nil), g.Partitions...)
				g.Partitions[0].Lag = model.Some(3211 + int64(i))
			}
			feed <- &next
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
		}
		perSecond := out.n.Load() - before
		t.Logf("five cells that change ten times a second write %d bytes in that second", perSecond)
		if perSecond >= 2000 {
			t.Errorf("five cells that change ten times a second write %d bytes a second, want fewer than 2,000", perSecond)
		}
		p.Quit()
		cancel()
		<-ended
		time.Sleep(2 * time.Hour) // all timers fire, and their goroutines end
	})
}
