package ui

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"flightdeck/model"
)

// TestAnyKeysAtAnyTime presses keys in any order while the cluster and the terminal change, and holds that the frame fits.
func TestAnyKeysAtAnyTime(t *testing.T) {
	keys := []string{"a", "0", "-", "backspace"}
	for _, b := range newBindings() {
		keys = append(keys, b.keys...)
	}
	full, _ := fixture()
	empty := &model.Snapshot{At: noon}
	half, _ := fixture()
	half.Groups, half.ShareGroups, half.Topics, half.Cluster.Brokers = half.Groups[:2], nil, half.Topics[1:2], half.Cluster.Brokers[:1]
	half.Groups[1].Partitions = half.Groups[1].Partitions[:1] // its insight is of another length
	rapid.Check(t, func(rt *rapid.T) {
		r := &rig{App: New(t.Context(), Options{Source: &fakeSource{}}), t: t}
		_, r.history = fixture()
		w, h := 80, 24
		r.size(w, h)
		for range rapid.IntRange(1, 60).Draw(rt, "steps") {
			switch rapid.IntRange(0, 9).Draw(rt, "what") {
			case 0:
				w, h = rapid.IntRange(1, 130).Draw(rt, "w"), rapid.IntRange(1, 50).Draw(rt, "h")
				r.size(w, h)
			case 1:
				r.poll()
				r.read(rapid.SampledFrom([]*model.Snapshot{full, half, empty, listing(full)}).Draw(rt, "snapshot"))
			case 2:
				r.poll()
				r.send(snapshotMsg{generation: r.polls.generation, err: errors.New("no answer")})
			default:
				k := rapid.SampledFrom(keys).Draw(rt, "key")
				if r.send(keyPress(k)); r.quits() {
					return
				}
			}
			checkBox(t, r, w, h)
			if t.Failed() {
				rt.FailNow()
			}
		}
	})
}
