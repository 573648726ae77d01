package ui

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"flightdeck/model"
)

// planner runs an App with a fake admin in the fake time of a bubble.
func planner(t *testing.T, o Options, test func(*live, *fakeAdmin)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s, _ := fixture()
		f := &fakeAdmin{snapshot: s, version: "4.3"}
		o.Source, o.Admin, o.Address, o.Interval = &fakeSource{snapshots: []*model.Snapshot{s}}, f, "kafka-1:9092", time.Hour
		l := newLive(t, o)
		l.run(2 * time.Second)
		test(l, f)
	})
}

// keys types keys and lets what each of them starts come to rest.
func (l *live) keys(keys string) {
	for k := range strings.FieldsSeq(keys) {
		l.press(k)
		l.run(time.Second)
	}
}

// reads fails unless the screen contains the texts, however their lines are broken.
func (l *live) reads(texts ...string) {
	l.t.Helper()
	words := strings.Join(strings.Fields(strings.ReplaceAll(strings.Join(l.frame(), " "), "│", " ")), " ")
	for _, text := range texts {
		if !strings.Contains(words, text) {
			l.t.Errorf("the screen does not say %q:\n%s", text, strings.Join(l.frame(), "\n"))
		}
	}
}

// write types a text into a field.
func (l *live) write(s string) {
	l.text(s)
	l.start(l.last)
	l.run(10 * time.Millisecond)
}

func (l *live) fits() {
	l.t.Helper()
	for _, w := range []int{30, 60, 80, 120} {
		for _, h := range []int{8, 10, 20, 24, 40} {
			l.size(w, h)
			checkBox(l.t, l.rig, w, h)
		}
	}
	l.size(120, 40)
}

func TestResetIsPlannedConfirmedAndReadBack(t *testing.T) {
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		l.keys("o") // billing is empty, and first
		l.reads("Move the offsets of billing", "earliest")
		l.fits()
		l.keys("s down") // shift
		l.write("-100")
		l.reads("Moves them back by 100")
		l.keys("enter")
		l.reads("billing will read 100 records again and skip 0, on 1 partition.", "70,000", "69,900", "-100",
			"kafka-consumer-groups.sh --bootstrap-server kafka-1:9092 --group billing --reset-offsets --shift-by -100 --topic payments --execute")
		l.fits()
		l.press("enter")
		l.run(50 * time.Millisecond)
		l.reads("Type billing to go on")
		l.write("billing") // typed before it could be read
		l.keys("enter")
		if len(f.applied) != 0 {
			t.Fatal("what was typed within the grace counts as consent")
		}
		l.fits()
		l.write("billings")
		l.keys("enter")
		if len(f.applied) != 0 {
			t.Fatal("another name counts as consent")
		}
		l.keys("backspace enter")
		if len(f.applied) != 1 {
			t.Fatalf("applied %d times after the name was typed", len(f.applied))
		}
		l.reads("The offsets of billing are set on 1 partition.", "Read back: 69,900.", "/state/saved.json", "U undo")
		l.fits()
		f.undone = &model.ResetSpec{Mode: model.ResetFile, File: "the file saved at noon", Offsets: []model.GroupOffset{{Topic: "payments", Offset: model.Some(int64(70_010))}}}
		l.keys("U")
		l.reads("Move billing to what the file saved at noon says", "70,010", "billing will read 0 records again and skip 10")
		l.keys("esc 5")
		l.reads("The offsets of billing are set on 1 partition.") // in Activity
	})
}

func TestResetOfAGroupInUseSaysWhoAndWaits(t *testing.T) {
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		l.keys("/")
		l.write("invoices")
		l.keys("enter o enter")
		l.reads("invoices is Stable with 2 members", "invoices-0 on 10.0.3.21, invoices-1 on 10.0.3.22")
		l.fits()
		l.keys("enter")
		l.misses("Type invoices")
		l.keys("w")
		l.reads("Give up after")
		l.fits()
		l.keys("enter")
		l.reads("When the group becomes empty within 10m: move the offsets of invoices to the log start.")
		l.write("invoices")
		l.keys("enter")
		l.reads("ARMED invoices")
		l.keys("4")
		l.reads("ARMED invoices") // on every screen
		l.keys("O")
		l.reads("The offsets of invoices are moved when it becomes empty; 2 members left", "In the group: invoices-0")
		l.fits()
		l.run(time.Minute)
		l.reads("for 8m5")
		l.keys("esc 1 o") // the armed one, and not a second
		l.reads("Armed: invoices")
		l.keys("esc")

		out := f.outcome(f.armed.first.Plan)
		done := f.armed.first
		done.Phase, done.Outcome = model.ArmedDone, &out
		f.armed.end(done)
		l.run(time.Second)
		l.misses("ARMED")
		l.reads("The offsets of invoices are set on 4 partitions.")
		if len(f.applied) != 0 {
			t.Error("the terminal applied an armed reset itself")
		}
	})
}

