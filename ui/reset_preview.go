package ui

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"

	"flightdeck/model"
	"flightdeck/themes"
	"flightdeck/ui/form"
	"flightdeck/ui/table"
)

// resetPreview is what a reset would do, before anything is done.
type resetPreview struct {
	*sheet[model.ResetRow]
	req  ResetRequest
	plan model.ResetPlan
	// sentences and planned are of the plan, which can have thousands of rows.
	sentences []string
	planned   int
	// group is as it was last looked at; nil until the view has it.
	group *model.Group

	command  string // of Kafka's own tool
	runs     bool   // command is one, and not the reason why there is none
	file     string // the file that command reads
	exported bool   // and it was written
}

// openResetPreview shows a plan.
func (a *App) openResetPreview(r ResetRequest, plan model.ResetPlan, back overlay) {
	p := &resetPreview{req: r, plan: plan, sentences: plan.Sentences(), planned: len(plan.Planned()), file: offsetsFile(plan.Group)}
	p.write(a)
	p.sheet = &sheet[model.ResetRow]{
		title: model.Clean("Move " + plan.Group + " " + plan.Spec.Text(plan.At)),
		text:  p.paragraphs,
		grid:  newSheetGrid(a, resetRowKey, plan.Rows, resetColumns...),
		note:  func(r *model.ResetRow) string { return model.Clean(r.Note()) },
		back:  back,
		keys: []sheetKey{
			{key: "enter", title: "do it", off: p.impossible, dim: func(a *App) bool { return p.block(a) != "" }, do: p.begin},
			{key: "w", title: "wait", off: p.noWait, do: p.askArm},
			{key: "y", title: "command", do: p.copyCommand},
			{key: "e", title: "export", off: p.nothing, do: p.askExport},
		},
	}
	p.grid.blank = []string{"The plan has no partitions.", "The group has no positions on what was asked for. Go back and name topics."}
	a.overlay = p.sheet
}

func resetRowKey(r *model.ResetRow) string { return fmt.Sprintf("%s/%010d", r.Topic, r.Number) }

// write makes the command of Kafka's own tool.
func (p *resetPreview) write(a *App) {
	p.command, p.runs = model.ResetCommand(&p.plan, strings.Split(a.options.Address, ","), p.file)
}

// now is the group as it is known now: from the last look or from the last poll, which is later.
func (p *resetPreview) now(a *App) *model.Group {
	if a.view != nil {
		if g, ok := a.view.Snapshot.Group(p.plan.Group); ok && (p.group == nil || g.Described.After(p.group.Described)) {
			p.group = g
		}
	}
	return p.group
}

// block says why the offsets can not be moved right now; empty when they can.
func (p *resetPreview) block(a *App) string {
	g := p.now(a)
	if g == nil || g.Described.IsZero() {
		return "" // the coordinator decides
	}
	return model.ResetBlock(g)
}

func (p *resetPreview) paragraphs(a *App) []paragraph {
	var ps []paragraph
	for i, s := range p.sentences {
		tok := themes.Text
		if i == 0 {
			tok = themes.Title
		}
		ps = append(ps, paragraph{text: model.Clean(s), tok: tok})
	}
	if why := p.block(a); why != "" && p.plan.Method != model.ResetImpossible {
		ps = append(ps, paragraph{lead: a.theme.Glyphs.Warning + " ", text: model.Clean(why) + " w waits for that.", tok: themes.Warning},
			paragraph{lead: "  ", text: whoIsIn(p.group), tok: themes.Muted})
	}
	tok := themes.Muted
	if !p.runs {
		tok = themes.Faint
	}
	if p.impossible(a) == "" {
		ps = append(ps, paragraph{lead: "$ ", text: model.Clean(p.command), tok: tok})
	}
	return ps
}

