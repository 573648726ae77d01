package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The verdicts on the records of share groups, drawn from the recorded state. The severity behind each is
// that of the usual case.
const (
	VerdictShareWindowFull      = "share_window_full"      // warning   most of the window is used; critical when its head stands still too
	VerdictShareHeadStuck       = "share_head_stuck"       // info      one record holds the start offset while finished ones wait behind it
	VerdictShareNearLimit       = "share_near_limit"       // warning   records whose next failed delivery archives them
	VerdictShareArchived        = "share_archived"         // warning   records were given up on in the last minutes
	VerdictShareLocksRunOut     = "share_locks_run_out"    // warning   records went back the way they do when locks run out
	VerdictShareSmallFetches    = "share_small_fetches"    // info      near the limit records are delivered alone or in small fetches, by design
	VerdictSharePartitionLatest = "share_partition_latest" // warning   a partition was added, and what it held before is skipped
	VerdictShareStartWentBack   = "share_start_went_back"  // info      the start offset is lower than it was
)

const (
	// recentRecords is how far back what happened to records is worth a verdict.
	recentRecords = 10 * time.Minute
	// windowFull of the limit is nearly full.
	windowFull = 0.8
	// headStuck is how long a record may hold the start offset.
	headStuck = time.Minute
	// burst is how close to each other the writes for locks that ran out are: one broker timer writes them.
	burst = 20 * time.Millisecond
)

// SharePartitionFacts are what the verdicts on the records of one share-partition are drawn from.
type SharePartitionFacts struct {
	Topic  string
	Number int32
	// Records is what the state topic says; nil when it is not followed.
	Records *SharePartitionRecords
	// LogStart and End are the bounds of the log as far as known.
	LogStart, End Int
}

func (p *SharePartitionFacts) name() string { return fmt.Sprintf("%s/%d", p.Topic, p.Number) }

// ShareGroupFacts are what the verdicts on the records of one share group are drawn from.
type ShareGroupFacts struct {
	Now time.Time
	// Version is [Cluster.Version]; empty when unknown.
	Version string
	// Configs are the group's settings; nil when they were not read.
	Configs    *GroupConfigs
	Partitions []SharePartitionFacts
}

// recordFacts are what one pass over a share-partition finds.
type recordFacts struct {
	*SharePartitionFacts
	window ShareWindow
	ok     bool // there is a window
}

// JudgeShareRecords draws the verdicts on the records of a share group, the worst first; none when there is
// nothing to say.
func JudgeShareRecords(facts *ShareGroupFacts) []Verdict {
	if facts.Configs == nil {
		known := *facts
		known.Configs = new(GroupConfigs)
		facts = &known
	}
	var parts []recordFacts
	for i := range facts.Partitions {
		p := &facts.Partitions[i]
		if p.Records == nil || !p.Records.CaughtUp {
			continue
		}
		f := recordFacts{SharePartitionFacts: p}
		f.window, f.ok = InferWindow(p.Records.History.Now(), p.LogStart, p.End, nil)
		parts = append(parts, f)
	}
	var list []Verdict
	for _, check := range []func(*ShareGroupFacts, []recordFacts) Verdict{
		checkWindow, checkNearLimit, checkArchived, checkLocks, checkPartitionLatest, checkStartBack, checkHead, checkSmallFetches,
	} {
		if v := check(facts, parts); v.Code != "" {
			list = append(list, v)
		}
	}
	slices.SortStableFunc(list, func(a, b Verdict) int { return int(b.Severity) - int(a.Severity) })
	return list
}

// stuckFor is how long the record at the head has held the start offset.
func (f *recordFacts) stuckFor(now time.Time) (time.Duration, Head) {
	head, ok := f.window.Head()
	if !ok || head.Since.Ms == 0 || head.Run.Reason == ReasonNoOutcome {
		return 0, head
	}
	return now.Sub(head.Since.Time()), head
}

func headInWords(h Head) string {
	state := h.Run.State.String()
	switch h.Run.Source {
	case SourceInferred:
		state += ", inferred: it is out with a member"
	case SourceNone:
		state = "without a recorded outcome"
	}
	return fmt.Sprintf("offset %d is %s", h.Run.First, state)
}

