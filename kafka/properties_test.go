package kafka

import (
	"bytes"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"
)

const secret = "s3cr3t-p4ss"

// load writes a file with the lines and reads it.
func load(t *testing.T, lines ...string) (*Properties, error) {
	t.Helper()
	return LoadProperties(write(t, "client.properties", []byte(strings.Join(lines, "\n"))))
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadPropertiesSASL(t *testing.T) {
	for _, tc := range []struct {
		name, mechanism, user, password string
		lines                           []string
	}{
		{"PLAIN", "PLAIN", "alice", secret, []string{
			"sasl.mechanism=PLAIN",
			`sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="` + secret + `";`,
		}},
		{"SCRAM over continued lines", "SCRAM-SHA-512", "alice", secret, []string{
			"sasl.mechanism : SCRAM-SHA-512", `sasl.jaas.config = org.apache.kafka.common.security.scram.ScramLoginModule required \`,
			`    username="alice" \`, `    password="` + secret + `";`,
		}},
		{"escapes of both layers", "PLAIN", "alice", `a"b\c${d}`, []string{
			"sasl.mechanism=PLAIN",
			`sasl.jaas.config=x.PlainLoginModule required username=alice password="a\\"b\\\\c${d}";`,
		}},
		{"unicode escape", "PLAIN", "alice", "pä", []string{
			"sasl.mechanism=PLAIN", `sasl.jaas.config=x.PlainLoginModule required username=alice password="p\u00e4";`,
		}},
		{"Latin 1", "PLAIN", "alice", "pä", []string{
			"sasl.mechanism=PLAIN", "sasl.jaas.config=x.PlainLoginModule required username=alice password=\"p\xe4\";",
		}},
		{"keys of their own", "SCRAM-SHA-256", "alice", secret, []string{
			"sasl.mechanism=SCRAM-SHA-256", "sasl.username=alice", "sasl.password=" + secret,
		}},
		{"short keys of their own", "PLAIN", "alice", secret, []string{
			"sasl.mechanism=PLAIN", "username=alice", "password=" + secret,
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := load(t, append(tc.lines, "security.protocol=SASL_PLAINTEXT")...)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Warnings) > 0 || len(p.Unused) > 0 {
				t.Errorf("warnings %q, unused %q", p.Warnings, p.Unused)
			}
			if p.TLS != nil || p.SASL == nil || p.SASL.Name() != tc.mechanism {
				t.Fatalf("TLS %v, SASL %v", p.TLS, p.SASL)
			}
			k := cluster(t, kfake.EnableSASL(), kfake.Superuser(tc.mechanism, tc.user, tc.password))
			c := Connect(Config{Bootstrap: k.ListenAddrs(), SASL: p.SASL})
			defer c.Close()
			if err := c.Check(t.Context()); err != nil {
				t.Error(c.Explain(err))
			}
		})
	}
}

