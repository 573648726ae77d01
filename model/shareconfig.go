package model

import (
	"sort"
	"strconv"
	"time"
)

// The settings of a share group that decide what becomes of its records, by Kafka's names; see also
// [ConfigShareReset].
const (
	ConfigIsolation     = "share.isolation.level"
	ConfigLockDuration  = "share.record.lock.duration.ms"
	ConfigDeliveryLimit = "share.delivery.count.limit"        // 4.3 and later
	ConfigRecordLocks   = "share.partition.max.record.locks"  // 4.3 and later
	ConfigDeadLetter    = "errors.deadletterqueue.topic.name" // 4.4 and later
)

// ConfigSource says who set a configuration.
type ConfigSource string

// The sources of configurations.
const (
	ConfigOfGroup   ConfigSource = "group"   // set for this group
	ConfigOfBroker  ConfigSource = "broker"  // set for the brokers
	ConfigOfDefault ConfigSource = "default" // Kafka's default
)

// ConfigValue is one setting in force.
type ConfigValue struct {
	// Name is that of the group's setting.
	Name  string
	Value string
	// Source says who set it.
	Source ConfigSource
	// Key is the name under which it was read: another one than Name where brokers have it for all groups (4.1, 4.2).
	Key string
}

// GroupConfigs are the settings in force for a group. It is immutable once published.
type GroupConfigs struct {
	Group string
	// At is when they were read.
	At time.Time
	// Values are sorted by name.
	Values []ConfigValue
	// Problems say what could not be read.
	Problems []Problem
}

// Find finds a setting by the group's name for it. Nothing is found in nil.
func (c *GroupConfigs) Find(name string) (ConfigValue, bool) {
	if c == nil {
		return ConfigValue{}, false
	}
	i := sort.Search(len(c.Values), func(i int) bool { return c.Values[i].Name >= name })
	if i < len(c.Values) && c.Values[i].Name == name {
		return c.Values[i], true
	}
	return ConfigValue{}, false
}

// Int is a setting that is a number; unknown when it was not read.
func (c *GroupConfigs) Int(name string) Int {
	v, ok := c.Find(name)
	n, err := strconv.ParseInt(v.Value, 10, 64)
	if !ok || err != nil {
		return Int{}
	}
	return Some(n)
}

// DeliveryLimit is how often a record is delivered at most.
func (c *GroupConfigs) DeliveryLimit() Int { return c.Int(ConfigDeliveryLimit) }

// RecordLocks is how many offsets the window of a share-partition may span.
func (c *GroupConfigs) RecordLocks() Int { return c.Int(ConfigRecordLocks) }

// LockDuration is how long a member may hold a record.
func (c *GroupConfigs) LockDuration() Opt[time.Duration] {
	ms, ok := c.Int(ConfigLockDuration).Get()
	if !ok {
		return Opt[time.Duration]{}
	}
	return Some(time.Duration(ms) * time.Millisecond)
}
