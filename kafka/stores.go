package kafka

import (
	"bytes"
	"crypto"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/pavlo-v-chernykh/keystore-go/v4"
	"github.com/youmark/pkcs8"
	"software.sslmate.com/src/go-pkcs12"
)

// store is a trust store or a key store as a client.properties names it: by ssl.truststore.* or ssl.keystore.*.
type store struct {
	prefix string // of its keys, "ssl.truststore." or "ssl.keystore."
	data   []byte
	// from is the key that the data is from, and where it is, for errors: "ssl.keystore.location=/a/b".
	from     string
	kind     string // PEM, JKS or PKCS12, from what the data looks like
	password string
}

// openStore reads a store from its file. Java opens JKS and PKCS12 under either name and so does
// this; PEM has to be said.
func openStore(prefix, path, kind, password string) (store, error) {
	s := store{prefix: prefix, from: prefix + "location=" + path, password: password}
	data, err := os.ReadFile(path)
	if err != nil {
		return s, fmt.Errorf("%s cannot be read: %w. A relative path starts from the current directory", s.from, bareFileError(err))
	}
	s.data, s.kind = data, sniff(data)
	switch kind = strings.ToUpper(kind); kind {
	case "PEM", "JKS", "PKCS12":
	case "":
		kind = "JKS"
	default:
		return s, fmt.Errorf("%stype is %s; PEM, JKS and PKCS12 are supported", prefix, kind)
	}
	if (kind == "PEM") != (s.kind == "PEM") && s.kind != "" {
		return s, fmt.Errorf("%s is a %s file; set %stype=%s", s.from, s.kind, prefix, s.kind)
	}
	if s.kind == "" {
		return s, fmt.Errorf("%s is not a %s file", s.from, kind)
	}
	return s, nil
}

// bareFileError is the error without the path, which is named already.
func bareFileError(err error) error {
	if e, ok := errors.AsType[*os.PathError](err); ok {
		return e.Err
	}
	return err
}

// sniff tells the kind of a store from its beginning; empty for none.
func sniff(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte{0xfe, 0xed, 0xfe, 0xed}):
		return "JKS"
	case bytes.HasPrefix(data, []byte{0x30}):
		return "PKCS12"
	case bytes.Contains(data, []byte("-----BEGIN ")):
		return "PEM"
	}
	return ""
}

// trusted returns the certificates of a trust store.
func (s store) trusted() (*x509.CertPool, error) {
	var (
		certs []*x509.Certificate
		err   error
	)
	switch s.kind {
	case "JKS":
		certs, err = s.trustedJKS()
	case "PKCS12":
		certs, err = pkcs12.DecodeTrustStore(s.data, s.password)
		err = s.wrongPassword(err)
	default:
		certs, _, err = readPEM(s.data)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.from, err)
	}
	if len(certs) == 0 {
		return nil, fmt.Errorf("%s holds no trusted certificate", s.from)
	}
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool, nil
}

// pair returns the certificate chain and the key of a key store. The key's password is that of the store
// when it has none of its own.
func (s store) pair(keyPassword string) (tls.Certificate, error) {
	pair, err := s.openPair(keyPassword)
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", s.from, err)
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil {
		return tls.Certificate{}, fmt.Errorf("%s: %w", s.from, err)
	}
	public, ok := leaf.PublicKey.(interface{ Equal(crypto.PublicKey) bool })
	signer, isSigner := pair.PrivateKey.(crypto.Signer)
	if !ok || !isSigner || !public.Equal(signer.Public()) {
		return tls.Certificate{}, fmt.Errorf("%s: the key does not belong to the first certificate", s.from)
	}
	return pair, nil
}

func (s store) openPair(keyPassword string) (tls.Certificate, error) {
	switch s.kind {
	case "JKS":
		return s.pairJKS(keyPassword)
	case "PKCS12":
		key, leaf, chain, err := pkcs12.DecodeChain(s.data, s.password)
		if err != nil {
			return tls.Certificate{}, s.wrongPassword(err)
		}
		pair := tls.Certificate{Certificate: [][]byte{leaf.Raw}, PrivateKey: key}
		for _, c := range chain {
			pair.Certificate = append(pair.Certificate, c.Raw)
		}
		return pair, nil
	default:
		certs, key, err := readPEM(s.data)
		if err != nil {
			return tls.Certificate{}, err
		}
		return pairPEM(certs, key, keyPassword)
	}
}

func (s store) wrongPassword(err error) error {
	if errors.Is(err, pkcs12.ErrIncorrectPassword) {
		if s.password == "" {
			return fmt.Errorf("it has a password; set %spassword", s.prefix)
		}
		return fmt.Errorf("%spassword is wrong", s.prefix)
	}
	return err
}

