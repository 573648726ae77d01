// Flightdeck is a terminal dashboard for Apache Kafka: consumer groups and share groups, live.
//
// This package is the wiring alone: flags, the terminal program, the one-shot output, the demo. What
// is shown is decided in package ui, what is true in package model, what is asked of brokers in
// package kafka.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/term"

	"flightdeck/kafka"
	"flightdeck/kafka/demo"
	"flightdeck/model"
	"flightdeck/ui"
	"flightdeck/ui/output"
)

// version is set by the linker in releases (-ldflags "-X main.version=v1.2.3").
var version string

// Exit codes. A signal n ends with 128 + n, as a shell would report it.
const (
	exitOK    = 0
	exitKafka = 1
	exitUsage = 2
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, os.LookupEnv)) }

// run is main with its surroundings as arguments. It returns the exit code.
func run(args []string, stdin, stdout, stderr *os.File, lookupEnv func(string) (string, bool)) int {
	o, err := parseOptions(args, lookupEnv)
	switch {
	case err != nil:
		fmt.Fprintf(stderr, "flightdeck: %v\n", err)
		return exitUsage
	case o.help:
		fmt.Fprint(stdout, usage())
		return exitOK
	case o.version:
		fmt.Fprintln(stdout, "flightdeck", buildVersion())
		return exitOK
	}

	log, closeLog, err := openLog(o.logFile)
	if err != nil {
		fmt.Fprintf(stderr, "flightdeck: %v\n", err)
		return exitUsage
	}
	defer closeLog()
	cfg, notices, err := o.config(log)
	if err != nil {
		fmt.Fprintf(stderr, "flightdeck: %v\n", err)
		return exitUsage
	}
	for _, n := range notices {
		log.Warn(n)
	}

	ctx, stop := withSignals(context.Background())
	defer stop()
	err = start(ctx, o, cfg, notices, stdin, stdout, stderr, lookupEnv)
	if sig, ok := signalOf(ctx); ok {
		return 128 + int(sig)
	}
	if err != nil {
		fmt.Fprintf(stderr, "flightdeck: %v\n", err)
		return exitKafka
	}
	return exitOK
}

// start connects and shows the cluster on the terminal or as one-shot output, until the person quits
// or ctx ends.
func start(ctx context.Context, o options, cfg kafka.Config, notices []string, stdin, stdout, stderr *os.File,
	lookupEnv func(string) (string, bool)) error {
	if o.demo {
		cluster, err := demo.Start(ctx, demo.Options{Seed: o.demoSeed})
		if err != nil {
			return fmt.Errorf("the demo cluster did not start: %w", err)
		}
		defer cluster.Close()
		cfg.Bootstrap = cluster.Bootstrap()
	}
	conn := kafka.Connect(cfg)
	defer conn.Close()
	source := kafka.NewSource(conn)
	defer source.Close()
	follower := kafka.NewFollower(conn, kafka.FollowOptions{})
	defer follower.Close()
	reader := kafka.NewReader(conn)
	defer reader.Close()
	redrives := kafka.NewRedriver(conn)
	defer redrives.Close()
	admin := kafka.NewAdmin(conn, "")
	defer admin.Close()

	termName, _ := lookupEnv("TERM")
	if o.output != "" || o.watch || !term.IsTerminal(stdout.Fd()) || termName == "dumb" {
		for _, n := range notices {
			fmt.Fprintf(stderr, "flightdeck: %s\n", n)
		}
		if !o.watch {
			// One poll is over before it would pay to collect what it leaves behind; the limit is for clusters of
			// another size.
			debug.SetGCPercent(-1)
			debug.SetMemoryLimit(min(debug.SetMemoryLimit(-1), 1<<30))
		}
		return printer{source: source, records: records{conn, reader}, explain: conn.Explain, options: o, stdout: stdout, stderr: stderr}.run(ctx)
	}
	noAudit := false
	if cfg.Audit != nil && !o.readOnly {
		if err := cfg.Audit.Check(); err != nil {
			noAudit = true
			notices = append(notices, fmt.Sprintf("Actions will be refused, since they cannot be written down first: %v.", err))
		}
	}
	return runTerminal(ctx, ui.New(ctx, ui.Options{
		Source:     source,
		Follower:   follower,
		Reader:     reader,
		Admin:      groupAdmin{admin},
		Take:       taker(conn),
		Produce:    producer(conn),
		Redriver:   redriver{redrives},
		Explain:    conn.Explain,
		Address:    strings.Join(cfg.Bootstrap, ","),
		Version:    buildVersion(),
		Interval:   o.interval,
		OnlyGroups: o.groups,
		Theme:      o.theme,
		ASCII:      o.ascii,
		LookupEnv:  lookupEnv,
		ReadOnly:   o.readOnly,
		Demo:       o.demo,
		LogFile:    o.logFile,
		AuditLog:   auditLog(cfg.Audit),
		NoAudit:    noAudit,
		Notices:    notices,
	}), stdin, stdout)
}

// runTerminal runs the Bubble Tea program until it quits or ctx ends.
func runTerminal(ctx context.Context, app tea.Model, stdin, stdout *os.File) error {
	// Our own signal handling knows SIGHUP too, which is how a dropped SSH session ends.
	p := tea.NewProgram(app, tea.WithInput(stdin), tea.WithOutput(stdout), tea.WithoutSignalHandler())
	defer context.AfterFunc(ctx, func() {
		// Quit waits for the event loop; a loop that is stuck in a write to a dead terminal never takes it.
		killed := time.AfterFunc(2*time.Second, p.Kill)
		defer killed.Stop()
		p.Quit()
	})()
	if _, err := p.Run(); err != nil && ctx.Err() == nil {
		return err
	}
	return nil
}

