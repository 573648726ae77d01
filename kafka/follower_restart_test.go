package kafka

import (
	"strings"
	"testing"

	"github.com/twmb/franz-go/pkg/kadm"

	"flightdeck/kafka/kafkatest"
	"flightdeck/kafka/sharestate"
	"flightdeck/model"
)

// Without the right to read the state topic the follower says which right it is, and goes on once it is
// given; and it goes on after the only broker crashed.
func TestFollowRightsAndRestartOnKafka(t *testing.T) {
	t.Parallel()
	c := kafkatest.Start(t, kafkatest.Latest(t), kafkatest.Options{ACLs: true, Listeners: []kafkatest.Listener{kafkatest.SASLPlaintext}})
	adm := kadm.NewClient(c.Client(t))
	allow := func(op kadm.ACLOperation) {
		t.Helper()
		acls := kadm.NewACLs().Allow("User:alice").AllowHosts().Topics(sharestate.Topic).Operations(op).ResourcePatternType(kadm.ACLPatternLiteral)
		results, err := adm.CreateACLs(t.Context(), acls)
		for _, r := range results {
			if r.Err != nil {
				err = r.Err
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	topic := kafkatest.Name("orders")
	c.CreateTopic(t, topic, 1)
	c.Produce(t, topic, 0, 10)
	s := newShareScene(t, c, kafkatest.Name("flight"), topic, 10)
	s.acquire(10)
	s.say("accepted out of order", kafkatest.All(kafkatest.Accept, 0, 3)...)

	alice := Config{Bootstrap: c.Addrs(kafkatest.SASLPlaintext), SASL: kafkatest.Mechanism(kafkatest.Plain, "alice", kafkatest.Password("alice"))}
	f := followerOf(t, alice, FollowOptions{})
	f.Watch([]model.SharePartitionKey{s.key}, nil)
	denied := func(r *model.ShareRecords) bool {
		return r.Problem != nil && r.Problem.Code == "TOPIC_AUTHORIZATION_FAILED" && strings.Contains(r.Problem.Text, "READ on topic "+sharestate.Topic)
	}
	until(t, f, "no right at all is noticed", denied)
	allow(kadm.OpDescribe)
	g := followerOf(t, alice, FollowOptions{})
	g.Watch([]model.SharePartitionKey{s.key}, nil)
	until(t, g, "DESCRIBE is not enough", denied)
	allow(kadm.OpRead)
	shown := func(r *model.ShareRecords) bool { return r.Problem == nil && windowOf(r, s.key, s.end) == s.wanted() }
	until(t, f, "the right is used", shown)
	until(t, g, "the right is used", shown)

	c.Kill(t, 1)
	c.Restart(t, 1)
	s.leaderChange()
	s.acquire(8)
	s.expect("the broker crashed")
	s.say("accepted after the crash", kafkatest.All(kafkatest.Accept, 5)...)
	until(t, f, "it goes on after the crash", shown)
}
