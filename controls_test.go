package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/kafka"
	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

// openFlight goes to the flight view of the first share-partition of a group.
func (p *planner) openFlight(group string) {
	p.t.Helper()
	p.choose("2", group)
	p.steps("1 of ", "\r", "Share-partitions")
	p.untilTrue("the flight view opens", func() bool {
		p.press("\r") // of no effect before the rows are there, and after
		time.Sleep(100 * time.Millisecond)
		return strings.Contains(p.text(), "c take")
	})
}

// onRecord presses a key on a record, and waits for what is said then.
func (p *planner) onRecord(offset int64, key, said string) {
	p.t.Helper()
	p.press("/")
	p.steps("from ", fmt.Sprintf("%d\r", offset), "Record "+model.Count(offset), key, said)
}

func TestControlsInTheDemo(t *testing.T) {
	p := openPlanner(t, "--demo")
	p.openFlight("order-workers")
	p.steps("c take", "c", "joins order-workers as a member beside", "\x7f3\r", "MEMBER of order-workers, 3 held", "a", "accepted (delivery",
		"M", "2 marked", "x", ", 0 held")
	p.press("p")
	p.steps("Values from", `{"n":{{.N}}}`, `The first: {"n":1}`, "\r", "1 of 1 written", "\r", `"n": 1`)
	// Held records are asked about; the badge is gone when the group was left.
	p.press("c")
	p.steps("How many", "\r", ", 1 held", "L", "1 record held")
	p.untilTrue("the group is left", func() bool {
		p.press("r") // too soon, at first
		time.Sleep(100 * time.Millisecond)
		return !strings.Contains(p.text(), "MEMBER of")
	})
	p.press("\x03")
	if code := p.exit(); code != exitOK {
		t.Errorf("exit %d", code)
	}
	kinds := map[string]int{}
	audit, err := os.ReadFile(filepath.Join(p.state, "flightdeck", "audit.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(audit)) {
		var l struct{ Phase, Action string }
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatal(err)
		}
		kinds[l.Action+" "+l.Phase]++
	}
	for _, want := range []string{"share_take", "share_accept", "share_reject", "share_leave", "produce"} {
		if kinds[want+" intent"] == 0 || kinds[want+" intent"] != kinds[want+" result"] {
			t.Errorf("%s: the audit file has %v", want, kinds)
		}
	}
}

// What can not be written down is not done.
func TestControlsWithoutRoomForTheAudit(t *testing.T) {
	const full = "/dev/full"
	if _, err := os.Stat(full); err != nil {
		t.Skipf("did not run: %v", err)
	}
	p := openPlanner(t, "--demo", "--audit-log", full)
	p.openFlight("order-workers")
	p.steps("c take", "c", "How many", "\r", "No records were taken", "q")
	if strings.Contains(p.text(), "MEMBER of") {
		t.Errorf("the group was joined all the same:\n%s", p.text())
	}
	p.press("5")
	p.steps("audit "+full, "\x03")
	p.exit()
}

