package output

import (
	"strconv"
	"time"

	"flightdeck/model"
)

// window writes what is known of each record of a share-partition, null when nothing is.
func (e *encoder) window(s *model.Snapshot, g *model.Group, p *model.GroupPartition) {
	w, ok := s.Window(g.ID, p)
	if !ok {
		e.null("window")
		return
	}
	e.open("window", '{')
	e.number("start_offset", w.Start)
	e.number("end_offset", w.End)
	e.numberOrNull("highest_recorded", w.Highest)
	e.number("complete_count", w.Finished)
	e.numberOrNull("lock_limit", g.Configs.RecordLocks())
	e.numberOrNull("delivery_limit", g.Configs.DeliveryLimit())
	e.open("batches", '[')
	for i := range w.Runs {
		e.batch(&w.Runs[i])
	}
	e.close(']')
	r := s.ShareRecordsOf(g.ID, p.Topic, p.Number)
	if from, ok := r.History.From(); ok {
		e.text("history_from", from.UTC().Format(time.RFC3339Nano))
	} else {
		e.null("history_from")
	}
	e.close('}')
}

// batch writes a run of records of which the same is known.
func (e *encoder) batch(r *model.Run) {
	e.open("", '{')
	e.number("first", r.First)
	e.number("last", r.Last)
	e.text("state", stateName(r.State))
	if n, ok := r.Count.Get(); ok {
		e.number("delivery_count", int64(n))
	} else {
		e.null("delivery_count")
	}
	e.text("source", r.Source.String())
	e.text("reason", r.Reason.String())
	e.close('}')
}

// stateName is the state's word, or code-N for a code that is not known.
func stateName(s model.RecordState) string {
	if s.Known() || s == model.StateNone {
		return s.String()
	}
	return "code-" + strconv.Itoa(int(s))
}
