package kafka

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// PlanDelete reads what would disappear. The type is looked up when it is not known.
func (a *Admin) PlanDelete(ctx context.Context, scope model.DeleteScope, typ model.GroupType) (model.DeletePlan, error) {
	c, err := a.coordinator(ctx, scope.Group)
	if err != nil {
		return model.DeletePlan{}, err
	}
	if typ == model.TypeUnknown {
		if typ, err = c.groupType(ctx); err != nil {
			return model.DeletePlan{}, err
		}
	}
	g, err := c.describe(ctx, typ)
	if err != nil {
		return model.DeletePlan{}, err
	}
	now, err := c.positions(ctx, typ)
	if err != nil {
		return model.DeletePlan{}, err
	}
	wanted := slices.SortedFunc(maps.Keys(now), comparePartitions)
	logs, err := a.readLogs(ctx, c.client, wanted, model.ResetSpec{}, time.Now(), nil)
	if err != nil {
		return model.DeletePlan{}, err
	}
	for _, tp := range wanted {
		log := logs.input(tp)
		p := model.GroupPartition{Topic: tp.topic, Number: tp.partition, Member: model.NoMember, Position: now.of(tp.topic, tp.partition),
			Start: log.Start, End: log.End, Deleted: log.Deleted}
		if typ != model.TypeShare {
			p.Measure()
		}
		g.Partitions = append(g.Partitions, p)
	}
	return model.PlanDelete(scope, g, time.Now()), nil
}

// ApplyDelete deletes what a plan says, after the positions were saved, and reads back that they are gone. There is one
// result a position, and one with partition -1 for the group itself. The error means that nothing was deleted. saved is the
// file with the positions; a plan for a reset made of it brings them back.
func (a *Admin) ApplyDelete(ctx context.Context, plan model.DeletePlan) (results []model.ActionResult, saved string, err error) {
	if err := a.allowed(); err != nil {
		return nil, "", err
	}
	if plan.Why != "" {
		return nil, "", errors.New(plan.Why)
	}
	c, err := a.coordinator(ctx, plan.Scope.Group)
	if err != nil {
		return nil, "", err
	}
	save := a.saveOfDelete(ctx, &plan)
	if err := save.write(); err != nil {
		return nil, "", err
	}
	d := &deletion{a: a, c: c, plan: &plan}
	results, err = a.conn.act(plan.Action(), func() []model.ActionResult {
		d.run(context.WithoutCancel(ctx))
		save.finish(d.results)
		return d.results
	})
	if err != nil {
		save.remove()
		return nil, "", err
	}
	return results, save.path, nil
}

func (a *Admin) saveOfDelete(ctx context.Context, plan *model.DeletePlan) *save {
	reset := model.ResetPlan{Group: plan.Scope.Group, Type: plan.Type}
	before := make(positions)
	for _, p := range plan.Rows {
		reset.Rows = append(reset.Rows, model.ResetRow{Topic: p.Topic, Number: p.Number, Now: p.Position, Clear: true})
		if offset, ok := p.Position.Get(); ok {
			before[topicPartition{p.Topic, p.Number}] = offset
		}
	}
	s := a.saveOf(ctx, &reset, before)
	s.Text = plan.Sentences()[0]
	return s
}

// deletion is a deletion while it is carried out.
type deletion struct {
	a       *Admin
	c       *coordinator
	plan    *model.DeletePlan
	results []model.ActionResult // of plan.Rows, and at the end that of the group
}

func (d *deletion) run(ctx context.Context) {
	for _, p := range d.plan.Rows {
		d.results = append(d.results, model.ActionResult{Group: d.plan.Scope.Group, Topic: p.Topic, Partition: p.Number, Code: model.CodeNotSent, Text: "This was not deleted, because something before it failed."})
	}
	switch {
	case d.plan.Scope.Topic == "":
		d.results = append(d.results, model.ActionResult{Group: d.plan.Scope.Group, Partition: -1})
		d.group(ctx)
	case d.plan.Type == model.TypeShare:
		d.shareTopic(ctx)
	default:
		d.partitions(ctx)
	}
	d.readBack(ctx)
}

// set stores what a row, by its index, was answered with.
func (d *deletion) set(i int, key kmsg.Key, code int16, message *string) {
	res := &d.results[i]
	if code == 0 {
		res.OK, res.Code, res.Text = true, "", "Deleted."
		return
	}
	if notEmpty(code) {
		res.Code, res.Text = model.CodeNotEmpty, d.plan.Scope.Group+" has members that read this, so the coordinator refused. Nothing was deleted here."
		return
	}
	res.Code, res.Text = d.a.conn.Explain(answered(key, d.plan.Scope.Group, code, message))
}

func (d *deletion) failAll(err error) {
	for i := range d.results {
		if e, ok := errors.AsType[*requestError](err); ok {
			d.set(i, e.Key, kerrCode(e.Err), &e.Message)
			continue
		}
		d.results[i].Code, d.results[i].Text = d.a.conn.Explain(err)
	}
}

func (d *deletion) partitions(ctx context.Context) {
	at := make([]topicPartition, len(d.plan.Rows))
	for i, p := range d.plan.Rows {
		at[i] = topicPartition{p.Topic, p.Number}
	}
	answers, err := d.c.deleteOffsets(ctx, at)
	if err != nil {
		d.failAll(err)
		return
	}
	for i, tp := range at {
		if code, ok := answers[tp]; ok {
			d.set(i, kmsg.OffsetDelete, code, nil)
		}
	}
}

func (d *deletion) shareTopic(ctx context.Context) {
	answers, err := d.c.deleteShareOffsets(ctx, []string{d.plan.Scope.Topic})
	switch a, ok := answers[d.plan.Scope.Topic]; {
	case err != nil:
		d.failAll(err)
	case ok:
		for i := range d.results {
			d.set(i, kmsg.DeleteShareGroupOffsets, a.code, a.message)
		}
	}
}

