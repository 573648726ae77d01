package kafka

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"

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
