package kafka

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"flightdeck/kafka/kafkatest"
	"flightdeck/model"
)

// since returns how many requests of each kind were sent since before.
func (w *wire) since(before map[int16]int) map[kmsg.Key]int {
	out := make(map[kmsg.Key]int)
	for k, n := range w.seen() {
		if n -= before[k]; n > 0 {
			out[kmsg.Key(k)] = n
		}
	}
	return out
}

func checkRequests(t *testing.T, got, want map[kmsg.Key]int) {
	t.Helper()
	for key := kmsg.Key(0); key < 100; key++ {
		if got[key] != want[key] {
			t.Errorf("%s: %d requests, want %d", key.Name(), got[key], want[key])
		}
	}
}

// TestRequestsPerPoll holds the promise that a poll costs requests by brokers and by groups/500.
func TestRequestsPerPoll(t *testing.T) {
	f := newFake(t)
	const groups = 2000
	kafkatest.CommitMany(t, f.client(), "g-", groups, "orders", 3)
	leaders := make(map[int32]bool)
	for n := range int32(3) {
		leaders[f.LeaderFor("orders", n)] = true
	}
	chunks := 0
	perNode := make(map[int32]int)
	for i := range groups {
		perNode[f.CoordinatorFor(fmt.Sprintf("g-%05d", i))]++
	}
	for _, n := range perNode {
		chunks += (n + groupsPerRequest - 1) / groupsPerRequest
	}
	consume(t, f.client(kgo.ConsumerGroup("modern"), kgo.ConsumeTopics("orders"), kgo.ServerSideBalancer()))
	s, w := f.source()
	listing := snapshot(t, s, model.Want{Depth: model.DepthListing})
	if len(listing.Groups) < groups || listing.Groups[0].State != "Empty" || listing.Groups[0].Type != model.TypeClassic || listing.Cluster.Up() != 3 {
		t.Errorf("listing: %d groups, the first %+v", len(listing.Groups), listing.Groups[0])
	}
	checkRequests(t, w.since(nil), map[kmsg.Key]int{
		kmsg.ApiVersions: 4 + 3, // one by franz-go for each connection, the bootstrap server's too, and one of ours for each broker
		kmsg.Metadata:    1, kmsg.DescribeCluster: 1, kmsg.ListGroups: 3,
	})
	await(t, s, "all positions are known", func(snap *model.Snapshot) bool {
		g, ok := snap.Group("modern")
		return ok && g.State == "Stable" && snap.Groups[0].OffsetsAt == snap.At
	})
	s.startsAt = time.Time{}
	before := w.seen()
	snapshot(t, s, model.Want{})
	warm := map[kmsg.Key]int{
		kmsg.Metadata: 1, kmsg.ListGroups: 3, kmsg.OffsetFetch: chunks, kmsg.ConsumerGroupDescribe: 1, kmsg.ListOffsets: 2 * len(leaders),
	}
	checkRequests(t, w.since(before), warm)

	before = w.seen()
	snap := snapshot(t, s, model.Want{})
	warm[kmsg.ListOffsets] = len(leaders) // log starts are not due
	checkRequests(t, w.since(before), warm)
	if g := group(t, snap, "g-01999"); len(g.Partitions) != 3 || g.Partitions[2].Position != model.Some[int64](1) {
		t.Errorf("%+v", g)
	}
}

// TestUnchangedGroupsShareMemory holds that a poll of a quiet cluster keeps no second copy of positions.
func TestUnchangedGroupsShareMemory(t *testing.T) {
	f := newFake(t)
	f.commit("quiet", "orders", 0, 0, 0)
	s, _ := f.source()
	a := snapshot(t, s, model.Want{})
	b := snapshot(t, s, model.Want{})
	if &a.Groups[0].Partitions[0] != &b.Groups[0].Partitions[0] {
		t.Error("positions that did not change were copied")
	}
	f.commit("quiet", "orders", 0, 0, 0)
	f.produce("orders", 1, 5)
	c := snapshot(t, s, model.Want{})
	if b.Groups[0].Partitions[1].Lag != model.Some[int64](0) || c.Groups[0].Partitions[1].Lag != model.Some[int64](5) {
		t.Errorf("a published snapshot changed, or the new one did not: %+v, %+v", b.Groups[0], c.Groups[0])
	}
}

// TestCommittedBeforeEnds holds the order of reads that keeps lag from being negative.
func TestCommittedBeforeEnds(t *testing.T) {
	f := newFake(t)
	f.commit("g", "orders", 0, 0, 0)
	var mu sync.Mutex
	var keys []kmsg.Key
	f.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		mu.Lock()
		defer mu.Unlock()
		keys = append(keys, kmsg.Key(req.Key()))
		return nil, nil, false
	})
	s, _ := f.source()
	snapshot(t, s, model.Want{})
	snapshot(t, s, model.Want{})
	mu.Lock()
	defer mu.Unlock()
	fetches, lists := 0, 0
	for _, k := range keys {
		switch k {
		case kmsg.OffsetFetch:
			fetches++
		case kmsg.ListOffsets:
			if lists++; lists <= 6 && fetches < 1 || lists > 6 && fetches < 2 {
				t.Errorf("log ends were read before committed offsets: %v", keys)
			}
		}
	}
}

