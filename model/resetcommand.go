package model

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ResetCommand is the command line of Kafka's own tool that does the same as the plan, for copying. ok is false when the
// tool of the cluster's version cannot do it, and text then says so. A plan that needs a file names
// csv, which has to hold [OffsetsCSV] of [ResetPlan.Offsets].
func ResetCommand(p *ResetPlan, bootstrap []string, csv string) (text string, ok bool) {
	tool, options := "kafka-consumer-groups.sh", p.consumerOptions(csv)
	if p.Type == TypeShare {
		tool, options = "kafka-share-groups.sh", p.shareOptions(csv)
	}
	switch {
	case p.Method == ResetImpossible && p.Type == TypeStreams:
		return p.Why, false
	case p.Method == ResetByPolicy:
		return p.policyCommands(bootstrap), true
	case options == nil || p.Method == ResetImpossible:
		return "Kafka's own tool cannot do this on this version.", false
	}
	planned := p.Planned()
	for i := range planned {
		if planned[i].Clear {
			return "Kafka's own tool cannot set some offsets and remove others at once.", false
		}
	}
	words := append([]string{tool, "--bootstrap-server", strings.Join(bootstrap, ","), "--group", p.Group, "--reset-offsets"}, options...)
	if options[0] != "--from-file" {
		words = append(words, p.scope(planned)...)
	}
	return shellLine(append(words, "--execute")), true
}

// consumerOptions are the options for the mode of a plan for a consumer group; nil when there are none. What the tool has no mode
// for goes through a file.
func (p *ResetPlan) consumerOptions(csv string) []string {
	switch p.Spec.Mode {
	case ResetShift:
		return []string{"--shift-by", strconv.FormatInt(p.Spec.Offset, 10)}
	case ResetBack:
		return []string{"--by-duration", ISODuration(p.Spec.Back)}
	case ResetCurrent:
		return []string{"--to-current"}
	case ResetOffset:
		return []string{"--to-offset", strconv.FormatInt(p.Spec.Offset, 10)}
	case ResetGroup, ResetFile:
		return []string{"--from-file", csv}
	}
	return p.commonOptions()
}

// shareOptions are the options for a share group. Up to 4.3 the tool has three modes; the offsets that other
// modes find go through a file, which it reads from 4.4 on.
func (p *ResetPlan) shareOptions(csv string) []string {
	if options := p.commonOptions(); options != nil {
		return options
	}
	if versionBefore(p.Version, 4, 4) {
		return nil
	}
	if p.Spec.Mode == ResetOffset {
		return []string{"--to-offset", strconv.FormatInt(p.Spec.Offset, 10)}
	}
	return []string{"--from-file", csv}
}

// commonOptions are those for the modes that both tools have.
func (p *ResetPlan) commonOptions() []string {
	switch p.Spec.Mode {
	case ResetEarliest:
		return []string{"--to-earliest"}
	case ResetLatest:
		return []string{"--to-latest"}
	case ResetTime, ResetBack:
		ms, _ := p.Spec.Timestamp(p.At)
		return []string{"--to-datetime", UTC(time.UnixMilli(ms))}
	}
	return nil
}

// scope names the topics and partitions of planned rows, which are sorted.
func (p *ResetPlan) scope(planned []ResetRow) []string {
	var words []string
	for i := 0; i < len(planned); {
		topic := planned[i].Topic
		var numbers []string
		for ; i < len(planned) && planned[i].Topic == topic; i++ {
			numbers = append(numbers, strconv.Itoa(int(planned[i].Number)))
		}
		if !p.whole[topic] {
			topic += ":" + strings.Join(numbers, ",")
		}
		words = append(words, "--topic", topic)
	}
	return words
}

// policyCommands are the two commands of [ResetByPolicy].
func (p *ResetPlan) policyCommands(bootstrap []string) string {
	servers := strings.Join(bootstrap, ",")
	// Brackets keep the colon of by_duration and commas together.
	config := fmt.Sprintf("%s=%s", ConfigShareReset, p.Policy())
	first := shellLine([]string{"kafka-configs.sh", "--bootstrap-server", servers, "--entity-type", "groups", "--entity-name", p.Group, "--alter", "--add-config", config})
	words := []string{"kafka-share-groups.sh", "--bootstrap-server", servers, "--group", p.Group, "--delete-offsets"}
	return first + " && \\\n" + shellLine(append(words, p.scope(p.Planned())...))
}

// shellLine quotes words for a POSIX shell.
func shellLine(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = shellWord(w)
	}
	return strings.Join(quoted, " ")
}

func shellWord(w string) string {
	plain := w != ""
	for _, c := range w {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.ContainsRune("-_./:,=+@%", c):
		default:
			plain = false
		}
	}
	if plain {
		return w
	}
	return "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
}
