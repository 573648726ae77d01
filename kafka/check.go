package kafka

import (
	"context"
	"net"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// checkLimit is how long [Connection.Check] may take.
const checkLimit = 9 * time.Second

// Check tries the connection: it asks the bootstrap servers which brokers there are, and then every broker, at the
// address that it advertises, for its API versions. One broker that answers is enough. It ends within 9 s
// whatever the cluster does, and with ctx. The error is one for [Connection.Explain].
func (c *Connection) Check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, checkLimit)
	defer cancel()
	// The requests are tiny. A server that never answers gets two tries of 2 s, so that there is time for
	// another one.
	cl, err := c.client(jobPoll, kgo.RequestTimeoutOverhead(2*time.Second))
	if err != nil {
		return err
	}
	defer cl.Close()

	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none; nil would be all
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	results := make(chan error, len(resp.Brokers))
	for _, b := range resp.Brokers {
		broker := cl.Broker(int(b.NodeID))
		at := net.JoinHostPort(b.Host, strconv.Itoa(int(b.Port)))
		go func() {
			_, err := broker.Request(ctx, kmsg.NewPtrApiVersionsRequest())
			if err != nil {
				err = &placedError{at, b.NodeID, err}
			}
			results <- err
		}()
	}
	for range resp.Brokers {
		if err = <-results; err == nil {
			return nil
		}
	}
	return err
}
