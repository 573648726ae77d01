// Package model is what flightdeck knows about a Kafka cluster and what it concludes from it.
//
// It is pure: standard library only, no goroutines, no clock of its own, no I/O. Everything that
// depends on time takes it as an argument or reads it from a [Snapshot].
//
// # Vocabulary
//
// The words are Kafka's own. A group is a consumer group (type classic, or consumer for the KIP-848
// protocol), a share group (KIP-932) or a streams group. Its position on a partition is the
// committed offset, or for a share group the start offset (SPSO). The log of a partition begins at
// its log start offset and ends at its log end offset (the high watermark); lag is what is still
// there to be read, from the later of position and log start to the end. A member has an
// assignment, and under KIP-848 also a target assignment that it is on its way to. A share group's
// unit of work is the share-partition.
//
// # Rules
//
//   - Unknown is not zero. What was not measured is an absent [Opt]; it is shown as "-", left out of
//     totals, and the total says so.
//   - A published [Snapshot] is never changed. Code that needs another one makes a new one and may
//     share what did not change.
//   - Partial failure is data: a [Problem] names what it concerns, and the rest of the snapshot
//     stands.
//   - Text that came from Kafka (ids, hosts, keys, values, errors) is untrusted. It is kept here as it
//     came and passed through [Clean] at the edge where it is shown.
package model
