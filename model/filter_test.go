package model

import (
	"errors"
	"strings"
	"testing"
	"time"
)

type filterRow struct {
	id, state string
	topics    []string
	lag       Int
	eta       Opt[time.Duration]
}

var filterFields = []Field[filterRow]{
	{Name: "group", Plain: true, Text: func(r *filterRow) string { return r.id }},
	{Name: "state", Text: func(r *filterRow) string { return r.state }},
	{Name: "topic", Any: func(r *filterRow, match func(string) bool) bool {
		for _, t := range r.topics {
			if match(t) {
				return true
			}
		}
		return false
	}},
	{Name: "lag", Number: func(r *filterRow) Opt[float64] { return floatOf(r.lag) }},
	{Name: "eta", Span: func(r *filterRow) Opt[time.Duration] { return r.eta }},
}

func TestFilter(t *testing.T) {
	rows := []filterRow{
		{id: "order-service", state: "Stable", topics: []string{"order-events", "payments"}, lag: Some(int64(12480))},
		{id: "billing", state: "Empty", topics: []string{"payments"}, lag: Some(int64(0)), eta: Some(90 * time.Second)},
		{id: "Odd one=x", state: "", lag: Int{}},
		{id: "주문", state: "PreparingRebalance", topics: []string{"주문-이벤트"}, lag: Some(int64(1500)), eta: Some(26 * time.Hour)},
	}
	tests := []struct{ filter, want string }{
		{"", "0123"},
		{"   ", "0123"},
		{"ORDER", "0"},
		{"rder", "0"},
		{"!order", "123"},
		{"~odsv", "0"},
		{"!~odsv", "123"},
		{"주문", "3"},
		{`"odd one"`, "2"},
		{`"one=x"`, "2"},
		{"order odd", ""},
		{"group=order*", "0"},
		{"state=stable", "0"},
		{"STATE=Stable", "0"},
		{"state=stab", ""},
		{"state=*reb*", "3"},
		{"state!=stable", "123"},
		{"!state=stable", "123"},
		{`state=""`, "2"},
		{"topic=payments", "01"},
		{"topic=*-events", "0"},
		{"topic=order-*ents", "0"},
		{"topic!=payments", "23"},
		{"state=[ps]*", "03"},
		{"state=?mpty", "1"},
		{"lag>1000", "03"},
		{"lag>1k lag<12,480", "3"},
		{"lag>=12,480", "0"},
		{"lag>=1.5k", "03"},
		{"lag=1_500", "3"},
		{"lag<=0", "1"},
		{"lag!=0", "03"},
		{"lag<0.01m", "13"},
		{"lag=-", "2"},
		{"lag!=-", "013"},
		{"!lag>1000", "12"},
		{"eta<5m", "1"},
		{"eta>90", "3"},
		{"eta>=1m30s", "13"},
		{"eta>1d", "3"},
		{"eta>1d2h", ""},
		{"eta=-", "02"},
		{"lag>0 state=stable order", "0"},
		{"-", "0"},
	}
	for _, tt := range tests {
		t.Run(tt.filter, func(t *testing.T) {
			f, err := ParseFilter(tt.filter, filterFields)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for i := range rows {
				if f.Match(&rows[i]) {
					got += string(rune('0' + i))
				}
			}
			if got != tt.want {
				t.Errorf("matches rows %q, want %q", got, tt.want)
			}
			if f.Empty() != (strings.TrimSpace(tt.filter) == "") {
				t.Errorf("Empty() = %v", f.Empty())
			}
		})
	}
}

func TestFilterErrors(t *testing.T) {
	tests := []struct {
		filter string
		column int
		text   string
	}{
		{"lagg>1", 1, "at 1: there is no key lagg here; the keys are group, state, topic, lag, eta"},
		{"주문 lag>", 4, "at 4: lag> needs a value after it"},
		{"state=", 1, "at 1: state= needs a value after it"},
		{"lag>many", 1, "at 1: lag> needs a number such as 1000, 12,480 or 1.5k"},
		{"lag>NaN", 1, "at 1: lag> needs a number such as 1000, 12,480 or 1.5k"},
		{"lag>0x10", 1, "at 1: lag> needs a number such as 1000, 12,480 or 1.5k"},
		{"lag>-", 1, "at 1: lag> needs a number such as 1000, 12,480 or 1.5k"},
		{"eta<soon", 1, "at 1: eta< needs a time span such as 12s, 4m10s or 3h"},
		{"a state>b", 3, "at 3: state is text, so it takes = or !=, not >"},
		{"!", 1, "at 1: ! needs the term to exclude after it, such as !audit or !state=empty"},
		{"a  ~", 4, "at 4: ~ needs the characters to look for after it, such as ~ords"},
		{`a "b c`, 3, `at 3: a quote is not closed; add a " at its end`},
		{"topic=a[b", 1, `at 1: the glob "a[b" has a [ without its ]: write \[ for the character itself`},
		{"!nokey=1", 1, "at 1: there is no key nokey here; the keys are group, state, topic, lag, eta"},
	}
	for _, tt := range tests {
		t.Run(tt.filter, func(t *testing.T) {
			_, err := ParseFilter(tt.filter, filterFields)
			var bad *FilterError
			if !errors.As(err, &bad) {
				t.Fatalf("error %v, want a *FilterError", err)
			}
			if bad.Column != tt.column || bad.Text != tt.text {
				t.Errorf("got %d %q\nwant %d %q", bad.Column, bad.Text, tt.column, tt.text)
			}
		})
	}
}

