package model

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// drawInt draws an offset that may be unknown and may be nonsense.
func drawInt(t *rapid.T, label string, from, to int64) Int {
	if rapid.IntRange(0, 5).Draw(t, label+" known") == 0 {
		return Int{}
	}
	return Some(rapid.Int64Range(from, to).Draw(t, label))
}

func drawSpec(t *rapid.T) ResetSpec {
	return ResetSpec{
		Mode:   rapid.SampledFrom(ResetModes()).Draw(t, "mode"),
		Offset: rapid.OneOf(rapid.Int64(), rapid.Int64Range(-60, 60), rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64})).Draw(t, "offset"),
		Time:   time.UnixMilli(rapid.Int64Range(-10, 10).Draw(t, "time")),
		Back:   time.Duration(rapid.Int64Range(1, 1e18).Draw(t, "back")),
		Group:  "other",
	}
}

func drawInput(t *rapid.T) ResetInput {
	in := ResetInput{
		Group: "g", Type: rapid.SampledFrom([]GroupType{TypeClassic, TypeConsumer, TypeShare}).Draw(t, "type"),
		At: noon, Version: rapid.SampledFrom([]string{"4.1", "4.3", "4.4+", ""}).Draw(t, "version"), Sizes: map[string]int{"orders": 3},
	}
	for n := range int32(rapid.IntRange(0, 3).Draw(t, "partitions")) {
		p := ResetPartition{
			Topic: "orders", Number: n,
			Now: drawInt(t, "now", 0, 120), Start: drawInt(t, "start", -2, 60), End: drawInt(t, "end", -2, 100),
			Found: drawInt(t, "found", -1, 100), Target: drawInt(t, "target", -2, 200),
			Clear: rapid.IntRange(0, 9).Draw(t, "clear") == 0, Deleted: rapid.IntRange(0, 9).Draw(t, "deleted") == 0,
		}
		if now, ok := p.Now.Get(); ok && rapid.Bool().Draw(t, "recorded") {
			p.State = &ShareState{Recorded: true, Start: now}
			for at := now + 1; at < now+20; at += rapid.Int64Range(1, 4).Draw(t, "gap") {
				p.State.Batches = append(p.State.Batches, StateBatch{at, at, rapid.SampledFrom([]RecordState{0, 2, 3, 4}).Draw(t, "state"), 1})
			}
		}
		in.Partitions = append(in.Partitions, p)
	}
	return in
}

func TestPlanStaysWithinTheLog(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		spec, in := drawSpec(t), drawInput(t)
		plan := PlanReset(spec, in)
		if len(plan.Rows) != len(in.Partitions) {
			t.Fatalf("%d rows of %d", len(plan.Rows), len(in.Partitions))
		}
		for i, r := range plan.Rows {
			then, ok := r.Then.Get()
			if ok && (then < 0 || then < r.Start.Or(math.MaxInt64) || then > r.End.Or(-1)) {
				t.Fatalf("%s: %d is outside of the log: %+v", spec.Mode, then, r)
			}
			if ok && (in.Partitions[i].Deleted || r.Clear) {
				t.Fatalf("planned: %+v", r)
			}
			if !r.Planned() && len(r.Notes) == 0 {
				t.Fatalf("left without a reason: %+v", r)
			}
			if again, skipped, _ := r.moves(); again < 0 || skipped < 0 {
				t.Fatalf("again %d, skipped %d: %+v", again, skipped, r)
			}
		}
		totals := plan.Totals()
		if totals.Planned+totals.Left != len(plan.Rows) || len(plan.Planned()) != totals.Planned || totals.Same > totals.Planned {
			t.Fatalf("totals %+v of %+v", totals, plan.Rows)
		}
		for _, o := range plan.Offsets() {
			if offset, ok := o.Offset.Get(); ok && offset < 0 {
				t.Fatalf("negative: %+v", o)
			}
		}
		if ms, ok := spec.Timestamp(noon); ok && ms < 0 {
			t.Fatalf("timestamp %d", ms)
		}
	})
}

