package kafka

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"flightdeck/model"
)

// move is one step of a random run; what it applies to is chosen by pick from what is held then.
type move struct {
	Kind  string
	Count int
	Pick  uint64
}

var moveKinds = []string{"take", "take", "accept", "release", "release", "reject", "renew", "late", "wait", "expire", "disconnect", "leave"}

func drawMoves(kinds []string, most int) *rapid.Generator[[]move] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) move {
		return move{rapid.SampledFrom(kinds).Draw(t, "kind"), rapid.IntRange(1, 4).Draw(t, "count"), rapid.Uint64().Draw(t, "pick")}
	}), most/2, most)
}

// world is what a random run happens in.
type world struct {
	conn       *Connection
	group      string
	topic      string
	end        int64
	lock       time.Duration
	window     *model.RecordWindow
	disconnect func()
	sleep      func(time.Duration) // nil when time is not to be had

	session *ShareSession
	until   map[int64]time.Time // of the locks, by the model's reckoning
}

// play runs the moves and compares session and model after each of them.
func (w *world) play(ctx context.Context, moves []move) error {
	w.until = make(map[int64]time.Time)
	defer func() {
		if w.session != nil {
			_ = w.session.Leave(ctx)
		}
	}()
	for i, m := range moves {
		if err := w.step(ctx, m); err != nil {
			return fmt.Errorf("move %d of %v: %w", i, moves[:i+1], err)
		}
		if err := w.compare(); err != nil {
			return fmt.Errorf("after move %d of %v: %w", i, moves[:i+1], err)
		}
	}
	return nil
}

// held are the offsets that the model has acquired.
func (w *world) held() (out []int64) {
	for o := w.window.Start(); o < w.window.Next(); o++ {
		if d, _ := w.window.At(o); d.State == model.StateAcquired {
			out = append(out, o)
		}
	}
	return out
}

// some chooses at most m.Count of what is held.
func (w *world) some(m move) (refs []model.RecordRef) {
	held := w.held()
	for n, pick := 0, m.Pick; n < m.Count && len(held) > 0; n, pick = n+1, pick/7 {
		i := int(pick % uint64(len(held)))
		refs = append(refs, model.RecordRef{Topic: w.topic, Offset: held[i]})
		held = slices.Delete(held, i, i+1)
	}
	return refs
}

func (w *world) all(e model.RecordEvent) {
	for _, o := range w.held() {
		w.window.Apply(o, e)
	}
}

func (w *world) step(ctx context.Context, m move) error {
	switch m.Kind {
	case "take":
		return w.take(ctx, m.Count)
	case "accept":
		return w.decide(ctx, m, model.DecisionAccept)
	case "release":
		return w.decide(ctx, m, model.DecisionRelease)
	case "reject":
		return w.decide(ctx, m, model.DecisionReject)
	case "renew":
		return w.decide(ctx, m, model.DecisionRenew)
	case "late":
		if w.session == nil {
			return nil
		}
		// Below the window, above it, or given back.
		ref := model.RecordRef{Topic: w.topic, Offset: int64(m.Pick % uint64(w.end))}
		if d, _ := w.window.At(ref.Offset); d.State == model.StateAcquired {
			return nil
		}
		results, err := w.session.Decide(ctx, []model.RecordRef{ref}, model.DecisionAccept)
		if err != nil || results[0].OK {
			return fmt.Errorf("a decision about %d, which is not held: %+v, %v", ref.Offset, results, err)
		}
	case "wait":
		w.sleep(w.lock / 3)
		w.runOut()
	case "expire":
		w.sleep(w.lock + 2*time.Second)
		w.runOut()
	case "disconnect":
		if w.session == nil || len(w.held()) == 0 {
			return nil
		}
		w.disconnect()
		w.all(model.EventSessionClose)
		return w.empty(ctx)
	case "leave":
		if w.session == nil {
			return nil
		}
		err := w.session.Leave(ctx)
		w.session = nil
		w.all(model.EventSessionClose)
		return err
	}
	return nil
}

// take takes what the model says is there.
func (w *world) take(ctx context.Context, n int) error {
	began := time.Now()
	got := w.window.Acquire(n, w.end)
	if len(got) == 0 {
		return nil
	}
	for _, o := range got {
		w.until[o] = began.Add(w.lock)
	}
	if w.session == nil {
		s, err := w.conn.Take(ctx, TakeRequest{Group: w.group, Topic: w.topic, Partitions: []int32{0}, Count: len(got)})
		if err != nil {
			return err
		}
		w.session = s
	} else if err := w.session.More(len(got)); err != nil {
		return err
	}
	return w.reach(ctx, "all are taken", func(s *model.ShareSession) bool { return s.Missing == 0 })
}

func (w *world) empty(ctx context.Context) error {
	return w.reach(ctx, "nothing is held", func(s *model.ShareSession) bool { return len(s.Held) == 0 })
}

func (w *world) reach(ctx context.Context, what string, wanted func(*model.ShareSession) bool) error {
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	defer cancel()
	for !wanted(w.session.Now()) {
		if _, err := w.session.Next(ctx); err != nil {
			now := w.session.Now()
			return fmt.Errorf("waiting until %s: %w; missing %d, held %v, problem %v", what, err, now.Missing, offsets(now.Held), now.Problem)
		}
	}
	return nil
}

func (w *world) decide(ctx context.Context, m move, d model.Decision) error {
	refs := w.some(m)
	if len(refs) == 0 {
		return nil
	}
	now := time.Now()
	results, err := w.session.Decide(ctx, refs, d)
	if err != nil {
		return err
	}
	for i, ref := range refs {
		renewed := d == model.DecisionRenew
		if want := w.window.Apply(ref.Offset, d.Event()); results[i].OK != want {
			return fmt.Errorf("%s %d: %+v, want %v", d, ref.Offset, results[i], want)
		}
		if renewed {
			w.until[ref.Offset] = now.Add(w.lock)
		}
	}
	return nil
}

// runOut lets the model's locks run out. A lock that runs out just now is waited for.
func (w *world) runOut() {
	for again := true; again; {
		again = false
		for _, o := range w.held() {
			switch left := time.Until(w.until[o]); {
			case left < -time.Second:
				w.window.Apply(o, model.EventLockTimeout)
			case left < time.Second:
				again = true
			}
		}
		if again {
			w.sleep(time.Second)
		}
	}
}

func (w *world) compare() error {
	var want, got []string
	for _, o := range w.held() {
		d, _ := w.window.At(o)
		want = append(want, fmt.Sprintf("%d×%d", o, d.Count))
	}
	if w.session != nil {
		for _, h := range w.session.Held() {
			got = append(got, fmt.Sprintf("%d×%d", h.Offset, h.Count))
		}
	}
	if !slices.Equal(got, want) {
		return fmt.Errorf("held %v, and by the model %v", got, want)
	}
	return nil
}

// Whatever happens in whatever order, what is held and what comes of decisions is what the state machine says.
func TestSessionIsAsTheModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		run := drawMoves(moveKinds, 40).Draw(rt, "moves")
		var err error
		inShareRig(t, 1, 1, 5, func(t *testing.T, r *shareRig) {
			w := &world{
				conn: r.conn, group: "workers", topic: "orders", end: 5, lock: testLock, sleep: time.Sleep,
				window:     model.NewRecordWindow(model.DeliveryRules{Limit: 3}, 0, 0),
				disconnect: func() { r.cuts.cut(false) },
			}
			err = w.play(t.Context(), run)
		})
		if err != nil {
			rt.Fatal(err)
		}
	})
}