func checkWindow(facts *ShareGroupFacts, parts []recordFacts) Verdict {
	limit, ok := facts.Configs.RecordLocks().Get()
	if !ok || limit <= 0 {
		return Verdict{}
	}
	var worst *recordFacts
	for i := range parts {
		if f := &parts[i]; f.ok && (worst == nil || f.window.Used() > worst.window.Used()) {
			worst = f
		}
	}
	if worst == nil || float64(worst.window.Used()) < windowFull*float64(limit) {
		return Verdict{}
	}
	used := worst.window.Used()
	v := Verdict{Code: VerdictShareWindowFull, Severity: Warning,
		Text: fmt.Sprintf("window nearly full: %d of %d on %s", used, limit, worst.name()),
		Evidence: []string{
			fmt.Sprintf("From the start offset %d to the last record with an outcome are %d offsets; the limit is %d (%s).", worst.window.Start, used, limit, ConfigRecordLocks),
			"When it is full, nothing new is delivered until the record at the start offset is finished.",
		},
		Next: "Look at the record that holds the start offset: accept or reject it, or wait for its lock to run out.",
	}
	if stuck, head := worst.stuckFor(facts.Now); stuck >= headStuck {
		v.Severity = Critical
		v.Text = fmt.Sprintf("window stuck: %d of %d on %s behind offset %d", used, limit, worst.name(), head.Run.First)
		v.Evidence = append(v.Evidence, fmt.Sprintf("The record at %s has held the start offset for %s, and %d finished records wait behind it.",
			headInWords(head), Duration(stuck), head.Waiting))
	}
	return v
}

func checkHead(facts *ShareGroupFacts, parts []recordFacts) Verdict {
	var worst *recordFacts
	var longest time.Duration
	for i := range parts {
		f := &parts[i]
		if !f.ok || f.window.Finished == 0 {
			continue
		}
		if stuck, _ := f.stuckFor(facts.Now); stuck > longest {
			worst, longest = f, stuck
		}
	}
	if longest < headStuck {
		return Verdict{}
	}
	_, head := worst.stuckFor(facts.Now)
	return Verdict{Code: VerdictShareHeadStuck, Severity: Info,
		Text: fmt.Sprintf("offset %d on %s holds the start offset for %s", head.Run.First, worst.name(), Duration(longest)),
		Evidence: []string{
			fmt.Sprintf("The start offset moves only over finished records; %s, and %d finished records wait behind it.", headInWords(head), head.Waiting),
		},
		Next: "Look at this record and at the member that works on it.",
	}
}

func checkNearLimit(facts *ShareGroupFacts, parts []recordFacts) Verdict {
	limit, ok := facts.Configs.DeliveryLimit().Get()
	if !ok {
		return Verdict{}
	}
	var n int64
	var where []string
	for i := range parts {
		if !parts[i].ok {
			continue
		}
		for _, r := range parts[i].window.NearLimit(limit) {
			n += r.Len()
			if len(where) < 5 {
				where = append(where, fmt.Sprintf("Offset %s on %s: %d deliveries of %d.", span(r.First, r.Last), parts[i].name(), r.Count.Or(0), limit))
			}
		}
	}
	if n == 0 {
		return Verdict{}
	}
	return Verdict{Code: VerdictShareNearLimit, Severity: Warning,
		Text:     fmt.Sprintf("%s one delivery from being archived", Plural(int(n), "record")),
		Evidence: where,
		Next:     "Look at what these records have in common before they are given up on; no client is told when that happens.",
	}
}

