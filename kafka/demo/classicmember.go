package demo

import (
	"context"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// clingOn is a member of a classic group that never looks at metadata: it goes on with the assignment that it once
// made, on topics that are deleted by now. Old clients do that; kgo does not, so this is done with raw requests.
func (c *Cluster) clingOn(ctx context.Context, g *consumerGroup, clientID string) {
	cl, err := c.client(clientID)
	if err != nil {
		return
	}
	defer cl.Close()

	join := kmsg.NewPtrJoinGroupRequest()
	join.Group, join.ProtocolType = g.id, "consumer"
	join.SessionTimeoutMillis, join.RebalanceTimeoutMillis = 45_000, 60_000
	subscription := kmsg.NewConsumerMemberMetadata()
	subscription.Topics = slices.Sorted(slices.Values(g.topics))
	protocol := kmsg.NewJoinGroupRequestProtocol()
	protocol.Name, protocol.Metadata = "range", subscription.AppendTo(nil)
	join.Protocols = append(join.Protocols, protocol)

	sync := kmsg.NewPtrSyncGroupRequest()
	sync.Group, sync.ProtocolType, sync.Protocol = g.id, &join.ProtocolType, &protocol.Name
	assignment := kmsg.NewConsumerMemberAssignment()
	for _, t := range topics {
		if !slices.Contains(g.topics, t.name) {
			continue
		}
		owned := kmsg.NewConsumerMemberAssignmentTopic()
		owned.Topic = t.name
		for p := range t.partitions {
			owned.Partitions = append(owned.Partitions, p)
		}
		assignment.Topics = append(assignment.Topics, owned)
	}

	for {
		joined, err := join.RequestWith(ctx, cl)
		if err == nil && joined.ErrorCode == kerr.MemberIDRequired.Code {
			join.MemberID = joined.MemberID
			continue
		}
		if err == nil && joined.ErrorCode == 0 {
			sync.MemberID, sync.Generation = joined.MemberID, joined.Generation
			mine := kmsg.NewSyncGroupRequestGroupAssignment()
			mine.MemberID, mine.MemberAssignment = joined.MemberID, assignment.AppendTo(nil)
			sync.GroupAssignment = []kmsg.SyncGroupRequestGroupAssignment{mine}
			if synced, err := sync.RequestWith(ctx, cl); err == nil && synced.ErrorCode == 0 {
				beat := kmsg.NewPtrHeartbeatRequest()
				beat.Group, beat.MemberID, beat.Generation = g.id, joined.MemberID, joined.Generation
				for wait(ctx, heartbeatInterval) {
					if r, err := beat.RequestWith(ctx, cl); err != nil || r.ErrorCode != 0 {
						break
					}
				}
			}
		}
		join.MemberID = ""
		if !wait(ctx, time.Second) {
			return
		}
	}
}
