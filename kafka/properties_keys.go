package kafka

import (
	"slices"
	"strings"
)

// forOtherClients reports whether a key is a legitimate setting of a Kafka client that does not matter for
// reading a cluster: of producers, consumers and admin clients (the names that Kafka 4.4 has), and of serializers and
// frameworks that share the file.
func forOtherClients(key string) bool {
	if slices.Contains(otherClientKeys, key) {
		return true
	}
	return slices.ContainsFunc(otherClientPrefixes, func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

var otherClientPrefixes = []string{
	"basic.auth.", "bearer.auth.", "schema.registry.", "value.subject.", "key.subject.", "confluent.",
	"producer.", "consumer.", "admin.", "interceptor.", "metrics.", "metric.",
}

var otherClientKeys = strings.Fields(`
acks allow.auto.create.topics auto.commit.interval.ms auto.offset.reset auto.register.schemas batch.size
bootstrap.controllers bootstrap.resolve.timeout.ms buffer.memory buffer.memory.allocation.strategy check.crcs
client.dns.lookup client.id client.rack compression.gzip.level compression.lz4.level compression.type
compression.zstd.level connections.max.idle.ms default.api.timeout.ms delivery.timeout.ms enable.auto.commit
enable.idempotence enable.metrics.push exclude.internal.topics fetch.max.bytes fetch.max.wait.ms
fetch.min.bytes group.id group.instance.id group.protocol group.remote.assignor heartbeat.interval.ms
interceptor.classes isolation.level key.deserializer key.serializer linger.ms max.block.ms
max.in.flight.requests.per.connection max.partition.fetch.bytes max.poll.interval.ms max.poll.records
max.request.size metadata.cluster.check.enable metadata.max.age.ms metadata.max.idle.ms
metadata.recovery.rebootstrap.trigger.ms metadata.recovery.strategy partition.assignment.strategy
partitioner.adaptive.partitioning.enable partitioner.availability.timeout.ms partitioner.class
partitioner.ignore.keys partitioner.rack.aware receive.buffer.bytes reconnect.backoff.max.ms
reconnect.backoff.ms request.timeout.ms retries retry.backoff.max.ms retry.backoff.ms send.buffer.bytes
session.timeout.ms share.acknowledgement.mode share.acquire.mode socket.connection.setup.timeout.max.ms
socket.connection.setup.timeout.ms specific.avro.reader transaction.timeout.ms
transaction.two.phase.commit.enable transactional.id use.latest.version value.deserializer value.serializer
`)
