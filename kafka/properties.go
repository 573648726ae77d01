package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/magiconair/properties"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"
)

// Properties is what a client.properties file of a Java client says about reaching a cluster.
type Properties struct {
	// Bootstrap are the bootstrap.servers, if any.
	Bootstrap []string
	// TLS and SASL are as in [Config].
	TLS  *tls.Config
	SASL sasl.Mechanism
	// Warnings are sentences about settings that matter for the connection and are not supported or contradict each
	// other, and about keys that no Kafka client has. They hold no values of passwords.
	Warnings []string
	// Unused are the keys that are meant for other clients, such as acks or group.id, sorted.
	Unused []string
}

// LoadProperties reads a client.properties file as Kafka's tools take it with --command-config: security.protocol,
// sasl.mechanism with sasl.jaas.config (or sasl.username and sasl.password), and ssl.* with PEM, JKS and PKCS12
// stores. An error names the file, the key and what to do, and never holds a password.
func LoadProperties(path string) (*Properties, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("the configuration file %s cannot be read: %w", path, bareFileError(err))
	}
	// Java reads ISO 8859-1. What is UTF-8 was hardly meant to be read so.
	encoding := properties.UTF8
	if !utf8.Valid(data) {
		encoding = properties.ISO_8859_1
	}
	// Expansion of ${...} is not Java's, and passwords may hold it.
	loader := properties.Loader{Encoding: encoding, DisableExpansion: true}
	p, err := loader.LoadBytes(data)
	if err != nil {
		// The library's error quotes the text that it does not understand.
		return nil, fmt.Errorf("the configuration file %s is not a Java properties file", path)
	}
	s := settings{values: map[string]string{}, used: map[string]bool{}}
	for key, value := range p.Map() {
		s.values[key] = strings.TrimSpace(value) // as Kafka does with every setting
	}
	out := new(Properties)
	if err := s.read(out); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return out, nil
}

// settings are the keys and values of a file.
type settings struct {
	values   map[string]string
	used     map[string]bool
	warnings []string
}

// get returns a value, empty when there is none, and marks the key as used.
func (s *settings) get(key string) string {
	s.used[key] = true
	return s.values[key]
}

func (s *settings) warn(format string, args ...any) {
	s.warnings = append(s.warnings, fmt.Sprintf(format, args...))
}

func (s *settings) read(out *Properties) error {
	var err error
	if out.Bootstrap, err = ParseServers(s.get("bootstrap.servers")); err != nil {
		return fmt.Errorf("bootstrap.servers: %w", err)
	}
	protocol := strings.ToUpper(s.get("security.protocol"))
	var useTLS, useSASL bool
	switch protocol {
	case "", "PLAINTEXT":
		protocol = "PLAINTEXT"
	case "SSL":
		useTLS = true
	case "SASL_PLAINTEXT":
		useSASL = true
	case "SASL_SSL":
		useTLS, useSASL = true, true
	default:
		return fmt.Errorf("security.protocol is %q; it must be PLAINTEXT, SSL, SASL_PLAINTEXT or SASL_SSL", protocol)
	}
	if useTLS {
		if out.TLS, err = s.tls(); err != nil {
			return err
		}
	} else {
		s.idle("ssl.", "TLS", protocol)
	}
	if useSASL {
		if out.SASL, err = s.sasl(); err != nil {
			return err
		}
	} else {
		s.idle("sasl.", "SASL", protocol)
	}
	out.Unused = s.rest()
	out.Warnings = s.warnings
	return nil
}

// idle warns that the keys with a prefix have no effect under the security protocol.
func (s *settings) idle(prefix, what, protocol string) {
	var keys []string
	for key := range s.values {
		if strings.HasPrefix(key, prefix) {
			s.used[key] = true
			keys = append(keys, key)
		}
	}
	if len(keys) > 0 {
		slices.Sort(keys)
		s.warn("security.protocol is %s, which does not use %s, so %s has no effect.", protocol, what, strings.Join(keys, ", "))
	}
}

