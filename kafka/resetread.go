package kafka

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// ResetRequest asks for a plan.
type ResetRequest struct {
	Group string
	// Type is looked up when it is not known.
	Type model.GroupType
	Spec model.ResetSpec
	// Scope are the topics in question, all of their partitions where none are named. nil means what the group has positions
	// on; for [model.ResetGroup] what the other group has, and for [model.ResetFile] what the file names.
	Scope []model.TopicPartitions
	// Records is what the state topic says about the share group, for its effective start offsets and what is
	// lost; nil when it is not followed.
	Records *model.ShareRecords
	// Zone is that of the person; nil means the local one.
	Zone *time.Location
}

// positions are those of a group, by topic and partition.
type positions map[topicPartition]int64

func (p positions) of(topic string, partition int32) model.Int {
	if offset, ok := p[topicPartition{topic, partition}]; ok {
		return model.Some(offset)
	}
	return model.Int{}
}

// PlanReset reads what a plan needs and computes it. It takes a few round trips, whatever the number of partitions: the
// positions, the metadata, and for each leader one ListOffsets for log starts, one for log ends and one for the
// moment, at the same time. progress may be nil.
func (a *Admin) PlanReset(ctx context.Context, r ResetRequest, progress *Progress) (model.ResetPlan, error) {
	progress.begin("positions", 0)
	c, err := a.coordinator(ctx, r.Group)
	if err != nil {
		return model.ResetPlan{}, err
	}
	if r.Type == model.TypeUnknown {
		if r.Type, err = c.groupType(ctx); err != nil {
			return model.ResetPlan{}, err
		}
	}
	now, err := c.positions(ctx, r.Type)
	if err != nil {
		return model.ResetPlan{}, err
	}
	target, cleared, err := a.targets(ctx, r)
	if err != nil {
		return model.ResetPlan{}, err
	}
	wanted := wantedPartitions(r, now, target, cleared)
	progress.begin("logs", len(wanted))
	at := time.Now()
	if r.Zone != nil {
		at = at.In(r.Zone)
	}
	logs, err := a.readLogs(ctx, c.client, wanted, r.Spec, at, progress)
	if err != nil {
		return model.ResetPlan{}, err
	}
	in := model.ResetInput{Group: r.Group, Type: r.Type, At: at, Sizes: logs.sizes, Version: logs.version}
	for _, tp := range logs.wanted {
		p := logs.input(tp)
		p.Now, p.Target, p.Clear = now.of(tp.topic, tp.partition), target.of(tp.topic, tp.partition), cleared[tp]
		if r.Type == model.TypeShare {
			recorded(&p, r, logs.ids[tp.topic])
		}
		in.Partitions = append(in.Partitions, p)
	}
	return model.PlanReset(r.Spec, in), nil
}

// recorded adds what the state topic says about a share-partition.
func recorded(p *model.ResetPartition, r ResetRequest, id model.TopicID) {
	if r.Records == nil {
		return
	}
	rec := r.Records.Partitions[model.SharePartitionKey{Group: r.Group, TopicID: id, Partition: p.Number}]
	if rec == nil || !rec.CaughtUp || rec.Unfollowed != "" {
		return
	}
	state := rec.History.Now()
	if now, ok := p.Now.Get(); ok && state.Recorded && state.Start > now {
		return // somebody moved it back, and the write was not followed yet
	}
	p.State = state
	// The broker's start offset trails by one write; only ever forward of it is the fold right.
	if start, ok := p.State.Effective().Get(); ok && start >= p.Now.Or(0) {
		p.Now = model.Some(start)
	}
}

