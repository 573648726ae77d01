package kafka

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/plugin/kslog"
)

// ErrClosed is what a closed [Connection] answers.
var ErrClosed = errors.New("the connection was closed")

// job is what a client is for.
type job uint8

const (
	// jobPoll takes snapshots: short limits, so that a dead broker costs seconds.
	jobPoll job = iota
	// jobShareOffsets reads DescribeShareGroupOffsets, which brokers may hold back for 10 s and more.
	jobShareOffsets
	// jobFollow consumes a topic without a group.
	jobFollow
	// jobSession holds a share session: one client per session, and its connection is the session.
	jobSession
	// jobProduce produces.
	jobProduce
	// jobAdmin changes groups. Nothing is sent twice by itself, and an answer may take a failover.
	jobAdmin
)

// Connection makes the clients for one cluster and remembers why addresses could not be reached.
// It is safe for concurrent use.
type Connection struct {
	cfg    Config
	record record

	mu      sync.Mutex
	clients map[*kgo.Client]struct{} // nil once closed
	// sessions are those that hold records, or may.
	sessions map[*ShareSession]struct{}
}

// Connect prepares a connection; it does not dial. See [Connection.Check] for trying it.
func Connect(cfg Config) *Connection {
	if cfg.ClientID == "" {
		cfg.ClientID = "flightdeck"
	}
	c := &Connection{cfg: cfg, clients: map[*kgo.Client]struct{}{}, sessions: map[*ShareSession]struct{}{}}
	c.record.init()
	return c
}

// ReadOnly reports whether the connection refuses everything that is not a read.
func (c *Connection) ReadOnly() bool { return c.cfg.ReadOnly }

// Close leaves the share groups that records are held of, which takes a few seconds at most, and closes every
// client that is still open. Requests in flight fail with [kgo.ErrClientClosed].
func (c *Connection) Close() {
	c.mu.Lock()
	held := c.sessions
	c.sessions = nil
	c.mu.Unlock()
	for s := range held {
		s.leave()
	}
	for s := range held {
		<-s.ended
	}
	c.mu.Lock()
	open := c.clients
	c.clients = nil
	c.mu.Unlock()
	for cl := range open {
		cl.Close()
	}
}

// client makes a client for a job; extra comes after the options of the job and so wins over them. It
// does not dial. The caller closes the client when the job is over; Close closes what is left.
func (c *Connection) client(j job, extra ...kgo.Opt) (*kgo.Client, error) {
	opts := append(c.options(j), extra...)
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	closed := c.clients == nil
	if !closed {
		c.clients[cl] = struct{}{}
	}
	c.mu.Unlock()
	if closed {
		cl.Close()
		return nil, ErrClosed
	}
	return cl, nil
}

// forget is told by kgo that a client was closed.
func (c *Connection) forget(cl *kgo.Client) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.clients, cl)
}

// adopt makes the connection leave the session's group when it is closed; false when it is.
func (c *Connection) adopt(s *ShareSession) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.sessions == nil {
		return false
	}
	c.sessions[s] = struct{}{}
	return true
}

// release is told by a session that it has ended.
func (c *Connection) release(s *ShareSession) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.sessions, s)
}

// timing is what distinguishes the jobs.
type timing struct {
	dial     time.Duration // TCP and TLS together
	response time.Duration // how long a broker may hold back an answer
	retries  int           // of a request; 0 leaves kgo's 20
	retry    time.Duration // for all tries of a request; 0 leaves kgo's 30 s
	idle     time.Duration // after which a connection is closed; 0 leaves kgo's 30 s
}

var timings = map[job]timing{
	jobPoll: {dial: 2 * time.Second, response: 5 * time.Second, retries: 1, retry: 5 * time.Second, idle: 3 * time.Minute},
	// A broker that lost the leader of a group's topic answers after 10 to 12 s (seen on 4.3 and 4.4).
	jobShareOffsets: {dial: 2 * time.Second, response: 20 * time.Second, retries: 1, retry: 5 * time.Second, idle: 3 * time.Minute},
	jobFollow:       {dial: 2 * time.Second, response: 10 * time.Second},
	// An acknowledge may hang for 68 s while the state topic is below its minimum in-sync replicas, and
	// then succeed; giving up earlier closes the connection and loses the session with its records.
	jobSession: {dial: 5 * time.Second, response: 90 * time.Second, idle: 15 * time.Minute},
	jobAdmin:   {dial: 2 * time.Second, response: 20 * time.Second, retries: 1, retry: 5 * time.Second, idle: 3 * time.Minute},
	jobProduce: {dial: 5 * time.Second, response: 10 * time.Second, retries: 5, retry: 20 * time.Second},
}

// options are the options of a job, in full.
func (c *Connection) options(j job) []kgo.Opt {
	t := timings[j]
	name, version := softwareName(c.cfg.ClientID)
	opts := []kgo.Opt{
		kgo.SeedBrokers(c.cfg.Bootstrap...),
		kgo.ClientID(c.cfg.ClientID),
		kgo.SoftwareNameAndVersion(name, version),
		kgo.Dialer(c.dialer(t.dial)),
		kgo.RequestTimeoutOverhead(t.response),
		kgo.MaxVersions(allowed(c.cfg.ReadOnly)),
		// Metadata is refreshed when a broker cannot be dialed (see hooks); this is how soon again.
		kgo.MetadataMinAge(500 * time.Millisecond),
		// Metrics about flightdeck are of no use to the operators of a cluster, and sending them is a write.
		kgo.DisableClientMetrics(),
	}
	if t.retries > 0 {
		opts = append(opts, kgo.RequestRetries(t.retries))
	}
	if t.retry > 0 {
		opts = append(opts, kgo.RetryTimeout(t.retry))
	}
	if t.idle > 0 {
		opts = append(opts, kgo.ConnIdleTimeout(t.idle))
	}
	if c.cfg.SASL != nil {
		opts = append(opts, kgo.SASL(c.cfg.SASL))
	}
	if c.cfg.Log != nil {
		opts = append(opts, kgo.WithLogger(kslog.New(c.cfg.Log)))
	}
	return append(opts, kgo.WithHooks(&hooks{c: c}))
}

var softwareToken = regexp.MustCompile(`^[a-zA-Z0-9]([a-zA-Z0-9.-]*[a-zA-Z0-9])?$`)

// softwareName splits a client id such as "flightdeck/1.0" into the name and version that brokers
// show in their metrics (KIP-511), which allow fewer characters than a client id.
func softwareName(clientID string) (name, version string) {
	name, version, _ = strings.Cut(clientID, "/")
	if !softwareToken.MatchString(name) {
		name = "flightdeck"
	}
	if !softwareToken.MatchString(version) {
		version = "unknown"
	}
	return name, version
}
