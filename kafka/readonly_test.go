package kafka

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Every request that the protocol has is tried on every kind of client while the wire is recorded.
func TestReadOnlySendsOnlyReads(t *testing.T) {
	k := cluster(t, kfake.SeedTopics(1, "orders"))
	var w wire
	c := Connect(Config{Bootstrap: k.ListenAddrs(), ReadOnly: true, Dial: w.dial})
	defer c.Close()
	for j := range timings {
		cl, err := c.client(j)
		if err != nil {
			t.Fatal(err)
		}
		for key, err := range tryEverything(t, cl) {
			if slices.Contains(reads, key) {
				continue
			}
			if code, text := c.Explain(err); code != "read_only" {
				t.Errorf("%s: %s: %s (%v)", key.Name(), code, text, err)
			}
		}
	}
	for key, n := range w.seen() {
		if !slices.Contains(reads, kmsg.Key(key)) {
			t.Errorf("%s was sent %d times", kmsg.NameForKey(key), n)
		}
	}
	if n := len(w.seen()); n < 10 {
		t.Errorf("only %d kinds of requests were seen: the recording does not work", n)
	}
}

// The client's own ways to change something end with the reason, and at once.
func TestReadOnlyProduceAndConsume(t *testing.T) {
	k := cluster(t, kfake.SeedTopics(1, "orders"))
	var w wire
	c := Connect(Config{Bootstrap: k.ListenAddrs(), ReadOnly: true, Dial: w.dial})
	defer c.Close()
	for name, extra := range map[string][]kgo.Opt{
		"idempotent":     nil,
		"not idempotent": {kgo.DisableIdempotentWrite()},
	} {
		cl, err := c.client(jobProduce, extra...)
		if err != nil {
			t.Fatal(err)
		}
		err = cl.ProduceSync(t.Context(), &kgo.Record{Topic: "orders"}).FirstErr()
		if code, text := c.Explain(err); code != "read_only" {
			t.Errorf("%s: %s: %s (%v)", name, code, text, err)
		}
	}
	cl, err := c.client(jobSession, kgo.ConsumerGroup("g"), kgo.ConsumeTopics("orders"))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	cl.PollFetches(ctx)
	for key, n := range w.seen() {
		if !slices.Contains(reads, kmsg.Key(key)) {
			t.Errorf("%s was sent %d times", kmsg.NameForKey(key), n)
		}
	}
}

// Without read-only, the requests that are the brokers' own are still never sent, and the others are.
func TestShareStateRequestsAreNeverSent(t *testing.T) {
	k := cluster(t)
	var w wire
	c := Connect(Config{Bootstrap: k.ListenAddrs(), Dial: w.dial})
	defer c.Close()
	cl, err := c.client(jobPoll)
	if err != nil {
		t.Fatal(err)
	}
	tryEverything(t, cl)
	seen := w.seen()
	for _, key := range never {
		if n := seen[key.Int16()]; n > 0 {
			t.Errorf("%s was sent %d times", key.Name(), n)
		}
	}
	if seen[kmsg.DeleteGroups.Int16()] == 0 {
		t.Error("DeleteGroups was not sent: the recording does not work")
	}
}

// tryEverything sends each request once to a broker by its id and once by the client's own routing, with the
// fields as empty as they come, and returns the error that each got.
func tryEverything(t *testing.T, cl *kgo.Client) map[kmsg.Key]error {
	t.Helper()
	if err := cl.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	var (
		wg   sync.WaitGroup
		mu   sync.Mutex
		errs = map[kmsg.Key]error{}
	)
	for key := range int16(kmsg.MaxKey + 1) {
		wg.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := cl.Broker(0).Request(ctx, kmsg.RequestForKey(key))
			_, _ = cl.Request(ctx, kmsg.RequestForKey(key))
			mu.Lock()
			defer mu.Unlock()
			errs[kmsg.Key(key)] = err
		})
	}
	wg.Wait()
	return errs
}
