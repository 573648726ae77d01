package kafka

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/model"
)

// previewBytes is how much of a record is kept for a preview.
const previewBytes = 64 << 10

// MaxRedrive is the most records that are redriven at once.
const MaxRedrive = 10_000

// Redriver puts records that a share group gave up on back into work, by producing them again. It
// remembers what it did, so that nothing is done twice unawares. It is safe for concurrent use.
type Redriver struct {
	conn   *Connection
	reader *Reader

	mu   sync.Mutex
	done map[model.RecordRef]int // by origin
}

// NewRedriver prepares a redriver; it does not dial. The caller closes it.
func NewRedriver(c *Connection) *Redriver {
	return &Redriver{conn: c, reader: NewReader(c), done: make(map[model.RecordRef]int)}
}

// Close closes the redriver's connections. What is being produced goes on.
func (d *Redriver) Close() { d.reader.Close() }

// Preview reads the records and says of each what would be produced, or why nothing can be. target is the topic that they
// go to; empty is the one that each is from. group is the one that gave up on them, for records that do not say so. What
// cannot be read is in the item; the error is that of ctx, or says that too many were asked for.
func (d *Redriver) Preview(ctx context.Context, group string, refs []model.RecordRef, target string) ([]model.RedriveItem, error) {
	if len(refs) > MaxRedrive {
		return nil, fmt.Errorf("redrive %d records: at most %d at once", len(refs), MaxRedrive)
	}
	items := make([]model.RedriveItem, 0, len(refs))
	for _, ref := range refs {
		item, err := d.find(ctx, group, ref, target, previewBytes)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			_, item.Text = d.conn.Explain(err)
		}
		items = append(items, item)
	}
	return items, nil
}

// find reads a record, and when it is a dead-letter record the one that it stands for.
func (d *Redriver) find(ctx context.Context, group string, ref model.RecordRef, target string, limit int) (model.RedriveItem, error) {
	item := model.RedriveItem{Marked: ref, Origin: ref, Group: group, Target: target}
	content, err := d.read(ctx, ref, limit)
	if err != nil {
		return item, err
	}
	item.Content = content
	if letter, ok := model.ReadDeadLetter(content.Headers); ok && content.Status == model.RecordFound {
		item.Origin, item.Group, item.Reason = letter.Origin, letter.Group, letter.Message
		if err := d.findOrigin(ctx, &item, limit); err != nil {
			return item, err
		}
	} else {
		item.Ready = content.Status == model.RecordFound
		if !item.Ready {
			item.Text = "Nothing can be produced again: " + content.Status.String() + "."
		}
	}
	if item.Target == "" {
		item.Target = item.Origin.Topic
	}
	if left := item.Content.HeadersLeft; left > 0 && item.Ready {
		item.Ready, item.Text = false, fmt.Sprintf("It has %d headers more than are read here, and would lose them.", left)
	}
	d.mu.Lock()
	item.Before = d.done[item.Origin]
	d.mu.Unlock()
	if item.Before > 0 && item.Ready {
		item.Text = strings.TrimSpace(fmt.Sprintf("It was redriven before (%d times since flightdeck was started). %s", item.Before, item.Text))
	}
	return item, nil
}

// findOrigin takes the record that a dead-letter record stands for, which has everything that it had. The dead-letter
// record itself has key and value only where the group copies them, and never the headers.
func (d *Redriver) findOrigin(ctx context.Context, item *model.RedriveItem, limit int) error {
	letter := item.Content
	origin, err := d.read(ctx, item.Origin, limit)
	if err == nil && origin.Status == model.RecordFound {
		item.Content, item.Ready = origin, true
		return nil
	}
	if ctx.Err() != nil {
		return err
	}
	why := "it cannot be read"
	if err == nil {
		why = origin.Status.String()
	}
	if letter.KeySize < 0 && letter.ValueSize < 0 {
		item.Text = fmt.Sprintf("Nothing can be produced again: the record itself is gone (%s), and the dead-letter record has no copy of it (errors.deadletterqueue.copy.record.enable).", why)
		return nil
	}
	letter.Headers = nil
	item.Content, item.Ready = letter, true
	item.Text = fmt.Sprintf("The record itself is gone (%s), so key and value are those of the dead-letter record, and the headers are lost.", why)
	return nil
}