// Each kind of store opens a cluster that asks for a client certificate.
func TestLoadPropertiesStores(t *testing.T) {
	ca := newAuthority(t)
	pair := ca.issue("client")
	chain, key := certificatePEM(pair.Certificate[0]), keyPEM(t, pair.PrivateKey)
	trust := certificatePEM(ca.cert.Raw)
	line := func(pem []byte) string { return strings.ReplaceAll(strings.TrimSpace(string(pem)), "\n", " \\\n   ") }

	sealed, err := pkcs8.ConvertPrivateKeyToPKCS8(pair.PrivateKey, []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	sealedKey := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: sealed})
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	trustP12, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{ca.cert}, secret)
	if err != nil {
		t.Fatal(err)
	}
	keyP12, err := pkcs12.Modern.Encode(pair.PrivateKey, leaf, []*x509.Certificate{ca.cert}, secret)
	if err != nil {
		t.Fatal(err)
	}
	trustJKS, keyJKS := javaStores(t, ca, pair)

	server := kfake.TLS(&tls.Config{
		Certificates: []tls.Certificate{ca.issue("127.0.0.1")},
		ClientAuth:   tls.RequireAndVerifyClientCert, ClientCAs: ca.pool(),
	})
	k := cluster(t, server)
	other := cluster(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{ca.issue("elsewhere")}}))

	for _, tc := range []struct {
		name  string
		k     *kfake.Cluster
		lines []string
		code  string
	}{
		{"PEM files", k, []string{
			"ssl.truststore.type=PEM", "ssl.truststore.location=" + write(t, "ca.pem", trust),
			"ssl.keystore.type=PEM", "ssl.keystore.location=" + write(t, "client.pem", slices.Concat(key, chain)),
		}, ""},
		{"PEM with an encrypted key", k, []string{
			"ssl.truststore.type=PEM", "ssl.truststore.location=" + write(t, "ca.pem", trust),
			"ssl.keystore.type=PEM", "ssl.keystore.location=" + write(t, "client.pem", slices.Concat(sealedKey, chain)),
			"ssl.key.password=" + secret,
		}, ""},
		{"PEM inline", k, []string{
			"ssl.truststore.type=PEM", "ssl.truststore.certificates=" + line(trust),
			"ssl.keystore.type=PEM", "ssl.keystore.certificate.chain=" + line(chain), "ssl.keystore.key=" + line(key),
		}, ""},
		{"PKCS12", k, []string{
			"ssl.truststore.type=PKCS12", "ssl.truststore.location=" + write(t, "ca.p12", trustP12), "ssl.truststore.password=" + secret,
			"ssl.keystore.type=PKCS12", "ssl.keystore.location=" + write(t, "client.p12", keyP12), "ssl.keystore.password=" + secret,
		}, ""},
		{"JKS", k, []string{
			"ssl.truststore.location=" + write(t, "ca.jks", trustJKS), "ssl.truststore.password=" + secret,
			"ssl.keystore.location=" + write(t, "client.jks", keyJKS), "ssl.keystore.password=" + secret, "ssl.key.password=" + secret,
		}, ""},
		{"JKS without a password for the trust store, PKCS12 under the name of JKS", k, []string{
			"ssl.truststore.location=" + write(t, "ca.jks", trustJKS),
			"ssl.keystore.location=" + write(t, "client.p12", keyP12), "ssl.keystore.password=" + secret,
		}, ""},
		{"old TLS only", k, []string{
			"ssl.truststore.type=PEM", "ssl.truststore.certificates=" + line(trust),
			"ssl.keystore.certificate.chain=" + line(chain), "ssl.keystore.key=" + line(key), "ssl.enabled.protocols=TLSv1.2",
		}, ""},
		{"the authorities of the system", k, nil, "unknown_ca"},
		{"host name checked", other, []string{"ssl.truststore.certificates=" + line(trust)}, "certificate_name"},
		{"host name not checked", other, []string{"ssl.truststore.certificates=" + line(trust), "ssl.endpoint.identification.algorithm="}, ""},
		{"host name not checked, authority still", other, []string{
			"ssl.truststore.certificates=" + line(certificatePEM(newAuthority(t).cert.Raw)), "ssl.endpoint.identification.algorithm=",
		}, "unknown_ca"},
		{"expired authority still", cluster(t, kfake.TLS(&tls.Config{Certificates: []tls.Certificate{ca.issue("elsewhere", expired)}})), []string{
			"ssl.truststore.certificates=" + line(trust), "ssl.endpoint.identification.algorithm=",
		}, "certificate_expired"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p, err := load(t, append(tc.lines, "security.protocol=SSL")...)
			if err != nil {
				t.Fatal(err)
			}
			if len(p.Warnings) > 0 {
				t.Errorf("warnings: %q", p.Warnings)
			}
			c := Connect(Config{Bootstrap: tc.k.ListenAddrs(), TLS: p.TLS})
			defer c.Close()
			if code, text := c.Explain(c.Check(t.Context())); code != tc.code {
				t.Errorf("%q, want %q: %s", code, tc.code, text)
			}
		})
	}
}

