package kafka

import (
	"slices"
	"testing"
)

func TestParseServers(t *testing.T) {
	for _, tc := range []struct {
		name, list string
		want       []string
		fails      bool
	}{
		{"one", "a:9092", []string{"a:9092"}, false},
		{"some, with spaces and an empty one", " a:1, b:2 ,,c:3", []string{"a:1", "b:2", "c:3"}, false},
		{"without a port", "a", []string{"a"}, false},
		{"the name of a listener in front", "SASL_SSL://a:1", []string{"a:1"}, false},
		{"IPv6 with and without a port", "[::1]:1,::1", []string{"[::1]:1", "::1"}, false},
		{"nothing", " , ", nil, false},
		{"a word for a port", "a:one", nil, true},
		{"a port too large", "a:99999", nil, true},
		{"no host", ":9092", nil, true},
		{"a path", "http://a:1/x", nil, true},
		{"separated by a space", "a:1 b:2", nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := ParseServers(tc.list)
			if (err != nil) != tc.fails || !slices.Equal(got, tc.want) {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
