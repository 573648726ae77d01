package output

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"flightdeck/model"
)

// sample is a cluster with one of everything that the JSON can say.
func sample() *model.View {
	s := &model.Snapshot{
		At: time.Date(2026, 3, 1, 13, 0, 0, 500e6, time.FixedZone("KST", 9*3600)),
		Cluster: model.Cluster{
			ID: "c1", Controller: 2,
			Brokers: []model.Broker{{ID: 1, Host: "a", Port: 9092, Rack: "r1", Up: true}, {ID: 2, Host: "b", Port: 9093}},
			Features: []model.Feature{
				{Name: "share.version", Finalized: model.Some[int16](1), Max: 1},
				{Name: "eligible.leader.replicas.version", Max: 1},
			},
		},
		Groups: []model.Group{
			{
				ID: "orders", Type: model.TypeConsumer, State: "Stable", Described: time.Unix(1, 0),
				Members: []model.Member{{ID: "m1", ClientID: "app", Host: "10.0.0.1", InstanceID: "i1",
					Assignment: []model.TopicPartitions{{Topic: "t", Partitions: []int32{0, 1}}}}},
				Partitions: []model.GroupPartition{
					{Topic: "t", Number: 0, Member: 0, Position: model.Some[int64](5), Start: model.Some[int64](7), End: model.Some[int64](17)},
					{Topic: "t", Number: 1, Member: model.NoMember, End: model.Some[int64](3)},
				},
			},
			{ID: "quiet", Type: model.TypeUnknown},
		},
		ShareGroups: []model.Group{{
			ID: "workers", Type: model.TypeShare, State: "Empty",
			Partitions: []model.GroupPartition{{Topic: "t", Position: model.Some[int64](9), End: model.Some[int64](4), Beyond: 5, Lag: model.Some[int64](0)}},
		}},
		Problems: []model.Problem{{Scope: model.ScopeGroup, Name: "secret", Code: "GROUP_AUTHORIZATION_FAILED", Text: "no \x1b[31mright"}},
	}
	for i := range s.Groups[0].Partitions {
		s.Groups[0].Partitions[i].Measure()
	}
	return &model.View{Snapshot: s, Insights: map[string]*model.Insight{
		"orders": {Consumed: model.Some(1.5), Verdicts: []model.Verdict{{Code: "lost", Severity: model.Critical, Text: "2 records lost"}}},
	}}
}

// The golden document is the contract of docs/output.md.
const golden = `{"schema":"flightdeck.snapshot/1","at":"2026-03-01T04:00:00.5Z",` +
	`"cluster":{"id":"c1","controller":2,"brokers":[{"id":1,"host":"a","port":9092,"rack":"r1"},{"id":2,"host":"b","port":9093,"rack":null}],"features":{"share.version":1}},` +
	`"groups":[` +
	`{"id":"orders","type":"consumer","state":"Stable",` +
	`"members":[{"id":"m1","client_id":"app","host":"10.0.0.1","instance_id":"i1","assignment":[{"topic":"t","partitions":[0,1]}]}],` +
	`"lag":10,"lag_partial":true,"rate":1.5,"verdicts":[{"code":"lost","severity":"critical","text":"2 records lost"}],` +
	`"partitions":[{"topic":"t","partition":0,"committed":5,"start":7,"end":17,"lag":10,"lost":2,"member":"m1"},` +
	`{"topic":"t","partition":1,"committed":null,"start":null,"end":3,"lag":null,"member":null}]},` +
	`{"id":"quiet","type":"unknown","state":"Unknown","members":[],"lag":null,"lag_partial":false,"rate":null,"verdicts":[],"partitions":[]}],` +
	`"share_groups":[{"id":"workers","state":"Empty","members":[],"lag":0,"lag_partial":false,"verdicts":[],` +
	`"partitions":[{"topic":"t","partition":0,"start_offset":9,"end":4,"lag":0,"beyond":5}]}],` +
	`"problems":[{"scope":"group","name":"secret","code":"GROUP_AUTHORIZATION_FAILED","text":"no \u001b[31mright"}]}` + "\n"

func TestJSONLineIsTheDocumentedContract(t *testing.T) {
	var b bytes.Buffer
	if err := JSONLine(&b, sample()); err != nil {
		t.Fatal(err)
	}
	if b.String() != golden {
		t.Errorf("got\n%s\nwant\n%s", b.String(), golden)
	}
}

func TestJSONIsTheSameDocumentIndented(t *testing.T) {
	var b, want bytes.Buffer
	if err := JSON(&b, sample()); err != nil {
		t.Fatal(err)
	}
	if err := json.Indent(&want, []byte(golden), "", "  "); err != nil {
		t.Fatal(err)
	}
	if b.String() != want.String() {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want.String())
	}
}

func TestTextIsQuotedAsJSON(t *testing.T) {
	for _, s := range []string{"", "plain", `say "no"`, `back\slash`, "\x1b[31m\x00\x7f\n\t", "<&>", "äöü \u2028 \U0001f600", "broken \xff\xc0"} {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got := string(appendText(nil, s)) + "\n"; got != want.String() {
			t.Errorf("%q is written as %s, want %s", s, got, want.String())
		}
	}
}

type fullDisk struct{ room int }

func (f *fullDisk) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errors.New("disk full")
	}
	return len(p), nil
}

func TestJSONTellsThatItCouldNotBeWritten(t *testing.T) {
	if err := JSON(&fullDisk{room: 3 * flushAt}, crowd(100)); err == nil || err.Error() != "disk full" {
		t.Errorf("got the error %v, want that of the writer", err)
	}
}

func TestNothingIsAnEmptyListNotNull(t *testing.T) {
	var b bytes.Buffer
	if err := JSONLine(&b, &model.View{Snapshot: &model.Snapshot{Cluster: model.Cluster{Controller: -1}}}); err != nil {
		t.Fatal(err)
	}
	const want = `"cluster":{"id":null,"controller":null,"brokers":[],"features":{}},"groups":[],"share_groups":[],"problems":[]}`
	if !strings.Contains(b.String(), want) {
		t.Errorf("got %s, want it to hold %s", b.String(), want)
	}
}

func TestTable(t *testing.T) {
	v := sample()
	v.Snapshot.Groups[1].ID = "evil\x1b[2J"
	var b bytes.Buffer
	if err := Table(&b, v); err != nil {
		t.Fatal(err)
	}
	const want = `GROUP        TYPE      STATE    MEMBERS  TOPICS   LAG   RATE  VERDICT
orders       consumer  Stable         1       1  >=10  1.5/s  2 records lost
evil\x1b[2J  unknown   Unknown        -       0     -      -  -

SHARE GROUP  STATE  MEMBERS  TOPICS  LAG  VERDICT
workers      Empty        -       1    0  -
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestTableOfNoGroups(t *testing.T) {
	var b bytes.Buffer
	if err := Table(&b, &model.View{Snapshot: &model.Snapshot{}}); err != nil {
		t.Fatal(err)
	}
	if b.String() != "no groups\n" {
		t.Errorf("got %q", b.String())
	}
}
