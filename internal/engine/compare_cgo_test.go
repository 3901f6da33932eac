//go:build cgo

package engine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/recipe"
)

// verdicts spells findings one a line.
func verdicts(c Comparison) string {
	var b strings.Builder
	for _, f := range c.Findings {
		edit := ""
		if f.Edit != nil {
			edit = " -> " + f.Edit.New
		}
		fmt.Fprintf(&b, "%s %s %s %s%s\n", f.Kind, f.Name, f.Verdict, f.Confidence, edit)
	}
	return b.String()
}

func TestCompareAliasDropped(t *testing.T) {
	const script = "simserve --model-path m --chunk 1 --thread-fraction 0.8 --graph-max-batch 16 > server.log 2>&1 &\n"
	l := launchOf(t, script)
	c := Compare(loom(t, "v1"), loom(t, "v2"), l)
	f := c.Findings[0]
	at := strings.Index(script, "--graph-max-batch")
	want := Finding{
		Kind: "flag", Name: "--graph-max-batch", Old: "--graph-max-batch, deprecated, stores graph_max_batch_decode",
		New: "ambiguous: --graph-max-batch-decode, --graph-max-batch-prefill", Verdict: AmbiguousName, Confidence: Certain, Recipe: "r.sh:1",
		Evidence: []string{"old loom/server_args.py:52", "new loom/server_args.py:22", "new loom/server_args.py:23"},
		Edit:     &recipe.Edit{Start: at, End: at + len("--graph-max-batch"), Old: "--graph-max-batch", New: "--graph-max-batch-decode"},
		EditFile: "r.sh",
		Message: "--graph-max-batch is rejected as ambiguous: ambiguous option: --graph-max-batch could match --graph-max-batch-decode, " +
			"--graph-max-batch-prefill; --graph-max-batch-decode keeps the old meaning",
	}
	if diff := cmp.Diff(want, f); diff != "" {
		t.Errorf("finding: -want +got\n%s", diff)
	}
	if !c.Certain() {
		t.Error("certain: got false, want true")
	}
	edits := c.Edits()
	if len(edits) != 1 {
		t.Fatalf("edits: got %v, want one", edits)
	}
	e := edits[0].Edit
	fixed := script[:e.Start] + e.New + script[e.End:]
	again := Compare(loom(t, "v1"), loom(t, "v2"), launchOf(t, fixed))
	if again.Certain() || len(again.Edits()) != 0 {
		t.Errorf("after the edit:\n%s", verdicts(again))
	}
}

func TestCompareRecipe(t *testing.T) {
	script, err := os.ReadFile("testdata/recipe.sh")
	if err != nil {
		t.Fatal(err)
	}
	l, err := ReadLaunch(script, "recipe.sh")
	if err != nil {
		t.Fatal(err)
	}
	c := Compare(loom(t, "v1"), loom(t, "v2"), l)
	want := `flag --enable-twill rejected certain -> --weave=twill
flag --dark rejected certain -> --night
flag --graph-max-batch ambiguous certain -> --graph-max-batch-decode
flag --weave value-rejected certain
flag --skip-map other-meaning certain
flag --fast-hands no-effect certain
variable LOOM_TENSION no-effect likely -> 
default --chunk default-moved certain
variable LOOM_SPOOLS default-moved certain
flag --model-path same certain
flag --port same certain
flag --tp same certain
flag --stops same certain
flag --thread-fraction same certain
flag --depth same certain
flag --pattern same certain
variable LOOM_QUIET same certain
`
	if diff := cmp.Diff(want, verdicts(c)); diff != "" {
		t.Errorf("findings: -want +got\n%s", diff)
	}
	if c.FlagsRead != 13 || c.VariablesRead != 3 {
		t.Errorf("read %d flags and %d variables, want 13 and 3", c.FlagsRead, c.VariablesRead)
	}
	if !slices.ContainsFunc(c.NotRead, func(s string) bool { return strings.Contains(s, "NCCL_NVLS_ENABLE") }) {
		t.Errorf("not read: %q does not name the variable of a dependency", c.NotRead)
	}
	for _, f := range c.Findings {
		if strings.Contains(f.Message, "safe") || f.Message == "" {
			t.Errorf("%s: message %q", f.Name, f.Message)
		}
	}
}

