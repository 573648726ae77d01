package kafkatest

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// Client returns a client on the PLAINTEXT listeners that is closed with the test.
func (c *Cluster) Client(t testing.TB, opts ...kgo.Opt) *kgo.Client {
	t.Helper()
	opts = append([]kgo.Opt{
		kgo.SeedBrokers(c.Bootstrap()...),
		kgo.MetadataMinAge(100 * time.Millisecond), // tests change the cluster and look again
	}, opts...)
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		t.Fatalf("make a Kafka client: %v", err)
	}
	t.Cleanup(cl.Close)
	return cl
}

// CreateTopic creates a topic with a replica on every node, and returns when every node knows the
// leaders of its partitions.
func (c *Cluster) CreateTopic(t testing.TB, topic string, partitions int) {
	t.Helper()
	cl := c.Client(t)
	if _, err := kadm.NewClient(cl).CreateTopic(t.Context(), int32(partitions), int16(len(c.nodes)), nil, topic); err != nil {
		t.Fatalf("create topic %s: %v", topic, err)
	}
	name := kmsg.NewMetadataRequestTopic()
	name.Topic = &topic
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = append(req.Topics, name)
	Await(t, "topic "+topic+" has its leaders", func() error {
		for _, seed := range cl.SeedBrokers() {
			resp, err := req.RequestWith(t.Context(), seed)
			if err != nil {
				return err
			}
			created := resp.Topics[0]
			if err := kerr.ErrorForCode(created.ErrorCode); err != nil {
				return err
			}
			if got := len(created.Partitions); got != partitions {
				return fmt.Errorf("%d partitions of %d", got, partitions)
			}
			for _, p := range created.Partitions {
				if err := kerr.ErrorForCode(p.ErrorCode); err != nil {
					return fmt.Errorf("partition %d: %w", p.Partition, err)
				}
			}
		}
		return nil
	})
}

// Produce appends n records to one partition, acknowledged by all replicas. Their values count from 0.
func (c *Cluster) Produce(t testing.TB, topic string, partition int32, n int) {
	t.Helper()
	cl := c.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	records := make([]*kgo.Record, n)
	for i := range records {
		records[i] = &kgo.Record{Topic: topic, Partition: partition, Value: []byte(strconv.Itoa(i))}
	}
	if err := cl.ProduceSync(t.Context(), records...).FirstErr(); err != nil {
		t.Fatalf("produce to %s/%d: %v", topic, partition, err)
	}
}

// SetGroupConfig sets a configuration of a group, such as share.auto.offset.reset. The group need not
// exist.
func (c *Cluster) SetGroupConfig(t testing.TB, group, name, value string) {
	t.Helper()
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.Resources = []kmsg.IncrementalAlterConfigsRequestResource{{
		ResourceType: kmsg.ConfigResourceTypeGroupConfig,
		ResourceName: group,
		Configs:      []kmsg.IncrementalAlterConfigsRequestResourceConfig{{Name: name, Value: &value}},
	}}
	resp, err := req.RequestWith(t.Context(), c.Client(t))
	if err == nil {
		err = kerr.ErrorForCode(resp.Resources[0].ErrorCode)
	}
	if err != nil {
		t.Fatalf("set %s=%s of group %s: %v", name, value, group, err)
	}
}
