package kafka

import (
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
)

// record remembers, for all clients of a connection, which addresses were reached and why others were
// not. franz-go's errors rarely name the address, and its consumer reports no cause at all.
type record struct {
	mu       sync.Mutex
	reached  map[string]bool    // addresses that answered a request, at any time
	answered bool               // whether any request but ApiVersions and SASL was ever answered
	atSeed   bool               // whether a bootstrap server was ever reached
	atBroker bool               // whether a broker was ever reached at the address that it advertises
	failed   map[string]failure // the last failure of each address, gone once it is reached
}

// failure is why an address could not be used.
type failure struct {
	node    int32 // -1 for a bootstrap server
	address string
	err     error
	at      time.Time
}

// hooks are called by the clients of a connection.
type hooks struct{ c *Connection }

func (h *hooks) OnClientClosed(cl *kgo.Client) { h.c.forget(cl) }

// OnBrokerConnect is called once for every try to open a connection, TLS, ApiVersions and SASL included.
func (h *hooks) OnBrokerConnect(meta kgo.BrokerMetadata, _ time.Duration, _ net.Conn, err error) {
	r := &h.c.record
	if err != nil {
		r.fail(meta, err)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.reached[address(meta)] = true
	r.atSeed = r.atSeed || meta.NodeID < 0
	r.atBroker = r.atBroker || meta.NodeID >= 0
	delete(r.failed, address(meta))
}

func (h *hooks) OnBrokerE2E(meta kgo.BrokerMetadata, _ int16, e kgo.BrokerE2E) {
	r := &h.c.record
	if err := e.Err(); err != nil {
		r.fail(meta, err)
	}
}

func (r *record) fail(meta kgo.BrokerMetadata, err error) {
	node := meta.NodeID
	if node < 0 {
		node = -1 // franz-go numbers the bootstrap servers from the lowest int32 on
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	a := address(meta)
	r.failed[a] = failure{node: node, address: a, err: err, at: time.Now()}
}

func address(meta kgo.BrokerMetadata) string {
	return net.JoinHostPort(meta.Host, strconv.Itoa(int(meta.Port)))
}
