package model

import "time"

const (
	// ratePoints is how many changes of a counter its rate is taken from.
	ratePoints = 5
	// pointSpacing is how far apart in time those are kept at least, so that fast polling
	// does not shrink what the rate is taken over.
	pointSpacing = 2500 * time.Millisecond
	// quietMin is how long a counter must not move before its rate is 0. It is longer than the 5 s
	// between two automatic commits.
	quietMin = 15 * time.Second
	// longPause is the longest pause that may be the usual interval of a slow committer. After a longer one
	// the rate is taken anew.
	longPause = 90 * time.Second
	// staleAfter is the age from which a reading says nothing about the present.
	staleAfter = time.Minute
)

// progress follows a counter that only grows: a position or a log end offset. It keeps the moments
// at which the counter was first seen at a new value, since commits come in steps: a rate from one step to
// another is right, one over any other window depends on how many steps it happens to catch.
//
// There is one for each partition of each group, so it is kept at 96 bytes.
type progress struct {
	value [ratePoints]int64
	// at are moments, and read is the last one at which the counter was read, in nanoseconds since 1970.
	at   [ratePoints]int64
	read int64
	n    uint8
	// partial means that point 0 is not a step: the counter had that value for an unknown time already.
	partial bool
}

// observe adds a reading. One that is not newer than the last is ignored. A counter that went back
// starts anew, without a rate.
func (p *progress) observe(value, at int64) {
	switch {
	case p.n == 0:
		p.restart(value, at)
		return
	case at <= p.read:
		return
	}
	last := int(p.n) - 1
	switch {
	case value < p.value[last]:
		p.restart(value, at)
		return
	case value > p.value[last]:
		if p.read-p.at[last] > max(p.patience(3), int64(longPause)) {
			// It stood still and moves again: what was before says nothing about now.
			p.restart(p.value[last], p.read)
			last = 0
		}
		p.step(last, value, at)
	}
	p.read = at
}

func (p *progress) restart(value, at int64) {
	*p = progress{read: at, n: 1, partial: true}
	p.value[0], p.at[0] = value, at
}

func (p *progress) step(last int, value, at int64) {
	switch {
	case last > 0 && p.at[last]-p.at[last-1] < int64(pointSpacing):
		// Too near to its predecessor to be kept: the new point takes its place.
	case last == ratePoints-1:
		copy(p.value[:], p.value[1:])
		copy(p.at[:], p.at[1:])
		p.partial = false
	default:
		last++
		p.n++
	}
	p.value[last], p.at[last] = value, at
}

// first is the first point that a rate can be taken from.
func (p *progress) first() int {
	if p.partial && p.n > 2 {
		return 1
	}
	return 0
}

// patience is how long the counter may stand still before that means anything: so many times its
// usual interval, [quietMin] at least.
func (p *progress) patience(times int64) int64 {
	last, first := int(p.n)-1, p.first()
	if last <= first {
		return int64(quietMin)
	}
	return max(int64(quietMin), times*(p.at[last]-p.at[first])/int64(last-first))
}

// rate is the speed of the counter per second as of now; unknown before two readings and when the last is too
// old to say.
func (p *progress) rate(now int64) Opt[float64] {
	if p.n == 0 || p.read == p.at[0] || now-p.read > int64(staleAfter) {
		return None[float64]()
	}
	last, first := int(p.n)-1, p.first()
	quiet := p.read - p.at[last]
	if last == 0 || quiet > p.patience(3) {
		return Some(0.0)
	}
	span := p.at[last] - p.at[first]
	// The first step after an unknown time, or a step that is overdue: count the time since then too.
	if p.partial && first == 0 || quiet > 3*span/(2*int64(last-first)) {
		span = p.read - p.at[first]
	}
	return Some(float64(p.value[last]-p.value[first]) / (float64(span) / float64(time.Second)))
}

// moved is when the counter last moved; zero when that was before the first reading.
func (p *progress) moved() int64 {
	if p.n == 0 || p.n == 1 && p.partial {
		return 0
	}
	return p.at[p.n-1]
}

// series keeps the last [TrendLen] values and hands them out as slices that are never written again.
type series struct{ values []Int }

func (s *series) add(v Int) {
	if len(s.values) == cap(s.values) && len(s.values) >= TrendLen {
		// A third more than is kept, so that the copy is made once in a while and not every time.
		values := make([]Int, TrendLen-1, TrendLen+TrendLen/3)
		copy(values, s.values[len(s.values)-(TrendLen-1):])
		s.values = values
	}
	s.values = append(s.values, v)
}

func (s *series) window() []Int {
	n := len(s.values)
	return s.values[max(0, n-TrendLen):n:n]
}

// topicProgress follows the log end offsets of a topic, by partition number.
type topicProgress struct {
	id    TopicID
	ends  []progress
	round uint64
}

func (t *topicProgress) observe(topic *Topic) {
	if topic.ID != t.id {
		t.id, t.ends = topic.ID, nil
	}
	for i := range topic.Partitions {
		p := &topic.Partitions[i]
		end, known := p.End.Get()
		if !known || p.At.IsZero() || p.Number < 0 {
			continue
		}
		if n := int(p.Number) + 1; n > len(t.ends) {
			t.ends = append(t.ends, make([]progress, max(n, len(topic.Partitions))-len(t.ends))...)
		}
		t.ends[p.Number].observe(end, p.At.UnixNano())
	}
}

// produced is the rate of the whole topic, of the partitions for which it is known.
func (t *topicProgress) produced(now int64) (sum Opt[float64]) {
	for i := range t.ends {
		sum = addRate(sum, t.ends[i].rate(now))
	}
	return sum
}

// producedOn is the rate of one partition.
func (t *topicProgress) producedOn(partition int32, now int64) Opt[float64] {
	if t == nil || partition < 0 || int(partition) >= len(t.ends) {
		return None[float64]()
	}
	return t.ends[partition].rate(now)
}

func addRate(sum, rate Opt[float64]) Opt[float64] {
	if v, known := rate.Get(); known {
		return Some(sum.Or(0) + v)
	}
	return sum
}

// maxETA is the longest time to 0 that is worth a number.
const maxETA = 30 * 24 * time.Hour

// eta is how long lag takes to reach 0 at the given rates, in whole seconds and 1 s at least. Unknown when
// anything is, when there is no lag, and when it does not shrink.
func eta(lag Int, consumed, produced Opt[float64]) Opt[time.Duration] {
	n, ok1 := lag.Get()
	c, ok2 := consumed.Get()
	p, ok3 := produced.Get()
	if !ok1 || !ok2 || !ok3 || n <= 0 || c <= p {
		return None[time.Duration]()
	}
	seconds := float64(n) / (c - p)
	if seconds > maxETA.Seconds() {
		return None[time.Duration]()
	}
	return Some(max(time.Second, time.Duration(seconds*float64(time.Second)).Round(time.Second)))
}
