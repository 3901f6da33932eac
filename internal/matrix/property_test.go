package matrix

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/refit-bench/refit/internal/recipe"
)

// textsOf is a matrix, a row to an item.
func textsOf(t rapid.TB, rows []Row) []string {
	out := []string{}
	for _, r := range rows {
		text, err := r.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(text))
	}
	return out
}

func sweepOf(t rapid.TB, c *recipe.Catalogue, s Sweep) []Row {
	rows, _, err := FullSweep(c, DefaultEvals, s)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func testOf(t rapid.TB, c *recipe.Catalogue, s Test) []Row {
	rows, _, err := TestConfig(c, DefaultEvals, s)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func sameRows(t *rapid.T, what string, got, want []Row) {
	if diff := cmp.Diff(textsOf(t, want), textsOf(t, got)); diff != "" {
		t.Fatalf("%s: %s", what, diff)
	}
}

// chosen are the rows that a question is true of.
func chosen(rows []Row, ask func(Row) bool) []Row {
	var out []Row
	for _, r := range rows {
		if ask(r) {
			out = append(out, r)
		}
	}
	return out
}

func TestEveryKeyIsTheFullSweep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, mode, lower := drawCatalogue(t, false), drawMode(t), rapid.Bool().Draw(t, "lower")
		x := Filter{Unique: rapid.Bool().Draw(t, "unique")}
		sameRows(t, "test-config *", testOf(t, c, Test{Filter: x, Mode: mode, Lower: lower, Keys: []string{"*"}}), sweepOf(t, c, Sweep{Filter: x, Mode: mode, Lower: lower}))
	})
}

// Marking a key alone agrees with marking it inside the catalogue, as long as
// no group of the marking spans keys.
func TestKeyAloneIsItsPartOfTheSweep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, mode := drawCatalogue(t, true), drawMode(t)
		all := sweepOf(t, c, Sweep{Mode: mode})
		for _, f := range c.Families {
			sameRows(t, f.Key, testOf(t, c, Test{Mode: mode, Keys: []string{f.Key}}), chosen(all, func(r Row) bool { return r.Str("model") == f.Entry.Model }))
		}
	})
}

// The published catalogue is one whose default marking spans no keys.
func TestPublishedKeyAloneIsItsPartOfTheSweep(t *testing.T) {
	c := catalogue(t, "inferencex")
	var alone []Row
	for _, f := range c.Families {
		alone = append(alone, testOf(t, c, Test{Mode: MarkEvals, Keys: []string{f.Key}})...)
	}
	if diff := cmp.Diff(textsOf(t, sweepOf(t, c, Sweep{Mode: MarkEvals})), textsOf(t, alone)); diff != "" {
		t.Error(diff)
	}
}

// Selecting before the expansion gives what selecting after it gives. Evals are
// marked in between, so a filter of concurrencies holds for runs without them.
func TestConcurrencyFilterSelects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCatalogue(t, false)
		concs := rapid.SliceOfN(rapid.SampledFrom([]int{1, 2, 4, 16, 17, 64, 99}), 1, 3).Draw(t, "concs")
		var want []Row
		for _, r := range sweepOf(t, c, Sweep{Mode: NoEvals}) {
			left := keep(r.concs(), func(c int) bool { return slices.Contains(concs, c) })
			if len(left) == 0 {
				continue
			}
			if r = r.Clone(); r.multinode() {
				r.Set("conc", left)
			}
			want = append(want, r)
		}
		sameRows(t, "conc", testOf(t, c, Test{Filter: Filter{Concs: concs}, Mode: NoEvals, Keys: []string{"*"}}), want)
	})
}

func TestScenarioFilterSelects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, mode, scenario := drawCatalogue(t, false), drawMode(t), rapid.SampledFrom([]string{Fixed, Agentic}).Draw(t, "scenario")
		want := chosen(sweepOf(t, c, Sweep{Mode: mode}), func(r Row) bool { return r.agentic() == (scenario == Agentic) })
		sameRows(t, scenario, sweepOf(t, c, Sweep{Filter: Filter{Scenarios: []string{scenario}}, Mode: mode}), want)
	})
}

