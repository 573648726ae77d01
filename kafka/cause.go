package kafka

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// cause is why a connection could not be made or did not last.
type cause struct {
	code string
	what string // goes on from "localhost:9092 ..." and has no full stop
	do   string // one or two full sentences
	// unreachable is whether nothing at all could be reached there, as when a broker advertises an
	// address that is good only inside its own network.
	unreachable bool
}

// cause finds out what kept a connection from being made or from lasting. What franz-go's errors look like in
// each case was seen on Kafka 4.3.
func (c *Connection) cause(err error, where place) (cause, bool) {
	dial, _ := errors.AsType[*dialError](err)
	if dial != nil && dial.tls {
		return c.tlsCause(err, where), true
	}
	if found, ok := c.saslCause(err); ok {
		return found, true
	}
	if dial != nil {
		return dialCause(err), true
	}
	text := err.Error()
	switch {
	case strings.Contains(text, "tls alert record"):
		return cause{code: "plaintext_to_tls", what: "expects TLS, and the connection was made without it",
			do: "Set security.protocol to SSL, or to SASL_SSL when a user name is needed, in the file given with --command-config."}, true
	case strings.Contains(text, "'HTTP' in ascii"):
		return httpCause, true
	case strings.Contains(text, "invalid large response size"), strings.Contains(text, "invalid negative response size"):
		return cause{code: "not_kafka", what: "answers something that is not the Kafka protocol",
			do: "Check that the port is the one of a Kafka listener."}, true
	}
	if alert, ok := tlsAlert(err); ok {
		return c.alertCause(alert), true
	}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Timeout() {
		what := "accepts connections and then does not answer"
		if c.cfg.TLS == nil && !c.record.everAnswered() {
			return cause{code: "silent_after_connect", what: what,
				do: "It may be something else than a Kafka broker, a proxy with nothing behind it, or a broker that hangs. Check the port."}, true
		}
		return cause{code: "silent_after_connect", what: what,
			do: "The broker may hang or be overloaded; it is tried again."}, true
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, net.ErrClosed) {
		return c.closedCause(err), true
	}
	return cause{}, false
}

var httpCause = cause{code: "http_port", what: "answers HTTP, so this is not the port of a Kafka listener",
	do: "Check the port: brokers usually listen on 9092 or 9093, and a REST proxy or a metrics exporter may be beside them."}

// dialCause is for connections that TCP did not open.
func dialCause(err error) cause {
	if dns, ok := errors.AsType[*net.DNSError](err); ok {
		if dns.IsNotFound {
			return cause{code: "unknown_host", what: fmt.Sprintf("cannot be found: there is no host %s", dns.Name),
				do: "Check the spelling, and whether the name is only known inside another network.", unreachable: true}
		}
		return cause{code: "name_lookup", what: fmt.Sprintf("could not be looked up: the name server gave no answer for %s", dns.Name),
			do: "Check the network and the name server of this machine.", unreachable: true}
	}
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return cause{code: "refused", what: "refuses connections: nothing listens there",
			do: "Check host and port, and that the broker runs.", unreachable: true}
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		return cause{code: "no_route", what: "cannot be reached: there is no route to it from here",
			do: "Check the network, the VPN and the address.", unreachable: true}
	case isTimeout(err):
		return cause{code: "silent", what: "does not answer: no connection came about in time",
			do: "A firewall may drop the packets, or the machine is down. Check host and port, firewall and VPN.", unreachable: true}
	}
	return cause{code: "unreachable", what: "cannot be reached: " + innermost(err),
		do: "Check host and port of the broker.", unreachable: true}
}

