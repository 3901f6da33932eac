package matrix

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What the rows do not show is told.
func TestWarnings(t *testing.T) {
	c := labCatalogue(t, labFamily)
	repeat := "m.yaml:15: lab-a: concurrency 16 of this deployment comes from line 14 already; "
	for name, o := range map[string]struct {
		x    Filter
		rows int
		want []string
	}{
		"repeat":       {Filter{}, 10, []string{repeat + "it is measured again (--unique leaves it out)"}},
		"unique":       {Filter{Unique: true}, 9, []string{repeat + "it is left out"}},
		"other-length": {Filter{Concs: []int{3}}, 1, nil},
		"made-up": {Filter{MinConc: n(3), MaxConc: n(3), Unique: true}, 3, []string{
			"m.yaml:15: lab-a: concurrency 3 of this deployment comes from line 14 already; it is left out",
			"2 points are listed by no recipe, made up by the limits (--listed-only leaves them out)"}},
		"listed-only": {Filter{MinConc: n(3), MaxConc: n(3), ListedOnly: true}, 1, nil},
		"no-runner": {Filter{Node: "gpu_0"}, 0, []string{
			`no runner of 1 family has "gpu_0" in its name: lab-a`,
			"no job is left of 1 family: the filters exclude each other, or nothing meets them"}},
		"nothing-left": {Filter{MaxConc: n(0)}, 0, []string{
			"no job is left of 1 family: the filters exclude each other, or nothing meets them"}},
	} {
		rows, warnings, err := FullSweep(c, labEvals, Sweep{Filter: o.x, Mode: NoEvals})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(o.want, warnings); diff != "" || len(rows) != o.rows {
			t.Errorf("%s: got %d rows, want %d: %s", name, len(rows), o.rows, diff)
		}
	}
}

// A lowered ep is a deployment that no recipe lists.
func TestLoweredEPIsMadeUp(t *testing.T) {
	c := labCatalogue(t, strings.Replace(labFamily, "{ tp: 2,", "{ tp: 2, ep: 4,", 1))
	rows, warnings, err := FullSweep(c, labEvals, Sweep{Filter: Filter{MaxEP: n(2)}, Mode: NoEvals})
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 10 || len(warnings) != 2 || !strings.HasPrefix(warnings[1], "2 points are listed by no recipe") {
		t.Errorf("got %d rows, %q", len(rows), warnings)
	}
	rows = sweepOf(t, c, Sweep{Filter: Filter{MaxEP: n(2), ListedOnly: true}, Mode: NoEvals})
	if len(chosen(rows, func(r Row) bool { return r.Int("tp") == 2 })) != 0 || len(rows) != 8 {
		t.Errorf("listed only: got %v", brief(rows))
	}
}

// The published catalogue lists one point twice, and its generator measures it twice.
func TestPublishedRepeat(t *testing.T) {
	c := catalogue(t, "inferencex")
	for _, o := range []struct {
		unique bool
		points int
	}{{false, 2078}, {true, 2077}} {
		rows, warnings, err := FullSweep(c, DefaultEvals, Sweep{Filter: Filter{Unique: o.unique}, Mode: MarkEvals})
		if err != nil {
			t.Fatal(err)
		}
		if got := counted(rows)[5]; got != o.points || len(warnings) != 1 || !strings.HasPrefix(warnings[0], "configs/amd-master.yaml:") {
			t.Errorf("unique %v: got %d points, want %d; %q", o.unique, got, o.points, warnings)
		}
	}
}

// Four families run on a label that the runners file does not have.
func TestRunnerTypeOfAFamily(t *testing.T) {
	c := catalogue(t, "inferencex")
	keys := map[string]bool{}
	for _, f := range c.Families {
		if f.Entry.Runner == "gb300-nv" {
			keys[f.Key] = true
		}
	}
	rows := sweepOf(t, c, Sweep{RunnerTypes: []string{"gb300-nv"}, Mode: MarkEvals})
	if len(keys) != 4 || len(rows) == 0 || len(chosen(rows, func(r Row) bool { return r.Str("runner") == "gb300-nv" })) != len(rows) {
		t.Errorf("%d families, %d rows", len(keys), len(rows))
	}
	_, _, err := FullSweep(c, DefaultEvals, Sweep{RunnerTypes: []string{"gb300-nv"}, Mode: MarkEvals, Compat: true})
	if err == nil || !strings.HasPrefix(err.Error(), `no runner type "gb300-nv"; known are `) {
		t.Errorf("as published: got %v", err)
	}
}

// The names that are asked for are taken before evals are marked.
func TestExpNames(t *testing.T) {
	c := catalogue(t, "inferencex")
	key := "dsv4-fp4-b200-vllm-agentic-mtp"
	want := "dsv4_tp8_conc196_kvdram-vllm-simple_spec-mtp"
	test := func(mode Mode, keys []string, names ...string) ([]Row, error) {
		rows, _, err := TestConfig(c, DefaultEvals, Test{Mode: mode, Keys: keys, Names: names})
		return rows, err
	}
	all, err := test(NoEvals, []string{key})
	if err != nil {
		t.Fatal(err)
	}
	first := all[0].Str("exp-name")
	rows, err := test(EvalsOnly, []string{key}, want, first)
	if err != nil || len(rows) != 1 || rows[0].Str("exp-name") != want {
		t.Fatalf("two names: got %v, %v; want the mark of %s", brief(rows), err, want)
	}
	if rows, err = test(EvalsOnly, []string{key}, first); err != nil || len(rows) != 1 || rows[0].Str("exp-name") != first {
		t.Errorf("one name: got %v, %v; want it marked, as nothing else is there", brief(rows), err)
	}
	if rows, err = test(NoEvals, []string{key}, want, first); err != nil || len(rows) != 2 || rows[0].Str("exp-name") != first {
		t.Errorf("order: got %v, %v; want the catalogue's", brief(rows), err)
	}
	for _, o := range []struct {
		keys  []string
		names []string
		want  string
	}{
		{[]string{key}, []string{want, want}, `exp-name "` + want + `" is asked for twice`},
		{[]string{key}, []string{"dsv4"}, `no row has the exp-name "dsv4"; others are dsv4_tp8_conc1_`},
		{[]string{"dsr1-fp8-mi325x-sglang"}, []string{"dsr1_8k1k"}, `5 rows have the exp-name "dsr1_8k1k": name fewer config keys, lengths or concurrencies, so that one is left`},
	} {
		_, err := test(MarkEvals, o.keys, o.names...)
		if err == nil || !strings.Contains(err.Error(), o.want) {
			t.Errorf("%v: got %v, want %s", o.names, err, o.want)
		}
		if got := errors.Is(err, ErrOption); got != strings.Contains(o.want, "twice") {
			t.Errorf("%v: an error in the options: got %v", o.names, got)
		}
	}
}