func TestLengthFilterSelects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, mode, length := drawCatalogue(t, false), drawMode(t), rapid.SampledFrom([]string{"1k1k", "8k1k"}).Draw(t, "length")
		want := chosen(sweepOf(t, c, Sweep{Mode: mode}), func(r Row) bool { return r.agentic() || SequenceName(r.Int("isl"), r.Int("osl")) == length })
		sameRows(t, length, sweepOf(t, c, Sweep{Filter: Filter{Lengths: []string{length}}, Mode: mode}), want)
	})
}

func TestPrefixFilterSelects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, mode, prefix := drawCatalogue(t, true), drawMode(t), rapid.SampledFrom([]string{"lab", "laba", "labb-1", "x"}).Draw(t, "prefix")
		want := chosen(sweepOf(t, c, Sweep{Mode: mode}), func(r Row) bool { return strings.HasPrefix(r.Str("model"), prefix) })
		sameRows(t, prefix, sweepOf(t, c, Sweep{Prefixes: []string{prefix}, Mode: mode}), want)
	})
}

func TestNodeKindSelects(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, mode, multi := drawCatalogue(t, false), drawMode(t), rapid.Bool().Draw(t, "multi-node")
		all := sweepOf(t, c, Sweep{Mode: mode})
		sameRows(t, "one kind", sweepOf(t, c, Sweep{SingleNode: !multi, MultiNode: multi, Mode: mode}), chosen(all, func(r Row) bool { return r.multinode() == multi }))
		sameRows(t, "both kinds", sweepOf(t, c, Sweep{SingleNode: true, MultiNode: true, Mode: mode}), all)
	})
}

// names are the points of rows as "family-independent recipe and concurrency".
func names(rows []Row) map[string]bool {
	set := map[string]bool{}
	for _, r := range rows {
		for _, c := range r.concs() {
			set[pointName(r, c)+topology(r)] = true
		}
	}
	return set
}

func subset(t *rapid.T, what string, part, whole []Row) {
	all := names(whole)
	for n := range names(part) {
		if !all[n] {
			t.Fatalf("%s: %s is no point of the whole", what, n)
		}
	}
}

// Both ways to trim leave the lowest of what is there, and nothing to trim.
func TestTrimIsASubsetAndDone(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, mode := drawCatalogue(t, false), drawMode(t)
		all := sweepOf(t, c, Sweep{Mode: mode})
		for what, trim := range map[string]func([]Row) []Row{"trim": Trim, "lower": Lower} {
			once := trim(all)
			subset(t, what, once, all)
			sameRows(t, what+" twice", trim(once), once)
		}
		if mode == SmokeTest {
			return // its two lists are trimmed one by one
		}
		once := Lower(all)
		shapes := map[string]bool{}
		for _, r := range once {
			if shape := topology(r); shapes[shape] || len(r.concs()) != 1 {
				t.Fatalf("%s: several rows or concurrencies are left", shape)
			} else {
				shapes[shape] = true
			}
		}
		for _, r := range all {
			if !shapes[topology(r)] {
				t.Fatalf("%s: no row is left", topology(r))
			}
		}
	})
}

// Smoke is made of points of the full sweep, and of one key it is what Smoke
// selects of its points.
func TestSmokeIsPartOfTheSweep(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCatalogue(t, false)
		subset(t, "smoke", sweepOf(t, c, Sweep{Mode: SmokeTest}), sweepOf(t, c, Sweep{Mode: NoEvals}))
		for _, f := range c.Families {
			points, _, err := Points(f, c.Runners, DefaultEvals)
			if err != nil {
				t.Fatal(err)
			}
			var throughput, evals []Point
			for _, r := range testOf(t, c, Test{Mode: SmokeTest, Keys: []string{f.Key}}) {
				p, err := pointsOf(f, r)
				if err != nil {
					t.Fatal(err)
				}
				if r.Bool("eval-only") {
					evals = append(evals, p...)
				} else {
					throughput = append(throughput, p...)
				}
			}
			want := Smoke(points)
			if diff := cmp.Diff(short(want.Throughput), short(throughput)); diff != "" {
				t.Fatalf("%s: throughput: %s", f.Key, diff)
			}
			if diff := cmp.Diff(short(want.Evals), short(evals)); diff != "" {
				t.Fatalf("%s: evals: %s", f.Key, diff)
			}
		}
	})
}

