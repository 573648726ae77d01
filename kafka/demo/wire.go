package demo

import (
	"encoding/binary"
	"net"
	"sync"
	"sync/atomic"

	"github.com/twmb/franz-go/pkg/kbin"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// wire stands between the clients and the brokers: every connection that a broker accepts passes through it.
type wire struct {
	names  *names
	mirror *mirror

	listeners int32
}

type listenFunc = func(network, address string) (net.Listener, error)

// listenWith opens listeners with next. kfake opens them in the order of the brokers' node ids.
func (w *wire) listenWith(next listenFunc) listenFunc {
	return func(network, address string) (net.Listener, error) {
		l, err := next(network, address)
		if err != nil {
			return nil, err
		}
		w.listeners++
		return &listener{Listener: l, wire: w, node: w.listeners - 1}, nil
	}
}

type listener struct {
	net.Listener
	wire *wire
	node int32
}

func (l *listener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, wire: l.wire, node: l.node, pending: make(map[int32]kmsg.Request)}, nil
}

// conn is the broker's end of a connection: Read carries requests, and every Write one whole response.
type conn struct {
	net.Conn
	wire *wire
	node int32

	requests framer
	known    bool // the first request was seen
	remote   atomic.Pointer[remoteAddr]

	mu      sync.Mutex
	pending map[int32]kmsg.Request // that the mirror wants the answers of, by correlation id

	ended bool // guarded by the mirror
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
	if err != nil {
		c.wire.mirror.ended(c)
	}
	return n, err
}

func (c *conn) Write(p []byte) (int, error) {
	c.response(p)
	return c.Conn.Write(p)
}

func (c *conn) Close() error {
	c.wire.mirror.ended(c)
	return c.Conn.Close()
}

// wants says whether a request of that kind is to be looked at as a whole.
func (c *conn) wants(key int16) bool { return !c.known || mirrored(key) }

func (c *conn) request(frame []byte) {
	r := kbin.Reader{Src: frame}
	key, version, correlation, client := r.Int16(), r.Int16(), r.Int32(), r.NullableString()
	if !c.known && client != nil {
		if host := c.wire.names.host(*client); host != "" {
			a := remoteAddr("/" + host)
			c.remote.Store(&a)
		}
	}
	c.known = true
	if !mirrored(key) {
		return
	}
	req := kmsg.RequestForKey(key)
	req.SetVersion(version)
	if req.IsFlexible() {
		kmsg.SkipTags(&r)
	}
	if !r.Ok() || req.ReadFrom(r.Src) != nil {
		return // the broker will close the connection
	}
	c.mu.Lock()
	c.pending[correlation] = req
	c.mu.Unlock()
	c.wire.mirror.asked(c, req)
}

func (c *conn) response(frame []byte) {
	r := kbin.Reader{Src: frame}
	_, correlation := r.Int32(), r.Int32()
	c.mu.Lock()
	req := c.pending[correlation]
	delete(c.pending, correlation)
	c.mu.Unlock()
	if req == nil {
		return
	}
	resp := req.ResponseKind()
	resp.SetVersion(req.GetVersion())
	if resp.IsFlexible() {
		kmsg.SkipTags(&r)
	}
	if resp.ReadFrom(r.Src) == nil {
		c.wire.mirror.answered(c, req, resp)
	}
}

// framer cuts a stream into its frames: four bytes of length, then the frame, which has at least two bytes.
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
		case len(f.buf) == head && !wants(int16(binary.BigEndian.Uint16(f.buf[4:]))):
			f.skip = 4 + size - head
			f.buf = f.buf[:0]
		case len(f.buf) >= 4+size:
			frame(f.buf[4:])
			f.buf = f.buf[:0]
		}
	}
}
