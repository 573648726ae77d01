package kafka

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

const (
	// sharePatience is how long one reading of share offsets takes at most. Brokers hold the answer back for
	// about 2 s after a coordinator moved, and for 10 to 12 s after a leader failed (seen on 4.3
	// and 4.4); what is not answered in time is asked for again, last, by the next reading.
	sharePatience = 5 * time.Second
	// sharePipelined is how many requests wait for one coordinator at the same time.
	sharePipelined = 16
)

// errShareLate is why a reading was ended with answers outstanding.
var errShareLate = errors.New("the positions of share groups were not answered in time")

var shareLateProblem = model.Problem{
	Code: "no_answer",
	Text: "The group's coordinator did not tell its positions in time, as happens for some seconds after a broker failed or leaders moved. What is shown is old; it is asked again.",
}

// shareReader is what the source remembers of share offsets between readings.
type shareReader struct {
	patience time.Duration // how long a reading takes at most

	reading sync.Mutex // held during a reading

	mu     sync.Mutex // guards what follows
	client *kgo.Client
	closed bool
	// read are the last answers by group.
	read map[string]model.ShareGroupOffsets
	// late are groups without an answer in the last reading.
	late map[string]bool
}

// wanted asks a poll for the ends of the partitions that share groups have positions on.
func (r *shareReader) wanted(topics *topicTable) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, g := range r.read {
		for i := range g.Partitions {
			if t := topics.find(g.Partitions[i].Topic); t != nil {
				t.want(g.Partitions[i].Number)
			}
		}
	}
}

func (r *shareReader) close() {
	r.mu.Lock()
	client := r.client
	r.client, r.closed = nil, true
	r.mu.Unlock()
	if client != nil {
		client.Close()
	}
}

// shareAnswer is the outcome for one group.
type shareAnswer struct {
	group string
	resp  *kmsg.DescribeShareGroupOffsetsResponse
	err   error
}

// ShareOffsets reads the positions of share groups, which can take seconds. Each group has an answer or
// a problem of its own, beside the positions read last; groups that the brokers had no time for are left out. The
// error means that nothing could be asked.
//
// Brokers stall on a request with several groups, and with it everything behind it on the connection,
// so each group has its own, on a client of its own.
func (s *Source) ShareOffsets(ctx context.Context, groups []string) (model.ShareOffsets, error) {
	r := &s.shares
	r.reading.Lock()
	defer r.reading.Unlock()
	client, err := s.shareClient()
	if err != nil {
		return model.ShareOffsets{}, err
	}
	asked, cancel := context.WithTimeoutCause(ctx, r.patience, errShareLate)
	defer cancel()

	pub := s.published.Load()
	byNode, unknown := r.plan(pub, groups)
	if len(unknown) > 0 {
		if err := findShareCoordinators(asked, client, unknown, byNode); err != nil && len(byNode) == 0 {
			return model.ShareOffsets{}, err
		}
	}
	answers := askShares(asked, client, byNode)
	// The coordinators that said that they are none: look them up, and ask once more.
	again := make(map[int32][]string)
	var lost []string
	for _, a := range answers {
		if a.err == nil && movedShare(a.resp) {
			lost = append(lost, a.group)
		}
	}
	if len(lost) > 0 && findShareCoordinators(asked, client, lost, again) == nil {
		answers = append(answers, askShares(asked, client, again)...)
	}
	if err := ctx.Err(); err != nil && len(answers) == 0 {
		return model.ShareOffsets{}, err
	}
	return s.takeShares(ctx, pub, groups, answers), nil
}

func movedShare(resp *kmsg.DescribeShareGroupOffsetsResponse) bool {
	return len(resp.Groups) == 1 && moved(resp.Groups[0].ErrorCode)
}

func (s *Source) shareClient() (*kgo.Client, error) {
	r := &s.shares
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil, ErrClosed
	}
	if r.client == nil {
		client, err := s.conn.client(jobShareOffsets)
		if err != nil {
			return nil, err
		}
		r.client = client
	}
	return r.client, nil
}

