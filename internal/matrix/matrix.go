// Package matrix turns recipes into points and gives each point its identity:
// expansion, eval marking, selection, the plan of a changelog delta. It
// computes; it reads no files and does not know who runs the points.
package matrix

import (
	"fmt"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// Point is one deployment at one concurrency, the thing that is measured.
type Point struct {
	Family      string // recipe.Family.ID
	Key         string // 64 hex; unique inside the family, the same for every image
	Fingerprint string // 64 hex; the recipe with its image, the same for every concurrency
	Row         Row    // plan throughput row with this concurrency alone
	Eval        bool   // a full sweep of the family evaluates it
}

// Points lists all points of a family in catalogue order. Equal points
// collapse to the first; each collapse is a warning.
//
// Eval follows the published policy: of fixed lengths those of the default
// marking, of trace replays those that a sweep's eval-only rows cover.
func Points(f recipe.Family, runners recipe.Runners, ev EvalRule) ([]Point, []string, error) {
	rows, err := expand(f, runners, []string{Fixed, Agentic})
	if err != nil {
		return nil, nil, err
	}
	marked := ev.marks(rows, true)
	var all []Point
	for i, r := range rows {
		points, err := pointsOf(f, r)
		if err != nil {
			return nil, nil, err
		}
		for j := range points {
			conc, ok := marked[i]
			points[j].Eval = ok && conc == points[j].Conc()
		}
		all = append(all, points...)
	}
	all, warnings := collapse(all)
	return all, warnings, nil
}

// pointsOf makes the points of one generator row.
func pointsOf(f recipe.Family, generated Row) ([]Point, error) {
	generated = throughput(generated)
	fingerprint, err := Fingerprint(generated)
	if err != nil {
		return nil, err
	}
	row := planRow(generated)
	row.Set("recipe-fingerprint", fingerprint)
	var points []Point
	for _, c := range row.concs() {
		p := Point{Family: f.ID, Fingerprint: fingerprint, Row: row.Clone()}
		if row.multinode() {
			p.Row.Set("conc", []int{c})
		} else {
			p.Row.Set("conc", c)
		}
		if p.Key, err = Key(p.Row); err != nil {
			return nil, err
		}
		points = append(points, p)
	}
	return points, nil
}

// collapse keeps the first of equal points; a mark on any of them stays.
func collapse(points []Point) ([]Point, []string) {
	var out []Point
	var warnings []string
	first := map[[2]string]int{}
	for _, p := range points {
		id := [2]string{p.Family, p.Key}
		if i, ok := first[id]; ok {
			out[i].Eval = out[i].Eval || p.Eval
			warnings = append(warnings, fmt.Sprintf("%s: point %s is listed twice", p.Family, p.Label()))
			continue
		}
		first[id] = len(out)
		out = append(out, p)
	}
	return out, warnings
}

// Conc is the number of requests in flight.
func (p Point) Conc() int {
	if c := p.Row.concs(); len(c) == 1 {
		return c[0]
	}
	return 0
}

// Label names the point for people: workload, concurrency, topology and the
// first six digits of the key.
func (p Point) Label() string {
	workload, shape := described(p.Row)
	return strings.Join([]string{workload, fmt.Sprintf("c%d", p.Conc()), shape, p.Key[:min(6, len(p.Key))]}, " ")
}

// described names what a row runs for people, without its concurrency.
func described(r Row) (workload, shape string) {
	workload = fmt.Sprintf("%d/%d", r.Int("isl"), r.Int("osl"))
	if r.agentic() {
		workload = "AgentX"
	}
	shape = fmt.Sprintf("TP%d EP%d", r.Int("tp"), r.Int("ep"))
	if r.multinode() {
		pre, dec := r.Row("prefill"), r.Row("decode")
		shape = fmt.Sprintf("PTP%dx%d/DTP%dx%d", pre.Int("tp"), pre.Int("num-worker"), dec.Int("tp"), dec.Int("num-worker"))
	}
	return workload, shape
}

// Settings are the facts of a point that a table shows once when all share them.
type Settings struct {
	ISL, OSL, TP, EP int // 0 where the point has none: lengths of a replay, sizes of several pools
	Scenario         string
}

// Settings returns the point's workload and topology.
func (p Point) Settings() Settings {
	scenario := Fixed
	if p.Row.agentic() {
		scenario = Agentic
	}
	return Settings{p.Row.Int("isl"), p.Row.Int("osl"), p.Row.Int("tp"), p.Row.Int("ep"), scenario}
}
