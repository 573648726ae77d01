package model

import (
	"strings"
	"testing"
)

func sheet(version string, values ...ConfigValue) ConfigSheet {
	return NewConfigSheet(&GroupConfigs{Group: "g", Values: values}, TypeShare, version, map[string]string{
		"group.share.min.record.lock.duration.ms": "15000", "group.share.max.record.lock.duration.ms": "60000", "group.share.assignors": "simple",
	})
}

func TestConfigSheet(t *testing.T) {
	own := ConfigValue{Name: ConfigShareReset, Value: "earliest", Source: ConfigOfGroup, Key: ConfigShareReset}
	lock := ConfigValue{Name: ConfigLockDuration, Value: "30000", Source: ConfigOfDefault, Key: ConfigLockDuration}
	limit := ConfigValue{Name: ConfigDeliveryLimit, Value: "5", Source: ConfigOfDefault, Key: "group.share.delivery.count.limit"}
	s := sheet("4.1", limit, lock)
	if row, _ := s.Row(ConfigDeliveryLimit); !strings.Contains(row.Fixed, "group.share.delivery.count.limit") {
		t.Errorf("%+v", row)
	}
	if row, _ := s.Row(ConfigDeadLetter); row.Fixed != "Groups have it from Kafka 4.4 on." {
		t.Errorf("%+v", row)
	}
	row, ok := s.Row(ConfigLockDuration)
	if !ok || row.Bounds() != "15,000 to 60,000" || row.Fixed != "" || s.Assignors != "simple" {
		t.Errorf("%+v", row)
	}
	for value, wrong := range map[string]bool{"15000": false, "60000": false, "14999": true, "60001": true, "": true, "1e4": true} {
		if why := row.Check(value); (why != "") != wrong {
			t.Errorf("%q: %s", value, why)
		}
	}
	s = sheet("4.3", own)
	reset, _ := s.Row(ConfigShareReset)
	for value, wrong := range map[string]bool{"latest": false, "by_duration:P1DT2H": false, "by_duration:": true, "by_duration:2h": true, "by_duration": true, "never": true} {
		if why := reset.Check(value); (why != "") != wrong {
			t.Errorf("%q: %s", value, why)
		}
	}
}

func TestPlanConfigs(t *testing.T) {
	s := sheet("4.3", ConfigValue{Name: ConfigShareReset, Value: "earliest", Source: ConfigOfGroup, Key: ConfigShareReset})
	for name, tt := range map[string]struct {
		change ConfigChange
		want   string
		fails  bool
	}{
		"set":         {ConfigChange{ConfigShareReset, Some("latest")}, "share.auto.offset.reset goes from earliest (group) to latest. It is for partitions", false},
		"unset":       {ConfigChange{Name: ConfigShareReset}, "now earliest, is removed from the group", false},
		"not set":     {ConfigChange{Name: ConfigLockDuration}, "nothing to remove", true},
		"not for it":  {ConfigChange{"consumer.session.timeout.ms", Some("1")}, "is no configuration of a share group", true},
		"not allowed": {ConfigChange{ConfigShareReset, Some("never")}, "is one of latest, earliest, by_duration:PT2H30M", true},
	} {
		t.Run(name, func(t *testing.T) {
			p := PlanConfigs(&s, []ConfigChange{tt.change})
			if got := strings.Join(p.Sentences(), " "); !strings.Contains(got, tt.want) || (p.Why != "") != tt.fails {
				t.Errorf("%s (%s)", got, p.Why)
			}
		})
	}
}
