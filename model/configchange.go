package model

import "fmt"

// ConfigChange is a change of one configuration of a group.
type ConfigChange struct {
	Name string
	// Value is the new one; unknown means that the group's own value is removed, so that the brokers' is in force.
	Value Opt[string]
}

// ConfigPlan is a change of configurations of a group with what it comes to. It is immutable.
type ConfigPlan struct {
	Group   string
	Changes []ConfigChange
	// Was holds the values from before, by name.
	Was map[string]ConfigValue
	// Why says why it cannot be done; empty when nothing speaks against it from here.
	Why string
}

// PlanConfigs checks changes against what is known of the group's configurations.
func PlanConfigs(s *ConfigSheet, changes []ConfigChange) ConfigPlan {
	p := ConfigPlan{Group: s.Group, Changes: changes, Was: make(map[string]ConfigValue)}
	if len(changes) == 0 {
		p.Why = "Nothing is changed."
	}
	for _, c := range changes {
		row, ok := s.Row(c.Name)
		value, set := c.Value.Get()
		p.Was[c.Name] = row.Value
		switch {
		case !ok:
			p.Why = c.Name + " is no configuration of a " + s.Type.String() + " group."
		case set:
			if why := row.Check(value); why != "" {
				p.Why = why
			}
		case row.Value.Source != ConfigOfGroup:
			p.Why = c.Name + " is not set for this group, so there is nothing to remove."
		}
	}
	return p
}

// Sentences say what changes.
func (p *ConfigPlan) Sentences() []string {
	if p.Why != "" {
		return []string{p.Why}
	}
	var out []string
	for _, c := range p.Changes {
		was := p.Was[c.Name]
		if value, set := c.Value.Get(); set && was.Name == "" {
			out = append(out, fmt.Sprintf("%s is set to %s; what it was is not known.", c.Name, orEmpty(value)))
		} else if set {
			out = append(out, fmt.Sprintf("%s goes from %s (%s) to %s.", c.Name, orEmpty(was.Value), was.Source, orEmpty(value)))
		} else {
			out = append(out, fmt.Sprintf("%s, now %s, is removed from the group: the value of the brokers is in force.", c.Name, orEmpty(was.Value)))
		}
		if c.Name == ConfigShareReset {
			out = append(out, "It is for partitions that the group has no start offset for; it moves no start offset.")
		}
	}
	return out
}

func orEmpty(value string) string {
	if value == "" {
		return "nothing"
	}
	return value
}

// Action is the plan as a person is asked about it.
func (p *ConfigPlan) Action() Action {
	a := Action{Kind: ActionConfigAlter, Target: ActionTarget{Group: p.Group, Configs: make(map[string]string)}, Impact: p.Sentences(), Danger: DangerSome}
	for _, c := range p.Changes {
		a.Target.Configs[c.Name] = c.Value.Or("")
	}
	return a
}
