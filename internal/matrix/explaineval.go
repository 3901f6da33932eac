package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// The fields in which single-node rows of one eval group are equal.
var (
	fixedGroup  = []string{"model", "runner", "framework", "precision", "isl", "osl", "spec-decoding", "dp-attn"}
	replayGroup = []string{"model", "runner", "framework", "precision"}
)

// EvalReason says whether a sweep of the family evaluates a point, and why or
// why not. Group are the points that it was weighed against, itself included,
// in catalogue order.
type EvalReason struct {
	Evaluated bool          `json:"evaluated"`
	Why       string        `json:"why"`
	Grouped   string        `json:"grouped,omitempty"` // what the points of the group have in common
	Group     []GroupMember `json:"group,omitempty"`
	Elsewhere string        `json:"elsewhere,omitempty"` // what a sweep of the whole catalogue does differently
}

// GroupMember is one point of a group.
type GroupMember struct {
	Label     string `json:"label"`
	Conc      int    `json:"conc"`
	Evaluated bool   `json:"evaluated"`
}

// eval explains the mark of the point in a sweep of its family.
func (x explainer) eval(ev EvalRule) (EvalReason, error) {
	row := x.point.Row
	e := EvalReason{Evaluated: x.point.Eval}
	switch {
	case !row.agentic() && !ev.eligible(row):
		e.Why = fmt.Sprintf("lengths %d/%d are not evaluated, %s are (evals.lengths: %s)", row.Int("isl"), row.Int("osl"), ev.lengths(), x.src.LengthsFrom)
		return e, nil
	case (!row.agentic() || row.multinode()) && x.point.Conc() < ev.Floor:
		e.Why = fmt.Sprintf("concurrency %d is below the floor of %d (evals.floor: %s)", x.point.Conc(), ev.Floor, x.src.FloorFrom)
		return e, nil
	}
	var err error
	if e.Group, err = x.group(ev); err != nil {
		return e, err
	}
	concs := []int{}
	for _, m := range e.Group {
		concs = append(concs, m.Conc)
	}
	slices.Sort(concs)
	concs = slices.Compact(concs)
	switch {
	case row.multinode():
		e.Grouped = "every field but concurrency and name"
		e.Why = x.highestOnly(concs)
	case row.agentic():
		e.Grouped = strings.Join(replayGroup, ", ")
		e.Why = x.highestOnly(concs)
		e.Elsewhere, err = x.elsewhere()
	default:
		e.Grouped = strings.Join(fixedGroup, ", ")
		e.Why = medianOrHighest(x.point.Conc(), concs)
	}
	return e, err
}

// lengths spells the rule's lengths as the configuration does.
func (ev EvalRule) lengths() string {
	words := make([]string, len(ev.Lengths))
	for i, l := range ev.Lengths {
		words[i] = fmt.Sprintf("%d/%d", l[0], l[1])
	}
	return strings.Join(words, ", ")
}

// medianOrHighest is the rule of single-node fixed lengths. concs are sorted
// and distinct.
func medianOrHighest(conc int, concs []int) string {
	n := len(concs)
	median, highest := concs[n/2], concs[n-1]
	switch {
	case conc == highest && median == highest:
		return fmt.Sprintf("highest and upper median of the concurrencies of its group: %s", spaced(concs))
	case conc == highest:
		return fmt.Sprintf("highest of the concurrencies of its group: %s", spaced(concs))
	case conc == median:
		return fmt.Sprintf("upper median, number %d of %d, of the concurrencies of its group: %s", n/2+1, n, spaced(concs))
	}
	return fmt.Sprintf("neither the highest (%d) nor the upper median (%d) of the concurrencies of its group: %s", highest, median, spaced(concs))
}

// highestOnly is the rule of all other points: one of each group, the first on ties.
func (x explainer) highestOnly(concs []int) string {
	highest := concs[len(concs)-1]
	switch {
	case x.point.Eval:
		return fmt.Sprintf("highest of the concurrencies of its group: %s", spaced(concs))
	case x.point.Conc() == highest:
		return fmt.Sprintf("another point of its group with the highest concurrency (%d) stands before it", highest)
	}
	return fmt.Sprintf("not the highest (%d) of the concurrencies of its group: %s", highest, spaced(concs))
}

func spaced(concs []int) string { return strings.Trim(fmt.Sprint(concs), "[]") }

// group lists the family's points that the point is weighed against.
func (x explainer) group(ev EvalRule) ([]GroupMember, error) {
	points, _, err := Points(x.family, x.cat.Runners, ev)
	if err != nil {
		return nil, err
	}
	var out []GroupMember
	own := x.groupOf(x.point.Row)
	for _, p := range points {
		above := p.Conc() >= ev.Floor || p.Row.agentic() && !p.Row.multinode()
		if above && x.groupOf(p.Row) == own {
			out = append(out, GroupMember{p.Label(), p.Conc(), p.Eval})
		}
	}
	return out, nil
}

// groupOf is a row's eval group as a map key.
func (x explainer) groupOf(r Row) string {
	switch {
	case r.multinode():
		return "multi-node " + topology(r)
	case r.agentic():
		return "replay " + groupKey(r, replayGroup...)
	}
	return "fixed " + groupKey(r, fixedGroup...)
}

// elsewhere says how the mark of a single-node trace replay changes when its
// family is not swept alone: its group may span families, and has one eval.
func (x explainer) elsewhere() (string, error) {
	own := x.groupOf(x.point.Row)
	var best *recipe.Family
	var bestRow Row
	for i, f := range x.cat.Families {
		if f.Entry.Multinode || len(f.Entry.Agentic) == 0 || f.Entry.Model != x.family.Entry.Model {
			continue
		}
		rows, err := expand(f, x.cat.Runners, []string{Agentic})
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			if x.groupOf(r) == own && (best == nil || r.Int("conc") > bestRow.Int("conc")) {
				best, bestRow = &x.cat.Families[i], r
			}
		}
	}
	if best == nil || best.ID == x.family.ID || !x.point.Eval {
		return "", nil
	}
	return fmt.Sprintf("swept together with %s, whose concurrency %d of the same group goes before it, it is not evaluated", best.Key, bestRow.Int("conc")), nil
}
