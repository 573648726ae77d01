package kafka

import (
	"context"
	"errors"

	"flightdeck/model"
)

// Source takes snapshots of the cluster of a [Connection]. It is safe for concurrent use; snapshots are
// taken one at a time.
type Source struct {
	conn *Connection
}

// NewSource prepares a source; it does not dial. The caller closes it.
func NewSource(c *Connection) *Source { return &Source{conn: c} }

// Close closes the clients of the source.
func (s *Source) Close() {}

// Snapshot reads the cluster. Partial failure is data (see [model.Problem]); the error means that
// nothing could be read, and is one for [Connection.Explain].
func (s *Source) Snapshot(ctx context.Context, want model.Want) (*model.Snapshot, error) {
	return nil, errors.ErrUnsupported
}

// ShareOffsets reads the positions of share groups, which can take seconds. Each group has an answer
// or a problem of its own; the error means that nothing could be asked.
func (s *Source) ShareOffsets(ctx context.Context, groups []string) (model.ShareOffsets, error) {
	return model.ShareOffsets{}, errors.ErrUnsupported
}
