package engine

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/refit-bench/refit/internal/recipe"
)

// server is a program that only says how it was started.
const server = `#!/bin/bash
for word in "$@"; do printf 'word %s\0' "$word"; done
for name in "${!LOOM_@}"; do printf 'set %s=%s\0' "$name" "${!name}"; done
`

// started runs a recipe with the shell in a folder of its own and returns what
// its server was given: words in order, then variables by name.
func started(t *rapid.T, dir, script string) []string {
	t.Helper()
	cmd := exec.Command("bash", "--norc", "--noprofile")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(script+"\nwait\n")
	cmd.Env = []string{"PATH=" + dir + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C.UTF-8"}
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Fatalf("bash: %v %s\n%s", err, out, script)
	}
	log, err := os.ReadFile(filepath.Join(dir, "server.log"))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(log), "\x00"), "\x00")
}

// shapes are the ways to export a variable NAME with a VALUE.
var shapes = []string{
	"export NAME=VALUE\n", "  export NAME=VALUE # NAME\n", "export \\\n  NAME=VALUE;\n", "declare -x NAME=VALUE\n", "typeset -x NAME=VALUE\n",
	"if true; then\n  export NAME=VALUE\nfi\n", "if false; then :; else export NAME=VALUE; fi\n", "[[ x = x ]] && export NAME=VALUE\n",
	"false || export NAME=VALUE\n", "f() {\n  true\n  export NAME=VALUE\n}\nf\n", "{ export NAME=VALUE; }\n",
	"case x in\n  x) export NAME=VALUE ;;\nesac\n", "for i in 1; do\n\texport NAME=VALUE\ndone\n", "export NAME=VALUE; true\n",
	"! export NAME=VALUE\n", "export NAME=VALUE > /dev/null\n", "export OTHER=1 NAME=VALUE MORE='2 3'\n", "export NAME=VALUE \\\n  OTHER=1\n",
	"false\nexport NAME=VALUE\n[ $? = 0 ] || echo the result changed\n", "f() {\n  false\n  export NAME=VALUE\n}\nf || echo the result changed\n",
}

var valueGen = rapid.OneOf(rapid.StringMatching(`[a-z0-9.:/é]{1,6}`), rapid.StringMatching(`'[a-z $\\"#é]{0,6}'`), rapid.StringMatching(`"[a-z '#é]{0,6}"`))

// flagGen writes a flag FLAG with its values.
var flagGen = rapid.Map(rapid.SampledFrom([]string{"FLAG", "FLAG=V", "FLAG  V", "FLAG \\\n    V", "FLAG V 7", "FLAG QUOTED"}), func(form string) string {
	form = strings.Replace(form, "QUOTED", `'v é' "$HOME x"`, 1)
	return strings.Replace(form, "V", "vé/1", 1)
})

// written is a recipe, and the variables and flags that it starts with.
type written struct {
	script           string
	variables, flags []string
}

func (r *written) variable(name, form, value string) string {
	r.variables = append(r.variables, name)
	return strings.NewReplacer("NAME", name, "VALUE", value).Replace(form)
}

func (r *written) flag(t *rapid.T) string {
	name := fmt.Sprintf("--flag%d", len(r.flags))
	r.flags = append(r.flags, name)
	return strings.Replace(flagGen.Draw(t, "flag"), "FLAG", name, 1)
}

// plainFlag is a flag that may stand between quotes.
func (r *written) plainFlag() string {
	r.flags = append(r.flags, fmt.Sprintf("--flag%d", len(r.flags)))
	return r.flags[len(r.flags)-1] + " 3"
}

