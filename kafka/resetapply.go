package kafka

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

const (
	// partitionsPerCommit is how many partitions one request sets. All offsets of a commit are one batch in
	// __consumer_offsets, which has to stay below its max.message.bytes (1 MiB) with the longest names there are.
	partitionsPerCommit = 1000
	// adminReadBack is for reading back what was done, which happens although the caller gave up.
	adminReadBack = 15 * time.Second
)

// OutdatedError means that a plan was made from positions that are not the group's any more, and that nothing was
// done.
type OutdatedError struct {
	Group, Topic string
	Partition    int32
	Was, Is      model.Int
}

func (e *OutdatedError) Error() string {
	return fmt.Sprintf("The offsets of %s moved since the plan was made: %s/%d went from %s to %s. Nothing was changed; look at the plan again.",
		e.Group, e.Topic, e.Partition, e.Was.Text(model.Count), e.Is.Text(model.Count))
}

// ApplyReset carries out a plan: it saves the positions that the group has now, sets the new ones and reads them back from
// the coordinator. The error means that nothing was changed; what became of each partition is in the outcome.
// When ctx ends, what was not sent yet is not sent. progress may be nil.
func (a *Admin) ApplyReset(ctx context.Context, plan model.ResetPlan, progress *Progress) (model.ResetOutcome, error) {
	out := model.ResetOutcome{Plan: plan}
	if err := a.allowed(); err != nil {
		return out, err
	}
	if plan.Method == model.ResetImpossible {
		return out, errors.New(plan.Why)
	}
	if len(plan.Planned()) == 0 {
		return out, errors.New("the plan sets no offset, so there is nothing to do")
	}
	c, err := a.coordinator(ctx, plan.Group)
	if err != nil {
		return out, err
	}
	progress.begin("saving", 0)
	before, err := c.positions(ctx, plan.Type)
	if err != nil {
		return out, err
	}
	if err := outdated(&plan, before); err != nil {
		return out, err
	}
	save := a.saveOf(ctx, &plan, before)
	if err := save.write(); err != nil {
		return out, err
	}
	out.Saved = save.path
	r := &reset{a: a, c: c, plan: &plan, progress: progress}
	out.Results, err = a.conn.act(plan.Action(), func() []model.ActionResult {
		results := r.run(ctx)
		save.finish(results)
		return results
	})
	if err != nil {
		save.remove()
		return out, err
	}
	if out.Refused() && plan.Method != model.ResetByPolicy { // there is nothing to undo, and the save before it is the last one again
		save.remove()
		out.Saved = ""
		return out, nil
	}
	out.Caveats = r.caveats(save.problem)
	return out, nil
}

// outdated reports a row that was planned from another position than the group has. A share group's position is the effective
// one, which the coordinator does not tell.
func outdated(plan *model.ResetPlan, now positions) error {
	if plan.Type == model.TypeShare {
		return nil
	}
	for i := range plan.Rows {
		r := &plan.Rows[i]
		if is := now.of(r.Topic, r.Number); r.Planned() && is != r.Now {
			return &OutdatedError{plan.Group, r.Topic, r.Number, r.Now, is}
		}
	}
	return nil
}

// reset is a plan while it is carried out.
type reset struct {
	a        *Admin
	c        *coordinator
	plan     *model.ResetPlan
	progress *Progress

	rows    []model.ResetRow // the planned ones
	results []model.ActionResult
	at      map[topicPartition]int // index in rows and results
}

// run sends the plan in batches and reads it back.
func (r *reset) run(ctx context.Context) []model.ActionResult {
	r.rows = r.plan.Planned()
	r.results = make([]model.ActionResult, len(r.rows))
	r.at = make(map[topicPartition]int, len(r.rows))
	for i := range r.rows {
		row := &r.rows[i]
		r.at[topicPartition{row.Topic, row.Number}] = i
		r.results[i] = model.ActionResult{Group: r.plan.Group, Topic: row.Topic, Partition: row.Number, Offset: row.Then,
			Code: model.CodeNotSent, Text: "This was not sent, because something before it failed."}
	}
	r.progress.begin("setting", len(r.rows))
	if r.plan.Method == model.ResetByPolicy {
		r.startOver(ctx)
		return r.results
	}
	var set, cleared []int
	for i := range r.rows {
		if r.rows[i].Clear {
			cleared = append(cleared, i)
		} else {
			set = append(set, i)
		}
	}
	send := r.commit
	if r.plan.Method == model.ResetByAlter {
		send = r.alter
	}
	if r.batches(ctx, set, send) {
		r.batches(ctx, cleared, r.clear)
	}
	r.readBack(ctx)
	return r.results
}

