package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// GroupSetting describes a configuration that groups have (resource type GROUP), in our own words.
type GroupSetting struct {
	Name    string
	Type    GroupType // of the groups that it is for
	Meaning string
	// Since is the first Kafka version in which groups have it.
	Since string
	// Choices are the values that it takes, where they are few; the last may be the beginning of one, ending in ":".
	Choices []string
	// Text is true when the value is not a number.
	Text bool
}

// groupSettings are in the order in which they are shown.
var groupSettings = []GroupSetting{
	{ConfigShareReset, TypeShare, "Where the group begins on a partition that it has no start offset for. It does not move one that it has.", "4.1", []string{"latest", "earliest", "by_duration:"}, true},
	{ConfigLockDuration, TypeShare, "How long a member may hold a record before it is delivered again.", "4.1", nil, false},
	{ConfigDeliveryLimit, TypeShare, "How often a record is delivered before the group gives up on it.", "4.3", nil, false},
	{ConfigRecordLocks, TypeShare, "How many offsets of a partition may be on their way at once: the limit of the window.", "4.3", nil, false},
	{"share.renew.acknowledge.enable", TypeShare, "Whether members may extend the lock of a record that they hold.", "4.3", []string{"true", "false"}, true},
	{ConfigIsolation, TypeShare, "Whether records of transactions that are open or were aborted are delivered.", "4.1", []string{"read_uncommitted", "read_committed"}, true},
	{ConfigDeadLetter, TypeShare, "The topic for records that the group gives up on. It has to be prepared for that: errors.deadletterqueue.group.enable=true.", "4.4", nil, true},
	{"errors.deadletterqueue.copy.record.enable", TypeShare, "Whether key and value go to the dead-letter topic too, and not only where the record is.", "4.4", []string{"true", "false"}, true},
	{"share.session.timeout.ms", TypeShare, "How long a member may be silent before it is out of the group.", "4.1", nil, false},
	{"share.heartbeat.interval.ms", TypeShare, "How often members report to the coordinator.", "4.1", nil, false},
	{"share.assignment.interval.ms", TypeShare, "The least time between two new assignments.", "4.3", nil, false},
	{"consumer.session.timeout.ms", TypeConsumer, "How long a member may be silent before it is out of the group.", "4.0", nil, false},
	{"consumer.heartbeat.interval.ms", TypeConsumer, "How often members report to the coordinator.", "4.0", nil, false},
	{"consumer.assignment.interval.ms", TypeConsumer, "The least time between two new assignments.", "4.3", nil, false},
	{"streams.session.timeout.ms", TypeStreams, "How long a member may be silent before it is out of the group.", "4.1", nil, false},
	{"streams.heartbeat.interval.ms", TypeStreams, "How often members report to the coordinator.", "4.1", nil, false},
	{"streams.num.standby.replicas", TypeStreams, "How many copies of the state of a task are kept ready.", "4.1", nil, false},
}

// GroupSettings are the configurations that are for groups of a type. Classic groups have none: their members bring their
// own.
func GroupSettings(t GroupType) []GroupSetting {
	var out []GroupSetting
	for _, s := range groupSettings {
		if s.Type == t {
			out = append(out, s)
		}
	}
	return out
}

// BrokerConfig is the name under which brokers have a setting of groups for all of them, and with min or max its bound:
// share.session.timeout.ms is group.share.session.timeout.ms and group.share.min.session.timeout.ms. It is empty for
// settings that brokers do not have.
func BrokerConfig(name, bound string) string {
	kind, rest, ok := strings.Cut(name, ".")
	if !ok || kind != "share" && kind != "consumer" && kind != "streams" {
		return ""
	}
	if bound != "" {
		bound += "."
	}
	return "group." + kind + "." + bound + rest
}

