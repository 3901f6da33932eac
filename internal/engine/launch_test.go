package engine

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func launchOf(t *testing.T, script string) Launch {
	t.Helper()
	l, err := ReadLaunch([]byte(script), "r.sh")
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// short spells uses one a line: name, value, ~ when symbolic, and the condition.
func short(uses []Use) string {
	var b strings.Builder
	for _, u := range uses {
		mark := ""
		if u.Symbolic {
			mark = " ~"
		}
		if u.Condition != "" {
			mark += " if " + u.Condition
		}
		fmt.Fprintf(&b, "%s %s%s\n", u.Name, u.Value, mark)
	}
	return b.String()
}

func TestReadLaunchRecipe(t *testing.T) {
	script, err := os.ReadFile("testdata/recipe.sh")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadLaunch(script, "recipe.sh")
	if err != nil {
		t.Fatal(err)
	}
	if want := "python3 -m loom.launch_server"; l.Command != want {
		t.Errorf("command: got %q, want %q", l.Command, want)
	}
	want := `--model-path $MODEL ~
--port 8888
--tp $TP ~
--skip-map  if [[ $CONC -gt 64 ]]
--graph-max-batch $CONC ~
--enable-twill 
--fast-hands 
--weave satin
--stops 1 2 3
--thread-fraction 0.8
--dark  if [[ "$NIGHT" == "true" ]]
--depth 4 if [[ "$NIGHT" == "true" ]]
--pattern dots if not ([[ "$NIGHT" == "true" ]])
`
	if diff := cmp.Diff(want, short(l.Uses)); diff != "" {
		t.Errorf("uses: -want +got\n%s", diff)
	}
	if diff := cmp.Diff("LOOM_QUIET 1\nLOOM_TENSION 0.7\nNCCL_NVLS_ENABLE 1\n", short(l.Exports)); diff != "" {
		t.Errorf("exports: -want +got\n%s", diff)
	}
	if len(l.Notices) != 0 {
		t.Errorf("notices: got %q, want none", l.Notices)
	}
	checkRanges(t, script, l)
}

// checkRanges: the bytes named by each use are its name.
func checkRanges(t *testing.T, script []byte, l Launch) {
	t.Helper()
	for _, u := range slices.Concat(l.Uses, l.Exports) {
		if got := string(script[u.Start:u.End]); got != u.Name {
			t.Errorf("%s: bytes %d to %d are %q, want %q", u.Location, u.Start, u.End, got, u.Name)
		}
		if line := 1 + strings.Count(string(script[:u.Start]), "\n"); line != u.Location.Line {
			t.Errorf("%s: stands on line %d", u.Location, line)
		}
	}
}

func TestReadLaunchForms(t *testing.T) {
	for _, c := range []struct{ name, script, command, uses string }{
		{"one-line", "simserve --a 1 --b > server.log 2>&1 &", "simserve", "--a 1\n--b \n"},
		{"tee", "simserve --a 1 2>&1 | tee server.log &", "simserve", "--a 1\n"},
		{"foreground-to-log", "LOG=out/server.log\nsimserve --a=1 > $LOG", "simserve", "--a 1\n"},
		{"background-only", "simserve --port 1 &\nclient --port 1", "simserve", "--port 1\n"},
		{"wrappers", "env X=1 numactl --cpunodebind 0 nohup python3 -u srv.py --a 1 > server.log &", "env X=1 numactl --cpunodebind 0 nohup python3 -u srv.py", "--a 1\n"},
		{"function", "start() {\n simserve --a 1 > server.log &\n}\nclient --b 2\nstart", "simserve", "--a 1\n"},
		{"subcommand", "loom serve MODEL --a 1 > server.log &", "loom serve MODEL", "--a 1\n"},
		{"array-of-all", "CMD=(loom serve --a \"$X\")\nCMD+=(--b)\n\"${CMD[@]}\" > server.log &", "loom serve", "--a $X ~\n--b \n"},
		{"case", "case $P in\n fp8) F=\"--q fp8\";;\n *) F=\"--q none\";;\nesac\nsimserve --a 1 $F > server.log &", "simserve", "--a 1\n--q fp8 if $P is fp8\n--q none if $P is *\n"},
		{"value-by-branch", "D=4\nif x; then D=8; fi\nsimserve --d $D > server.log &", "simserve", "--d $D ~\n"},
		{"eval", "CMD=\"simserve --a 1 --b 2\"\neval \"$CMD\" > server.log &", "eval simserve", "--a 1\n--b 2\n"},
		{"grown-variable", "F=\"--old 9\"\nF=\"\"\nF=\"$F --a 1\"\nF=\"$F --b\"\nif x; then\n F=\"$F --c 3\"\nfi\nsimserve $F > server.log &", "simserve", "--a 1\n--b \n--c 3 if x\n"},
		{"grown-array", "F=(--a 1)\nF=(\"${F[@]}\" --b)\nif x; then\n F=(\"${F[@]}\" --c)\nfi\nsimserve \"${F[@]}\" > server.log &", "simserve", "--a 1\n--b \n--c  if x\n"},
		{"doubled-many-times", strings.Repeat("F=\"$F $F\"\n", 60) + "simserve --a 1 $F > server.log &", "simserve", "--a 1\n"},
		{"quoted-flag", "simserve \"--a\" '1' --b \"x y\" > server.log &", "simserve", "--a 1\n--b x y\n"},
		{"negative-value", "simserve --a -1 --b -.5 > server.log &", "simserve", "--a -1\n--b -.5\n"},
		{"assigned-later", "simserve --a $X > server.log &\nX=3", "simserve", "--a $X ~\n"},
		{"two-branches", "if x; then\n simserve --a 1 > server.log &\nelse\n simserve --b 2 > server.log &\nfi", "simserve", "--a 1 if x\n--b 2 if not (x)\n"},
		{"odd-array-key", "declare -A M=(\n [1:2]=6\n)\nsimserve --a 1 > server.log &", "simserve", "--a 1\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := launchOf(t, c.script)
			if l.Command != c.command || short(l.Uses) != c.uses {
				t.Errorf("ReadLaunch(%s): got %q\n%s, want %q\n%s", c.script, l.Command, short(l.Uses), c.command, c.uses)
			}
			checkRanges(t, []byte(c.script), l)
		})
	}
}

