package engine

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/recipe"
)

// summary spells findings one a line: verdict, edit, candidates.
func summary(c Comparison) string {
	var b strings.Builder
	for _, f := range c.Findings {
		fmt.Fprintf(&b, "%s %s %s %s", f.Kind, f.Name, f.Verdict, f.Confidence)
		if f.Edit != nil {
			fmt.Fprintf(&b, " %q -> %q", f.Edit.Old, f.Edit.New)
		}
		if f.Candidates != nil {
			fmt.Fprintf(&b, " candidates %s", strings.Join(f.Candidates, " "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// flagsOnly leaves the defaults that moved away.
func flagsOnly(c Comparison) Comparison {
	c.Findings = slices.DeleteFunc(c.Findings, func(f Finding) bool { return f.Kind == "default" })
	return c
}

func compareHelp(t *testing.T, flags string) Comparison {
	t.Helper()
	return Compare(helpOf(t, "columns-v1"), helpOf(t, "columns-v2"), launchOf(t, "loomserve "+flags+" > server.log 2>&1 &\n"))
}

func TestCompareHelp(t *testing.T) {
	for _, c := range []struct{ name, flags, want string }{
		{"kept", "--width 4 -nko", "flag --width same likely\nflag -nko same likely\n"},
		{"renamed-with-the-old-name-kept", "--port 80", "flag --port same likely\n"},
		{"one-of-two-names-gone", "--verbosity 1", `flag --verbosity rejected likely "--verbosity" -> "--log-verbosity"` + "\n"},
		{"gone-into-a-choice", "--no-map", "flag --no-map rejected likely candidates --load-mode\n"},
		{"gone-into-a-choice-and-default", "--map", "flag --map rejected likely candidates --load-mode\n"},
		{"gone-for-good", "--width-draft 3", "flag --width-draft rejected likely\n"},
		{"gone-without-a-word-and-default", "--cont --width-draft 0 --draft-hold=4", `flag --cont rejected likely " --cont" -> ""
flag --width-draft rejected likely " --width-draft 0" -> ""
flag --draft-hold rejected likely " --draft-hold=4" -> ""
`},
		{"gone-without-a-word-and-not-default", "--no-cont --draft-hold 5", "flag --no-cont rejected likely\nflag --draft-hold rejected likely\n"},
		{"gone-and-value-open", `--draft-hold "$N"`, "flag --draft-hold rejected likely\n"},
		{"gone-with-words-behind-the-switch", "--cont pattern", "flag --cont rejected likely\n"},
		{"no-effect-before", "--tidy", `flag --tidy rejected likely " --tidy" -> ""` + "\n"},
		{"removed-for-two", "--draft-max 8", "flag --draft-max rejected likely candidates --spec-n-max --spec-mod-max\n"},
		{"removed-for-one-described-alike", "--draft-seed 8", `flag --draft-seed rejected likely "--draft-seed" -> "--spec-seed" candidates --spec-seed` + "\n"},
		{"choice-gone", "--scaling yarn", "flag --scaling value-rejected likely\n"},
		{"choice-in-neither", "--scaling cubic", "flag --scaling cannot-tell cannot tell\n"},
		{"deprecated-in-both", "--thold 3", "flag --thold warned likely\n"},
		{"shown-only-now", "--load-mode map", "flag --load-mode cannot-tell cannot tell\n"},
		{"hidden-in-both", "--secret 3", "flag --secret cannot-tell cannot tell\n"},
		{"long-short-name-is-no-value", "-nope", "flag -nope cannot-tell cannot tell\n"},
		{"short-name-is-no-prefix", "-e", "flag -e rejected likely \" -e\" -> \"\"\n"},
	} {
		got := flagsOnly(compareHelp(t, c.flags))
		if d := diff.Diff(c.want, summary(got)); d != "" {
			t.Errorf("%s: -want +got\n%s", c.name, d)
		}
		if got.Certain() {
			t.Errorf("%s: a help text made something certain", c.name)
		}
		for _, f := range got.Findings {
			if !strings.Contains(f.Message, "read from --help") || strings.Contains(f.Message, "source") {
				t.Errorf("%s: message %q", c.name, f.Message)
			}
		}
	}
}

func TestCompareHelpMessage(t *testing.T) {
	c := compareHelp(t, "--no-map --draft-seed 1 --cont")
	var got []string
	for _, f := range c.Findings[:3] {
		got = append(got, f.Message+" | "+strings.Join(f.Evidence, ", "))
	}
	want := []string{
		"--no-map should be rejected: the new help text does not show it; the help of --load-mode (columns-v2:17) repeats its description at the value map, " +
			"values auto, none, map, pin, map+pin, while --no-map switches it off; no edit is exact, a person has to choose; read from --help" +
			" | old columns-v1:25, new columns-v2:17",
		"--draft-seed should be rejected: the argument has been removed. use --spec-seed; --spec-seed is described in the same words (columns-v2:47); " +
			"--spec-seed keeps the old meaning; read from --help | old columns-v1:55, new columns-v2:48, new columns-v2:47",
		"--cont should be rejected: the new help text does not show it; it only asks for the old version's default True; " +
			"leaving it out keeps the old meaning; read from --help | old columns-v1:57",
	}
	if d := diff.Diff(want, got); d != "" {
		t.Errorf("messages: -want +got\n%s", d)
	}
	if len(c.NotRead) != 2 || c.NotRead[0] != "old columns-v1:1: a help text need not show every option, abbreviation or effect" {
		t.Errorf("not read: %q", c.NotRead)
	}
}

func TestCompareHelpDefaultsAndVariables(t *testing.T) {
	c := compareHelp(t, "--port 1")
	want := "default --strict default-moved likely\nflag --port same likely\n"
	if d := diff.Diff(want, summary(c)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	l := launchOf(t, "export LOOM_LOG_FILE=x LOOM_ARG_WIDTH=4 LOOM_ARG_PIN=1 LOOM_ELSE=1\nloomserve > server.log 2>&1 &\n")
	c = Compare(helpOf(t, "columns-v1"), helpOf(t, "columns-v2"), l)
	c.Findings = slices.DeleteFunc(c.Findings, func(f Finding) bool { return f.Kind != "variable" })
	want = "variable LOOM_LOG_FILE no-effect likely \"LOOM_LOG_FILE\" -> \"LOOM_ARG_LOG_FILE\"\nvariable LOOM_ARG_PIN no-effect likely \" LOOM_ARG_PIN=1\" -> \"\"\nvariable LOOM_ARG_WIDTH same likely\n"
	if d := diff.Diff(want, summary(c)); d != "" {
		t.Errorf("-want +got\n%s", d)
	}
	if want := "LOOM_LOG_FILE should be accepted without effect: the new help text does not name it, and names LOOM_ARG_LOG_FILE for --log-file; LOOM_ARG_LOG_FILE keeps the old meaning; read from --help"; c.Findings[0].Message != want {
		t.Errorf("got %s, want %s", c.Findings[0].Message, want)
	}
	// A variable that sets an option is as good as its flag.
	with := Compare(Model{Source: FromHelp, Options: []Option{{Names: []string{"--a"}, Dest: "a", Default: "1"}}},
		Model{Source: FromHelp, Options: []Option{{Names: []string{"--a"}, Dest: "a", Default: "2"}}, Variables: []Variable{{Name: "A", Option: "--a"}}},
		Launch{Exports: []Use{{Name: "A", Value: "3"}}})
	if strings.Contains(summary(with), DefaultMoved) {
		t.Errorf("got %s", summary(with))
	}
}

// A flag is dropped where it stands: in a command, an array, a list.
func TestDropFlag(t *testing.T) {
	for _, c := range []struct{ name, file, before, after string }{
		{"end", "r.sh", "loomserve --port 1 --cont > server.log 2>&1 &\n", "loomserve --port 1 > server.log 2>&1 &\n"},
		{"own-line", "r.sh", "loomserve --port 1 \\\n    --cont \\\n    --width 3 > server.log 2>&1 &\n", "loomserve --port 1 \\\n \\\n    --width 3 > server.log 2>&1 &\n"},
		{"value-on-the-next-line", "r.sh", "loomserve --draft-hold \\\n  4 --width 3 > server.log 2>&1 &\n", "loomserve --width 3 > server.log 2>&1 &\n"},
		{"array", "r.sh", "A=(--cont)\nloomserve \"${A[@]}\" > server.log 2>&1 &\n", "A=()\nloomserve \"${A[@]}\" > server.log 2>&1 &\n"},
		{"quoted", "r.sh", "loomserve '--cont' > server.log 2>&1 &\n", ""},
		{"flow-list", "r.yaml", "version: 1\nserver: {command: [loomserve, --cont, --port, \"1\"]}\n", "version: 1\nserver: {command: [loomserve, --port, \"1\"]}\n"},
		{"flow-list-with-a-value", "r.yaml", "version: 1\nserver: {command: [loomserve, --draft-hold, four, --draft-hold=4]}\n", "version: 1\nserver: {command: [loomserve, --draft-hold, four]}\n"},
		{"block-list", "r.yaml", "version: 1\nserver:\n  command:\n    - loomserve\n    - --cont\n    - --port\n    - \"1\"\n", "version: 1\nserver:\n  command:\n    - loomserve\n    - --port\n    - \"1\"\n"},
		{"block-list-with-a-remark", "r.yaml", "version: 1\nserver:\n  command:\n    - loomserve\n    - --cont # fast\n", ""},
	} {
		l, err := ReadLaunch([]byte(c.before), c.file)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := Compare(helpOf(t, "columns-v1"), helpOf(t, "columns-v2"), l)
		edits := got.Edits()
		if c.after == "" {
			if len(edits) != 0 {
				t.Errorf("%s: got %+v, want no edit", c.name, edits)
			}
			continue
		}
		if len(edits) != 1 {
			t.Errorf("%s: got %d edits, want one\n%s", c.name, len(edits), summary(got))
			continue
		}
		after, err := recipe.Splice([]byte(c.before), []recipe.Edit{edits[0].Edit})
		if err != nil || string(after) != c.after {
			t.Errorf("%s: got %q, %v", c.name, after, err)
		}
		if again, err := ReadLaunch(after, c.file); err != nil || len(again.Uses) != len(l.Uses)-1 {
			t.Errorf("%s: read again: %d flags, %v", c.name, len(again.Uses), err)
		}
	}
}

func TestLaunchProgram(t *testing.T) {
	for _, c := range []struct{ name, command, want string }{
		{"plain", "loomserve --port 1", "loomserve"},
		{"subcommand", "loomserve serve $MODEL --port 1", "loomserve serve"},
		{"positional-that-is-no-subcommand", "loomserve org/Model --port 1", "loomserve"},
		{"module", "python3 -m loom.launch_server --port 1", "python3 -m loom.launch_server"},
		{"wrappers", "LOOM_X=1 exec env A=b numactl --cpunodebind=0 timeout 300 loomserve --port 1", "loomserve"},
		{"interpreter-behind-a-wrapper", "nohup python3 -u serve.py --port 1", "python3 -u serve.py"},
		{"not-fixed", "$SERVER --port 1", ""},
	} {
		if got := strings.Join(launchOf(t, c.command+" > server.log 2>&1 &\n").Program, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
	l, err := ReadLaunch([]byte("version: 1\nserver: {command: [loomserve, serve, \"${MODEL}\", --port, \"${PORT}\"]}\n"), "r.yaml")
	if got := strings.Join(l.Program, " "); err != nil || got != "loomserve serve" {
		t.Errorf("declared: got %q, %v", got, err)
	}
}