func javaStores(t *testing.T, ca *authority, pair tls.Certificate) (trust, key []byte) {
	t.Helper()
	ks := keystore.New()
	if err := ks.SetTrustedCertificateEntry("ca", keystore.TrustedCertificateEntry{
		CreationTime: time.Now(), Certificate: keystore.Certificate{Type: "X.509", Content: ca.cert.Raw},
	}); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := ks.Store(&out, []byte(secret)); err != nil {
		t.Fatal(err)
	}
	trust = bytes.Clone(out.Bytes())
	der, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	ks = keystore.New(keystore.WithCustomRandomNumberGenerator(rand.Reader))
	if err := ks.SetPrivateKeyEntry("client", keystore.PrivateKeyEntry{
		CreationTime: time.Now(), PrivateKey: der,
		CertificateChain: []keystore.Certificate{{Type: "X.509", Content: pair.Certificate[0]}},
	}, []byte(secret)); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := ks.Store(&out, []byte(secret)); err != nil {
		t.Fatal(err)
	}
	return trust, out.Bytes()
}

func TestLoadPropertiesWarnings(t *testing.T) {
	p, err := load(t,
		"bootstrap.servers=one:9092, PLAINTEXT://two:9093",
		"client.id=billing", "group.id=g", "acks=all", "key.serializer=x.StringSerializer", "schema.registry.url=http://r",
		"sasl.login.class=x.Y", "ssl.truststore.location=/nowhere", "security.providers=x.Z", "config.providers=file",
		"secuirty.protocol=SSL",
	)
	if err != nil {
		t.Fatal(err)
	}
	if want := []string{"one:9092", "two:9093"}; !slices.Equal(p.Bootstrap, want) {
		t.Errorf("bootstrap %q, want %q", p.Bootstrap, want)
	}
	if want := []string{"acks", "client.id", "group.id", "key.serializer", "schema.registry.url"}; !slices.Equal(p.Unused, want) {
		t.Errorf("unused %q, want %q", p.Unused, want)
	}
	all := strings.Join(p.Warnings, "\n")
	for _, key := range []string{"sasl.login.class", "ssl.truststore.location", "security.providers", "config.providers", "secuirty.protocol"} {
		if !strings.Contains(all, key) {
			t.Errorf("no warning names %s:\n%s", key, all)
		}
	}
	if len(p.Warnings) != 5 {
		t.Errorf("%d warnings, want 5:\n%s", len(p.Warnings), all)
	}
}