// targets are the positions of the other group or the file, and the partitions that are to have none.
func (a *Admin) targets(ctx context.Context, r ResetRequest) (positions, map[topicPartition]bool, error) {
	switch r.Spec.Mode {
	case model.ResetGroup:
		c, err := a.coordinator(ctx, r.Spec.Group)
		if err != nil {
			return nil, nil, err
		}
		typ, err := c.groupType(ctx)
		if err != nil {
			return nil, nil, err
		}
		found, err := c.positions(ctx, typ)
		if err == nil && len(found) == 0 {
			err = fmt.Errorf("group %s has no positions that could be taken", r.Spec.Group)
		}
		return found, nil, err
	case model.ResetFile:
		found, cleared := make(positions), make(map[topicPartition]bool)
		for _, o := range model.OffsetsFor(r.Spec.Offsets, r.Group) {
			at := topicPartition{o.Topic, o.Partition}
			if offset, ok := o.Offset.Get(); ok {
				found[at] = offset
			} else {
				cleared[at] = true
			}
		}
		if len(found)+len(cleared) == 0 {
			return nil, nil, fmt.Errorf("the file names no offsets of group %s", r.Group)
		}
		return found, cleared, nil
	}
	return nil, nil, nil
}

// wantedPartitions are the partitions in question, sorted. One with number -1 stands for all of its topic.
func wantedPartitions(r ResetRequest, now, target positions, cleared map[topicPartition]bool) []topicPartition {
	set := make(map[topicPartition]bool)
	for _, t := range r.Scope {
		if len(t.Partitions) == 0 {
			set[topicPartition{t.Topic, -1}] = true
		}
		for _, n := range t.Partitions {
			set[topicPartition{t.Topic, n}] = true
		}
	}
	if r.Scope == nil {
		from := now
		if target != nil {
			from = target
		}
		for tp := range from {
			set[tp] = true
		}
		for tp := range cleared {
			set[tp] = true
		}
	}
	return slices.SortedFunc(maps.Keys(set), comparePartitions)
}

func comparePartitions(a, b topicPartition) int {
	return cmp.Or(cmp.Compare(a.topic, b.topic), cmp.Compare(a.partition, b.partition))
}

// positions reads the committed offsets of the group, or the start offsets of a share group.
func (c *coordinator) positions(ctx context.Context, typ model.GroupType) (positions, error) {
	if typ == model.TypeShare {
		return c.shareStarts(ctx)
	}
	req := kmsg.NewPtrOffsetFetchRequest()
	req.Group = c.group // before version 8
	group := kmsg.NewOffsetFetchRequestGroup()
	group.Group = c.group // Topics nil: all
	req.Groups = append(req.Groups, group)
	resp, err := c.ask(ctx, offsetFetchByName{req}, func(r kmsg.Response) int16 {
		answer := r.(*kmsg.OffsetFetchResponse)
		return cmp.Or(answer.ErrorCode, first(answer.Groups, func(g *kmsg.OffsetFetchResponseGroup) int16 { return g.ErrorCode }))
	})
	if err != nil {
		return nil, err
	}
	answer := resp.(*kmsg.OffsetFetchResponse)
	if err := answered(kmsg.OffsetFetch, c.group, answer.ErrorCode, nil); err != nil {
		return nil, err
	}
	found := make(positions)
	for _, t := range answer.Topics {
		for _, p := range t.Partitions {
			if p.Offset >= 0 {
				found[topicPartition{t.Topic, p.Partition}] = p.Offset
			}
		}
	}
	for _, g := range answer.Groups {
		if g.ErrorCode == kerr.GroupIDNotFound.Code {
			return found, nil // as some brokers say of a group that does not exist
		}
		if err := answered(kmsg.OffsetFetch, c.group, g.ErrorCode, nil); err != nil {
			return nil, err
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if p.Offset >= 0 {
					found[topicPartition{t.Topic, p.Partition}] = p.Offset
				}
			}
		}
	}
	return found, nil
}

// offsetFetchByName is OffsetFetch up to version 9: from version 10 on topics are named by id alone.
type offsetFetchByName struct{ *kmsg.OffsetFetchRequest }

// MaxVersion limits what the client agrees on with the broker.
func (offsetFetchByName) MaxVersion() int16 { return 9 }

