package model

// History turns a series of snapshots into views: rates, trends, verdicts and events. It belongs to
// one reader and is not safe for concurrent use.
type History struct {
	last *Snapshot
}

// NewHistory is a history without samples.
func NewHistory() *History { return &History{} }

// Observe adds the next snapshot and returns what is known now. The same snapshot with other share
// offsets may be observed again.
func (h *History) Observe(next *Snapshot) *View {
	v := &View{Snapshot: next, Insights: make(map[string]*Insight)}
	for _, groups := range [][]Group{next.Groups, next.ShareGroups} {
		for i := range groups {
			v.Insights[groups[i].ID] = &Insight{Partitions: make([]PartitionInsight, len(groups[i].Partitions))}
		}
	}
	h.last = next
	return v
}