// What is read again and skipped must be what a count of single records says.
func TestTotalsCountRecordByRecord(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		plan := PlanReset(drawSpec(t), drawInput(t))
		for _, r := range plan.Rows {
			now, ok := r.Now.Get()
			then, planned := r.Then.Get()
			if !ok || !planned || r.Loss != nil {
				continue
			}
			var again, skipped int64
			for offset := r.Start.Or(0); offset < r.End.Or(0); offset++ {
				before, after := offset >= now, offset >= then
				switch {
				case after && !before:
					again++
				case before && !after:
					skipped++
				}
			}
			if gotAgain, gotSkipped, _ := r.moves(); gotAgain != again || gotSkipped != skipped {
				t.Fatalf("again %d, skipped %d, want %d and %d: %+v", gotAgain, gotSkipped, again, skipped, r)
			}
		}
	})
}

func known(p ResetPartition) ResetPartition {
	p.Topic = "orders"
	return p
}

func TestPlanRows(t *testing.T) {
	one := Some[int64]
	at := ResetSpec{Mode: ResetTime, Time: noon}
	for name, tt := range map[string]struct {
		spec ResetSpec
		typ  GroupType
		p    ResetPartition
		then Int
		note string
	}{
		"earliest":                  {ResetSpec{Mode: ResetEarliest}, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100)}, one(10), ""},
		"latest, no commit":         {ResetSpec{Mode: ResetLatest}, TypeClassic, ResetPartition{Start: one(10), End: one(100)}, one(100), ""},
		"current":                   {ResetSpec{Mode: ResetCurrent}, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100)}, one(40), ""},
		"current, no commit":        {ResetSpec{Mode: ResetCurrent}, TypeClassic, ResetPartition{Start: one(10), End: one(100)}, one(100), "no position: log end"},
		"offset below the log":      {ResetSpec{Mode: ResetOffset, Offset: 3}, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100)}, one(10), "offset 3 is below the log start"},
		"offset above the log":      {ResetSpec{Mode: ResetOffset, Offset: 3000}, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100)}, one(100), "offset 3,000 is above the log end"},
		"shift":                     {ResetSpec{Mode: ResetShift, Offset: -15}, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100)}, one(25), ""},
		"shift, overflow":           {ResetSpec{Mode: ResetShift, Offset: math.MaxInt64}, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100)}, one(100), "above the log end"},
		"shift, no commit":          {ResetSpec{Mode: ResetShift, Offset: -15}, TypeClassic, ResetPartition{Start: one(10), End: one(100)}, Int{}, "no position that could be shifted"},
		"time":                      {at, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100), Found: one(33)}, one(33), ""},
		"time after the last":       {at, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100), Found: one(-1)}, one(100), "no record is that young: log end"},
		"time not answered":         {at, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100)}, Int{}, "did not say"},
		"group":                     {ResetSpec{Mode: ResetGroup, Group: "b"}, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100), Target: one(50)}, one(50), ""},
		"group has none":            {ResetSpec{Mode: ResetGroup, Group: "b"}, TypeClassic, ResetPartition{Now: one(40), Start: one(10), End: one(100)}, Int{}, "group b has no position here"},
		"retention":                 {ResetSpec{Mode: ResetCurrent}, TypeClassic, ResetPartition{Now: one(4), Start: one(10), End: one(100)}, one(10), "retention has already taken 6; offset 4 is below the log start"},
		"deleted":                   {ResetSpec{Mode: ResetLatest}, TypeClassic, ResetPartition{Now: one(4), Deleted: true}, Int{}, "does not exist"},
		"not read":                  {ResetSpec{Mode: ResetLatest}, TypeClassic, ResetPartition{Now: one(4), Problem: "no leader"}, Int{}, "no leader"},
		"end not read":              {ResetSpec{Mode: ResetEarliest}, TypeClassic, ResetPartition{Now: one(4), Start: one(0)}, Int{}, "bounds of the log are not known"},
		"undo of a first commit":    {ResetSpec{Mode: ResetFile}, TypeClassic, ResetPartition{Now: one(4), Start: one(0), End: one(9), Clear: true}, Int{}, "it is removed"},
		"undo of a first share use": {ResetSpec{Mode: ResetFile}, TypeShare, ResetPartition{Now: one(4), Start: one(0), End: one(9), Clear: true}, Int{}, "whole topics only"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := PlanReset(tt.spec, ResetInput{Group: "g", Type: tt.typ, At: noon, Partitions: []ResetPartition{known(tt.p)}})
			r := plan.Rows[0]
			if r.Then != tt.then || !strings.Contains(r.Note(), tt.note) || tt.note == "" && r.Note() != "" {
				t.Errorf("then %s, note %q, want %s and %q", r.Then.Text(Count), r.Note(), tt.then.Text(Count), tt.note)
			}
		})
	}
}

