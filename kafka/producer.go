package kafka

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

const (
	// bufferedRecords and bufferedBytes bound what waits to be sent.
	bufferedRecords = 20_000
	bufferedBytes   = 64 << 20
	// keptResults is how many results of single records are kept, and as many of those that failed.
	keptResults = 500
	// produceTimeout is how long a record is tried: a leader that died is replaced in about 10 s.
	produceTimeout = 30 * time.Second
	// tellEvery is how often progress is told.
	tellEvery = 100 * time.Millisecond
)

// ErrInternalTopic means that a topic is one of Kafka's own. See [model.ProduceSpec.Force].
var ErrInternalTopic = errors.New("the topic is internal to Kafka")

// Producer is a production under way. It is safe for concurrent use; Next is for one goroutine.
type Producer struct {
	conn    *Connection
	topic   string
	total   model.Int
	unasked bool // acks none: nobody says what became of a record
	cancel  context.CancelFunc
	ended   chan struct{}
	begun   *audited
	sent    atomic.Int64

	mu         sync.Mutex // guards what follows
	acked      int64
	failed     int64
	unheard    int64 // left, when unasked
	bytes      int64
	partitions map[int32]*model.Produced
	lately     *model.Produced // of partitions, the one that was written last
	reasons    map[string]*model.ProduceReason
	results    []model.ActionResult
	failures   []model.ActionResult
	problem    *model.Problem
	canceled   bool
	began      time.Time
	finished   time.Time
	told       time.Time // when Next last returned
	toldCount  int64     // of records that were acknowledged or left by then
	last       bool      // Next has returned the end
}

// records makes the records of a production, one at a time; io.EOF ends it.
type records interface {
	// next returns a record, and how it is called in results: where it came from, or with partition -1 its number as
	// offset.
	next(ctx context.Context) (r *kgo.Record, name model.RecordRef, err error)
	close()
}

// Produce produces records. It returns once the intent is written down and the topic was looked up; [Producer.Next] tells
// the rest. The error says why nothing is produced. It ends with ctx.
func (c *Connection) Produce(ctx context.Context, spec model.ProduceSpec) (*Producer, error) {
	if err := spec.Check(); err != nil {
		return nil, err
	}
	from, err := newMade(&spec)
	if err != nil {
		return nil, err
	}
	action := model.Action{Kind: model.ActionProduce, Target: model.ActionTarget{Topic: spec.Topic}, Impact: []string{"produces all lines of a file"}}
	total := model.Int{}
	if spec.Count > 0 {
		total = model.Some(spec.Count)
		action.Impact = []string{fmt.Sprintf("produces %d records", spec.Count)}
	}
	if p, ok := spec.Partition.Get(); ok {
		action.Target.Partitions = []int32{p}
	}
	return c.produce(ctx, &spec, action, total, from)
}

// produce produces what from makes.
func (c *Connection) produce(ctx context.Context, spec *model.ProduceSpec, action model.Action, total model.Int, from records) (*Producer, error) {
	begun, err := c.begin(action)
	if err != nil {
		from.close()
		return nil, err
	}
	refuse := func(err error) (*Producer, error) {
		from.close()
		code, text := c.Explain(err)
		begun.end([]model.ActionResult{notDone(model.RecordRef{Topic: spec.Topic, Partition: -1}, code, text)})
		return nil, err
	}
	largest, err := c.checkTopic(ctx, spec)
	if err != nil {
		return refuse(err)
	}
	client, err := c.client(jobProduce, append(produceOptions(spec), kgo.ProducerBatchMaxBytes(largest))...)
	if err != nil {
		return refuse(err)
	}
	ctx, cancel := context.WithCancel(ctx)
	p := &Producer{
		conn: c, topic: spec.Topic, total: total, unasked: spec.Acks == model.AcksNone, cancel: cancel, ended: make(chan struct{}), begun: begun,
		partitions: make(map[int32]*model.Produced), reasons: make(map[string]*model.ProduceReason), began: time.Now(),
	}
	p.told = p.began
	go p.run(ctx, client, spec, from)
	return p, nil
}