// tlsCause is for a TLS handshake that failed on an open connection.
func (c *Connection) tlsCause(err error, where place) cause {
	name := hostOf(where.address)
	if c.cfg.TLS != nil && c.cfg.TLS.ServerName != "" {
		name = c.cfg.TLS.ServerName
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return cause{code: "unknown_ca", what: "has a certificate of an authority that is not trusted here",
			do: "Name the authority's certificate with ssl.truststore.location (and ssl.truststore.type, such as PEM)."}
	}
	if e, ok := errors.AsType[x509.HostnameError](err); ok {
		valid := "no host name"
		if e.Certificate != nil {
			if names := certificateNames(e.Certificate); len(names) > 0 {
				valid = strings.Join(names, ", ")
			}
		}
		return cause{code: "certificate_name", what: fmt.Sprintf("has a certificate for %s, not for %s", valid, name),
			do: "Connect by a name that the certificate has. If the name is known to be right, ssl.endpoint.identification.algorithm= (empty) turns this check off."}
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired && e.Cert != nil {
			until := e.Cert.NotAfter
			if time.Now().Before(e.Cert.NotBefore) {
				return cause{code: "certificate_expired", what: "has a certificate that is valid only from " + day(e.Cert.NotBefore) + " on",
					do: "Check the clock of this machine, or have the certificate replaced."}
			}
			return cause{code: "certificate_expired", what: "has a certificate that expired on " + day(until),
				do: "Have the broker's certificate renewed; check the clock of this machine if the date is wrong."}
		}
		return cause{code: "certificate_invalid", what: "has a certificate that is not valid: " + e.Error(),
			do: "Have the broker's certificate replaced."}
	}
	if header, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		if string(header.RecordHeader[:4]) == "HTTP" {
			return httpCause
		}
		return tlsToPlaintext
	}
	if alert, ok := tlsAlert(err); ok {
		return c.alertCause(alert)
	}
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET):
		return tlsToPlaintext
	case isTimeout(err):
		return cause{code: "silent_tls", what: "accepts connections and then does not answer the TLS handshake",
			do: "It may be something else than a Kafka broker, or a broker that hangs. Check the port, and whether the listener uses TLS."}
	}
	return cause{code: "tls_failed", what: "did not agree on TLS: " + innermost(err),
		do: "Compare ssl.enabled.protocols and ssl.cipher.suites with those of the broker."}
}

var tlsToPlaintext = cause{code: "tls_to_plaintext", what: "does not speak TLS: it ended the TLS handshake",
	do: "Set security.protocol to PLAINTEXT, or to SASL_PLAINTEXT when a user name is needed, or use the port of a TLS listener."}

// tlsAlert finds the alert with which the other side ended TLS. crypto/tls exports neither the type nor its
// values, so the text has to do.
func tlsAlert(err error) (string, bool) {
	op, ok := errors.AsType[*net.OpError](err)
	if !ok || op.Op != "remote error" {
		return "", false
	}
	return strings.TrimPrefix(op.Err.Error(), "tls: "), true
}

// alertCause is for a TLS alert from the broker.
func (c *Connection) alertCause(alert string) cause {
	switch alert {
	case "bad certificate", "certificate required", "handshake failure", "unknown certificate authority", "unknown certificate", "unsupported certificate", "certificate expired", "certificate unknown":
		if c.hasClientCertificate() {
			return cause{code: "client_certificate_refused", what: "refuses the client certificate (" + alert + ")",
				do: "Check that the certificate in ssl.keystore.location is valid and signed by an authority that the broker trusts."}
		}
		if alert == "handshake failure" {
			break
		}
		return cause{code: "client_certificate_required", what: "asks for a client certificate (ssl.client.auth=required), and none is configured",
			do: "Set ssl.keystore.location (and ssl.keystore.type, such as PEM) to a certificate with its key."}
	case "protocol version not supported":
		return cause{code: "tls_version", what: "does not accept the TLS versions offered",
			do: "Compare ssl.enabled.protocols with that of the broker."}
	}
	return cause{code: "tls_failed", what: "ended TLS: " + alert,
		do: "Compare ssl.enabled.protocols and ssl.cipher.suites with those of the broker."}
}

