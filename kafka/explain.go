package kafka

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
)

// Explain says in words what went wrong, where, and what to do. The code is for programs and stable: an error
// name of the Kafka protocol such as GROUP_AUTHORIZATION_FAILED, or one of flightdeck's own in lower case
// such as refused. Both are empty for nil.
//
// The text may hold what brokers said, as they said it.
func (c *Connection) Explain(err error) (code, text string) {
	switch {
	case err == nil:
		return "", ""
	case c.isReadOnly(err):
		return "read_only", "This was not sent, because flightdeck was started read-only (--read-only)."
	case errors.Is(err, ErrNoAudit):
		return "no_audit", "This was not done, because there is no audit file to write it down in first (--audit-log)."
	case errors.Is(err, ErrInternalTopic):
		return "internal_topic", "This topic is Kafka's own, and what is written there can break groups and transactions. To write all the same, its name has to be given as the one to force."
	case isAudit(err):
		return "audit_failed", "This was not done, because it could not be written down first: " + err.Error() + ". Make room or choose another file with --audit-log."
	case errors.Is(err, kgo.ErrClientClosed), errors.Is(err, ErrClosed):
		return "closed", "The connection was closed by flightdeck."
	case errors.Is(err, context.Canceled):
		return "canceled", "This was given up before an answer came."
	}
	where := c.record.find(err)
	if timedOut(err) {
		f, ok := c.record.last()
		if !ok {
			return "timeout", "No answer came in time. The cluster or the way to it is slow; it is tried again."
		}
		err, where = f.err, f.place
	}
	if code, text, ok := c.explainConnection(err, where); ok {
		return code, text
	}
	if code, text, ok := explainKafka(err); ok {
		return code, text
	}
	switch text := err.Error(); {
	case strings.Contains(text, "broker is too old"):
		return "too_old", "The broker does not know this request; it needs a newer Kafka."
	case strings.Contains(text, "unknown broker"):
		return "unknown_broker", "The broker is not part of the cluster any more."
	default:
		return "error", text
	}
}

func (c *Connection) isReadOnly(err error) bool {
	return errors.Is(err, ErrReadOnly) ||
		c.cfg.ReadOnly && strings.Contains(err.Error(), errNotAllowed)
}

func isAudit(err error) bool {
	_, ok := errors.AsType[*AuditError](err)
	return ok
}

// timedOut reports whether the caller's own deadline ended the wait, which says nothing about the cause.
func timedOut(err error) bool {
	_, dialing := errors.AsType[*dialError](err)
	return errors.Is(err, context.DeadlineExceeded) && !dialing
}

// explainConnection explains what kept a connection from being made or from lasting.
func (c *Connection) explainConnection(err error, where place) (code, text string, ok bool) {
	e, ok := c.cause(err, where)
	if !ok {
		return "", "", false
	}
	code, text = e.code, where.String()+" "+e.what
	if where.advertised {
		text = fmt.Sprintf("Broker %d advertises the address %s, and that %s", where.node, where.address, e.what)
	}
	if where.advertised && e.unreachable && c.record.misadvertised() {
		code = "advertised_unreachable"
		text = fmt.Sprintf("The bootstrap server answers, but broker %d advertises the address %s, and that %s", where.node, where.address, e.what)
		e.do = "Set advertised.listeners on the broker to an address that can be reached from here, or connect from where it can."
	}
	return code, text + ". " + e.do, true
}

// String names the place as the beginning of a sentence.
func (p place) String() string {
	switch {
	case p.address == "":
		return "A broker"
	case p.node >= 0:
		return fmt.Sprintf("Broker %d at %s", p.node, p.address)
	default:
		return p.address
	}
}

// explainKafka explains an error code of the Kafka protocol.
func explainKafka(err error) (code, text string, ok bool) {
	k, ok := errors.AsType[*kerr.Error](err)
	if !ok {
		return "", "", false
	}
	code = k.Message
	if k == kerr.NotLeaderForPartition {
		code = "NOT_LEADER_OR_FOLLOWER" // Kafka's present name
	}
	answer, _ := errors.AsType[*requestError](err)
	if answer == nil {
		answer = &requestError{Key: noKey}
	}
	text, known := answer.denied(k)
	if !known {
		text, known = answer.off(k)
	}
	if !known {
		text, known = kafkaSentences[k.Code]
	}
	if !known {
		text = k.Description
	}
	if answer.Message != "" {
		text += " The broker says: " + strings.TrimSpace(answer.Message)
	}
	return code, text, true
}
