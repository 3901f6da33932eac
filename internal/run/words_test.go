package run

import (
	"slices"
	"testing"
)

func TestWordsOfACommandWithoutAShell(t *testing.T) {
	for command, want := range map[string][]string{
		`agent`:                           {"agent"},
		" agent \t -p\n x ":               {"agent", "-p", "x"},
		`agent 'one two' "three four"`:    {"agent", "one two", "three four"},
		`agent a'b c'd"e f"`:              {"agent", "ab cde f"},
		`agent '' ""`:                     {"agent", "", ""},
		`agent \'x one\ two "a\"b" '\n'`:  {"agent", "'x", "one two", `a"b`, `\n`},
		`agent $HOME $(id) *.json; a | b`: {"agent", "$HOME", "$(id)", "*.json;", "a", "|", "b"},
		"\"two\nlines\"":                  {"two\nlines"},
	} {
		got, err := Words(command)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: got %q, %v; want %q", command, got, err, want)
		}
	}
	for command, want := range map[string]string{
		"": "no program", " \t": "no program", `''`: "no program", `"a`: "a quote is not closed", `a 'b`: "a quote is not closed", `a \`: "it ends with a backslash",
	} {
		if got, err := Words(command); err == nil || err.Error() != want {
			t.Errorf("%q: got %q, %v; want %q", command, got, err, want)
		}
	}
}
