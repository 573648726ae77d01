// Package kafka talks to Apache Kafka: it connects, reads, follows, and carries out what a person
// decided. What it learns it returns as values of package model.
//
// # Vocabulary
//
// A [Connection] is the way to one cluster: the addresses of the bootstrap servers, TLS, SASL, and
// whether changes are allowed. It holds no socket itself; sockets belong to the clients that it makes.
// A bootstrap server (a seed, in franz-go's word) is an address that the person gave. An advertised
// address is one that a broker gives for itself in a Metadata response; every request after the first
// goes there, and the two can differ.
//
// A job is what a client is for: the poll, share-group offsets, following an internal topic, a share
// session, producing.
//
// A [Source] takes snapshots. One snapshot is a poll; what a broker is asked in the course of a poll
// travels in its lane, which gives the broker up at the first failure. The broker that lists a group is
// its coordinator. What brokers leave out proves little: a group that nobody lists may be loading, a
// topic that Metadata does not have may be hidden. So absence is asked about before it is believed.
//
// A [Follower] reads the state topic of share groups, __share_group_state, for the share-partitions that are watched: from
// the log start of the partitions that hold them, without a group, and folds what is written (package sharestate decodes,
// package model folds). A share-partition is caught up once everything was read that was there when reading began. A
// [Reader] reads single things on demand: the record at an offset, the settings of a group.
//
// A share session ([ShareSession]) is our membership in a share group with the records that we hold. A verdict is a
// decision about one of them that is under way, and a doubt is one whose outcome no answer told: it is read back from
// the state topic.
//
// # Rules
//
//   - Every kgo client is made by Connection.client, with the options of its job. Nobody else calls
//     kgo.NewClient: TLS, SASL, the client id, read-only mode and the memory of failures live there.
//   - One client per job. The jobs need opposite limits (a poll must give up within seconds, a share
//     session must wait out a minute of failover or it loses its records), and a request that a
//     broker holds back blocks everything behind it on the same connection.
//   - With [Config.ReadOnly] no client can send a request that is not on a list of reads. In no mode can one
//     send requests 83 to 86 (Initialize-, Read-, Write- and DeleteShareGroupState): they are the
//     brokers' own, and even the read moves the leader epoch of the share-partition that it reads.
//   - Whatever changes a cluster goes through Connection.act, or begin and end: the audit file has a line about it before
//     anything is sent, and what cannot be written down is not done. A result says what the cluster confirmed or
//     what was read back from it, and "unknown" is a result.
//   - Errors are values. [Connection.Explain] turns one into a code and a sentence, with what is known
//     about the addresses it went to; nobody else words a connection failure.
//   - What changes a group goes through [Admin]: previewed by reading only, with the old offsets on disk and the intent in the
//     audit file before the request leaves, and read back before it is called done. A changing request is never sent
//     twice unless the broker said that it did nothing.
//   - No secret appears in an error, a warning or a log line.
//   - Nothing here imports a user interface.
package kafka
