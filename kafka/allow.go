package kafka

import (
	"errors"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"
)

// ErrReadOnly is what stands for a request that [Config.ReadOnly] kept from being sent.
var ErrReadOnly = errors.New("flightdeck was started read-only")

// errNotAllowed is the text of the error with which franz-go refuses a request that its versions do not have. The
// value is not exported there.
const errNotAllowed = "request key is unknown"

// reads are the requests that a read-only client may send. A list of what is allowed stays right when Kafka
// gets new requests. Metadata can create topics, and nothing here asks it to.
var reads = []kmsg.Key{
	kmsg.ApiVersions, kmsg.SASLHandshake, kmsg.SASLAuthenticate,
	kmsg.Metadata, kmsg.DescribeCluster, kmsg.DescribeTopicPartitions, kmsg.DescribeQuorum,
	kmsg.FindCoordinator, kmsg.ListGroups,
	kmsg.DescribeGroups, kmsg.ConsumerGroupDescribe, kmsg.ShareGroupDescribe, kmsg.StreamsGroupDescribe,
	kmsg.OffsetFetch, kmsg.DescribeShareGroupOffsets,
	kmsg.ListOffsets, kmsg.OffsetForLeaderEpoch, kmsg.Fetch,
	kmsg.DescribeConfigs, kmsg.ListConfigResources, kmsg.DescribeLogDirs, kmsg.DescribeACLs,
	kmsg.DescribeClientQuotas, kmsg.DescribeProducers, kmsg.DescribeTransactions, kmsg.ListTransactions,
	kmsg.ListPartitionReassignments,
}

// never are the requests that brokers send to each other about share-partitions. Even ReadShareGroupState
// moves the leader epoch and so fences the broker that leads the share-partition.
var never = []kmsg.Key{
	kmsg.InitializeShareGroupState, kmsg.ReadShareGroupState,
	kmsg.WriteShareGroupState, kmsg.DeleteShareGroupState,
}

// allowed are the requests that a client may send, each with its newest version. franz-go refuses
// everything else before it writes a byte of it.
func allowed(readOnly bool) *kversion.Versions {
	all := kversion.Stable()
	if !readOnly {
		for _, key := range never {
			all.SetMaxKeyVersion(key.Int16(), -1)
		}
		return all
	}
	some := new(kversion.Versions)
	for _, key := range reads {
		if v, ok := all.LookupMaxKeyVersion(key.Int16()); ok {
			some.SetMaxKeyVersion(key.Int16(), v)
		}
	}
	return some
}