var recipeGen = rapid.Custom(func(t *rapid.T) written {
	r := written{}
	gap := func() string { return rapid.SampledFrom([]string{" ", "  ", " \\\n  ", "\t"}).Draw(t, "gap") }
	value := func() string { return valueGen.Draw(t, "value") }
	between := rapid.SampledFrom([]string{" ", "\n  ", " # two  words\n  ", "\n# --flag0\n\n"}).Draw(t, "between")
	script := "#!/bin/bash\n# LOOM_V0 and --flag0\n"
	for i := range rapid.IntRange(1, 3).Draw(t, "variables") {
		script += r.variable(fmt.Sprintf("LOOM_V%d", i), rapid.SampledFrom(shapes).Draw(t, "shape"), value())
	}
	script += "ARGS=(" + r.flag(t) + between + r.flag(t) + ")\n"
	script += "if true; then\n  ARGS+=(" + r.flag(t) + ")\nfi\n"
	script += "MORE=\"--always" + gap() + r.plainFlag() + " --end\"\n"
	program := "loomserve"
	if rapid.Bool().Draw(t, "env") {
		program = "env" + gap() + r.variable("LOOM_ENV", "NAME=VALUE", value()) + gap() + program
	}
	if rapid.Bool().Draw(t, "array") {
		script += "C=(" + strings.ReplaceAll(program, "\\\n", "\n") + ")\n"
		program = `"${C[@]}"`
	}
	if rapid.Bool().Draw(t, "prefix") {
		script += r.variable("LOOM_OWN", "NAME=VALUE", value()) + gap()
	}
	r.script = script + program + gap() + r.flag(t) + gap() + `"${ARGS[@]}"` + gap() + r.flag(t) + " $MORE > server.log &\n"
	return r
})

// An edit changes what the server is given as it says, in every way to write a
// recipe; the shell is the judge.
func TestEditsAsTheShellReadsThem(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip("no bash to compare with: ", err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "loomserve"), []byte(server), 0o700); err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		r := recipeGen.Draw(t, "recipe")
		name := rapid.SampledFrom(slices.Concat(r.variables, r.flags)).Draw(t, "name")
		to := rapid.SampledFrom([]string{"", "new"}).Draw(t, "to")
		edits, err := made(r.script, name, to)
		if err != nil {
			t.Fatalf("%v\n%s", err, r.script)
		}
		for _, e := range edits {
			for _, other := range slices.Concat(r.variables, r.flags) {
				if other != name && strings.Contains(e.Old, other) {
					t.Fatalf("the edit of %s takes %q", name, e.Old)
				}
			}
		}
		after, err := recipe.Splice([]byte(r.script), edits)
		if err != nil {
			t.Fatal(err)
		}
		want := expected(started(t, dir, r.script), name, to)
		if got := started(t, dir, string(after)); !slices.Equal(got, want) {
			t.Fatalf("%s to %q: got %q, want %q\n%s\n%s", name, to, got, want, r.script, after)
		}
	})
}

// made is the edit of a name; without another name it is dropped.
func made(script, name, to string) ([]recipe.Edit, error) {
	src := []byte(script)
	switch flag := strings.HasPrefix(name, "--"); {
	case flag && to == "":
		return DropFlag(src, "r.sh", name)
	case flag:
		return RenameFlag(src, "r.sh", name, "--"+to)
	case to == "":
		return DropVariable(src, "r.sh", name)
	default:
		return RenameVariable(src, "r.sh", name, "LOOM_"+to)
	}
}

// expected is what the server is given after an edit.
func expected(before []string, name, to string) []string {
	var out []string
	dropping := false // the values of the flag
	for _, line := range before {
		kind, text, _ := strings.Cut(line, " ")
		key, value, joined := strings.Cut(text, "=")
		dropping = dropping && kind == "word" && !strings.HasPrefix(text, "-")
		switch {
		case dropping:
		case key != name:
			out = append(out, line)
		case to == "":
			dropping = kind == "word"
		case kind == "set":
			out = append(out, "set LOOM_"+to+"="+value)
		case joined:
			out = append(out, "word --"+to+"="+value)
		default:
			out = append(out, "word --"+to)
		}
	}
	words := slices.IndexFunc(out, func(s string) bool { return strings.HasPrefix(s, "set ") })
	if words >= 0 {
		slices.Sort(out[words:])
	}
	return out
}
