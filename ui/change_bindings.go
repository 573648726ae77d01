package ui

import "flightdeck/model"

// changeBindings are the keys that change groups.
func changeBindings() []binding {
	return []binding{
		{id: "offsets", keys: []string{"o"}, title: "offsets", name: "Move offsets (reset)",
			help: "Moves the offsets of the selected group, or of the partitions that are marked: to the start, the end, an offset, a time, where another group is. A preview comes first.",
			in:   onGroup, section: sectionChange, footer: 7, changes: true, right: model.OpRead, unless: (*App).noReset, do: (*App).openReset},
		{id: "undo", keys: []string{"U"}, title: "undo", name: "Undo the last reset", help: "Takes the offsets of the group back to where they were before the last reset. A preview comes first.",
			in: onGroup, section: sectionChange, changes: true, right: model.OpRead, unless: (*App).noReset, do: (*App).undoReset},
		{id: "armed", keys: []string{"O"}, title: "armed", name: "Armed resets", help: "Shows the resets that wait for their group to become empty, and cancels them.",
			in: anywhere, section: sectionChange, unless: (*App).noArmed, do: (*App).openArmedResets},
		{id: "delete", keys: []string{"D"}, title: "delete", name: "Delete a group or its offsets", help: "Deletes the selected group, or its offsets of a topic. A preview comes first.",
			in: onGroup, section: sectionChange, footer: 8, changes: true, right: model.OpDelete, unless: (*App).noReset, do: (*App).openDelete},
		{id: "configs", keys: []string{"g"}, title: "settings", name: "Settings of the group", help: "Shows the settings in force for the selected group with where they come from, and changes them.",
			in: onGroup, section: sectionChange, footer: 13, unless: (*App).noReset, do: (*App).openConfigs},
		{id: "configs-of", title: "settings of", name: "Settings of a group by its id", help: "Shows and changes the settings of a group that need not exist yet.",
			in: anywhere, section: sectionChange, unless: (*App).noAdmin, do: (*App).openConfigsOf},
		{id: "mark", keys: []string{"m"}, title: "mark", name: "Mark a partition", help: "Marks the selected partition, or takes its mark away: o and D act on those that are marked.",
			in: atGroup | atShareGroup, section: sectionChange, unless: (*App).nothingToMark, do: (*App).mark},
	}
}
