package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

// renameV, dropV, renameF and dropF are one edit of LOOM_A or --a.
func renameV(src []byte, file string) ([]recipe.Edit, error) {
	return RenameVariable(src, file, "LOOM_A", "LOOM_Z")
}
func dropV(src []byte, file string) ([]recipe.Edit, error) { return DropVariable(src, file, "LOOM_A") }
func renameF(src []byte, file string) ([]recipe.Edit, error) {
	return RenameFlag(src, file, "--a", "--zoom")
}
func dropF(src []byte, file string) ([]recipe.Edit, error) { return DropFlag(src, file, "--a") }

type editCase struct {
	name, src string
	edit      func([]byte, string) ([]recipe.Edit, error)
	want      string // the script, or the error
}

// start is a launch that ends every script of the tables below.
const start = "loomserve --p 1 > server.log 2>&1 &\n"

func checkScripts(t *testing.T, file string, cases []editCase) {
	t.Helper()
	for _, c := range cases {
		edits, err := c.edit([]byte(c.src), file)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if got, err := recipe.Splice([]byte(c.src), edits); err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
	}
}

func checkRefused(t *testing.T, file string, cases []editCase) {
	t.Helper()
	for _, c := range cases {
		if edits, err := c.edit([]byte(c.src), file); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %+v, %v; want %s", c.name, edits, err, c.want)
		}
	}
}

func TestRenameVariable(t *testing.T) {
	checkScripts(t, "r.sh", []editCase{
		{"export", "export LOOM_A=1 # LOOM_A is fast\n" + start, renameV, "export LOOM_Z=1 # LOOM_A is fast\n" + start},
		{"export-many", "export X=1 LOOM_A='a b' Y=2\n" + start, renameV, "export X=1 LOOM_Z='a b' Y=2\n" + start},
		{"continued", "export X=1 \\\n  LOOM_A=2\n" + start, renameV, "export X=1 \\\n  LOOM_Z=2\n" + start},
		{"declare", "declare -x LOOM_A=1\n" + start, renameV, "declare -x LOOM_Z=1\n" + start},
		{"typeset", "typeset -rx LOOM_A=1\n" + start, renameV, "typeset -rx LOOM_Z=1\n" + start},
		{"prefix", "X=1 LOOM_A=2 " + start, renameV, "X=1 LOOM_Z=2 " + start},
		{"env", "env X=1 LOOM_A=\"2 3\" " + start, renameV, "env X=1 LOOM_Z=\"2 3\" " + start},
		{"env-in-quotes", "env 'LOOM_A=2 3' " + start, renameV, "env 'LOOM_Z=2 3' " + start},
		{"every-place", "if x; then export LOOM_A=1; else\n export LOOM_A=2; fi\nLOOM_A=3 " + start, renameV, "if x; then export LOOM_Z=1; else\n export LOOM_Z=2; fi\nLOOM_Z=3 " + start},
		{"function", "f() {\n  export LOOM_A=1\n}\nf\n" + start, renameV, "f() {\n  export LOOM_Z=1\n}\nf\n" + start},
		{"value-of-a-command", "export LOOM_A=$(nproc)\n" + start, renameV, "export LOOM_Z=$(nproc)\n" + start},
		{"longer-names-stay", "LOOM_AB=1\nexport LOOM_A=$LOOM_AB\n" + start, renameV, "LOOM_AB=1\nexport LOOM_Z=$LOOM_AB\n" + start},
		{"wide-characters-before", "echo 日本 # é\nexport LOOM_A=é\n" + start, renameV, "echo 日本 # é\nexport LOOM_Z=é\n" + start},
	})
	checkRefused(t, "r.sh", []editCase{
		{"read-elsewhere", "export LOOM_A=1\necho $LOOM_A\n" + start, renameV, "r.sh:1: LOOM_A cannot be renamed in place: line 2 names it too"},
		{"for-another-program", "export LOOM_A=1\npython3 - <<'X'\nos.environ['LOOM_A']\nX\n" + start, renameV, "r.sh:1: LOOM_A cannot be renamed in place: line 3 names it too"},
		{"set-apart", "LOOM_A=1\nexport LOOM_A\n" + start, renameV, "r.sh:2: LOOM_A cannot be renamed in place: it is exported apart from where it is set"},
		{"added-to", "export LOOM_A+=:x\n" + start, renameV, "r.sh:1: LOOM_A cannot be renamed in place: it is added to a value from elsewhere"},
		{"behind-the-launch", "export LOOM_A=1\n" + start + "export LOOM_A=2\n", renameV, "r.sh:1: LOOM_A cannot be renamed in place: line 3 names it too"},
		{"text-that-is-run", "eval \"env LOOM_A=1 loomserve --p 1\" > server.log &\n", renameV, "r.sh:1: LOOM_A cannot be renamed in place: it stands inside a text that becomes words only when it is run"},
		{"split-text", "E=\"LOOM_A=1 X=2\"\nenv $E " + start, renameV, "r.sh:1: LOOM_A cannot be renamed in place: it stands inside a text that becomes words only when it is run"},
		{"computed-name", "N=LOOM_A\nexport \"$N=1\"\n" + start, renameV, "r.sh: the launch of the engine does not set LOOM_A"},
		{"not-exported", "LOOM_A=1\n" + start, renameV, "r.sh: the launch of the engine does not set LOOM_A"},
		{"taken-back", "export -n LOOM_A=1\n" + start, renameV, "r.sh: the launch of the engine does not set LOOM_A"},
		{"new-name-in-use", "export LOOM_A=1\nLOOM_Z=2\n" + start, renameV, "r.sh:2: LOOM_Z is there already"},
		{"no-name", "export LOOM_A=1\n" + start, func(s []byte, f string) ([]recipe.Edit, error) { return RenameVariable(s, f, "LOOM_A", "A=B") }, `r.sh: "A=B" is no name of a variable`},
	})
}

