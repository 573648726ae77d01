package kafka

import (
	"crypto/tls"
	"errors"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"flightdeck/kafka/kafkatest"
)

// Real brokers are reached by every protocol and mechanism, and every way to miss them is explained.
func TestRealKafkaConnections(t *testing.T) {
	t.Parallel()
	k := kafkatest.Start(t, kafkatest.Latest(t), kafkatest.Options{
		Listeners: []kafkatest.Listener{kafkatest.SASLPlaintext, kafkatest.SASLSSL, kafkatest.SSL},
		ACLs:      true,
		// One mechanism less than the users have.
		Properties: map[string]string{"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256"},
	})
	at := func(l kafkatest.Listener, change ...func(*Config)) Config {
		cfg := Config{Bootstrap: k.Addrs(l)}
		if l == kafkatest.SSL || l == kafkatest.SASLSSL {
			cfg.TLS = k.TLS()
		}
		for _, c := range change {
			c(&cfg)
		}
		return cfg
	}
	login := func(mechanism, password string) func(*Config) {
		return func(cfg *Config) { cfg.SASL = kafkatest.Mechanism(mechanism, "alice", password) }
	}
	right := kafkatest.Password("alice")
	withTLS := func(cfg *Config) { cfg.TLS = k.TLS() }
	withoutTLS := func(cfg *Config) { cfg.TLS = nil }
	controller := func(cfg *Config) { cfg.Bootstrap = []string{controllerAddress(t, k)} }

	for _, tc := range []struct {
		name string
		cfg  Config
		code string
	}{
		{"PLAINTEXT", at(kafkatest.Plaintext), ""},
		{"SSL with client certificate", at(kafkatest.SSL), ""},
		{"SASL_PLAINTEXT with PLAIN", at(kafkatest.SASLPlaintext, login(kafkatest.Plain, right)), ""},
		{"SASL_SSL with SCRAM", at(kafkatest.SASLSSL, login(kafkatest.ScramSHA256, right)), ""},

		{"wrong SCRAM password", at(kafkatest.SASLSSL, login(kafkatest.ScramSHA256, "wrong")), "wrong_password"},
		{"wrong PLAIN password", at(kafkatest.SASLPlaintext, login(kafkatest.Plain, "wrong")), "wrong_password"},
		{"mechanism not enabled", at(kafkatest.SASLSSL, login(kafkatest.ScramSHA512, right)), "mechanism_not_enabled"},
		{"SASL missing", at(kafkatest.SASLPlaintext), "sasl_missing"},
		{"SASL missing over TLS", at(kafkatest.SASLSSL), "sasl_missing"},
		{"SASL to a listener without", at(kafkatest.Plaintext, login(kafkatest.Plain, right)), "sasl_not_expected"},
		{"TLS to PLAINTEXT", at(kafkatest.Plaintext, withTLS), "tls_to_plaintext"},
		{"TLS to SASL_PLAINTEXT", at(kafkatest.SASLPlaintext, withTLS, login(kafkatest.Plain, right)), "tls_to_plaintext"},
		{"plaintext to SSL", at(kafkatest.SSL, withoutTLS), "plaintext_to_tls"},
		{"plaintext to SASL_SSL", at(kafkatest.SASLSSL, withoutTLS, login(kafkatest.ScramSHA256, right)), "plaintext_to_tls"},
		{"unknown CA", at(kafkatest.SASLSSL, login(kafkatest.ScramSHA256, right), func(cfg *Config) {
			cfg.TLS = &tls.Config{RootCAs: newAuthority(t).pool()}
		}), "unknown_ca"},
		{"wrong name", at(kafkatest.SASLSSL, login(kafkatest.ScramSHA256, right), func(cfg *Config) {
			cfg.TLS.ServerName = "kafka.example"
		}), "certificate_name"},
		{"client certificate missing", at(kafkatest.SSL, func(cfg *Config) { cfg.TLS.Certificates = nil }), "client_certificate_required"},
		{"client certificate of a stranger", at(kafkatest.SSL, func(cfg *Config) {
			stranger := newAuthority(t).issue("client")
			cfg.TLS.Certificates = nil
			cfg.TLS.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &stranger, nil }
		}), "client_certificate_refused"},
		{"port of the controller", at(kafkatest.Plaintext, controller), "sasl_missing"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := Connect(tc.cfg)
			defer c.Close()
			err := c.Check(t.Context())
			code, text := c.Explain(err)
			if code != tc.code {
				t.Errorf("code %q, want %q (%v)", code, tc.code, err)
			}
			if code != "" && !strings.Contains(text, tc.cfg.Bootstrap[0]) {
				t.Errorf("%q does not name %s", text, tc.cfg.Bootstrap[0])
			}
			t.Log(text)
		})
	}

	t.Run("client.properties", func(t *testing.T) {
		for _, l := range []kafkatest.Listener{kafkatest.Plaintext, kafkatest.SSL, kafkatest.SASLPlaintext, kafkatest.SASLSSL} {
			path := k.ClientProperties(t, l, kafkatest.ScramSHA256, "alice")
			p, err := LoadProperties(path)
			if err != nil {
				data, _ := os.ReadFile(path)
				t.Fatalf("%v\n%s", err, data)
			}
			if len(p.Warnings) > 0 {
				t.Errorf("%s: %q", l, p.Warnings)
			}
			c := Connect(Config{Bootstrap: k.Addrs(l), TLS: p.TLS, SASL: p.SASL, ReadOnly: true})
			if err := c.Check(t.Context()); err != nil {
				t.Errorf("%s: %v", l, err)
			}
			c.Close()
		}
	})
}

