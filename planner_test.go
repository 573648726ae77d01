package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/kafka/kafkatest"
)

// planner is a person who moves offsets in the terminal.
type planner struct {
	*terminal
	state string // folder for what outlives a run
}

func openPlanner(t *testing.T, args ...string) *planner {
	t.Helper()
	state := t.TempDir()
	return &planner{open(t, "flightdeck", []string{"XDG_STATE_HOME=" + state}, args...), state}
}

// steps press keys, each when a text is on the screen: text, keys, text, keys, and at last a text.
func (p *planner) steps(steps ...string) {
	p.t.Helper()
	for i := 0; i < len(steps); i += 2 {
		p.until(steps[i])
		if i+1 < len(steps) {
			p.press(steps[i+1])
		}
	}
}

// choose goes to a group in the list of a tab.
func (p *planner) choose(tab, group string) {
	p.t.Helper()
	p.press(tab)
	p.steps("VERDICT", "/", "key>number", group+"\r", "1 of ")
	p.until(group)
}

// filtered is the sum at the bottom of a list with a filter.
var filtered = regexp.MustCompile(`\d+ of \d+ groups`)

// close leaves a result and clears the filter below it.
func (p *planner) close() {
	p.t.Helper()
	for _, open := range []func() bool{func() bool { return strings.Contains(p.text(), "╭─") }, func() bool { return filtered.MatchString(p.text()) }} {
		p.press("\x1b")
		p.untilTrue("esc closes", func() bool { return !open() })
	}
}

// confirm agrees to what the preview says.
func (p *planner) confirm(group string) {
	p.t.Helper()
	p.press("\r")
	p.steps("Type "+group, "", "enter do it", group+"\r")
}

// settings sets share.auto.offset.reset of a share group that does not exist yet.
func (p *planner) settings(group, value string) {
	p.t.Helper()
	p.press(":")
	p.steps("type a part of a name", "by its id", "Settings of a group by its id", "\r", "Type     share", group+"\r", "There is no group "+group+" yet.", "\r",
		"Value", "\x15"+value, "Value  "+value, "\r", "y yes   esc no", "", "y yes  esc back", "y", "share.auto.offset.reset is "+value+", read back.", "\x1b", "Settings of a group ─", "\x1b")
	p.untilTrue("the form is closed", func() bool { return !strings.Contains(p.text(), "╭─") })
}

func TestPlannerInTheDemo(t *testing.T) {
	const group = "billing-export"
	p := openPlanner(t, "--demo")
	p.choose("1", group)
	p.steps("Empty", "o", "Move the offsets of "+group, "s\x1b[B", "Shift by", "-100\r",
		group+" will read 600 records again and skip 0, on 6 partitions.")
	p.confirm(group)
	p.steps("The offsets of "+group+" are set on 6 partitions.", "U",
		group+" will read 0 records again and skip 600, on 6 partitions.")
	p.confirm(group)
	p.until("Moved " + group + " to what the file saved")
	p.close()

	p.choose("1", group)
	p.steps("Empty", "D", "Delete of "+group, "\r", "This deletes the group "+group)
	p.confirm(group)
	p.until("Group " + group + " is deleted.")
	p.close()

	p.settings("newcomers", "earliest")

	// What was done and what was there before stays on disk.
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
	if kinds["offsets_reset intent"] != 2 || kinds["offsets_reset result"] != 2 || kinds["group_delete intent"] != 1 || kinds["group_delete result"] != 1 || kinds["config_alter result"] != 1 {
		t.Errorf("the audit file has %v", kinds)
	}
	if saved, _ := filepath.Glob(filepath.Join(p.state, "flightdeck", "resets", "*.csv")); len(saved) != 3 {
		t.Errorf("%d files of saved offsets, want 3", len(saved))
	}
	p.press("\x03")
	if code := p.exit(); code != exitOK {
		t.Errorf("exit %d", code)
	}
}

func TestPlannerRefusesWhenReadOnly(t *testing.T) {
	p := openPlanner(t, "--demo", "--read-only")
	p.choose("1", "billing-export")
	p.steps("Empty", "o", "read-only mode: nothing on the cluster can be changed", "\x03")
	p.exit()
	if _, err := os.Stat(filepath.Join(p.state, "flightdeck")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something was written down: %v", err)
	}
}

