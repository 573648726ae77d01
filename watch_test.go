package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flightdeck/model"
)

// scripted is a source that has one more problem in its third poll, and ends the run after the fifth.
type scripted struct {
	polls int
	end   context.CancelFunc
}

func (s *scripted) Snapshot(context.Context, model.Want) (*model.Snapshot, error) {
	if s.polls++; s.polls == 5 {
		defer s.end()
	}
	snap := &model.Snapshot{At: time.Now(), Problems: []model.Problem{{Scope: model.ScopeShare, Code: model.ProblemShareOff, Text: "Share groups are off."}}}
	if s.polls == 3 {
		snap.Problems = append(snap.Problems, model.Problem{Scope: model.ScopeBroker, Name: "2", Code: "refused", Text: "Broker 2 refuses."})
	}
	return snap, nil
}

func (s *scripted) ShareOffsets(context.Context, []string) (model.ShareOffsets, error) {
	return model.ShareOffsets{}, nil
}

func TestWatchTellsAProblemOnceAsLongAsItStays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, end := context.WithCancel(t.Context())
		defer end()
		var out, errs bytes.Buffer
		p := printer{source: &scripted{end: end}, stdout: &out, stderr: &errs, options: options{output: "jsonl", watch: true, interval: time.Second}}
		if err := p.run(ctx); err != nil {
			t.Fatal(err)
		}
		if want := "flightdeck: Share groups are off.\nflightdeck: Broker 2 refuses.\n"; errs.String() != want {
			t.Errorf("told %q, want %q", errs.String(), want)
		}
		if n := strings.Count(out.String(), `"Share groups are off."`); n != strings.Count(out.String(), "\n") {
			t.Errorf("%d of the lines have the problem:\n%s", n, out.String())
		}
	})
}