func (c *coordinator) shareStarts(ctx context.Context) (positions, error) {
	req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
	group := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
	group.GroupID = c.group // Topics nil: all
	req.Groups = append(req.Groups, group)
	resp, err := c.ask(ctx, req, func(r kmsg.Response) int16 {
		return first(r.(*kmsg.DescribeShareGroupOffsetsResponse).Groups, func(g *kmsg.DescribeShareGroupOffsetsResponseGroup) int16 { return g.ErrorCode })
	})
	if err != nil {
		return nil, err
	}
	found := make(positions)
	for _, g := range resp.(*kmsg.DescribeShareGroupOffsetsResponse).Groups {
		if g.ErrorCode == kerr.GroupIDNotFound.Code {
			return found, nil
		}
		if err := answered(kmsg.DescribeShareGroupOffsets, c.group, g.ErrorCode, g.ErrorMessage); err != nil {
			return nil, err
		}
		for _, t := range g.Topics {
			for _, p := range t.Partitions {
				if p.ErrorCode == 0 && p.StartOffset >= 0 {
					found[topicPartition{t.Topic, p.Partition}] = p.StartOffset
				}
			}
		}
	}
	return found, nil
}

// logs is what was read about the logs of a plan.
type logs struct {
	wanted  []topicPartition // with the partitions of whole topics
	sizes   map[string]int
	ids     map[string]model.TopicID
	version string
	mu      sync.Mutex
	of      map[topicPartition]*logRead
}

// logRead is what was read about one log.
type logRead struct {
	leader            int32
	start, end, found model.Int
	deleted           bool
	problem           string
}

func (l *logs) input(tp topicPartition) model.ResetPartition {
	p := model.ResetPartition{Topic: tp.topic, Number: tp.partition}
	if read := l.of[tp]; read != nil {
		p.Start, p.End, p.Found, p.Deleted, p.Problem = read.start, read.end, read.found, read.deleted, read.problem
	}
	return p
}

// readLogs reads the bounds of logs. What cannot be read of one is a problem of that one.
func (a *Admin) readLogs(ctx context.Context, client *kgo.Client, wanted []topicPartition, spec model.ResetSpec, at time.Time, progress *Progress) (*logs, error) {
	l := &logs{sizes: make(map[string]int), ids: make(map[string]model.TopicID), of: make(map[topicPartition]*logRead)}
	if err := a.readLeaders(ctx, client, l, wanted); err != nil {
		return nil, err
	}
	timestamps := []int64{earliestOffset, latestOffset}
	if ms, ok := spec.Timestamp(at); ok {
		timestamps = append(timestamps, ms)
	}
	progress.begin("logs", len(l.wanted)*len(timestamps))
	ask := l.wanted
	// A leader that has just moved is looked up again, a few times.
	for try := 1; len(ask) > 0; try++ {
		again := a.listLogs(ctx, client, l, ask, timestamps, progress)
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if len(again) == 0 || try == 3 {
			break
		}
		if err := sleep(ctx, 200*time.Millisecond); err != nil {
			return nil, err
		}
		if err := a.readLeaders(ctx, client, l, again); err != nil {
			return nil, err
		}
		ask = again
	}
	return l, nil
}

// readLeaders reads the metadata of topics: their partitions and leaders.
func (a *Admin) readLeaders(ctx context.Context, client *kgo.Client, l *logs, wanted []topicPartition) error {
	if len(wanted) == 0 {
		return nil
	}
	req := kmsg.NewPtrMetadataRequest()
	req.AllowAutoTopicCreation = false
	for i, tp := range wanted {
		if i == 0 || wanted[i-1].topic != tp.topic {
			t := kmsg.NewMetadataRequestTopic()
			t.Topic = kmsg.StringPtr(tp.topic)
			req.Topics = append(req.Topics, t)
		}
	}
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	if l.version == "" && len(resp.Brokers) > 0 {
		versions, err := client.Broker(int(resp.Brokers[0].NodeID)).Request(ctx, versionsRequest())
		if err != nil {
			return err
		}
		l.version = kafkaVersion(versions.(*kmsg.ApiVersionsResponse))
	}
	leaders := make(map[topicPartition]int32)
	failed := make(map[string]error)
	for _, t := range resp.Topics {
		name := deref(t.Topic)
		if failed[name] = answered(kmsg.Metadata, name, t.ErrorCode, nil); failed[name] != nil {
			continue
		}
		l.sizes[name], l.ids[name] = len(t.Partitions), model.TopicID(t.TopicID)
		for _, p := range t.Partitions {
			leaders[topicPartition{name, p.Partition}] = p.Leader
		}
	}
	first := l.wanted == nil
	for _, tp := range wanted {
		all := []int32{tp.partition}
		if tp.partition < 0 && l.sizes[tp.topic] > 0 {
			all = all[:0]
			for n := range int32(l.sizes[tp.topic]) {
				all = append(all, n)
			}
		}
		for _, n := range all {
			at := topicPartition{tp.topic, n}
			if first && l.of[at] == nil {
				l.wanted = append(l.wanted, at)
			}
			l.of[at] = a.leaderOf(at, leaders, failed[tp.topic])
		}
	}
	return nil
}

