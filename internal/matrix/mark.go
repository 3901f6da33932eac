package matrix

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// EvalRule says which fixed-length points deserve an accuracy eval.
type EvalRule struct {
	Lengths [][2]int // isl and osl that are evaluated
	Floor   int      // lowest concurrency that is evaluated
}

// DefaultEvals is the published policy.
var DefaultEvals = EvalRule{Lengths: [][2]int{{8192, 1024}}, Floor: 16}

// ParseEvalRule reads lengths written "isl/osl".
func ParseEvalRule(lengths []string, floor int) (EvalRule, error) {
	ev := EvalRule{Floor: floor}
	for _, l := range lengths {
		in, out, ok := strings.Cut(l, "/")
		isl, err1 := strconv.Atoi(in)
		osl, err2 := strconv.Atoi(out)
		if !ok || err1 != nil || err2 != nil || isl <= 0 || osl <= 0 {
			return EvalRule{}, fmt.Errorf("eval lengths %q: want isl/osl, as 8192/1024", l)
		}
		ev.Lengths = append(ev.Lengths, [2]int{isl, osl})
	}
	return ev, nil
}

// evalFields are the fields by which a row's eval is chosen and described.
var evalFields = []string{"run-eval", "eval-only", "eval-conc", "eval-all-concs"}

func (ev EvalRule) eligible(r Row) bool {
	return !r.agentic() && slices.Contains(ev.Lengths, [2]int{r.Int("isl"), r.Int("osl")})
}

// marks chooses rows for evals: index of the row -> concurrency evaluated.
// Agentic rows are considered only when asked for.
func (ev EvalRule) marks(rows []Row, agentic bool) map[int]int {
	marked := map[int]int{}
	ev.markSingle(rows, marked)
	ev.markMulti(rows, agentic, marked)
	if agentic {
		markAgentic(rows, marked)
	}
	return marked
}

// markSingle marks, in each group of single-node rows, the highest and the
// upper median concurrency, whatever the topology.
func (ev EvalRule) markSingle(rows []Row, marked map[int]int) {
	groups := map[string][]int{}
	for i, r := range rows {
		if r.multinode() || !ev.eligible(r) || r.Int("conc") < ev.Floor {
			continue
		}
		g := groupKey(r, fixedGroup...)
		groups[g] = append(groups[g], i)
	}
	for _, g := range groups {
		var concs []int
		for _, i := range g {
			concs = append(concs, rows[i].Int("conc"))
		}
		slices.Sort(concs)
		concs = slices.Compact(concs)
		median, highest := concs[len(concs)/2], concs[len(concs)-1]
		for _, i := range g {
			if c := rows[i].Int("conc"); c == median || c == highest {
				marked[i] = c
			}
		}
	}
}

// markMulti marks, per topology, the multi-node row with the highest concurrency.
func (ev EvalRule) markMulti(rows []Row, agentic bool, marked map[int]int) {
	best := map[string]int{} // topology -> row
	for i, r := range rows {
		if !r.multinode() || !(ev.eligible(r) || agentic && r.agentic()) {
			continue
		}
		c := highest(r)
		if c < ev.Floor {
			continue
		}
		g := topology(r)
		if j, ok := best[g]; !ok || c > highest(rows[j]) {
			best[g] = i
		}
	}
	for _, i := range best {
		marked[i] = highest(rows[i])
	}
}

// markAgentic marks the single-node trace replay with the highest concurrency of each group.
func markAgentic(rows []Row, marked map[int]int) {
	best := map[string]int{}
	for i, r := range rows {
		if r.multinode() || !r.agentic() {
			continue
		}
		g := groupKey(r, replayGroup...)
		if j, ok := best[g]; !ok || r.Int("conc") > rows[j].Int("conc") {
			best[g] = i
		}
	}
	for _, i := range best {
		marked[i] = rows[i].Int("conc")
	}
}

func highest(r Row) int {
	if c := r.concs(); len(c) > 0 {
		return slices.Max(c)
	}
	return 0
}

// groupKey joins the values of some fields into a map key.
func groupKey(r Row, names ...string) string {
	var part Row
	for _, n := range names {
		v, _ := r.Get(n)
		part.Set(n, v)
	}
	return canonical(part)
}

var outsideTopology = append([]string{"conc", "exp-name", "recipe-fingerprint"}, evalFields...)

// topology is everything of a row but its concurrency, name and eval fields.
func topology(r Row) string {
	return canonical(r, outsideTopology...)
}