func TestDropVariable(t *testing.T) {
	checkScripts(t, "r.sh", []editCase{
		{"beside-unnamed", "export LOOM_A=1 $EXTRA\n" + start, dropV, "export $EXTRA\n" + start},
		{"beside-command", "export LOOM_A=1 $(cat more)\n" + start, dropV, "export $(cat more)\n" + start},
		{"line", "# one\nexport LOOM_A=1 # why\n\necho\n" + start, dropV, "# one\n\necho\n" + start},
		{"lines", "  export \\\n    LOOM_A='1\n2';\n" + start, dropV, start},
		{"crlf", "echo\r\nexport LOOM_A=1\r\n" + start, dropV, "echo\r\n" + start},
		{"first-of-many", "export LOOM_A=1 X=2\n" + start, dropV, "export X=2\n" + start},
		{"last-of-many", "export X=2 \\\n  LOOM_A=1\n" + start, dropV, "export X=2\n" + start},
		{"declare", "declare -x -i LOOM_A=1\n" + start, dropV, start},
		{"twice-in-one", "export LOOM_A=1 LOOM_A=2\n" + start, dropV, start},
		{"only-one-of-a-branch", "if x; then\n  export LOOM_A=1\nfi\n" + start, dropV, "if x; then\n  :\nfi\n" + start},
		{"first-of-a-branch", "if x; then\n  export LOOM_A=1\n  y\nfi\n" + start, dropV, "if x; then\n  y\nfi\n" + start},
		{"result-of-a-function", "f() {\n  false\n  export LOOM_A=1\n}\nf && x\n" + start, dropV, "f() {\n  false\n  :\n}\nf && x\n" + start},
		{"result-asked-for", "false\nexport LOOM_A=1\nR=$?\n" + start, dropV, "false\n:\nR=$?\n" + start},
		{"behind-a-condition", "[ -n \"$X\" ] && export LOOM_A=1\n" + start, dropV, "[ -n \"$X\" ] && :\n" + start},
		{"beside-another", "export LOOM_A=1; x\n" + start, dropV, ":; x\n" + start},
		{"with-a-redirection", "export LOOM_A=1 > x\n" + start, dropV, ": > x\n" + start},
		{"case", "case x in\n x) export LOOM_A=1 ;;\nesac\n" + start, dropV, "case x in\n x) : ;;\nesac\n" + start},
		{"prefix", "X=1 LOOM_A=2 " + start, dropV, "X=1 " + start},
		{"prefix-continued", "LOOM_A=2 \\\n  X=1 " + start, dropV, "X=1 " + start},
		{"env", "env -i LOOM_A=\"2 3\" X=1 " + start, dropV, "env -i X=1 " + start},
		{"env-continued", "env LOOM_A='2' \\\n  " + start, dropV, "env \\\n  " + start},
		{"env-in-an-array", "C=(env LOOM_A=1 loomserve --p 1)\n\"${C[@]}\" > server.log &\n", dropV, "C=(env loomserve --p 1)\n\"${C[@]}\" > server.log &\n"},
		{"every-place", "if x; then export LOOM_A=1 Y=1; fi\nLOOM_A=3 " + start, dropV, "if x; then export Y=1; fi\n" + start},
		{"value-of-a-variable", "export LOOM_A=${X:-1}\n" + start, dropV, start},
	})
	checkRefused(t, "r.sh", []editCase{
		{"value-of-a-command", "export LOOM_A=$(make)\n" + start, dropV, "r.sh:1: LOOM_A cannot be dropped in place: its value has an effect of its own"},
		{"value-that-counts", "LOOM_A=$((I++)) " + start, dropV, "r.sh:1: LOOM_A cannot be dropped in place: its value has an effect of its own"},
		{"value-that-sets", "env LOOM_A=${X:=1} " + start, dropV, "r.sh:1: LOOM_A cannot be dropped in place: its value has an effect of its own"},
		{"read-elsewhere", "export LOOM_A=1\necho \"${LOOM_A:-x}\"\n" + start, dropV, "r.sh:1: LOOM_A cannot be dropped in place: line 2 names it too"},
		{"text-that-is-run", "eval env \"LOOM_A=1 loomserve --p 1\" > server.log &\n", dropV, "r.sh:1: LOOM_A cannot be dropped in place: it stands inside a text that becomes words only when it is run"},
	})
}

