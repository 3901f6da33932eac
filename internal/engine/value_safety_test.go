package engine

import (
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The one quoted spelling is read alike by JSON and by Python.
func TestQuoteReadsBack(t *testing.T) {
	texts := []string{"", `"`, `\`, "\n\t\r\x00\x1f\x7f", `\n`, "'", "é日😀", "\u2028", "{x}", "#"}
	for i := range 200 {
		texts = append(texts, rapid.StringN(0, 20, -1).Example(i))
	}
	var quoted []string
	for _, s := range texts {
		q := quote(s)
		quoted = append(quoted, q)
		var back string
		if err := json.Unmarshal([]byte(q), &back); err != nil || back != string([]rune(s)) {
			t.Errorf("quote(%q) = %s: JSON reads %q, %v", s, q, back, err)
		}
	}
	if _, err := exec.LookPath("python3"); err != nil {
		t.Skip("no Python to compare with: ", err)
	}
	const program = "import ast,json,sys\nsys.stdout.write(json.dumps([ast.literal_eval(t) for t in json.load(sys.stdin.buffer)]))"
	in, err := json.Marshal(quoted)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-I", "-S", "-c", program)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Skip("no Python to compare with: ", err)
	}
	var read []string
	if err := json.Unmarshal(out, &read); err != nil || len(read) != len(texts) {
		t.Fatalf("python: got %d texts, %v", len(read), err)
	}
	for i, s := range texts {
		if read[i] != string([]rune(s)) {
			t.Errorf("quote(%q) = %s: Python reads %q", s, quoted[i], read[i])
		}
	}
}

// What is proposed as a word of a script is that word to the shell.
func TestPlainTextIsOneWord(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash to compare with: ", err)
	}
	var plain []string
	gen := rapid.OneOf(rapid.StringMatching(`[a-zA-Z0-9_.,:/+-]{1,8}`), rapid.StringMatching(`[a-z0-9 ~*?#=!$"'{}\[\]();&|<>\\%@^-]{1,4}`))
	for i := range 400 {
		if s := gen.Example(i); plainText(s) {
			plain = append(plain, s)
		}
	}
	if len(plain) < 100 {
		t.Fatalf("got %d plain texts, want more", len(plain))
	}
	if got := bashWords(t, strings.Join(plain, " ")); !slices.Equal(got, plain) {
		t.Errorf("bash: got %q, want %q", got, plain)
	}
}

// A list of arguments is taken or refused with a reason, and what is taken
// holds nothing that no argument and no default said.
func FuzzModelParse(f *testing.F) {
	m := Model{Options: []Option{
		{Names: []string{"--tp", "--tensor-parallel"}, Dest: "tp", Type: "int", Default: "1"},
		{Names: []string{"--name"}, Dest: "name", Choices: []string{`"a"`, `"b"`}},
		{Names: []string{"--on"}, Dest: "on", Action: "store_true"}, {Names: []string{"--list"}, Dest: "list", Nargs: "*"},
	}}
	for _, s := range []string{"--tp 4 --on", "--tp=x", "--te 2", "--list a b -- c", "--name c", "-1", "--tp 1_000", "--on=1", "--"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, " ")
		p, err := m.Parse(args)
		if err != nil {
			if err.Error() == "" {
				t.Errorf("Parse(%q): an error without words", args)
			}
			return
		}
		for dest := range p.Given {
			if !slices.ContainsFunc(m.Options, func(o Option) bool { return o.Dest == dest }) {
				t.Errorf("Parse(%q): got destination %q", args, dest)
			}
		}
		if v, ok := p.Values["tp"]; ok {
			if n, ok := parseInt(v); !ok || string(n) != v {
				t.Errorf("Parse(%q): tp is %q", args, v)
			}
		}
	})
}
