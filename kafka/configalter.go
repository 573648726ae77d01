package kafka

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// GroupConfigs reads the configurations in force for a group, with what the brokers allow. The group need not exist: then
// they are those that it would have, and setting them before it exists decides where it starts. The type decides which
// are shown; it is looked up when it is not known.
func (a *Admin) GroupConfigs(ctx context.Context, group string, typ model.GroupType) (model.ConfigSheet, error) {
	client, err := a.open()
	if err != nil {
		return model.ConfigSheet{}, err
	}
	if typ == model.TypeUnknown {
		c, err := a.coordinator(ctx, group)
		if err != nil {
			return model.ConfigSheet{}, err
		}
		if typ, err = c.groupType(ctx); err != nil {
			return model.ConfigSheet{}, err
		}
	}
	configs, err := readGroupConfigs(ctx, a.conn, client, group)
	if err != nil {
		return model.ConfigSheet{}, err
	}
	broker, version, err := boundsOf(ctx, client, typ)
	if err != nil {
		// Without the right to see the brokers' configurations there are no bounds; they still hold.
		code, text := a.conn.Explain(err)
		configs.Problems = append(configs.Problems, model.Problem{Scope: model.ScopeGroup, Name: group, Code: code, Text: text})
	}
	return model.NewConfigSheet(&configs, typ, version, broker), nil
}

// boundsOf reads what a broker says about the settings of groups of a type, by its own names, and its version.
func boundsOf(ctx context.Context, client *kgo.Client, typ model.GroupType) (values map[string]string, version string, err error) {
	node, err := anyBroker(ctx, client)
	if err != nil {
		return nil, "", err
	}
	versions, err := client.Broker(int(node)).Request(ctx, versionsRequest())
	if err != nil {
		return nil, "", err
	}
	version = kafkaVersion(versions.(*kmsg.ApiVersionsResponse))
	names := []string{"group." + typ.String() + ".assignors"}
	for _, s := range model.GroupSettings(typ) {
		for _, bound := range []string{"min", "max"} {
			if name := model.BrokerConfig(s.Name, bound); name != "" {
				names = append(names, name)
			}
		}
	}
	found, err := describeConfigs(ctx, client, kmsg.ConfigResourceTypeBroker, strconv.Itoa(int(node)), names)
	if err != nil {
		return nil, version, err
	}
	values = make(map[string]string)
	for _, v := range found {
		values[v.Name] = deref(v.Value)
	}
	return values, version, nil
}

// AlterGroupConfigs sets and removes configurations of a group, all or none of them, and reads them back. There is one result a
// change, with the name in its text. The error means that nothing was changed.
func (a *Admin) AlterGroupConfigs(ctx context.Context, plan model.ConfigPlan) ([]model.ActionResult, error) {
	if err := a.allowed(); err != nil {
		return nil, err
	}
	if plan.Why != "" {
		return nil, errors.New(plan.Why)
	}
	client, err := a.open()
	if err != nil {
		return nil, err
	}
	return a.conn.act(plan.Action(), func() []model.ActionResult {
		ctx := context.WithoutCancel(ctx)
		err := a.setConfigs(ctx, client, plan.Group, plan.Changes, false)
		results := make([]model.ActionResult, len(plan.Changes))
		for i, c := range plan.Changes {
			r := &results[i]
			*r = model.ActionResult{Group: plan.Group, Partition: -1, OK: err == nil}
			if err != nil {
				r.Code, r.Text = a.conn.Explain(err)
				r.Text = c.Name + ": " + r.Text
			}
		}
		if err == nil {
			a.readBackConfigs(ctx, client, plan, results)
		}
		return results
	})
}

// configsVisible is how long brokers may take to see a change that the controller made.
const configsVisible = 5 * time.Second

// readBackConfigs waits until the brokers have the new values.
func (a *Admin) readBackConfigs(ctx context.Context, client *kgo.Client, plan model.ConfigPlan, results []model.ActionResult) {
	for began := time.Now(); ; {
		configs, err := readGroupConfigs(ctx, a.conn, client, plan.Group)
		agree := err == nil
		for i, c := range plan.Changes {
			is, _ := configs.Find(c.Name)
			value, set := c.Value.Get()
			same := set && is.Value == value || !set && is.Source != model.ConfigOfGroup
			agree = agree && same
			r := &results[i]
			switch r.OK, r.Code = true, ""; {
			case err != nil:
				_, text := a.conn.Explain(err)
				r.Code, r.Text = model.CodeNotReadBack, c.Name+" was taken, but could not be read back. "+text
			case same:
				r.Text = c.Name + " is " + is.Value + ", read back."
			default:
				r.OK, r.Code, r.Text = false, model.CodeDiffers, c.Name+" was taken, and read back it is "+is.Value+"."
			}
		}
		if agree || time.Since(began) > configsVisible || sleep(ctx, 50*time.Millisecond) != nil {
			return
		}
	}
}

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
