package model_test

import (
	"strings"
	"testing"
	"time"

	"flightdeck/model"
)

func TestJudgeShareRecords(t *testing.T) {
	configs := func(pairs ...string) *model.GroupConfigs {
		c := &model.GroupConfigs{}
		for i := 0; i < len(pairs); i += 2 {
			c.Values = append(c.Values, model.ConfigValue{Name: pairs[i], Value: pairs[i+1]})
		}
		return c
	}
	limits := configs(model.ConfigDeliveryLimit, "5", model.ConfigRecordLocks, "10", model.ConfigLockDuration, "15000")
	at := func(seconds int64) time.Time { return time.UnixMilli(seconds * 1000) }
	// The writes are a second apart, from second 1 on.
	part := func(number int32, end int64, writes ...model.ShareWrite) model.SharePartitionFacts {
		return model.SharePartitionFacts{Topic: "orders", Number: number, End: model.Some(end),
			Records: &model.SharePartitionRecords{CaughtUp: true, History: foldOf(100, writes...).History()}}
	}
	locks := func(gap int64) model.SharePartitionFacts {
		f := model.NewShareFold(100)
		begun := snapshotOf(1, -1)
		f.Apply(&begun, model.WriteRef{Ms: -20_000})
		for i, w := range []model.ShareWrite{updateOf(0, batch(0, 0, acked, 1)), updateOf(1, batch(3, 3, avail, 1)), updateOf(1, batch(4, 4, avail, 1)), updateOf(1, batch(5, 5, avail, 1))} {
			f.Apply(&w, model.WriteRef{Ms: 1000 + int64(i)*gap, Offset: int64(i + 1)})
		}
		return model.SharePartitionFacts{Topic: "orders", End: model.Some[int64](20), Records: &model.SharePartitionRecords{CaughtUp: true, History: f.History()}}
	}
	for _, c := range []struct {
		name  string
		facts model.ShareGroupFacts
		// want are codes with a part of the text each.
		want []string
	}{
		{"nothing to say", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{part(0, 20, snapshotOf(1, -1), updateOf(0, batch(0, 0, acked, 1)))}}, nil},
		{"without configs", model.ShareGroupFacts{Now: at(5), Partitions: []model.SharePartitionFacts{part(0, 20, snapshotOf(1, -1), updateOf(0, batch(0, 0, avail, 5)))}}, nil},
		{"window nearly full", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{part(0, 20, snapshotOf(1, -1), updateOf(0, batch(8, 8, acked, 1)))}},
			[]string{"share_window_full: window nearly full: 9 of 10 on orders/0"}},
		{"window stuck", model.ShareGroupFacts{Now: at(100), Configs: limits, Partitions: []model.SharePartitionFacts{part(0, 20, snapshotOf(1, -1), updateOf(0, batch(8, 8, acked, 1)))}},
			[]string{"share_window_full: window stuck: 9 of 10 on orders/0 behind offset 0", "share_head_stuck: offset 0 on orders/0 holds the start offset for 1m38s"}},
		{"near the limit", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{part(0, 20, snapshotOf(1, -1), updateOf(0, batch(0, 1, avail, 4)))}},
			[]string{"share_near_limit: 2 records one delivery from being archived"}},
		{"near the limit, delivered alone", model.ShareGroupFacts{Now: at(5), Version: "4.4+", Configs: limits, Partitions: []model.SharePartitionFacts{part(0, 20, snapshotOf(1, -1), updateOf(0, batch(0, 1, avail, 3)))}},
			[]string{"share_small_fetches: slower by design: 2 records near the delivery limit"}},
		{"archived", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{part(0, 20, snapshotOf(1, -1), updateOf(0, batch(0, 0, gone, 5), batch(1, 1, gone, 1)))}},
			[]string{"share_archived: 2 records archived in 10 min, 1 at the delivery limit"}},
		{"archived long ago", model.ShareGroupFacts{Now: at(1000), Configs: limits, Partitions: []model.SharePartitionFacts{part(0, 20, snapshotOf(1, -1), updateOf(0, batch(0, 0, gone, 5)))}}, nil},
		{"locks ran out together", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{locks(5)}},
			[]string{"share_locks_run_out: 3 locks seem to have run out"}},
		{"released one by one", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{locks(500)}}, nil},
		{"released again too soon for a lock", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{func() model.SharePartitionFacts {
			f := model.NewShareFold(100)
			for i, w := range []model.ShareWrite{updateOf(0, batch(0, 0, acked, 1)), updateOf(1, batch(3, 4, avail, 1)), updateOf(1, batch(3, 3, avail, 2)), updateOf(1, batch(4, 4, avail, 2))} {
				f.Apply(&w, model.WriteRef{Ms: 1000 + int64(i)*5, Offset: int64(i)})
			}
			return model.SharePartitionFacts{Topic: "orders", Records: &model.SharePartitionRecords{CaughtUp: true, History: f.History()}}
		}()}}, nil},
		{"released when the state is younger than a lock", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{
			func() model.SharePartitionFacts {
				f := model.NewShareFold(100)
				for i, w := range []model.ShareWrite{snapshotOf(1, -1), updateOf(0, batch(0, 0, avail, 1)), updateOf(0, batch(1, 3, avail, 1))} {
					f.Apply(&w, model.WriteRef{Ms: 1000 + int64(i)*5, Offset: int64(i)})
				}
				return model.SharePartitionFacts{Topic: "orders", Records: &model.SharePartitionRecords{CaughtUp: true, History: f.History()}}
			}()}}, nil},
		{"partition added", model.ShareGroupFacts{Now: at(5), Version: "4.3", Configs: configs(model.ConfigShareReset, "latest"), Partitions: []model.SharePartitionFacts{
			part(0, 20, snapshotOf(1, -1), updateOf(0, batch(0, 0, acked, 1))), part(1, 20, snapshotOf(2, -1))}},
			[]string{"share_partition_latest: 1 new partition may skip"}},
		{"partition added on 4.4", model.ShareGroupFacts{Now: at(5), Version: "4.4", Configs: configs(model.ConfigShareReset, "latest"), Partitions: []model.SharePartitionFacts{
			part(0, 20, snapshotOf(1, -1), updateOf(0, batch(0, 0, acked, 1))), part(1, 20, snapshotOf(2, -1))}}, nil},
		{"reset", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{part(0, 20, snapshotOf(1, -1), updateOf(6, batch(6, 6, acked, 1)), snapshotOf(2, 3))}},
			[]string{"share_start_went_back: start offset of orders/0 went back from 7 to 3"}},
		{"deleted and made again", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{
			part(0, 20, snapshotOf(1, -1), updateOf(6, batch(6, 6, acked, 1)), model.ShareWrite{Kind: model.WriteTombstone}, snapshotOf(5, -1), updateOf(0, batch(0, 0, acked, 1)))}},
			[]string{"share_start_went_back: start offset of orders/0 went back from 7 to 1"}},
		{"not followed", model.ShareGroupFacts{Now: at(5), Configs: limits, Partitions: []model.SharePartitionFacts{{Topic: "orders"}}}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := model.JudgeShareRecords(&c.facts)
			if len(got) != len(c.want) {
				t.Fatalf("got %+v, want %v", got, c.want)
			}
			for i, v := range got {
				code, text, _ := strings.Cut(c.want[i], ": ")
				if v.Code != code || !strings.HasPrefix(v.Text, text) || len(v.Evidence) == 0 {
					t.Errorf("got %+v, want %s", v, c.want[i])
				}
				if i > 0 && v.Severity > got[i-1].Severity {
					t.Error("not the worst first")
				}
			}
		})
	}
}
