package kafka

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"time"
)

// dialError is a connection that could not be opened. Its text is that of the cause.
type dialError struct {
	address string // as dialed, host:port
	tls     bool   // whether TCP was open and the TLS handshake failed
	err     error
}

func (e *dialError) Error() string { return e.err.Error() }
func (e *dialError) Unwrap() error { return e.err }

// dialer opens connections, TLS included, each within limit.
func (c *Connection) dialer(limit time.Duration) func(ctx context.Context, network, address string) (net.Conn, error) {
	dial := c.cfg.Dial
	if dial == nil {
		dial = new(net.Dialer).DialContext
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		ctx, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, &dialError{address: address, err: err}
		}
		if c.cfg.TLS == nil {
			return conn, nil
		}
		secure := tls.Client(conn, tlsFor(c.cfg.TLS, address))
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			if errors.Is(err, context.DeadlineExceeded) {
				// As a time-out of the dial, franz-go goes on to the next bootstrap server; as the end
				// of a context, it would give up.
				err = &net.OpError{Op: "dial", Net: network, Addr: conn.RemoteAddr(), Err: os.ErrDeadlineExceeded}
			}
			return nil, &dialError{address: address, tls: true, err: err}
		}
		return secure, nil
	}
}

// tlsFor returns cfg with the server name filled in from the address.
func tlsFor(cfg *tls.Config, address string) *tls.Config {
	if cfg.ServerName != "" {
		return cfg
	}
	cfg = cfg.Clone()
	cfg.ServerName = hostOf(address)
	return cfg
}

// hostOf is the host of host:port, or all of it when there is no port.
func hostOf(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return address
	}
	return host
}