func TestPositionsOutsideTheLog(t *testing.T) {
	f := newFake(t, kfake.SeedTopics(2, "short"))
	f.produce("short", 0, 10)
	f.commit("g", "short", 2, 8)
	s, _ := f.source()
	if err := f.DeleteRecords("short", 0, 5); err != nil {
		t.Fatal(err)
	}
	g := group(t, snapshot(t, s, model.Want{}), "g")
	if p := g.Partitions[0]; p.Lost != 3 || p.Lag != model.Some[int64](5) || p.Deleted {
		t.Errorf("below the log start: %+v", p)
	}
	if p := g.Partitions[1]; p.Beyond != 8 || p.Lag != model.Some[int64](0) {
		t.Errorf("beyond the log end: %+v", p)
	}
	// Brokers keep offsets of topics and partitions that are gone, for a while.
	f.ControlKey(int16(kmsg.OffsetFetch), func(req kmsg.Request) (kmsg.Response, error, bool) {
		r := req.(*kmsg.OffsetFetchRequest)
		if len(r.Groups) != 1 {
			return nil, nil, false
		}
		f.KeepControl()
		resp := r.ResponseKind().(*kmsg.OffsetFetchResponse)
		answer := kmsg.NewOffsetFetchResponseGroup()
		answer.Group = r.Groups[0].Group
		for _, p := range []struct {
			topic  string
			number int32
		}{{"short", 5}, {"short", 0}, {"ghost", 1}} {
			t := kmsg.NewOffsetFetchResponseGroupTopic()
			t.Topic = p.topic
			part := kmsg.NewOffsetFetchResponseGroupTopicPartition()
			part.Partition, part.Offset = p.number, 7
			t.Partitions = append(t.Partitions, part)
			answer.Topics = append(answer.Topics, t)
		}
		resp.Groups = append(resp.Groups, answer)
		return resp, nil, true
	})
	g = group(t, snapshot(t, s, model.Want{}), "g")
	if len(g.Partitions) != 3 {
		t.Fatalf("%+v", g.Partitions)
	}
	for i, want := range []struct {
		topic   string
		deleted bool
	}{{"ghost", true}, {"short", false}, {"short", true}} {
		p := g.Partitions[i]
		if p.Topic != want.topic || p.Deleted != want.deleted || p.Lag.Known() == want.deleted {
			t.Errorf("partition %d: %+v", i, p)
		}
	}
	if err := f.DeleteTopic("short"); err != nil {
		t.Fatal(err)
	}
	if err := f.CreateTopic("short", 2, nil); err != nil {
		t.Fatal(err)
	}
	g = group(t, snapshot(t, s, model.Want{}), "g")
	if p := g.Partitions[1]; p.Beyond != 7 || p.Lag != model.Some[int64](0) || p.Start != model.Some[int64](0) {
		t.Errorf("of a topic that was created anew: %+v", p)
	}
}

func TestFailuresStayWhereTheyBelong(t *testing.T) {
	f := newFake(t)
	good, forbidden, odd := "good", "forbidden", "odd"
	for i := 0; f.CoordinatorFor(odd) == f.CoordinatorFor(good) || f.CoordinatorFor(odd) == f.CoordinatorFor(forbidden); i++ {
		odd = fmt.Sprint("odd", i)
	}
	for _, id := range []string{good, forbidden, odd} {
		consume(t, f.client(kgo.ConsumerGroup(id), kgo.ConsumeTopics("orders")))
	}
	s, _ := f.source()
	await(t, s, "all are stable", func(snap *model.Snapshot) bool {
		return len(snap.Groups) == 3 && !slices.ContainsFunc(snap.Groups, func(g model.Group) bool { return g.State != "Stable" })
	})
	f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.DescribeGroups, kmsg.OffsetFetch}, Group: forbidden, Err: kerr.GroupAuthorizationFailed, Count: -1})
	f.ControlKey(int16(kmsg.DescribeGroups), func(req kmsg.Request) (kmsg.Response, error, bool) {
		r := req.(*kmsg.DescribeGroupsRequest)
		if !slices.Equal(r.Groups, []string{odd}) {
			return nil, nil, false
		}
		f.KeepControl()
		resp := r.ResponseKind().(*kmsg.DescribeGroupsResponse)
		g := kmsg.NewDescribeGroupsResponseGroup()
		g.Group, g.State, g.ProtocolType = odd, "Stable", "consumer"
		m := kmsg.NewDescribeGroupsResponseGroupMember()
		m.MemberID, m.MemberAssignment, m.ProtocolMetadata = "m", []byte{0, 0, 0, 0, 0, 9, 1}, []byte{7}
		g.Members = append(g.Members, m)
		resp.Groups = append(resp.Groups, g)
		return resp, nil, true
	})
	snap := snapshot(t, s, model.Want{})
	if g := group(t, snap, good); len(g.Problems) > 0 || g.Described != snap.At {
		t.Errorf("good: %+v", g)
	}
	g := group(t, snap, forbidden)
	if len(g.Problems) != 1 || g.Problems[0].Code != "GROUP_AUTHORIZATION_FAILED" || !strings.Contains(g.Problems[0].Text, forbidden) {
		t.Errorf("forbidden: %+v", g.Problems)
	}
	if !g.Described.Before(snap.At) || len(g.Members) != 1 {
		t.Errorf("forbidden lost what was known: %+v", g)
	}
	if g := group(t, snap, odd); len(g.Problems) != 1 || g.Problems[0].Code != "malformed_member" || len(g.Members) != 1 {
		t.Errorf("odd: %+v", g)
	}
	if len(snap.Problems) != 2 {
		t.Errorf("problems %v", snap.Problems)
	}
}

