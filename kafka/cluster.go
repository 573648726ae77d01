package kafka

import (
	"cmp"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"

	"flightdeck/model"
)

// slowFactsAge is how old what hardly ever changes may become before a poll reads it again: API versions,
// features, and what the user may do.
const slowFactsAge = 30 * time.Second

// brokerMemory is what the source remembers of a broker between polls.
type brokerMemory struct {
	host, rack string
	port       int32
	versions   *kmsg.ApiVersionsResponse // nil: not read, or to be read again
	answered   time.Time                 // when it last answered; zero for never
	failed     error                     // why it did not answer in the last poll; nil when it did
	listed     bool                      // in the last metadata; franz-go cannot address the others
}

// patience is how long the next poll waits for the broker, and what it says when that is over. What
// kept it from answering before is the likely cause still, and may take longer to show itself.
func (b *brokerMemory) patience() (time.Duration, error) {
	if b.failed != nil {
		return shortPatience, b.failed
	}
	return patience, unanswered(net.JoinHostPort(b.host, strconv.Itoa(int(b.port))))
}

// offers is the newest version of an API that a broker has, -1 for none.
func offers(r *kmsg.ApiVersionsResponse, key kmsg.Key) int16 {
	if r == nil {
		return -1
	}
	for i := range r.ApiKeys {
		if kmsg.Key(r.ApiKeys[i].ApiKey) == key {
			return r.ApiKeys[i].MaxVersion
		}
	}
	return -1
}

// common is what all brokers offer: during a rolling upgrade the older ones set the limit.
func common(all []*kmsg.ApiVersionsResponse) *kmsg.ApiVersionsResponse {
	if len(all) == 0 {
		return nil
	}
	first := *all[0]
	if len(all) == 1 {
		return &first
	}
	keys := make([]kmsg.ApiVersionsResponseApiKey, 0, len(first.ApiKeys))
	for _, k := range first.ApiKeys {
		for _, other := range all[1:] {
			k.MaxVersion = min(k.MaxVersion, offers(other, kmsg.Key(k.ApiKey)))
		}
		if k.MaxVersion >= k.MinVersion {
			keys = append(keys, k)
		}
	}
	first.ApiKeys = keys
	return &first
}

// versionsRequest asks a broker what it offers and for the cluster's features (KIP-584).
func versionsRequest() *kmsg.ApiVersionsRequest {
	r := kmsg.NewPtrApiVersionsRequest()
	r.ClientSoftwareName, r.ClientSoftwareVersion = "flightdeck", "unknown"
	return r
}

// features lists what is supported or finalized, by name.
func features(r *kmsg.ApiVersionsResponse) []model.Feature {
	if r == nil {
		return nil
	}
	byName := make(map[string]model.Feature)
	for _, f := range r.SupportedFeatures {
		byName[f.Name] = model.Feature{Name: f.Name, Min: f.MinVersion, Max: f.MaxVersion}
	}
	for _, f := range r.FinalizedFeatures {
		feature := byName[f.Name]
		feature.Name, feature.Finalized = f.Name, model.Some(f.MaxVersionLevel)
		byName[f.Name] = feature
	}
	out := make([]model.Feature, 0, len(byName))
	for _, f := range byName {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b model.Feature) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// shareSupport tells the ways apart in which a cluster can be without share groups. Brokers with
// share.version at level 0 advertise all of their requests and answer UNSUPPORTED_VERSION.
func shareSupport(r *kmsg.ApiVersionsResponse, features []model.Feature) model.ShareSupport {
	switch {
	case r == nil:
		return model.ShareUnknown
	case offers(r, kmsg.ShareGroupDescribe) < 1:
		return model.ShareTooOld
	}
	for _, f := range features {
		if f.Name == "share.version" && f.Finalized.Or(0) == 0 {
			return model.ShareOff
		}
	}
	return model.ShareOn
}

// operations turns AuthorizedOperations of an answer into a value; the lowest number means that the
// broker did not say.
func operations(bits int32) model.Operations {
	if bits == -1<<31 {
		return model.Operations{}
	}
	return model.Some(bits)
}

// cluster assembles what concerns the cluster as a whole, from this poll and what is remembered.
func (p *poll) cluster() model.Cluster {
	s := p.s
	c := model.Cluster{ID: s.clusterID, Controller: s.controller, Operations: s.operations}
	var versions []*kmsg.ApiVersionsResponse
	for node, b := range s.brokers {
		if b.versions != nil && p.listed[node] {
			versions = append(versions, b.versions)
		}
		broker := model.Broker{ID: node, Host: b.host, Port: b.port, Rack: b.rack, Answered: b.answered}
		if v := p.visits[node]; v != nil && v.err == nil {
			broker.Up = true
			if v.listing != 0 {
				code, text := s.conn.Explain(answered(kmsg.ListGroups, "", v.listing, nil))
				text = "Broker " + strconv.Itoa(int(node)) + " does not list its groups, and what is shown of them is old. " + text
				p.problems = append(p.problems, model.Problem{Scope: model.ScopeBroker, Name: strconv.Itoa(int(node)), Code: code, Text: text})
			}
		} else {
			why := p.downProblem(node)
			broker.Why = why.Text
			p.problems = append(p.problems, why)
		}
		c.Brokers = append(c.Brokers, broker)
	}
	slices.SortFunc(c.Brokers, func(a, b model.Broker) int { return int(a.ID) - int(b.ID) })
	// The newest word on the features counts.
	slices.SortFunc(versions, func(a, b *kmsg.ApiVersionsResponse) int {
		return cmp.Compare(b.FinalizedFeaturesEpoch, a.FinalizedFeaturesEpoch)
	})
	if all := common(versions); all != nil {
		c.Version = kafkaVersion(all)
		c.Features = features(all)
		c.Limits = limitsOf(all)
		c.Share = shareSupport(all, c.Features)
	}
	return c
}

// downProblem says why a broker is not up.
func (p *poll) downProblem(node int32) model.Problem {
	why := model.Problem{Scope: model.ScopeBroker, Name: strconv.Itoa(int(node))}
	if v := p.visits[node]; v != nil && p.listed[node] {
		why.Code, why.Text = p.s.conn.Explain(v.err)
		return why
	}
	why.Code = "not_registered"
	why.Text = "The broker is not registered with the controller: it was stopped, or is cut off from the cluster."
	return why
}