// batches sends rows by their indexes. It stops, and returns false, when the rest would fare no better.
func (r *reset) batches(ctx context.Context, rows []int, send func(context.Context, []int) error) bool {
	for batch := range slices.Chunk(rows, partitionsPerCommit) {
		err := ctx.Err()
		if err == nil {
			// A request that left is waited for: given up, nobody would know what became of it.
			err = send(context.WithoutCancel(ctx), batch)
		}
		if err != nil {
			for _, i := range batch {
				if r.results[i].Code == model.CodeNotSent {
					r.fail(i, err)
				}
			}
			return false
		}
		for _, i := range batch {
			if r.results[i].Code == model.CodeNotEmpty {
				return false
			}
		}
		r.progress.add(len(batch))
	}
	return true
}

func (r *reset) fail(i int, err error) {
	r.results[i].OK = false
	r.results[i].Code, r.results[i].Text = r.a.conn.Explain(err)
}

// answer stores the code that a partition was answered with.
func (r *reset) answer(key kmsg.Key, i int, code int16, message *string) {
	res := &r.results[i]
	switch {
	case code == 0:
		res.OK, res.Code, res.Text = true, "", ""
	case notEmpty(code):
		res.OK, res.Code = false, model.CodeNotEmpty
		res.Text = r.plan.Group + " is not empty any more, so the coordinator refused. Nothing was changed here."
	default:
		r.fail(i, answered(key, r.plan.Group, code, message))
	}
}

// notEmpty reports whether a code is one with which coordinators refuse to change a group with members.
func notEmpty(code int16) bool {
	switch code {
	case kerr.NonEmptyGroup.Code, kerr.UnknownMemberID.Code, kerr.IllegalGeneration.Code, kerr.RebalanceInProgress.Code, kerr.StaleMemberEpoch.Code,
		kerr.FencedInstanceID.Code, kerr.GroupSubscribedToTopic.Code:
		return true
	}
	return false
}

// missing marks the rows of a batch that the answer left out.
func (r *reset) missing(batch []int, seen map[int]bool) {
	for _, i := range batch {
		if !seen[i] {
			r.results[i].OK, r.results[i].Code = false, model.CodeIgnored
			r.results[i].Text = "The coordinator answered without this partition, so it was not changed."
		}
	}
}