// TestPlannerOnRealKafka moves the offsets of groups of three types in the terminal, and copies of them with Kafka's own tool.
func TestPlannerOnRealKafka(t *testing.T) {
	kafkatest.Run(t, func(t *testing.T, version string) {
		k := kafkatest.Shared(t, version)
		topic := kafkatest.Name("orders")
		k.CreateTopic(t, topic, 2)
		k.Produce(t, topic, 0, 30)
		k.Produce(t, topic, 1, 30)
		admin := kadm.NewClient(k.Client(t))
		commit := func(group string) {
			t.Helper()
			offsets := kadm.Offsets{}
			offsets.AddOffset(topic, 0, 20, -1)
			offsets.AddOffset(topic, 1, 25, -1)
			kafkatest.Await(t, group+" takes offsets", func() error { return admin.CommitAllOffsets(t.Context(), group, offsets) })
		}
		committed := func(group string) string {
			t.Helper()
			got, err := admin.FetchOffsets(t.Context(), group)
			if err != nil {
				t.Fatal(err)
			}
			return fmt.Sprint(got.Offsets().KOffsets()[topic][0].EpochOffset().Offset, " ", got.Offsets().KOffsets()[topic][1].EpochOffset().Offset)
		}
		tool := func(class string, args ...string) string {
			t.Helper()
			out, err := k.Tool(t.Context(), class, append([]string{"--bootstrap-server", k.Bootstrap()[0]}, args...)...)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}

		p := openPlanner(t, "-b", k.Bootstrap()[0], "--interval", "500ms")
		for _, typ := range []string{"classic", "consumer"} {
			group, twin := kafkatest.Name(typ), kafkatest.Name(typ+"-twin")
			for _, id := range []string{group, twin} {
				if typ == "consumer" {
					joinAndLeave(t, k, id, topic)
				}
				commit(id)
			}
			p.choose("1", group)
			p.steps("Empty", "o", "Move the offsets of "+group, "s\x1b[B", "Shift by", "-7\r", group+" will read 14 records again and skip 0, on 2 partitions.")
			p.confirm(group)
			p.until("The offsets of " + group + " are set on 2 partitions.")
			tool(kafkatest.ConsumerGroupCommand, "--group", twin, "--reset-offsets", "--shift-by", "-7", "--topic", topic, "--execute")
			if here, there := committed(group), committed(twin); here != there || here != "13 18" {
				t.Errorf("%s is at %s after the shift, and Kafka's own tool takes its twin to %s", typ, here, there)
			}
			p.steps("U undo", "U", group+" will read 0 records again and skip 14")
			p.confirm(group)
			p.until("Moved " + group + " to what the file saved")
			if got := committed(group); got != "20 25" {
				t.Errorf("%s is at %s after the undo, want 20 25", typ, got)
			}
			p.close()
		}

		share, twin := kafkatest.Name("share"), kafkatest.Name("share-twin")
		k.SetGroupConfig(t, twin, "share.auto.offset.reset", "earliest")
		p.settings(share, "earliest") // or its member would be given nothing
		for _, id := range []string{share, twin} {
			m := k.JoinShare(t, id, topic, 0)
			m.Acknowledge(t, kafkatest.All(kafkatest.Accept, m.Acquire(t, 5)...)...)
			m.Leave(t)
		}
		p.choose("2", share)
		p.steps("Empty", "o", "Move the offsets of "+share, "\x1b[B"+topic, topic, "\r", "records again and skip 0, on 2 partitions.")
		p.confirm(share)
		p.until("The offsets of " + share + " are set on ")
		if strings.HasPrefix(version, "4.1") {
			// What Kafka 4.1 can do: members begin anew.
			p.steps("share.auto.offset.reset is earliest now")
			if out := tool(kafkatest.ShareGroupCommand, "--group", share, "--describe", "--offsets"); regexp.MustCompile(topic + `\s+\d+\s+\d`).MatchString(out) {
				t.Errorf("the share group still has start offsets:\n%s", out)
			}
		} else {
			tool(kafkatest.ShareGroupCommand, "--group", twin, "--reset-offsets", "--to-earliest", "--topic", topic, "--execute")
			described := func(id string) string {
				return strings.ReplaceAll(tool(kafkatest.ShareGroupCommand, "--group", id, "--describe", "--offsets"), id, "GROUP")
			}
			if here, there := strings.Fields(described(share)), strings.Fields(described(twin)); strings.Join(here, " ") != strings.Join(there, " ") {
				t.Errorf("the share group is\n%v\nand Kafka's own tool takes its twin to\n%v", here, there)
			}
		}
		p.close()

		armed := kafkatest.Name("armed")
		member := join(t, k, armed, topic)
		p.choose("1", armed)
		p.steps("Stable", "o", "Move the offsets of "+armed, "\r", "offsets can only be moved when it is empty", "w", "Give up after", "\r",
			"Type "+armed, "", "enter do it", armed+"\r", "ARMED "+armed)
		before := committed(armed)
		member()
		p.until("The offsets of " + armed + " are set on 2 partitions.")
		if got := committed(armed); got != "0 0" {
			t.Errorf("the armed group went from %s to %s, want 0 0", before, got)
		}
		p.press("\x03")
		p.exit()
	})
}

// join makes a member of a classic group that has committed, and returns what ends it.
func join(t *testing.T, k *kafkatest.Cluster, group, topic string, opts ...kgo.Opt) (leave func()) {
	t.Helper()
	opts = append([]kgo.Opt{kgo.ConsumerGroup(group), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(), kgo.ConsumeResetOffset(kgo.NewOffset().AtStart())}, opts...)
	cl := k.Client(t, opts...)
	for seen := map[int32]bool{}; len(seen) < 2; {
		fetches := cl.PollFetches(t.Context())
		if t.Context().Err() != nil {
			t.Fatal(t.Context().Err())
		}
		fetches.EachPartition(func(p kgo.FetchTopicPartition) { seen[p.Partition] = true })
	}
	if err := cl.CommitUncommittedOffsets(t.Context()); err != nil {
		t.Fatal(err)
	}
	return cl.CloseAllowingRebalance
}

// joinAndLeave makes an empty group of the KIP-848 protocol.
func joinAndLeave(t *testing.T, k *kafkatest.Cluster, group, topic string) {
	t.Helper()
	join(t, k, group, topic, kgo.ServerSideBalancer())()
}
