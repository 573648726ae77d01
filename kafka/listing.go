package kafka

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// entry is a group in the course of a poll: who listed it, and what was answered about it.
type entry struct {
	id    string
	typ   model.GroupType
	state string       // as listed
	node  int32        // its coordinator
	prev  *model.Group // in the last snapshot; nil for a new group
	// missing is set for a group of the last snapshot that no broker listed.
	missing bool
	// gone is set when its coordinator says that it does not exist.
	gone bool

	// At most one of these is set, with what the group's coordinator says about it. emptied stands for
	// a classic group that was listed as Empty: it has no members to ask for.
	classic  *kmsg.DescribeGroupsResponseGroup
	consumer *kmsg.ConsumerGroupDescribeResponseGroup
	share    *kmsg.ShareGroupDescribeResponseGroup
	emptied  bool
	// describeCode and describeText are the error of describing the group.
	describeCode int16
	describeText string

	// offsets are the committed offsets of the group, nil when they were not read.
	offsets    []topicOffsets
	hasOffsets bool
	offsetCode int16
}

// unsettled reports whether the group should be asked for again, at its new coordinator.
func (e *entry) unsettled() bool {
	return !e.gone && (e.missing || moved(e.describeCode) || moved(e.offsetCode))
}

// moved reports whether an error says that the coordinator is elsewhere or not ready. That passes by itself
// within seconds.
func moved(code int16) bool {
	switch code {
	case kerr.CoordinatorLoadInProgress.Code, kerr.CoordinatorNotAvailable.Code, kerr.NotCoordinator.Code:
		return true
	}
	return false
}

// visit is what one broker had to say in a poll.
type visit struct {
	node    int32
	lane    *lane
	memory  *brokerMemory
	err     error // why it did not answer; nil when it did
	listing int16 // the error code of ListGroups; its groups are then not known
	entries []entry
}

// list asks a broker for the groups that it coordinates.
func (p *poll) list(v *visit) error {
	const tries, pause = 4, 200 * time.Millisecond
	for try := 1; ; try++ {
		resp, err := v.lane.ask(kmsg.NewPtrListGroupsRequest())
		if err != nil {
			return err
		}
		listed := resp.(*kmsg.ListGroupsResponse)
		if moved(listed.ErrorCode) && try < tries {
			if err := sleep(v.lane.ctx, pause); err != nil {
				return v.lane.err()
			}
			continue
		}
		v.listing = listed.ErrorCode
		p.enter(v, listed.Groups)
		return nil
	}
}

// enter makes sorted entries of listed groups.
func (p *poll) enter(v *visit, groups []kmsg.ListGroupsResponseGroup) {
	slices.SortFunc(groups, func(a, b kmsg.ListGroupsResponseGroup) int { return strings.Compare(a.Group, b.Group) })
	v.entries = make([]entry, 0, len(groups))
	for i := range groups {
		g := &groups[i]
		if p.want.OnlyGroups != nil && !p.want.OnlyGroups(g.Group) {
			continue
		}
		e := entry{id: g.Group, typ: groupType(g.GroupType), state: g.GroupState, node: v.node}
		if prev, ok := p.last.Group(g.Group); ok {
			e.prev, e.id = prev, prev.ID
		}
		v.entries = append(v.entries, e)
	}
}

// groupType is the type by Kafka's word for it (ListGroups v5).
func groupType(s string) model.GroupType {
	for _, t := range []model.GroupType{model.TypeClassic, model.TypeConsumer, model.TypeShare, model.TypeStreams} {
		if strings.EqualFold(s, t.String()) {
			return t
		}
	}
	return model.TypeUnknown
}

// merge brings the entries of all brokers together, sorted by id, with the groups that nobody listed
// any more. While a group moves two brokers may list it: the one that has something to say about it wins.
func (p *poll) merge() []entry {
	n := 0
	for _, v := range p.visits {
		n += len(v.entries)
	}
	all := make([]entry, 0, n)
	for _, v := range p.visits {
		all = append(all, v.entries...)
		v.entries = nil
	}
	if len(p.visits) > 1 {
		slices.SortFunc(all, func(a, b entry) int {
			if c := strings.Compare(a.id, b.id); c != 0 {
				return c
			}
			return int(a.describeCode) - int(b.describeCode)
		})
		all = slices.CompactFunc(all, func(a, b entry) bool { return a.id == b.id })
	}
	return p.addMissing(all)
}

// addMissing adds the groups of the last snapshot that are not among the sorted entries. ListGroups lacks the groups of a
// dead coordinator for 7 to 9 s, so that alone does not mean that they were deleted.
func (p *poll) addMissing(all []entry) []entry {
	listed := len(all)
	for _, groups := range [][]model.Group{p.last.Groups, p.last.ShareGroups} {
		for i := range groups {
			g := &groups[i]
			if p.want.OnlyGroups != nil && !p.want.OnlyGroups(g.ID) {
				continue
			}
			if _, ok := slices.BinarySearchFunc(all[:listed], g.ID, func(e entry, id string) int { return strings.Compare(e.id, id) }); !ok {
				all = append(all, entry{id: g.ID, typ: g.Type, state: g.State, node: g.Coordinator, prev: g, missing: true})
			}
		}
	}
	if len(all) > listed {
		slices.SortFunc(all, func(a, b entry) int { return strings.Compare(a.id, b.id) })
	}
	return all
}

