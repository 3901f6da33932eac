package engine

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseRows(t *testing.T) {
	for _, r := range rows() {
		t.Run(r.name, func(t *testing.T) {
			got, err := Model{Options: r.options}.Parse(r.args)
			var reject *RejectError
			if errors.As(err, &reject) {
				if r.kind != reject.Kind || r.token != reject.Token || !slices.Equal(r.names, reject.Candidates) {
					t.Fatalf("Parse(%q): refused with %+v, want kind %q token %q candidates %q", r.args, reject, r.kind, r.token, r.names)
				}
				return
			}
			if err != nil || r.kind != "" {
				t.Fatalf("Parse(%q): got %v, error %v, want refusal %q", r.args, got.Values, err, r.kind)
			}
			for dest, v := range got.Values { // switches that are off say nothing
				if v == "false" && r.want[dest] == "" {
					delete(got.Values, dest)
				}
			}
			if diff := cmp.Diff(r.want, got.Values); diff != "" {
				t.Errorf("Parse(%q): -want +got\n%s", r.args, diff)
			}
		})
	}
}

// Rows 41 and 42 concern subcommands, which these engines' plain parsers lack.

func TestParseMessages(t *testing.T) {
	m := Model{Options: []Option{
		opt("--tile-depth-decode", typed("int"), also("-t")), opt("--tile-depth-prefill", typed("int")),
		opt("--paint", choosing("red", "blue")), opt("--night", acting("on_off")), opt("--box", counted("2")),
	}}
	for _, c := range []struct{ args, want string }{
		{"--tile-depth 8", "ambiguous option: --tile-depth could match --tile-depth-decode, --tile-depth-prefill"},
		{"--gone 8 --tile-depth-d 3", "unrecognized arguments: --gone 8"},
		{"-t x", "argument --tile-depth-decode/-t: invalid int value: 'x'"},
		{"--paint it's", `argument --paint: invalid choice: "it's" (choose from 'red', 'blue')`},
		{"--no-night=1", "argument --night/--no-night: ignored explicit argument '1'"},
		{"--box 1", "argument --box: expected 2 arguments"},
		{"--paint", "argument --paint: expected one argument"},
	} {
		if _, err := m.Parse(strings.Fields(c.args)); err == nil || err.Error() != c.want {
			t.Errorf("Parse(%s): got error %v, want %s", c.args, err, c.want)
		}
	}
}

func TestParseDeprecated(t *testing.T) {
	m := Model{Options: []Option{
		opt("--new", typed("int"), defaulting("5")),
		opt("--old", typed("int"), storing("new"), defaulting(Suppressed), func(o *Option) { o.Deprecated, o.AliasOf = AliasOption, "--new" }),
		opt("--idle", counted("0"), func(o *Option) { o.Deprecated = NoEffectOption }),
		opt("--dead", counted("0"), func(o *Option) { o.Deprecated, o.Message = ErrorOption, "--dead is gone; use --new" }),
	}}
	got, err := m.Parse([]string{"--old", "7", "--idle"})
	if err != nil || got.Values["new"] != "7" {
		t.Fatalf("Parse: got %v, %v, want new 7", got.Values, err)
	}
	want := []string{"--old is deprecated and stands for --new", "--idle is deprecated and has no effect"}
	if diff := cmp.Diff(want, got.Warnings); diff != "" {
		t.Errorf("warnings: -want +got\n%s", diff)
	}
	var reject *RejectError
	if _, err := m.Parse([]string{"--dead"}); !errors.As(err, &reject) || reject.Kind != Gone || reject.Message != "--dead is gone; use --new" {
		t.Errorf("Parse(--dead): got %v", err)
	}
}

func TestComputedDefault(t *testing.T) {
	got, err := Model{Options: []Option{opt("--x", defaulting("cpu_count()")), opt("--y", defaulting("3"))}}.Parse(nil)
	if err != nil || !slices.Equal(got.Computed, []string{"x"}) || got.Values["y"] != "3" || len(got.Values) != 1 {
		t.Errorf("Parse: got %+v, %v", got, err)
	}
}

