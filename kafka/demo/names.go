package demo

import (
	"encoding/base64"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"sync"
)

// names gives members client ids and hosts as a Kubernetes deployment would, and remembers which client id
// lives where.
type names struct {
	seed uint64

	mu    sync.RWMutex
	hosts map[string]string // by client id
}

func newNames(seed uint64) *names { return &names{seed: seed, hosts: make(map[string]string)} }

// podAlphabet is that of Kubernetes' generated names.
const podAlphabet = "bcdfghjklmnpqrstvwxz2456789"

// pod names the i-th member of an application: the replica set is the application's, the pod the member's.
func (n *names) pod(app string, i int) string {
	set := random(n.seed, app)
	one := random(n.seed, fmt.Sprint(app, "/", i))
	id := app + "-" + letters(set, 9) + "-" + letters(one, 5)
	host := fmt.Sprintf("10.42.%d.%d", 1+one.IntN(5), 10+one.IntN(240))
	n.mu.Lock()
	n.hosts[id] = host
	n.mu.Unlock()
	return id
}

// host is where a client id lives; empty when it is not one of ours.
func (n *names) host(clientID string) string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.hosts[clientID]
}

// memberID is the id of a share group's member: a UUID in URL-safe base64, as Kafka's clients make it.
func (n *names) memberID(clientID string) string {
	r := random(n.seed, "member/"+clientID)
	var b [16]byte
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	b[6] = b[6]&0x0f | 0x40 // version 4
	b[8] = b[8]&0x3f | 0x80
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func letters(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = podAlphabet[r.IntN(len(podAlphabet))]
	}
	return string(b)
}

// random is a source that depends on the seed and on what it is for, and on nothing else.
func random(seed uint64, what string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(what))
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
