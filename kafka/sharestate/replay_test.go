package sharestate_test

import (
	"fmt"
	"strings"
	"testing"

	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// expected is what the text of a step says about the share-partition after it: each run of the window
// with its source and count, up to a log of 20 records, or 25 once five more were produced.
type expected struct{ step, window string }

var steps43 = []expected{
	{"member joins (heartbeat epoch 0), partition gets assigned", "nothing recorded"},
	{"ACCEPT 0 (head, in order)", "1-19 none"},
	{"ACCEPT 1 (head, in order)", "2-19 none"},
	{"ACCEPT 5 (out of order)", "2-4 acquired?, 5 acknowledged x1, 6-19 none"},
	{"RELEASE 7", "2-4 acquired?, 5 acknowledged x1, 6 acquired?, 7 available x1, 8-19 none"},
	{"REJECT 9", "2-4 acquired?, 5 acknowledged x1, 6 acquired?, 7 available x1, 8 acquired?, 9 archived x1, 10-19 none"},
	{"ACCEPT 2-3 (head, range)", "4 acquired?, 5 acknowledged x1, 6 acquired?, 7 available x1, 8 acquired?, 9 archived x1, 10-19 none"},
	{"ACCEPT 4 (head; 5 already accepted, start should be 6)", "6 acquired?, 7 available x1, 8 acquired?, 9 archived x1, 10-19 none"},
	{"one request: ACCEPT 11, RELEASE 12, REJECT 13", "6 acquired?, 7 available x1, 8 acquired?, 9 archived x1, 10 acquired?, 11 acknowledged x1, 12 available x1, 13 archived x1, 14-19 none"},
	{"RELEASE 2 of (7,12) after round 4", "6 acquired?, 7 available x4, 8 acquired?, 9 archived x1, 10 acquired?, 11 acknowledged x1, 12 available x4, 13 archived x1, 14-19 none"},
	{"RELEASE 1 of (7,12) after round 5", "6 acquired?, 7 archived x5, 8 acquired?, 9 archived x1, 10 acquired?, 11 acknowledged x1, 12 available x4, 13 archived x1, 14-19 none"},
	{"RELEASE 1 of (7,12) after round 6", "6 acquired?, 7 archived x5, 8 acquired?, 9 archived x1, 10 acquired?, 11 acknowledged x1, 12 archived x5, 13 archived x1, 14-19 none"},
	{"lock timeout of the rest (6 8 10 14-19), 15 s", "6 available x1, 7 archived x5, 8 available x1, 9 archived x1, 10 available x1, 11 acknowledged x1, 12 archived x5, 13 archived x1, 14-19 available x1"},
	{"ACCEPT 6 second delivery", "8 available x1, 9 archived x1, 10 available x1, 11 acknowledged x1, 12 archived x5, 13 archived x1, 14-19 available x1"},
	{"session close (ShareAcknowledge epoch -1) with records held", "8 available x2, 9 archived x1, 10 available x2, 11 acknowledged x1, 12 archived x5, 13 archived x1, 14-19 available x2"},
	{"ACCEPT everything acquired", ""},
	{"produce 5 more, fetch them, then LEAVE heartbeat (epoch -1) without closing the session", "20-24 available x1"},
	{"AlterShareGroupOffsets to 3 on the empty group", "3-24 none"},
	{"DeleteShareGroupOffsets", "nothing recorded"},
	{"rejoin after offsets delete", "nothing recorded"},
	{"ACCEPT first after offsets delete", "1-4 available x1, 5-24 none"},
	{"DeleteGroups", "nothing recorded"},
}

// Kafka 4.1 takes the attempt back when a session closes, and has no reset.
var steps41 = []expected{
	{"member joins (heartbeat epoch 0), partition gets assigned", "nothing recorded"},
	{"ACCEPT 5 (out of order)", "2-4 acquired?, 5 acknowledged x1, 6-19 none"},
	{"one request: ACCEPT 11, RELEASE 12, REJECT 13", "6 acquired?, 7 available x1, 8 acquired?, 9 archived x1, 10 acquired?, 11 acknowledged x1, 12 available x1, 13 archived x1, 14-19 none"},
	{"RELEASE 2 of (7,12) after round 5", "6 acquired?, 7 archived x5, 8 acquired?, 9 archived x1, 10 acquired?, 11 acknowledged x1, 12 archived x5, 13 archived x1, 14-19 none"},
	{"lock timeout of the rest (6 8 10 14-19), 15 s", "6 available x1, 7 archived x5, 8 available x1, 9 archived x1, 10 available x1, 11 acknowledged x1, 12 archived x5, 13 archived x1, 14-19 available x1"},
	{"ACCEPT 6 second delivery", "8 available x1, 9 archived x1, 10 available x1, 11 acknowledged x1, 12 archived x5, 13 archived x1, 14-19 available x1"},
	{"session close (ShareAcknowledge epoch -1) with records held", "8 available x1, 9 archived x1, 10 available x1, 11 acknowledged x1, 12 archived x5, 13 archived x1, 14-19 available x1"},
	{"ACCEPT everything acquired", ""},
	{"produce 5 more, fetch them, then LEAVE heartbeat (epoch -1) without closing the session", "20-24 available x0"},
	{"DeleteShareGroupOffsets", "nothing recorded"},
	{"DeleteGroups", "nothing recorded"},
}

// The dead-letter trace has 8 records, a limit of 2, and the same steps for each of its groups.
var stepsDLQ = []expected{
	{"REJECT 1", "0 acquired?, 1 archived x1, 2-7 none"},
	{"REJECT 0 (head)", "2-7 none"},
	{"REJECT 2-3 range", "4-7 none"},
	{"RELEASE 4", "4 available x1, 5-7 none"},
	{"RELEASE 4 at limit 2", "5-7 none"},
	{"GAP (0) 5", "6-7 none"},
}

func windowText(s *model.ShareState, end int64) string {
	w, ok := model.InferWindow(s, model.Int{}, model.Some(end), nil)
	if !ok {
		return "nothing recorded"
	}
	var parts []string
	for _, r := range w.Runs {
		text := fmt.Sprint(r.First)
		if r.Last > r.First {
			text += fmt.Sprintf("-%d", r.Last)
		}
		text += " " + r.State.String()
		if n, ok := r.Count.Get(); ok {
			text += fmt.Sprintf(" x%d", n)
		}
		if r.Source == model.SourceInferred {
			text += "?"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

// Real brokers' records, folded one by one: after each step the window is what the step says, and with each
// record the number of finished offsets is the one that the broker wrote into it.
func TestReplay(t *testing.T) {
	for _, c := range []struct {
		file  string
		steps []expected
	}{
		{"4.1.1.json", steps41}, {"4.3.1.json", steps43}, {"4.4.0.json", steps43}, {"4.4.0-dlq.json", stepsDLQ},
	} {
		t.Run(c.file, func(t *testing.T) {
			all := vectors(t)[c.file]
			folds := make(map[model.SharePartitionKey]*model.ShareFold)
			var first model.SharePartitionKey
			seen, checked := 0, 0
			for i := range all {
				v := &all[i]
				k, w, err := sharestate.Decode(v.bytes(t))
				if err != nil {
					t.Fatal(err)
				}
				f := folds[k]
				if f == nil {
					f = model.NewShareFold(1000)
					folds[k] = f
				}
				if i == 0 || c.file == "4.4.0-dlq.json" {
					first = k
				}
				f.Apply(&w, model.WriteRef{Ms: v.Timestamp, Offset: v.Offset})
				h := f.History()
				if complete, ok := w.Complete.Get(); ok && w.Kind == model.WriteUpdate {
					if got := finishedFrom(h.Now(), w.Start); got != int64(complete) {
						t.Errorf("%s: %d offsets finished from %d on, the broker says %d", v.Step, got, w.Start, complete)
					}
					checked++
				}
				if sum := h.Step(h.Len() - 1).Tally; sum.Passed != 0 {
					t.Errorf("%s: %d records passed over without an outcome", v.Step, sum.Passed)
				}
				if i+1 < len(all) && all[i+1].Step == v.Step {
					continue
				}
				for _, e := range c.steps {
					if e.step != v.Step && !strings.HasSuffix(v.Step, ": "+e.step) && !(strings.HasPrefix(v.Step, e.step) && strings.HasSuffix(e.step, "acquired")) {
						continue
					}
					seen++
					end := int64(20)
					switch {
					case c.file == "4.4.0-dlq.json":
						end = 8
					case v.Offset >= 25 && c.file == "4.1.1.json", c.file != "4.1.1.json" && seen >= 17:
						end = 25
					}
					h := folds[first].History()
					if got := windowText(h.Now(), end); got != e.window {
						t.Errorf("%s:\ngot  %s\nwant %s", v.Step, got, e.window)
					}
				}
			}
			if seen < len(c.steps) {
				t.Errorf("%d steps were checked, want at least %d", seen, len(c.steps))
			}
			if checked == 0 && c.file != "4.1.1.json" {
				t.Error("no complete count was checked")
			}
		})
	}
}

// finishedFrom counts the finished offsets at or above the recorded start, which is what the delivery
// complete count is.
func finishedFrom(s *model.ShareState, start int64) (n int64) {
	for _, b := range s.Batches {
		if b.State.Terminal() && b.Last >= start {
			n += b.Last - max(b.First, start) + 1
		}
	}
	return n
}

// The life of record 7 in the trace: released four times, archived at the limit.
func TestReplayTimeline(t *testing.T) {
	f := model.NewShareFold(1000)
	all := vectors(t)["4.3.1.json"]
	var key model.SharePartitionKey
	for i := range all {
		k, w, err := sharestate.Decode(all[i].bytes(t))
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			key = k
		}
		if k != key || strings.HasPrefix(all[i].Step, "Alter") {
			break
		}
		f.Apply(&w, model.WriteRef{Ms: all[i].Timestamp, Offset: all[i].Offset})
	}
	h := f.History()
	var got []string
	for _, m := range h.Timeline(7) {
		got = append(got, fmt.Sprintf("%s x%d", m.To.State, m.To.Count))
	}
	if text := strings.Join(got, ", "); text != "available x1, available x2, available x3, available x4, archived x5" {
		t.Errorf("timeline of 7: %s", text)
	}
	var reasons []string
	for _, a := range h.Archived(model.Some[int64](5)) {
		reasons = append(reasons, fmt.Sprintf("%d %s", a.First, a.Likely))
	}
	want := "9 rejected by a client, or no record (gap); 13 rejected by a client, or no record (gap); 7 delivery limit; 12 delivery limit"
	if text := strings.Join(reasons, "; "); text != want {
		t.Errorf("archived: %s", text)
	}
}
