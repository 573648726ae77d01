package demo

import (
	"encoding/binary"
	"net"
	"sync/atomic"
)

// wire stands between the clients and the brokers: every connection that a broker accepts passes through it.
type wire struct {
	names *names
}

type listenFunc = func(network, address string) (net.Listener, error)

func (w *wire) listenWith(next listenFunc) listenFunc {
	return func(network, address string) (net.Listener, error) {
		l, err := next(network, address)
		if err != nil {
			return nil, err
		}
		return &listener{Listener: l, wire: w}, nil
	}
}

type listener struct {
	net.Listener
	wire *wire
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, wire: l.wire}, nil
}

// conn is the broker's end of a connection: Read carries requests, and every Write one whole response.
type conn struct {
	net.Conn
	wire *wire

	requests framer
	known    bool // the first request was seen
	remote   atomic.Pointer[remoteAddr]
}

// remoteAddr is where an application's connection seems to come from: Kafka's ClientHost is an address with a
// slash in front and no port.
type remoteAddr string

func (a remoteAddr) Network() string { return "tcp" }
func (a remoteAddr) String() string  { return string(a) }

// RemoteAddr is the host of the member whose client id the connection's first request had.
func (c *conn) RemoteAddr() net.Addr {
	if a := c.remote.Load(); a != nil {
		return *a
	}
	return c.Conn.RemoteAddr()
}

func (c *conn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.requests.feed(p[:n], c.wants, c.request)
	return n, err
}

// wants says whether a request of that kind is to be looked at as a whole.
func (c *conn) wants(int16) bool { return !c.known }

func (c *conn) request(frame []byte) {
	// A request begins with api key, version, correlation id and the client id behind its length.
	if len(frame) < 10 {
		return
	}
	c.known = true
	n := int(int16(binary.BigEndian.Uint16(frame[8:])))
	if n <= 0 || len(frame) < 10+n {
		return
	}
	if host := c.wire.names.host(string(frame[10 : 10+n])); host != "" {
		a := remoteAddr("/" + host)
		c.remote.Store(&a)
	}
}

// framer cuts a stream into its frames: four bytes of length, then the frame.
type framer struct {
	buf  []byte
	skip int
}

// feed takes the next bytes of the stream. For each frame, as soon as its first two bytes (the api key of a request)
// are there, wants decides whether it is handed to frame when it is complete or is passed over.
func (f *framer) feed(p []byte, wants func(key int16) bool, frame func([]byte)) {
	const head = 4 + 2
	for len(p) > 0 {
		if f.skip > 0 {
			n := min(f.skip, len(p))
			f.skip -= n
			p = p[n:]
			continue
		}
		need := head
		if len(f.buf) >= head {
			need = 4 + int(binary.BigEndian.Uint32(f.buf))
		}
		n := min(need-len(f.buf), len(p))
		f.buf = append(f.buf, p[:n]...)
		p = p[n:]
		if len(f.buf) < need {
			return
		}
		size := int(binary.BigEndian.Uint32(f.buf))
		switch {
		case len(f.buf) >= 4+size:
			frame(f.buf[4:])
			f.buf = f.buf[:0]
		case len(f.buf) == head && !wants(int16(binary.BigEndian.Uint16(f.buf[4:]))):
			f.skip = 4 + size - head
			f.buf = f.buf[:0]
		}
	}
}
