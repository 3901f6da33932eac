package engine

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"

	diff "github.com/google/go-cmp/cmp"
)

func helpOf(t testing.TB, name string) Model {
	t.Helper()
	text, err := os.ReadFile("testdata/help/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	m, err := ReadHelp(text, name)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// spelled writes an option on one line, without its description.
func spelled(o Option) string {
	s := fmt.Sprintf("%d %s %s", o.At.Line, strings.Join(o.Names, " "), cmp.Or(o.Action, "store"))
	for _, p := range []struct{ name, value string }{
		{"type", o.Type}, {"nargs", o.Nargs}, {"choices", strings.Join(o.Choices, ",")}, {"default", o.Default}, {"deprecated", o.Deprecated}, {"alias-of", o.AliasOf}} {
		if p.value != "" {
			s += " " + p.name + "=" + p.value
		}
	}
	if o.OpenChoices {
		s += " open"
	}
	if o.Required {
		s += " required"
	}
	if d := destination(o.Names); o.Dest != d {
		s += " dest=" + o.Dest
	}
	return s
}

// helpShapes are the options and variables of the texts in testdata/help.
var helpShapes = []struct {
	name, options, variables string
	noAbbrev, noHelp, whole  bool
}{
	{"columns-v1", `3 -h --help --usage help
4 --version store_true
5 -t --threads store default=-1
7 -tb --threads-batch store default=same as --threads
9 -c --width store default=0
11 --speed store default=0.8
12 --strict store choices=0,1 default=0
13 -fx --flash store choices=on,off,auto default="auto"
14 --scaling store choices=none,linear,yarn
15 -tc --thread-type store choices=silk,wool,hemp default="silk"
18 -e --escape store_true default=True
18 --no-escape store_false dest=escape
20 -ko --keep-on store_true default=True
20 -nko --no-keep-on store_false dest=keep_on
22 --auto-dye store_true default=True
22 --no-dye --no-auto-dye store_false dest=auto_dye
23 --pin store_true
25 --map store_true default=True
25 --no-map store_false dest=map
28 --no-host store_true
29 --host store default="127.0.0.1"
30 --port store default=8080
32 --numa store choices=distribute,isolate open
37 --list-frames store_true
38 --range store nargs=2
39 --log-file store default="unused"
41 -lv --verbosity --log-verbosity store choices=0,1 default=3 open
47 --thold store deprecated=alias
52 -cd --width-draft store default=0
53 --draft --draft-max store default=16
55 --draft-seed store default=7
56 --draft-hold store default=4
57 --cont store_true default=True
57 --no-cont store_false dest=cont
58 --tidy store_true deprecated=no-effect
`, `LOOM_ARG_THREADS --threads, LOOM_ARG_WIDTH --width, LOOM_ARG_PIN --pin, LOOM_ARG_MAP --map, LOOM_ARG_PORT --port, LOOM_LOG_FILE --log-file, LOOM_LOG_VERBOSITY --verbosity, LOOM_ARG_DRAFT_MAX --draft`, true, true, true},
	{"argparse", `11 -h --help help
12 --width -w store default=4
14 --paint store choices=red,blue default="red"
15 --model store
16 --stops store nargs=*
17 --pair store nargs=2
18 --rows store nargs=+
19 --fast store_true default=False
19 --no-fast store_false dest=fast
20 --load store nargs=?
21 --rate store default=None
22 --old-width store deprecated=alias alias-of=--width dest=width
28 --dye store_true
`, "", false, true, false},
	{"cobra", `10 --config store
11 -h --help help
12 -p --port store type=int default=8080
13 --paint store default="red"
14 --tags store
15 --cache store nargs=?
16 -v --verbose count
17 --rate store type=float
18 --wide store_true default=True
19 --old store deprecated=alias alias-of=--config dest=config
22 --log store
`, "LOOM_LOG --log", true, true, false},
	{"clap", `10 -p --port store default=8080
16 --paint store choices=red,blue default="red" open
25 --mode store choices=fast,slow default="fast"
26 --tag append
27 --limit store nargs=?
28 -v --verbose store_true
29 --no-dye store_false dest=dye
30 -h --help help
`, "LOOM_PORT --port", true, true, false},
	{"click", `6 --port store type=int default=8000
7 --share store type=float
8 --paint --colour store choices=red,blue default="red"
9 --shout store_true
9 --no-shout store_false dest=shout
10 --on store_true default=True
10 --off store_false dest=on
11 --tag store
12 --model store required
13 --help help
`, "LOOM_PAINT --paint", true, true, false},
	{"goflag", `2 -port --port store type=int default=8080
4 -paint --paint store default="red"
6 -v --v store_true
7 -wait --wait store default="1s"
9 -tags --tags store
`, "", true, false, true},
}

func TestReadHelpShapes(t *testing.T) {
	for _, c := range helpShapes {
		t.Run(c.name, func(t *testing.T) {
			m := helpOf(t, c.name)
			var options strings.Builder
			for _, o := range m.Options {
				options.WriteString(spelled(o) + "\n")
			}
			if d := diff.Diff(c.options, options.String()); d != "" {
				t.Errorf("options: -want +got\n%s", d)
			}
			var variables []string
			for _, v := range m.Variables {
				variables = append(variables, v.Name+" "+v.Option)
			}
			if got := strings.Join(variables, ", "); got != c.variables {
				t.Errorf("variables: got %s, want %s", got, c.variables)
			}
			if m.Source != FromHelp || m.Complete || m.NoAbbrev != c.noAbbrev || m.NoHelp != c.noHelp || m.ExactShort != c.whole {
				t.Errorf("got source %q, complete %t, no abbreviations %t, help %t, whole names %t", m.Source, m.Complete, m.NoAbbrev, m.NoHelp, m.ExactShort)
			}
		})
	}
}

func TestReadHelpOption(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"colours", "  \x1b[1m-p\x1b[0m, \x1b[1m--port\x1b[0m <PORT>  \x1b[32mtext\x1b[0m", "1 -p --port store"},
		{"bracket-in-a-value", "--repo [<user>/]<model>[:quant]   which", "1 --repo store"},
		{"comma-in-a-value", "--split N0,N1,N2,...    how", "1 --split store"},
		{"space-in-a-value", "-ot, --override <name pattern>=<type>,...  how", "1 -ot --override store"},
		{"default-without-brackets", "--ctx N   least size, default: 4096", "1 --ctx store default=4096"},
		{"default-is-prose", "--ctx N   size, defaults to what fits", "1 --ctx store"},
		{"default-empty", "--path P   where (default: )", "1 --path store default=None"},
		{"default-of-several-words", "--seed N   seed (default: same as --other (if any))", "1 --seed store default=same as --other (if any)"},
		{"default-with-a-list", "--methods M   allowed (default: GET, POST)", "1 --methods store default=GET, POST"},
		{"default-quoted", "--name S   text (default: 'a, b')", `1 --name store default="a, b"`},
		{"removed-for-two", "--n N   the argument has been removed. use --a or --b", "1 --n store deprecated=error"},
		{"removed-for-one", "--n N   the argument has been removed. use --a", "1 --n store deprecated=error alias-of=--a"},
		{"removed-for-a-pattern", "--n N   the argument has been removed. use --a-*-n or --b", "1 --n store deprecated=error"},
		{"alias", "--n N   alias for --m", "1 --n store alias-of=--m"},
		{"no-alias", "--n N   same as --m, but for the draft", "1 --n store"},
		{"bar-between-names", "-n|--number N   how many", "1 -n --number store"},
		{"value-behind-equals", "--n=N   how many", "1 --n store"},
		{"no-alone", "--no-x   not", "1 --no-x store_false dest=x"},
		{"carriage-returns", "--n N   how many (default: 3)\r", "1 --n store default=3"},
		{"bullet-default", "--mode {a,b}   one of:\n             - a: x\n             - b (default): y", `1 --mode store choices=a,b default="b"`},
	} {
		m, err := ReadHelp([]byte(c.text+"\n"), "h")
		if err != nil || len(m.Options) != 1 {
			t.Errorf("%s: got %d options, %v", c.name, len(m.Options), err)
			continue
		}
		if got := spelled(m.Options[0]); got != c.want {
			t.Errorf("%s: got %s, want %s", c.name, got, c.want)
		}
	}
}