// genModel makes small models whose names overlap.
func genModel(t *rapid.T) Model {
	name := rapid.StringMatching(`--[ab]{1,3}(-[ab]{1,2})?`)
	names := rapid.SliceOfNDistinct(name, 0, 6, rapid.ID[string]).Draw(t, "names")
	var m Model
	for _, n := range names {
		m.Options = append(m.Options, Option{
			Names: []string{n}, Dest: destination([]string{n}),
			Type:    rapid.SampledFrom([]string{"", "int", "float", "bool"}).Draw(t, "type"),
			Action:  rapid.SampledFrom([]string{"", "store_true", "append", "on_off", "count", "extend"}).Draw(t, "action"),
			Nargs:   rapid.SampledFrom([]string{"", "?", "*", "+", "2"}).Draw(t, "nargs"),
			Default: rapid.SampledFrom([]string{"", "None", "1", `"1"`, "[1]", Suppressed, "f()"}).Draw(t, "default"),
		})
	}
	if rapid.Bool().Draw(t, "positional") {
		m.Options = append(m.Options, Option{Names: []string{"model"}, Dest: "model", Nargs: rapid.SampledFrom([]string{"", "?", "*", "+"}).Draw(t, "pnargs")})
	}
	return m
}

func TestParseNeverPanics(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genModel(t)
		arg := rapid.OneOf(rapid.StringMatching(`-{0,2}[ab-]{0,4}(=[a1]?)?`), rapid.String(), rapid.SampledFrom([]string{"--", "-", "", "-1", "1", "--a b"}))
		args := rapid.SliceOfN(arg, 0, 6).Draw(t, "args")
		got, err := m.Parse(args)
		var reject *RejectError
		if err != nil && !errors.As(err, &reject) {
			t.Fatalf("Parse(%q): error %v is no *RejectError", args, err)
		}
		if err == nil && got.Values == nil {
			t.Fatalf("Parse(%q): accepted without values", args)
		}
	})
}

func TestResolveEqualsBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := genModel(t)
		token := rapid.StringMatching(`--[abhelpno-]{1,6}`).Draw(t, "token")
		all := []string{"--help"}
		for _, o := range m.Options {
			if !o.Positional() {
				all = append(all, o.strings()...)
			}
		}
		var prefixed []string
		exact := false
		for _, n := range all {
			exact = exact || n == token
			if strings.HasPrefix(n, token) && !slices.Contains(prefixed, n) {
				prefixed = append(prefixed, n)
			}
		}
		r := m.Resolve(token)
		switch {
		case exact:
			if r.By != ByName || r.Name != token {
				t.Fatalf("Resolve(%s) among %v: got %+v, want the exact name", token, all, r)
			}
		case len(prefixed) == 1:
			if r.By != ByPrefix || r.Name != prefixed[0] {
				t.Fatalf("Resolve(%s) among %v: got %+v, want %s", token, all, r, prefixed[0])
			}
		default:
			if r.Option != nil || len(prefixed) > 1 && !slices.Equal(r.Candidates, prefixed) {
				t.Fatalf("Resolve(%s) among %v: got %+v, want candidates %v", token, all, r, prefixed)
			}
		}
	})
}

func TestLiteralRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leaf := rapid.OneOf(
			rapid.Map(rapid.Bool(), func(b bool) any { return b }),
			rapid.Map(rapid.Int64(), func(i int64) any { v, _ := parseInt(fmt.Sprint(i)); return v }),
			rapid.Map(rapid.Float64Range(-1e20, 1e20), func(f float64) any { return f }),
			rapid.Map(rapid.String(), func(s string) any { return s }),
		)
		list := rapid.SliceOf(leaf).Draw(t, "list")
		back, ok := parseLiteral(literal(list))
		if !ok || literal(back) != literal(list) {
			t.Fatalf("literal %s came back as %v, %v", literal(list), back, ok)
		}
	})
}