// TestTakingTurns holds that a cluster too large for one poll is read in rotation, the groups on screen always.
func TestTakingTurns(t *testing.T) {
	f := newFake(t, kfake.NumBrokers(1))
	for i := range 12 {
		f.commit(fmt.Sprintf("g%02d", i), "orders", 0, 0, 0)
	}
	s, _ := f.source()
	s.budget = 4
	want := model.Want{Groups: []string{"g07"}}
	for round := range 4 {
		snap := snapshot(t, s, want)
		fresh, known := 0, 0
		for _, g := range snap.Groups {
			if g.OffsetsAt == snap.At {
				fresh++
			}
			if !g.OffsetsAt.IsZero() {
				known++
			}
		}
		if fresh != 4 || known != min(12, 4+3*round) || group(t, snap, "g07").OffsetsAt != snap.At {
			t.Errorf("round %d: %d groups of 12 were read, %d are known: %+v", round, fresh, known, group(t, snap, "g07"))
		}
	}
}

func TestCoordinatorMoves(t *testing.T) {
	f := newFake(t)
	for i := range 9 {
		f.commit(fmt.Sprint("g", i), "orders", 0, 0, 0)
	}
	s, _ := f.source()
	before := snapshot(t, s, model.Want{})
	// Everything is listed by the old coordinators, and nothing answered by them.
	f.ControlKey(int16(kmsg.OffsetFetch), func(kmsg.Request) (kmsg.Response, error, bool) {
		f.DropControl()
		f.Fault(kfake.Fault{Keys: []kmsg.Key{kmsg.OffsetFetch}, Err: kerr.NotCoordinator, Count: 9})
		return nil, nil, false
	})
	snap := snapshot(t, s, model.Want{})
	if len(snap.Groups) != len(before.Groups) || len(snap.Problems) > 0 {
		t.Fatalf("%d groups of %d, problems %v", len(snap.Groups), len(before.Groups), snap.Problems)
	}
	for _, g := range snap.Groups {
		if g.OffsetsAt != snap.At {
			t.Errorf("group %s was not read at its new coordinator", g.ID)
		}
	}
}

func TestMissingFromTheList(t *testing.T) {
	f := newFake(t)
	for i := range 9 {
		f.commit(fmt.Sprint("g", i), "orders", 0, 0, 0)
	}
	s, _ := f.source()
	snapshot(t, s, model.Want{})
	if _, err := kadm.NewClient(f.client()).DeleteGroups(t.Context(), "g3"); err != nil {
		t.Fatal(err)
	}
	// One broker lists nothing, as a coordinator that has just taken over does.
	victim := f.CoordinatorFor("g5")
	f.ControlKey(int16(kmsg.ListGroups), func(req kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if f.CurrentNode() != victim {
			return nil, nil, false
		}
		return req.ResponseKind(), nil, true
	})
	snap := snapshot(t, s, model.Want{})
	if _, ok := snap.Group("g3"); ok {
		t.Error("a group that was deleted is still there")
	}
	if g := group(t, snap, "g5"); g.Described != snap.At || len(snap.Groups) != 8 {
		t.Errorf("%d groups of 8, g5 %+v", len(snap.Groups), g)
	}
}