func (d *deletion) group(ctx context.Context) {
	req := kmsg.NewPtrDeleteGroupsRequest()
	req.Groups = []string{d.plan.Scope.Group}
	resp, err := d.c.ask(ctx, req, func(r kmsg.Response) int16 {
		return first(r.(*kmsg.DeleteGroupsResponse).Groups, func(g *kmsg.DeleteGroupsResponseGroup) int16 { return g.ErrorCode })
	})
	if err != nil {
		d.failAll(err)
		return
	}
	for _, g := range resp.(*kmsg.DeleteGroupsResponse).Groups {
		for i := range d.results {
			d.set(i, kmsg.DeleteGroups, g.ErrorCode, g.ErrorMessage)
		}
	}
}

// cleanup is how long brokers may take to remove the offsets of a topic that was deleted, which they do by themselves and
// refuse to do on request.
const cleanup = 5 * time.Second

// readBack checks that what was deleted is gone.
func (d *deletion) readBack(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, adminReadBack)
	defer cancel()
	now, err := d.c.positions(ctx, d.plan.Type)
	for began := time.Now(); err == nil && d.awaitsCleanup(now) && time.Since(began) < cleanup; {
		_ = sleep(ctx, 100*time.Millisecond)
		now, err = d.c.positions(ctx, d.plan.Type)
	}
	for i, row := range d.plan.Rows {
		res := &d.results[i]
		is := now.of(row.Topic, row.Number)
		switch {
		case !topicGone(res):
			d.check(res, !is.Known(), err, "The offset is still "+is.Text(model.Count)+".")
		case err == nil && !is.Known():
			res.OK, res.Code, res.Text = true, model.CodeReadBack, "The topic does not exist any more, and the brokers have removed its offsets; read back as gone."
		default:
			res.Text = "The topic does not exist any more. The brokers remove its offsets by themselves, and not on request."
		}
	}
	if d.plan.Scope.Topic == "" {
		g, err := d.c.describe(ctx, d.plan.Type)
		d.check(&d.results[len(d.results)-1], err == nil && g.State == "Dead", err, "The group is still there: it was made again, as a commit does.")
	}
}

// topicGone reports whether a result says that there is no such topic.
func topicGone(res *model.ActionResult) bool {
	return !res.OK && res.Code == kerr.UnknownTopicOrPartition.Message
}

// awaitsCleanup reports whether an offset of a topic that was deleted is still there.
func (d *deletion) awaitsCleanup(now positions) bool {
	for i, row := range d.plan.Rows {
		if topicGone(&d.results[i]) && now.of(row.Topic, row.Number).Known() {
			return true
		}
	}
	return false
}

func (d *deletion) check(res *model.ActionResult, gone bool, err error, still string) {
	switch {
	case !res.OK:
	case err != nil:
		_, text := d.a.conn.Explain(err)
		res.Code, res.Text = model.CodeNotReadBack, "The coordinator took it, but it could not be read back. "+text
	case !gone:
		res.OK, res.Code, res.Text = false, model.CodeDiffers, still
	default:
		res.Text = "Deleted, and read back as gone."
	}
}

// deleteOffsets deletes committed offsets (OffsetDelete). The answer has a code for each partition that it mentions.
func (c *coordinator) deleteOffsets(ctx context.Context, at []topicPartition) (map[topicPartition]int16, error) {
	req := kmsg.NewPtrOffsetDeleteRequest()
	req.Group = c.group
	for _, tp := range at {
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != tp.topic {
			t := kmsg.NewOffsetDeleteRequestTopic()
			t.Topic = tp.topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewOffsetDeleteRequestTopicPartition()
		p.Partition = tp.partition
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	resp, err := c.ask(ctx, req, func(r kmsg.Response) int16 { return r.(*kmsg.OffsetDeleteResponse).ErrorCode })
	if err != nil {
		return nil, err
	}
	got := resp.(*kmsg.OffsetDeleteResponse)
	if err := answered(kmsg.OffsetDelete, c.group, got.ErrorCode, nil); err != nil {
		return nil, err
	}
	codes := make(map[topicPartition]int16)
	for _, t := range got.Topics {
		for _, p := range t.Partitions {
			codes[topicPartition{t.Topic, p.Partition}] = p.ErrorCode
		}
	}
	return codes, nil
}

// topicAnswer is what a topic was answered with.
type topicAnswer struct {
	code    int16
	message *string
}

// deleteShareOffsets deletes the start offsets of a share group on whole topics (DeleteShareGroupOffsets).
func (c *coordinator) deleteShareOffsets(ctx context.Context, topics []string) (map[string]topicAnswer, error) {
	req := kmsg.NewPtrDeleteShareGroupOffsetsRequest()
	req.GroupID = c.group
	for _, name := range topics {
		t := kmsg.NewDeleteShareGroupOffsetsRequestTopic()
		t.Topic = name
		req.Topics = append(req.Topics, t)
	}
	resp, err := c.ask(ctx, req, func(r kmsg.Response) int16 { return r.(*kmsg.DeleteShareGroupOffsetsResponse).ErrorCode })
	if err != nil {
		return nil, err
	}
	got := resp.(*kmsg.DeleteShareGroupOffsetsResponse)
	if err := answered(kmsg.DeleteShareGroupOffsets, c.group, got.ErrorCode, got.ErrorMessage); err != nil {
		return nil, err
	}
	out := make(map[string]topicAnswer)
	for _, t := range got.Topics {
		out[t.Topic] = topicAnswer{t.ErrorCode, t.ErrorMessage}
	}
	return out, nil
}