// rest sorts the keys that nothing asked for into warnings and those that are returned, which are for other
// clients.
func (s *settings) rest() (unused []string) {
	var keys []string
	for key := range s.values {
		if !s.used[key] {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	for _, key := range keys {
		switch {
		case forOtherClients(key):
			unused = append(unused, key)
		case strings.HasPrefix(key, "config.providers"):
			s.warn("%s is not supported: values such as ${file:...} are taken as they stand.", key)
		case strings.HasPrefix(key, "sasl."), strings.HasPrefix(key, "ssl."), strings.HasPrefix(key, "security."):
			s.warn("%s is not supported and has no effect.", key)
		default:
			s.warn("%s is no setting of a Kafka client and has no effect; check the spelling.", key)
		}
	}
	return unused
}

func (s *settings) sasl() (sasl.Mechanism, error) {
	mechanism := s.get("sasl.mechanism")
	var module string
	switch mechanism {
	case "PLAIN":
		module = "PlainLoginModule"
	case "SCRAM-SHA-256", "SCRAM-SHA-512":
		module = "ScramLoginModule"
	case "":
		return nil, fmt.Errorf("sasl.mechanism is missing; set it to PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512")
	default:
		return nil, fmt.Errorf("sasl.mechanism %s is not supported; PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512 are", mechanism)
	}
	user, password, token, err := s.credentials(module, mechanism)
	if err != nil {
		return nil, err
	}
	switch mechanism {
	case "PLAIN":
		return plain.Auth{User: user, Pass: password}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return scram.Auth{User: user, Pass: password, IsToken: token}.AsSha256Mechanism(), nil
	default:
		return scram.Auth{User: user, Pass: password, IsToken: token}.AsSha512Mechanism(), nil
	}
}

// credentials takes the user name and the password from sasl.jaas.config, or from keys of their own, which Java does
// not have. token is whether they are those of a delegation token.
func (s *settings) credentials(module, mechanism string) (user, password string, token bool, err error) {
	text := s.get("sasl.jaas.config")
	if text == "" {
		user = s.first("sasl.username", "username")
		password = s.first("sasl.password", "password")
		if user == "" || password == "" {
			return "", "", false, fmt.Errorf("the user name or the password is missing; set sasl.jaas.config, or sasl.username and sasl.password")
		}
		return user, password, false, nil
	}
	m, err := parseJAAS(text)
	if err != nil {
		return "", "", false, fmt.Errorf("sasl.jaas.config: %w", err)
	}
	if class := m.class[strings.LastIndexByte(m.class, '.')+1:]; class != module {
		if strings.HasSuffix(class, "LoginModule") {
			return "", "", false, fmt.Errorf("sasl.jaas.config names %s, and sasl.mechanism %s needs %s", class, mechanism, module)
		}
		return "", "", false, fmt.Errorf("sasl.jaas.config does not begin with a login module; sasl.mechanism %s needs %s", mechanism, module)
	}
	for _, name := range []string{"username", "password"} {
		if m.options[name] == "" {
			return "", "", false, fmt.Errorf("sasl.jaas.config has no %s", name)
		}
	}
	for name := range m.options {
		if name != "username" && name != "password" && name != "tokenauth" {
			s.warn("sasl.jaas.config has options that are not supported and have no effect (supported are username, password and tokenauth).")
			break
		}
	}
	return m.options["username"], m.options["password"], strings.EqualFold(m.options["tokenauth"], "true"), nil
}

// first is the first of the keys that has a value.
func (s *settings) first(keys ...string) (value string) {
	for _, key := range keys {
		if v := s.get(key); value == "" {
			value = v
		}
	}
	return value
}

func (s *settings) tls() (*tls.Config, error) {
	cfg := &tls.Config{MinVersion: tls.VersionTLS12}
	var err error
	if cfg.RootCAs, err = s.trustStore(); err != nil {
		return nil, err
	}
	if err := s.keyStore(cfg); err != nil {
		return nil, err
	}
	if err := s.tlsVersions(cfg); err != nil {
		return nil, err
	}
	// Absent means https; empty is how it is switched off.
	algorithm, set := s.values["ssl.endpoint.identification.algorithm"]
	s.used["ssl.endpoint.identification.algorithm"] = true
	switch {
	case set && algorithm == "":
		skipHostname(cfg)
	case set && !strings.EqualFold(algorithm, "https"):
		return nil, fmt.Errorf("ssl.endpoint.identification.algorithm is %q; it must be https, or empty for not checking the host name", algorithm)
	}
	return cfg, nil
}

// skipHostname has the certificate of a broker verified but for its name.
func skipHostname(cfg *tls.Config) {
	cfg.InsecureSkipVerify = true // VerifyConnection does the rest of it
	cfg.VerifyConnection = func(state tls.ConnectionState) error {
		opts := x509.VerifyOptions{Roots: cfg.RootCAs, Intermediates: x509.NewCertPool()}
		for _, c := range state.PeerCertificates[1:] {
			opts.Intermediates.AddCert(c)
		}
		_, err := state.PeerCertificates[0].Verify(opts)
		return err
	}
}

// trustStore returns the authorities to trust, nil for those of the system.
func (s *settings) trustStore() (*x509.CertPool, error) {
	const prefix = "ssl.truststore."
	path, kind, password := s.get(prefix+"location"), s.get(prefix+"type"), s.get(prefix+"password")
	if inline := s.get(prefix + "certificates"); inline != "" {
		return store{prefix: prefix, from: prefix + "certificates", kind: "PEM", data: []byte(brokenLines(inline))}.trusted()
	}
	if path == "" {
		return nil, nil
	}
	opened, err := openStore(prefix, path, kind, password)
	if err != nil {
		return nil, err
	}
	return opened.trusted()
}

func (s *settings) keyStore(cfg *tls.Config) error {
	const prefix = "ssl.keystore."
	path, kind, password, keyPassword := s.get(prefix+"location"), s.get(prefix+"type"), s.get(prefix+"password"), s.get("ssl.key.password")
	chain, key := s.get(prefix+"certificate.chain"), s.get(prefix+"key")
	opened := store{prefix: prefix, from: prefix + "certificate.chain with " + prefix + "key", kind: "PEM", data: []byte(brokenLines(chain) + "\n" + brokenLines(key))}
	switch {
	case (chain == "") != (key == ""):
		return fmt.Errorf("%scertificate.chain and %skey must be set together", prefix, prefix)
	case chain != "":
	case path == "":
		return nil
	default:
		var err error
		if opened, err = openStore(prefix, path, kind, password); err != nil {
			return err
		}
	}
	pair, err := opened.pair(keyPassword)
	if err != nil {
		return err
	}
	// Unlike Certificates, this offers the certificate even to a broker that names other authorities, so that
	// the broker says that it is refused and not that there is none.
	cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil }
	return nil
}

var tlsVersions = map[string]uint16{
	"TLSv1": tls.VersionTLS10, "TLSv1.1": tls.VersionTLS11, "TLSv1.2": tls.VersionTLS12, "TLSv1.3": tls.VersionTLS13,
}

// tlsVersions sets the oldest and the newest TLS version from ssl.enabled.protocols. ssl.protocol says nothing
// that matters beside it.
func (s *settings) tlsVersions(cfg *tls.Config) error {
	s.used["ssl.protocol"] = true
	enabled := s.get("ssl.enabled.protocols")
	if enabled == "" {
		return nil
	}
	cfg.MinVersion = 0
	for name := range strings.SplitSeq(enabled, ",") {
		name = strings.TrimSpace(name)
		v, ok := tlsVersions[name]
		if !ok {
			return fmt.Errorf("ssl.enabled.protocols has %q; TLSv1.2 and TLSv1.3 are what brokers use", name)
		}
		if cfg.MinVersion == 0 || v < cfg.MinVersion {
			cfg.MinVersion = v
		}
		cfg.MaxVersion = max(cfg.MaxVersion, v)
	}
	return nil
}