// plan sorts the groups by coordinator as the last snapshot knows it, the ones that were late in the last reading
// at the end.
func (r *shareReader) plan(pub *published, groups []string) (byNode map[int32][]string, unknown []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	byNode = make(map[int32][]string)
	for _, late := range []bool{false, true} {
		for _, id := range groups {
			if r.late[id] != late {
				continue
			}
			if g, ok := pub.snapshot.Group(id); ok && g.Coordinator >= 0 {
				byNode[g.Coordinator] = append(byNode[g.Coordinator], id)
			} else {
				unknown = append(unknown, id)
			}
		}
	}
	return byNode, unknown
}

// findShareCoordinators adds groups to the brokers that coordinate them. The coordinator of a share group
// itself is an ordinary group coordinator; this creates no topic.
func findShareCoordinators(ctx context.Context, client *kgo.Client, groups []string, byNode map[int32][]string) error {
	req := kmsg.NewPtrFindCoordinatorRequest()
	req.CoordinatorKeys = groups
	resp, err := client.Request(ctx, req)
	if err != nil {
		return err
	}
	for _, c := range resp.(*kmsg.FindCoordinatorResponse).Coordinators {
		if c.ErrorCode == 0 {
			byNode[c.NodeID] = append(byNode[c.NodeID], c.Key)
		}
	}
	return nil
}

// askShares sends one request per group, a few at a time to each coordinator.
func askShares(ctx context.Context, client *kgo.Client, byNode map[int32][]string) []shareAnswer {
	var (
		wg  sync.WaitGroup
		mu  sync.Mutex
		all []shareAnswer
	)
	for node, groups := range byNode {
		l := openLane(ctx, client, node, sharePatience, errShareLate)
		defer l.close()
		queue := make(chan string, len(groups))
		for _, id := range groups {
			queue <- id
		}
		close(queue)
		for range min(sharePipelined, len(groups)) {
			wg.Go(func() {
				for id := range queue {
					group := kmsg.NewDescribeShareGroupOffsetsRequestGroup()
					group.GroupID = id // Topics nil: all
					req := kmsg.NewPtrDescribeShareGroupOffsetsRequest()
					req.Groups = append(req.Groups, group)
					resp, err := l.ask(req)
					a := shareAnswer{group: id, err: err}
					if err == nil {
						a.resp = resp.(*kmsg.DescribeShareGroupOffsetsResponse)
					}
					mu.Lock()
					all = append(all, a)
					mu.Unlock()
				}
			})
		}
	}
	wg.Wait()
	return all
}

// takeShares turns answers into positions, and remembers them.
func (s *Source) takeShares(ctx context.Context, pub *published, groups []string, answers []shareAnswer) model.ShareOffsets {
	at := time.Now()
	out := model.ShareOffsets{At: at, Groups: make(map[string]model.ShareGroupOffsets, len(groups))}
	late := make(map[string]bool)
	for _, id := range groups {
		late[id] = true
	}
	for _, a := range answers {
		switch {
		case errors.Is(a.err, errShareLate):
			out.Groups[a.group] = s.lastShare(a.group, shareLateProblem)
		case a.err != nil:
			code, text := s.conn.Explain(a.err)
			out.Groups[a.group] = s.lastShare(a.group, model.Problem{Code: code, Text: text})
		case len(a.resp.Groups) != 1:
			delete(late, a.group)
			out.Groups[a.group] = model.ShareGroupOffsets{At: at}
		case a.resp.Groups[0].ErrorCode != 0:
			g := &a.resp.Groups[0]
			delete(late, a.group)
			out.Groups[a.group] = s.lastShare(a.group, s.groupProblem(kmsg.DescribeShareGroupOffsets, a.group, g.ErrorCode, deref(g.ErrorMessage)))
		default:
			delete(late, a.group)
			out.Groups[a.group] = model.ShareGroupOffsets{At: at, Partitions: sharePositions(pub, a.group, a.resp)}
		}
	}
	s.measureShares(ctx, pub, out)

	r := &s.shares
	r.mu.Lock()
	defer r.mu.Unlock()
	r.late = late
	maps.Copy(r.read, out.Groups)
	maps.DeleteFunc(r.read, func(id string, _ model.ShareGroupOffsets) bool {
		_, exists := pub.snapshot.Group(id)
		return !exists
	})
	return out
}

// lastShare is the last answer of a group together with why there is no newer one.
func (s *Source) lastShare(id string, problem model.Problem) model.ShareGroupOffsets {
	s.shares.mu.Lock()
	defer s.shares.mu.Unlock()
	last := s.shares.read[id]
	problem.Scope, problem.Name = model.ScopeGroup, id
	last.Problem = &problem
	return last
}

