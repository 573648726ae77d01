package ui

// place is where a binding works: a set of kinds of screens.
type place uint16

// The kinds of screens.
const (
	atConsumers place = 1 << iota
	atShares
	atTopics
	atCluster
	atActivity
	atGroup
	atShareGroup
	atTopic
	atFlight
	atArchived
	placesEnd
)

// Sets of places.
const (
	anywhere = placesEnd - 1
	lists    = atConsumers | atShares | atTopics
	onGroup  = atConsumers | atShares | atGroup | atShareGroup
	reading  = atCluster | atActivity // nothing to go into, but long lines
	details  = atGroup | atShareGroup | atTopic | atFlight
)

var placeNames = [...]string{"Consumers", "Shares", "Topics", "Cluster", "Activity",
	"a consumer group", "a share group", "a topic", "the flight view", "the archived records"}

// String lists the places in words.
func (p place) String() string {
	if p == anywhere {
		return "everywhere"
	}
	s := ""
	for i, name := range placeNames {
		if p&(1<<i) == 0 {
			continue
		}
		if s != "" {
			s += ", "
		}
		s += name
	}
	return s
}