func checkArchived(facts *ShareGroupFacts, parts []recordFacts) Verdict {
	since := facts.Now.Add(-recentRecords).UnixMilli()
	reasons := make(map[Likely]int64)
	var n int64
	var where []string
	for i := range parts {
		list := parts[i].Records.History.Archived(facts.Configs.DeliveryLimit())
		for _, a := range slices.Backward(list) {
			if a.Ref.Ms < since {
				continue
			}
			n += a.Last - a.First + 1
			reasons[a.Likely] += a.Last - a.First + 1
			if len(where) < 5 {
				where = append(where, fmt.Sprintf("Offset %s on %s at %s, delivery %d: %s.", span(a.First, a.Last), parts[i].name(),
					ClockOn(a.Ref.Time(), facts.Now), a.Count, a.Likely))
			}
		}
	}
	if n == 0 {
		return Verdict{}
	}
	text := fmt.Sprintf("%s archived in 10 min", Plural(int(n), "record"))
	if l := reasons[LikelyLimit]; l > 0 {
		text += fmt.Sprintf(", %d at the delivery limit", l)
	}
	return Verdict{Code: VerdictShareArchived, Severity: Warning, Text: text,
		Evidence: append(where, "No reason is recorded: it is concluded from the delivery count."),
		Next:     "Open the list of archived records and look at their contents.",
	}
}

// checkLocks looks for records that went back as they do when their locks run out. A client's release looks much the
// same, so this is a likelihood: locks that run out together are written one by one and at once, and a record whose
// last outcome, or whose state as a whole, is younger than the lock was released by a client.
func checkLocks(facts *ShareGroupFacts, parts []recordFacts) Verdict {
	lock, ok := facts.Configs.LockDuration().Get()
	if !ok {
		return Verdict{}
	}
	total := int64(0)
	var where []string
	for i := range parts {
		if n, last := locksRunOut(&parts[i].Records.History, facts.Now.Add(-recentRecords), lock); n > 0 {
			total += n
			where = append(where, fmt.Sprintf("On %s %s, the last at %s.", parts[i].name(), Plural(int(n), "record"), ClockOn(last.Time(), facts.Now)))
		}
	}
	if total == 0 {
		return Verdict{}
	}
	return Verdict{Code: VerdictShareLocksRunOut, Severity: Warning,
		Text: fmt.Sprintf("%s seem to have run out in 10 min", Plural(int(total), "lock")),
		Evidence: append(where, fmt.Sprintf("Records became available again in a burst of single writes, %s or more after the outcome before. "+
			"The state topic does not say whether a client released them.", Duration(lock))),
		Next: "Members take longer than " + ConfigLockDuration + " for a record, or died: make it longer, let them renew, or let them take fewer records at once.",
	}
}

// locksRunOut counts the records whose locks seem to have run out since a time. A lock is one of a run of records that were
// acquired together, and each run is one write.
func locksRunOut(h *ShareHistory, since time.Time, lock time.Duration) (n int64, last WriteRef) {
	const longRun = 4096             // not looked at record by record: no window is that long
	outcome := make(map[int64]int64) // when the last outcome of an offset was written
	var begun Int                    // when the state began: no record was handed out before
	var writes, records int64        // of the burst under way
	var at WriteRef
	flush := func() {
		if writes > 1 {
			n, last = n+records, at
		}
		writes, records = 0, 0
	}
	for i := range h.Len() {
		e := h.Entry(i)
		looks := e.Write.Kind == WriteUpdate && len(e.Write.Batches) == 1 && e.Write.Batches[0].State == StateAvailable
		if looks {
			before, seen := outcome[e.Write.Batches[0].First]
			if !seen {
				before, seen = begun.Get()
			}
			looks = !seen || e.Ref.Ms-before >= lock.Milliseconds()
		}
		if writes > 0 && (!looks || e.Ref.Ms-at.Ms > burst.Milliseconds()) {
			flush()
		}
		if looks && e.Ref.Ms >= since.UnixMilli() {
			writes, records, at = writes+1, records+e.Write.Batches[0].Len(), e.Ref
		}
		if e.Write.Kind == WriteSnapshot && e.Write.Start == StartUnchanged {
			begun = Some(e.Ref.Ms)
		}
		for _, b := range e.Write.Batches {
			for o := b.First; o <= min(b.Last, b.First+longRun); o++ {
				outcome[o] = e.Ref.Ms
			}
		}
	}
	flush()
	return n, last
}