func TestEditDeclaredVariable(t *testing.T) {
	declared := func(env string) string { return "version: 1\nserver:\n  command: [loomserve]\n" + env }
	checkScripts(t, "r.yaml", []editCase{
		{"rename", declared("  env:\n    LOOM_A: 1 # one\n    X: \"${TP}\"\n"), renameV, declared("  env:\n    LOOM_Z: 1 # one\n    X: \"${TP}\"\n")},
		{"rename-in-quotes", declared("  env: {\"LOOM_A\": 1}\n"), renameV, declared("  env: {\"LOOM_Z\": 1}\n")},
		{"drop", declared("  env:\n    LOOM_A: 1 # one\n    X: 2\n"), dropV, declared("  env:\n    X: 2\n")},
		{"drop-in-a-flow-map", declared("  env: {X: 2, LOOM_A: 1}\n"), dropV, declared("  env: {X: 2}\n")},
		{"drop-the-only-one", declared("  env:\n    LOOM_A: 1 # one\nready: {path: /x}\n"), dropV, declared("ready: {path: /x}\n")},
		{"drop-an-argument", "version: 1\nserver: {command: [env, LOOM_A=1, loomserve]}\n", dropV, "version: 1\nserver: {command: [env, loomserve]}\n"},
	})
	checkRefused(t, "r.yaml", []editCase{
		{"new-name-in-use", declared("  env: {LOOM_A: 1, LOOM_Z: 2}\n"), renameV, "r.yaml:4: LOOM_Z is there already"},
		{"in-pieces", declared("  env: {\"LOOM\\x5fA\": 1}\n"), renameV, "r.yaml:4: LOOM_A cannot be renamed in place: it is not written in one piece"},
		{"not-set", declared(""), dropV, "r.yaml: the launch of the engine does not set LOOM_A"},
	})
}

func TestEditFlag(t *testing.T) {
	checkScripts(t, "r.sh", []editCase{
		{"rename-everywhere", "A=(--a 1)\nif x; then A+=(--a=2); fi\nloomserve \"${A[@]}\" > server.log &\n", renameF, "A=(--zoom 1)\nif x; then A+=(--zoom=2); fi\nloomserve \"${A[@]}\" > server.log &\n"},
		{"rename-in-quotes", "loomserve \"--a=$X\" > server.log &\n", renameF, "loomserve \"--zoom=$X\" > server.log &\n"},
		{"drop-everywhere", "A=(--a 1 --b)\nif x; then A+=(--a=2); fi\nloomserve \"${A[@]}\" > server.log &\n", dropF, "A=( --b)\nif x; then A+=(); fi\nloomserve \"${A[@]}\" > server.log &\n"},
	})
	checkScripts(t, "r.sh", []editCase{
		{"drop-with-a-quoted-value", "loomserve --a \"$X y\" --b 'c d' > server.log &\n", dropF, "loomserve --b 'c d' > server.log &\n"},
		{"drop-with-many-values", "loomserve --a '1' \"2 3\" $X${Y:-z} --b > server.log &\n", dropF, "loomserve --b > server.log &\n"},
	})
	checkRefused(t, "r.sh", []editCase{
		{"drop-value-that-counts", "loomserve --a \"$((I++))\" > server.log &\n", dropF, "r.sh:1: --a cannot be dropped in place: it does not stand there by itself with its values behind it"},
		{"drop-value-of-a-command", "loomserve --a \"$(make)\" > server.log &\n", dropF, "r.sh:1: --a cannot be dropped in place: it does not stand there by itself with its values behind it"},
		{"drop-value-in-a-text", "M=\"1 2\"\nloomserve --a $M > server.log &\n", dropF, "r.sh:2: --a cannot be dropped in place: it does not stand there by itself with its values behind it"},
		{"in-pieces", "loomserve --\"a\" > server.log &\n", renameF, "r.sh:1: --a cannot be renamed in place: it is not written in one piece"},
		{"drop-in-quotes", "loomserve \"--a\" 1 > server.log &\n", dropF, "r.sh:1: --a cannot be dropped in place: it does not stand there by itself with its values behind it"},
		{"not-set", start, dropF, "r.sh: the launch of the engine does not set --a"},
		{"new-name-in-use", "loomserve --a --zoom > server.log &\n", renameF, "r.sh:1: --zoom is there already"},
		{"no-flag", start, func(s []byte, f string) ([]recipe.Edit, error) { return RenameFlag(s, f, "--p", "--x y") }, `r.sh: "--x y" is no name of a flag`},
		{"no-launch", "echo\n", dropF, "r.sh: " + ErrNoLaunch.Error()},
	})
}

