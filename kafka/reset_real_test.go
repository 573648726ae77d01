package kafka

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kgo"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

// realLog is a topic of three partitions of 20 records on a real cluster, ten minutes apart, the last one ten minutes ago. The
// log of partition 1 starts at 5.
type realLog struct {
	*kafkatest.Cluster
	t     *testing.T
	admin *Admin
	topic string
	began time.Time
}

func newRealLog(t *testing.T, version string) *realLog {
	k := kafkatest.Shared(t, version)
	l := &realLog{Cluster: k, t: t, topic: kafkatest.Name("orders"), began: time.Now().Truncate(time.Millisecond), admin: newAdmin(t, Config{Bootstrap: k.Bootstrap()})}
	k.CreateTopic(t, l.topic, 3)
	cl := k.Client(t, kgo.RecordPartitioner(kgo.ManualPartitioner()))
	for n := range int32(3) {
		for i := range 20 {
			r := &kgo.Record{Topic: l.topic, Partition: n, Value: []byte("v"), Timestamp: l.at(i)}
			// Each in a batch of its own, so that times are found by record.
			if err := cl.ProduceSync(t.Context(), r).FirstErr(); err != nil {
				t.Fatal(err)
			}
		}
	}
	var cut kadm.Offsets
	cut.AddOffset(l.topic, 1, 5, -1)
	if _, err := kadm.NewClient(cl).DeleteRecords(t.Context(), cut); err != nil {
		t.Fatal(err)
	}
	return l
}

// at is the time of a record.
func (l *realLog) at(i int) time.Time { return l.began.Add(time.Duration(i-20) * 10 * time.Minute) }

// group makes an empty group of a type.
func (l *realLog) group(typ model.GroupType) string {
	l.t.Helper()
	id := kafkatest.Name(typ.String())
	if typ == model.TypeConsumer {
		cl := l.join(id, kgo.ConsumerGroup(id), kgo.ServerSideBalancer(), kgo.DisableAutoCommit())
		cl.leave()
		awaitGroup(l.t, l.admin, id, func(g *model.Group) bool { return g.Type == typ && g.State == "Empty" })
	}
	return id
}

// joined is a member that polls.
type joined struct {
	cl   *kgo.Client
	stop context.CancelFunc
	done chan struct{}
}

// join makes a member of a group and waits until the group has it.
func (l *realLog) join(id string, opts ...kgo.Opt) *joined {
	l.t.Helper()
	cl := l.Client(l.t, append(opts, kgo.ConsumeTopics(l.topic), kgo.FetchMaxWait(200*time.Millisecond))...)
	ctx, stop := context.WithCancel(context.Background())
	j := &joined{cl: cl, stop: stop, done: make(chan struct{})}
	go func() {
		defer close(j.done)
		for ctx.Err() == nil {
			cl.PollFetches(ctx)
		}
	}()
	l.t.Cleanup(func() { stop(); <-j.done })
	awaitGroup(l.t, l.admin, id, func(g *model.Group) bool { return g.State == "Stable" && len(g.Members) == 1 })
	return j
}

// leave ends the member in an orderly way.
func (j *joined) leave() {
	j.stop()
	<-j.done
	j.cl.CloseAllowingRebalance()
}

// place puts a group to 8, 12 and nowhere; a share group, for which there is no nowhere, to 8, 12 and 10.
func (l *realLog) place(id string, typ model.GroupType) {
	l.t.Helper()
	spec := model.ResetSpec{Mode: model.ResetFile, Offsets: []model.GroupOffset{
		{Topic: l.topic, Partition: 0, Offset: model.Some[int64](8)}, {Topic: l.topic, Partition: 1, Offset: model.Some[int64](12)}, {Topic: l.topic, Partition: 2},
	}}
	if typ == model.TypeShare {
		spec.Offsets[2].Offset = model.Some[int64](10)
	}
	if out := applyReset(l.t, l.admin, planReset(l.t, l.admin, ResetRequest{Group: id, Type: typ, Spec: spec})); out.Failed() > 0 {
		l.t.Fatalf("place %s: %+v", id, out.Results)
	}
}

// where are the positions of a group, by partition.
func (l *realLog) where(id string, typ model.GroupType) string {
	l.t.Helper()
	return strings.ReplaceAll(where(l.t, l.admin, id, typ), l.topic+"/", "")
}

