package ui

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"flightdeck/model"
)

// fakeProduction has what the test feeds.
type fakeProduction struct {
	feed     chan *model.Production
	canceled int
}

func (f *fakeProduction) Next(ctx context.Context) (*model.Production, error) {
	select {
	case p, ok := <-f.feed:
		if ok {
			return p, nil
		}
		return nil, errors.New("closed")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (f *fakeProduction) Cancel() { f.canceled++ }

// fakeRedriver finds the first record and misses the others.
type fakeRedriver struct {
	asked    []model.RecordRef
	target   string
	redriven []model.RedriveItem
	begun    *fakeProduction
}

func (f *fakeRedriver) Preview(_ context.Context, group string, refs []model.RecordRef, target string) ([]model.RedriveItem, error) {
	f.asked, f.target = refs, target
	var items []model.RedriveItem
	for i, ref := range refs {
		item := model.RedriveItem{Marked: ref, Origin: ref, Group: group, Target: ref.Topic, Content: jsonRecord(), Ready: i == 0}
		if target != "" {
			item.Target = target
		}
		if !item.Ready {
			item.Text = "below the start of the log: retention or a deletion took it"
		}
		items = append(items, item)
	}
	return items, nil
}

func (f *fakeRedriver) Redrive(_ context.Context, items []model.RedriveItem, _ string) ([]Production, error) {
	f.redriven = items
	return []Production{f.begun}, nil
}

func newProduction(t *testing.T) *fakeProduction {
	p := &fakeProduction{feed: make(chan *model.Production, 4)}
	t.Cleanup(func() { close(p.feed) })
	return p
}

func TestProduceFromTheForm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := newProduction(t)
		var spec model.ProduceSpec
		f := newFlightRig(t, Options{Produce: func(_ context.Context, s model.ProduceSpec) (Production, error) {
			spec = s
			return begun, nil
		}})
		f.open(sample().records())
		f.press("p")
		f.text(`{"n":{{.N}}`)
		f.sees("looks like JSON and is not valid", `The first: {"n":1`)
		f.text("}")
		f.misses("looks like JSON")
		f.press("tab k tab tab")
		f.text("2")
		f.press("tab")
		f.text("trace=a, kind=b")
		f.press("tab 0 0 enter")
		f.run(time.Millisecond)
		want := model.ProduceSpec{Topic: "order-events", Key: "k", Value: `{"n":{{.N}}}`, Partition: model.Some(int32(2)), Count: 100, Compression: "snappy",
			Headers: []model.HeaderSpec{{Key: "trace", Value: "a"}, {Key: "kind", Value: "b"}}}
		if spec.Topic != want.Topic || spec.Key != want.Key || spec.Value != want.Value || spec.Partition != want.Partition || spec.Count != want.Count ||
			spec.Compression != want.Compression || !slices.Equal(spec.Headers, want.Headers) {
			t.Errorf("produced %+v, want %+v", spec, want)
		}
		now := model.Production{Topic: "order-events", Total: model.Some(int64(100)), Sent: 60, Acked: 40, Rate: 20}
		begun.feed <- &now
		f.run(time.Millisecond)
		f.sees("40 of 100 written, 20/s", "running")
		f.press("esc")
		if begun.canceled != 1 {
			t.Errorf("canceled %d times, want once", begun.canceled)
		}
		now = model.Production{Topic: "order-events", Total: model.Some(int64(100)), Sent: 60, Acked: 57, Failed: 2, Open: 1, Done: true, Canceled: true,
			Partitions: []model.Produced{{Partition: 0, First: 512_440, Last: 512_496, Count: 57}}, Reasons: []model.ProduceReason{{Code: "MESSAGE_TOO_LARGE", Text: "The record is too large.", Count: 2}}}
		begun.feed <- &now
		f.run(time.Millisecond)
		f.sees("stopped", "2 failed", "of 1 it is not known", "2 times: The record is too large.", "order-events/0@512440-512496")
		f.press("enter")
		f.run(time.Millisecond)
		f.sees("Record 512,440")
		f.press("5")
		f.sees("produced 57 records: order-events/0@512440-512496; 2 failed; of 1 it is not known; stopped")
		f.press("3 home p")
		f.sees(`{"n":{{.N}}}`, "audit-log") // the form remembers, but for the topic
	})
}

func TestTheLastRecordIsAStartingPoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFlightRig(t, Options{Produce: func(context.Context, model.ProduceSpec) (Production, error) { return nil, errors.New("not now") }})
		f.reader.record.Value = []byte("{\n  \"a\": \"{{x}}\"\n}")
		f.reader.record.ValueSize = len(f.reader.record.Value)
		f.open(sample().records())
		f.press("p ctrl+l")
		f.run(time.Millisecond)
		f.sees(`{"a":"{{"{{"}}x}}"}`, "cust-8812", "trace-id=9f2c", `The first: {"a":"{{x}}"}`)
		f.press("enter")
		f.run(time.Millisecond)
		f.sees("not now")
	})
}

func TestRedriveOfArchivedRecords(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &fakeRedriver{begun: newProduction(t)}
		f := newFlightRig(t, Options{Redriver: r})
		p := sample()
		p.write(update(512_410, batch(512_431, 512_432, model.StateArchived, 5)))
		f.open(p.records())
		f.press("A down R")
		f.run(time.Millisecond)
		want := []model.RecordRef{{Topic: "order-events", Partition: 0, Offset: 512_431}, {Topic: "order-events", Partition: 0, Offset: 512_432}}
		if !slices.Equal(r.asked, want) {
			t.Fatalf("asked for %v, want %v", r.asked, want)
		}
		f.sees("1 record would be produced to order-events", "1 record left out", "below the start of the log")
		f.press("t")
		f.text("retry")
		f.press("enter")
		f.run(time.Millisecond)
		f.sees("1 record would be produced to retry")
		f.press("enter")
		f.run(time.Second)
		f.press("y")
		f.run(time.Millisecond)
		if r.target != "retry" || len(r.redriven) != 2 {
			t.Errorf("redriven to %q: %d items, want 2 to retry", r.target, len(r.redriven))
		}
		r.begun.feed <- &model.Production{Topic: "retry", Total: model.Some(int64(1)), Sent: 1, Acked: 1, Done: true, Partitions: []model.Produced{{First: 7, Last: 7, Count: 1}}}
		f.run(time.Millisecond)
		f.sees("1 of 1 written", "retry/0@7")
	})
}

// What left with acks none is not called produced, and no offsets are made up for it.
func TestProductionWordsWithoutAcks(t *testing.T) {
	got := productionWords(&model.Production{Topic: "orders", Sent: 5, Open: 5, Unheard: 5, Done: true})
	if want := "sent 5 records with acks none, so it is not known whether they were written"; got != want {
		t.Errorf("%q, not %q", got, want)
	}
}
