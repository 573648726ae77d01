package kafka

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"sync"
)

// header is the beginning of a request on the wire.
type header struct {
	key, version int16
	correlation  int32
}

// readFrame reads one request and returns its header.
func readFrame(r io.Reader) (header, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return header{}, err
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(r, frame); err != nil {
		return header{}, err
	}
	return header{
		key:         int16(binary.BigEndian.Uint16(frame)),
		version:     int16(binary.BigEndian.Uint16(frame[2:])),
		correlation: int32(binary.BigEndian.Uint32(frame[4:])),
	}, nil
}

func be32(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// wire records the keys of all requests that pass through the connections that it dials.
type wire struct {
	mu   sync.Mutex
	keys map[int16]int
}

func (w *wire) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	r, tap := io.Pipe()
	go func() {
		for {
			h, err := readFrame(r)
			if err != nil {
				return
			}
			w.mu.Lock()
			if w.keys == nil {
				w.keys = map[int16]int{}
			}
			w.keys[h.key]++
			w.mu.Unlock()
		}
	}()
	return &tapped{Conn: conn, tap: tap}, nil
}

// seen returns how often each request was sent.
func (w *wire) seen() map[int16]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	out := make(map[int16]int, len(w.keys))
	for k, n := range w.keys {
		out[k] = n
	}
	return out
}

// tapped copies what is written to a connection, before it is sent.
type tapped struct {
	net.Conn
	tap *io.PipeWriter
}

func (c *tapped) Write(p []byte) (int, error) {
	if _, err := c.tap.Write(p); err != nil {
		return 0, err
	}
	return c.Conn.Write(p)
}

func (c *tapped) Close() error {
	c.tap.Close()
	return c.Conn.Close()
}
