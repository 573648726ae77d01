package model

import (
	"fmt"
	"regexp"
	"strings"
)

// ParseGlob compiles a glob on a group id: "*" matches any run of characters, "?" one, "[a-z]" and
// "[!a-z]" one of a class, a backslash takes the next character as it stands. A glob matches the
// whole id.
func ParseGlob(pattern string) (match func(id string) bool, err error) {
	var re strings.Builder
	re.WriteString(`(?s)\A`)
	for i := 0; i < len(pattern); {
		switch c := pattern[i]; c {
		case '*':
			re.WriteString(`.*`)
			i++
		case '?':
			re.WriteString(`.`)
			i++
		case '[':
			end := strings.IndexByte(pattern[i+1:], ']')
			if end < 1 {
				return nil, fmt.Errorf("the glob %q has a [ without its ]: write \\[ for the character itself", pattern)
			}
			class := pattern[i+1 : i+1+end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			re.WriteString("[" + strings.ReplaceAll(class, `[`, `\[`) + "]")
			i += end + 2
		case '\\':
			i++
			if i == len(pattern) {
				return nil, fmt.Errorf("the glob %q ends in a backslash: write \\\\ for the character itself", pattern)
			}
			fallthrough
		default:
			// Bytes of a multi-byte character are none of the special ones, so quoting up to the next
			// special byte keeps it whole.
			end := i + 1
			for end < len(pattern) && !strings.ContainsRune(`*?[\`, rune(pattern[end])) {
				end++
			}
			re.WriteString(regexp.QuoteMeta(pattern[i:end]))
			i = end
		}
	}
	re.WriteString(`\z`)
	compiled, err := regexp.Compile(re.String())
	if err != nil {
		return nil, fmt.Errorf("the glob %q can not be read: its [ ] class is not valid", pattern)
	}
	return compiled.MatchString, nil
}
