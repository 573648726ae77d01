package kafka

import (
	"maps"
	"strings"
	"testing"
)

// Where a case has no note, Kafka 4.4's JaasConfig was seen to read it the same.
func TestParseJAAS(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		class      string
		options    map[string]string
	}{
		{"double quotes", `a.b.PlainLoginModule required username="u" password="p";`, "a.b.PlainLoginModule", map[string]string{"username": "u", "password": "p"}},
		{"escapes", `M required password="p\"q\\r\tz";`, "M", map[string]string{"password": "p\"q\\r\tz"}},
		{"octal", `M sufficient a="\101\x41";`, "M", map[string]string{"a": "Ax41"}},
		{"single quotes", `M required username='x y' password=abc-1;`, "M", map[string]string{"username": "x y", "password": "abc-1"}},
		{"quoted name", `M required "a b"="c";`, "M", map[string]string{"a b": "c"}},
		{"flag in capitals, text beyond ASCII", `M REQUIRED a="pä€";`, "M", map[string]string{"a": "pä€"}},
		{"no options", "M required ;", "M", nil},
		{"signs in quotes", `M required a="x;y=z # ! //";`, "M", map[string]string{"a": "x;y=z # ! //"}},
		{"space around", "\n M \t required\n a = \"x\" ;\n", "M", map[string]string{"a": "x"}},
		{"bare number, refused by Java", `M required password=123;`, "M", map[string]string{"password": "123"}},
		{"bare signs, refused by Java", `M required password=a//b$!;`, "M", map[string]string{"password": "a//b$!"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			m, err := parseJAAS(tc.text)
			if err != nil {
				t.Fatal(err)
			}
			if m.class != tc.class || !maps.Equal(m.options, tc.options) {
				t.Errorf("got %q %q", m.class, m.options)
			}
		})
	}
}

func TestParseJAASErrors(t *testing.T) {
	for name, text := range map[string]string{
		"empty":            "",
		"class only":       "M",
		"wrong flag":       `M username="s3cret";`,
		"no end":           `M required password="s3cret"`,
		"no value":         `M required password=;`,
		"no equals":        `M required password "s3cret";`,
		"quote not closed": `M required password="s3cret;`,
		"broken over line": "M required password=\"s3\ncret\";",
		"two modules":      `M required password="s3cret"; N required;`,
		"words run on":     `M required password=s3 cret;`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := parseJAAS(text)
			if err == nil {
				t.Fatal("no error")
			}
			if strings.Contains(err.Error(), "s3") || strings.Contains(err.Error(), "cret") {
				t.Errorf("the error gives the password away: %v", err)
			}
		})
	}
}

// Whatever is in a password, written with the escapes of Java it is read back, and no error shows any of it.
func FuzzParseJAAS(f *testing.F) {
	f.Add("secret", "user")
	f.Add(`a"b\c`, "'")
	f.Add("\x00\n\r;=", "ü")
	f.Fuzz(func(t *testing.T, password, user string) {
		quote := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\r", `\r`)
		m, err := parseJAAS(`a.b.M required username="` + quote.Replace(user) + `" password="` + quote.Replace(password) + `";`)
		if err != nil {
			t.Fatal(err)
		}
		if m.options["username"] != user || m.options["password"] != password {
			t.Errorf("got %q", m.options)
		}
		_, _ = parseJAAS(password)
		_, err = parseJAAS(`a.b.M required password=` + password + user)
		if err != nil && len(password) > 20 && strings.Contains(err.Error(), password) {
			t.Errorf("the error gives the password away: %v", err)
		}
	})
}
