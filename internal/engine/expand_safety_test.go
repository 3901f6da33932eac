package engine

import (
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// bashWords is what the shell itself makes of words.
func bashWords(t *testing.T, words string) []string {
	t.Helper()
	return bashOutput(t, "printf '%s\\0' "+words)
}

// bashOutput runs a script in which words are no patterns of file names.
func bashOutput(t *testing.T, script string) []string {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "--noprofile", "-f")
	cmd.Stdin = strings.NewReader(script + "\n")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("bash: %v", err)
	}
	return strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
}

// shellPiece writes a piece of a word in one of the shell's quotings.
func shellPiece() *rapid.Generator[string] {
	return rapid.OneOf(
		rapid.StringMatching(`[a-z0-9é.,:=/@%+_]{1,4}`),
		rapid.Map(rapid.StringMatching(`[a-z\\"'$ ;&|<>(){}*?#~é]`), func(s string) string { return `\` + s }),
		rapid.Map(rapid.StringMatching(`[a-z\\"$\x60 \n;&|(){}*?#~é]{0,5}`), func(s string) string { return "'" + s + "'" }),
		rapid.Map(rapid.SliceOfN(rapid.OneOf(
			rapid.StringMatching(`[a-z' ;&|(){}*?#~é]{1,3}`),
			rapid.SampledFrom([]string{`\\`, `\"`, `\$`, "\\`", `\n`, `\d`, `\ `, "\\\n", `\'`}),
		), 0, 4), func(s []string) string { return `"` + strings.Join(s, "") + `"` }),
		rapid.Just("\\\n"),
	)
}

func shellWord() *rapid.Generator[string] {
	return rapid.Map(rapid.SliceOfN(shellPiece(), 0, 5), func(s []string) string { return "v" + strings.Join(s, "") })
}

// shellWords are many words, the same in every run, for one call of the shell.
func shellWords(t *testing.T) []string {
	t.Helper()
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash to compare with: ", err)
	}
	words := make([]string, 500)
	for i := range words {
		words[i] = shellWord().Example(i)
	}
	return words
}

func TestWordsAreTheShellsWords(t *testing.T) {
	words := shellWords(t)
	want := bashWords(t, strings.Join(words, " "))
	if len(want) != len(words) {
		t.Fatalf("bash: got %d words, want %d", len(want), len(words))
	}
	for i, word := range words {
		l, err := ReadLaunch([]byte("srv --x "+word+" > server.log &\n"), "r.sh")
		if err != nil || len(l.Uses) != 1 || !slices.Equal(l.Uses[0].Values, want[i:i+1]) {
			t.Errorf("%s: got %+v, %v, want %q", word, l.Uses, err, want[i])
		}
	}
}

// A variable that holds flags is split where the shell splits it.
func TestSplitsAreTheShellsSplits(t *testing.T) {
	words := shellWords(t)
	var script strings.Builder
	for _, word := range words {
		script.WriteString("B=" + word + "\nprintf '%s\\0' $B END\n")
	}
	all := bashOutput(t, script.String())
	for _, word := range words {
		end := slices.Index(all, "END")
		if end < 0 {
			t.Fatalf("bash: no answer for %s", word)
		}
		want := all[:end]
		all = all[end+1:]
		l, err := ReadLaunch([]byte("B="+word+"\nsrv --x $B > server.log &\n"), "r.sh")
		if err != nil || len(l.Uses) != 1 || !slices.Equal(l.Uses[0].Values, want) {
			t.Errorf("%s: got %+v, %v, want %q", word, l.Uses, err, want)
		}
	}
}

func TestBackslashes(t *testing.T) {
	for _, c := range []struct{ word, want string }{
		{`a\\b`, `a\b`}, {`"\d+"`, `\d+`}, {`\d+`, `d+`}, {`'\d'`, `\d`}, {`"a\"b"`, `a"b`}, {"\"a\\\nb\"", "ab"}, {`"é"`, "é"},
	} {
		for _, script := range []string{"srv --x " + c.word + " > server.log &", "B=" + c.word + "\nsrv --x $B > server.log &"} {
			l, err := ReadLaunch([]byte(script), "r.sh")
			if err != nil || len(l.Uses) != 1 || l.Uses[0].Value != c.want {
				t.Errorf("%s: got %+v, %v, want %q", script, l.Uses, err, c.want)
			}
		}
	}
}
