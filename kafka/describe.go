package kafka

import (
	"slices"
	"sync"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// groupsPerRequest is how many groups one describe or OffsetFetch request names: enough to make the number
// of requests small, few enough for first answers to come soon.
const groupsPerRequest = 500

// read describes groups of one broker and fetches their committed offsets. Every entry is written by one
// goroutine per kind of request, in fields of its own.
func (p *poll) read(v *visit, entries []*entry) {
	var wg sync.WaitGroup
	window := make(chan struct{}, pipelined)
	send := func(f func()) {
		window <- struct{}{}
		wg.Go(func() {
			defer func() { <-window }()
			f()
		})
	}
	versions := v.memory.versions
	byRequest := make(map[kmsg.Key][]*entry)
	var positions []*entry
	for _, e := range entries {
		if e.typ != model.TypeShare {
			positions = append(positions, e)
		}
		if e.typ == model.TypeClassic && e.state == "Empty" && !p.due(e) {
			e.emptied = true
			continue
		}
		if key := describeKey(e.typ); offers(versions, key) >= 0 {
			byRequest[key] = append(byRequest[key], e)
		}
	}
	for _, key := range []kmsg.Key{kmsg.DescribeGroups, kmsg.ConsumerGroupDescribe, kmsg.ShareGroupDescribe} {
		for chunk := range slices.Chunk(byRequest[key], groupsPerRequest) {
			send(func() { p.describe(v.lane, key, chunk) })
		}
	}
	if offers(versions, kmsg.OffsetFetch) >= 8 {
		for chunk := range slices.Chunk(positions, groupsPerRequest) {
			send(func() { p.fetchOffsets(v.lane, chunk) })
		}
	} else {
		for _, e := range positions {
			send(func() { p.fetchOffsetsOld(v.lane, e) })
		}
	}
	wg.Wait()
}

// due reports whether an Empty group is to be described although there are no members to learn of: now
// and then, for what the user may do to it.
func (p *poll) due(e *entry) bool {
	return e.prev == nil || e.missing || !e.prev.Operations.Known() && e.prev.Described.IsZero() || p.slowRound
}

// describeKey is the request that describes groups of a type. Brokers answer about a group of another type
// with GROUP_ID_NOT_FOUND, or call it Dead. Streams groups are not described.
func describeKey(t model.GroupType) kmsg.Key {
	switch t {
	case model.TypeConsumer:
		return kmsg.ConsumerGroupDescribe
	case model.TypeShare:
		return kmsg.ShareGroupDescribe
	case model.TypeStreams:
		return -1
	}
	return kmsg.DescribeGroups
}

// describe asks about groups of one type. Failures of the broker are left to the lane.
func (p *poll) describe(l *lane, key kmsg.Key, entries []*entry) {
	names := make([]string, len(entries))
	byName := make(map[string]*entry, len(entries)) // answers come in another order
	for i, e := range entries {
		names[i], byName[e.id] = e.id, e
	}
	switch key {
	case kmsg.DescribeGroups:
		req := kmsg.NewPtrDescribeGroupsRequest()
		req.Groups, req.IncludeAuthorizedOperations = names, true
		resp, err := l.ask(req)
		if err != nil {
			return
		}
		groups := resp.(*kmsg.DescribeGroupsResponse).Groups
		for i := range groups {
			g := &groups[i]
			if e := byName[g.Group]; e != nil && e.answered(g.ErrorCode, g.ErrorMessage, g.State) {
				e.classic = g
			}
		}
	case kmsg.ConsumerGroupDescribe:
		req := kmsg.NewPtrConsumerGroupDescribeRequest()
		req.Groups, req.IncludeAuthorizedOperations = names, true
		resp, err := l.ask(req)
		if err != nil {
			return
		}
		groups := resp.(*kmsg.ConsumerGroupDescribeResponse).Groups
		for i := range groups {
			g := &groups[i]
			if e := byName[g.Group]; e != nil && e.answered(g.ErrorCode, g.ErrorMessage, g.State) {
				e.consumer = g
			}
		}
	case kmsg.ShareGroupDescribe:
		req := kmsg.NewPtrShareGroupDescribeRequest()
		req.GroupIDs, req.IncludeAuthorizedOperations = names, true
		resp, err := l.ask(req)
		if err != nil {
			return
		}
		groups := resp.(*kmsg.ShareGroupDescribeResponse).Groups
		for i := range groups {
			g := &groups[i]
			if e := byName[g.GroupID]; e != nil && e.answered(g.ErrorCode, g.ErrorMessage, g.GroupState) {
				e.share = g
			}
		}
	}
}

// answered takes the outcome of describing the group and reports whether there is something to show. A
// group that its coordinator does not know was deleted since it was listed; one that is Dead
// through DescribeGroups and of unknown type may be of a protocol that the listing does not name.
func (e *entry) answered(code int16, text *string, state string) bool {
	switch {
	case code == kerr.GroupIDNotFound.Code, code == 0 && state == "Dead":
		e.gone = e.typ != model.TypeUnknown || e.missing
		return false
	case code != 0:
		e.describeCode, e.describeText = code, deref(text)
		return false
	}
	if e.typ == model.TypeUnknown {
		e.typ = model.TypeClassic
	}
	return true
}