func TestGroupFields(t *testing.T) {
	row := GroupRow{
		Group: &Group{ID: "audit", Type: TypeConsumer, State: "Stable",
			Members:    []Member{{ClientID: "c1", Host: "10.0.0.1"}, {ClientID: "c2", Host: "10.0.0.2"}},
			Partitions: []GroupPartition{{Topic: "a", Lag: Some(int64(40))}, {Topic: "b"}}},
		Insight: &Insight{Consumed: Some(3.5), ETA: Some(12 * time.Second),
			Verdicts: []Verdict{{Code: "stalled", Severity: Critical, Text: "no progress for 40s"}, {Code: "uneven", Text: "most on a/0"}}},
	}
	tests := []struct {
		filter string
		want   bool
	}{
		{"aud", true}, {"type=consumer", true}, {"members=2", true}, {"members=0", false}, {"topics=2", true}, {"topic=b", true},
		{"topic=c", false}, {"client=c2", true}, {"host=10.0.0.*", true}, {"lag=40", true}, {"rate>3", true}, {"eta<1m", true},
		{"severity=critical", true}, {"severity>=warning", true}, {"severity<crit", false}, {"SEVERITY>Warn", true}, {"severity!=ok", true}, {"verdict=stalled", true}, {"verdict=uneven", true}, {"progress", true}, {"most", false},
	}
	for _, tt := range tests {
		t.Run(tt.filter, func(t *testing.T) {
			f, err := ParseFilter(tt.filter, GroupFields())
			if err != nil {
				t.Fatal(err)
			}
			if got := f.Match(&row); got != tt.want {
				t.Errorf("Match = %v, want %v", got, tt.want)
			}
		})
	}
}

func TestUnknownSeverityIsNamed(t *testing.T) {
	_, err := ParseFilter("severity>=bad", GroupFields())
	if want := "at 1: severity>= needs one of ok, info, warning, critical"; err == nil || err.Error() != want {
		t.Errorf("error %v, want %q", err, want)
	}
}

func TestOtherFieldsParse(t *testing.T) {
	broker := Broker{ID: 2, Host: "b2.local", Rack: "r1", Up: true}
	if f, err := ParseFilter("b2 broker=2 rack=r1 up=yes", BrokerFields()); err != nil || !f.Match(&broker) {
		t.Errorf("broker: %v", err)
	}
	topic := TopicRow{Topic: &Topic{Name: "orders", Partitions: make([]Partition, 3)}, Groups: 2}
	if f, err := ParseFilter("ord partitions=3 groups>1 internal=no rate=-", TopicFields()); err != nil || !f.Match(&topic) {
		t.Errorf("topic: %v", err)
	}
	event := Event{Severity: Warning, Code: "group_gone", Group: "audit", Text: "audit is gone."}
	if f, err := ParseFilter("gone code=group_* severity=warning group=audit", EventFields()); err != nil || !f.Match(&event) {
		t.Errorf("event: %v", err)
	}
}

func FuzzParseFilter(f *testing.F) {
	for _, s := range []string{"", "a", "!a ~b", `lag>1k "x y`, "state=stable eta<5m", "!!!a", "=>", "\xff lag", "lag=1e400"} {
		f.Add(s)
	}
	rows := []filterRow{{id: "a", lag: Some(int64(1)), topics: []string{"t"}}, {}}
	f.Fuzz(func(t *testing.T, s string) {
		filter, err := ParseFilter(s, filterFields)
		if err != nil {
			var bad *FilterError
			if !errors.As(err, &bad) || bad.Column < 1 || bad.Column > len([]rune(s)) {
				t.Fatalf("ParseFilter(%q): %v", s, err)
			}
			return
		}
		for i := range rows {
			filter.Match(&rows[i])
		}
		// One more term can only narrow.
		narrow, err := ParseFilter(s+" !a", filterFields)
		if err == nil && narrow.Match(&rows[0]) && !filter.Match(&rows[0]) {
			t.Fatalf("%q !a matches a row that %q does not", s, s)
		}
	})
}