func TestReadHelpRefuses(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"empty", "", "help text h: no line of it shows an option"},
		{"no-help", "libx.so: cannot open shared object file\n", "help text h: no line of it shows an option"},
		{"usage-only", "usage: x [-h] [--y Y]\n", "help text h: no line of it shows an option"},
		{"too-long", strings.Repeat("x", maxHelp+1), "help text h: larger than 4194304 bytes"},
		{"too-many", strings.Repeat("--x\n", maxHelpOptions+1), "help text h: more than 5000 options"},
	} {
		if _, err := ReadHelp([]byte(c.text), "h"); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
}

// FuzzReadHelp holds what a comparison relies on: names are flags, lines exist,
// and comparing a text with itself finds nothing gone.
func FuzzReadHelp(f *testing.F) {
	for _, name := range []string{"columns-v1", "columns-v2", "argparse", "cobra", "clap", "click", "goflag"} {
		text, err := os.ReadFile("testdata/help/" + name + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Add([]byte("--x [[[<{(\n- a (default):\n\t--y=\n-no-x, --no-x, --x / --y\n"))
	f.Add([]byte("--a A  (default: \"[(env: A_B\n--a, -a  [default: '] [env: $X,$Y"))
	f.Fuzz(soundHelp)
}

func soundHelp(t *testing.T, text []byte) {
	m, err := ReadHelp(text, "h")
	if err != nil {
		return
	}
	lines := strings.Count(string(text), "\n") + 1
	l := Launch{}
	for _, o := range m.Options {
		if len(o.Names) == 0 || o.Positional() || o.At.Line < 1 || o.At.Line > lines || o.Dest == "" {
			t.Fatalf("option %+v of %d lines", o, lines)
		}
		l.Uses = append(l.Uses, Use{Name: o.Names[0], Location: Location{"r.sh", 1}})
	}
	for _, found := range Compare(m, m, l).Findings {
		if found.Confidence == Certain || found.Verdict == AmbiguousName || found.Verdict == DefaultMoved {
			t.Fatalf("compared with itself: %+v", found)
		}
	}
}
