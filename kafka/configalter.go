package kafka

import (
	"context"
	"errors"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// TryGroupConfigs asks the broker whether it would take changes of a group's configurations, without making them. The error
// is what it has against them; its words name the bounds.
func (a *Admin) TryGroupConfigs(ctx context.Context, group string, changes []model.ConfigChange) error {
	client, err := a.open()
	if err != nil {
		return err
	}
	return a.setConfigs(ctx, client, group, changes, true)
}

// setConfigs sets and unsets configurations of a group (IncrementalAlterConfigs); all or nothing.
func (a *Admin) setConfigs(ctx context.Context, client *kgo.Client, group string, changes []model.ConfigChange, validateOnly bool) error {
	req := kmsg.NewPtrIncrementalAlterConfigsRequest()
	req.ValidateOnly = validateOnly
	res := kmsg.NewIncrementalAlterConfigsRequestResource()
	res.ResourceType, res.ResourceName = kmsg.ConfigResourceTypeGroupConfig, group
	for _, c := range changes {
		set := kmsg.NewIncrementalAlterConfigsRequestResourceConfig()
		set.Name, set.Op = c.Name, kmsg.IncrementalAlterConfigOpDelete
		if value, ok := c.Value.Get(); ok {
			set.Op, set.Value = kmsg.IncrementalAlterConfigOpSet, &value
		}
		res.Configs = append(res.Configs, set)
	}
	req.Resources = append(req.Resources, res)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return err
	}
	if len(resp.Resources) != 1 {
		return errors.New("configs of " + group + ": the broker answered for something else")
	}
	r := resp.Resources[0]
	return answered(kmsg.IncrementalAlterConfigs, group, r.ErrorCode, r.ErrorMessage)
}
