package kafkatest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestMain(m *testing.M) { Main(m) }

func TestSharedServes(t *testing.T) {
	Run(t, func(t *testing.T, version string) {
		c := Shared(t, version)
		if again := Shared(t, version); again != c {
			t.Error("a second call started another cluster")
		}

		want := int16(1)
		if strings.HasPrefix(version, "4.4.") {
			want = 2
		}
		if got := shareVersion(t, c); got != want {
			t.Errorf("share.version is finalised at %d, want %d", got, want)
		}

		topic := Name("serves")
		c.CreateTopic(t, topic, 2)
		c.Produce(t, topic, 1, 3)
		if got := endOffset(t, c, topic, 1); got != 3 {
			t.Errorf("log end offset is %d after 3 records", got)
		}

		t.Run("tool", func(t *testing.T) {
			out, err := c.Tool(t.Context(), ConsumerGroupCommand, "--bootstrap-server", c.Bootstrap()[0], "--list")
			if err != nil {
				t.Fatal(err)
			}
			if out := strings.TrimSpace(out); out != "" {
				t.Errorf("a cluster without groups lists %q", out)
			}
			_, err = c.Tool(t.Context(), ConsumerGroupCommand, "--no-such-option")
			if err == nil || !strings.Contains(err.Error(), "no-such-option") {
				t.Errorf("the error of a failing tool is %v, without its reason", err)
			}
		})

		t.Run("share group delivers", func(t *testing.T) { consumeShared(t, c, topic) })
	})
}

// consumeShared has Kafka's own share consumer take the three records of topic.
func consumeShared(t *testing.T, c *Cluster, topic string) {
	group := Name("share")
	c.SetGroupConfig(t, group, "share.auto.offset.reset", "earliest")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, err := c.Tool(ctx, ConsoleShareConsumer, "--bootstrap-server", c.Bootstrap()[0],
		"--topic", topic, "--group", group, "--max-messages", "3")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Fields(out); fmt.Sprint(got) != "[0 1 2]" {
		t.Errorf("consumed %q, want 0 1 2", got)
	}
}

func TestKillAndRestart(t *testing.T) {
	t.Parallel()
	c := Start(t, Latest(t), Options{})
	topic := Name("kept")
	c.CreateTopic(t, topic, 1)
	c.Produce(t, topic, 0, 5)

	end := map[string]func(testing.TB, int){"kill": c.Kill, "stop": c.Stop}
	for _, name := range []string{"kill", "stop"} {
		t.Run(name, func(t *testing.T) {
			end[name](t, 1)
			if conn, err := net.Dial("tcp", c.Bootstrap()[0]); err == nil {
				conn.Close()
				t.Error("the node still listens")
			}
			c.Restart(t, 1)
			if got := endOffset(t, c, topic, 0); got != 5 {
				t.Errorf("log end offset is %d after the restart, want 5", got)
			}
		})
	}
}

func TestFailureToStartSaysWhy(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    Options
		want string
	}{
		{"setting that no node takes", Options{Properties: map[string]string{"log.retention.ms": "a week"}}, "log.retention.ms"},
		{"setting that fails when it serves", Options{Properties: map[string]string{"metric.reporters": "no.such.Reporter"}}, "no.such.Reporter cannot be found"},
		{"two nodes", Options{Nodes: 2}, "1 or 3"},
		{"listener that is none", Options{Listeners: []Listener{"HTTP"}}, "HTTP"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := launch(Latest(t), tt.o, t.TempDir())
			if err == nil {
				c.close()
				t.Fatal("it started")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("the error does not name %s: %v", tt.want, err)
			}
		})
	}
}

func TestShareVersionOff(t *testing.T) {
	c := Start(t, Latest(t), Options{ShareVersion: "0"})
	if got := shareVersion(t, c); got != 0 {
		t.Errorf("share.version is finalised at %d", got)
	}
}