func TestReadLaunchNotices(t *testing.T) {
	const start = "\nsimserve --a 1 > server.log &\n"
	for _, c := range []struct {
		name, before string
		want         int
	}{
		{"sed-on-package", "sed -i 's/a/b/' /usr/lib/python3/site-packages/loom/x.py", 1},
		{"sed-on-computed", "sed -i 's/a/b/' \"$LOOM_DIR/x.py\"", 1},
		{"sed-on-own-file", "sed -i 's/a/b/' config.yaml", 0},
		{"sed-only-prints", "sed -n 1p /usr/lib/x.py", 0},
		{"patch", "patch -p1 < fix.diff", 1},
		{"git-apply", "git apply fix.diff", 1},
		{"inline-python", "python3 - <<'E'\np.write_text(s.replace('a', 'b'))\nE", 1},
		{"inline-python-that-reads", "python3 -c 'import torch; print(torch.version)'", 0},
		{"pip", "pip install extra", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := launchOf(t, c.before+start).Notices; len(got) != c.want {
				t.Errorf("notices of %s: got %q, want %d", c.before, got, c.want)
			}
			if got := launchOf(t, start+c.before).Notices; len(got) != 0 {
				t.Errorf("notices after the launch: got %q, want none", got)
			}
		})
	}
}

func TestReadLaunchErrors(t *testing.T) {
	if _, err := ReadLaunch([]byte("echo hello\nrun_client --port 1\n"), "r.sh"); !errors.Is(err, ErrNoLaunch) || !strings.HasPrefix(err.Error(), "r.sh: ") {
		t.Errorf("no server: got %v, want ErrNoLaunch", err)
	}
	if _, err := ReadLaunch([]byte("x\nif then\n"), "r.sh"); err == nil || !strings.HasPrefix(err.Error(), "r.sh:2: not bash") {
		t.Errorf("no bash: got %v, want a place", err)
	}
}

func TestReadLaunchUnread(t *testing.T) {
	l := launchOf(t, "simserve --a 1 $EXTRA_ARGS \"${MORE[@]}\" --b 2 > server.log &")
	if short(l.Uses) != "--a 1\n--b 2\n" || len(l.NotRead) != 2 {
		t.Errorf("got %s not read %q, want two unread words", short(l.Uses), l.NotRead)
	}
}

func FuzzReadLaunch(f *testing.F) {
	recipe, err := os.ReadFile("testdata/recipe.sh")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(recipe)
	f.Add([]byte("A=(--x $A \"${A[@]}\")\nB=\"$B --y\"\nsrv $B \"${A[@]}\" --z=\"$B\" > server.log &"))
	f.Add([]byte("eval \"srv --a 'x y'\" > server.log & sed -i s/a/b/ /x.py"))
	f.Fuzz(func(t *testing.T, script []byte) {
		l, err := ReadLaunch(script, "f.sh")
		if err != nil {
			return
		}
		for _, u := range slices.Concat(l.Uses, l.Exports) {
			if u.Start < 0 || u.End > len(script) || u.Start > u.End {
				t.Fatalf("range %d to %d outside of %d bytes", u.Start, u.End, len(script))
			}
		}
		Compare(Model{}, Model{}, l)
	})
}
