package kafka

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// errNobody is why nobody can be asked: no broker answered in this poll or the one before.
var errNobody = errors.New("no broker of the cluster answers")

const (
	// pollGroups is how many groups a poll describes at most. On a larger cluster the ones on screen are
	// read every time and the others take turns.
	pollGroups = 20_000
	// hedge is how long the broker that is asked for what any broker knows may take before another one
	// is asked too.
	hedge = 500 * time.Millisecond
)

// poll is one snapshot in the making:
//
//	Metadata ─┐
//	per broker: ListGroups ─ describe and OffsetFetch, a few requests at a time ─┬─ ListOffsets per leader ─ assembly
//
// It runs on the goroutine of its caller but for the requests; what those find is written to fields of their own and
// read after they ended.
type poll struct {
	s     *Source
	want  model.Want
	last  *model.Snapshot // never nil
	began time.Time
	at    time.Time // of the snapshot; what was read in this poll carries it too

	visits map[int32]*visit
	wg     sync.WaitGroup
	listed map[int32]bool // the brokers of the metadata
	topics *topicTable
	// slowRound is true when slow facts are read again.
	slowRound bool

	unknownTopics map[string]bool
	scratch       []model.GroupPartition
	problems      []model.Problem
}

func (p *poll) run(ctx context.Context) (*model.Snapshot, error) {
	defer p.close()
	p.slowRound = p.began.Sub(p.s.slowAt) >= slowFactsAge
	for node, b := range p.s.brokers {
		if b.listed {
			p.visit(ctx, node, b)
		}
	}
	metaErr := p.metadata(ctx)
	if p.topics == nil {
		p.close()
		p.wg.Wait()
		return nil, metaErr
	}
	if p.slowRound {
		p.wg.Go(func() { p.describeCluster(ctx) })
	}
	p.wg.Wait()
	if err := p.takeStock(metaErr); err != nil {
		return nil, err
	}
	entries := p.merge()
	if p.want.Depth == model.DepthFull {
		p.settle(ctx, entries)
		p.doubt(entries)
	}
	builds := p.prepare(entries)
	if p.want.Depth == model.DepthFull {
		if len(p.unknownTopics) > 0 {
			p.lookUp(ctx, p.unknownTopics)
		}
		p.wantTopics()
		p.readEnds()
	} else {
		p.at = time.Now()
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	p.remember()
	return p.publish(builds), nil
}

func (p *poll) close() {
	for _, v := range p.visits {
		v.lane.close()
	}
}

// visit starts to ask a broker all that it alone can tell.
func (p *poll) visit(ctx context.Context, node int32, b *brokerMemory) *visit {
	wait, late := b.patience()
	v := &visit{node: node, memory: b, lane: openLane(ctx, p.s.client, node, wait, late)}
	p.visits[node] = v
	stale := p.slowRound || b.versions == nil || b.failed != nil
	p.wg.Go(func() {
		if stale {
			resp, err := v.lane.ask(versionsRequest())
			if err != nil {
				v.err = err
				return
			}
			b.versions = resp.(*kmsg.ApiVersionsResponse)
		}
		if v.err = p.list(v); v.err == nil && p.want.Depth == model.DepthFull {
			p.read(v, p.choose(v.entries))
			v.err = v.lane.err()
		}
	})
	return v
}

// choose picks the groups of a broker that this poll reads, the ones on screen first.
func (p *poll) choose(all []entry) []*entry {
	out := make([]*entry, 0, len(all))
	for i := range all {
		out = append(out, &all[i])
	}
	budget := p.s.budget
	total := max(len(p.last.Groups)+len(p.last.ShareGroups), len(all))
	if total <= budget {
		return out
	}
	onScreen := make(map[string]bool, len(p.want.Groups))
	for _, id := range p.want.Groups {
		onScreen[id] = true
	}
	read := func(e *entry) time.Time {
		switch {
		case e.prev == nil:
			return time.Time{}
		case e.prev.OffsetsAt.IsZero() || e.prev.Described.Before(e.prev.OffsetsAt):
			return e.prev.Described
		}
		return e.prev.OffsetsAt
	}
	slices.SortStableFunc(out, func(a, b *entry) int {
		switch x, y := onScreen[a.id], onScreen[b.id]; {
		case x && !y:
			return -1
		case y && !x:
			return 1
		}
		return read(a).Compare(read(b))
	})
	share := len(all) * budget / total // of the budget, as the broker has of all groups
	return out[:min(len(out), max(share, 1, len(onScreen)))]
}

// metadata reads the brokers and topics, starts visits to brokers that are new, and ends those to brokers that are
// not listed any more. When it fails the topics are those of the last poll.
func (p *poll) metadata(ctx context.Context) error {
	resp, err := p.askAny(ctx, func() kmsg.Request {
		req := kmsg.NewPtrMetadataRequest() // Topics nil: all
		req.IncludeTopicAuthorizedOperations = true
		return req
	})
	if err != nil {
		p.topics = p.s.topics.again()
		for node := range p.s.brokers {
			p.listed[node] = true
		}
		return err
	}
	meta := resp.(*kmsg.MetadataResponse)
	s := p.s
	s.clusterID, s.controller = deref(meta.ClusterID), meta.ControllerID
	changed := false
	for i := range meta.Brokers {
		a := &meta.Brokers[i]
		p.listed[a.NodeID] = true
		b := s.brokers[a.NodeID]
		if b == nil {
			b = new(brokerMemory)
			s.brokers[a.NodeID] = b
		}
		changed = changed || b.host != "" && (b.host != a.Host || b.port != a.Port)
		b.host, b.port, b.rack, b.listed = a.Host, a.Port, deref(a.Rack), true
		if p.visits[a.NodeID] == nil {
			p.visit(ctx, a.NodeID, b)
		}
	}
	if changed {
		s.client.ForceMetadataRefresh()
	}
	p.topics = newTopicTable(meta, s.topics)
	for node, b := range s.brokers {
		if p.listed[node] {
			continue
		}
		b.listed = false
		if v := p.visits[node]; v != nil {
			v.lane.giveUp(errDeparted)
		}
	}
	p.rememberReplicas()
	return nil
}

// rememberReplicas keeps brokers in mind that hold replicas and are not listed: they are down. Brokers that
// hold none any more are forgotten.
func (p *poll) rememberReplicas() {
	holds := make(map[int32]bool)
	for i := range p.topics.list {
		for j := range p.topics.list[i].Partitions {
			for _, node := range p.topics.list[i].Partitions[j].Replicas {
				holds[node] = true
			}
		}
	}
	for node := range holds {
		if p.s.brokers[node] == nil {
			p.s.brokers[node] = new(brokerMemory)
		}
	}
	for node := range p.s.brokers {
		if !holds[node] && !p.listed[node] {
			delete(p.s.brokers, node)
		}
	}
}

// describeCluster asks what the user may do to the cluster.
func (p *poll) describeCluster(ctx context.Context) {
	resp, err := p.askAny(ctx, func() kmsg.Request {
		req := kmsg.NewPtrDescribeClusterRequest()
		req.IncludeClusterAuthorizedOperations = true
		return req
	})
	if err == nil {
		p.s.operations = operations(resp.(*kmsg.DescribeClusterResponse).ClusterAuthorizedOperations)
	}
}

// askAny sends a request that any broker can answer. The ones that answered in the last poll are tried, one
// more whenever the others let us wait; before the metadata was read, the bootstrap servers at last.
func (p *poll) askAny(ctx context.Context, request func() kmsg.Request) (kmsg.Response, error) {
	type outcome struct {
		resp kmsg.Response
		err  error
	}
	var candidates []*lane
	for _, v := range p.visits {
		if v.memory.failed == nil && v.lane.err() == nil {
			candidates = append(candidates, v.lane)
		}
	}
	answers := make(chan outcome, len(candidates))
	err := error(errNobody)
	for pending := 0; pending > 0 || len(candidates) > 0; {
		if len(candidates) > 0 {
			l := candidates[0]
			candidates = candidates[1:]
			pending++
			go func() {
				resp, err := l.ask(request())
				answers <- outcome{resp, err}
			}()
		}
		var late <-chan time.Time
		if len(candidates) > 0 {
			late = time.After(hedge)
		}
		select {
		case <-late:
		case a := <-answers:
			if pending--; a.err == nil {
				return a.resp, nil
			}
			err = a.err
		}
	}
	if len(p.listed) > 0 {
		return nil, err
	}
	return p.s.client.Request(ctx, request())
}

// takeStock notes which brokers answered. It fails when none did and the metadata could not be read
// either.
func (p *poll) takeStock(metaErr error) error {
	answered := false
	for _, v := range p.visits {
		answered = answered || v.err == nil
	}
	switch {
	case metaErr == nil:
	case !answered:
		return metaErr
	default:
		code, text := p.s.conn.Explain(metaErr)
		p.problems = append(p.problems, model.Problem{Scope: model.ScopeCluster, Code: code, Text: text})
	}
	if p.slowRound {
		p.s.slowAt = p.began
	}
	return nil
}

// remember keeps what this poll learned about the brokers for the next.
func (p *poll) remember() {
	for _, v := range p.visits {
		if v.err == nil {
			v.err = v.lane.err()
		}
		v.memory.failed = v.err
		switch {
		case v.err == nil:
			v.memory.answered = p.at
		case isDialError(v.err):
			p.s.client.ForceMetadataRefresh() // the broker may be back at another address
		}
	}
}

// oldest is the newest version of an API that all brokers have that answered.
func (p *poll) oldest(key kmsg.Key) int16 {
	v := int16(1<<15 - 1)
	for _, visit := range p.visits {
		if visit.err == nil {
			v = min(v, offers(visit.memory.versions, key))
		}
	}
	return v
}

// wantTopics asks for the offsets of the topics on screen, and of those that share groups read.
func (p *poll) wantTopics() {
	for _, name := range p.want.Topics {
		if t := p.topics.find(name); t != nil {
			for i := range t.Partitions {
				t.want(t.Partitions[i].Number)
			}
		}
	}
	p.s.shares.wanted(p.topics)
}