func checkSmallFetches(facts *ShareGroupFacts, parts []recordFacts) Verdict {
	limit, ok := facts.Configs.DeliveryLimit().Get()
	if !ok || !facts.atLeast(4, 3) {
		return Verdict{}
	}
	threshold := max(2, (limit+1)/2)
	var n int64
	for i := range parts {
		if !parts[i].ok {
			continue
		}
		for _, r := range parts[i].window.Runs {
			if r.Reason == ReasonReturned && int64(r.Count.Or(0)) >= threshold {
				n += r.Len()
			}
		}
	}
	if n == 0 {
		return Verdict{}
	}
	return Verdict{Code: VerdictShareSmallFetches, Severity: Info,
		Text: fmt.Sprintf("slower by design: %s near the delivery limit", Plural(int(n), "record")),
		Evidence: []string{
			fmt.Sprintf("From %d deliveries of %d on, Kafka delivers records in small fetches, and on the last attempt alone, so that a bad record does not take others with it.", threshold, limit),
		},
	}
}

func checkPartitionLatest(facts *ShareGroupFacts, parts []recordFacts) Verdict {
	reset, ok := facts.Configs.Find(ConfigShareReset)
	if !ok || reset.Value != "latest" || facts.Version == "" || facts.atLeast(4, 4) {
		return Verdict{}
	}
	started := make(map[string]bool)
	for i := range parts {
		if parts[i].ok {
			started[parts[i].Topic] = true
		}
	}
	var where []string
	for i := range parts {
		f := &parts[i]
		s := f.Records.History.Now()
		if started[f.Topic] && s.Recorded && !f.ok && f.End.Or(0) > f.LogStart.Or(0) {
			where = append(where, fmt.Sprintf("%s has records and no start offset yet, while the group works on other partitions of the topic.", f.name()))
		}
	}
	if len(where) == 0 {
		return Verdict{}
	}
	return Verdict{Code: VerdictSharePartitionLatest, Severity: Warning,
		Text: fmt.Sprintf("%s may skip what was there before", Plural(len(where), "new partition")),
		Evidence: append(where, ConfigShareReset+" is latest: before Kafka 4.4, what is produced to a new partition before the group sees it is not delivered. "+
			"It looks the same while everything of the partition is in its first delivery."),
		Next: "Set " + ConfigShareReset + " to earliest before adding partitions.",
	}
}

func checkStartBack(facts *ShareGroupFacts, parts []recordFacts) Verdict {
	since := facts.Now.Add(-recentRecords).UnixMilli()
	var where []string
	text := ""
	for i := range parts {
		known, begun := int64(-1), WriteRef{}
		parts[i].Records.History.walk(func(_ int, before, after *ShareState, _ []Change) {
			if before.effective >= 0 {
				known, begun = before.effective, before.Reset
			}
			if known < 0 || after.effective < 0 || after.effective >= known || after.Last.Ms < since {
				return
			}
			why := "The offset was reset, or the group's state deleted and made again."
			if after.Reset == begun {
				why = "The state did not begin anew, so this was not a reset."
			}
			text = fmt.Sprintf("start offset of %s went back from %d to %d", parts[i].name(), known, after.effective)
			where = append(where, fmt.Sprintf("%s: from %d to %d at %s. %s", parts[i].name(), known, after.effective, ClockOn(after.Last.Time(), facts.Now), why))
		})
	}
	if len(where) == 0 {
		return Verdict{}
	}
	return Verdict{Code: VerdictShareStartWentBack, Severity: Info, Text: text, Evidence: where,
		Next: "If nobody reset the group on purpose, find out who did: records are delivered again."}
}

// atLeast reports whether the cluster is known to be of a version or newer.
func (f *ShareGroupFacts) atLeast(major, minor int) bool {
	a, b, ok := strings.Cut(strings.TrimSuffix(f.Version, "+"), ".")
	x, err := strconv.Atoi(a)
	y, err2 := strconv.Atoi(b)
	return ok && err == nil && err2 == nil && (x > major || x == major && y >= minor)
}

// span is "7" or "7 to 9".
func span(first, last int64) string {
	if first == last {
		return strconv.FormatInt(first, 10)
	}
	return fmt.Sprintf("%d to %d", first, last)
}
