package ui

import (
	"context"
	"fmt"
	"testing"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
)

// crowd is a cluster with n groups.
func crowd(n int) (*model.Snapshot, *fakeHistory) {
	s, h := fixture()
	few, share := s.Groups, s.ShareGroups[0]
	s.Groups, s.ShareGroups = nil, []model.Group{share}
	for i := range n {
		g := few[i%len(few)]
		in := *h.insights[g.ID]
		g.ID = fmt.Sprintf("group-%05d", i)
		g.Partitions = append([]model.GroupPartition(nil), g.Partitions...)
		s.Groups = append(s.Groups, g)
		h.insights[g.ID] = &in
	}
	return s, h
}

func crowdApp(n, w, h int) *App {
	s, hist := crowd(n)
	a := New(context.Background(), Options{Source: &fakeSource{}})
	a.history = hist
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	a.Update(clockMsg(noon))
	a.Update(a.take(s)())
	a.View()
	return a
}

var down = tea.KeyPressMsg{Code: tea.KeyDown}

func BenchmarkCursorStep(b *testing.B) {
	a := crowdApp(10_000, 200, 60)
	b.ReportAllocs()
	for b.Loop() {
		a.Update(down)
		a.View()
	}
}

func BenchmarkViewUnchanged(b *testing.B) {
	a := crowdApp(10_000, 200, 60)
	b.ReportAllocs()
	for b.Loop() {
		a.View()
	}
}

func BenchmarkViewAfterPoll(b *testing.B) {
	a := crowdApp(10_000, 200, 60)
	s := a.base
	b.ReportAllocs()
	for b.Loop() {
		b.StopTimer()
		a.Update(a.take(s)())
		b.StartTimer()
		a.View()
	}
}

func BenchmarkTakeSnapshot(b *testing.B) {
	a := crowdApp(10_000, 200, 60)
	s := a.base
	b.ReportAllocs()
	for b.Loop() {
		a.Update(a.take(s)())
	}
}
