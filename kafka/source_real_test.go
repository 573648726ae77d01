package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

// TestAgreesWithKafkasTools compares members, positions and lag, partition by partition, with what Kafka's own
// commands print for a group of each type.
func TestAgreesWithKafkasTools(t *testing.T) {
	t.Parallel()
	kafkatest.Run(t, func(t *testing.T, version string) {
		c := kafkatest.Shared(t, version)
		topic := kafkatest.Name("orders")
		c.CreateTopic(t, topic, 3)
		for n := range int32(3) {
			c.Produce(t, topic, n, 10)
		}
		classic, modern, shared, simple := kafkatest.Name("classic"), kafkatest.Name("modern"), kafkatest.Name("shared"), kafkatest.Name("simple")
		c.SetGroupConfig(t, shared, "share.auto.offset.reset", "earliest")
		for _, g := range []struct {
			id   string
			opts []kgo.Opt
		}{
			{classic, nil},
			{modern, []kgo.Opt{kgo.ServerSideBalancer()}},
		} {
			for i := range 2 {
				opts := append([]kgo.Opt{kgo.ConsumerGroup(g.id), kgo.ConsumeTopics(topic), kgo.DisableAutoCommit(),
					kgo.ClientID(fmt.Sprintf("%s-%d", g.id, i))}, g.opts...)
				cl := c.Client(t, opts...)
				consume(t, cl)
				if i > 0 {
					continue // it takes over what the first one committed
				}
				kafkatest.Await(t, g.id+" consumes and commits", func() error {
					if len(cl.UncommittedOffsets()) == 0 {
						return errors.New("nothing consumed yet")
					}
					return cl.CommitUncommittedOffsets(t.Context())
				})
			}
		}
		cl := c.Client(t, kgo.ShareGroup(shared), kgo.ConsumeTopics(topic), kgo.ClientID("sharer"))
		for accepted := 0; accepted < 30; {
			cl.PollFetches(t.Context()).EachRecord(func(r *kgo.Record) { r.Ack(kgo.AckAccept); accepted++ })
		}
		if err := cl.FlushAcks(t.Context()); err != nil {
			t.Fatal(err)
		}
		adm := kadm.NewClient(c.Client(t))
		var offsets kadm.Offsets
		offsets.AddOffset(topic, 1, 4, -1)
		if err := adm.CommitAllOffsets(t.Context(), simple, offsets); err != nil {
			t.Fatal(err)
		}
		for n := range int32(3) {
			c.Produce(t, topic, n, int(n)+1)
		}

		s, _ := newSource(t, c.Bootstrap())
		snap := awaitReal(t, s, "all members have partitions", func(snap *model.Snapshot) error {
			for _, id := range []string{classic, modern, shared} {
				g, ok := snap.Group(id)
				if !ok {
					return errors.New("no group " + id)
				}
				assigned := 0
				for _, m := range g.Members {
					assigned += m.Assigned()
				}
				if g.State != "Stable" || assigned != 3 {
					return fmt.Errorf("%s is %s with %d partitions of 3", id, g.State, assigned)
				}
			}
			return nil
		})
		if len(snap.Problems) > 0 || snap.Cluster.Share != model.ShareOn || !strings.HasPrefix(version, snap.Cluster.Version) {
			t.Errorf("cluster %+v, problems %v", snap.Cluster, snap.Problems)
		}
		for id, typ := range map[string]model.GroupType{classic: model.TypeClassic, simple: model.TypeClassic, modern: model.TypeConsumer, shared: model.TypeShare} {
			if g := group(t, snap, id); g.Type != typ || !g.Operations.Known() {
				t.Errorf("%s: %+v", id, g)
			}
		}
		out, err := c.Tool(t.Context(), kafkatest.ConsumerGroupCommand, "--bootstrap-server", c.Bootstrap()[0], "--describe", "--offsets",
			"--group", classic, "--group", modern, "--group", simple)
		if err != nil {
			t.Fatal(err)
		}
		var ours []string
		for _, id := range []string{classic, modern, simple} {
			ours = append(ours, consumerRows(group(t, snap, id))...)
		}
		sameRows(t, ours, toolRows(out, "GROUP", "TOPIC", "PARTITION", "CURRENT-OFFSET", "LOG-END-OFFSET", "LAG", "CONSUMER-ID", "HOST", "CLIENT-ID"), out)

		read, err := s.ShareOffsets(t.Context(), []string{shared})
		if err != nil {
			t.Fatal(err)
		}
		merged := group(t, snap.WithShareOffsets(read), shared)
		out, err = c.Tool(t.Context(), kafkatest.ShareGroupCommand, "--bootstrap-server", c.Bootstrap()[0], "--describe", "--group", shared)
		if err != nil {
			t.Fatal(err)
		}
		columns := []string{"GROUP", "TOPIC", "PARTITION", "START-OFFSET", "LAG"}
		ours = nil
		for _, p := range merged.Partitions {
			row := []string{merged.ID, p.Topic, fmt.Sprint(p.Number), dash(p.Position), dash(p.Lag)}
			if strings.HasPrefix(version, "4.1") {
				row = row[:4] // neither the broker nor the tool knows the lag
			}
			ours = append(ours, strings.Join(row, " "))
			if end := int64(11 + p.Number); p.End != model.Some(end) {
				t.Errorf("end of %s/%d: %v", p.Topic, p.Number, p.End)
			}
		}
		if strings.HasPrefix(version, "4.1") {
			columns = columns[:4]
		}
		sameRows(t, ours, toolRows(out, columns...), out)
		out, err = c.Tool(t.Context(), kafkatest.ShareGroupCommand, "--bootstrap-server", c.Bootstrap()[0], "--describe", "--members", "--group", shared)
		if err != nil {
			t.Fatal(err)
		}
		ours = nil
		for _, m := range merged.Members {
			ours = append(ours, strings.Join([]string{merged.ID, m.ID, "/" + m.Host, m.ClientID, fmt.Sprint(m.Assigned())}, " "))
		}
		sameRows(t, ours, toolRows(out, "GROUP", "CONSUMER-ID", "HOST", "CLIENT-ID", "#PARTITIONS"), out)
	})
}

