package kafka

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// brokerNames are the settings that brokers before 4.3 have for all groups, by the name that groups have for
// them since.
var brokerNames = map[string]string{
	model.ConfigDeliveryLimit: "group.share.delivery.count.limit",
	model.ConfigRecordLocks:   "group.share.partition.max.record.locks",
}

// GroupConfigs reads the settings in force for a group (DescribeConfigs). The group need not exist: then they are
// those that it would have. What one of two sources does not tell is a problem in the answer.
func (r *Reader) GroupConfigs(ctx context.Context, group string) (model.GroupConfigs, error) {
	client, err := r.open()
	if err != nil {
		return model.GroupConfigs{Group: group}, err
	}
	return readGroupConfigs(ctx, r.conn, client, group)
}

func readGroupConfigs(ctx context.Context, conn *Connection, client *kgo.Client, group string) (model.GroupConfigs, error) {
	c := model.GroupConfigs{Group: group}
	values, err := describeConfigs(ctx, client, kmsg.ConfigResourceTypeGroupConfig, group, nil)
	if err != nil {
		return c, err
	}
	for _, v := range values {
		if v.Value != nil {
			c.Values = append(c.Values, configValue(v.Name, v))
		}
	}
	slices.SortFunc(c.Values, byName)
	if err := addBrokerConfigs(ctx, client, &c); err != nil {
		code, text := conn.Explain(err)
		c.Problems = append(c.Problems, model.Problem{Scope: model.ScopeGroup, Name: group, Code: code, Text: text})
	}
	slices.SortFunc(c.Values, byName)
	c.At = time.Now()
	return c, nil
}

func byName(a, b model.ConfigValue) int { return cmp.Compare(a.Name, b.Name) }

// addBrokerConfigs adds what was not told for the group and brokers have.
func addBrokerConfigs(ctx context.Context, client *kgo.Client, c *model.GroupConfigs) error {
	var names []string
	for name, broker := range brokerNames {
		if _, ok := c.Find(name); !ok {
			names = append(names, broker)
		}
	}
	if len(names) == 0 {
		return nil
	}
	node, err := anyBroker(ctx, client)
	if err != nil {
		return err
	}
	values, err := describeConfigs(ctx, client, kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(node)), names)
	if err != nil {
		return err
	}
	for name, broker := range brokerNames {
		for _, v := range values {
			if v.Name == broker && v.Value != nil {
				c.Values = append(c.Values, configValue(name, v))
			}
		}
	}
	return nil
}

func anyBroker(ctx context.Context, client *kgo.Client) (int32, error) {
	req := kmsg.NewPtrMetadataRequest()
	req.Topics = []kmsg.MetadataRequestTopic{} // none
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	if len(resp.Brokers) == 0 {
		return 0, errors.New("the cluster names no brokers")
	}
	return resp.Brokers[0].NodeID, nil
}

func describeConfigs(ctx context.Context, client *kgo.Client, kind kmsg.ConfigResourceType, name string, names []string) ([]kmsg.DescribeConfigsResponseResourceConfig, error) {
	req := kmsg.NewPtrDescribeConfigsRequest()
	res := kmsg.NewDescribeConfigsRequestResource()
	res.ResourceType, res.ResourceName, res.ConfigNames = kind, name, names
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return nil, err
	}
	if len(resp.Resources) != 1 {
		return nil, errors.New("configs of " + name + ": the broker answered for something else")
	}
	found := resp.Resources[0]
	return found.Configs, answered(kmsg.DescribeConfigs, name, found.ErrorCode, found.ErrorMessage)
}

// configValue is a setting that has a value.
func configValue(name string, v kmsg.DescribeConfigsResponseResourceConfig) model.ConfigValue {
	c := model.ConfigValue{Name: name, Value: *v.Value, Key: v.Name, Source: model.ConfigOfBroker}
	switch v.Source {
	case kmsg.ConfigSourceGroupConfig:
		c.Source = model.ConfigOfGroup
	case kmsg.ConfigSourceDefaultConfig:
		c.Source = model.ConfigOfDefault
	}
	return c
}
