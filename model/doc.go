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
//
// # What is concluded
//
// [History] turns snapshots into views. Its rules:
//
//   - A rate needs two readings at different times. Only what was read anew counts (Group.OffsetsAt, Partition.At):
//     values carried over from an earlier poll never look like a standstill.
//   - A rate is taken from one step of a counter to another, since commits come in steps: over about 10 s for a counter
//     that always moves, over four steps for one that moves every few seconds. It is 0 after 15 s without a
//     move (or three times the usual pause), and unknown a minute after the last reading.
//   - ETA is lag / (consumed - produced).
//   - What was not seen is not claimed: while a broker is down its groups are not taken for deleted; "since" is said only of
//     a change that was seen; a group is watched for 6 s before its pace is judged, and for 20 s before it is stalled.
//   - A cooperative rebalance of two rounds is one [Rebalance]: it lasts until every partition that had an owner has one.
//   - A group always has a [Verdict]. Its code is stable; the table of codes is beside [VerdictNotRead]. Text says what is wrong
//     first, evidence and the next step are sentences. Names in them are as Kafka gave them, so they pass
//     through [Clean] too.
//
// # Records of a share-partition
//
// [DeliveryRules] is the state machine of one record (KIP-932), n being its delivery count. An event that has "-" does
// not apply: an acknowledgement is refused, anything else has no effect. Acknowledged and archived are final and
// states without a name are not ours to judge, so nothing applies to them.
//
//	event          available n    acquired n                 archiving n
//	acquire        acquired n+1   -                          -
//	accept         -              acknowledged n             -
//	release        -              available n, or given up   -
//	reject         -              given up                   -
//	gap            -              archived n                 -
//	renew          -              acquired n                 -
//	lock time-out  -              available n, or given up   -
//	session close  -              available n, or given up   -
//	dead-lettered  -              -                          archived n
//	leader change  -              available n-1              -
//
// A record is given up when it would become available again with n at the delivery count limit, and when
// it is rejected: it becomes archived, or archiving when there is a dead-letter topic (Kafka 4.4). Before Kafka 4.3
// the close of a session takes the attempt back: available n-1, whatever the limit.
//
// The window ([RecordWindow]) reaches from the start offset to the last record handed out. The start offset moves over
// the finished prefix, so one unfinished record holds it although everything behind it may be done; and the window
// may not grow beyond its limit (share.partition.max.record.locks).
//
// Outcomes are written to the state topic, holds are not. [ShareFold] folds what is written into a [ShareState] and keeps the
// way to it ([ShareHistory]); [InferWindow] says for each offset what is known and from where.
//
// # Moving offsets
//
// [PlanReset] computes from a [ResetSpec] and what was read of the cluster where each position goes. Its rules:
//
//   - A planned row is within the log, whatever was asked for; a note says where that changed something. -1 and -2, which
//     mean something else to brokers, never come out, and no moment before 1970 goes in.
//   - What is not known is not planned, and the row says why. Nothing is guessed for a partition without a position.
//   - The modes that Kafka's own tools have come to the same offsets as there; [ResetCommand] is their command line.
//   - A share group moves from its effective start offset ([ShareState.Effective]). What it forgets is counted: [ShareLoss].
//   - How it is carried out follows from the type and the version: [ResetMethod].
package model
