package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/refit-bench/refit/internal/compare"
)

// Policy judges a comparison against what the workspace requires, a map of
// dimension (throughput, tpot, accuracy) to rule. The only rule is "no-worse":
// a dimension that is worse fails; an inconclusive one passes, and the reason
// carries the mark "inconclusive". A dimension that was not compared, because
// the family has no such rows, passes and is marked as well: the policy refuses
// what is worse and nothing else. A dimension or rule that is not known is unknown.
func Policy(require map[string]string, c compare.Result) Verdict {
	const gate = "policy"
	if len(require) == 0 {
		return Verdict{gate, Pass, "nothing is required"}
	}
	var worse, unclear, marks, fine []string
	for _, name := range slices.Sorted(maps.Keys(require)) {
		if rule := require[name]; rule != "no-worse" {
			unclear = append(unclear, fmt.Sprintf("%s: unknown rule %q", name, rule))
			continue
		}
		if !slices.Contains(dimensions, name) {
			unclear = append(unclear, fmt.Sprintf("unknown dimension %q", name))
			continue
		}
		if !compared(name, c) {
			marks = append(marks, name+" was not compared")
			continue
		}
		switch v := c.Overall(name); v {
		case compare.Worse:
			worse = append(worse, name+" is worse")
		case compare.Inconclusive:
			marks = append(marks, name+" is inconclusive")
		case compare.Better, compare.NoChange:
			fine = append(fine, fmt.Sprintf("%s: %s", name, v))
		default:
			unclear = append(unclear, fmt.Sprintf("%s: no verdict", name))
		}
	}
	switch {
	case len(worse) > 0:
		return Verdict{gate, Fail, join(worse)}
	case len(unclear) > 0:
		return Verdict{gate, Unknown, join(unclear)}
	}
	return Verdict{gate, Pass, join(append(marks, fine...))}
}

// dimensions are what a policy may speak of.
var dimensions = []string{"throughput", "tpot", "accuracy"}

// compared says whether the comparison has anything about a dimension.
func compared(name string, c compare.Result) bool {
	metric := map[string]compare.Metric{"throughput": compare.OutputTPS, "tpot": compare.TPOT}[name]
	if name == "accuracy" {
		return len(c.Accuracy) > 0
	}
	return slices.ContainsFunc(c.Curves, func(x compare.Curve) bool { return x.Metric == metric && len(x.Points) > 0 })
}

// Inconclusive names the required dimensions whose verdict is inconclusive, in
// order: the marks of a candidate that may be measured again or end with them.
func Inconclusive(require map[string]string, c compare.Result) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(require)) {
		if compared(name, c) && c.Overall(name) == compare.Inconclusive {
			out = append(out, name)
		}
	}
	return out
}
