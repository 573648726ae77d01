package main

import (
	"context"

	"flightdeck/kafka"
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

// auditLog is where actions are written down; empty for nowhere.
func auditLog(a *kafka.Audit) string {
	if a == nil {
		return ""
	}
	return a.Path()
}
