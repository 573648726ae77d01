package kafka

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"strings"

	"github.com/twmb/franz-go/pkg/sasl"
)

// Config says how to reach a cluster. With Bootstrap alone it is PLAINTEXT without SASL.
type Config struct {
	// Bootstrap holds the bootstrap servers as host:port. A missing port means 9092.
	Bootstrap []string
	// ClientID is what brokers see in their logs and quotas, such as "flightdeck/1.0". Empty means
	// "flightdeck".
	ClientID string
	// TLS is nil for no TLS. An empty ServerName is filled in with the host that is dialed.
	TLS *tls.Config
	// SASL is nil for no SASL.
	SASL sasl.Mechanism
	// ReadOnly refuses, before it reaches the wire, every request that is not a read.
	ReadOnly bool
	// Audit is where actions are written down; nil refuses them all.
	Audit *Audit
	// Dial opens the transport below TLS; nil means TCP. It must honour the deadline of its context.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Log receives what franz-go has to say; nil discards it.
	Log *slog.Logger
}

// ParseServers reads bootstrap servers that are separated by commas: host, host:port or [IPv6]:port, each with the
// name of a listener in front or without one, as a Java client takes them (PLAINTEXT://host:port).
func ParseServers(list string) ([]string, error) {
	var servers []string
	for given := range strings.SplitSeq(list, ",") {
		server := strings.TrimSpace(given)
		if _, after, ok := strings.Cut(server, "://"); ok {
			server = after
		}
		if server == "" {
			continue
		}
		if strings.ContainsAny(server, " \t/@") {
			return nil, fmt.Errorf("%q is not host:port", server)
		}
		// Without a port is well, and so is a bare IPv6 address; the client tells them apart.
		if host, port, err := net.SplitHostPort(server); err == nil {
			n, err := strconv.Atoi(port)
			if host == "" || err != nil || n < 1 || n > 65535 {
				return nil, fmt.Errorf("%q is not host:port with a port from 1 to 65535", server)
			}
		}
		servers = append(servers, server)
	}
	return servers, nil
}