// ConfigRow is a configuration of a group with its value.
type ConfigRow struct {
	GroupSetting
	// Value is the one in force, with its source; Known is false when it was not read.
	Value ConfigValue
	Known bool
	// Min and Max are what the brokers allow, where they say it.
	Min, Max Int
	// Fixed says why it cannot be set for the group; empty when it can.
	Fixed string
}

// ConfigSheet is everything that is known about the configurations of a group. It is immutable once published.
type ConfigSheet struct {
	Group   string
	Type    GroupType
	At      time.Time
	Version string
	Rows    []ConfigRow
	// Assignors are those that the brokers offer to groups of this type, separated by commas; empty when not known.
	Assignors string
	Problems  []Problem
}

// NewConfigSheet puts together the settings that were read of a group, and those of a broker by their names.
func NewConfigSheet(configs *GroupConfigs, typ GroupType, version string, broker map[string]string) ConfigSheet {
	s := ConfigSheet{Group: configs.Group, Type: typ, At: configs.At, Version: version, Problems: configs.Problems, Assignors: broker["group."+typ.String()+".assignors"]}
	for _, setting := range GroupSettings(typ) {
		row := ConfigRow{GroupSetting: setting, Min: intOf(broker[BrokerConfig(setting.Name, "min")]), Max: intOf(broker[BrokerConfig(setting.Name, "max")])}
		row.Value, row.Known = configs.Find(setting.Name)
		switch {
		case row.Known && row.Value.Key != setting.Name:
			row.Fixed = "This Kafka has it for all groups together, as " + row.Value.Key + " of the brokers; groups have it from Kafka " + setting.Since + " on."
		case !row.Known && version != "" && versionOlder(version, setting.Since):
			row.Fixed = "Groups have it from Kafka " + setting.Since + " on."
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}

func versionOlder(version, since string) bool {
	var major, minor int
	_, _ = fmt.Sscanf(since, "%d.%d", &major, &minor)
	return versionBefore(version, major, minor)
}

func intOf(text string) Int {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return Int{}
	}
	return Some(n)
}

// Row finds a row by the name of its configuration.
func (s *ConfigSheet) Row(name string) (ConfigRow, bool) {
	i := slices.IndexFunc(s.Rows, func(r ConfigRow) bool { return r.Name == name })
	if i < 0 {
		return ConfigRow{}, false
	}
	return s.Rows[i], true
}

// Bounds are the values that a setting takes, in words; empty when nobody says.
func (r *ConfigRow) Bounds() string {
	low, hasLow := r.Min.Get()
	high, hasHigh := r.Max.Get()
	switch {
	case len(r.Choices) > 0:
		return strings.Replace(strings.Join(r.Choices, ", "), "by_duration:", "by_duration:PT2H30M", 1)
	case hasLow && hasHigh:
		return Count(low) + " to " + Count(high)
	case hasLow:
		return Count(low) + " or above"
	case hasHigh:
		return Count(high) + " or below"
	}
	return ""
}

// Check says in a sentence what is wrong with a value; empty when nothing is that can be seen from here.
func (r *ConfigRow) Check(value string) string {
	switch {
	case r.Fixed != "":
		return r.Fixed
	case len(r.Choices) > 0:
		for _, c := range r.Choices {
			if value == c && !strings.HasSuffix(c, ":") {
				return ""
			}
			if span, ok := strings.CutPrefix(value, c); ok && strings.HasSuffix(c, ":") {
				if _, err := ParseSpan(span); err == nil && strings.HasPrefix(span, "P") {
					return ""
				}
			}
		}
		return r.Name + " is one of " + r.Bounds() + "."
	case r.Text:
		return ""
	}
	n, ok := intOf(value).Get()
	switch {
	case !ok:
		return fmt.Sprintf("%s is a whole number, and %q is none.", r.Name, value)
	case n < r.Min.Or(n) || n > r.Max.Or(n):
		return fmt.Sprintf("%s is %s here.", r.Name, r.Bounds())
	}
	return ""
}