// What is proposed for the variables of a recipe, made together.
func TestProposedVariableEdits(t *testing.T) {
	before := Model{Variables: []Variable{{Name: "LOOM_A"}, {Name: "LOOM_B"}, {Name: "LOOM_OLD", AliasOf: "LOOM_NEW"}, {Name: "LOOM_NEW"}, {Name: "LOOM_KEPT"}}}
	after := Model{Variables: []Variable{{Name: "LOOM_NEW"}, {Name: "LOOM_KEPT"}}}
	for _, c := range []struct{ name, file, src, want string }{
		{"dropped", "r.sh", "export LOOM_KEPT=1 LOOM_A=1\n" + start, "export LOOM_KEPT=1\n" + start},
		{"all-of-a-statement", "r.sh", "export LOOM_A=1 LOOM_B=1\n" + start, start},
		{"renamed", "r.sh", "export LOOM_OLD=1 LOOM_B=1\n" + start, "export LOOM_NEW=1\n" + start},
		{"new-name-set-already", "r.sh", "export LOOM_OLD=1 LOOM_NEW=1\n" + start, ""},
		{"named-elsewhere", "r.sh", "export LOOM_A=1\necho $LOOM_A\n" + start, ""},
		{"declared", "r.yaml", "version: 1\nserver:\n  command: [s]\n  env:\n    LOOM_A: 1\n    LOOM_KEPT: 1\n    LOOM_B: 1\n", "version: 1\nserver:\n  command: [s]\n  env:\n    LOOM_KEPT: 1\n"},
		{"all-declared", "r.yaml", "version: 1\nserver:\n  command: [s]\n  env:\n    LOOM_A: 1\n    LOOM_B: 1\n", "version: 1\nserver:\n  command: [s]\n"},
		{"neighbours-of-a-flow-map", "r.yaml", "version: 1\nserver: {command: [s], env: {LOOM_KEPT: 1, LOOM_A: 1, LOOM_B: 1}}\n", "version: 1\nserver: {command: [s], env: {LOOM_KEPT: 1, }}\n"},
	} {
		l, err := ReadLaunch([]byte(c.src), c.file)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var edits []recipe.Edit
		for _, e := range Compare(before, after, l).Edits() {
			edits = append(edits, e.Edit)
		}
		if c.want == "" {
			c.want = c.src
		}
		got, err := recipe.Splice([]byte(c.src), edits)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: got %q, %v; want %q", c.name, got, err, c.want)
		}
		if _, err := ReadLaunch(got, c.file); err != nil {
			t.Errorf("%s: read again: %v", c.name, err)
		}
	}
	l := launchOf(t, "export LOOM_OLD=1\nexport LOOM_A=1\n"+start)
	var messages []string
	for _, f := range Compare(before, after, l).Findings {
		if f.Kind == "variable" {
			messages = append(messages, f.Message)
		}
	}
	want := []string{
		"LOOM_OLD should be accepted without effect: no Python source of the new version reads it, but it was an old spelling of LOOM_NEW, which is read; LOOM_NEW keeps the old meaning",
		"LOOM_A should be accepted without effect: no Python source of the new version reads it; leaving it out changes nothing for the new version",
	}
	if !slices.Equal(messages, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(messages, "\n"), strings.Join(want, "\n"))
	}
}