// openLog opens the log file, or a log that keeps nothing.
func openLog(path string) (*slog.Logger, func(), error) {
	if path == "" {
		return slog.New(slog.DiscardHandler), func() {}, nil
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("the log file can not be written: %w", err)
	}
	return slog.New(slog.NewTextHandler(f, nil)), func() { _ = f.Close() }, nil
}

// signalError is the cause of a context that a signal ended.
type signalError struct{ syscall.Signal }

func (e signalError) Error() string { return "ended by " + e.Signal.String() }

// withSignals returns a context that ends at the first signal that asks the program to end. A second one
// ends the process at once.
func withSignals(parent context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(signalError{s.(syscall.Signal)})
		case <-ctx.Done():
		}
	}()
	return ctx, func() { signal.Stop(signals); cancel(nil) }
}

// signalOf returns the signal that ended ctx.
func signalOf(ctx context.Context) (syscall.Signal, bool) {
	var e signalError
	ok := errors.As(context.Cause(ctx), &e)
	return e.Signal, ok
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "devel"
}

// printer writes snapshots to a pipe or a file.
type printer struct {
	source interface {
		Snapshot(context.Context, model.Want) (*model.Snapshot, error)
		ShareOffsets(context.Context, []string) (model.ShareOffsets, error)
	}
	records        records
	explain        func(error) (code, text string)
	options        options
	stdout, stderr io.Writer
}

// records reads what is recorded of share groups.
type records struct {
	conn   *kafka.Connection
	reader *kafka.Reader
}

// of returns s with what is recorded of its share groups and with their settings.
func (r records) of(ctx context.Context, s *model.Snapshot) *model.Snapshot {
	next := *s.WithShareRecords(kafka.ReadShareRecords(ctx, r.conn, s.ShareKeys(nil)), r.configs(ctx, s.ShareGroups))
	next.Problems = append(slices.Clone(next.Problems), next.UnknownWindows()...)
	return &next
}

// configsAtOnce is how many groups are asked for their settings at the same time.
const configsAtOnce = 8

// configs are the settings of groups by id. Settings that can not be read are missing, and null in the output.
func (r records) configs(ctx context.Context, groups []model.Group) map[string]*model.GroupConfigs {
	var (
		wg    sync.WaitGroup
		mu    sync.Mutex
		slots = make(chan struct{}, configsAtOnce)
	)
	configs := make(map[string]*model.GroupConfigs, len(groups))
	for i := range groups {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			if c, err := r.reader.GroupConfigs(ctx, groups[i].ID); err == nil {
				mu.Lock()
				configs[groups[i].ID] = &c
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return configs
}

// shareOffsetsWait bounds how long one-shot output waits for the positions of share groups, which a
// broker may hold back for seconds.
const shareOffsetsWait = 10 * time.Second

// run prints once, or with --watch until ctx ends.
func (p printer) run(ctx context.Context) error {
	history := model.NewHistory()
	var told []model.Problem // what the last poll could not read
	ticker := time.NewTicker(p.options.interval)
	defer ticker.Stop()
	for first := true; ; first = false {
		view, err := p.read(ctx, history)
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil && (first || !p.options.watch):
			_, text := p.explain(err)
			return errors.New(text)
		case err != nil:
			_, text := p.explain(err)
			fmt.Fprintf(p.stderr, "flightdeck: %s\n", text)
		default:
			p.tell(view.Snapshot.Problems, told)
			told = view.Snapshot.Problems
			if err := p.write(view, first); err != nil {
				return fmt.Errorf("the output can not be written: %w", err)
			}
		}
		if !p.options.watch {
			return nil
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}

func (p printer) read(ctx context.Context, history *model.History) (*model.View, error) {
	s, err := p.source.Snapshot(ctx, model.Want{OnlyGroups: p.options.groups})
	if err != nil {
		return nil, err
	}
	if len(s.ShareGroups) > 0 {
		ids := make([]string, len(s.ShareGroups))
		for i := range s.ShareGroups {
			ids[i] = s.ShareGroups[i].ID
		}
		waiting, cancel := context.WithTimeout(ctx, shareOffsetsWait)
		defer cancel()
		// What did not come in time is a problem of its group, so there is no error of the whole to report.
		offsets, _ := p.source.ShareOffsets(waiting, ids)
		s = s.WithShareOffsets(offsets)
		if p.options.groups != nil && strings.HasPrefix(p.options.output, "json") {
			s = p.records.of(waiting, s)
		}
	}
	return history.Observe(s), nil
}

// tell writes the problems to stderr that were not told before, so that one which stays does not flood a log.
func (p printer) tell(problems, told []model.Problem) {
	for _, problem := range problems {
		if !slices.Contains(told, problem) {
			fmt.Fprintf(p.stderr, "flightdeck: %s\n", model.Clean(problem.Text))
		}
	}
}

func (p printer) write(v *model.View, first bool) error {
	switch p.options.output {
	case "json":
		return output.JSON(p.stdout, v)
	case "jsonl":
		return output.JSONLine(p.stdout, v)
	default:
		if !first {
			fmt.Fprintln(p.stdout)
		}
		return output.Table(p.stdout, v)
	}
}