func (c *Connection) hasClientCertificate() bool {
	return c.cfg.TLS != nil && (len(c.cfg.TLS.Certificates) > 0 || c.cfg.TLS.GetClientCertificate != nil)
}

// saslCause is for what went wrong with SASL.
func (c *Connection) saslCause(err error) (cause, bool) {
	mechanism := "none"
	if c.cfg.SASL != nil {
		mechanism = c.cfg.SASL.Name()
	}
	switch {
	case errors.Is(err, kerr.SaslAuthenticationFailed):
		do := "Check both in sasl.jaas.config."
		if strings.HasPrefix(mechanism, "SCRAM") {
			do = "Check both in sasl.jaas.config, and that the user has a password for this mechanism."
		}
		return cause{code: "wrong_password", what: "does not accept the user name or the password (" + mechanism + ")", do: do}, true
	case errors.Is(err, kerr.UnsupportedSaslMechanism):
		return cause{code: "mechanism_not_enabled", what: "does not offer the SASL mechanism " + mechanism,
			do: "Set sasl.mechanism to one of those in sasl.enabled.mechanisms of the broker's listener."}, true
	case errors.Is(err, kerr.IllegalSaslState):
		return cause{code: "sasl_not_expected", what: "does not use SASL on this listener",
			do: "Set security.protocol to PLAINTEXT (or SSL), or use the port of a SASL listener."}, true
	}
	// franz-go checks a server's SCRAM answer itself; its errors for that have no type.
	if c.cfg.SASL != nil && strings.Contains(err.Error(), "SCRAM") {
		return cause{code: "sasl_failed", what: "did not get through " + mechanism + ": " + innermost(err),
			do: "Check the user name and the password in sasl.jaas.config."}, true
	}
	return cause{}, false
}

// closedCause is for a connection that the broker closed.
func (c *Connection) closedCause(err error) cause {
	// Once anything was answered, a closed connection means that a broker stopped.
	if c.record.everAnswered() {
		return cause{code: "connection_lost", what: "closed the connection before it answered",
			do: "It may be stopping or restarting; it is tried again."}
	}
	_, first := errors.AsType[*kgo.ErrFirstReadEOF](err)
	switch {
	case first && strings.Contains(err.Error(), "after a request") && c.cfg.SASL == nil:
		return cause{code: "sasl_missing", what: "closed the connection at the first request: it asks for a user name and a password (SASL), and none is configured",
			do: "Set security.protocol to SASL_SSL or SASL_PLAINTEXT, and sasl.mechanism and sasl.jaas.config. If this is the port of a controller, use that of a broker."}
	case !first && c.cfg.SASL != nil:
		return cause{code: "closed_in_sasl", what: "closed the connection during the SASL login (" + c.cfg.SASL.Name() + ")",
			do: "Check the user name, the password and the mechanism; the broker's log says more."}
	case c.cfg.TLS == nil:
		return cause{code: "closed_at_once", what: "closed the connection at once",
			do: "The listener may expect TLS (security.protocol=SSL or SASL_SSL), or be something else than a Kafka broker. Check the port."}
	default:
		return cause{code: "closed_at_once", what: "closed the connection right after the TLS handshake",
			do: "The listener may ask for a client certificate or SASL, or be something else than a Kafka broker."}
	}
}

func isTimeout(err error) bool {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, syscall.ETIMEDOUT) {
		return true
	}
	t, ok := errors.AsType[net.Error](err)
	return ok && t.Timeout()
}

// innermost is the text of the error at the bottom, without what the layers above added.
func innermost(err error) string {
	for {
		next := errors.Unwrap(err)
		if next == nil {
			return err.Error()
		}
		err = next
	}
}

// certificateNames are the hosts and addresses that a certificate is good for.
func certificateNames(cert *x509.Certificate) []string {
	names := append([]string(nil), cert.DNSNames...)
	for _, ip := range cert.IPAddresses {
		names = append(names, ip.String())
	}
	return names
}

func day(t time.Time) string { return t.UTC().Format("2 January 2006") }
