package kafka

import (
	"context"
	"crypto/tls"
	"net"
	"time"
)

// handshakeError is a failed TLS handshake, to tell it from a connection that could not be opened.
type handshakeError struct{ err error }

func (e *handshakeError) Error() string { return "TLS handshake: " + e.err.Error() }
func (e *handshakeError) Unwrap() error { return e.err }

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
		if err != nil || c.cfg.TLS == nil {
			return conn, err
		}
		cfg := c.cfg.TLS
		if cfg.ServerName == "" {
			cfg = cfg.Clone()
			cfg.ServerName, _, err = net.SplitHostPort(address)
			if err != nil {
				conn.Close()
				return nil, err
			}
		}
		secure := tls.Client(conn, cfg)
		if err := secure.HandshakeContext(ctx); err != nil {
			conn.Close()
			return nil, &handshakeError{err}
		}
		return secure, nil
	}
}
