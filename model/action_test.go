package model

import "testing"

func TestRangesOf(t *testing.T) {
	got := RangesOf([]RecordRef{{"a", 0, 5}, {"b", 0, 7}, {"a", 0, 4}, {"a", 0, 5}, {"a", 1, 6}, {"b", 0, 9}})
	want := []RecordRange{{"a", 0, 4, 5}, {"a", 1, 6, 6}, {"b", 0, 7, 7}, {"b", 0, 9, 9}}
	if len(got) != len(want) {
		t.Fatal(got)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%d: %v, want %v", i, got[i], want[i])
		}
	}
}
