package kafkatest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Users that the SASL listeners know, by every mechanism that they serve. With [Options.ACLs] admin is a
// super user and the others have no rights to begin with.
var Users = []string{"admin", "alice", "bob"}

// Password returns the password of one of [Users].
func Password(user string) string { return user + "-secret" }

// The SASL mechanisms that the SASL listeners serve.
const (
	Plain       = "PLAIN"
	ScramSHA256 = "SCRAM-SHA-256"
	ScramSHA512 = "SCRAM-SHA-512"
)

func (c *Cluster) saslSettings(s map[string]string) {
	s["sasl.enabled.mechanisms"] = strings.Join([]string{Plain, ScramSHA256, ScramSHA512}, ",")
	jaas := "org.apache.kafka.common.security.plain.PlainLoginModule required"
	for _, user := range Users {
		jaas += fmt.Sprintf(" user_%s=%q", user, Password(user))
	}
	for _, l := range c.options.Listeners {
		if l == SSL {
			continue
		}
		prefix := "listener.name." + strings.ToLower(string(l)) + "."
		s[prefix+"plain.sasl.jaas.config"] = jaas + ";"
		for _, m := range []string{ScramSHA256, ScramSHA512} {
			s[prefix+strings.ToLower(m)+".sasl.jaas.config"] = "org.apache.kafka.common.security.scram.ScramLoginModule required;"
		}
	}
}

// scramArgs has StorageTool put the users into a new cluster.
func scramArgs() []string {
	var args []string
	for _, user := range Users {
		for _, m := range []string{ScramSHA256, ScramSHA512} {
			args = append(args, "--add-scram", fmt.Sprintf("%s=[name=%s,password=%s]", m, user, Password(user)))
		}
	}
	return args
}

func (c *Cluster) tlsSettings(s map[string]string) {
	s["ssl.keystore.type"] = "PEM"
	s["ssl.keystore.location"] = c.certs.node
	s["ssl.truststore.type"] = "PEM"
	s["ssl.truststore.location"] = c.certs.ca
	s["listener.name.ssl.ssl.client.auth"] = "required"
}

// ClientOpts are the options of a client that connects to a listener, with [Cluster.TLS] where it has
// TLS, and with SASL where it has SASL; elsewhere mechanism and user are not used.
func (c *Cluster) ClientOpts(l Listener, mechanism, user string) []kgo.Opt {
	opts := []kgo.Opt{kgo.SeedBrokers(c.Addrs(l)...)}
	if l == SSL || l == SASLSSL {
		opts = append(opts, kgo.DialTLSConfig(c.TLS()))
	}
	if l == SASLPlaintext || l == SASLSSL {
		opts = append(opts, kgo.SASL(Mechanism(mechanism, user, Password(user))))
	}
	return opts
}

// Mechanism returns franz-go's implementation of one of the mechanisms that the SASL listeners serve.
func Mechanism(mechanism, user, password string) sasl.Mechanism {
	switch mechanism {
	case Plain:
		return plain.Auth{User: user, Pass: password}.AsMechanism()
	case ScramSHA256:
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism()
	case ScramSHA512:
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism()
	}
	panic("kafkatest: no SASL mechanism " + mechanism)
}

// ClientProperties writes the client.properties of a Java client for a listener, and returns its path.
// It is what --command-config of Kafka's tools takes.
func (c *Cluster) ClientProperties(t testing.TB, l Listener, mechanism, user string) string {
	t.Helper()
	s := map[string]string{"security.protocol": string(l)}
	if l == SSL || l == SASLSSL {
		s["ssl.truststore.type"] = "PEM"
		s["ssl.truststore.location"] = c.certs.ca
		s["ssl.keystore.type"] = "PEM"
		s["ssl.keystore.location"] = c.certs.client
	}
	if l == SASLPlaintext || l == SASLSSL {
		module := "scram.ScramLoginModule"
		if mechanism == Plain {
			module = "plain.PlainLoginModule"
		}
		s["sasl.mechanism"] = mechanism
		s["sasl.jaas.config"] = fmt.Sprintf("org.apache.kafka.common.security.%s required username=%q password=%q;",
			module, user, Password(user))
	}
	path := filepath.Join(t.TempDir(), "client.properties")
	if err := os.WriteFile(path, properties(s), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TLS returns a new configuration of a client that trusts the cluster's CA and has its client
// certificate. It is there when a listener has TLS.
func (c *Cluster) TLS() *tls.Config {
	return &tls.Config{RootCAs: c.certs.pool, Certificates: []tls.Certificate{c.certs.pair}, MinVersion: tls.VersionTLS12}
}

// CAFile returns the path of the cluster's CA certificate (PEM). It is there when a listener has TLS.
func (c *Cluster) CAFile() string { return c.certs.ca }

// ClientCertFile returns the path of a PEM file with a key (PKCS #8) and the certificate of CN=client
// that the SSL listener accepts. It is there when a listener has TLS.
func (c *Cluster) ClientCertFile() string { return c.certs.client }

// certificates are PEM files, and the same for Go clients.
type certificates struct {
	ca, node, client string // paths; node and client hold key and certificate
	pool             *x509.CertPool
	pair             tls.Certificate
}

func makeCertificates(dir string) (*certificates, error) {
	c := &certificates{
		ca:     filepath.Join(dir, "ca.pem"),
		node:   filepath.Join(dir, "node.pem"),
		client: filepath.Join(dir, "client.pem"),
		pool:   x509.NewCertPool(),
	}
	ca, err := issue(nil, &x509.Certificate{
		Subject:               pkix.Name{CommonName: "kafkatest CA"},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	})
	if err != nil {
		return nil, err
	}
	node, err := issue(ca, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "node"},
		DNSNames:    []string{"localhost"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, err
	}
	client, err := issue(ca, &x509.Certificate{
		Subject:     pkix.Name{CommonName: "client"},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return nil, err
	}
	c.pool.AddCert(ca.cert)
	c.pair = tls.Certificate{Certificate: [][]byte{client.cert.Raw}, PrivateKey: client.key}

	caPEM := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.cert.Raw})
	nodePEM, nodeErr := node.pem()
	clientPEM, clientErr := client.pem()
	return c, errors.Join(nodeErr, clientErr,
		os.WriteFile(c.ca, caPEM, 0o600), os.WriteFile(c.node, nodePEM, 0o600), os.WriteFile(c.client, clientPEM, 0o600))
}

// issued is a certificate with its key.
type issued struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// issue signs a certificate that is valid for a day; without a parent it signs itself.
func issue(parent *issued, template *x509.Certificate) (*issued, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	if parent == nil {
		parent = &issued{cert: template, key: key}
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(24 * time.Hour)
	der, err := x509.CreateCertificate(rand.Reader, template, parent.cert, &key.PublicKey, parent.key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return &issued{cert, key}, err
}

// pem returns key and certificate as Kafka's PEM keystores want them.
func (i *issued) pem() ([]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(i.key)
	if err != nil {
		return nil, err
	}
	return append(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
		pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: i.cert.Raw})...), nil
}
