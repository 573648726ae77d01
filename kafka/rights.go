package kafka

import (
	"fmt"
	"strings"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// noKey is the request of an error whose request is not known.
const noKey kmsg.Key = -1

// requestError is an error that a broker answered with, and what it answered it to. Wrapping the bare code in it lets
// [Connection.Explain] name the right that is missing.
type requestError struct {
	Key     kmsg.Key
	Name    string // the group or topic; may be empty
	Message string // what the broker said beside the code; may be empty
	Err     error
}

func (e *requestError) Error() string {
	text := e.Key.Name() + ": " + e.Err.Error()
	if e.Message != "" {
		text += " (" + e.Message + ")"
	}
	return text
}

func (e *requestError) Unwrap() error { return e.Err }

// answered is the error for a code in a response, nil for none. The name is the group or topic that the code is for, the
// message what the broker said beside it.
func answered(key kmsg.Key, name string, code int16, message *string) error {
	err := kerr.ErrorForCode(code)
	if err == nil {
		return nil
	}
	e := &requestError{Key: key, Name: name, Err: err}
	if message != nil {
		e.Message = *message
	}
	return e
}

// The rights that StandardAuthorizer asks for, per request, seen on Kafka 4.3 and 4.4.
var (
	groupRights = map[kmsg.Key]string{
		kmsg.OffsetCommit: "READ", kmsg.JoinGroup: "READ", kmsg.SyncGroup: "READ", kmsg.Heartbeat: "READ", kmsg.LeaveGroup: "READ",
		kmsg.ConsumerGroupHeartbeat: "READ", kmsg.ShareGroupHeartbeat: "READ", kmsg.ShareFetch: "READ", kmsg.ShareAcknowledge: "READ",
		kmsg.AlterShareGroupOffsets: "READ",
		kmsg.DeleteGroups:           "DELETE", kmsg.OffsetDelete: "DELETE", kmsg.DeleteShareGroupOffsets: "DELETE",
		kmsg.DescribeConfigs: "DESCRIBE_CONFIGS", kmsg.IncrementalAlterConfigs: "ALTER_CONFIGS",
	}
	topicRights = map[kmsg.Key]string{
		kmsg.Fetch: "READ", kmsg.OffsetCommit: "READ", kmsg.OffsetDelete: "READ", kmsg.ShareFetch: "READ", kmsg.ShareAcknowledge: "READ",
		kmsg.AlterShareGroupOffsets: "READ", kmsg.DeleteShareGroupOffsets: "READ",
		kmsg.Produce: "WRITE", kmsg.InitProducerID: "WRITE",
		kmsg.CreateTopics: "CREATE", kmsg.CreatePartitions: "ALTER",
		kmsg.DeleteTopics: "DELETE", kmsg.DeleteRecords: "DELETE",
		kmsg.DescribeConfigs: "DESCRIBE_CONFIGS", kmsg.IncrementalAlterConfigs: "ALTER_CONFIGS",
	}
	clusterRights = map[kmsg.Key]string{
		kmsg.DescribeConfigs: "DESCRIBE_CONFIGS", kmsg.IncrementalAlterConfigs: "ALTER_CONFIGS",
		kmsg.UpdateFeatures: "ALTER", kmsg.CreateTopics: "CREATE",
	}
)

// denied words an authorization error: which right on what is missing, and how it is given.
func (e *requestError) denied(k *kerr.Error) (text string, ok bool) {
	var kind, right string
	switch k {
	case kerr.GroupAuthorizationFailed:
		kind, right = "group", groupRights[e.Key]
	case kerr.TopicAuthorizationFailed:
		kind, right = "topic", topicRights[e.Key]
	case kerr.ClusterAuthorizationFailed:
		if e.Key == kmsg.Produce || e.Key == kmsg.InitProducerID {
			return "The right to produce is missing: WRITE on the topic." + grant("WRITE", "topic", ""), true
		}
		kind, right = "cluster", clusterRights[e.Key]
	default:
		return "", false
	}
	if right == "" {
		right = "DESCRIBE"
	}
	what := "the " + kind
	if e.Name != "" && e.names(kind) {
		what = kind + " " + e.Name
	}
	text = fmt.Sprintf("The right %s on %s is missing.", right, what)
	if kind == "topic" && (e.Key == kmsg.ConsumerGroupDescribe || e.Key == kmsg.ShareGroupDescribe) {
		text = "The right DESCRIBE on a topic that the group reads is missing, and so the broker shows nothing of the group."
	}
	name := ""
	if e.names(kind) {
		name = e.Name
	}
	return text + grant(right, kind, name), true
}

// names reports whether the name of e is one of the kind: a request about groups may be refused because of
// a topic and the other way round.
func (e *requestError) names(kind string) bool {
	switch e.Key {
	case kmsg.ListOffsets, kmsg.Metadata, kmsg.Fetch, kmsg.Produce, kmsg.InitProducerID, kmsg.DescribeTopicPartitions,
		kmsg.CreateTopics, kmsg.DeleteTopics, kmsg.CreatePartitions, kmsg.DeleteRecords:
		return kind == "topic"
	case noKey:
		return false
	default:
		return kind == "group"
	}
}

// grant says how an administrator gives a right.
func grant(right, kind, name string) string {
	resource := "--cluster"
	if kind != "cluster" {
		if name == "" {
			name = strings.ToUpper(kind)
		}
		resource = "--" + kind + " " + name
	}
	return fmt.Sprintf(" An administrator gives it with: kafka-acls.sh --add --allow-principal User:NAME --operation %s %s", pascal(right), resource)
}

// pascal turns ALTER_CONFIGS into AlterConfigs, as Kafka's tools write it.
func pascal(right string) string {
	var b strings.Builder
	for word := range strings.SplitSeq(right, "_") {
		b.WriteString(word[:1] + strings.ToLower(word[1:]))
	}
	return b.String()
}

// off words UNSUPPORTED_VERSION for the requests of share groups: brokers of 4.1 offer them and refuse them
// while the feature share.version is at level 0.
func (e *requestError) off(k *kerr.Error) (text string, ok bool) {
	if k != kerr.UnsupportedVersion {
		return "", false
	}
	switch e.Key {
	case kmsg.ShareGroupHeartbeat, kmsg.ShareGroupDescribe, kmsg.ShareFetch, kmsg.ShareAcknowledge,
		kmsg.DescribeShareGroupOffsets, kmsg.AlterShareGroupOffsets, kmsg.DeleteShareGroupOffsets:
		return "Share groups are switched off in this cluster. An administrator switches them on with: kafka-features.sh upgrade --feature share.version=1", true
	}
	return "", false
}