// TestControlsOnRealKafka takes records in the terminal, decides about some, ends the program, and looks into the
// state topic after each step.
func TestControlsOnRealKafka(t *testing.T) {
	kafkatest.Run(t, func(t *testing.T, version string) {
		k := kafkatest.Shared(t, version)
		topic, group := kafkatest.Name("held"), kafkatest.Name("workers")
		k.CreateTopic(t, topic, 1)
		k.SetGroupConfig(t, group, "share.auto.offset.reset", "earliest")
		k.SetGroupConfig(t, group, "share.record.lock.duration.ms", "15000")
		cl := k.Client(t)
		for i := range 11 { // in batches of one, since Kafka 4.1 hands out batches
			if err := cl.ProduceSync(t.Context(), &kgo.Record{Topic: topic, Value: fmt.Append(nil, i)}).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
		worker := k.JoinShare(t, group, topic, 0)
		worker.Acknowledge(t, kafkatest.All(kafkatest.Accept, worker.Acquire(t, 1)...)...)
		worker.Leave(t)
		state := newStateTopic(t, k, model.SharePartitionKey{Group: group, TopicID: model.TopicID(worker.TopicID())})
		state.says("1:")

		p := openPlanner(t, "-b", k.Bootstrap()[0], "--interval", "500ms")
		p.openFlight(group)
		count := 1
		if version == kafkatest.Latest(t) {
			count = 2
			p.steps("c take", "c", "How many", "\r", ", 1 held")
			p.steps("The lock ran out: the", "a", "accept failed: The record")
			state.says("1: 1 available×1")
		}
		p.press("c")
		p.steps("How many", "\x7f10\r", ", 10 held")
		p.onRecord(3, "a", "accepted (delivery")
		p.onRecord(7, "x", "rejected: it is not")
		p.onRecord(5, "r", "released: it is")
		decided := "3 acknowledged×1, 5 available×1, 7 archived×1"
		if count == 2 {
			decided = "1 available×1, " + decided
		}
		state.says("1: " + decided)

		// However the program ends, what is held goes back at once. Until Kafka 4.1 the attempt is taken back.
		end := map[string]syscall.Signal{"4.1": 0, "4.3": syscall.SIGTERM, "4.4": syscall.SIGHUP}[version[:3]]
		want := exitOK
		if end == 0 {
			p.press("\x03")
		} else {
			_ = p.cmd.Process.Signal(end)
			want = 128 + int(end)
		}
		if code := p.exit(); code != want {
			t.Errorf("exit %d, want %d", code, want)
		}
		var all []string
		for o := 1; o <= 10; o++ {
			kept := 1
			if o == 1 {
				kept = count
			}
			if strings.HasPrefix(version, "4.1") {
				kept--
			}
			outcome := map[int]string{3: "acknowledged×1", 5: "available×1", 7: "archived×1"}[o]
			if outcome == "" {
				outcome = fmt.Sprintf("available×%d", kept)
			}
			all = append(all, fmt.Sprintf("%d %s", o, outcome))
		}
		state.says("1: " + strings.Join(all, ", "))
		after := k.JoinShare(t, group, topic, 0)
		var got []int64
		for len(got) < 8 {
			got = append(got, after.Acquire(t, 8-len(got))...)
		}
		if want := []int64{1, 2, 4, 5, 6, 8, 9, 10}; !slices.Equal(got, want) {
			t.Errorf("a worker gets %v afterwards, want %v", got, want)
		}
		after.Leave(t)
	})
}

// stateTopic reads what is recorded of one share-partition.
type stateTopic struct {
	t        *testing.T
	follower *kafka.Follower
	key      model.SharePartitionKey
}

func newStateTopic(t *testing.T, k *kafkatest.Cluster, key model.SharePartitionKey) *stateTopic {
	conn := kafka.Connect(kafka.Config{Bootstrap: k.Bootstrap(), ReadOnly: true})
	s := &stateTopic{t, kafka.NewFollower(conn, kafka.FollowOptions{}), key}
	t.Cleanup(func() { s.follower.Close(); conn.Close() })
	return s
}

// says waits until the state topic says that: the effective start offset, and each outcome from there on.
func (s *stateTopic) says(want string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	s.follower.Watch([]model.SharePartitionKey{s.key}, []model.SharePartitionKey{s.key})
	got := "nothing"
	for got != want {
		records, err := s.follower.Next(ctx)
		if err != nil {
			s.t.Fatalf("the state topic says %q, want %q", got, want)
		}
		if r := records.Partitions[s.key]; r != nil {
			now := r.History.Now()
			start := now.Effective().Or(-1)
			var outcomes []string
			for o := start; o <= now.Highest().Or(-1); o++ {
				if d, ok := now.At(o); ok {
					outcomes = append(outcomes, fmt.Sprintf("%d %s×%d", o, d.State, d.Count))
				}
			}
			got = strings.TrimSpace(fmt.Sprintf("%d: %s", start, strings.Join(outcomes, ", ")))
		}
	}
}
