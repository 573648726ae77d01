package kafka

import "github.com/twmb/franz-go/pkg/kversion"

// allowed are the requests that a client may send, by their newest version: with readOnly the reads, otherwise
// all but the ones that are the brokers' own.
func allowed(readOnly bool) *kversion.Versions {
	v := kversion.Stable()
	for key := int16(83); key <= 86; key++ {
		v.SetMaxKeyVersion(key, -1)
	}
	return v
}
