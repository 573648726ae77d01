package model_test

import (
	"runtime"
	"testing"

	"flightdeck/model"
)

// updates is the traffic of a busy share-partition: out of order over a window of 200 records, one in ten
// released first.
func updates(n int) []model.ShareWrite {
	all := make([]model.ShareWrite, 0, n)
	var start int64
	for i := int64(0); len(all) < n; i++ {
		at := i/200*200 + i*7%200 // each block of 200 in a mixed order
		if at%200 == 0 && at > 0 {
			start = at - 200
		}
		if at%10 == 0 && len(all) < n-1 {
			all = append(all, updateOf(start, batch(at, at, avail, 1)))
		}
		all = append(all, updateOf(start, batch(at, at, acked, 2)))
	}
	return all[:n]
}

// BenchmarkFold folds updates, as many as b.N: time and memory are per update.
func BenchmarkFold(b *testing.B) {
	const span = 1 << 20
	writes := updates(span)
	b.ReportAllocs()
	b.ResetTimer()
	f := model.NewShareFold(500)
	for i := range b.N {
		if i%span == 0 {
			f.Forget()
		}
		f.Apply(&writes[i%span], model.WriteRef{Ms: int64(i), Offset: int64(i)})
	}
}

// BenchmarkFoldMillion folds a million updates and takes the history 1,000 times on the way.
func BenchmarkFoldMillion(b *testing.B) {
	writes := updates(1e6)
	for b.Loop() {
		f := model.NewShareFold(500)
		for i := range writes {
			f.Apply(&writes[i], model.WriteRef{Ms: int64(i), Offset: int64(i)})
			if i%1000 == 0 {
				f.History()
			}
		}
	}
}

// BenchmarkFoldMemory states what 1,000 followed share-partitions hold with 100 writes kept each.
func BenchmarkFoldMemory(b *testing.B) {
	writes := updates(1000)
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	for b.Loop() {
		before := heap()
		folds := make([]*model.ShareFold, 1000)
		for i := range folds {
			folds[i] = model.NewShareFold(100)
			for j := range writes[:199+i%100] {
				folds[i].Apply(&writes[j], model.WriteRef{Ms: int64(j), Offset: int64(j)})
			}
		}
		b.ReportMetric(float64(heap()-before)/1000, "B/share-partition")
		runtime.KeepAlive(folds)
	}
}

// BenchmarkInferWindow concludes a window of 10,000 records in which no two neighbours are alike.
func BenchmarkInferWindow(b *testing.B) {
	f := model.NewShareFold(10)
	var all []model.StateBatch
	for o := int64(1); o < 10000; o++ {
		all = append(all, batch(o, o, avail, int16(1+o%3)))
	}
	w := snapshotOf(1, 0, all...)
	f.Apply(&w, model.WriteRef{Ms: 1})
	h := f.History()
	b.ReportAllocs()
	for b.Loop() {
		model.InferWindow(h.Now(), model.Int{}, model.Some[int64](10000), nil)
	}
}
