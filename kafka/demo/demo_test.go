package demo_test

import (
	"testing"

	"go.uber.org/goleak"

	"flightdeck/kafka/demo"
)

func TestCloseLeavesNothing(t *testing.T) {
	defer goleak.VerifyNone(t)
	c, err := demo.Start(t.Context(), demo.Options{Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	c.Close()
}
