package output

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"flightdeck/model"
	"flightdeck/ui/text"
)

// column of a plain table.
type column struct {
	title string
	right bool
}

var groupColumns = []column{
	{"GROUP", false}, {"TYPE", false}, {"STATE", false}, {"MEMBERS", true}, {"TOPICS", true},
	{"LAG", true}, {"RATE", true}, {"VERDICT", false},
}

var shareColumns = []column{
	{"SHARE GROUP", false}, {"STATE", false}, {"MEMBERS", true}, {"TOPICS", true}, {"LAG", true}, {"VERDICT", false},
}

// Table writes the view as plain text for people: consumer groups, then share groups. Lag that leaves
// unknown partitions out begins with ">=", as on screen.
func Table(w io.Writer, v *model.View) error {
	out := bufio.NewWriter(w)
	s := v.Snapshot
	groups := make([][]string, 0, len(s.Groups))
	for i := range s.Groups {
		g := &s.Groups[i]
		groups = append(groups, []string{
			g.ID, g.Type.String(), stateOrUnknown(g.State), members(g), strconv.Itoa(g.Topics()),
			lag(g), rate(v.Insights[g.ID]), verdictText(v.Insights[g.ID]),
		})
	}
	shares := make([][]string, 0, len(s.ShareGroups))
	for i := range s.ShareGroups {
		g := &s.ShareGroups[i]
		shares = append(shares, []string{
			g.ID, stateOrUnknown(g.State), members(g), strconv.Itoa(g.Topics()), lag(g), verdictText(v.Insights[g.ID]),
		})
	}
	if len(groups) == 0 && len(shares) == 0 {
		fmt.Fprintln(out, "no groups")
	}
	writeTable(out, groupColumns, groups)
	if len(groups) > 0 && len(shares) > 0 {
		fmt.Fprintln(out)
	}
	writeTable(out, shareColumns, shares)
	return out.Flush()
}

func members(g *model.Group) string {
	if g.Described.IsZero() {
		return model.Unknown
	}
	return strconv.Itoa(len(g.Members))
}

func lag(g *model.Group) string {
	sum, partial := g.Lag()
	cell := sum.Text(model.Count)
	if partial && sum.Known() {
		cell = ">=" + cell
	}
	return cell
}

func rate(in *model.Insight) string {
	if in == nil {
		return model.Unknown
	}
	return in.Consumed.Text(model.Rate)
}

func verdictText(in *model.Insight) string {
	if in == nil {
		return model.Unknown
	}
	return in.Verdict().Text
}

// writeTable aligns the columns to their widest cell. Nothing is written without rows.
func writeTable(w io.Writer, columns []column, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	widths := make([]int, len(columns))
	for i, c := range columns {
		widths[i] = text.Width(c.title)
	}
	for _, row := range rows {
		for i := range row {
			row[i] = model.Clean(row[i])
			widths[i] = max(widths[i], text.Width(row[i]))
		}
	}
	titles := make([]string, len(columns))
	for i, c := range columns {
		titles[i] = c.title
	}
	for _, row := range append([][]string{titles}, rows...) {
		line := make([]string, len(row))
		for i, cell := range row {
			if columns[i].right {
				line[i] = text.PadLeft(cell, widths[i], "")
			} else {
				line[i] = text.PadRight(cell, widths[i], "")
			}
		}
		fmt.Fprintln(w, strings.TrimRight(strings.Join(line, "  "), " "))
	}
}
