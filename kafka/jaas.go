package kafka

import (
	"errors"
	"fmt"
	"strings"
)

// loginModule is an entry of a JAAS configuration, as in
//
//	org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="p";
type loginModule struct {
	class   string
	options map[string]string
}

// parseJAAS reads the one entry of a sasl.jaas.config. It takes everything that Kafka's own parser
// (JaasConfig, on top of java.io.StreamTokenizer) takes, comments aside, and reads it the same; it is more patient with values
// that need quotes in Java and have none. No error holds any part of a value.
func parseJAAS(text string) (loginModule, error) {
	p := jaasParser{rest: text}
	class, err := p.word("the class of the login module")
	if err != nil {
		return loginModule{}, err
	}
	flag, err := p.word("a control flag such as required")
	if err != nil {
		return loginModule{}, err
	}
	switch strings.ToLower(flag) {
	case "required", "requisite", "sufficient", "optional":
	default:
		return loginModule{}, errors.New("the control flag after the class must be required, requisite, sufficient or optional")
	}
	m := loginModule{class: class, options: map[string]string{}}
	for !p.accept(';') {
		key, err := p.word("an option or the ; at the end")
		if err != nil {
			return loginModule{}, err
		}
		// Errors count the options: what looks like a name may be part of a password that lacks its quotes.
		n := len(m.options) + 1
		if !p.accept('=') {
			return loginModule{}, fmt.Errorf("there is no = after option %d", n)
		}
		value, err := p.word(fmt.Sprintf("a value for option %d", n))
		if err != nil {
			return loginModule{}, err
		}
		m.options[key] = value
	}
	if !p.end() {
		return loginModule{}, errors.New("there is more after the ; where one login module is expected")
	}
	return m, nil
}

type jaasParser struct{ rest string }

func (p *jaasParser) space() { p.rest = strings.TrimLeft(p.rest, " \t\r\n\f") }

func (p *jaasParser) end() bool {
	p.space()
	return p.rest == ""
}

// accept takes c when it comes next.
func (p *jaasParser) accept(c byte) bool {
	p.space()
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// word takes a quoted or a bare word; what says what was expected.
func (p *jaasParser) word(what string) (string, error) {
	p.space()
	if p.rest != "" && (p.rest[0] == '"' || p.rest[0] == '\'') {
		return p.quoted()
	}
	end := strings.IndexAny(p.rest, " \t\r\n\f=;\"'")
	if end < 0 {
		end = len(p.rest)
	}
	if end == 0 {
		return "", errors.New("it ends, or goes on with a sign, where " + what + " is expected")
	}
	word := p.rest[:end]
	p.rest = p.rest[end:]
	return word, nil
}

// quoted takes a word in quotes, with the escapes of StreamTokenizer: \n and its like, up to three octal digits, and
// any other character for itself.
func (p *jaasParser) quoted() (string, error) {
	quote := p.rest[0]
	var b strings.Builder
	for i := 1; i < len(p.rest); i++ {
		switch c := p.rest[i]; {
		case c == quote:
			p.rest = p.rest[i+1:]
			return b.String(), nil
		case c == '\n' || c == '\r':
			return "", errors.New("a quote is not closed before the end of the line")
		case c != '\\':
			b.WriteByte(c)
		case i+1 < len(p.rest):
			i++
			i += p.escape(&b, i)
		}
	}
	return "", errors.New("a quote is not closed")
}

// escape writes what the escape at rest[i] stands for and returns how many bytes it is longer than one.
func (p *jaasParser) escape(b *strings.Builder, i int) (more int) {
	c := p.rest[i]
	if c >= '0' && c <= '7' {
		most := 2
		if c > '3' {
			most = 1 // \777 would not fit a byte
		}
		value := rune(c - '0')
		for more < most && i+more+1 < len(p.rest) && p.rest[i+more+1] >= '0' && p.rest[i+more+1] <= '7' {
			more++
			value = value*8 + rune(p.rest[i+more]-'0')
		}
		b.WriteRune(value)
		return more
	}
	if at := strings.IndexByte("abfnrtv", c); at >= 0 {
		c = "\a\b\f\n\r\t\v"[at]
	}
	b.WriteByte(c)
	return 0
}
