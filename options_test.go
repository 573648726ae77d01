package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func env(pairs ...string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == name {
				return pairs[i+1], true
			}
		}
		return "", false
	}
}

func TestParseOptions(t *testing.T) {
	for _, tc := range []struct {
		name  string
		args  []string
		env   []string
		check func(options) bool
	}{
		{"several brokers in one flag", []string{"-b", "a:1,b:2"}, nil,
			func(o options) bool { return slices.Equal(o.bootstrap, []string{"a:1", "b:2"}) }},
		{"the environment gives what no flag gives", nil, []string{"FLIGHTDECK_BOOTSTRAP_SERVER", "a:1"},
			func(o options) bool { return slices.Equal(o.bootstrap, []string{"a:1"}) }},
		{"a flag beats the environment", []string{"-b", "a:1", "--interval", "5s"}, []string{"FLIGHTDECK_INTERVAL", "9s"},
			func(o options) bool { return o.interval == 5*time.Second }},
		{"an empty variable is not set", []string{"-b", "a:1"}, []string{"FLIGHTDECK_INTERVAL", ""},
			func(o options) bool { return o.interval == 2*time.Second }},
		{"a switch in the environment", []string{"-b", "a:1"}, []string{"FLIGHTDECK_READ_ONLY", "true"},
			func(o options) bool { return o.readOnly }},
		{"group globs add up", []string{"--demo", "--group", "a*", "--group", "b"}, nil,
			func(o options) bool { return o.groups("ax") && o.groups("b") && !o.groups("c") }},
		{"a glob may hold a comma on the command line", []string{"--demo", "--group", "a,b"}, nil,
			func(o options) bool { return o.groups("a,b") && !o.groups("a") }},
		{"without globs every group counts", []string{"--demo"}, nil,
			func(o options) bool { return o.groups == nil }},
		{"version needs no cluster", []string{"--version"}, nil, func(o options) bool { return o.version }},
		{"help needs no cluster", []string{"-h"}, nil, func(o options) bool { return o.help }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o, err := parseOptions(tc.args, env(tc.env...))
			if err != nil {
				t.Fatal(err)
			}
			if !tc.check(o) {
				t.Errorf("options are %+v", o)
			}
		})
	}
}

func TestWrongUsage(t *testing.T) {
	for _, tc := range []struct {
		name string
		args []string
		env  []string
		want string // part of the message
	}{
		{"no cluster", nil, nil, "which cluster?"},
		{"unknown flag with a near one", []string{"--intervall", "1s"}, nil, "did you mean --interval?"},
		{"unknown flag that begins like one", []string{"--boot", "a:1"}, nil, "did you mean --bootstrap-server?"},
		{"unknown flag with no near one", []string{"--xyzzyxyzzy"}, nil, "unknown flag --xyzzyxyzzy (see --help)"},
		{"unknown letter", []string{"-z"}, nil, "unknown flag -z"},
		{"demo and brokers", []string{"--demo", "-b", "a:1"}, nil, "--demo brings its own cluster"},
		{"an argument", []string{"--demo", "orders"}, nil, `unexpected argument "orders"`},
		{"interval without unit", []string{"--demo", "--interval", "5"}, nil, "interval"},
		{"interval too short", []string{"--demo", "--interval", "1ms"}, nil, "100ms is the least"},
		{"theme", []string{"--demo", "--theme", "pink"}, nil, "take one of"},
		{"output", []string{"--demo", "--output", "xml"}, nil, "table, json, jsonl"},
		{"watch with one document", []string{"--demo", "--output", "json", "--watch"}, nil, "--output jsonl"},
		{"server with a word for a port", []string{"-b", "a:one"}, nil, `--bootstrap-server: "a:one" is not host:port`},
		{"no servers between commas", []string{"-b", ","}, nil, "which cluster?"},
		{"glob", []string{"--demo", "--group", "a["}, nil, "[ without its ]"},
		{"a bad variable is named", []string{"--demo"}, []string{"FLIGHTDECK_INTERVAL", "soon"}, "FLIGHTDECK_INTERVAL"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			_, err := parseOptions(tc.args, env(tc.env...))
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("error is %v, want it to say %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("the message has more than one line: %q", err)
			}
		})
	}
}

// Every flag is listed in the help and has a variable in the environment, whose names are derived: what
// could break is a flag without a description.
func TestHelpDescribesEveryFlag(t *testing.T) {
	var o options
	help := usage()
	f := o.flags()
	f.SortFlags = true
	for _, name := range []string{"bootstrap-server", "command-config", "interval", "read-only", "theme", "ascii", "demo",
		"demo-seed", "output", "watch", "group", "log-file", "version", "help"} {
		flag := f.Lookup(name)
		if flag == nil {
			t.Errorf("there is no --%s", name)
			continue
		}
		if flag.Usage == "" || !strings.Contains(help, "--"+name) {
			t.Errorf("--%s is not described", name)
		}
	}
}
