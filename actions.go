package main

import (
	"context"

	"flightdeck/kafka"
	"flightdeck/model"
	"flightdeck/ui"
)

// taker lets the user interface take records through a connection.
func taker(conn *kafka.Connection) func(context.Context, ui.TakeRequest) (ui.ShareSession, error) {
	return func(ctx context.Context, r ui.TakeRequest) (ui.ShareSession, error) {
		s, err := conn.Take(ctx, kafka.TakeRequest(r))
		if err != nil {
			return nil, err
		}
		return s, nil
	}
}

// producer lets the user interface produce through a connection.
func producer(conn *kafka.Connection) func(context.Context, model.ProduceSpec) (ui.Production, error) {
	return func(ctx context.Context, spec model.ProduceSpec) (ui.Production, error) {
		p, err := conn.Produce(ctx, spec)
		if err != nil {
			return nil, err
		}
		return p, nil
	}
}

// redriver is a [kafka.Redriver] as the terminal program asks for it.
type redriver struct{ *kafka.Redriver }

// Redrive implements [ui.Redriver].
func (r redriver) Redrive(ctx context.Context, items []model.RedriveItem, force string) ([]ui.Production, error) {
	begun, err := r.Redriver.Redrive(ctx, items, force)
	out := make([]ui.Production, len(begun))
	for i, p := range begun {
		out[i] = p
	}
	return out, err
}

// auditLog is where actions are written down; empty for nowhere.
func auditLog(a *kafka.Audit) string {
	if a == nil {
		return ""
	}
	return a.Path()
}
