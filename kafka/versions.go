package kafka

import (
	"strings"

	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/kversion"

	"flightdeck/model"
)

// kafkaVersion concludes the Kafka version from what a broker offers (ApiVersions): "4.3", "4.4+" for
// something newer than is known here, and "" where the versions are those of no release.
func kafkaVersion(r *kmsg.ApiVersionsResponse) string {
	guess := kversion.FromApiVersionsResponse(r).VersionGuess()
	if v, ok := strings.CutPrefix(guess, "at least v"); ok {
		return v + "+"
	}
	v, ok := strings.CutPrefix(guess, "v")
	if !ok {
		return ""
	}
	return v
}

// need is an API version that something on screen depends on.
type need struct {
	key   kmsg.Key
	least int16
	text  string
}

// needs are in the order in which they are shown. Where several versions of an API matter they stand next to
// each other, the oldest first, and only the first one missing is reported.
var needs = []need{
	{kmsg.ListGroups, 4, "group states in the list of groups need Kafka 2.6"},
	{kmsg.ListGroups, 5, "group types in the list of groups need Kafka 3.8; groups of the new protocols may look like classic ones"},
	{kmsg.OffsetFetch, 8, "committed offsets of many groups in one request need Kafka 3.0; polls take one request a group"},
	{kmsg.ConsumerGroupDescribe, 0, "members and epochs of groups of the consumer protocol (KIP-848) need Kafka 3.8"},
	{kmsg.ShareGroupDescribe, 1, "share groups (KIP-932) need Kafka 4.1"},
	{kmsg.DescribeShareGroupOffsets, 0, "start offsets of share groups need Kafka 4.1"},
	{kmsg.DescribeShareGroupOffsets, 1, "the brokers' own lag of share groups needs Kafka 4.2"},
	{kmsg.ShareFetch, 1, "taking records from a share group needs Kafka 4.1"},
	{kmsg.ShareFetch, 2, "taking an exact number of records needs Kafka 4.2; a whole batch is taken"},
	{kmsg.ShareAcknowledge, 2, "renewing the acquisition lock of a record needs Kafka 4.2"},
	{kmsg.StreamsGroupDescribe, 0, "members of streams groups (KIP-1071) need Kafka 4.2"},
}

// limitsOf lists what cannot be seen or done because of what a broker offers.
func limitsOf(r *kmsg.ApiVersionsResponse) []model.Limit {
	newest := make(map[kmsg.Key]int16, len(r.ApiKeys))
	for _, k := range r.ApiKeys {
		newest[kmsg.Key(k.ApiKey)] = k.MaxVersion
	}
	var out []model.Limit
	for _, n := range needs {
		v, offered := newest[n.key]
		if !offered {
			v = -1
		}
		if v >= n.least || len(out) > 0 && out[len(out)-1].API == n.key.Name() {
			continue
		}
		out = append(out, model.Limit{API: n.key.Name(), Max: v, Text: n.text})
	}
	return out
}
