package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Each case makes a failure happen for real and must get its own code, with the address in the sentence.
func TestCheckExplainsFailures(t *testing.T) {
	ca := newAuthority(t)
	trusting := &tls.Config{RootCAs: ca.pool()}
	mallory := scram.Auth{User: "mallory", Pass: "wrong"}.AsSha256Mechanism()

	cases := []struct {
		name  string
		start func(t *testing.T) Config
		code  string
		words []string // besides the address of the first bootstrap server
	}{
		{"refused", func(t *testing.T) Config {
			return Config{Bootstrap: []string{closedPort(t)}}
		}, "refused", []string{"nothing listens"}},
		{"never answers", func(t *testing.T) Config {
			return Config{Bootstrap: []string{serve(t, silence)}}
		}, "silent_after_connect", []string{"does not answer"}},
		{"unknown host", func(t *testing.T) Config {
			return Config{Bootstrap: []string{"nowhere.invalid:9092"}, Dial: func(context.Context, string, string) (net.Conn, error) {
				return nil, &net.OpError{Op: "dial", Err: &net.DNSError{Err: "no such host", Name: "nowhere.invalid", IsNotFound: true}}
			}}
		}, "unknown_host", []string{"no host nowhere.invalid"}},
		{"TLS to plaintext", func(t *testing.T) Config {
			return Config{Bootstrap: []string{serve(t, hangUp)}, TLS: trusting}
		}, "tls_to_plaintext", []string{"security.protocol", "PLAINTEXT"}},
		{"plaintext to TLS", func(t *testing.T) Config {
			return Config{Bootstrap: []string{serve(t, func(c net.Conn) {
				_, _ = c.Read(make([]byte, 1))
				_, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 80}) // an alert: fatal, internal error
				silence(c)
			})}}
		}, "plaintext_to_tls", []string{"security.protocol", "SSL"}},
		{"closed at once", func(t *testing.T) Config {
			return Config{Bootstrap: []string{serve(t, hangUp)}}
		}, "closed_at_once", []string{"security.protocol"}},
		{"HTTP", func(t *testing.T) Config {
			return Config{Bootstrap: []string{serveHTTP(t)}}
		}, "http_port", []string{"HTTP"}},
		{"HTTP with TLS", func(t *testing.T) Config {
			return Config{Bootstrap: []string{serveHTTP(t)}, TLS: trusting}
		}, "http_port", []string{"HTTP"}},
		{"not Kafka", func(t *testing.T) Config {
			return Config{Bootstrap: []string{serve(t, func(c net.Conn) {
				_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.9\r\n")
				silence(c)
			})}}
		}, "not_kafka", nil},
		{"wrong PLAIN password", func(t *testing.T) Config {
			c := cluster(t, kfake.EnableSASL(), kfake.Superuser("PLAIN", "admin", "right"))
			refuseLogin(c)
			return Config{Bootstrap: c.ListenAddrs(), SASL: plain.Auth{User: "admin", Pass: "wrong"}.AsMechanism()}
		}, "wrong_password", []string{"PLAIN", "sasl.jaas.config"}},
		{"wrong SCRAM password", func(t *testing.T) Config {
			c := cluster(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "mallory", "right"))
			refuseLogin(c)
			return Config{Bootstrap: c.ListenAddrs(), SASL: mallory}
		}, "wrong_password", []string{"SCRAM-SHA-256"}},
		{"closed during SASL", func(t *testing.T) Config {
			c := cluster(t, kfake.EnableSASL(), kfake.Superuser("SCRAM-SHA-256", "mallory", "right"))
			return Config{Bootstrap: c.ListenAddrs(), SASL: mallory}
		}, "closed_in_sasl", []string{"SCRAM-SHA-256"}},
		{"mechanism not enabled", func(t *testing.T) Config {
			c := cluster(t, kfake.EnableSASL())
			c.ControlKey(kmsg.SASLHandshake.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
				resp := kmsg.NewPtrSASLHandshakeResponse()
				resp.ErrorCode = kerr.UnsupportedSaslMechanism.Code
				resp.SupportedMechanisms = []string{"SCRAM-SHA-512"}
				return resp, nil, true
			})
			return Config{Bootstrap: c.ListenAddrs(), SASL: mallory}
		}, "mechanism_not_enabled", []string{"SCRAM-SHA-256", "sasl.enabled.mechanisms"}},
		{"SASL missing", func(t *testing.T) Config {
			return Config{Bootstrap: []string{serve(t, apiVersionsOnly)}}
		}, "sasl_missing", []string{"security.protocol", "controller"}},
		{"SASL not expected", func(t *testing.T) Config {
			c := cluster(t)
			c.ControlKey(kmsg.SASLHandshake.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
				resp := kmsg.NewPtrSASLHandshakeResponse()
				resp.ErrorCode = kerr.IllegalSaslState.Code
				return resp, nil, true
			})
			return Config{Bootstrap: c.ListenAddrs(), SASL: mallory}
		}, "sasl_not_expected", nil},
		{"unknown CA", func(t *testing.T) Config {
			c := cluster(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{ca.issue("127.0.0.1")}}))
			return Config{Bootstrap: c.ListenAddrs(), TLS: &tls.Config{RootCAs: newAuthority(t).pool()}}
		}, "unknown_ca", []string{"ssl.truststore.location"}},
		{"expired certificate", func(t *testing.T) Config {
			c := cluster(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{ca.issue("127.0.0.1", expired)}}))
			return Config{Bootstrap: c.ListenAddrs(), TLS: trusting}
		}, "certificate_expired", []string{"2 January 2020"}},
		{"wrong name", func(t *testing.T) Config {
			c := cluster(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{ca.issue("kafka.example")}}))
			return Config{Bootstrap: c.ListenAddrs(), TLS: trusting}
		}, "certificate_name", []string{"kafka.example", "not for 127.0.0.1"}},
		{"client certificate required", func(t *testing.T) Config {
			c := cluster(t, kfake.TLS(&tls.Config{
				Certificates: []tls.Certificate{ca.issue("127.0.0.1")},
				ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: ca.pool(),
			}))
			return Config{Bootstrap: c.ListenAddrs(), TLS: trusting}
		}, "client_certificate_required", []string{"ssl.keystore.location"}},
		{"client certificate refused", func(t *testing.T) Config {
			c := cluster(t, kfake.TLS(&tls.Config{
				Certificates: []tls.Certificate{ca.issue("127.0.0.1")},
				ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: ca.pool(),
			}))
			stranger := newAuthority(t).issue("client")
			return Config{Bootstrap: c.ListenAddrs(), TLS: &tls.Config{RootCAs: ca.pool(), GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
				return &stranger, nil
			}}}
		}, "client_certificate_refused", nil},
		{"no TLS version in common", func(t *testing.T) Config {
			c := cluster(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{ca.issue("127.0.0.1")}, MinVersion: tls.VersionTLS13}))
			return Config{Bootstrap: c.ListenAddrs(), TLS: &tls.Config{RootCAs: ca.pool(), MaxVersion: tls.VersionTLS12}}
		}, "tls_version", []string{"ssl.enabled.protocols"}},
		{"advertised address unreachable", func(t *testing.T) Config {
			c, closed := cluster(t), closedPort(t)
			advertise(c, closed)
			return Config{Bootstrap: c.ListenAddrs()}
		}, "advertised_unreachable", []string{"advertised.listeners", "advertises the address 127.0.0.1:"}},
		{"advertised address not Kafka", func(t *testing.T) Config {
			c, other := cluster(t), serveHTTP(t)
			advertise(c, other)
			return Config{Bootstrap: c.ListenAddrs()}
		}, "http_port", []string{"advertises the address 127.0.0.1:"}},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			cfg := tc.start(t)
			ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
			defer cancel()
			c := Connect(cfg)
			defer c.Close()
			err := c.Check(ctx)
			if err == nil {
				t.Fatal("the check found nothing wrong")
			}
			if ctx.Err() != nil {
				t.Fatal("the check took more than 10 s")
			}
			code, text := c.Explain(err)
			t.Log(text)
			if code != tc.code {
				t.Errorf("code %q, want %q (%v)", code, tc.code, err)
			}
			words := tc.words
			if !strings.Contains(text, "advertises") {
				words = append(words, cfg.Bootstrap[0])
			}
			for _, w := range words {
				if !strings.Contains(text, w) {
					t.Errorf("%q does not say %q", text, w)
				}
			}
			if c.LastFailure() == nil {
				t.Error("the failure was not recorded")
			}
		})
	}
}

