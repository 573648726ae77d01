// Package demo is a Kafka cluster in the process, for `--demo` and for tests: three brokers of kfake on
// loopback ports, topics with a past, and applications that behave and misbehave.
//
// # Vocabulary
//
// An application is a consumer group or a share group with its members. Each has one story (it keeps up,
// falls behind, stalls, ...), told in one table: [consumerGroups] and [shareGroups]. Everybody talks to the
// brokers over the wire with clients like any other, so that whoever looks at the cluster sees nothing but
// Kafka.
//
// # Rules
//
//   - A seed gives the same topics, records, groups, members and offsets. What happens then depends on time
//     and is not reproducible to the record.
//   - The first look already finds every group in its state: the past is produced and the offsets are committed
//     before [Start] returns; the applications join in the background.
//   - Rates are human: some tens of records a second in all, a few in the share groups, so that one can
//     follow a single record by eye.
//   - Nothing is logged, and nothing is left when [Cluster.Close] has returned.
//
// kfake keeps the state of share groups in memory only, where Kafka records it in __share_group_state. A
// mirror writes that topic from what passes between clients and brokers; see mirror.go.
package demo