// loadJKS opens a Java key store. Without a password its integrity is not checked, as in Java.
func (s store) loadJKS() (keystore.KeyStore, error) {
	ks := keystore.New(keystore.WithOrderedAliases(), keystore.WithCaseExactAliases())
	err := ks.Load(bytes.NewReader(s.data), []byte(s.password))
	if err != nil && strings.Contains(err.Error(), "invalid digest") {
		if s.password == "" {
			return ks, nil
		}
		return ks, fmt.Errorf("%spassword is wrong, or the file is damaged", s.prefix)
	}
	return ks, err
}

func (s store) trustedJKS() ([]*x509.Certificate, error) {
	ks, err := s.loadJKS()
	if err != nil {
		return nil, err
	}
	var certs []*x509.Certificate
	for _, alias := range ks.Aliases() {
		entry, err := ks.GetTrustedCertificateEntry(alias)
		if err != nil {
			continue // a key
		}
		c, err := x509.ParseCertificate(entry.Certificate.Content)
		if err != nil {
			return nil, fmt.Errorf("certificate %s: %w", alias, err)
		}
		certs = append(certs, c)
	}
	return certs, nil
}

func (s store) pairJKS(keyPassword string) (tls.Certificate, error) {
	if keyPassword == "" {
		keyPassword = s.password
	}
	ks, err := s.loadJKS()
	if err != nil {
		return tls.Certificate{}, err
	}
	for _, alias := range ks.Aliases() {
		if !ks.IsPrivateKeyEntry(alias) {
			continue
		}
		entry, err := ks.GetPrivateKeyEntry(alias, []byte(keyPassword))
		if err != nil {
			return tls.Certificate{}, errors.New("the key cannot be opened: set ssl.key.password, or correct it")
		}
		key, err := x509.ParsePKCS8PrivateKey(entry.PrivateKey)
		if err != nil {
			return tls.Certificate{}, err
		}
		pair := tls.Certificate{PrivateKey: key}
		for _, c := range entry.CertificateChain {
			pair.Certificate = append(pair.Certificate, c.Content)
		}
		if len(pair.Certificate) == 0 {
			return tls.Certificate{}, fmt.Errorf("the key %s has no certificate", alias)
		}
		return pair, nil
	}
	return tls.Certificate{}, errors.New("it holds no key")
}

var pemBoundary = regexp.MustCompile(`\s*(-----(?:BEGIN|END) [A-Z0-9 ]+-----)\s*`)

// brokenLines breaks PEM that is on one line, which Kafka takes since it comes out of a properties file with
// continued lines so.
func brokenLines(text string) string {
	if strings.Contains(text, "\n") {
		return text
	}
	return pemBoundary.ReplaceAllString(text, "\n$1\n")
}

// readPEM returns the certificates and the first key of a PEM text.
func readPEM(data []byte) (certs []*x509.Certificate, key *pem.Block, err error) {
	for {
		var block *pem.Block
		block, data = pem.Decode(data)
		switch {
		case block == nil:
			return certs, key, nil
		case block.Type == "CERTIFICATE":
			c, err := x509.ParseCertificate(block.Bytes)
			if err != nil {
				return nil, nil, fmt.Errorf("certificate %d: %w", len(certs)+1, err)
			}
			certs = append(certs, c)
		case key == nil && strings.HasSuffix(block.Type, "PRIVATE KEY"):
			key = block
		}
	}
}

func pairPEM(certs []*x509.Certificate, block *pem.Block, password string) (tls.Certificate, error) {
	if len(certs) == 0 {
		return tls.Certificate{}, errors.New("it holds no certificate")
	}
	if block == nil {
		return tls.Certificate{}, errors.New("it holds no private key")
	}
	key, err := parseKey(block, password)
	if err != nil {
		return tls.Certificate{}, err
	}
	pair := tls.Certificate{PrivateKey: key}
	for _, c := range certs {
		pair.Certificate = append(pair.Certificate, c.Raw)
	}
	return pair, nil
}

// parseKey reads a private key. Kafka knows PKCS #8 alone; the older forms of OpenSSL are taken too unless
// they are encrypted.
func parseKey(block *pem.Block, password string) (crypto.PrivateKey, error) {
	switch {
	case block.Headers["DEK-Info"] != "":
		return nil, errors.New("the private key is encrypted in OpenSSL's old form; convert it with: openssl pkcs8 -topk8")
	case block.Type == "ENCRYPTED PRIVATE KEY":
		if password == "" {
			return nil, errors.New("the private key is encrypted; set ssl.key.password")
		}
		key, err := pkcs8.ParsePKCS8PrivateKey(block.Bytes, []byte(password))
		if err != nil {
			return nil, errors.New("the private key cannot be decrypted: ssl.key.password is wrong, or the encryption is not supported (convert it with: openssl pkcs8 -topk8 -v2 aes256)")
		}
		return key, nil
	case block.Type == "RSA PRIVATE KEY":
		return x509.ParsePKCS1PrivateKey(block.Bytes)
	case block.Type == "EC PRIVATE KEY":
		return x509.ParseECPrivateKey(block.Bytes)
	default:
		return x509.ParsePKCS8PrivateKey(block.Bytes)
	}
}
