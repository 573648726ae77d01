package kafka

import (
	"testing"
	"time"

	"flightdeck/kafka/demo"
	"flightdeck/model"
)

// On the demo cluster a session works among its workers, and what is decided is in its state topic, which is how
// an outcome is read back.
func TestSessionOnTheDemo(t *testing.T) {
	d, err := demo.Start(t.Context(), demo.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(d.Close)
	c := Connect(Config{Bootstrap: d.Bootstrap(), Audit: auditFile(t)})
	t.Cleanup(c.Close)
	s, err := c.Take(t.Context(), TakeRequest{Group: "label-printers", Topic: "shipments", Count: 3})
	if err != nil {
		t.Fatal(err)
	}
	awaitSession(t, s, "records are held", func(now *model.ShareSession) bool { return now.Missing == 0 })
	held := s.Held()
	for i, decision := range []model.Decision{model.DecisionAccept, model.DecisionReject, model.DecisionRelease} {
		h := &held[i]
		results, err := s.Decide(t.Context(), []model.RecordRef{h.Ref()}, decision)
		expect(t, decision.String(), codes(t, results, err), []string{"ok"})
		found := c.readBack(t.Context(), []question{{
			key:    model.SharePartitionKey{Group: "label-printers", TopicID: s.Now().TopicID, Partition: h.Partition},
			offset: h.Offset, count: h.Count, decision: decision,
		}})
		if !found[0].ok || found[0].code != "read_back" {
			t.Errorf("%s, read back: %+v", decision, found[0])
		}
	}
	began := time.Now()
	c.Close()
	if s.Now().Phase != model.SessionLeft || time.Since(began) > leaveLimit+2*time.Second {
		t.Errorf("phase %s after %s", s.Now().Phase, time.Since(began))
	}
}