func TestArmedResetIsCancelled(t *testing.T) {
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		l.keys("2 j o enter w enter")
		l.write("order-workers")
		l.keys("enter O")
		l.reads("ARMED order-workers")
		l.keys("esc q")
		l.reads("Quitting ends the waiting, and nothing is moved.")
		l.fits()
		l.keys("esc O x")
		l.misses("ARMED")
		l.reads("The reset of order-workers was disarmed: nothing was changed.")
	})
}

func TestFailedPartitionsAreListedAndRetriedAlone(t *testing.T) {
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		g, _ := f.snapshot.Group("invoices")
		g.Members, g.State = nil, "Empty"
		f.refused = map[topicPartition]string{{"invoices", 2}: "You lack READ on topic invoices."}
		l.keys("/")
		l.write("invoices")
		l.keys("enter o b down") // back
		l.write("2h30m")
		l.keys("enter")
		// The fake finds nothing by time, so everything is left as it is.
		l.reads("the leader did not say")
		l.keys("enter")
		l.reads("Nothing would be set: the notes say why.")
		l.keys("esc up e enter enter")
		l.write("invoices")
		l.keys("enter")
		l.reads("are set on 3 partitions, and not on 1 partition.", "failed", "You lack READ on topic invoices.")
		l.fits()
		l.keys("r")
		last := f.asked[len(f.asked)-1]
		if got := topicsText(last.Scope); got != "invoices:2" {
			t.Errorf("what failed is asked for as %q", got)
		}
	})
}

func TestARelativeMomentStaysOnRetry(t *testing.T) {
	out := &model.ResetOutcome{Plan: model.PlanReset(model.ResetSpec{Mode: model.ResetBack, Back: time.Hour}, model.ResetInput{Group: "g", Type: model.TypeClassic, At: noon,
		Partitions: []model.ResetPartition{{Topic: "t", Now: model.Some(int64(1)), Start: model.Some(int64(0)), End: model.Some(int64(9)), Found: model.Some(int64(5))}}})}
	out.Results = []model.ActionResult{{Topic: "t", Code: "x"}}
	r := retryOf(out)
	if r.Spec.Mode != model.ResetTime || !r.Spec.Time.Equal(noon.Add(-time.Hour)) || topicsText(r.Scope) != "t:0" {
		t.Errorf("retry asks for %s of %q", r.Spec.Text(noon.Add(time.Minute)), topicsText(r.Scope))
	}
}

func TestShareResetOnOldBrokersOffersWhatWorks(t *testing.T) {
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		f.version = "4.1"
		g, _ := f.snapshot.Group("order-workers")
		g.Members, g.State = nil, "Empty"
		l.keys("2 j o enter")
		l.reads("This Kafka cannot set start offsets of share groups: share.auto.offset.reset=earliest is set for the group and its offsets are", "kafka-configs.sh")
		l.keys("esc o down") // the form is there again: to an offset
		l.write("5")
		l.keys("enter")
		l.reads("Kafka 4.1 cannot set start offsets of share groups. It can start a topic over")
		l.keys("enter")
		l.misses("Type order-workers")
	})
}

func TestMarkedPartitionsAreTheScope(t *testing.T) {
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		l.keys("/")
		l.write("invoices")
		l.keys("enter enter m m o")
		l.reads("invoices:")
		l.keys("enter")
		if n := len(f.asked[0].Scope); n != 1 || len(f.asked[0].Scope[0].Partitions) != 2 {
			t.Errorf("2 marked partitions are asked for as %+v", f.asked[0].Scope)
		}
	})
}

