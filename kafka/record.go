package kafka

import (
	"errors"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// record remembers, for all clients of a connection, which addresses were reached and why others were
// not. franz-go's errors rarely name the address, and its consumer reports no cause at all.
type record struct {
	mu       sync.Mutex
	reached  map[string]bool    // addresses that were ever connected to, TLS and SASL included
	atSeed   bool               // whether a bootstrap server was ever reached
	atBroker bool               // whether a broker was ever reached at the address that it advertises
	failed   map[string]failure // the last failure of each address, gone once it is reached
	answered time.Time          // when a request was last answered; zero for never
}

// failure is why an address could not be used.
type failure struct {
	place
	err error
	at  time.Time
}

// place is where a failure happened. The zero value with node -1 is somewhere unknown.
type place struct {
	address string // host:port as dialed; empty when unknown
	node    int32  // -1 for a bootstrap server and when unknown
	// advertised is whether only the broker's word is known for the address: nobody gave it as a
	// bootstrap server, and it was never reached.
	advertised bool
}

// placedError is an error of a request to a broker at the address that it advertises. The record alone can not always
// tell the address: it keeps the last failure of each, and a try may fail in another way than the one before.
type placedError struct {
	address string
	node    int32
	error
}

func (e *placedError) Unwrap() error { return e.error }

func (r *record) init() {
	r.reached = map[string]bool{}
	r.failed = map[string]failure{}
}

func (r *record) reach(meta kgo.BrokerMetadata) {
	r.mu.Lock()
	defer r.mu.Unlock()
	a := address(meta)
	r.reached[a] = true
	r.atSeed = r.atSeed || meta.NodeID < 0
	r.atBroker = r.atBroker || meta.NodeID >= 0
	delete(r.failed, a)
}

func (r *record) fail(meta kgo.BrokerMetadata, err error, now time.Time) {
	a := address(meta)
	r.mu.Lock()
	defer r.mu.Unlock()
	// franz-go numbers the bootstrap servers from the lowest int32 on. An address can be both.
	p := place{address: a, node: max(meta.NodeID, -1)}
	if p.node < 0 {
		p.node = -1
		if before, ok := r.failed[a]; ok {
			p.node = before.node
		}
	}
	p.advertised = p.node >= 0 && !r.reached[a]
	r.failed[a] = failure{place: p, err: err, at: now}
}

func (r *record) answer(now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answered = now
}

// find says where err happened. Several addresses may have failed with the same value, such as io.EOF; then
// the place is unknown.
func (r *record) find(err error) place {
	r.mu.Lock()
	defer r.mu.Unlock()
	if at, ok := errors.AsType[*placedError](err); ok {
		return place{address: at.address, node: at.node, advertised: !r.reached[at.address]}
	}
	found := place{node: -1}
	if d, ok := errors.AsType[*dialError](err); ok {
		if f, ok := r.failed[d.address]; ok {
			return f.place
		}
		found.address = d.address
		return found
	}
	n := 0
	for _, f := range r.failed {
		if errors.Is(err, f.err) {
			found = f.place
			n++
		}
	}
	if n == 1 {
		return found
	}
	found = place{node: -1}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Addr != nil {
		found.address = op.Addr.String()
	}
	return found
}

// last is the newest failure since the last answer; ok is false when there is none.
func (r *record) last() (f failure, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.failed {
		if g.at.After(r.answered) && g.at.After(f.at) {
			f, ok = g, true
		}
	}
	return f, ok
}

// LastFailure is the cause that kept the connection from working: the newest failure since any
// request was answered, nil when there is none. Consumers need it, since franz-go lets them try for ever and
// reports nothing.
func (c *Connection) LastFailure() error {
	f, ok := c.record.last()
	if !ok {
		return nil
	}
	return f.err
}

func (r *record) everAnswered() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !r.answered.IsZero()
}

// misadvertised reports whether bootstrap servers can be reached and brokers, at the addresses that they
// advertise, cannot.
func (r *record) misadvertised() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.atSeed && !r.atBroker
}

// hooks are called by one client of a connection.
type hooks struct {
	c  *Connection
	cl *kgo.Client
}

func (h *hooks) OnNewClient(cl *kgo.Client)    { h.cl = cl }
func (h *hooks) OnClientClosed(cl *kgo.Client) { h.c.forget(cl) }

// OnBrokerConnect is called once for every try to open a connection, TLS, ApiVersions and SASL included.
func (h *hooks) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	if err == nil {
		h.c.record.reach(meta)
		return
	}
	if errors.Is(err, kgo.ErrClientClosed) {
		return
	}
	h.c.record.fail(meta, err, time.Now())
	if meta.NodeID >= 0 {
		// franz-go goes on asking a dead coordinator until its metadata no longer has the broker.
		h.cl.ForceMetadataRefresh()
	}
}

// OnBrokerE2E is called for every request.
func (h *hooks) OnBrokerE2E(meta kgo.BrokerMetadata, key int16, e kgo.BrokerE2E) {
	switch err := e.Err(); {
	case errors.Is(err, kgo.ErrClientClosed):
	case err != nil:
		h.c.record.fail(meta, err, time.Now())
	case !opensConnection(kmsg.Key(key)):
		h.c.record.answer(time.Now())
	}
}

// opensConnection reports whether a request belongs to the opening of a connection: an answer to it does not
// prove that the broker lets one in.
func opensConnection(key kmsg.Key) bool {
	return key == kmsg.ApiVersions || key == kmsg.SASLHandshake || key == kmsg.SASLAuthenticate
}

func address(meta kgo.BrokerMetadata) string {
	return net.JoinHostPort(meta.Host, strconv.Itoa(int(meta.Port)))
}
