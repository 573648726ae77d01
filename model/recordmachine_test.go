package model_test

import (
	"fmt"
	"math"
	"testing"

	"flightdeck/model"
)

var allEvents = []model.RecordEvent{
	model.EventAcquire, model.EventAccept, model.EventRelease, model.EventReject, model.EventGap, model.EventRenew,
	model.EventLockTimeout, model.EventSessionClose, model.EventDeadLettered, model.EventLeaderChange,
}

// Every state with every event, with and without what the rules can say.
func TestDeliveryRules(t *testing.T) {
	const limit = 5
	var (
		plain = model.DeliveryRules{Limit: limit}
		dlq   = model.DeliveryRules{Limit: limit, DeadLetter: true}
		old   = model.DeliveryRules{Limit: limit, CloseUndoes: true}
		free  = model.DeliveryRules{}
	)
	available := func(n int16) model.Delivery { return model.Delivery{State: model.StateAvailable, Count: n} }
	acquired := func(n int16) model.Delivery { return model.Delivery{State: model.StateAcquired, Count: n} }
	acknowledged := func(n int16) model.Delivery { return model.Delivery{State: model.StateAcknowledged, Count: n} }
	archiving := func(n int16) model.Delivery { return model.Delivery{State: model.StateArchiving, Count: n} }
	archived := func(n int16) model.Delivery { return model.Delivery{State: model.StateArchived, Count: n} }

	type to map[model.RecordEvent]model.Delivery
	for _, c := range []struct {
		name  string
		rules model.DeliveryRules
		from  model.Delivery
		// to has the events that apply; all others must not.
		to to
	}{
		{"never delivered", plain, available(0), to{model.EventAcquire: acquired(1)}},
		{"available again", plain, available(4), to{model.EventAcquire: acquired(5)}},
		{"available at the limit, which was lowered", plain, available(5), to{model.EventAcquire: acquired(6)}},
		{"count can not overflow", plain, available(math.MaxInt16), to{model.EventAcquire: acquired(math.MaxInt16)}},
		{"acquired", plain, acquired(2), to{
			model.EventAccept: acknowledged(2), model.EventRelease: available(2), model.EventReject: archived(2), model.EventGap: archived(2),
			model.EventRenew: acquired(2), model.EventLockTimeout: available(2), model.EventSessionClose: available(2), model.EventLeaderChange: available(1),
		}},
		{"acquired for the last time", plain, acquired(5), to{
			model.EventAccept: acknowledged(5), model.EventRelease: archived(5), model.EventReject: archived(5), model.EventGap: archived(5),
			model.EventRenew: acquired(5), model.EventLockTimeout: archived(5), model.EventSessionClose: archived(5), model.EventLeaderChange: available(4),
		}},
		{"acquired without a limit", free, acquired(500), to{
			model.EventAccept: acknowledged(500), model.EventRelease: available(500), model.EventReject: archived(500), model.EventGap: archived(500),
			model.EventRenew: acquired(500), model.EventLockTimeout: available(500), model.EventSessionClose: available(500), model.EventLeaderChange: available(499),
		}},
		{"acquired for the last time with a dead-letter topic", dlq, acquired(5), to{
			model.EventAccept: acknowledged(5), model.EventRelease: archiving(5), model.EventReject: archiving(5), model.EventGap: archived(5),
			model.EventRenew: acquired(5), model.EventLockTimeout: archiving(5), model.EventSessionClose: archiving(5), model.EventLeaderChange: available(4),
		}},
		{"acquired for the last time before 4.3", old, acquired(5), to{
			model.EventAccept: acknowledged(5), model.EventRelease: archived(5), model.EventReject: archived(5), model.EventGap: archived(5),
			model.EventRenew: acquired(5), model.EventLockTimeout: archived(5), model.EventSessionClose: available(4), model.EventLeaderChange: available(4),
		}},
		{"acquired with count 0", old, acquired(0), to{
			model.EventAccept: acknowledged(0), model.EventRelease: available(0), model.EventReject: archived(0), model.EventGap: archived(0),
			model.EventRenew: acquired(0), model.EventLockTimeout: available(0), model.EventSessionClose: available(0), model.EventLeaderChange: available(0),
		}},
		{"archiving", dlq, archiving(5), to{model.EventDeadLettered: archived(5)}},
		{"acknowledged", plain, acknowledged(1), nil},
		{"archived", plain, archived(5), nil},
		{"no state", plain, model.Delivery{State: model.StateNone}, nil},
		{"a state that we do not know", plain, model.Delivery{State: 7, Count: 3}, nil},
	} {
		for _, e := range append(allEvents, model.RecordEvent(200)) {
			t.Run(fmt.Sprintf("%s/%s", c.name, e), func(t *testing.T) {
				want, applies := c.to[e]
				if !applies {
					want = c.from
				}
				got, ok := c.rules.Next(c.from, e)
				if got != want || ok != applies {
					t.Errorf("%v -> %v, %v; want %v, %v", c.from, got, ok, want, applies)
				}
			})
		}
	}
}

func TestRecordWindow(t *testing.T) {
	w := model.NewRecordWindow(model.DeliveryRules{Limit: 2}, 4, 10)
	expect := func(what string, start, next int64) {
		t.Helper()
		if w.Start() != start || w.Next() != next {
			t.Errorf("%s: window from %d to %d, want %d to %d", what, w.Start(), w.Next(), start, next)
		}
	}
	if got := fmt.Sprint(w.Acquire(9, 100)); got != "[10 11 12 13]" {
		t.Errorf("acquired %s: the limit of the window is 4", got)
	}
	w.Apply(11, model.EventAccept)
	w.Apply(12, model.EventReject)
	expect("done behind the head", 10, 14)
	if w.Apply(11, model.EventRelease) {
		t.Error("a finished record was released")
	}
	if w.Apply(9, model.EventAccept) {
		t.Error("a record below the start offset was accepted")
	}
	if got := w.Acquire(1, 100); got != nil {
		t.Errorf("acquired %v although the window is full", got)
	}
	w.Apply(10, model.EventRelease)
	expect("head released", 10, 14)
	if got := fmt.Sprint(w.Acquire(9, 100)); got != "[10]" {
		t.Errorf("acquired %s, want the released head", got)
	}
	w.Apply(10, model.EventLockTimeout)
	expect("head archived at the limit", 13, 14)
	if got := fmt.Sprint(w.Acquire(9, 15)); got != "[14]" {
		t.Errorf("acquired %s up to the log end", got)
	}
	w.LeaderChange()
	expect("holds forgotten", 13, 13)
	w.Reset(2)
	expect("reset", 2, 2)
	if d, ok := w.At(2); !ok || d != model.Undelivered {
		t.Errorf("record 2 is %v after the reset", d)
	}
}
