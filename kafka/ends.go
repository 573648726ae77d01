package kafka

import (
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// Timestamps of ListOffsets with a meaning of their own.
const (
	latestOffset   int64 = -1
	earliestOffset int64 = -2
)

// startsAge is how old log start offsets may become. Log ends are read at every poll; a log start only
// moves when retention or DeleteRecords takes records away, and matters to groups that lie behind it.
const startsAge = 10 * time.Second

// leaderRequest is what one leader is asked for, and what it answered; nil when it did not.
type leaderRequest struct {
	lane           *lane
	ends, starts   []kmsg.ListOffsetsRequestTopic
	ended, started *kmsg.ListOffsetsResponse
}

// readEnds reads the log ends of all wanted partitions, and the log starts that are not known or due,
// with one ListOffsets per leader and kind. It is called after the committed offsets were read, so that
// lag is never negative because of the order of reads. A leader that did not answer earlier
// in this poll is not asked.
func (p *poll) readEnds() {
	allStarts := p.began.Sub(p.s.startsAt) >= startsAge
	if allStarts {
		p.s.startsAt = p.began
	}
	leaders := make(map[int32]*leaderRequest)
	for i := range p.topics.list {
		t := &p.topics.list[i]
		if t.wanted == nil {
			continue
		}
		t.detach()
		for j, wanted := range t.wanted {
			part := &t.Partitions[j]
			v := p.visits[part.Leader]
			if !wanted || v == nil || v.err != nil {
				continue
			}
			r := leaders[part.Leader]
			if r == nil {
				r = &leaderRequest{lane: v.lane}
				leaders[part.Leader] = r
			}
			r.ends = appendPartition(r.ends, t.Name, part.Number, latestOffset)
			if allStarts || !part.Start.Known() {
				r.starts = appendPartition(r.starts, t.Name, part.Number, earliestOffset)
			}
		}
	}
	askLeaders(leaders)
	p.at = time.Now()
	for _, r := range leaders {
		p.takeOffsets(r.started, func(part *model.Partition, offset int64) { part.Start = model.Some(offset) })
		p.takeOffsets(r.ended, func(part *model.Partition, offset int64) { part.End, part.At = model.Some(offset), p.at })
	}
}

// askLeaders sends the requests of all leaders at the same time.
func askLeaders(leaders map[int32]*leaderRequest) {
	var wg sync.WaitGroup
	for _, r := range leaders {
		wg.Go(func() { r.ended = listOffsets(r.lane, r.ends) })
		if len(r.starts) > 0 {
			wg.Go(func() { r.started = listOffsets(r.lane, r.starts) })
		}
	}
	wg.Wait()
}

// appendPartition adds a partition to a request; partitions of a topic come one after another.
func appendPartition(topics []kmsg.ListOffsetsRequestTopic, name string, number int32, timestamp int64) []kmsg.ListOffsetsRequestTopic {
	if len(topics) == 0 || topics[len(topics)-1].Topic != name {
		t := kmsg.NewListOffsetsRequestTopic()
		t.Topic = name
		topics = append(topics, t)
	}
	part := kmsg.NewListOffsetsRequestTopicPartition()
	part.Partition, part.Timestamp = number, timestamp
	last := &topics[len(topics)-1]
	last.Partitions = append(last.Partitions, part)
	return topics
}

// listOffsets asks a leader; nil when it did not answer.
func listOffsets(l *lane, topics []kmsg.ListOffsetsRequestTopic) *kmsg.ListOffsetsResponse {
	req := kmsg.NewPtrListOffsetsRequest()
	req.Topics = topics
	resp, err := l.ask(req)
	if err != nil {
		return nil
	}
	return resp.(*kmsg.ListOffsetsResponse)
}

// takeOffsets stores the offsets of an answer. While a leader moves the old values stay, with their time;
// other errors become a problem of the topic.
func (p *poll) takeOffsets(resp *kmsg.ListOffsetsResponse, set func(*model.Partition, int64)) {
	if resp == nil {
		return
	}
	for i := range resp.Topics {
		t := p.topics.find(resp.Topics[i].Topic)
		if t == nil {
			continue
		}
		failed := make(map[int16][]int32)
		for _, answer := range resp.Topics[i].Partitions {
			j := t.index(answer.Partition)
			switch {
			case j < 0:
			case answer.ErrorCode != 0:
				if !kerr.IsRetriable(kerr.ErrorForCode(answer.ErrorCode)) {
					failed[answer.ErrorCode] = append(failed[answer.ErrorCode], answer.Partition)
				}
			case answer.Offset >= 0:
				set(&t.Partitions[j], answer.Offset)
			}
		}
		for code, partitions := range failed {
			slices.Sort(partitions)
			name, text := p.s.conn.Explain(answered(kmsg.ListOffsets, t.Name, code, nil))
			p.problems = append(p.problems, model.Problem{
				Scope: model.ScopeTopic, Name: t.Name, Code: name,
				Text: fmt.Sprintf("The log offsets of topic %s, partition %s, cannot be read. %s", t.Name, numbers(partitions), text),
			})
		}
	}
}