func (a *Admin) leaderOf(at topicPartition, leaders map[topicPartition]int32, failed error) *logRead {
	read := &logRead{leader: -1}
	node, exists := leaders[at]
	switch {
	case isCode(failed, kerr.UnknownTopicOrPartition), failed == nil && !exists:
		read.deleted = true
	case failed != nil:
		_, read.problem = a.conn.Explain(failed)
	case node < 0:
		_, read.problem = a.conn.Explain(answered(kmsg.Metadata, at.topic, kerr.LeaderNotAvailable.Code, nil))
	default:
		read.leader = node
	}
	return read
}

func isCode(err error, code *kerr.Error) bool {
	e, ok := err.(*requestError)
	return ok && e.Err == error(code)
}

// listLogs asks each leader once for every timestamp, all at the same time, and returns what has to be asked again because
// its leader moved.
func (a *Admin) listLogs(ctx context.Context, client *kgo.Client, l *logs, ask []topicPartition, timestamps []int64, progress *Progress) []topicPartition {
	type question struct {
		node      int32
		timestamp int64
	}
	asked := make(map[question][]kmsg.ListOffsetsRequestTopic)
	for _, tp := range ask {
		if read := l.of[tp]; read.leader >= 0 {
			for _, ts := range timestamps {
				q := question{read.leader, ts}
				asked[q] = appendPartition(asked[q], tp.topic, tp.partition, ts)
			}
		}
	}
	retry := make(map[topicPartition]bool)
	var wg sync.WaitGroup
	for q, topics := range asked {
		wg.Go(func() {
			req := kmsg.NewPtrListOffsetsRequest()
			req.Topics = topics
			resp, err := client.Broker(int(q.node)).Request(ctx, req)
			l.mu.Lock()
			defer l.mu.Unlock()
			if err != nil {
				_, text := a.conn.Explain(err)
				for _, t := range topics {
					for _, p := range t.Partitions {
						l.of[topicPartition{t.Topic, p.Partition}].problem = text
						progress.add(1)
					}
				}
				return
			}
			for _, t := range resp.(*kmsg.ListOffsetsResponse).Topics {
				for i := range t.Partitions {
					tp := topicPartition{t.Topic, t.Partitions[i].Partition}
					if read := l.of[tp]; read != nil {
						retry[tp] = a.take(read, q.timestamp, tp, &t.Partitions[i]) || retry[tp]
					}
					progress.add(1)
				}
			}
		})
	}
	wg.Wait()
	maps.DeleteFunc(retry, func(_ topicPartition, again bool) bool { return !again })
	return slices.SortedFunc(maps.Keys(retry), comparePartitions)
}

// take stores one answer, and reports whether it is worth asking again.
func (a *Admin) take(read *logRead, timestamp int64, tp topicPartition, p *kmsg.ListOffsetsResponseTopicPartition) (again bool) {
	if p.ErrorCode != 0 {
		_, read.problem = a.conn.Explain(answered(kmsg.ListOffsets, tp.topic, p.ErrorCode, nil))
		return kerr.IsRetriable(kerr.ErrorForCode(p.ErrorCode))
	}
	switch offset := model.Some(p.Offset); timestamp {
	case earliestOffset:
		read.start = offset
	case latestOffset:
		read.end = offset
	default:
		read.found = offset
	}
	return false
}
