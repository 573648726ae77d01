package kafka

import (
	"context"
	"errors"
	"net"
	"os"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

const (
	// patience is how long a poll waits for a broker without hearing anything from it. It runs anew with
	// every answer, so a broker that is slow with a lot of work is not given up.
	patience = 2500 * time.Millisecond
	// shortPatience is for a broker that was silent in the poll before, so that it does not slow down
	// every poll until it comes back.
	shortPatience = 500 * time.Millisecond
	// pipelined is how many requests wait for one broker at the same time. Brokers answer one by one on a connection;
	// a few in flight keep them busy while we decode.
	pipelined = 4
)

// unanswered is the error of a broker that accepted a request and did not answer in time, in the form
// that a time-out of the connection itself has.
func unanswered(address string) error {
	return &net.OpError{Op: "read", Net: "tcp", Addr: brokerAddr(address), Err: os.ErrDeadlineExceeded}
}

// brokerAddr is host:port as a [net.Addr].
type brokerAddr string

func (brokerAddr) Network() string  { return "tcp" }
func (a brokerAddr) String() string { return string(a) }

// errDeparted is why a poll gives up a broker that is not in the cluster's metadata any more.
var errDeparted = errors.New("the cluster does not list the broker any more")

// A lane carries the requests of one poll to one broker. The first failure is final: what is
// in flight ends, and what follows is not sent, so a dead broker costs its deadline once a poll.
type lane struct {
	node     int32
	broker   *kgo.Broker
	ctx      context.Context
	giveUp   context.CancelCauseFunc
	patience time.Duration

	mu      sync.Mutex
	waiting int // requests in flight
	timer   *time.Timer
}

// openLane opens the lane to a broker. When nothing is heard from it for as long as patience, late is why.
func openLane(ctx context.Context, cl *kgo.Client, node int32, patience time.Duration, late error) *lane {
	l := &lane{node: node, broker: cl.Broker(int(node)), patience: patience}
	l.ctx, l.giveUp = context.WithCancelCause(ctx)
	l.timer = time.AfterFunc(patience, func() { l.giveUp(late) })
	l.timer.Stop()
	return l
}

// close releases what the lane holds. It may be called more than once.
func (l *lane) close() {
	l.timer.Stop()
	l.giveUp(context.Canceled)
}

// err is why the broker was given up, nil when it was not.
func (l *lane) err() error { return context.Cause(l.ctx) }

// ask sends a request and waits for the answer. Requests here only read, so one that dies with its
// connection, as the first after a broker restarted does, is sent once more.
func (l *lane) ask(req kmsg.Request) (kmsg.Response, error) {
	for attempt := 1; ; attempt++ {
		if err := l.err(); err != nil {
			return nil, err
		}
		l.begin()
		resp, err := l.broker.Request(l.ctx, req)
		l.end(err == nil)
		if err == nil {
			return resp, nil
		}
		if attempt == 2 || isDialError(err) || l.ctx.Err() != nil {
			l.giveUp(err)
			return nil, l.err()
		}
	}
}

func (l *lane) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.waiting++; l.waiting == 1 {
		l.timer.Reset(l.patience)
	}
}

func (l *lane) end(answered bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting--
	switch {
	case l.waiting == 0:
		l.timer.Stop()
	case answered:
		l.timer.Reset(l.patience)
	}
}

// isDialError reports whether a connection could not be opened, so that trying again at once is
// futile.
func isDialError(err error) bool {
	_, ok := errors.AsType[*dialError](err)
	return ok
}