// commit sets committed offsets without being a member (OffsetCommit with an empty member id and generation -1).
func (r *reset) commit(ctx context.Context, batch []int) error {
	req := kmsg.NewPtrOffsetCommitRequest()
	req.Group, req.Generation = r.plan.Group, -1
	for _, i := range batch {
		row := &r.rows[i]
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != row.Topic {
			t := kmsg.NewOffsetCommitRequestTopic()
			t.Topic = row.Topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewOffsetCommitRequestTopicPartition()
		p.Partition, p.Offset = row.Number, row.Then.Or(0)
		p.Metadata = kmsg.StringPtr("")
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	resp, err := r.c.ask(ctx, offsetCommitByName{req}, func(resp kmsg.Response) int16 {
		for _, t := range resp.(*kmsg.OffsetCommitResponse).Topics {
			for _, p := range t.Partitions {
				if moved(p.ErrorCode) {
					return p.ErrorCode // it is of the group, and so the same for all
				}
			}
		}
		return 0
	})
	if err != nil {
		return err
	}
	seen := make(map[int]bool)
	for _, t := range resp.(*kmsg.OffsetCommitResponse).Topics {
		for _, p := range t.Partitions {
			if i, ok := r.at[topicPartition{t.Topic, p.Partition}]; ok {
				seen[i] = true
				r.answer(kmsg.OffsetCommit, i, p.ErrorCode, nil)
			}
		}
	}
	r.missing(batch, seen)
	return nil
}

// offsetCommitByName is OffsetCommit up to version 9: from version 10 on topics are named by id alone.
type offsetCommitByName struct{ *kmsg.OffsetCommitRequest }

// MaxVersion limits what the client agrees on with the broker.
func (offsetCommitByName) MaxVersion() int16 { return 9 }

// alter sets the start offsets of a share group. The coordinator takes any number, so that the plan has to be within the
// log; and Kafka 4.1 answers OK without a partition in the answer and changes nothing.
func (r *reset) alter(ctx context.Context, batch []int) error {
	req := kmsg.NewPtrAlterShareGroupOffsetsRequest()
	req.GroupID = r.plan.Group
	for _, i := range batch {
		row := &r.rows[i]
		if n := len(req.Topics); n == 0 || req.Topics[n-1].Topic != row.Topic {
			t := kmsg.NewAlterShareGroupOffsetsRequestTopic()
			t.Topic = row.Topic
			req.Topics = append(req.Topics, t)
		}
		p := kmsg.NewAlterShareGroupOffsetsRequestTopicPartition()
		p.Partition, p.StartOffset = row.Number, row.Then.Or(0)
		t := &req.Topics[len(req.Topics)-1]
		t.Partitions = append(t.Partitions, p)
	}
	resp, err := r.c.ask(ctx, req, func(resp kmsg.Response) int16 { return resp.(*kmsg.AlterShareGroupOffsetsResponse).ErrorCode })
	if err != nil {
		return err
	}
	got := resp.(*kmsg.AlterShareGroupOffsetsResponse)
	if notEmpty(got.ErrorCode) {
		for _, i := range batch {
			r.answer(kmsg.AlterShareGroupOffsets, i, got.ErrorCode, got.ErrorMessage)
		}
		return nil
	}
	if err := answered(kmsg.AlterShareGroupOffsets, r.plan.Group, got.ErrorCode, got.ErrorMessage); err != nil {
		return err
	}
	seen := make(map[int]bool)
	for _, t := range got.Topics {
		for _, p := range t.Partitions {
			if i, ok := r.at[topicPartition{t.Topic, p.Partition}]; ok {
				seen[i] = true
				r.answer(kmsg.AlterShareGroupOffsets, i, p.ErrorCode, p.ErrorMessage)
			}
		}
	}
	r.missing(batch, seen)
	return nil
}

// clear removes committed offsets.
func (r *reset) clear(ctx context.Context, batch []int) error {
	at := make([]topicPartition, len(batch))
	for n, i := range batch {
		at[n] = topicPartition{r.rows[i].Topic, r.rows[i].Number}
	}
	answers, err := r.c.deleteOffsets(ctx, at)
	if err != nil {
		return err
	}
	seen := make(map[int]bool)
	for tp, code := range answers {
		i := r.at[tp]
		seen[i] = true
		r.answer(kmsg.OffsetDelete, i, code, nil)
	}
	r.missing(batch, seen)
	return nil
}

// readBack compares what the coordinator has now with the plan.
func (r *reset) readBack(ctx context.Context) {
	sent := false
	for i := range r.results {
		sent = sent || r.results[i].Code != model.CodeNotSent
	}
	if !sent {
		return
	}
	r.progress.begin("reading back", 0)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), adminReadBack)
	defer cancel()
	now, err := r.c.positions(ctx, r.plan.Type)
	for i := range r.rows {
		r.compare(i, now, err)
	}
}

