package model

import (
	"strings"
	"testing"
	"time"
)

func TestResetCommand(t *testing.T) {
	const servers = "kafka-consumer-groups.sh --bootstrap-server a:9092,b:9092 --group "
	const share = "kafka-share-groups.sh --bootstrap-server a:9092,b:9092 --group "
	one := Some[int64]
	both := []ResetPartition{
		{Topic: "orders", Number: 0, Now: one(1), Start: one(0), End: one(9), Found: one(2), Target: one(3)},
		{Topic: "orders", Number: 1, Now: one(1), Start: one(0), End: one(9), Found: one(2), Target: one(3)},
	}
	some := append(both[:1:1], ResetPartition{Topic: "orders", Number: 1, Deleted: true})
	for name, tt := range map[string]struct {
		group      string
		typ        GroupType
		version    string
		spec       ResetSpec
		partitions []ResetPartition
		want       string
		ok         bool
	}{
		"whole topic":      {"g", TypeClassic, "4.3", ResetSpec{Mode: ResetEarliest}, both, servers + "g --reset-offsets --to-earliest --topic orders --execute", true},
		"some partitions":  {"g", TypeConsumer, "4.3", ResetSpec{Mode: ResetLatest}, some, servers + "g --reset-offsets --to-latest --topic orders:0 --execute", true},
		"quoting":          {"it's $(mine)", TypeClassic, "4.3", ResetSpec{Mode: ResetCurrent}, both, servers + `'it'\''s $(mine)' --reset-offsets --to-current --topic orders --execute`, true},
		"shift":            {"g", TypeClassic, "4.3", ResetSpec{Mode: ResetShift, Offset: -3}, both, servers + "g --reset-offsets --shift-by -3 --topic orders --execute", true},
		"time":             {"g", TypeClassic, "4.3", ResetSpec{Mode: ResetTime, Time: noon}, both, servers + "g --reset-offsets --to-datetime 2026-01-02T03:00:00.000Z --topic orders --execute", true},
		"back":             {"g", TypeClassic, "4.3", ResetSpec{Mode: ResetBack, Back: 90 * time.Minute}, both, servers + "g --reset-offsets --by-duration PT1H30M --topic orders --execute", true},
		"group":            {"g", TypeClassic, "4.3", ResetSpec{Mode: ResetGroup, Group: "b"}, both, servers + "g --reset-offsets --from-file plan.csv --execute", true},
		"share earliest":   {"g", TypeShare, "4.3", ResetSpec{Mode: ResetEarliest}, both, share + "g --reset-offsets --to-earliest --topic orders --execute", true},
		"share back":       {"g", TypeShare, "4.3", ResetSpec{Mode: ResetBack, Back: time.Hour}, both, share + "g --reset-offsets --to-datetime 2026-01-02T02:00:00.000Z --topic orders --execute", true},
		"share offset 4.3": {"g", TypeShare, "4.3", ResetSpec{Mode: ResetOffset, Offset: 4}, both, "cannot do this on this version", false},
		"share offset 4.4": {"g", TypeShare, "4.4", ResetSpec{Mode: ResetOffset, Offset: 4}, both, share + "g --reset-offsets --to-offset 4 --topic orders --execute", true},
		"share shift 4.4":  {"g", TypeShare, "4.4+", ResetSpec{Mode: ResetShift, Offset: 4}, both, share + "g --reset-offsets --from-file plan.csv --execute", true},
		"share 4.1": {"g", TypeShare, "4.1", ResetSpec{Mode: ResetEarliest}, both,
			"kafka-configs.sh --bootstrap-server a:9092,b:9092 --entity-type groups --entity-name g --alter --add-config share.auto.offset.reset=earliest && \\\n" + share + "g --delete-offsets --topic orders", true},
		"share shift 4.1": {"g", TypeShare, "4.1", ResetSpec{Mode: ResetShift, Offset: 4}, both, "cannot do this on this version", false},
		"streams":         {"g", TypeStreams, "4.3", ResetSpec{Mode: ResetEarliest}, both, "kafka-streams-groups.sh", false},
	} {
		t.Run(name, func(t *testing.T) {
			plan := PlanReset(tt.spec, ResetInput{Group: tt.group, Type: tt.typ, Version: tt.version, At: noon, Partitions: tt.partitions, Sizes: map[string]int{"orders": 2}})
			got, ok := ResetCommand(&plan, []string{"a:9092", "b:9092"}, "plan.csv")
			if ok != tt.ok || ok && got != tt.want || !ok && !strings.Contains(got, tt.want) {
				t.Errorf("%s (%v)\nwant %s (%v)", got, ok, tt.want, tt.ok)
			}
		})
	}
}
