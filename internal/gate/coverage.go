package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result"
)

// maxNamed bounds how many points a reason names one by one.
const maxNamed = 4

// Coverage judges whether a run measured exactly what was wanted of one
// family: the manifest lists every wanted point and eval and no other, every
// one of them has exactly one passed row with the wanted fingerprint, and no
// other row exists. The family is the wanted points'; other families of the
// run are not looked at.
func Coverage(m result.Manifest, rows []result.Row, evals []result.EvalRow, wantPoints, wantEvals []matrix.Point) Verdict {
	const gate = "coverage"
	if len(wantPoints) == 0 {
		return Verdict{gate, Unknown, "no point is wanted"}
	}
	family := wantPoints[0].Family
	for _, p := range slices.Concat(wantPoints, wantEvals) {
		if p.Family != family {
			return Verdict{gate, Unknown, fmt.Sprintf("points of two families are wanted: %s and %s", family, p.Family)}
		}
	}
	var bad []string
	part := manifestOf(m, family)
	if part == nil {
		bad = append(bad, "manifest: family "+family+" is missing")
	} else {
		bad = append(bad, judge("manifest point", wanted(wantPoints), listed(part.Points))...)
		bad = append(bad, judge("manifest eval", wanted(wantEvals), listed(part.Evals))...)
	}
	bad = append(bad, judge("point", wanted(wantPoints), measured(rows, family))...)
	bad = append(bad, judge("eval", wanted(wantEvals), scored(evals, family))...)
	if len(bad) > 0 {
		return Verdict{gate, Fail, strings.Join(bad, "; ")}
	}
	return Verdict{gate, Pass, fmt.Sprintf("%d of %d points and %d of %d evals", len(wantPoints), len(wantPoints), len(wantEvals), len(wantEvals))}
}

func manifestOf(m result.Manifest, family string) *result.ManifestFamily {
	for i := range m.Families {
		if m.Families[i].Family == family {
			return &m.Families[i]
		}
	}
	return nil
}

// item is a point as one side knows it. Series tells evals of one point apart;
// result is empty where the side has none.
type item struct {
	key, fingerprint, label, result, series string
}

func wanted(ps []matrix.Point) []item {
	out := make([]item, 0, len(ps))
	for _, p := range ps {
		out = append(out, item{key: p.Key, fingerprint: p.Fingerprint, label: p.Label()})
	}
	return out
}

func listed(ps []result.ManifestPoint) []item {
	out := make([]item, 0, len(ps))
	for _, p := range ps {
		out = append(out, item{key: p.Key, fingerprint: p.Fingerprint, label: p.Label})
	}
	return out
}

func measured(rows []result.Row, family string) []item {
	var out []item
	for _, r := range rows {
		if r.Family == family {
			res := r.Result
			if n := len(r.Health.Reasons); res == result.Failed && n > 0 {
				res += " (" + r.Health.Reasons[n-1] + ")"
			}
			out = append(out, item{r.Key, r.Fingerprint, r.Label, res, ""})
		}
	}
	return out
}

func scored(evals []result.EvalRow, family string) []item {
	var out []item
	for _, e := range evals {
		if e.Family != family {
			continue
		}
		res := e.Result
		if res == result.Passed && (e.Score == nil || e.Samples <= 0) {
			res = "passed without a score"
		}
		out = append(out, item{e.Key, e.Fingerprint, e.Label, res, e.Suite + "/" + e.Metric})
	}
	return out
}

// judge names what differs between what is wanted and what there is: missing,
// extra, duplicate, another fingerprint, not passed.
func judge(what string, want, got []item) []string {
	var missing, extra, double, changed, failed []string
	wants, seen, there := map[string]item{}, map[string]bool{}, map[string]bool{}
	for _, w := range want {
		wants[w.key] = w
	}
	for _, g := range got {
		w, ok := wants[g.key]
		switch {
		case !ok:
			extra = append(extra, g.label)
			continue
		case seen[g.key+" "+g.series]:
			double = append(double, w.label)
			continue
		case g.fingerprint != w.fingerprint || g.fingerprint == "":
			changed = append(changed, w.label)
		case g.result != "" && g.result != result.Passed:
			failed = append(failed, w.label+" "+g.result)
		}
		seen[g.key+" "+g.series], there[g.key] = true, true
	}
	for _, w := range want {
		if !there[w.key] {
			missing = append(missing, w.label)
		}
	}
	var out []string
	for _, c := range []struct {
		how   string
		names []string
	}{{"missing", missing}, {"extra", extra}, {"duplicate", double}, {"with another fingerprint", changed}, {"not passed", failed}} {
		if len(c.names) > 0 {
			out = append(out, fmt.Sprintf("%s %s: %s", what, c.how, named(c.names)))
		}
	}
	return out
}

// named lists a few names and says how many more there are.
func named(names []string) string {
	if len(names) <= maxNamed {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), len(names)-maxNamed)
}
