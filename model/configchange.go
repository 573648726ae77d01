package model

// ConfigChange is a change of one configuration of a group.
type ConfigChange struct {
	Name string
	// Value is the new one; unknown means that the group's own value is removed, so that the brokers' is in force.
	Value Opt[string]
}
