package main

import (
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/pflag"

	"flightdeck/kafka"
	"flightdeck/model"
	"flightdeck/themes"
)

// options are the flags as given.
type options struct {
	bootstrap     []string
	commandConfig string
	interval      time.Duration
	readOnly      bool
	theme         string
	ascii         bool
	demo          bool
	demoSeed      uint64
	output        string
	watch         bool
	groupGlobs    []string
	logFile       string
	auditLog      string
	version, help bool

	// groups is true for the ids that --group asks for; nil for all.
	groups func(id string) bool
}

// intervalMin keeps a typing mistake from flooding a cluster with requests.
const intervalMin = 100 * time.Millisecond

var outputs = []string{"table", "json", "jsonl"}

func (o *options) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet("flightdeck", pflag.ContinueOnError)
	f.SortFlags = false
	f.Usage = func() {} // parseOptions says what is wrong in one line
	f.StringSliceVarP(&o.bootstrap, "bootstrap-server", "b", nil, "`host:port` of one or more brokers, separated by commas")
	f.StringVar(&o.commandConfig, "command-config", "", "Java client.properties `file` with security settings (TLS, SASL)")
	f.DurationVar(&o.interval, "interval", 2*time.Second, "time between two polls")
	f.BoolVar(&o.readOnly, "read-only", false, "never send a request that changes anything")
	f.StringVar(&o.theme, "theme", "", "`name` of the colours: "+strings.Join(themes.Names(), ", "))
	f.BoolVar(&o.ascii, "ascii", false, "draw with ASCII characters alone")
	f.BoolVar(&o.demo, "demo", false, "show an embedded cluster; needs nothing installed")
	f.Uint64Var(&o.demoSeed, "demo-seed", 1, "`number` that the demo's data is made from")
	f.StringVar(&o.output, "output", "", "print instead of opening the dashboard: `format` table, json or jsonl")
	f.BoolVar(&o.watch, "watch", false, "with --output table or jsonl: print again at every poll")
	f.StringArrayVar(&o.groupGlobs, "group", nil, "only groups whose id matches the glob `pattern`; may be given again")
	f.StringVar(&o.logFile, "log-file", "", "append a log to `file`")
	f.StringVar(&o.auditLog, "audit-log", "", "write every action to `file` before and after it is done (default: flightdeck/audit.jsonl in $XDG_STATE_HOME or ~/.local/state)")
	f.BoolVar(&o.version, "version", false, "print the version and exit")
	f.BoolVarP(&o.help, "help", "h", false, "print this help and exit")
	return f
}

func usage() string {
	var o options
	return `Flightdeck shows the consumer groups and share groups of a Kafka cluster, live.

Usage:
  flightdeck --demo
  flightdeck -b host:9092 [--command-config client.properties]
  flightdeck -b host:9092 --output json --group 'orders-*'

Flags:
` + flagTable(o.flags()) + `
Each flag can be set in the environment: FLIGHTDECK_BOOTSTRAP_SERVER for --bootstrap-server, and so on; a flag
beats the environment. Passwords belong into the file of --command-config.
`
}

func flagTable(f *pflag.FlagSet) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	f.VisitAll(func(flag *pflag.Flag) {
		short := "    "
		if flag.Shorthand != "" {
			short = "-" + flag.Shorthand + ", "
		}
		value, text := pflag.UnquoteUsage(flag)
		if value != "" {
			value = " " + value
		}
		if flag.DefValue != "" && flag.DefValue != "false" && flag.DefValue != "[]" {
			text += " (default " + flag.DefValue + ")"
		}
		fmt.Fprintf(w, "  %s--%s%s\t%s\n", short, flag.Name, value, text)
	})
	_ = w.Flush() // into memory: can not fail
	return b.String()
}

// parseOptions reads the flags, and from the environment those that were not given.
func parseOptions(args []string, lookupEnv func(string) (string, bool)) (options, error) {
	var o options
	f := o.flags()
	if err := f.Parse(args); err != nil {
		return o, flagError(f, err)
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q: flightdeck takes flags only (see --help)", f.Arg(0))
	}
	if err := setFromEnv(f, lookupEnv); err != nil {
		return o, err
	}
	return o, o.check()
}

func setFromEnv(f *pflag.FlagSet, lookupEnv func(string) (string, bool)) error {
	var err error
	f.VisitAll(func(flag *pflag.Flag) {
		name := "FLIGHTDECK_" + strings.ToUpper(strings.ReplaceAll(flag.Name, "-", "_"))
		value, ok := lookupEnv(name)
		if !ok || value == "" || flag.Changed || flag.Name == "version" || flag.Name == "help" || err != nil {
			return
		}
		values := []string{value}
		if flag.Name == "group" {
			values = strings.Split(value, ",")
		}
		for _, v := range values {
			if e := f.Set(flag.Name, v); e != nil {
				err = fmt.Errorf("environment variable %s: %w", name, e)
			}
		}
	})
	return err
}