// whoIsIn names the members of a group with their hosts.
func whoIsIn(g *model.Group) string {
	const most = 12
	var names []string
	for i := range g.Members {
		if i == most {
			names = append(names, fmt.Sprintf("and %d more", len(g.Members)-most))
			break
		}
		m := &g.Members[i]
		name := model.Clean(cmp.Or(m.ClientID, m.ID))
		if m.Host != "" {
			name += " on " + model.Clean(m.Host)
		}
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// nothing says that the plan changes nothing.
func (p *resetPreview) nothing(*App) string {
	if p.planned == 0 {
		return "Nothing would be set: the notes say why."
	}
	return ""
}

// impossible says why the plan can not be carried out, whoever is in the group.
func (p *resetPreview) impossible(a *App) string {
	if p.plan.Method == model.ResetImpossible {
		return model.Clean(p.plan.Why)
	}
	return p.nothing(a)
}

func (p *resetPreview) noWait(a *App) string {
	if why := p.impossible(a); why != "" {
		return why
	}
	if a.armedFor(p.plan.Group) != nil {
		return "A reset of " + model.Clean(p.plan.Group) + " is armed already; O shows it."
	}
	return ""
}

// begin looks at the group once more, and asks.
func (p *resetPreview) begin(a *App) tea.Cmd {
	w := &running{title: p.title, words: "Asking the coordinator who is in the group.", back: p.sheet}
	job := Job[*model.Group]{Run: func(ctx context.Context) (*model.Group, error) {
		return a.options.Admin.Group(ctx, p.plan.Group, p.plan.Type)
	}}
	return work(a, w, job, func(a *App, g *model.Group, err error) tea.Cmd {
		if err != nil {
			return a.fails(p.plan.Group, err)
		}
		if g.Described.IsZero() {
			g.Described = a.now
		}
		p.group = g
		if why := model.ResetBlock(g); why != "" {
			a.say(model.Warning, why+" w waits for that.")
			return nil
		}
		action := p.plan.Action()
		return a.confirm(p.title, &action, p.sheet, p.apply)
	})
}

func (p *resetPreview) apply(a *App) tea.Cmd {
	w := &running{title: p.title, words: "Moving the offsets.", lasting: true, back: p.sheet}
	return work(a, w, a.options.Admin.ApplyReset(p.plan), func(a *App, out model.ResetOutcome, err error) tea.Cmd {
		if err != nil {
			return a.fails(p.plan.Group, err)
		}
		a.openResetResult(&out)
		return a.acted(p.plan.Group, out.Sentence(), out.Failed())
	})
}

// askArm asks for how long to wait.
func (p *resetPreview) askArm(a *App) tea.Cmd {
	f := form.New(form.Field{ID: "wait", Label: "Give up after", Value: model.Duration(giveUpAfter), Hint: "10m, 2h",
		Help: "The reset is carried out at the moment the group becomes empty, with a plan made anew. It ends with the program.",
		Check: func(s string) string {
			if _, err := model.ParseSpan(strings.TrimSpace(s)); err != nil {
				return err.Error()
			}
			return ""
		}})
	a.overlay = &asker{title: "Wait until " + model.Clean(p.plan.Group) + " is empty", form: f, back: p.sheet, done: func(a *App) tea.Cmd {
		span, err := model.ParseSpan(strings.TrimSpace(f.Value("wait")))
		if err != nil {
			return nil
		}
		action := p.plan.Action()
		action.Impact[0] = "When the group becomes empty within " + model.Duration(span) + ": " + lowerFirst(action.Impact[0])
		return a.confirm("Wait until "+model.Clean(p.plan.Group)+" is empty", &action, p.sheet, func(a *App) tea.Cmd { return a.arm(p.req, p.plan, span) })
	}}
	return nil
}

func lowerFirst(s string) string { return strings.ToLower(s[:1]) + s[1:] }

func (p *resetPreview) copyCommand(a *App) tea.Cmd {
	if why := p.impossible(a); why != "" || !p.runs {
		a.say(model.Info, cmp.Or(why, p.command))
		return nil
	}
	what := "Kafka's command."
	if strings.Contains(p.command, "--from-file") && !p.exported {
		what = "Kafka's command. It reads " + p.file + ": e writes that file."
	}
	return a.copyText(model.Clean(p.command), what)
}

// askExport asks for the file to write the planned offsets to.
func (p *resetPreview) askExport(a *App) tea.Cmd {
	f := form.New(form.Field{ID: "file", Label: "File", Value: p.file, Help: "CSV as Kafka's tool reads it with --from-file: the offsets of THEN. Mode current writes those of NOW.",
		Check: func(s string) string {
			if strings.TrimSpace(s) == "" {
				return "name a file"
			}
			return ""
		}})
	a.overlay = &asker{title: "Write the offsets to a file", form: f, back: p.sheet, done: func(a *App) tea.Cmd {
		path := strings.TrimSpace(f.Value("file"))
		offsets := p.plan.Offsets()
		w := &running{title: "Write the offsets to a file", words: path, back: p.sheet, lasting: true}
		job := Job[struct{}]{Run: func(context.Context) (struct{}, error) { return struct{}{}, writeOffsets(path, offsets) }}
		return work(a, w, job, func(a *App, _ struct{}, err error) tea.Cmd {
			if err != nil {
				return a.fails("", err)
			}
			p.file, p.exported = path, true
			p.write(a)
			a.record(entry{severity: model.OK, kind: kindAction, subject: p.plan.Group, text: "wrote the offsets of " + model.Plural(len(offsets), "partition") + " to " + path + "."})
			return nil
		})
	}}
	return nil
}

// acted notes in Activity what an action led to, and reads the cluster anew.
func (a *App) acted(subject, sentence string, failed int) tea.Cmd {
	severity := model.OK
	if failed > 0 {
		severity = model.Critical
	}
	cmd := a.refresh()
	a.asked = false // the outcome stays in the status line
	a.record(entry{severity: severity, kind: kindAction, subject: subject, text: sentence})
	return cmd
}

// The columns of a plan.
var resetColumns = []table.Column[model.ResetRow]{
	{ID: "topic", Title: "TOPIC", Min: 8, Fair: 16, Max: 60, Weight: 1, Priority: 90,
		Cell: func(r *model.ResetRow) (string, themes.Token) { return model.Clean(r.Topic), themes.Text }},
	{ID: "partition", Title: "P", Min: 3, Priority: 100, Right: true,
		Cell: func(r *model.ResetRow) (string, themes.Token) { return strconv.Itoa(int(r.Number)), themes.Text }},
	{ID: "now", Title: "NOW", Min: 9, Priority: 97, Right: true,
		Cell: func(r *model.ResetRow) (string, themes.Token) { return offsetCell(r.Now) }},
	{ID: "then", Title: "THEN", Min: 9, Priority: 98, Right: true,
		Cell: func(r *model.ResetRow) (string, themes.Token) {
			then, ok := r.Then.Get()
			switch {
			case r.Clear:
				return "removed", themes.Warning
			case !ok:
				return "as it is", themes.Faint
			}
			return model.Count(then), themes.Title
		}},
	{ID: "difference", Title: "DIFF", Min: 8, Priority: 96, Right: true,
		Cell: func(r *model.ResetRow) (string, themes.Token) {
			d, ok := r.Difference().Get()
			switch {
			case !ok:
				return model.Unknown, themes.Faint
			case d < 0:
				return model.Count(d), themes.Info
			case d > 0:
				return "+" + model.Count(d), themes.Warning
			}
			return "0", themes.Faint
		}},
	{ID: "start", Title: "LOG START", Min: 9, Priority: 40, Right: true,
		Cell: func(r *model.ResetRow) (string, themes.Token) { return offsetCell(r.Start) }},
	{ID: "end", Title: "LOG END", Min: 9, Priority: 50, Right: true,
		Cell: func(r *model.ResetRow) (string, themes.Token) { return offsetCell(r.End) }},
	{ID: "note", Title: "NOTE", Min: 12, Weight: 3, Priority: 30,
		Cell: func(r *model.ResetRow) (string, themes.Token) { return model.Clean(r.Note()), themes.Muted }},
}

// arm leaves a plan to be carried out once its group is empty.
func (a *App) arm(r ResetRequest, plan model.ResetPlan, giveUp time.Duration) tea.Cmd {
	w := &running{title: "Wait until " + model.Clean(plan.Group) + " is empty", words: "Arming the reset.", lasting: true}
	job := Job[Armed]{Run: func(context.Context) (Armed, error) { return a.options.Admin.ArmReset(r, plan, giveUp) }}
	return work(a, w, job, func(a *App, armed Armed, err error) tea.Cmd {
		if err != nil {
			return a.fails(plan.Group, err)
		}
		x := &armedReset{armed: armed, state: model.ArmedState{Plan: plan, Since: a.now, GiveUpAt: a.now.Add(giveUp)}}
		a.armed = append(a.armed, x)
		a.record(entry{severity: model.Warning, kind: kindAction, subject: plan.Group, text: "armed: the offsets are moved when it becomes empty. O shows it."})
		return x.wait(a)
	})
}
