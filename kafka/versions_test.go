package kafka

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"flightdeck/model"
)

func TestKafkaVersion(t *testing.T) {
	offer := func(v *kversion.Versions, change func(*kmsg.ApiVersionsResponseApiKey)) *kmsg.ApiVersionsResponse {
		r := kmsg.NewPtrApiVersionsResponse()
		v.EachMaxKeyVersion(func(key, newest int16) {
			k := kmsg.ApiVersionsResponseApiKey{ApiKey: key, MaxVersion: newest}
			if change != nil {
				change(&k)
			}
			r.ApiKeys = append(r.ApiKeys, k)
		})
		return r
	}
	for _, tc := range []struct {
		name  string
		offer *kmsg.ApiVersionsResponse
		want  string
	}{
		{"3.9", offer(kversion.V3_9_0(), nil), "3.9"},
		{"4.1", offer(kversion.V4_1_0(), nil), "4.1"},
		{"4.2", offer(kversion.V4_2_0(), nil), "4.2"},
		{"4.3", offer(kversion.V4_3_0(), nil), "4.3"},
		{"4.4", offer(kversion.V4_4_0(), nil), "4.4"},
		{"newer than all", offer(kversion.V4_4_0(), func(k *kmsg.ApiVersionsResponseApiKey) { k.MaxVersion++ }), "4.4+"},
		{"no release", offer(kversion.V4_4_0(), func(k *kmsg.ApiVersionsResponseApiKey) { k.MaxVersion = k.ApiKey % 3 }), ""},
		{"nothing", kmsg.NewPtrApiVersionsResponse(), ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := kafkaVersion(tc.offer); got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestLimitsOf(t *testing.T) {
	offer := func(newest map[kmsg.Key]int16) *kmsg.ApiVersionsResponse {
		r := kmsg.NewPtrApiVersionsResponse()
		for k, v := range newest {
			r.ApiKeys = append(r.ApiKeys, kmsg.ApiVersionsResponseApiKey{ApiKey: k.Int16(), MaxVersion: v})
		}
		return r
	}
	// What Kafka 4.1 offers of what matters.
	kafka41 := map[kmsg.Key]int16{
		kmsg.ListGroups: 5, kmsg.OffsetFetch: 9, kmsg.ConsumerGroupDescribe: 1, kmsg.ShareGroupDescribe: 1,
		kmsg.DescribeShareGroupOffsets: 0, kmsg.ShareFetch: 1, kmsg.ShareAcknowledge: 1,
	}
	want := []model.Limit{
		{API: "DescribeShareGroupOffsets", Max: 0}, {API: "ShareFetch", Max: 1},
		{API: "ShareAcknowledge", Max: 1}, {API: "StreamsGroupDescribe", Max: -1},
	}
	got := limitsOf(offer(kafka41))
	if len(got) != len(want) {
		t.Fatalf("got %+v", got)
	}
	for i, l := range got {
		if l.API != want[i].API || l.Max != want[i].Max || !strings.Contains(l.Text, "Kafka 4.2") {
			t.Errorf("%d: %+v, want %+v", i, l, want[i])
		}
	}
	// Each API that is missing altogether is named once.
	seen := map[string]bool{}
	for _, l := range limitsOf(offer(nil)) {
		if seen[l.API] || l.Max != -1 {
			t.Errorf("%+v", l)
		}
		seen[l.API] = true
	}
	if len(seen) != 8 {
		t.Errorf("%d APIs are missing: %v", len(seen), seen)
	}
}
