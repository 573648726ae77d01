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

// BenchmarkResetPreview moves through the preview of a plan over 10,000 partitions.
func BenchmarkResetPreview(b *testing.B) {
	a := crowdApp(10, 200, 60)
	in := model.ResetInput{Group: "big", Type: model.TypeClassic, At: noon}
	for i := range int32(10_000) {
		in.Partitions = append(in.Partitions, model.ResetPartition{Topic: "t", Number: i, Now: model.Some(int64(50)), Start: model.Some(int64(0)), End: model.Some(int64(90))})
	}
	a.openResetPreview(ResetRequest{Group: "big"}, model.PlanReset(model.ResetSpec{Mode: model.ResetEarliest}, in), nil)
	b.ReportAllocs()
	for b.Loop() {
		a.Update(down)
		a.View()
	}
}
