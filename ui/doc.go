// Package ui is flightdeck's terminal program: a Bubble Tea model that shows what package model knows
// about a cluster.
//
// # Vocabulary
//
// A screen is what fills the body of the terminal: a list (Consumers, Shares, Topics, Activity), the
// cluster, or the detail of one group or topic. Five tabs hold a stack of screens each; the number
// keys switch tabs, enter pushes a screen and esc pops it. A screen is made of panes, one of which has
// the focus. An overlay (palette, help, filter line, column picker, verdicts) lies over the body and
// takes the keys while it is open. A binding ties keys to an action by name, with the words for it and
// the reason when it can not be used. Overlays that change something come in a row: an asker asks for
// values, a sheet shows what would happen and later what did, a confirmer takes consent, and running
// stands while a [Job] works. The status line holds the last message; actions, events and errors are
// kept in Activity.
//
// # Rules
//
//   - There is one tea.Model, [App]; everything under it is a plain struct with methods, owned by the
//     update loop. No locks, no go statements, no I/O and no reading of the clock in Update or View:
//     time arrives in messages, work leaves in commands.
//   - Data arrives as a [model.View] and is never changed here. Rates, trends, verdicts and lag are
//     computed in model.
//   - Text that came from Kafka passes through [model.Clean] where it becomes a cell or a line.
//   - A [model.History] has one user at a time, the command that observe starts, and no key waits for it.
//   - View runs after every message. What it shows is cached, and an update says what it made stale.
//
// # Adding a binding
//
// Add an entry to the table in bindings.go: dispatch, footer, help, palette and the README's key
// table all come from it (UPDATE_GOLDEN=1 go test . ./ui writes the table and the frames of testdata anew). Set changes for what alters the cluster, and right for the ACL operation
// that it needs; read-only mode and missing rights then disable it with a reason by themselves.
//
// # Adding a screen
//
// Implement screen (most embed paned, which lays out tables and texts), give it a place
// in place.go, and push it from a binding or return it from the inside of another screen. To make it a tab, add it to newTabs.
package ui