// awaitReal polls until ok is satisfied with the snapshot.
func awaitReal(t *testing.T, s *Source, what string, ok func(*model.Snapshot) error) *model.Snapshot {
	t.Helper()
	var snap *model.Snapshot
	kafkatest.Await(t, what, func() error {
		var err error
		if snap, err = s.Snapshot(t.Context(), model.Want{}); err != nil {
			return err
		}
		return ok(snap)
	})
	return snap
}

// consumerRows are the rows of ConsumerGroupCommand --describe.
func consumerRows(g *model.Group) []string {
	var rows []string
	for _, p := range g.Partitions {
		id, host, client := "-", "-", "-"
		if p.Member != model.NoMember {
			m := g.Members[p.Member]
			id, host, client = m.ID, "/"+m.Host, m.ClientID
		}
		rows = append(rows, strings.Join([]string{g.ID, p.Topic, fmt.Sprint(p.Number), dash(p.Position), dash(p.End), dash(p.Lag), id, host, client}, " "))
	}
	return rows
}

func dash(v model.Int) string {
	if n, ok := v.Get(); ok {
		return strconv.FormatInt(n, 10)
	}
	return "-"
}

// toolRows are rows of a table that a tool printed, reduced to some columns, by the tool's own headings.
func toolRows(out string, columns ...string) []string {
	var rows []string
	var heads []string
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 0:
		case fields[0] == columns[0]:
			heads = fields
		case len(fields) >= len(heads) && heads != nil:
			row := make([]string, len(columns))
			for i, c := range columns {
				if j := slices.Index(heads, c); j >= 0 {
					row[i] = fields[j]
				}
			}
			rows = append(rows, strings.Join(row, " "))
		}
	}
	return rows
}

func sameRows(t *testing.T, ours, theirs []string, out string) {
	t.Helper()
	slices.Sort(ours)
	slices.Sort(theirs)
	if len(ours) == 0 || !slices.Equal(ours, theirs) {
		t.Errorf("flightdeck:\n%s\nKafka's tool:\n%s\nin full:\n%s", strings.Join(ours, "\n"), strings.Join(theirs, "\n"), out)
	}
}