// specs are one for every mode, with what the file holds for [model.ResetFile].
func (l *realLog) specs() []model.ResetSpec {
	file := []model.GroupOffset{{Topic: l.topic, Partition: 0, Offset: model.Some[int64](3)}, {Topic: l.topic, Partition: 1, Offset: model.Some[int64](2)}, {Topic: l.topic, Partition: 2, Offset: model.Some[int64](99)}}
	return []model.ResetSpec{
		{Mode: model.ResetEarliest}, {Mode: model.ResetLatest}, {Mode: model.ResetCurrent}, {Mode: model.ResetOffset, Offset: 3},
		{Mode: model.ResetShift, Offset: -5}, {Mode: model.ResetTime, Time: l.at(9).Add(time.Minute)}, {Mode: model.ResetTime, Time: l.began},
		{Mode: model.ResetBack, Back: 55 * time.Minute}, {Mode: model.ResetFile, Offsets: file},
	}
}

// tool runs the command line of a plan with Kafka's own tool.
func (l *realLog) tool(plan model.ResetPlan, extra ...string) (ran bool) {
	l.t.Helper()
	csv := filepath.Join(l.t.TempDir(), "plan.csv")
	offsets := plan.Offsets()
	if plan.Spec.Mode == model.ResetFile {
		offsets = plan.Spec.Offsets // so that the tool clamps too
	}
	if err := os.WriteFile(csv, []byte(model.OffsetsCSV(offsets)), 0o600); err != nil {
		l.t.Fatal(err)
	}
	line, ok := model.ResetCommand(&plan, l.Bootstrap(), csv)
	if !ok {
		return false
	}
	words := strings.Fields(line)
	class := kafkatest.ConsumerGroupCommand
	if words[0] == "kafka-share-groups.sh" {
		class = kafkatest.ShareGroupCommand
	}
	out, err := l.Tool(l.t.Context(), class, append(words[1:], extra...)...)
	if err != nil || strings.Contains(out, "Error") {
		l.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return true
}

// Every mode puts every partition where Kafka's own tool puts it from the same start.
func TestRealResetAgreesWithKafkasTool(t *testing.T) {
	t.Parallel()
	kafkatest.Run(t, func(t *testing.T, version string) {
		l := newRealLog(t, version)
		types := []model.GroupType{model.TypeClassic, model.TypeConsumer}
		ours, theirs := make(map[model.GroupType]string), make(map[model.GroupType]string)
		for _, typ := range types {
			ours[typ], theirs[typ] = l.group(typ), l.group(typ)
		}
		for _, spec := range l.specs() {
			t.Run(spec.Mode.String(), func(t *testing.T) {
				var copied model.ResetPlan
				scope := []model.TopicPartitions{{Topic: l.topic}}
				if spec.Mode == model.ResetShift {
					scope = nil // the tool shifts nothing when one partition has no commit
				}
				for _, typ := range types {
					l.place(ours[typ], typ)
					l.place(theirs[typ], typ)
					plan := planReset(t, l.admin, ResetRequest{Group: ours[typ], Spec: spec, Scope: scope})
					if plan.Type != typ {
						t.Fatalf("%s is of type %s", ours[typ], plan.Type)
					}
					if out := applyReset(t, l.admin, plan); out.Failed() > 0 {
						t.Errorf("%s: %+v", typ, out.Results)
					}
					copied = planReset(t, l.admin, ResetRequest{Group: theirs[model.TypeClassic], Spec: spec, Scope: scope})
				}
				extra := []string{"--group", theirs[model.TypeConsumer]}
				if spec.Mode == model.ResetFile {
					// With several groups the tool wants the group in the file.
					copied.Spec.Offsets = nil
					for _, typ := range types {
						for _, o := range spec.Offsets {
							o.Group = theirs[typ]
							copied.Spec.Offsets = append(copied.Spec.Offsets, o)
						}
					}
				}
				if !l.tool(copied, extra...) {
					t.Fatal("the tool cannot do it")
				}
				for _, typ := range types {
					got, want := l.where(ours[typ], typ), l.where(theirs[typ], typ)
					if got != want {
						t.Errorf("%s: at %s, Kafka's tool says %s", typ, got, want)
					}
					t.Logf("%s: %s", typ, got)
				}
			})
		}
		t.Run("export", func(t *testing.T) {
			id := ours[model.TypeClassic]
			l.place(id, model.TypeClassic)
			out, err := l.Tool(t.Context(), kafkatest.ConsumerGroupCommand, "--bootstrap-server", l.Bootstrap()[0], "--group", id, "--reset-offsets", "--to-current", "--all-topics", "--export", "--dry-run")
			if err != nil {
				t.Fatal(err)
			}
			spec, err := model.ParseReset(model.ResetFile, out, time.Now())
			if err != nil {
				t.Fatalf("%q: %v", out, err)
			}
			if got := strings.ReplaceAll(thens(planReset(t, l.admin, ResetRequest{Group: id, Spec: spec})), l.topic+"/", ""); got != "0=8 1=12" {
				t.Errorf("from what the tool exported: %s", got)
			}
		})
	})
}

func TestRealResetOfShareGroups(t *testing.T) {
	t.Parallel()
	kafkatest.Run(t, func(t *testing.T, version string) {
		l := newRealLog(t, version)
		if strings.HasPrefix(version, "4.1") {
			l.startOver(t)
			return
		}
		ours, theirs := l.group(model.TypeShare), l.group(model.TypeShare)
		scope := []model.TopicPartitions{{Topic: l.topic}}
		ran := 0
		for _, spec := range l.specs() {
			t.Run(spec.Mode.String(), func(t *testing.T) {
				l.place(ours, model.TypeShare)
				l.place(theirs, model.TypeShare)
				plan := planReset(t, l.admin, ResetRequest{Group: ours, Spec: spec, Scope: scope})
				if out := applyReset(t, l.admin, plan); out.Failed() > 0 || plan.Method != model.ResetByAlter {
					t.Fatalf("%+v", out.Results)
				}
				got := l.where(ours, model.TypeShare)
				for _, r := range plan.Rows {
					if !strings.Contains(got, fmt.Sprintf("%d=%d", r.Number, r.Then.Or(-1))) {
						t.Errorf("at %s, planned %s", got, thens(plan))
					}
				}
				if !l.tool(planReset(t, l.admin, ResetRequest{Group: theirs, Spec: spec, Scope: scope})) {
					t.Logf("%s (Kafka's tool cannot)", got)
					return
				}
				ran++
				if want := l.where(theirs, model.TypeShare); got != want {
					t.Errorf("at %s, Kafka's tool says %s", got, want)
				}
				t.Log(got)
			})
		}
		if least := 4; ran < least {
			t.Errorf("Kafka's tool ran %d times, want %d at least", ran, least)
		}
	})
}

// startOver is what Kafka 4.1 can do: a group that had read all reads all again.
func (l *realLog) startOver(t *testing.T) {
	id := l.group(model.TypeShare)
	l.SetGroupConfig(t, id, model.ConfigShareReset, "earliest")
	l.acceptAll(t, id)
	scope := []model.TopicPartitions{{Topic: l.topic}}
	shift := planReset(t, l.admin, ResetRequest{Group: id, Spec: model.ResetSpec{Mode: model.ResetShift, Offset: -1}, Scope: scope})
	if shift.Method != model.ResetImpossible || !strings.Contains(shift.Why, "cannot set start offsets") {
		t.Errorf("shift: %d %s", shift.Method, shift.Why)
	}
	plan := planReset(t, l.admin, ResetRequest{Group: id, Spec: model.ResetSpec{Mode: model.ResetEarliest}, Scope: scope})
	if plan.Method != model.ResetByPolicy || plan.Type != model.TypeShare {
		t.Fatalf("%+v", plan)
	}
	if out := applyReset(t, l.admin, plan); out.Failed() > 0 {
		t.Fatalf("%+v", out.Results)
	}
	l.acceptAll(t, id)

	// Altering itself is answered with OK there, and nothing changes: that has to be noticed. The recorded start trails
	// by one write, so a partition that was accepted in one go may be at the planned offset all the same.
	plan.Method = model.ResetByAlter
	out := applyReset(t, l.admin, plan)
	if out.Failed() == 0 {
		t.Errorf("nothing of it failed: %+v", out.Results)
	}
	for _, r := range out.Results {
		if r.OK != (r.Code == model.CodeReadBack) || !r.OK && r.Code != model.CodeIgnored {
			t.Errorf("altered: %+v", r)
		}
	}
}

// acceptAll reads all 55 records of the log as a member of a share group, and leaves it.
func (l *realLog) acceptAll(t *testing.T, id string) {
	t.Helper()
	cl := l.Client(t, kgo.ShareGroup(id), kgo.ConsumeTopics(l.topic), kgo.FetchMaxWait(200*time.Millisecond))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	seen := make(map[string]bool)
	for len(seen) < 55 {
		fetches := cl.PollFetches(ctx)
		if ctx.Err() != nil {
			t.Fatalf("%d records came", len(seen))
		}
		fetches.EachRecord(func(r *kgo.Record) {
			r.Ack(kgo.AckAccept)
			seen[fmt.Sprintf("%d/%d", r.Partition, r.Offset)] = true
		})
	}
	if err := cl.FlushAcks(ctx); err != nil {
		t.Fatal(err)
	}
	cl.Close()
	awaitGroup(t, l.admin, id, func(g *model.Group) bool { return g.State == "Empty" })
}
