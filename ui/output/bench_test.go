package output

import (
	"fmt"
	"io"
	"testing"
	"time"

	"flightdeck/model"
)

// crowd is a cluster with n groups of 20 partitions.
func crowd(n int) *model.View {
	s := &model.Snapshot{At: time.Unix(1, 0), Groups: make([]model.Group, n)}
	v := &model.View{Snapshot: s, Insights: make(map[string]*model.Insight, n)}
	for i := range s.Groups {
		g := &s.Groups[i]
		g.ID, g.Type, g.State = fmt.Sprintf("group-%05d", i), model.TypeClassic, "Empty"
		for p := range 20 {
			g.Partitions = append(g.Partitions, model.GroupPartition{Topic: "orders", Number: int32(p), Member: model.NoMember,
				Position: model.Some[int64](1), Start: model.Some[int64](0), End: model.Some[int64](6)})
			g.Partitions[p].Measure()
		}
		v.Insights[g.ID] = &model.Insight{Verdicts: []model.Verdict{{Code: "no_members", Severity: model.Warning, Text: "no members, 100 behind"}}}
	}
	return v
}

// countWriter counts what is written to it.
type countWriter int64

func (c *countWriter) Write(p []byte) (int, error) {
	*c += countWriter(len(p))
	return len(p), nil
}

func BenchmarkJSON(b *testing.B) {
	v := crowd(1_000)
	for name, write := range map[string]func(io.Writer, *model.View) error{"indented": JSON, "line": JSONLine} {
		b.Run(name, func(b *testing.B) {
			var n countWriter
			b.ReportAllocs()
			for b.Loop() {
				if err := write(&n, v); err != nil {
					b.Fatal(err)
				}
			}
			b.SetBytes(int64(n) / int64(b.N))
		})
	}
}
