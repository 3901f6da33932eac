//go:build cgo

package engine

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func loom(t *testing.T, version string) Model {
	t.Helper()
	m, err := Read(os.DirFS("testdata/loom"), version)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// outline spells an option on one line.
func outline(o Option) string {
	parts := []string{strings.Join(o.Names, ","), o.Dest}
	add := func(key, v string) {
		if v != "" {
			parts = append(parts, key+"="+v)
		}
	}
	add("type", o.Type)
	add("action", o.Action)
	add("nargs", o.Nargs)
	add("choices", strings.Join(o.Choices, "|"))
	add("default", o.Default)
	add("const", o.Const)
	add("deprecated", o.Deprecated)
	add("for", o.AliasOf)
	add("if", o.Condition)
	if o.Required {
		parts = append(parts, "required")
	}
	if o.OpenChoices {
		parts = append(parts, "open")
	}
	return strings.Join(parts, " ")
}

func TestReadLoom(t *testing.T) {
	m := loom(t, "v1")
	var got []string
	for _, o := range m.Options {
		got = append(got, outline(o))
	}
	want := []string{
		"--model-path model_path required",
		`--host host default="127.0.0.1"`,
		"--port port type=int default=30000",
		"--tensor-parallel-size,--tp-size tensor_parallel_size type=int default=1",
		"--thread-fraction thread_fraction type=float default=0.9",
		"--graph-max-batch-decode graph_max_batch_decode type=int default=None",
		"--graph-max-batch-prefill graph_max_batch_prefill type=int default=None",
		"--row-size,--depth row_depth type=int default=None",
		`--weave weave choices=plain|twill|satin default="plain"`,
		"--shuttle shuttle choices=wood|steel default=None",
		`--paint paint choices=red|blue default="red"`,
		"--pattern pattern choices=dots|stripes default=None",
		"--level level type=int choices=1|2|3 default=2",
		"--stops stops type=int nargs=+ choices=1|2|3 default=None",
		"--night night action=store_true default=False",
		"--skip-map skip_map action=store_true default=False",
		"--skip-map-cache skip_map_cache action=store_true default=False",
		"--chunk chunk type=int default=8192",
		"--overlap overlap action=on_off default=True",
		"--labels labels nargs=+ default=[]",
		"--seed seed type=int default=None",
		"--config config type=str",
		"--graph-max-batch graph_max_batch_decode type=int default=SUPPRESS deprecated=alias for=--graph-max-batch-decode",
		"--dark night action=store_true nargs=0 default=SUPPRESS deprecated=alias for=--night",
		`--enable-twill weave action=store_const nargs=0 default=SUPPRESS const="twill" deprecated=alias for=--weave`,
		"--fast-hands fast_hands nargs=0 deprecated=no-effect",
		"--steam steam nargs=0 deprecated=error",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("options: -want +got\n%s", diff)
	}
	if !m.Complete || len(m.Unnamed) != 0 {
		t.Errorf("complete: got %v, unnamed %v, notes %q", m.Complete, m.Unnamed, m.Notes)
	}
	if want := []string{"loom/bench_loom.py:1: 1 add_argument calls not counted: the file declares no fields of the server"}; !slices.Equal(m.Notes, want) {
		t.Errorf("notes: got %q, want %q", m.Notes, want)
	}
	if o, _ := m.Option("--graph-max-batch"); o.At != (Location{"loom/server_args.py", 52}) {
		t.Errorf("--graph-max-batch: declared at %s", o.At)
	}
}

func TestReadVariables(t *testing.T) {
	var got []string
	for _, v := range loom(t, "v1").Variables {
		got = append(got, strings.TrimSpace(fmt.Sprintf("%s %s %s", v.Name, v.Default, v.AliasOf)))
	}
	want := []string{"LOOM_FALLBACK_KNOTS", "LOOM_KNOTS", "LOOM_LAZY True", "LOOM_QUIET False", "LOOM_SLOW  LOOM_LAZY", "LOOM_SPOOLS 4", `LOOM_TENSION "0.5"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("variables: -want +got\n%s", diff)
	}
}

// readText reads one file, with a helper module beside it.
func readText(t *testing.T, src string) Model {
	t.Helper()
	m, err := Read(fstest.MapFS{
		"src/pkg/args.py":  {Data: []byte(src)},
		"src/pkg/names.py": {Data: []byte("NAMES = ['x', 'y']\nOPEN = ['x']\ndef add(n):\n    OPEN.append(n)\nTABLE = {'k': 1, 'l': 2}\n")},
	}, "src")
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestReadForms(t *testing.T) {
	for _, c := range []struct{ name, field, want string }{
		{"choices-constant", "c: A[str, Arg(choices=NAMES)] = 'x'", `--c c choices=x|y default="x"`},
		{"choices-sum", "c: A[str, Arg(choices=NAMES + ['z'])] = 'x'", `--c c choices=x|y|z default="x"`},
		{"choices-splat", "c: A[str, Arg(choices=[*NAMES, 'z'])] = 'x'", `--c c choices=x|y|z default="x"`},
		{"choices-through-module", "c: A[str, Arg(choices=names.NAMES)] = 'x'", `--c c choices=x|y default="x"`},
		{"choices-of-a-table", "c: A[str, Arg(choices=list(names.TABLE.keys()))] = 'k'", `--c c choices=k|l default="k"`},
		{"choices-extended-later", "c: A[str, Arg(choices=names.OPEN)] = 'x'", `--c c choices=x default="x" open`},
		{"choices-of-a-registry", "c: A[str, Arg(choices=list(Registry.keys()))] = 'x'", `--c c default="x" open`},
		{"bool-default-true", "b: A[bool, 'B.'] = True", "--b b action=store_true default=True"},
		{"optional-bool", "b: A[Optional[bool], 'B.'] = None", "--b b action=store_true default=None"},
		{"or-none", "i: A[int | None, 'I.'] = None", "--i i type=int default=None"},
		{"union", "i: A[Union[int, None], 'I.'] = None", "--i i type=int default=None"},
		{"list-of-texts", "l: A[List[str], 'L.'] = field(default_factory=lambda: ['a'])", `--l l nargs=+ default=["a"]`},
		{"parser-takes-whole-text", "l: A[List[int], Arg(type_parser=read_list)] = None", "--l l type=read_list default=None"},
		{"other-type", "d: A[Dict[str, int], 'D.'] = None", "--d d default=None"},
		{"computed-default", "n: A[int, 'N.'] = cpu_count()", "--n n type=int default=cpu_count()"},
		{"field-default", "n: A[int, 'N.'] = field(default=3)", "--n n type=int default=3"},
		{"negative", "n: A[int, 'N.'] = -1", "--n n type=int default=-1"},
		{"typing-spelling", "n: typing.Annotated[int, 'N.'] = 1", "--n n type=int default=1"},
		{"formatted-help", "n: A[int, f'N {x}.'] = 1", "--n n type=int default=1"},
		{"action-wins", "b: A[bool, Arg(action='store_false')] = True", "--b b action=store_false default=True"},
		{"cli-name-without-dashes", "n: A[int, Arg(cli_name='other')] = 1", "--other n type=int default=1"},
		{"literal-of-texts-and-none", "p: A[Optional[Literal['a', 'b']], 'P.'] = None", "--p p choices=a|b default=None"},
		{"only-name-space", "p: A[int, NS('x')] = 1", ""},
		{"no-cli", "p: A[int, Arg(help='x', no_cli=True)] = 1", ""},
		{"plain-field", "p: int = 1", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := readText(t, "from typing import Annotated as A\nfrom .names import NAMES\nfrom . import names\nclass Args:\n    keep: A[int, 'Keep.'] = 0\n    "+c.field+"\n")
			got := ""
			if len(m.Options) > 1 {
				got = outline(m.Options[1])
			}
			if got != c.want {
				t.Errorf("%s: got %q, want %q (notes %q)", c.field, got, c.want, m.Notes)
			}
			if open := strings.HasSuffix(c.want, "open"); m.Complete == open {
				t.Errorf("%s: complete is %v, notes %q", c.field, m.Complete, m.Notes)
			}
		})
	}
}

func TestReadIncomplete(t *testing.T) {
	for _, c := range []struct{ name, call, note string }{
		{"computed-name", "parser.add_argument(prefix + '--x')", "option text is no literal"},
		{"passed-on-names", "parser.add_argument(*names, **kw)", "option text is no literal"},
		{"unknown-action", "parser.add_argument('--x', action=Elsewhere)", "action class Elsewhere"},
		{"computed-dest", "parser.add_argument('--x', dest=where())", "dest of --x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := readText(t, "class Args:\n    keep: A[int, 'Keep.'] = 0\n    def add(parser):\n        "+c.call+"\n")
			if m.Complete || len(m.Notes) != 1 || !strings.HasPrefix(m.Notes[0], "pkg/args.py:4: ") || !strings.Contains(m.Notes[0], c.note) {
				t.Errorf("%s: complete %v, notes %q, want %q", c.call, m.Complete, m.Notes, c.note)
			}
		})
	}
}

func TestReadConditionAndHelper(t *testing.T) {
	m, err := Read(fstest.MapFS{
		"args.py": {Data: []byte("from old import add_old\nclass Args:\n    keep: A[int, 'Keep.'] = 0\n    def add(parser):\n        add_old(parser)\n        if fast:\n            parser.add_argument('--fast')\n        else:\n            parser.add_argument('--slow')\n")},
		"old.py":  {Data: []byte("def add_old(parser):\n    parser.add_argument('--old')\ndef other(parser):\n    parser.add_argument('--other')\n")},
	}, ".")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, o := range m.Options {
		got = append(got, outline(o))
	}
	if want := []string{"--keep keep type=int default=0", "--fast fast if=fast", "--slow slow if=not (fast)", "--old old"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestReadErrors(t *testing.T) {
	if _, err := Read(fstest.MapFS{"a.py": {Data: []byte("x = 1\n")}}, "."); err == nil || !strings.Contains(err.Error(), "no argument declarations") {
		t.Errorf("no declarations: got %v", err)
	}
	if _, err := Read(fstest.MapFS{}, "gone"); err == nil {
		t.Error("missing root: got no error")
	}
	broken := readText(t, "class Args:\n    keep: A[int, 'Keep.'] = 0\n    x: A[int, = = 3\n")
	if broken.Complete || len(broken.Notes) == 0 {
		t.Errorf("broken Python: complete %v, notes %q", broken.Complete, broken.Notes)
	}
	twice := readText(t, "class Args:\n    a: A[int, 'A.'] = 0\n    b: A[int, Arg(cli_name='--a')] = 0\n")
	if len(twice.Notes) != 1 || !strings.Contains(twice.Notes[0], "--a is declared twice") {
		t.Errorf("declared twice: notes %q", twice.Notes)
	}
}

// TestReadConstantsThatExplode: constants doubling one another stay cheap.
func TestReadConstantsThatExplode(t *testing.T) {
	var b strings.Builder
	b.WriteString("C0 = ['x']\n")
	for i := 1; i < 30; i++ {
		fmt.Fprintf(&b, "C%d = C%d + C%d\n", i, i-1, i-1)
	}
	b.WriteString("class Args:\n    c: A[str, Arg(choices=C29)] = 'x'\n")
	if m := readText(t, b.String()); m.Complete || !m.Options[0].OpenChoices {
		t.Errorf("got %+v", m.Options)
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"server_args.py", "environ.py", "arg_groups/actions.py", "arg_groups/choices.py"} {
		src, err := os.ReadFile("testdata/loom/v1/loom/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(src)
	}
	f.Add([]byte("class A(A):\n  x: A[X, Arg(choices=X)] = X\nX = X + X\np.add_argument('--x', action=A)\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		m, err := Read(fstest.MapFS{"a.py": {Data: src}, "b.py": {Data: []byte("from a import *\nclass B:\n    k: A[int, 'K.'] = 0\n")}}, ".")
		if err != nil {
			return
		}
		_, _ = m.Parse([]string{"--k", "1"})
		Compare(m, m, Launch{Uses: []Use{{Name: "--k", Value: "1", Values: []string{"1"}}}})
	})
}