func TestLoadPropertiesErrors(t *testing.T) {
	ca := newAuthority(t)
	pair := ca.issue("client")
	chain, key := certificatePEM(pair.Certificate[0]), keyPEM(t, pair.PrivateKey)
	otherKey := keyPEM(t, newKey(t))
	trustJKS, _ := javaStores(t, ca, pair)
	trustP12, err := pkcs12.Modern.EncodeTrustStore([]*x509.Certificate{ca.cert}, secret)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := pkcs8.ConvertPrivateKeyToPKCS8(pair.PrivateKey, []byte("another"))
	if err != nil {
		t.Fatal(err)
	}
	sealedKey := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: sealed})
	oldKey := pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Headers: map[string]string{"DEK-Info": "AES-256-CBC,00"}, Bytes: []byte("x")})
	pemFile := write(t, "client.pem", slices.Concat(chain, key))
	keyFile := func(blocks ...[]byte) []string {
		return []string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.location=" + write(t, "k.pem", slices.Concat(blocks...))}
	}

	for _, tc := range []struct {
		name  string
		lines []string
		words []string
	}{
		{"protocol", []string{"security.protocol=TLS"}, []string{"security.protocol", "SASL_SSL"}},
		{"no mechanism", []string{"security.protocol=SASL_SSL"}, []string{"sasl.mechanism is missing"}},
		{"mechanism", []string{"security.protocol=SASL_SSL", "sasl.mechanism=GSSAPI"}, []string{"GSSAPI is not supported", "SCRAM-SHA-512"}},
		{"no credentials", []string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN"}, []string{"sasl.jaas.config"}},
		{"broken JAAS", []string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", `sasl.jaas.config=x.PlainLoginModule required password="` + secret + `"`}, []string{"sasl.jaas.config", ";"}},
		{"no user name", []string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", `sasl.jaas.config=x.PlainLoginModule required password="` + secret + `";`}, []string{"sasl.jaas.config has no username"}},
		{"wrong module", []string{"security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-256", `sasl.jaas.config=x.PlainLoginModule required username=a password="` + secret + `";`}, []string{"PlainLoginModule", "needs ScramLoginModule"}},
		{"no module", []string{"security.protocol=SASL_SSL", "sasl.mechanism=PLAIN", "sasl.jaas.config=" + secret + " required a=b;"}, []string{"login module"}},
		{"no store", []string{"security.protocol=SSL", "ssl.truststore.location=/nowhere/ca.pem"}, []string{"ssl.truststore.location=/nowhere/ca.pem", "no such file"}},
		{"PEM as JKS", []string{"security.protocol=SSL", "ssl.truststore.location=" + pemFile}, []string{"is a PEM file", "ssl.truststore.type=PEM"}},
		{"JKS as PEM", []string{"security.protocol=SSL", "ssl.truststore.type=PEM", "ssl.truststore.location=" + write(t, "ca.jks", trustJKS)}, []string{"is a JKS file", "ssl.truststore.type=JKS"}},
		{"store type", []string{"security.protocol=SSL", "ssl.truststore.type=BCFKS", "ssl.truststore.location=" + pemFile}, []string{"ssl.truststore.type is BCFKS"}},
		{"not a store", []string{"security.protocol=SSL", "ssl.truststore.location=" + write(t, "x", []byte("hello"))}, []string{"is not a JKS file"}},
		{"wrong JKS password", []string{"security.protocol=SSL", "ssl.truststore.location=" + write(t, "ca.jks", trustJKS), "ssl.truststore.password=" + secret + "2"}, []string{"ssl.truststore.password is wrong"}},
		{"wrong PKCS12 password", []string{"security.protocol=SSL", "ssl.truststore.type=PKCS12", "ssl.truststore.location=" + write(t, "ca.p12", trustP12), "ssl.truststore.password=" + secret + "2"}, []string{"ssl.truststore.password is wrong"}},
		{"no PKCS12 password", []string{"security.protocol=SSL", "ssl.truststore.type=PKCS12", "ssl.truststore.location=" + write(t, "ca.p12", trustP12)}, []string{"set ssl.truststore.password"}},
		{"truncated PKCS12", []string{"security.protocol=SSL", "ssl.truststore.type=PKCS12", "ssl.truststore.location=" + write(t, "ca.p12", trustP12[:100])}, []string{"ssl.truststore.location"}},
		{"key alone", []string{"security.protocol=SSL", "ssl.keystore.type=PEM", "ssl.keystore.key=x"}, []string{"ssl.keystore.certificate.chain", "together"}},
		{"no key", keyFile(chain), []string{"no private key"}},
		{"no certificate", keyFile(key), []string{"no certificate"}},
		{"key of another", keyFile(chain, otherKey), []string{"does not belong"}},
		{"encrypted key without password", keyFile(chain, sealedKey), []string{"set ssl.key.password"}},
		{"encrypted key with the wrong password", append(keyFile(chain, sealedKey), "ssl.key.password="+secret), []string{"ssl.key.password is wrong"}},
		{"old encryption", keyFile(chain, oldKey), []string{"openssl pkcs8 -topk8"}},
		{"TLS version", []string{"security.protocol=SSL", "ssl.enabled.protocols=SSLv3"}, []string{"ssl.enabled.protocols", "SSLv3"}},
		{"identification", []string{"security.protocol=SSL", "ssl.endpoint.identification.algorithm=none"}, []string{"ssl.endpoint.identification.algorithm", "empty"}},
		{"not properties", []string{`a=\u12 ` + secret}, []string{"client.properties"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := load(t, tc.lines...)
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range append(tc.words, "client.properties") {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not say %q", err, w)
				}
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error gives the password away: %v", err)
			}
		})
	}
	if _, err := LoadProperties("/nowhere/client.properties"); err == nil || !strings.Contains(err.Error(), "/nowhere/client.properties") {
		t.Errorf("missing file: %v", err)
	}
}
