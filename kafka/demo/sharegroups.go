package demo

import (
	"context"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// shareGroup is an application that reads with a share group.
type shareGroup struct {
	id    string
	topic string
	// behind is where each share-partition starts, in records before the end; latest for a group without
	// share.auto.offset.reset, which is Kafka's default and reads nothing of the past.
	behind int64
	// workers are its members; none for a group that nobody runs.
	workers []temper
}

const latest int64 = -1

var shareGroups = []shareGroup{
	{id: "order-workers", topic: topicOrders, behind: 30, workers: []temper{steady, steady, outOfOrder, slow, moody, steady}},
	{id: "order-audit", topic: topicOrders, behind: 40, workers: []temper{brisk, brisk, brisk}},
	{id: "email-dispatch", topic: topicEmail, behind: 25, workers: []temper{steady, moody, outOfOrder}},
	{id: "returns-desk", topic: topicReturns, behind: latest, workers: []temper{steady}},
	{id: "label-printers", topic: topicShipping, behind: 320},
}

// placeShareGroup puts the share-partitions of a group at their start offsets.
func (c *Cluster) placeShareGroup(ctx context.Context, cl *kgo.Client, g *shareGroup, ends ends) error {
	if g.behind == latest {
		c.kfake.SetGroupConfigs(g.id, map[string]string{"share.auto.offset.reset": "latest"}) // else it is not told
		return nil
	}
	c.kfake.SetGroupConfigs(g.id, map[string]string{"share.auto.offset.reset": "earliest"})
	var starts []int64
	for _, end := range ends[g.topic] {
		starts = append(starts, max(0, end-g.behind))
	}
	return resetShareGroup(ctx, cl, g.id, g.topic, starts)
}

// resetShareGroup moves the share-partitions of a group without members to other start offsets.
func resetShareGroup(ctx context.Context, cl *kgo.Client, group, topic string, starts []int64) error {
	req := kmsg.NewPtrAlterShareGroupOffsetsRequest()
	req.GroupID = group
	t := kmsg.NewAlterShareGroupOffsetsRequestTopic()
	t.Topic = topic
	for p, start := range starts {
		o := kmsg.NewAlterShareGroupOffsetsRequestTopicPartition()
		o.Partition, o.StartOffset = int32(p), start
		t.Partitions = append(t.Partitions, o)
	}
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	if err := kerr.ErrorForCode(resp.ErrorCode); err != nil {
		return err
	}
	for _, t := range resp.Topics {
		for _, p := range t.Partitions {
			if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
				return err
			}
		}
	}
	return nil
}