// TestRequestsOnRealKafka holds what a poll costs against a broker's own answers.
func TestRequestsOnRealKafka(t *testing.T) {
	c := kafkatest.Shared(t, kafkatest.Latest(t))
	topic := kafkatest.Name("many")
	c.CreateTopic(t, topic, 2)
	prefix := kafkatest.Name("count")
	const groups = 1100
	kafkatest.CommitMany(t, c.Client(t), prefix, groups, topic, 2)
	s, w := newSource(t, c.Bootstrap())
	only := model.Want{OnlyGroups: func(id string) bool { return strings.HasPrefix(id, prefix) }}
	snap := snapshot(t, s, only)
	if len(snap.Groups) != groups || snap.Groups[groups-1].Partitions[1].Position != model.Some[int64](1) {
		t.Errorf("%d groups of %d", len(snap.Groups), groups)
	}
	checkRequests(t, w.since(nil), map[kmsg.Key]int{
		kmsg.ApiVersions: 3, kmsg.Metadata: 1, kmsg.DescribeCluster: 1, kmsg.ListGroups: 1,
		kmsg.DescribeGroups: 3, kmsg.OffsetFetch: 3, kmsg.ListOffsets: 2,
	})
	before := w.seen()
	snapshot(t, s, only)
	checkRequests(t, w.since(before), map[kmsg.Key]int{
		kmsg.Metadata: 1, kmsg.ListGroups: 1, kmsg.OffsetFetch: 3, kmsg.ListOffsets: 1,
	})
}

func TestShareGroupsSwitchedOff(t *testing.T) {
	t.Parallel()
	versions := kafkatest.Versions(t)
	c := kafkatest.Start(t, versions[0], kafkatest.Options{ShareVersion: "0"})
	s, _ := newSource(t, c.Bootstrap())
	snap := snapshot(t, s, model.Want{})
	if snap.Cluster.Share != model.ShareOff {
		t.Errorf("%+v", snap.Cluster)
	}
	if !slices.ContainsFunc(snap.Problems, func(p model.Problem) bool { return p.Scope == model.ScopeShare && p.Code == "share_version_0" }) {
		t.Errorf("problems %v", snap.Problems)
	}
}

// TestRights looks at a cluster as a user who may see a part of it.
func TestRights(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, kafkatest.Latest(t), kafkatest.Options{ACLs: true, Listeners: []kafkatest.Listener{kafkatest.SASLPlaintext}})
	c.CreateTopic(t, "open", 1)
	c.CreateTopic(t, "secret", 1)
	for _, g := range []struct {
		id    string
		topic []string
		opts  []kgo.Opt
	}{
		{"plain", []string{"open"}, nil},
		{"mixed", []string{"open", "secret"}, nil},
		{"mixed-modern", []string{"open", "secret"}, []kgo.Opt{kgo.ServerSideBalancer()}},
		{"unseen", []string{"open"}, nil},
	} {
		consume(t, c.Client(t, append([]kgo.Opt{kgo.ConsumerGroup(g.id), kgo.ConsumeTopics(g.topic...)}, g.opts...)...))
	}
	c.Produce(t, "open", 0, 5)
	c.Produce(t, "secret", 0, 5)
	adm := kadm.NewClient(c.Client(t))
	acls := kadm.NewACLs().Allow("User:alice").AllowHosts().Topics("open").Groups("plain", "mixed", "mixed-modern").Operations(kadm.OpDescribe).
		ResourcePatternType(kadm.ACLPatternLiteral)
	if results, err := adm.CreateACLs(t.Context(), acls); err != nil {
		t.Fatal(err)
	} else {
		for _, r := range results {
			if r.Err != nil {
				t.Fatal(r.Err)
			}
		}
	}
	conn := Connect(Config{Bootstrap: c.Addrs(kafkatest.SASLPlaintext), SASL: kafkatest.Mechanism(kafkatest.ScramSHA256, "alice", kafkatest.Password("alice"))})
	t.Cleanup(conn.Close)
	s := NewSource(conn)
	t.Cleanup(s.Close)
	snap := awaitReal(t, s, "the groups are stable", func(snap *model.Snapshot) error {
		g, ok := snap.Group("mixed")
		if !ok || len(g.Members) != 1 || g.Members[0].Assigned() != 2 || len(g.Partitions) != 2 || !g.Partitions[0].Position.Known() {
			return fmt.Errorf("%+v", g)
		}
		if g, ok := snap.Group("mixed-modern"); !ok || len(g.Problems) == 0 {
			return fmt.Errorf("%+v", g)
		}
		if g, ok := snap.Group("plain"); !ok || len(g.Members) != 1 || !g.Partitions[0].Position.Known() {
			return fmt.Errorf("%+v", g)
		}
		return nil
	})
	if _, ok := snap.Group("unseen"); ok {
		t.Error("a group is seen that the user may not see")
	}
	if g := group(t, snap, "plain"); g.Hidden || len(g.Problems) > 0 || model.Allowed(g.Operations, model.OpDelete) {
		t.Errorf("plain: %+v", g)
	}
	mixed := group(t, snap, "mixed")
	if _, partial := mixed.Lag(); !mixed.Hidden || !partial || len(mixed.Problems) != 1 {
		t.Errorf("mixed: %+v", mixed)
	}
	if p, ok := mixed.Partition("secret", 0); !ok || p.Deleted || p.End.Known() {
		t.Errorf("secret: %+v", p)
	}
	modern := group(t, snap, "mixed-modern")
	if !modern.Hidden || modern.Problems[0].Code != "TOPIC_AUTHORIZATION_FAILED" {
		t.Errorf("mixed-modern: %+v", modern)
	}
	if model.Allowed(snap.Cluster.Operations, model.OpDescribe) || !slices.Contains(snap.Problems, hiddenGroupsProblem) {
		t.Errorf("operations %v, problems %v", snap.Cluster.Operations, snap.Problems)
	}
}