func TestThreeNodes(t *testing.T) {
	t.Parallel()
	c := Start(t, Latest(t), Options{Nodes: 3})
	topic := Name("replicated")
	c.CreateTopic(t, topic, 3)
	c.Produce(t, topic, 2, 1)

	c.Kill(t, 2)
	adm := kadm.NewClient(c.Client(t))
	Await(t, "node 2 leads nothing", func() error {
		m, err := adm.Metadata(t.Context(), topic)
		if err != nil {
			return err
		}
		for _, p := range m.Topics[topic].Partitions.Sorted() {
			if p.Leader == 2 || p.Leader < 0 {
				return fmt.Errorf("partition %d is led by %d", p.Partition, p.Leader)
			}
		}
		return nil
	})

	c.Restart(t, 2)
	Await(t, "all replicas are in sync again", func() error {
		m, err := adm.Metadata(t.Context(), topic)
		if err != nil {
			return err
		}
		for _, p := range m.Topics[topic].Partitions.Sorted() {
			if len(p.ISR) != 3 {
				return fmt.Errorf("ISR of partition %d is %v", p.Partition, p.ISR)
			}
		}
		return nil
	})
}

func TestSecurity(t *testing.T) {
	t.Parallel()
	c := Start(t, Latest(t), Options{Listeners: []Listener{SASLPlaintext, SASLSSL, SSL}, ACLs: true})
	topic := Name("guarded")
	c.CreateTopic(t, topic, 1)
	c.Produce(t, topic, 0, 1)
	acls := kadm.NewACLs().Topics(topic).ResourcePatternType(kadm.ACLPatternLiteral).
		Allow("User:alice", "User:CN=client").AllowHosts("*").Operations(kadm.OpDescribe)
	results, err := kadm.NewClient(c.Client(t)).CreateACLs(t.Context(), acls)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range results {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}

	for _, tt := range []struct {
		name      string
		listener  Listener
		mechanism string
		user      string
		want      error
	}{
		{"super user over SASL_SSL with SCRAM", SASLSSL, ScramSHA256, "admin", nil},
		{"user with the right over SASL_SSL with SCRAM", SASLSSL, ScramSHA512, "alice", nil},
		{"user without the right over SASL_SSL with SCRAM", SASLSSL, ScramSHA256, "bob", kerr.TopicAuthorizationFailed},
		{"user with the right over SASL_SSL with PLAIN", SASLSSL, Plain, "alice", nil},
		{"user without the right over SASL_PLAINTEXT with PLAIN", SASLPlaintext, Plain, "bob", kerr.TopicAuthorizationFailed},
		{"user with the right over SASL_PLAINTEXT with SCRAM", SASLPlaintext, ScramSHA256, "alice", nil},
		{"client certificate", SSL, "", "", nil},
		{"unknown user", SASLSSL, ScramSHA256, "mallory", kerr.SaslAuthenticationFailed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cl, err := kgo.NewClient(c.ClientOpts(tt.listener, tt.mechanism, tt.user)...)
			if err != nil {
				t.Fatal(err)
			}
			defer cl.Close()
			m, err := kadm.NewClient(cl).Metadata(t.Context(), topic)
			if err == nil {
				err = m.Topics[topic].Err
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("Metadata of the topic: %v, want %v", err, tt.want)
			}
		})
	}

	t.Run("tool with client.properties", func(t *testing.T) {
		out, err := c.Tool(t.Context(), "org.apache.kafka.tools.TopicCommand", "--bootstrap-server", c.Addrs(SASLSSL)[0],
			"--command-config", c.ClientProperties(t, SASLSSL, ScramSHA256, "alice"), "--list")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.TrimSpace(out); got != topic {
			t.Errorf("alice sees the topics %q, want %q", got, topic)
		}
	})
}

// shareVersion returns the finalised level of the feature share.version, 0 when it has none.
func shareVersion(t *testing.T, c *Cluster) int16 {
	t.Helper()
	req := kmsg.NewPtrApiVersionsRequest()
	req.ClientSoftwareName, req.ClientSoftwareVersion = "kafkatest", "1"
	resp, err := req.RequestWith(t.Context(), c.Client(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range resp.FinalizedFeatures {
		if f.Name == "share.version" {
			return f.MaxVersionLevel
		}
	}
	return 0
}

func endOffset(t *testing.T, c *Cluster, topic string, partition int32) int64 {
	t.Helper()
	offsets, err := kadm.NewClient(c.Client(t)).ListEndOffsets(t.Context(), topic)
	if err != nil {
		t.Fatal(err)
	}
	o, ok := offsets.Lookup(topic, partition)
	if !ok || o.Err != nil {
		t.Fatalf("log end offset of %s/%d: %v", topic, partition, o.Err)
	}
	return o.Offset
}