func TestCompareCases(t *testing.T) {
	for _, c := range []struct{ name, old, new, flags, want string }{
		{"abbreviation-in-both", "size: A[int, 'S.'] = 1", "size: A[int, 'S.'] = 1", "--si 2", "flag --si same certain"},
		{"abbreviation-becomes-ambiguous", "size: A[int, 'S.'] = 1", "size: A[int, 'S.'] = 1\n    side: A[int, 'S.'] = 1", "--si 2", "flag --si ambiguous certain -> --size"},
		{"choice-gone", "p: A[Literal['a', 'b'], 'P.'] = 'a'", "p: A[Literal['a'], 'P.'] = 'a'", "--p b", "flag --p value-rejected certain"},
		{"choice-gone-value-symbolic", "p: A[Literal['a', 'b'], 'P.'] = 'a'", "p: A[Literal['a'], 'P.'] = 'a'", "--p $P", "flag --p cannot-tell cannot tell"},
		{"choice-open", "p: A[Literal['a', 'b'], 'P.'] = 'a'", "p: A[str, Arg(choices=R.all())] = 'a'", "--p b", "flag --p cannot-tell cannot tell"},
		{"becomes-a-pair", "b: A[bool, 'B.'] = False", "b: A[bool, Arg(action=BooleanOptionalAction)] = True", "--b", "flag --b same certain"},
		{"no-form-gone", "b: A[bool, Arg(action=BooleanOptionalAction)] = True", "b: A[bool, 'B.'] = False", "--no-b", "flag --no-b rejected certain"},
		{"renamed-without-alias", "a: A[int, 'A.'] = 1", "z: A[int, 'Z.'] = 1", "--a 2", "flag --a rejected certain"},
		{"field-renamed-flag-kept", "a: A[int, 'A.'] = 1", "b: A[int, Arg(cli_name='--a')] = 1", "--a 2", "flag --a same likely"},
		{"flag-moved-to-another-field", "a: A[int, 'A.'] = 1\n    b: A[int, 'B.'] = 1", "b: A[int, Arg(aliases=['--a'])] = 1", "--a 2", "flag --a other-meaning certain"},
		{"cli-name-changed", "a: A[int, 'A.'] = 1", "a: A[int, Arg(cli_name='--long')] = 1", "--a 2", "flag --a rejected certain -> --long"},
		{"int-becomes-text", "a: A[int, 'A.'] = 1", "a: A[str, 'A.'] = 1", "--a 02", "flag --a other-meaning certain"},
		{"int-becomes-float", "a: A[int, 'A.'] = 1", "a: A[float, 'A.'] = 1", "--a 2", "flag --a same certain"},
		{"switch-becomes-valued", "a: A[bool, 'A.'] = False", "a: A[int, 'A.'] = 1", "--a", "flag --a value-rejected certain"},
		{"registration-unread", "a: A[int, 'A.'] = 1", "b: A[int, 'B.'] = 1\n    def f(parser): parser.add_argument(n())", "--a 2", "flag --a rejected likely"},
		{"not-declared-before", "a: A[int, 'A.'] = 1", "a: A[int, 'A.'] = 1\n    b: A[int, 'B.'] = 1", "--b 2", "flag --b cannot-tell cannot tell"},
		{"in-neither", "a: A[int, 'A.'] = 1", "a: A[int, 'A.'] = 1", "--zz 2", "flag --zz rejected likely"},
		{"default-computed", "a: A[int, 'A.'] = f()", "a: A[int, 'A.'] = g()", "", "default --a default-moved cannot tell"},
		{"default-wrapped", "a: A[int, 'A.'] = 3", "a: A[int, 'A.'] = field(default=3)", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			head := "class Args:\n    keep: A[int, 'Keep.'] = 0\n    "
			l := launchOf(t, "simserve --keep 1 "+c.flags+" > server.log &")
			cmp := Compare(readText(t, head+c.old+"\n"), readText(t, head+c.new+"\n"), l)
			var got []string
			for _, line := range strings.Split(strings.TrimSpace(verdicts(cmp)), "\n") {
				if strings.Contains(line, " --keep ") || strings.HasPrefix(line, "default") && c.flags != "" {
					continue
				}
				got = append(got, line)
			}
			if text := strings.Join(got, "\n"); text != c.want {
				t.Errorf("%s to %s with %s: got %q, want %q", c.old, c.new, c.flags, text, c.want)
			}
		})
	}
}

func TestComparePatchedEngineIsNotCertain(t *testing.T) {
	l := launchOf(t, "sed -i s/a/b/ /x/site-packages/loom/a.py\nsimserve --model-path m --graph-max-batch 16 > server.log &\n")
	c := Compare(loom(t, "v1"), loom(t, "v2"), l)
	f := c.Findings[0]
	if f.Confidence != Likely || c.Certain() || !strings.HasPrefix(f.Message, "--graph-max-batch should be rejected as ambiguous: ") {
		t.Errorf("got %s, certain %v: %s", f.Confidence, c.Certain(), f.Message)
	}
	if len(c.NotRead) == 0 || !strings.Contains(c.NotRead[0], "sed edits") {
		t.Errorf("not read: got %q, want the notice first", c.NotRead)
	}
}

func TestCompareConditionalIsNotCertainAsAWhole(t *testing.T) {
	l := launchOf(t, "A=(--model-path m)\n[ $X = 1 ] && A+=(--graph-max-batch 16)\nsimserve \"${A[@]}\" > server.log &\n")
	c := Compare(loom(t, "v1"), loom(t, "v2"), l)
	f := c.Findings[0]
	if f.Confidence != Certain || f.Condition != "[ $X = 1 ]" || c.Certain() {
		t.Errorf("got %s under %q, whole %v, want certain under the condition, whole false", f.Confidence, f.Condition, c.Certain())
	}
}
