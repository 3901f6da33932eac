package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/refit-bench/refit/internal/result"
)

// nearly is how far two spellings of one number may lie apart, as a share of it.
const nearly = 1e-9

// Agreement judges whether the figures that are judged are those that were
// measured: the metrics of a passed row are those of its own aggregate file,
// where it carries one, and a score is the share of its answers that are right.
func Agreement(rows []result.Row, evals []result.EvalRow) Verdict {
	const gate = "agreement"
	var bad []string
	for _, r := range rows {
		if reason := disagreement(r); r.Result == result.Passed && reason != "" {
			bad = append(bad, r.Label+" "+reason)
		}
	}
	for _, e := range evals {
		if reason := miscounted(e); e.Result == result.Passed && reason != "" {
			bad = append(bad, e.Suite+" "+e.Label+" "+reason)
		}
	}
	if len(bad) > 0 {
		return Verdict{gate, Fail, "rows and what they are made of disagree: " + named(bad)}
	}
	return Verdict{gate, Pass, fmt.Sprintf("%d rows and %d evals are what they are made of", len(rows), len(evals))}
}

// disagreement is the first metric of a row that its aggregate file does not
// have so; "" when there is none.
func disagreement(r result.Row) string {
	if len(r.Agg) == 0 {
		return ""
	}
	var file map[string]any
	if err := json.Unmarshal(r.Agg, &file); err != nil {
		return "has an unreadable aggregate: " + err.Error()
	}
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		is, ok := file[name].(float64)
		switch {
		case !ok:
			return name + " is not in its aggregate"
		case !near(is, r.Metrics[name]):
			return fmt.Sprintf("%s is %v, its aggregate says %v", name, r.Metrics[name], is)
		}
	}
	return ""
}

// miscounted says how a score differs from its answers; "" when it does not, or
// when the answers were not kept.
func miscounted(e result.EvalRow) string {
	if len(e.Answers) == 0 || e.Score == nil {
		return ""
	}
	right := 0
	for _, a := range e.Answers {
		if a.Correct {
			right++
		}
	}
	switch share := float64(right) / float64(len(e.Answers)); {
	case len(e.Answers) != e.Samples:
		return fmt.Sprintf("has %d answers of %d samples", len(e.Answers), e.Samples)
	case !near(share, *e.Score):
		return fmt.Sprintf("scored %v, %d of %d answers are right", *e.Score, right, len(e.Answers))
	}
	return ""
}

func near(a, b float64) bool { return math.Abs(a-b) <= nearly*max(math.Abs(a), math.Abs(b)) }

// Piece is one result as a file or a collection holds it: Text is its
// canonical JSON.
type Piece struct{ Name, Text string }

// Collected judges whether a collection holds exactly the results it is
// collected from, each once: none is missing, none was added, none changed.
// Neither side there is a pass: then the rows are the only record.
func Collected(what string, parts, whole []Piece) Verdict {
	const gate = "collected"
	left := map[string][]string{}
	for _, p := range whole {
		left[p.Text] = append(left[p.Text], p.Name)
	}
	var missing, added []string
	for _, p := range parts {
		if n := len(left[p.Text]); n > 0 {
			left[p.Text] = left[p.Text][1:]
			continue
		}
		missing = append(missing, p.Name)
	}
	for _, names := range left {
		added = append(added, names...)
	}
	slices.Sort(added)
	var bad []string
	if len(missing) > 0 {
		bad = append(bad, "it lacks "+named(missing))
	}
	if len(added) > 0 {
		bad = append(bad, "it adds "+named(added))
	}
	if len(bad) > 0 {
		return Verdict{gate, Fail, what + " is not what the points left: " + join(bad)}
	}
	return Verdict{gate, Pass, fmt.Sprintf("%s holds %d results as the points left them", what, len(parts))}
}

// Carried judges whether every row is made of a result that its point left.
func Carried(rows, parts []Piece) Verdict {
	const gate = "carried"
	has := map[string]bool{}
	for _, p := range parts {
		has[p.Text] = true
	}
	var other []string
	for _, r := range rows {
		if !has[r.Text] {
			other = append(other, r.Name)
		}
	}
	if len(other) > 0 {
		return Verdict{gate, Fail, "rows of which no point left the result: " + named(other)}
	}
	return Verdict{gate, Pass, fmt.Sprintf("%d rows are made of what the points left", len(rows))}
}