// TestSilentBroker holds that a broker that hangs costs its deadline once, and its own part only.
func TestSilentBroker(t *testing.T) {
	f := newFake(t)
	for i := range 9 {
		f.commit(fmt.Sprint("g", i), "orders", 0, 0, 0)
	}
	s, _ := f.source()
	last := snapshot(t, s, model.Want{})
	victim := f.CoordinatorFor("g0")
	release := make(chan struct{})
	f.Control(func(req kmsg.Request) (kmsg.Response, error, bool) {
		f.KeepControl()
		if f.CurrentNode() == victim {
			f.SleepControl(func() { <-release })
		}
		return nil, nil, false
	})
	for round := range 2 {
		began := time.Now()
		snap := snapshot(t, s, model.Want{})
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("round %d took %v", round, took)
		}
		if len(snap.Groups) != 9 || snap.Cluster.Up() != 2 {
			t.Fatalf("%d groups of 9, %d brokers up", len(snap.Groups), snap.Cluster.Up())
		}
		for _, g := range snap.Groups {
			if g.Coordinator == victim && (g.Described != last.At || g.OffsetsAt != last.At || len(g.Partitions) != 3) {
				t.Errorf("round %d: %+v is not as it was", round, g)
			}
			if g.Coordinator != victim && g.OffsetsAt != snap.At {
				t.Errorf("round %d: %s was not read", round, g.ID)
			}
		}
		i := slices.IndexFunc(snap.Problems, func(p model.Problem) bool { return p.Scope == model.ScopeBroker })
		if i < 0 || snap.Problems[i].Name != fmt.Sprint(victim) || snap.Problems[i].Code != "silent_after_connect" {
			t.Errorf("round %d: problems %v", round, snap.Problems)
		}
	}
	close(release)
	await(t, s, "the broker is back", func(snap *model.Snapshot) bool {
		return snap.Cluster.Up() == 3 && len(snap.Problems) == 0
	})
}

func TestOldBrokers(t *testing.T) {
	for _, c := range []struct {
		name    string
		version *kversion.Versions
		share   model.ShareSupport
	}{
		{"2.4", kversion.V2_4_0(), model.ShareTooOld},
		{"3.4", kversion.V3_4_0(), model.ShareTooOld},
		{"3.9", kversion.V3_9_0(), model.ShareTooOld},
		{"4.1", kversion.V4_1_0(), model.ShareOff},
		{"4.2", kversion.V4_2_0(), model.ShareOn},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFake(t, kfake.MaxVersions(c.version))
			f.produce("orders", 0, 10)
			f.commit("simple", "orders", 4)
			consume(t, f.client(kgo.ConsumerGroup("classic"), kgo.ConsumeTopics("orders")))
			s, _ := f.source()
			snap := await(t, s, "the group is stable", func(snap *model.Snapshot) bool {
				g, ok := snap.Group("classic")
				return ok && g.State == "Stable" && len(g.Members) == 1
			})
			for _, id := range []string{"simple", "classic"} {
				if g := group(t, snap, id); g.Type != model.TypeClassic || g.OffsetsAt != snap.At {
					t.Errorf("%+v", g)
				}
			}
			if lag, _ := group(t, snap, "simple").Lag(); lag != model.Some[int64](6) {
				t.Errorf("lag %v", lag)
			}
			if snap.Cluster.Share != c.share {
				t.Errorf("share %v", snap.Cluster.Share)
			}
			if share := slices.ContainsFunc(snap.Problems, func(p model.Problem) bool { return p.Scope == model.ScopeShare }); share != (c.share != model.ShareOn) {
				t.Errorf("problems %v", snap.Problems)
			}
		})
	}
}

func TestWants(t *testing.T) {
	f := newFake(t, kfake.SeedTopics(1, "lonely"))
	for i := range 9 {
		f.commit(fmt.Sprint("g", i), "orders", 0)
	}
	s, _ := f.source()
	snap := snapshot(t, s, model.Want{OnlyGroups: func(id string) bool { return id == "g4" }, Topics: []string{"lonely"}})
	if len(snap.Groups) != 1 || snap.Groups[0].ID != "g4" {
		t.Errorf("%+v", snap.Groups)
	}
	if lonely, _ := snap.Topic("lonely"); lonely.Partitions[0].End != model.Some[int64](0) {
		t.Errorf("%+v", lonely)
	}
	if snap := snapshot(t, s, model.Want{}); len(snap.Groups) != 9 {
		t.Errorf("%d groups", len(snap.Groups))
	}
}

func TestNothingAnswers(t *testing.T) {
	f := newFake(t)
	s, _ := f.source()
	snapshot(t, s, model.Want{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Snapshot(ctx, model.Want{}); err == nil {
		t.Error("a poll that was canceled gave a snapshot")
	}
	snapshot(t, s, model.Want{})
	f.Close()
	if snap, err := s.Snapshot(t.Context(), model.Want{}); err == nil {
		t.Errorf("a cluster that is gone gave a snapshot: %+v", snap)
	}
}