// sharePositions are the positions of an answer, with the partitions that the group's members are assigned and
// that have none yet.
func sharePositions(pub *published, id string, resp *kmsg.DescribeShareGroupOffsetsResponse) []model.GroupPartition {
	var out []model.GroupPartition
	for _, t := range resp.Groups[0].Topics {
		name := pub.topics.name(t.Topic, t.TopicID)
		topic := pub.topics.find(name)
		for i := range t.Partitions {
			a := &t.Partitions[i]
			part := model.GroupPartition{Topic: name, Number: a.Partition, Member: model.NoMember}
			if topic != nil {
				part.Topic = topic.Name
			}
			if a.ErrorCode == 0 && a.StartOffset >= 0 {
				part.Position = model.Some(a.StartOffset)
			}
			if a.ErrorCode == 0 && resp.Version >= 1 && a.Lag >= 0 {
				part.Lag = model.Some(a.Lag)
			}
			part.Deleted = a.ErrorCode == kerr.UnknownTopicOrPartition.Code
			out = append(out, part)
		}
	}
	out = sortPartitions(out)
	if g, ok := pub.snapshot.Group(id); ok {
		answered := model.Group{Partitions: out}
		for _, part := range g.Partitions {
			if _, ok := answered.Partition(part.Topic, part.Number); !ok {
				part.Position, part.Lag, part.Lost, part.Beyond = model.Int{}, model.Int{}, 0, 0
				out = append(out, part)
			}
		}
	}
	return sortPartitions(out)
}

// measureShares fills in the bounds of the logs. What the last poll did not read, or read before the position
// went on, is read now.
func (s *Source) measureShares(ctx context.Context, pub *published, out model.ShareOffsets) {
	ends := make(map[string]map[int32]model.Partition)
	leaders := make(map[int32]*leaderRequest)
	each := func(f func(part *model.GroupPartition, log model.Partition)) {
		for _, g := range out.Groups {
			if g.Problem != nil {
				continue
			}
			for i := range g.Partitions {
				part := &g.Partitions[i]
				if t := pub.topics.find(part.Topic); t != nil {
					if j := t.index(part.Number); j >= 0 {
						log := t.Partitions[j]
						if newer, ok := ends[part.Topic][part.Number]; ok {
							log = newer
						}
						f(part, log)
					}
				}
			}
		}
	}
	each(func(part *model.GroupPartition, log model.Partition) {
		if end, ok := log.End.Get(); ok && part.Position.Or(0) <= end || log.Leader < 0 {
			return
		}
		if ends[part.Topic] == nil {
			ends[part.Topic] = make(map[int32]model.Partition)
		}
		if _, ok := ends[part.Topic][part.Number]; ok {
			return
		}
		ends[part.Topic][part.Number] = log
		r := leaders[log.Leader]
		if r == nil {
			r = new(leaderRequest)
			leaders[log.Leader] = r
		}
		r.ends = appendPartition(r.ends, part.Topic, part.Number, latestOffset)
		r.starts = appendPartition(r.starts, part.Topic, part.Number, earliestOffset)
	})
	if len(leaders) > 0 && pub.client != nil {
		for node, r := range leaders {
			r.lane = openLane(ctx, pub.client, node, patience, errShareLate)
			defer r.lane.close()
		}
		askLeaders(leaders)
		take := func(resp *kmsg.ListOffsetsResponse, set func(*model.Partition, int64)) {
			if resp == nil {
				return
			}
			for _, t := range resp.Topics {
				for _, a := range t.Partitions {
					if log, ok := ends[t.Topic][a.Partition]; ok && a.ErrorCode == 0 && a.Offset >= 0 {
						set(&log, a.Offset)
						ends[t.Topic][a.Partition] = log
					}
				}
			}
		}
		for _, r := range leaders {
			take(r.started, func(log *model.Partition, offset int64) { log.Start = model.Some(offset) })
			take(r.ended, func(log *model.Partition, offset int64) { log.End = model.Some(offset) })
		}
	}
	each(func(part *model.GroupPartition, log model.Partition) {
		part.Start, part.End = log.Start, log.End
		_, part.Lost, part.Beyond = model.ConsumerLag(part.Position, part.Start, part.End)
	})
}