// controllerAddress asks a broker for the address of the controller, which clients are not told.
func controllerAddress(t *testing.T, k *kafkatest.Cluster) string {
	t.Helper()
	req := kmsg.NewPtrDescribeQuorumRequest()
	topic := kmsg.NewDescribeQuorumRequestTopic()
	topic.Topic = "__cluster_metadata"
	topic.Partitions = append(topic.Partitions, kmsg.NewDescribeQuorumRequestTopicPartition())
	req.Topics = append(req.Topics, topic)
	resp, err := req.RequestWith(t.Context(), k.Client(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range resp.Nodes {
		for _, l := range n.Listeners {
			return net.JoinHostPort(l.Host, strconv.Itoa(int(l.Port)))
		}
	}
	t.Fatalf("no controller in %+v", resp)
	return ""
}

// What a broker offers tells its version, and what cannot be seen on it.
func TestRealKafkaVersion(t *testing.T) {
	t.Parallel()
	kafkatest.Run(t, func(t *testing.T, version string) {
		k := kafkatest.Shared(t, version)
		req := kmsg.NewPtrApiVersionsRequest()
		req.ClientSoftwareName, req.ClientSoftwareVersion = "flightdeck", "1"
		resp, err := req.RequestWith(t.Context(), k.Client(t))
		if err != nil {
			t.Fatal(err)
		}
		want := version[:strings.LastIndexByte(version, '.')]
		if got := kafkaVersion(resp); got != want {
			t.Errorf("version %q, want %q (%s)", got, want, kversion.FromApiVersionsResponse(resp).VersionGuess())
		}
		limits := limitsOf(resp)
		if (len(limits) > 0) != (want < "4.2") {
			t.Errorf("limits: %+v", limits)
		}
	})
}

// A real broker that is killed is said to be gone, not to lack SASL, and comes back.
func TestRealKafkaBrokerKilled(t *testing.T) {
	t.Parallel()
	k := kafkatest.Start(t, kafkatest.Latest(t), kafkatest.Options{})
	c := Connect(Config{Bootstrap: k.Bootstrap()})
	defer c.Close()
	cl, err := c.client(jobPoll)
	if err != nil {
		t.Fatal(err)
	}
	list := func() error {
		_, err := kmsg.NewPtrListGroupsRequest().RequestWith(t.Context(), cl)
		return err
	}
	if err := list(); err != nil {
		t.Fatal(err)
	}
	k.Kill(t, 1)
	kafkatest.Await(t, "the broker refuses connections", func() error {
		err := list()
		code, text := c.Explain(err)
		switch code {
		case "connection_lost":
			return errors.New(text)
		case "refused":
			t.Log(text)
			return nil
		}
		t.Fatalf("%s: %s (%v)", code, text, err)
		return nil
	})
	if c.LastFailure() == nil {
		t.Error("no failure was recorded")
	}
	k.Restart(t, 1)
	kafkatest.Await(t, "the broker answers again", list)
	if err := c.LastFailure(); err != nil {
		t.Errorf("all is well, and the last failure is %v", err)
	}
}

// franz-go keeps a dead coordinator until its metadata changes. The refresh after a failed dial has to be enough for a
// poll to find the new one while the broker stays dead.
func TestRealKafkaDeadCoordinator(t *testing.T) {
	t.Parallel()
	k := kafkatest.Start(t, kafkatest.Latest(t), kafkatest.Options{Nodes: 3})
	c := Connect(Config{Bootstrap: k.Bootstrap()})
	defer c.Close()
	cl, err := c.client(jobPoll)
	if err != nil {
		t.Fatal(err)
	}
	const group = "billing"
	find := kmsg.NewPtrFindCoordinatorRequest()
	find.CoordinatorKey, find.CoordinatorKeys = group, []string{group}
	var coordinator int32
	kafkatest.Await(t, "the group has a coordinator", func() error {
		resp, err := find.RequestWith(t.Context(), cl)
		if err != nil {
			return err
		}
		coordinator = resp.Coordinators[0].NodeID
		return kerr.ErrorForCode(resp.Coordinators[0].ErrorCode)
	})
	fetch := func() error {
		req := kmsg.NewPtrOffsetFetchRequest()
		req.Group = group
		req.Groups = []kmsg.OffsetFetchRequestGroup{{Group: group, MemberEpoch: -1}}
		resp, err := req.RequestWith(t.Context(), cl)
		if err != nil {
			return err
		}
		if len(resp.Groups) > 0 {
			return kerr.ErrorForCode(resp.Groups[0].ErrorCode)
		}
		return kerr.ErrorForCode(resp.ErrorCode)
	}
	kafkatest.Await(t, "the coordinator answers", fetch)
	k.Kill(t, int(coordinator))
	if err := fetch(); err == nil {
		t.Log("the coordinator had moved at once")
	}
	start := time.Now()
	kafkatest.Await(t, "another coordinator answers", fetch)
	t.Logf("recovered %v after the kill", time.Since(start).Round(100*time.Millisecond))
}
