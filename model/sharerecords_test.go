package model_test

import (
	"testing"
	"time"

	"flightdeck/model"
)

// sharing is a snapshot of one share group on one topic, whose state topic holds the writes.
func sharing(lag model.Int, writes ...model.ShareWrite) *model.Snapshot {
	id := model.TopicID{7}
	s := &model.Snapshot{
		At:     time.UnixMilli(100_000),
		Topics: []model.Topic{{Name: "orders", ID: id}},
		ShareGroups: []model.Group{{ID: "g", Type: model.TypeShare, Partitions: []model.GroupPartition{
			{Topic: "orders", Start: model.Some[int64](0), End: model.Some[int64](20), Lag: lag}}}},
	}
	key := model.SharePartitionKey{Group: "g", TopicID: id}
	r := &model.ShareRecords{Partitions: map[model.SharePartitionKey]*model.SharePartitionRecords{}}
	if writes != nil {
		r.Partitions[key] = &model.SharePartitionRecords{Key: key, CaughtUp: true, History: foldOf(100, writes...).History()}
	}
	return s.WithShareRecords(r, nil)
}

func TestWithShareRecordsDerivesTheLag(t *testing.T) {
	done := updateOf(0, batch(0, 3, acked, 1), batch(5, 5, acked, 1))
	counted := done
	counted.Complete = model.Some[int32](5)
	for _, c := range []struct {
		name     string
		snapshot *model.Snapshot
		want     model.Int
		derived  bool
	}{
		{"the broker does not tell", sharing(model.Int{}, snapshotOf(1, 0), done), model.Some[int64](15), true},
		{"the broker tells", sharing(model.Some[int64](14), snapshotOf(1, 0), done), model.Some[int64](14), false},
		{"the broker could tell and does not", sharing(model.Int{}, snapshotOf(1, 0), counted), model.Int{}, false},
		{"nothing recorded", sharing(model.Int{}, snapshotOf(1, -1)), model.Int{}, false},
		{"the snapshot before is missing", sharing(model.Int{}, done), model.Int{}, false},
		{"not read", sharing(model.Int{}), model.Int{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := c.snapshot.ShareGroups[0].Partitions[0]
			if p.Lag != c.want || p.LagDerived != c.derived {
				t.Errorf("lag %s derived %v, want %s and %v", p.Lag.Text(model.Count), p.LagDerived, c.want.Text(model.Count), c.derived)
			}
		})
	}
}

func TestUnknownWindows(t *testing.T) {
	denied := sharing(model.Int{})
	denied.Records.Problem = &model.Problem{Code: "TOPIC_AUTHORIZATION_FAILED"}
	for _, c := range []struct {
		name     string
		snapshot *model.Snapshot
		want     string
	}{
		{"known", sharing(model.Int{}, snapshotOf(1, 0)), ""},
		{"nothing recorded", sharing(model.Int{}, snapshotOf(1, -1)), "nothing_recorded"},
		{"not read", sharing(model.Int{}), "window_unknown"},
		{"no right", denied, "TOPIC_AUTHORIZATION_FAILED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			code := ""
			for _, p := range c.snapshot.UnknownWindows() {
				code += p.Code
			}
			if code != c.want {
				t.Errorf("problems %q, want %q", code, c.want)
			}
		})
	}
}

func TestShareSum(t *testing.T) {
	s := sharing(model.Int{}, snapshotOf(1, 0), updateOf(0, batch(2, 3, acked, 1), batch(5, 6, avail, 3)), updateOf(0, batch(7, 7, gone, 1)))
	sum := s.Records.Sum(s.ShareKeys(nil), time.UnixMilli(5000))
	want := model.ShareSum{Used: model.Some[int64](8), Worst: model.Some[int64](3), Released: model.Some[int64](2), Archived: model.Some[int64](1)}
	if sum != want {
		t.Errorf("%+v, want %+v", sum, want)
	}
	later := s.Records.Sum(s.ShareKeys(nil), time.UnixMilli(5000).Add(model.ShareRecent))
	if later.Released != model.Some[int64](0) || later.Used != want.Used {
		t.Errorf("%s later: %+v; want nothing released and the same window", model.ShareRecent, later)
	}
	var none *model.ShareRecords
	if sum := none.Sum(nil, s.At); sum.Why == "" || sum.Used.Known() {
		t.Errorf("without records: %+v, want a reason and nothing known", sum)
	}
}