// TestBrokerDies kills a broker that coordinates groups and leads partitions.
func TestBrokerDies(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, kafkatest.Latest(t), kafkatest.Options{Nodes: 3})
	c.CreateTopic(t, "orders", 6)
	cl := c.Client(t)
	kafkatest.CommitMany(t, cl, "g-", 30, "orders", 6)
	s, _ := newSource(t, c.Bootstrap())
	last := awaitReal(t, s, "all groups are read", func(snap *model.Snapshot) error {
		if len(snap.Groups) != 30 || snap.Cluster.Up() != 3 || len(snap.Problems) > 0 {
			return fmt.Errorf("%d groups, problems %v", len(snap.Groups), snap.Problems)
		}
		return nil
	})
	victim := last.Groups[0].Coordinator
	c.Kill(t, int(victim))
	killed := time.Now()
	stale := 0
	for recovered := false; !recovered; {
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		snap, err := s.Snapshot(ctx, model.Want{})
		cancel()
		if err != nil {
			t.Fatalf("%v after the kill: %v", time.Since(killed), err)
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%v after the kill a poll took %v", time.Since(killed), took)
		}
		if len(snap.Groups) != 30 {
			t.Fatalf("%v after the kill there are %d groups of 30", time.Since(killed), len(snap.Groups))
		}
		recovered = true
		for _, g := range snap.Groups {
			if len(g.Partitions) != 6 {
				t.Errorf("%v after the kill group %s has %d partitions of 6", time.Since(killed), g.ID, len(g.Partitions))
			}
			if g.OffsetsAt != snap.At {
				stale++
				recovered = false
			}
			for _, p := range g.Partitions {
				if !p.Position.Known() || p.Beyond > 1 {
					t.Errorf("%v after the kill: %s %+v", time.Since(killed), g.ID, p)
				}
			}
		}
		for _, topic := range snap.Topics {
			for _, p := range topic.Partitions {
				recovered = recovered && (topic.Name != "orders" || p.At == snap.At)
			}
		}
		if down, ok := brokerOf(snap, victim); !ok || down.Up || down.Why == "" {
			t.Errorf("%v after the kill: %+v", time.Since(killed), down)
		}
		if time.Since(killed) > 40*time.Second {
			t.Fatalf("not recovered after %v: %+v", time.Since(killed), snap)
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Logf("all groups and partitions were live again %v after the kill; %d rows were stale in between", time.Since(killed).Round(100*time.Millisecond), stale)
	if stale == 0 {
		t.Error("no group was ever stale, so nothing was tested")
	}
	c.Restart(t, int(victim))
	restarted := time.Now()
	awaitReal(t, s, "the broker is back", func(snap *model.Snapshot) error {
		if snap.Cluster.Up() != 3 || len(snap.Problems) > 0 || len(snap.Groups) != 30 {
			return fmt.Errorf("%d brokers up, problems %v", snap.Cluster.Up(), snap.Problems)
		}
		return nil
	})
	t.Logf("the broker was back on screen %v after it served again", time.Since(restarted).Round(100*time.Millisecond))
}

func brokerOf(snap *model.Snapshot, node int32) (model.Broker, bool) {
	for _, b := range snap.Cluster.Brokers {
		if b.ID == node {
			return b, true
		}
	}
	return model.Broker{}, false
}