func (o *options) check() error {
	if o.version || o.help {
		return nil
	}
	servers, err := kafka.ParseServers(strings.Join(o.bootstrap, ","))
	if err != nil {
		return fmt.Errorf("--bootstrap-server: %w", err)
	}
	o.bootstrap = servers
	switch {
	case o.demo && (len(o.bootstrap) > 0 || o.commandConfig != ""):
		return errors.New("--demo brings its own cluster: leave out --demo, or --bootstrap-server and --command-config")
	case !o.demo && len(o.bootstrap) == 0 && o.commandConfig == "":
		return errors.New("which cluster? Give -b host:9092, or --demo for an embedded one (see --help)")
	case o.interval < intervalMin:
		return fmt.Errorf("--interval %s is too short: %s is the least", o.interval, intervalMin)
	case o.theme != "" && !slices.Contains(themes.Names(), o.theme):
		return fmt.Errorf("--theme %q is not known: take one of %s", o.theme, strings.Join(themes.Names(), ", "))
	case o.output != "" && !slices.Contains(outputs, o.output):
		return fmt.Errorf("--output %q is not known: take one of %s", o.output, strings.Join(outputs, ", "))
	case o.watch && o.output == "json":
		return errors.New("--watch prints more than one document: take --output jsonl")
	}
	return o.compileGroups()
}

func (o *options) compileGroups() error {
	if len(o.groupGlobs) == 0 {
		return nil
	}
	matchers := make([]func(string) bool, len(o.groupGlobs))
	for i, glob := range o.groupGlobs {
		match, err := model.ParseGlob(glob)
		if err != nil {
			return fmt.Errorf("--group: %w", err)
		}
		matchers[i] = match
	}
	o.groups = func(id string) bool {
		return slices.ContainsFunc(matchers, func(match func(string) bool) bool { return match(id) })
	}
	return nil
}

// flagError turns pflag's error into one line, with a suggestion for an unknown flag.
func flagError(f *pflag.FlagSet, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return fmt.Errorf("%w (see --help)", err)
	}
	name := unknown.GetSpecifiedName()
	if unknown.GetSpecifiedShortnames() != "" {
		return fmt.Errorf("unknown flag -%s (see --help)", name)
	}
	best, bestDistance := "", 4
	f.VisitAll(func(flag *pflag.Flag) {
		d := editDistance(name, flag.Name)
		if strings.HasPrefix(flag.Name, name) {
			d = 1
		}
		if d < bestDistance {
			best, bestDistance = flag.Name, d
		}
	})
	if best == "" {
		return fmt.Errorf("unknown flag --%s (see --help)", name)
	}
	return fmt.Errorf("unknown flag --%s: did you mean --%s?", name, best)
}

// editDistance is the Levenshtein distance of two flag names.
func editDistance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal, row[j+1] = row[j+1], min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// config says how to reach the cluster that the options name. The notices are sentences about settings that
// have no effect.
func (o *options) config(log *slog.Logger) (cfg kafka.Config, notices []string, err error) {
	cfg = kafka.Config{
		Bootstrap: o.bootstrap,
		ClientID:  "flightdeck/" + buildVersion(),
		ReadOnly:  o.readOnly,
		Log:       log,
	}
	path := o.auditLog
	if path == "" && !o.readOnly {
		if path, err = kafka.AuditPath(); err != nil {
			notices = append(notices, fmt.Sprintf("Nothing can be changed, since there is no place for the audit file: %v. --audit-log names one.", err))
		}
	}
	if path != "" {
		cfg.Audit = kafka.NewAudit(path)
	}
	if o.commandConfig == "" {
		return cfg, notices, nil
	}
	p, err := kafka.LoadProperties(o.commandConfig)
	if err != nil {
		return cfg, nil, err
	}
	cfg.TLS, cfg.SASL = p.TLS, p.SASL
	if len(cfg.Bootstrap) == 0 {
		cfg.Bootstrap = p.Bootstrap
	}
	if len(cfg.Bootstrap) == 0 {
		return cfg, nil, fmt.Errorf("which cluster? %s has no bootstrap.servers: give -b host:9092", o.commandConfig)
	}
	notices = append(notices, p.Warnings...)
	if len(p.Unused) > 0 {
		notices = append(notices, fmt.Sprintf("%s: not used here, since meant for other clients: %s", o.commandConfig, strings.Join(p.Unused, ", ")))
	}
	return cfg, notices, nil
}