func (d *Redriver) read(ctx context.Context, ref model.RecordRef, limit int) (model.RecordContent, error) {
	return d.reader.Record(ctx, ref.Topic, ref.Partition, ref.Offset, limit)
}

// Redrive produces the items that are ready again, with key, value and headers as they were, and headers that say
// where they were before. It returns one production for each target topic. Records are read again, in full, and
// one that is gone meanwhile is a failure of its own.
func (d *Redriver) Redrive(ctx context.Context, items []model.RedriveItem, force string) ([]*Producer, error) {
	var order []string
	byTarget := make(map[string][]model.RedriveItem)
	for _, item := range items {
		if !item.Ready {
			continue
		}
		if byTarget[item.Target] == nil {
			order = append(order, item.Target)
		}
		byTarget[item.Target] = append(byTarget[item.Target], item)
	}
	if len(order) == 0 {
		return nil, fmt.Errorf("none of the %d records can be produced again", len(items))
	}
	var out []*Producer
	for _, target := range order {
		chosen := byTarget[target]
		refs := make([]model.RecordRef, len(chosen))
		for i := range chosen {
			refs[i] = chosen[i].Marked
		}
		action := model.Action{
			Kind:   model.ActionRedrive,
			Target: model.ActionTarget{Topic: target, Group: chosen[0].Group, Records: model.RangesOf(refs)},
			Impact: []string{fmt.Sprintf("produces %d records again", len(chosen))},
		}
		p, err := d.conn.produce(ctx, &model.ProduceSpec{Topic: target, Force: force}, action, model.Some(int64(len(chosen))), &redriven{d: d, items: chosen})
		if err != nil {
			for _, begun := range out {
				begun.Cancel()
			}
			return out, err
		}
		out = append(out, p)
	}
	return out, nil
}

// redriven are the records of a redrive.
type redriven struct {
	d     *Redriver
	items []model.RedriveItem
}

func (r *redriven) close() {}

func (r *redriven) next(ctx context.Context) (*kgo.Record, model.RecordRef, error) {
	if len(r.items) == 0 {
		return nil, model.RecordRef{}, io.EOF
	}
	item := r.items[0]
	r.items = r.items[1:]
	found, err := r.d.find(ctx, item.Group, item.Marked, item.Target, maxRecordRead)
	switch {
	case ctx.Err() != nil:
		return nil, item.Marked, ctx.Err()
	case err != nil:
		code, text := r.d.conn.Explain(err)
		return nil, item.Marked, &skipped{code, text}
	case !found.Ready:
		return nil, item.Marked, &skipped{"gone", found.Text}
	}
	return r.again(&found), item.Marked, nil
}

// again is the record that is produced. What it was given by an earlier redrive is replaced.
func (r *redriven) again(item *model.RedriveItem) *kgo.Record {
	c := &item.Content
	rec := &kgo.Record{Topic: item.Target, Key: c.Key, Value: c.Value}
	for _, h := range c.Headers {
		switch h.Key {
		case model.RedriveTopic, model.RedrivePartition, model.RedriveOffset, model.RedriveGroup:
		default:
			rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: h.Key, Value: h.Value})
		}
	}
	add := func(key, value string) {
		rec.Headers = append(rec.Headers, kgo.RecordHeader{Key: key, Value: []byte(value)})
	}
	add(model.RedriveTopic, item.Origin.Topic)
	add(model.RedrivePartition, strconv.Itoa(int(item.Origin.Partition)))
	add(model.RedriveOffset, strconv.FormatInt(item.Origin.Offset, 10))
	if item.Group != "" {
		add(model.RedriveGroup, item.Group)
	}
	// What may have been written counts as well: the warning is cheap, a record done twice is not.
	r.d.mu.Lock()
	r.d.done[item.Origin]++
	r.d.mu.Unlock()
	return rec
}