// settle asks again for groups whose coordinator moved, and for those that nobody listed, at the coordinators that
// FindCoordinator names. What is not settled in a few rounds stays as it was in the last snapshot.
func (p *poll) settle(ctx context.Context, all []entry) {
	const rounds, pause = 3, 200 * time.Millisecond
	for round := range rounds {
		var open []*entry
		for i := range all {
			e := &all[i]
			if e.unsettled() && !(e.missing && p.isSilent(e.node)) {
				open = append(open, e)
			}
		}
		if len(open) == 0 || round > 0 && sleep(ctx, pause) != nil {
			return
		}
		for node, entries := range p.coordinators(ctx, open) {
			if v := p.visits[node]; v != nil && v.err == nil {
				p.read(v, entries)
			}
		}
		for _, e := range open {
			e.missing = e.missing && !e.told()
		}
	}
}

// told reports whether the group's coordinator answered about it.
func (e *entry) told() bool {
	return e.classic != nil || e.consumer != nil || e.share != nil || e.describeCode != 0 && !moved(e.describeCode)
}

// settling is how long after the last reading a new coordinator is not believed that a group or an offset is gone.
// A coordinator that takes over answers from what is committed in its log, and for some 100 ms that may trail
// behind what the one before had (seen on 4.3: GROUP_ID_NOT_FOUND 8.7 s after a broker was killed).
const settling = 15 * time.Second

// doubt undoes what only a new coordinator says to the disadvantage of a group.
func (p *poll) doubt(entries []entry) {
	for i := range entries {
		e := &entries[i]
		if e.prev == nil || e.node == e.prev.Coordinator || p.began.Sub(e.prev.OffsetsAt) > settling && p.began.Sub(e.prev.Described) > settling {
			continue
		}
		if e.gone || e.hasOffsets && p.wentBack(e) {
			e.gone, e.hasOffsets, e.node = false, false, e.prev.Coordinator
		}
	}
}

// wentBack reports whether a group has fewer or lower committed offsets than before.
func (p *poll) wentBack(e *entry) bool {
	var rows, before int
	var sum, sumBefore int64
	for _, t := range e.offsets {
		for _, row := range t.rows {
			if row.offset >= 0 {
				rows++
				sum += row.offset
			}
		}
	}
	for i := range e.prev.Partitions {
		if offset, ok := e.prev.Partitions[i].Position.Get(); ok {
			before++
			sumBefore += offset
		}
	}
	return rows < before || sum < sumBefore
}

// isSilent reports whether a broker that the cluster lists did not say what groups it has.
func (p *poll) isSilent(node int32) bool {
	v := p.visits[node]
	return v != nil && (v.err != nil || v.listing != 0) && p.listed[node]
}

// maxLookups limits FindCoordinator on brokers before Kafka 3.0, which take one group a request.
const maxLookups = 50

// coordinators asks where groups are coordinated (FindCoordinator), and moves the entries there.
func (p *poll) coordinators(ctx context.Context, open []*entry) map[int32][]*entry {
	byID := make(map[string]*entry, len(open))
	keys := make([]string, len(open))
	for i, e := range open {
		byID[e.id], keys[i] = e, e.id
	}
	moves := make(map[int32][]*entry)
	place := func(id string, node int32, code int16) {
		e := byID[id]
		switch {
		case e == nil:
		case code == kerr.GroupAuthorizationFailed.Code && e.missing:
			e.gone = true // one may not see it any more
		case code == 0:
			e.node = node
			e.describeCode, e.offsetCode = 0, 0
			moves[node] = append(moves[node], e)
		}
	}
	if p.oldest(kmsg.FindCoordinator) >= 4 {
		resp, err := p.askAny(ctx, func() kmsg.Request {
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.CoordinatorKeys = keys
			return req
		})
		if err != nil {
			return nil
		}
		for _, c := range resp.(*kmsg.FindCoordinatorResponse).Coordinators {
			place(c.Key, c.NodeID, c.ErrorCode)
		}
		return moves
	}
	for _, e := range open[:min(len(open), maxLookups)] {
		resp, err := p.askAny(ctx, func() kmsg.Request {
			req := kmsg.NewPtrFindCoordinatorRequest()
			req.CoordinatorKey = e.id
			return req
		})
		if err != nil {
			break
		}
		c := resp.(*kmsg.FindCoordinatorResponse)
		place(e.id, c.NodeID, c.ErrorCode)
	}
	return moves
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}