// Ports that swallow everything, in fake time: each within 10 s, and with every bootstrap server tried.
func TestCheckOfSilentPorts(t *testing.T) {
	swallow := func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, &net.OpError{Op: "dial", Err: context.DeadlineExceeded}
	}
	accept := func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go silence(there)
		return here, nil
	}
	for name, tc := range map[string]struct {
		dial func(context.Context, string, string) (net.Conn, error)
		tls  *tls.Config
		code string
	}{
		"no connection":  {swallow, nil, "silent"},
		"no answer":      {accept, nil, "silent_after_connect"},
		"no TLS answer":  {accept, new(tls.Config), "silent_tls"},
		"no TLS connect": {swallow, new(tls.Config), "silent"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var mu sync.Mutex
				tried := map[string]bool{}
				c := Connect(Config{Bootstrap: []string{"one:9092", "two:9092"}, TLS: tc.tls, Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
					mu.Lock()
					tried[address] = true
					mu.Unlock()
					return tc.dial(ctx, network, address)
				}})
				defer c.Close()
				start := time.Now()
				err := c.Check(t.Context())
				if took := time.Since(start); took > 10*time.Second {
					t.Errorf("took %v", took)
				}
				code, text := c.Explain(err)
				if code != tc.code || !strings.Contains(text, ":9092") {
					t.Errorf("%s: %s (%v)", code, text, err)
				}
				mu.Lock()
				defer mu.Unlock()
				if len(tried) != 2 {
					t.Errorf("tried only %v", tried)
				}
			})
		})
	}
}