// Canary and rest are the plan: nothing is lost, nothing is run twice.
func TestCanaryAndRestAreThePlan(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCatalogue(t, false)
		plan, err := BuildPlan(c, []recipe.ChangelogEntry{{ConfigKeys: []string{"*"}, Description: []string{"d"}, PRLink: "XXX"}}, DefaultEvals)
		if err != nil {
			t.Fatal(err)
		}
		whole := plan.Row()
		canary, rest, found := Canary(whole)
		jobs := func(plan Row) []string {
			var out []string
			for _, kind := range []string{"single_node", "multi_node"} {
				buckets := plan.Row(kind)
				for _, name := range buckets.Names() {
					for _, v := range list(buckets, name) {
						out = append(out, textsOf(t, []Row{v.(Row)})...)
					}
				}
			}
			slices.Sort(out)
			return out
		}
		left := jobs(rest)
		if found {
			if canary.multinode() || canary.agentic() || canary.Bool("run-eval") {
				t.Fatalf("canary: got %v", canary)
			}
			left = append(left, textsOf(t, []Row{canary})...)
			slices.Sort(left)
		}
		if diff := cmp.Diff(jobs(whole), left); diff != "" {
			t.Fatal(diff)
		}
	})
}

// What is told about repeats are the points that collapse, and a unique run
// has each point of a family once.
func TestUniqueIsTheSetOfPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCatalogue(t, false)
		for _, f := range c.Families {
			points, collapsed, err := Points(f, c.Runners, DefaultEvals)
			if err != nil {
				t.Fatal(err)
			}
			_, warnings, err := TestConfig(c, DefaultEvals, Test{Mode: NoEvals, Keys: []string{f.Key}})
			if err != nil {
				t.Fatal(err)
			}
			told := slices.DeleteFunc(warnings, func(w string) bool { return !strings.Contains(w, "comes from line") })
			if len(told) != len(collapsed) {
				t.Fatalf("%s: told %d repeats, %d points collapse", f.Key, len(told), len(collapsed))
			}
			var once []Point
			for _, r := range testOf(t, c, Test{Filter: Filter{Unique: true}, Mode: NoEvals, Keys: []string{f.Key}}) {
				more, err := pointsOf(f, r)
				if err != nil {
					t.Fatal(err)
				}
				once = append(once, more...)
			}
			if diff := cmp.Diff(short(points), short(once)); diff != "" {
				t.Fatalf("%s: %s", f.Key, diff)
			}
		}
	})
}

// With --listed-only no limit makes up a point; without made-up points it
// changes nothing.
func TestListedOnlyMakesUpNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCatalogue(t, false)
		low := rapid.IntRange(-1, 64).Draw(t, "min")
		high := low + rapid.IntRange(0, 64).Draw(t, "max")
		x := Filter{MinConc: &low, MaxConc: &high}
		if rapid.Bool().Draw(t, "limits ep") {
			x.MaxEP = n(1)
		}
		rows, warnings, err := FullSweep(c, DefaultEvals, Sweep{Filter: x, Mode: NoEvals})
		if err != nil {
			t.Fatal(err)
		}
		x.ListedOnly = true
		listed := sweepOf(t, c, Sweep{Filter: x, Mode: NoEvals})
		subset(t, "listed", listed, sweepOf(t, c, Sweep{Mode: NoEvals}))
		if !slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, "made up") }) {
			sameRows(t, "nothing is made up", listed, rows)
		}
	})
}
