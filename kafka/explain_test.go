package kafka

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kadm"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

func TestExplainKafkaErrors(t *testing.T) {
	said := "Group g is not a share group."
	for _, tc := range []struct {
		name  string
		err   error
		code  string
		words []string
	}{
		{"describe a group", answered(kmsg.ConsumerGroupDescribe, "billing", 30, nil),
			"GROUP_AUTHORIZATION_FAILED", []string{"DESCRIBE on group billing", "--operation Describe --group billing"}},
		{"describe a group with a hidden topic", answered(kmsg.ShareGroupDescribe, "billing", 29, nil),
			"TOPIC_AUTHORIZATION_FAILED", []string{"DESCRIBE on a topic that the group reads", "--operation Describe --topic TOPIC"}},
		{"acknowledge", answered(kmsg.ShareAcknowledge, "billing", 30, nil),
			"GROUP_AUTHORIZATION_FAILED", []string{"READ on group billing"}},
		{"delete a group", answered(kmsg.DeleteGroups, "billing", 30, nil),
			"GROUP_AUTHORIZATION_FAILED", []string{"DELETE on group billing"}},
		{"group configs", answered(kmsg.IncrementalAlterConfigs, "billing", 30, nil),
			"GROUP_AUTHORIZATION_FAILED", []string{"ALTER_CONFIGS on group billing", "--operation AlterConfigs"}},
		{"end offsets", answered(kmsg.ListOffsets, "orders", 29, nil),
			"TOPIC_AUTHORIZATION_FAILED", []string{"DESCRIBE on topic orders", "--topic orders"}},
		{"fetch", answered(kmsg.Fetch, "orders", 29, nil),
			"TOPIC_AUTHORIZATION_FAILED", []string{"READ on topic orders"}},
		{"produce", answered(kmsg.InitProducerID, "orders", 31, nil),
			"CLUSTER_AUTHORIZATION_FAILED", []string{"WRITE on the topic"}},
		{"log dirs", answered(kmsg.DescribeLogDirs, "", 31, nil),
			"CLUSTER_AUTHORIZATION_FAILED", []string{"DESCRIBE on the cluster", "--cluster"}},
		{"a bare code", kerr.GroupAuthorizationFailed,
			"GROUP_AUTHORIZATION_FAILED", []string{"DESCRIBE on the group"}},
		{"as kadm wraps it", &kadm.ShardErrors{Name: "DescribeGroups", Errs: []kadm.ShardError{{Err: kerr.GroupAuthorizationFailed}}},
			"GROUP_AUTHORIZATION_FAILED", []string{"DESCRIBE on the group"}},
		{"what the broker said", answered(kmsg.ShareGroupDescribe, "g", 69, &said),
			"GROUP_ID_NOT_FOUND", []string{said}},
		{"share groups off", answered(kmsg.ShareGroupDescribe, "g", 35, nil),
			"UNSUPPORTED_VERSION", []string{"switched off", "share.version=1"}},
		{"another version", answered(kmsg.ListGroups, "", 35, nil),
			"UNSUPPORTED_VERSION", []string{"does not support"}},
		{"coordinator", kerr.CoordinatorNotAvailable,
			"COORDINATOR_NOT_AVAILABLE", []string{"coordinator", "all brokers are up"}},
		{"Kafka's present name", kerr.NotLeaderForPartition,
			"NOT_LEADER_OR_FOLLOWER", []string{"moved"}},
		{"a code without a sentence of ours", kerr.InvalidVoterKey,
			"INVALID_VOTER_KEY", []string{"voter key"}},
		{"wrapped", fmt.Errorf("poll: %w", kerr.NonEmptyGroup),
			"NON_EMPTY_GROUP", []string{"still has members"}},
		{"canceled", fmt.Errorf("poll: %w", context.Canceled), "canceled", nil},
		{"something else", errors.New("odd"), "error", []string{"odd"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, text := Connect(Config{}).Explain(tc.err)
			if code != tc.code {
				t.Errorf("code %q, want %q", code, tc.code)
			}
			for _, w := range tc.words {
				if !strings.Contains(text, w) {
					t.Errorf("%q does not say %q", text, w)
				}
			}
		})
	}
	if err := answered(kmsg.ListGroups, "", 0, nil); err != nil {
		t.Errorf("no error became %v", err)
	}
	if code, text := Connect(Config{}).Explain(nil); code != "" || text != "" {
		t.Errorf("nil is %q %q", code, text)
	}
}

// Each sentence is one: it begins with a capital, ends with a full stop, and shouts nothing.
func TestKafkaSentences(t *testing.T) {
	for code, text := range kafkaSentences {
		if kerr.TypedErrorForCode(code) == kerr.UnknownServerError && code != -1 {
			t.Errorf("%d is no code of the protocol", code)
		}
		if !strings.HasSuffix(text, ".") || strings.ToUpper(text[:1]) != text[:1] || strings.Contains(text, "!") {
			t.Errorf("%d: %q", code, text)
		}
	}
}

// Two brokers that closed their connections cannot be told apart by io.EOF: no address is better than the wrong one.
func TestExplainDoesNotGuessTheAddress(t *testing.T) {
	c := Connect(Config{})
	same := errors.New("unable to dial: same")
	op := &net.OpError{Op: "read", Err: same}
	for i, host := range []string{"one", "two"} {
		c.record.fail(kgo.BrokerMetadata{NodeID: int32(i), Host: host, Port: 9092}, op, time.Now())
	}
	if where := c.record.find(op); where.address != "" || where.node != -1 {
		t.Errorf("found %+v", where)
	}
}