// The first bootstrap server is dead and the second works: the connection works.
func TestCheckWithOneDeadBootstrapServer(t *testing.T) {
	c := Connect(Config{Bootstrap: append([]string{closedPort(t)}, cluster(t).ListenAddrs()...)})
	defer c.Close()
	if err := c.Check(t.Context()); err != nil {
		t.Error(c.Explain(err))
	}
}

// When a broker dies after it worked, it is not said that SASL is missing or that the address is wrong.
func TestExplainBrokerThatDied(t *testing.T) {
	k := cluster(t)
	c := Connect(Config{Bootstrap: k.ListenAddrs()})
	defer c.Close()
	cl, err := c.client(jobPoll)
	if err != nil {
		t.Fatal(err)
	}
	if err := cl.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if c.LastFailure() != nil {
		t.Errorf("a failure while all is well: %v", c.LastFailure())
	}
	k.ControlKey(kmsg.ListGroups.Int16(), func(kmsg.Request) (kmsg.Response, error, bool) {
		k.KeepControl()
		return nil, errors.New("cut"), true
	})
	_, err = kmsg.NewPtrListGroupsRequest().RequestWith(t.Context(), cl)
	if code, text := c.Explain(err); code != "connection_lost" {
		t.Errorf("%s: %s (%v)", code, text, err)
	}
	k.Close()
	_, _ = kmsg.NewPtrListGroupsRequest().RequestWith(t.Context(), cl) // on the connection that was open
	_, err = kmsg.NewPtrListGroupsRequest().RequestWith(t.Context(), cl)
	if code, text := c.Explain(err); code != "refused" {
		t.Errorf("%s: %s (%v)", code, text, err)
	}
}