func TestParseTopics(t *testing.T) {
	for text, want := range map[string]string{"": "", " orders  payments:0,2 ": "orders payments:0,2", "orders:x": `"x" is not a partition`, "orders:-1": `"-1" is not a partition`} {
		ts, err := parseTopics(text)
		got := topicsText(ts)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

func TestOffsetsGoToAFileAndBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "offsets.csv")
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		l.keys("o enter e")
		l.reads("File", "billing-offsets.csv")
		l.keys("ctrl+u")
		l.write(path)
		l.keys("enter")
		if text, err := os.ReadFile(path); err != nil || string(text) != "payments,0,0\n" {
			t.Errorf("the file is %q (%v)", text, err)
		}
		l.keys("e enter") // it is not written over
		l.reads("exists, and is not written over")
		l.keys("esc esc esc o f down")
		l.write(path)
		l.keys("enter")
		l.reads("billing to what", "70,000", "-70,000")
	})
}

func TestDeleteOfAGroup(t *testing.T) {
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		l.keys("D")
		l.reads("Delete of billing")
		l.fits()
		l.keys("enter")
		l.reads("This deletes the group billing: 1 position.", "3,211")
		l.fits()
		l.keys("enter")
		l.write("billing")
		l.keys("enter")
		l.reads("Group billing is deleted.", "read back as gone")
		if len(f.deleted) != 1 || f.deleted[0].Scope.Topic != "" {
			t.Fatalf("deleted %+v", f.deleted)
		}
		l.keys("esc j D enter") // order-service has members
		l.reads("order-service is Stable with 3 members; only an empty group can be deleted.")
		l.keys("enter")
		l.misses("Type order-service")
	})
}

func TestSettingsAreShownAndChanged(t *testing.T) {
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		l.keys(":")
		l.write("settings of a group by")
		l.keys("enter")
		l.write("not-there")
		l.keys("enter")
		l.reads("There is no group not-there yet.", "share.auto.offset.reset", "latest", "default", "15,000 to 60,000", "Where the group begins")
		l.fits()
		l.keys("u")
		l.reads("share.auto.offset.reset is not set for this group.")
		l.keys("enter ctrl+u")
		l.write("sometimes")
		l.keys("enter")
		if len(f.altered) != 0 {
			t.Fatal("a wrong value was sent")
		}
		l.keys("ctrl+u")
		l.write("earliest")
		f.against = errors.New("the broker would not take it")
		l.keys("enter")
		l.reads("the broker would not take it")
		f.against = nil
		l.keys("enter")
		l.reads("share.auto.offset.reset goes from latest (default) to earliest.")
		l.fits()
		l.keys("y")
		l.reads("share.auto.offset.reset is earliest, read back.")
		if len(f.altered) != 1 || f.altered[0].Group != "not-there" {
			t.Fatalf("altered %+v", f.altered)
		}
		l.keys("esc esc 1 g")
		l.reads("Classic groups have no settings on the brokers.")
	})
}

func TestChangesAreGreyedWithAReason(t *testing.T) {
	planner(t, Options{ReadOnly: true}, func(l *live, f *fakeAdmin) {
		for _, k := range []string{"o", "D", "U"} {
			l.keys(k)
			l.reads("read-only mode: nothing on the cluster can be changed")
		}
		l.keys("2 g enter")
		l.reads("Read-only mode: nothing on the cluster can be changed.")
	})
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		for i := range f.snapshot.Groups {
			f.snapshot.Groups[i].Operations = model.Some(model.OpDescribe)
		}
		l.keys("ctrl+r o")
		l.reads("you lack the right READ")
		l.keys("D")
		l.reads("you lack the right DELETE")
	})
}

func TestAPlanCanBeGivenUp(t *testing.T) {
	planner(t, Options{}, func(l *live, f *fakeAdmin) {
		slow := &slowAdmin{fakeAdmin: f}
		l.options.Admin = slow
		l.keys("o enter")
		l.reads("Reading the positions", "logs 1 of 2")
		l.fits()
		l.keys("esc")
		l.reads("Move the offsets of billing")
		l.run(time.Minute)
		if l.misses("will read"); !slow.ended {
			t.Error("the job goes on after it was given up")
		}
	})
}