func (r *reset) compare(i int, now positions, err error) {
	row, res := &r.rows[i], &r.results[i]
	is := now.of(row.Topic, row.Number)
	switch {
	case err != nil:
		if res.OK {
			_, text := r.a.conn.Explain(err)
			res.Code, res.Text = model.CodeNotReadBack, "The coordinator took it, but it could not be read back. "+text
		}
	case is == row.Then && res.OK:
		res.Text = "Read back: " + is.Text(model.Count) + "."
	case is == row.Then && is != row.Now:
		// The request got no good answer, and was carried out all the same.
		res.OK, res.Code, res.Text = true, model.CodeReadBack, "Read back: "+is.Text(model.Count)+", although the answer was: "+res.Text
	case res.OK:
		res.OK, res.Code = false, model.CodeDiffers
		res.Text = fmt.Sprintf("The coordinator took %s and has %s: somebody else moved it, or the topic may not be seen.", row.Then.Text(model.Count), is.Text(model.Count))
	}
}

// startOver is what Kafka 4.1 can do for a share group: the offsets of whole topics are deleted, and members begin anew
// where share.auto.offset.reset says. The policy is set first, so that no member begins at the wrong place; hence the
// look at the group before.
func (r *reset) startOver(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	g, err := r.c.describe(ctx, r.plan.Type)
	if err != nil {
		r.failAll(err)
		return
	}
	if len(g.Members) > 0 {
		r.answerAll(kmsg.DeleteShareGroupOffsets, kerr.NonEmptyGroup.Code, nil)
		return
	}
	set := model.ConfigChange{Name: model.ConfigShareReset, Value: model.Some(r.plan.Policy())}
	if err := r.a.setConfigs(ctx, r.c.client, r.plan.Group, []model.ConfigChange{set}, false); err != nil {
		r.failAll(err)
		return
	}
	var topics []string
	for i := range r.rows {
		topics = append(topics, r.rows[i].Topic)
	}
	answers, err := r.c.deleteShareOffsets(ctx, slices.Compact(topics))
	if e, ok := errors.AsType[*requestError](err); ok {
		r.answerAll(e.Key, kerrCode(e.Err), &e.Message)
		return
	}
	if err != nil {
		r.failAll(err)
		return
	}
	for i := range r.rows {
		if a, ok := answers[r.rows[i].Topic]; ok {
			r.answer(kmsg.DeleteShareGroupOffsets, i, a.code, a.message)
		} else {
			r.missing([]int{i}, nil)
		}
	}
	r.readBackDeleted(ctx)
}

func (r *reset) failAll(err error) {
	for i := range r.results {
		r.fail(i, err)
	}
}

func (r *reset) answerAll(key kmsg.Key, code int16, message *string) {
	for i := range r.results {
		r.answer(key, i, code, message)
	}
}

// readBackDeleted checks that the offsets of a share group are gone.
func (r *reset) readBackDeleted(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, adminReadBack)
	defer cancel()
	now, err := r.c.positions(ctx, r.plan.Type)
	for i := range r.rows {
		res := &r.results[i]
		if !res.OK {
			continue
		}
		switch is := now.of(r.rows[i].Topic, r.rows[i].Number); {
		case err != nil:
			_, text := r.a.conn.Explain(err)
			res.Code, res.Text = model.CodeNotReadBack, "The coordinator took it, but it could not be read back. "+text
		case is.Known():
			res.OK, res.Code, res.Text = false, model.CodeDiffers, "The start offset is still "+is.Text(model.Count)+"."
		default:
			res.Text = "The start offset is deleted; the next member begins at " + r.plan.Policy() + "."
		}
	}
}

// kerrCode is the protocol's code of an error of kerr.
func kerrCode(err error) int16 {
	if e, ok := errors.AsType[*kerr.Error](err); ok {
		return e.Code
	}
	return kerr.UnknownServerError.Code
}

// caveats say what the results do not prove.
func (r *reset) caveats(saveProblem error) []string {
	var out []string
	if r.plan.Type == model.TypeShare {
		out = append(out, "While a connection of a former member stays open, the partition leaders may go on from what they had in memory: only a delivery or the state topic proves that the new start is in force.")
	}
	if saveProblem != nil {
		out = append(out, "The result could not be added to the file with the old offsets: "+saveProblem.Error()+".")
	}
	if err := r.a.conn.cfg.Audit.Err(); err != nil {
		out = append(out, "The result could not be written down: "+err.Error()+".")
	}
	return out
}