// A deadline of the caller says nothing; the cause is taken from what happened below it.
func TestExplainDeadline(t *testing.T) {
	c := Connect(Config{Bootstrap: []string{closedPort(t)}})
	defer c.Close()
	if code, _ := c.Explain(context.DeadlineExceeded); code != "timeout" {
		t.Errorf("without a cause: %q", code)
	}
	_ = c.Check(t.Context())
	if code, text := c.Explain(context.DeadlineExceeded); code != "refused" {
		t.Errorf("with a cause: %q, %s", code, text)
	}
}

func TestCloseClosesClients(t *testing.T) {
	c := Connect(Config{Bootstrap: cluster(t).ListenAddrs()})
	cl, err := c.client(jobPoll)
	if err != nil {
		t.Fatal(err)
	}
	own, err := c.client(jobFollow)
	if err != nil {
		t.Fatal(err)
	}
	own.Close()
	if len(c.clients) != 1 {
		t.Errorf("%d clients are kept, want 1", len(c.clients))
	}
	c.Close()
	if err := cl.Ping(t.Context()); err == nil {
		t.Error("the client still works")
	} else if code, _ := c.Explain(err); code != "closed" {
		t.Errorf("code %q", code)
	}
	if _, err := c.client(jobPoll); !errors.Is(err, ErrClosed) {
		t.Errorf("a closed connection made a client: %v", err)
	}
}

func cluster(t *testing.T, opts ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	c, err := kfake.NewCluster(append([]kfake.Opt{kfake.NumBrokers(1)}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// advertise makes a cluster give another address for its only broker.
func advertise(c *kfake.Cluster, address string) {
	host, port, _ := strings.Cut(address, ":")
	c.ControlKey(kmsg.Metadata.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.MetadataResponse)
		b := kmsg.NewMetadataResponseBroker()
		b.Host = host
		for _, d := range port {
			b.Port = b.Port*10 + d - '0'
		}
		resp.Brokers = append(resp.Brokers, b)
		return resp, nil, true
	})
}

// closedPort is an address where nothing listens.
func closedPort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// serve listens and gives every connection to handle, which owns it until the test ends.
func serve(t *testing.T, handle func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				handle(c)
			}()
		}
	}()
	return l.Addr().String()
}

// silence reads until the client gives up.
func silence(c net.Conn) { _, _ = io.Copy(io.Discard, c) }

func hangUp(c net.Conn) { _, _ = c.Read(make([]byte, 1)) }

// refuseLogin answers every password as Kafka answers a wrong one; kfake hangs up.
func refuseLogin(c *kfake.Cluster) {
	c.ControlKey(kmsg.SASLAuthenticate.Int16(), func(req kmsg.Request) (kmsg.Response, error, bool) {
		c.KeepControl()
		resp := req.ResponseKind().(*kmsg.SASLAuthenticateResponse)
		resp.ErrorCode = kerr.SaslAuthenticationFailed.Code
		resp.ErrorMessage = kmsg.StringPtr("Authentication failed: Invalid username or password")
		return resp, nil, true
	})
}

func serveHTTP(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.NotFoundHandler()}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(func() { server.Close() })
	return l.Addr().String()
}

// apiVersionsOnly answers the first request and hangs up at the second, as a SASL listener does when no
// SASL comes.
func apiVersionsOnly(c net.Conn) {
	head, err := readFrame(c)
	if err != nil {
		return
	}
	resp := kmsg.NewPtrApiVersionsResponse()
	for key := range int16(kmsg.MaxKey) {
		resp.ApiKeys = append(resp.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: key, MaxVersion: kmsg.RequestForKey(key).MaxVersion()})
	}
	resp.Version = min(head.version, 4)
	body := resp.AppendTo(nil)
	frame := append(append(be32(4+len(body)), be32(int(head.correlation))...), body...)
	_, _ = c.Write(frame)
	_, _ = readFrame(c)
}
