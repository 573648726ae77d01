package ui

import (
	"slices"
	"strings"
)

// KeyTable is the table of keys in Markdown, for the README.
func KeyTable() string {
	var b strings.Builder
	b.WriteString("| Key | What it does | Where |\n|---|---|---|\n")
	for _, s := range sections {
		for _, k := range newBindings() {
			if k.section != s || len(k.keys) == 0 {
				continue
			}
			b.WriteString("|")
			for _, key := range slices.Concat(k.keys, k.spare) {
				b.WriteString(" `" + keyName(key) + "`")
			}
			b.WriteString(" | " + strings.ReplaceAll(k.help, "|", `\|`) + " | " + k.in.String() + " |\n")
		}
	}
	return b.String()
}