var codecs = map[string]kgo.CompressionCodec{
	"none": kgo.NoCompression(), "gzip": kgo.GzipCompression(), "snappy": kgo.SnappyCompression(),
	"lz4": kgo.Lz4Compression(), "zstd": kgo.ZstdCompression(),
}

func produceOptions(spec *model.ProduceSpec) []kgo.Opt {
	opts := []kgo.Opt{
		kgo.MaxBufferedRecords(bufferedRecords),
		kgo.MaxBufferedBytes(bufferedBytes),
		kgo.RecordDeliveryTimeout(produceTimeout),
		kgo.UnknownTopicRetries(2),
	}
	if spec.Partition.Known() {
		opts = append(opts, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	}
	if codec, ok := codecs[spec.Compression]; ok {
		opts = append(opts, kgo.ProducerBatchCompression(codec))
	}
	switch spec.Acks {
	case model.AcksLeader:
		opts = append(opts, kgo.RequiredAcks(kgo.LeaderAck()), kgo.DisableIdempotentWrite())
	case model.AcksNone:
		opts = append(opts, kgo.RequiredAcks(kgo.NoAck()), kgo.DisableIdempotentWrite())
	}
	return opts
}

// checkTopic looks the topic up, so that what cannot work is refused before anything is sent, and returns the
// largest batch that it takes.
func (c *Connection) checkTopic(ctx context.Context, spec *model.ProduceSpec) (largest int32, err error) {
	ctx, cancel := context.WithTimeout(ctx, setUpLimit)
	defer cancel()
	client, err := c.client(jobPoll)
	if err != nil {
		return 0, err
	}
	defer client.Close()
	req := kmsg.NewPtrMetadataRequest()
	t := kmsg.NewMetadataRequestTopic()
	t.Topic = &spec.Topic
	req.Topics = append(req.Topics, t)
	resp, err := req.RequestWith(ctx, client)
	if err != nil {
		return 0, err
	}
	if len(resp.Topics) != 1 {
		return 0, fmt.Errorf("metadata of %s: %d topics in the answer", spec.Topic, len(resp.Topics))
	}
	found := &resp.Topics[0]
	if err := answered(kmsg.Produce, spec.Topic, found.ErrorCode, nil); err != nil {
		return 0, err
	}
	if found.IsInternal && spec.Force != spec.Topic {
		return 0, fmt.Errorf("%s: %w", spec.Topic, ErrInternalTopic)
	}
	if p, ok := spec.Partition.Get(); ok && !slices.ContainsFunc(found.Partitions, func(m kmsg.MetadataResponseTopicPartition) bool { return m.Partition == p }) {
		return 0, fmt.Errorf("%s has no partition %d, but 0 to %d", spec.Topic, p, len(found.Partitions)-1)
	}
	return largestBatch(ctx, client, spec.Topic), nil
}

// largestBatch is max.message.bytes of a topic, or Kafka's default when it is not told. A record that is larger than a
// batch may be is refused before it is sent.
func largestBatch(ctx context.Context, client *kgo.Client, topic string) int32 {
	const least, usual, most = 1 << 10, 1_000_012, 64 << 20
	name := "max.message.bytes"
	values, err := describeConfigs(ctx, client, kmsg.ConfigResourceTypeTopic, topic, []string{name})
	if err == nil {
		for _, v := range values {
			if n, err := strconv.Atoi(deref(v.Value)); err == nil && v.Name == name {
				return int32(min(max(n, least), most))
			}
		}
	}
	return usual
}

// run makes and sends records, waits for their acknowledgements, and writes down what came of it.
func (p *Producer) run(ctx context.Context, client *kgo.Client, spec *model.ProduceSpec, from records) {
	defer close(p.ended)
	defer p.cancel()
	err := p.send(ctx, client, spec, from)
	from.close()
	if err == nil {
		// Everything is on its way and is tried for produceTimeout; a cancellation goes to each record.
		err = client.Flush(ctx)
	}
	finished := time.Now()
	if err != nil {
		limited, cancel := context.WithTimeout(context.Background(), leaveLimit)
		_ = client.AbortBufferedRecords(limited)
		cancel()
	}
	client.Close() // what is still under way stays open
	p.end(ctx, err, finished)
}

func (p *Producer) send(ctx context.Context, client *kgo.Client, spec *model.ProduceSpec, from records) error {
	limit := newPace(spec.Rate)
	done := p.done
	var names []sending // yet to be given out, since many small allocations are slow
	for {
		r, name, err := from.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if skip, ok := errors.AsType[*skipped](err); ok {
			p.sent.Add(1)
			p.failedOne(name, skip.code, skip.text)
			continue
		}
		if err == nil {
			err = limit.wait(ctx)
		}
		if err != nil {
			return err
		}
		p.sent.Add(1)
		if len(names) == 0 {
			names = make([]sending, 128)
		}
		names[0] = sending{ctx, name}
		r.Context, names = &names[0], names[1:]
		client.Produce(ctx, r, done)
	}
}

// sending is the context of a record under way; it says how the record is called in results.
type sending struct {
	context.Context
	name model.RecordRef
}

// skipped is the error of a record that is left out while the others go on.
type skipped struct{ code, text string }

func (s *skipped) Error() string { return s.text }

// done takes what became of a record that was sent.
func (p *Producer) done(r *kgo.Record, err error) {
	name := r.Context.(*sending).name
	if err != nil {
		p.undone(name, err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.bytes += int64(len(r.Key) + len(r.Value))
	if p.unasked {
		p.unheard++ // stays open, and the client's offset means nothing
		return
	}
	p.acked++
	at := p.lately
	if at == nil || at.Partition != r.Partition {
		if at = p.partitions[r.Partition]; at == nil {
			at = &model.Produced{Partition: r.Partition, First: r.Offset, Last: r.Offset}
			p.partitions[r.Partition] = at
		}
		p.lately = at
	}
	at.First, at.Last = min(at.First, r.Offset), max(at.Last, r.Offset)
	at.Count++
	if len(p.results) < keptResults {
		p.results = append(p.results, named(name, true, "", fmt.Sprintf("written to partition %d of %s at offset %d", r.Partition, r.Topic, r.Offset)))
	}
}

// undone takes a record that was not acknowledged.
func (p *Producer) undone(name model.RecordRef, err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, kgo.ErrClientClosed) || errors.Is(err, kgo.ErrAborting) {
		return // stays open
	}
	if errors.Is(err, kerr.ClusterAuthorizationFailed) {
		// From InitProducerID: what is missing is WRITE on the topic, or IDEMPOTENT_WRITE on the cluster.
		err = answered(kmsg.Produce, p.topic, kerr.TopicAuthorizationFailed.Code, nil)
	}
	if _, ok := errors.AsType[*kerr.Error](err); ok {
		err = &requestError{Key: kmsg.Produce, Name: p.topic, Err: err}
	}
	code, text := p.conn.Explain(err)
	if errors.Is(err, kgo.ErrRecordTimeout) || errors.Is(err, kgo.ErrRecordRetries) {
		code, text = "not_acknowledged", fmt.Sprintf("No leader acknowledged the record within %s, so it is not known whether it was written. Check that the partition has a leader.", produceTimeout)
	}
	p.failedOne(name, code, text)
}

func (p *Producer) failedOne(name model.RecordRef, code, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed++
	why := p.reasons[text]
	if why == nil {
		if len(p.reasons) >= 100 {
			text = "other reasons"
		}
		if why = p.reasons[text]; why == nil {
			why = &model.ProduceReason{Code: code, Text: text}
			p.reasons[text] = why
		}
	}
	why.Count++
	if len(p.failures) < keptResults {
		p.failures = append(p.failures, named(name, false, code, text))
	}
}

// named is a result of a record that has coordinates, or only a number.
func named(name model.RecordRef, ok bool, code, text string) model.ActionResult {
	if name.Partition < 0 {
		text = fmt.Sprintf("record %d: %s", name.Offset, text)
	}
	return result(name, ok, code, text)
}

// end writes down what came of the production.
func (p *Producer) end(ctx context.Context, err error, finished time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.finished = finished
	p.canceled = ctx.Err() != nil
	if err != nil && !errors.Is(err, context.Canceled) {
		code, text := p.conn.Explain(err)
		p.problem = &model.Problem{Scope: model.ScopeTopic, Name: p.topic, Code: code, Text: text}
	}
	var some []model.ActionResult
	for _, at := range p.sorted() {
		r := result(model.RecordRef{Topic: p.topic, Partition: at.Partition, Offset: at.First}, true, "", fmt.Sprintf("%d records from offset %d to %d", at.Count, at.First, at.Last))
		some = append(some, r)
	}
	if p.unheard > 0 {
		some = append(some, result(model.RecordRef{Topic: p.topic, Partition: -1}, false, "not_acknowledged",
			fmt.Sprintf("%d records left with acks none: it is not known whether they were written", p.unheard)))
	}
	p.begun.endWith(p.acked, p.sent.Load()-p.acked, append(some, p.failures[:min(len(p.failures), 20)]...))
}

func (p *Producer) sorted() []model.Produced {
	out := make([]model.Produced, 0, len(p.partitions))
	for _, n := range slices.Sorted(maps.Keys(p.partitions)) {
		out = append(out, *p.partitions[n])
	}
	return out
}

// Cancel ends the production: nothing more is sent, and what is on its way may still be written.
func (p *Producer) Cancel() { p.cancel() }

// Done is closed when the production has ended.
func (p *Producer) Done() <-chan struct{} { return p.ended }

// Next waits a moment and returns how far the production has come. After the value that is Done the error is [ErrClosed].
func (p *Producer) Next(ctx context.Context) (*model.Production, error) {
	p.mu.Lock()
	over, due := p.last, time.Until(p.told.Add(tellEvery))
	p.mu.Unlock()
	if over {
		return nil, ErrClosed
	}
	timer := time.NewTimer(due)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-timer.C:
	case <-p.ended:
	}
	return p.now(time.Now()), nil
}

// now is how far the production has come.
func (p *Producer) now(now time.Time) *model.Production {
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := p.sent.Load()
	out := &model.Production{
		Topic: p.topic, Total: p.total, Sent: sent, Acked: p.acked, Failed: p.failed, Unheard: p.unheard, Bytes: p.bytes,
		Began: p.began, Ended: p.finished, Done: !p.finished.IsZero(), Canceled: p.canceled, Problem: p.problem,
		Partitions: p.sorted(), Results: slices.Concat(p.results, p.failures),
	}
	count := p.acked + p.unheard
	since, lately := p.told, count-p.toldCount
	if out.Done {
		out.Open = sent - p.acked - p.failed
		since, now, lately = p.began, p.finished, count
		p.last = true
	}
	if d := now.Sub(since).Seconds(); d > 0 {
		out.Rate = float64(lately) / d
	}
	p.told, p.toldCount = now, count
	for _, why := range p.reasons {
		out.Reasons = append(out.Reasons, *why)
	}
	slices.SortFunc(out.Reasons, func(a, b model.ProduceReason) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Text, b.Text))
	})
	return out
}

// pace spreads records over time.
type pace struct {
	each  time.Duration
	next  time.Time
	timer *time.Timer
}

func newPace(perSecond float64) *pace {
	if perSecond <= 0 {
		return &pace{}
	}
	return &pace{each: time.Duration(float64(time.Second) / perSecond), next: time.Now()}
}

// wait waits for the turn of the next record. What was late, as when the client's buffer was full, is not made up for.
func (p *pace) wait(ctx context.Context) error {
	if p.each == 0 {
		return nil
	}
	now := time.Now()
	if late := now.Sub(p.next); late > max(p.each, tellEvery) {
		p.next = now
	}
	due := p.next.Sub(now)
	p.next = p.next.Add(p.each)
	if due <= 0 {
		return ctx.Err()
	}
	if p.timer == nil {
		p.timer = time.NewTimer(due)
	} else {
		p.timer.Reset(due)
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-p.timer.C:
		return nil
	}
}
