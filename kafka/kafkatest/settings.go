package kafkatest

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Listener is a security protocol, as Kafka names it.
type Listener string

// The listeners that a node can serve. PLAINTEXT is always there: its clients are User:ANONYMOUS, a
// super user, so that a test can prepare what it wants while another listener is under test.
const (
	Plaintext     Listener = "PLAINTEXT"
	SASLPlaintext Listener = "SASL_PLAINTEXT"
	SASLSSL       Listener = "SASL_SSL"
	SSL           Listener = "SSL" // asks for a client certificate; the principal is User:CN=client
)

// Options say what cluster to start. The zero value is a single node that serves share groups on
// PLAINTEXT.
type Options struct {
	// Nodes is 1 or 3; 0 is 1. Three nodes have replication factor 3, min.insync.replicas 2, and
	// auto.leader.rebalance.enable off, so that leaders stay where a test puts them.
	Nodes int

	// Listeners are served besides PLAINTEXT. The SASL listeners know the [Users], by PLAIN,
	// SCRAM-SHA-256 and SCRAM-SHA-512.
	Listeners []Listener

	// ACLs turns on the StandardAuthorizer: everybody but User:admin and User:ANONYMOUS needs ACLs.
	ACLs bool

	// ShareVersion is the level at which the feature share.version is finalised when the cluster is
	// formatted. "" is what a new cluster of that version has, and 1 on 4.1, whose new clusters have
	// none; "0" is a cluster without share groups.
	ShareVersion string

	// Properties are set in server.properties of every node, over what kafkatest sets. An empty value
	// leaves the setting out: without share.coordinator.state.topic.replication.factor a single node
	// has share groups that never deliver anything.
	Properties map[string]string
}

func (o Options) nodes() int { return max(o.Nodes, 1) }

func (o Options) listeners() []Listener {
	return append([]Listener{Plaintext}, o.Listeners...)
}

func (o Options) sasl() bool {
	return slices.ContainsFunc(o.Listeners, func(l Listener) bool { return l == SASLPlaintext || l == SASLSSL })
}

func (o Options) tls() bool {
	return slices.ContainsFunc(o.Listeners, func(l Listener) bool { return l == SSL || l == SASLSSL })
}

func (o Options) check() error {
	if o.Nodes != 0 && o.Nodes != 1 && o.Nodes != 3 {
		return fmt.Errorf("a cluster of %d nodes: only 1 or 3 can be started", o.Nodes)
	}
	for _, l := range o.Listeners {
		if l != SASLPlaintext && l != SASLSSL && l != SSL {
			return fmt.Errorf("listener %q: only SASL_PLAINTEXT, SASL_SSL and SSL can be added", l)
		}
	}
	return nil
}

// settings returns the server.properties of one node.
func (c *Cluster) settings(n *node) map[string]string {
	o := c.options
	replicas := strconv.Itoa(o.nodes())
	minISR := strconv.Itoa((o.nodes() + 1) / 2)

	var listeners, protocols []string
	for _, l := range o.listeners() {
		listeners = append(listeners, fmt.Sprintf("%s://%s", l, n.addrs[l]))
		protocols = append(protocols, fmt.Sprintf("%s:%s", l, l))
	}
	s := map[string]string{
		"process.roles":                  "broker,controller",
		"node.id":                        strconv.Itoa(n.id),
		"listeners":                      strings.Join(append(listeners, "CONTROLLER://"+n.controller), ","),
		"listener.security.protocol.map": strings.Join(append(protocols, "CONTROLLER:PLAINTEXT"), ","),
		"controller.listener.names":      "CONTROLLER",
		"inter.broker.listener.name":     "PLAINTEXT",
		"log.dirs":                       n.data,
		"broker.rack":                    fmt.Sprintf("r%d", n.id),

		"default.replication.factor":                       replicas,
		"min.insync.replicas":                              minISR,
		"offsets.topic.replication.factor":                 replicas,
		"transaction.state.log.replication.factor":         replicas,
		"transaction.state.log.min.isr":                    minISR,
		"share.coordinator.state.topic.replication.factor": replicas,
		"share.coordinator.state.topic.min.isr":            minISR,

		"group.initial.rebalance.delay.ms": "0",
		"auto.create.topics.enable":        "false",
		"auto.leader.rebalance.enable":     "false",
	}
	if o.nodes() == 1 {
		s["controller.quorum.bootstrap.servers"] = n.controller
	} else {
		var voters []string
		for _, v := range c.nodes {
			voters = append(voters, fmt.Sprintf("%d@%s", v.id, v.controller))
		}
		s["controller.quorum.voters"] = strings.Join(voters, ",")
	}
	if o.sasl() {
		c.saslSettings(s)
	}
	if o.tls() {
		c.tlsSettings(s)
	}
	if o.ACLs {
		s["authorizer.class.name"] = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
		s["super.users"] = "User:admin;User:ANONYMOUS"
	}
	for k, v := range o.Properties {
		if v == "" {
			delete(s, k)
		} else {
			s[k] = v
		}
	}
	return s
}

// properties writes settings as a Java properties file, sorted.
func properties(s map[string]string) []byte {
	var b strings.Builder
	escape := strings.NewReplacer(`\`, `\\`) // Windows paths; nothing else here needs escaping
	for _, k := range slices.Sorted(maps.Keys(s)) {
		fmt.Fprintf(&b, "%s=%s\n", k, escape.Replace(s[k]))
	}
	return []byte(b.String())
}