func TestPlanSentences(t *testing.T) {
	one := Some[int64]
	plan := PlanReset(ResetSpec{Mode: ResetOffset, Offset: 20}, ResetInput{Group: "g", Type: TypeClassic, At: noon, Partitions: []ResetPartition{
		{Topic: "orders", Number: 2, Now: one(12500), Start: one(20), End: one(20000)},
		{Topic: "orders", Number: 0, Now: one(5), Start: one(0), End: one(20000)},
		{Topic: "orders", Number: 1, Start: one(0), End: one(20000)},
		{Topic: "orders", Number: 3, Deleted: true},
	}})
	got := strings.Join(plan.Sentences(), " ")
	want := "g will read 12,480 records again and skip 15, on 3 partitions. That leaves out 1 partition without a position on one side. 1 partition is left as it is; its note says why."
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	a := plan.Action()
	if a.Kind != ActionOffsetsReset || a.Confirm != "g" || a.Target.Topic != "orders" || len(a.Target.Partitions) != 3 || a.Danger != DangerLoss {
		t.Errorf("%+v", a)
	}
}

func TestShareLoss(t *testing.T) {
	state := &ShareState{Recorded: true, Start: 100, Batches: []StateBatch{
		{100, 100, StateAvailable, 2}, {101, 110, StateAcknowledged, 1}, {111, 112, StateArchived, 5}, {113, 113, StateArchiving, 5}, {115, 119, StateAcknowledged, 1},
	}}
	for name, tt := range map[string]struct {
		to             int64
		again, skipped int64
		loss           ShareLoss
	}{
		"back":     {90, 10 + 15 + 3, 0, ShareLoss{Accepted: 15, Archived: 3, Counted: 1}},
		"in place": {100, 15 + 3, 0, ShareLoss{Accepted: 15, Archived: 3, Counted: 1}},
		"into it":  {112, 5 + 2, 1, ShareLoss{Accepted: 5, Archived: 2, Counted: 1, done: 11}},
		"past it":  {130, 0, 1 + 1 + 10, ShareLoss{Counted: 1, done: 18}},
	} {
		t.Run(name, func(t *testing.T) {
			plan := PlanReset(ResetSpec{Mode: ResetOffset, Offset: tt.to}, ResetInput{Group: "g", Type: TypeShare, Version: "4.3", Partitions: []ResetPartition{
				{Topic: "orders", Now: Some[int64](100), Start: Some[int64](0), End: Some[int64](200), State: state},
			}})
			totals := plan.Totals()
			if totals.Again != tt.again || totals.Skipped != tt.skipped || totals.Loss != tt.loss {
				t.Errorf("again %d, skipped %d, loss %+v; want %d, %d, %+v", totals.Again, totals.Skipped, totals.Loss, tt.again, tt.skipped, tt.loss)
			}
		})
	}
}

func TestResetMethod(t *testing.T) {
	for name, tt := range map[string]struct {
		version string
		mode    ResetMode
		size    int
		want    ResetMethod
	}{
		"4.4":                       {"4.4", ResetShift, 1, ResetByAlter},
		"newer":                     {"4.5+", ResetShift, 1, ResetByAlter},
		"unknown":                   {"", ResetShift, 1, ResetByAlter},
		"4.1, a whole topic":        {"4.1", ResetEarliest, 1, ResetByPolicy},
		"4.1, a part of a topic":    {"4.1", ResetEarliest, 2, ResetImpossible},
		"4.1, a mode it cannot do":  {"4.1", ResetShift, 1, ResetImpossible},
		"4.1, a duration":           {"4.1", ResetBack, 1, ResetByPolicy},
		"before there were any":     {"4.0", ResetEarliest, 1, ResetImpossible},
		"a version of three digits": {"4.10", ResetShift, 1, ResetByAlter},
	} {
		t.Run(name, func(t *testing.T) {
			plan := PlanReset(ResetSpec{Mode: tt.mode, Back: time.Hour, Offset: 1}, ResetInput{Type: TypeShare, Version: tt.version, Sizes: map[string]int{"orders": tt.size},
				Partitions: []ResetPartition{{Topic: "orders", Now: Some[int64](1), Start: Some[int64](0), End: Some[int64](9), Found: Some[int64](0)}}})
			if plan.Method != tt.want || (plan.Why != "") != (tt.want == ResetImpossible) {
				t.Errorf("method %d (%s), want %d", plan.Method, plan.Why, tt.want)
			}
		})
	}
}
