package kafka

import (
	"fmt"
	"strconv"
	"strings"

	"flightdeck/model"
)

// shareProblem says why there are no share groups to be seen; false when there is no reason to.
func shareProblem(s model.ShareSupport) (model.Problem, bool) {
	switch s {
	case model.ShareOff:
		return model.Problem{
			Scope: model.ScopeShare, Code: model.ProblemShareOff,
			Text: "Share groups are switched off: the feature share.version is at level 0. Switch them on with kafka-features.sh upgrade --feature share.version=1.",
		}, true
	case model.ShareTooOld:
		return model.Problem{
			Scope: model.ScopeShare, Code: model.ProblemShareUnsupported,
			Text: "The brokers do not know share groups. Kafka 4.1 and later has them.",
		}, true
	}
	return model.Problem{}, false
}

// hiddenGroupsProblem tells that the list of groups may have gaps, since brokers say nothing about
// groups that one may not describe.
var hiddenGroupsProblem = model.Problem{
	Scope: model.ScopeCluster, Code: "groups_hidden",
	Text: "Groups that you may not see are left out without a word, so lists and totals may have gaps. Ask for DESCRIBE on the cluster to see all groups.",
}

// hiddenTopicsProblem tells that a group reads topics that one may not see.
func hiddenTopicsProblem(id string) model.Problem {
	return model.Problem{
		Scope: model.ScopeGroup, Name: id, Code: "topics_hidden",
		Text: "Members of group " + id + " read topics that you may not see, so its total lag is too low. Ask for DESCRIBE on all of its topics.",
	}
}

// numbers lists partition numbers, shortened to a few.
func numbers(n []int32) string {
	const most = 8
	var b strings.Builder
	for i, v := range n {
		if i == most {
			fmt.Fprintf(&b, " and %d more", len(n)-most)
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Itoa(int(v)))
	}
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}
