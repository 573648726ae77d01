package kafka

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

func TestArmedReset(t *testing.T) {
	for name, opts := range map[string][]kgo.Opt{
		"classic":  {kgo.ConsumerGroup("g"), kgo.DisableAutoCommit()},
		"consumer": {kgo.ConsumerGroup("g"), kgo.ServerSideBalancer(), kgo.DisableAutoCommit()},
		"share":    {kgo.ShareGroup("g")},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFake(t)
			f.produce("orders", 0, 10)
			a, _ := f.admin()
			member := f.client(append(opts, kgo.ConsumeTopics("orders"))...)
			pollCtx, stop := context.WithCancel(t.Context())
			polled := make(chan struct{})
			go func() {
				defer close(polled)
				for pollCtx.Err() == nil {
					member.PollFetches(pollCtx)
				}
			}()
			awaitGroup(t, a, "g", func(g *model.Group) bool { return len(g.Members) == 1 && g.State == "Stable" })
			req := ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}, Scope: []model.TopicPartitions{{Topic: "orders"}}}
			x, err := a.ArmReset(req, planReset(t, a, req), time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			s := armedUntil(t, x, func(s model.ArmedState) bool { return s.Group != nil })
			if s.Phase != model.ArmedWaiting || len(s.Group.Members) != 1 || !strings.Contains(s.Sentence(time.Now()), "1 member left") {
				t.Fatalf("%+v", s)
			}
			f.produce("orders", 0, 5) // the log moves on while it waits
			stop()
			<-polled
			member.CloseAllowingRebalance()
			s = armedUntil(t, x, func(s model.ArmedState) bool { return s.Final() })
			if s.Phase != model.ArmedDone || s.Outcome.Failed() > 0 || s.Outcome.Results[0].Offset != model.Some[int64](15) {
				t.Errorf("%s %+v", s.Sentence(time.Now()), s.Outcome)
			}
			if _, err := x.Next(t.Context()); err != io.EOF {
				t.Errorf("after the end: %v", err)
			}
		})
	}
}

func armedUntil(t testing.TB, x *ArmedReset, ok func(model.ArmedState) bool) model.ArmedState {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for {
		s, err := x.Next(ctx)
		if err != nil {
			t.Fatalf("armed reset: %v, last %+v", err, s)
		}
		if ok(s) {
			return s
		}
	}
}

// A member that joins between the look and the request makes the reset go on waiting, and then it gives up or is disarmed.
func TestArmedResetEndsWithoutFiring(t *testing.T) {
	f := newFake(t)
	f.produce("orders", 0, 10)
	f.commit("g", "orders", 4)
	a, _ := f.admin()
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetCommit}, Err: kerr.UnknownMemberID, Count: -1})
	req := ResetRequest{Group: "g", Spec: model.ResetSpec{Mode: model.ResetLatest}}
	for name, tt := range map[string]struct {
		giveUp time.Duration
		end    func(*ArmedReset)
		want   model.ArmedPhase
	}{
		"gives up": {time.Second, func(*ArmedReset) {}, model.ArmedGaveUp},
		"disarmed": {time.Minute, (*ArmedReset).Disarm, model.ArmedDisarmed},
		"closed":   {time.Minute, func(*ArmedReset) { a.Close() }, model.ArmedDisarmed},
	} {
		if name == "closed" {
			continue // last, below
		}
		t.Run(name, func(t *testing.T) { endArmed(t, a, req, tt.giveUp, tt.end, tt.want) })
	}
	endArmed(t, a, req, time.Minute, func(*ArmedReset) { a.Close() }, model.ArmedDisarmed)
}

func endArmed(t *testing.T, a *Admin, req ResetRequest, giveUp time.Duration, end func(*ArmedReset), want model.ArmedPhase) {
	t.Helper()
	x, err := a.ArmReset(req, planReset(t, a, req), giveUp)
	if err != nil {
		t.Fatal(err)
	}
	armedUntil(t, x, func(s model.ArmedState) bool { return s.Group != nil })
	end(x)
	if s := armedUntil(t, x, func(s model.ArmedState) bool { return s.Final() }); s.Phase != want || s.Outcome != nil {
		t.Errorf("%+v", s)
	}
}
