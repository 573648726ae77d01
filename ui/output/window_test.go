package output

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"flightdeck/model"
)

// The window is a part of the contract of docs/output.md.
const goldenWindow = `"window":{"start_offset":10,"end_offset":20,"highest_recorded":15,"complete_count":2,"lock_limit":2000,"delivery_limit":null,"batches":[` +
	`{"first":10,"last":10,"state":"acquired","delivery_count":null,"source":"inferred","reason":"passed_over"},` +
	`{"first":11,"last":11,"state":"acknowledged","delivery_count":1,"source":"recorded","reason":"finished"},` +
	`{"first":12,"last":12,"state":"available","delivery_count":2,"source":"recorded","reason":"returned"},` +
	`{"first":13,"last":13,"state":"archived","delivery_count":5,"source":"recorded","reason":"finished"},` +
	`{"first":14,"last":14,"state":"acquired","delivery_count":null,"source":"inferred","reason":"passed_over"},` +
	`{"first":15,"last":15,"state":"code-9","delivery_count":1,"source":"recorded","reason":"unknown_state"},` +
	`{"first":16,"last":19,"state":"none","delivery_count":null,"source":"none","reason":"no_outcome"}],` +
	`"history_from":"2026-03-01T04:00:00Z"}`

func TestJSONHasWindowsOnlyWhenTheyWereRead(t *testing.T) {
	v := sample()
	s := v.Snapshot
	s.Topics = []model.Topic{{Name: "t", ID: model.TopicID{1}}}
	s.ShareGroups[0].Partitions = []model.GroupPartition{
		{Topic: "t", End: model.Some[int64](20)},
		{Topic: "t", Number: 1},
	}
	if got := line(t, v); strings.Contains(got, `"window"`) {
		t.Errorf("a window that nobody asked for: %s", got)
	}
	fold := model.NewShareFold(10)
	ref := model.WriteRef{Ms: time.Date(2026, 3, 1, 4, 0, 0, 0, time.UTC).UnixMilli(), Offset: 3}
	fold.Apply(&model.ShareWrite{Kind: model.WriteSnapshot, StateEpoch: 1, Start: 10}, ref)
	ref.Offset++
	fold.Apply(&model.ShareWrite{Kind: model.WriteUpdate, Start: -1, Batches: []model.StateBatch{
		{First: 11, Last: 11, State: model.StateAcknowledged, Count: 1}, {First: 12, Last: 12, State: model.StateAvailable, Count: 2},
		{First: 13, Last: 13, State: model.StateArchived, Count: 5}, {First: 15, Last: 15, State: 9, Count: 1}}}, ref)
	key, _ := s.ShareKey("workers", "t", 0)
	r := &model.ShareRecords{Partitions: map[model.SharePartitionKey]*model.SharePartitionRecords{key: {Key: key, CaughtUp: true, History: fold.History()}}}
	configs := &model.GroupConfigs{Values: []model.ConfigValue{{Name: model.ConfigRecordLocks, Value: "2000"}}}
	v.Snapshot = s.WithShareRecords(r, map[string]*model.GroupConfigs{"workers": configs})
	got := line(t, v)
	if !strings.Contains(got, goldenWindow) {
		t.Errorf("got\n%s\nwant in it\n%s", got, goldenWindow)
	}
	if !strings.Contains(got, `"window":null`) {
		t.Errorf("the window of a share-partition of which nothing is known is not null:\n%s", got)
	}
}

func line(t *testing.T, v *model.View) string {
	t.Helper()
	var b bytes.Buffer
	if err := JSONLine(&b, v); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
