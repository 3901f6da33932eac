package matrix

import (
	"errors"
	"fmt"
	"slices"
)

// Generated is what the JSON form of a plan says. Its points are read out of
// the rows: a point has the key that its settings give, whatever anybody calls
// it. Rows name no family; those of evals carry no fingerprint.
type Generated struct {
	Base, Head string
	Keys       []string // config keys of its entries, in order
	Throughput []Point
	Evals      []Point
}

// ParsePlan reads the JSON form of a plan, as Plan.MarshalJSON writes it and
// workflows hand it on. Parts that it does not know are errors.
func ParsePlan(src []byte) (Generated, error) {
	var r Row
	if err := r.UnmarshalJSON(src); err != nil {
		return Generated{}, fmt.Errorf("plan: %w", err)
	}
	var g Generated
	for _, part := range r.Names() {
		var err error
		switch {
		case part == "single_node" || part == "multi_node":
			v, _ := r.Get(part)
			lists, ok := v.(Row)
			if !ok {
				return Generated{}, fmt.Errorf("plan: %s is no object", part)
			}
			g.Throughput, err = pointsOfPart(g.Throughput, lists, false)
		case slices.Contains(evalBuckets, part):
			var only Row
			v, _ := r.Get(part)
			only.Set(part, v)
			g.Evals, err = pointsOfPart(g.Evals, only, true)
		case part == "changelog_metadata":
			err = g.metadata(r.Row(part))
		default:
			err = fmt.Errorf("unknown part %q", part)
		}
		if err != nil {
			return Generated{}, fmt.Errorf("plan: %s: %w", part, err)
		}
	}
	if g.Head == "" {
		return Generated{}, errors.New("plan: changelog_metadata: head_ref is missing")
	}
	return g, nil
}

// metadata reads for which change the plan was made.
func (g *Generated) metadata(m Row) error {
	g.Base, g.Head = m.Str("base_ref"), m.Str("head_ref")
	entries, _ := m.Get("entries")
	list, _ := entries.([]any)
	for i, item := range list {
		entry, _ := item.(Row)
		keys, _ := entry.Get("config-keys")
		names, ok := keys.([]any)
		if !ok || len(names) == 0 {
			return fmt.Errorf("entry %d: config-keys are missing", i+1)
		}
		for _, n := range names {
			name, ok := n.(string)
			if !ok {
				return fmt.Errorf("entry %d: a config key is no text", i+1)
			}
			g.Keys = append(g.Keys, name)
		}
	}
	return nil
}

// pointsOfPart adds the points of every row of a part's lists.
func pointsOfPart(to []Point, lists Row, evals bool) ([]Point, error) {
	for _, name := range lists.Names() {
		v, _ := lists.Get(name)
		list, ok := v.([]any)
		if !ok {
			return nil, fmt.Errorf("%s is no list", name)
		}
		for i, item := range list {
			row, ok := item.(Row)
			if !ok {
				return nil, fmt.Errorf("%s: row %d is no object", name, i+1)
			}
			points, err := pointsIn(row, evals)
			if err != nil {
				return nil, fmt.Errorf("%s: row %d: %w", name, i+1, err)
			}
			to = append(to, points...)
		}
	}
	return to, nil
}

// pointsIn are the points that a plan row measures, one for each concurrency.
func pointsIn(row Row, evals bool) ([]Point, error) {
	concs := row.concs()
	if evals && row.Has("eval-conc") {
		concs = []int{row.Int("eval-conc")}
	}
	if len(concs) == 0 {
		return nil, errors.New("it has no concurrency")
	}
	var out []Point
	for _, c := range concs {
		p := Point{Fingerprint: row.Str("recipe-fingerprint"), Row: throughput(row), Eval: evals}
		if row.multinode() {
			p.Row.Set("conc", []int{c})
		} else {
			p.Row.Set("conc", c)
		}
		var err error
		if p.Key, err = Key(p.Row); err != nil {
			return nil, err
		}
		out = append(out, p)
	}
	return out, nil
}
