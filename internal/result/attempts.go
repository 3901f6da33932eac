package result

import (
	"bytes"
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// ReadAttempts reads what the attempts of one workflow run left: the manifest
// of the newest, and the rows file of each, oldest first. An attempt may have
// measured only some points again, so each point, and each evaluation, is taken
// by itself: of the rows that say passed the one of the latest attempt, else the
// latest. A row keeps its provenance, so that it says which attempt made it. The
// same row in two files is one row, as in a file that a later attempt collected
// anew; two rows of one attempt that differ are an error. Rows of several files
// come in the manifest's order.
func ReadAttempts(manifest []byte, files ...[]byte) (Run, error) {
	m, err := ParseManifest(manifest)
	if err != nil {
		return Run{}, fmt.Errorf("read run: %w", err)
	}
	rows, evals := tries[Row]{}, tries[EvalRow]{}
	for i, src := range files {
		lines, err := ReadLines(bytes.NewReader(src))
		if err != nil {
			return Run{}, fmt.Errorf("read run %d: %w", m.RunID, err)
		}
		for _, l := range lines {
			if l.Row != nil {
				err = rows.add(i, *l.Row, m.expectsRow)
			} else {
				err = evals.add(i, *l.Eval, m.expectsEval)
			}
			if err != nil {
				return Run{}, fmt.Errorf("read run %d: %w", m.RunID, err)
			}
		}
	}
	run := Run{Manifest: m, Rows: rows.latest(), Evals: evals.latest()}
	if len(files) > 1 {
		place := m.places()
		slices.SortStableFunc(run.Rows, func(a, b Row) int { return place[a.Family+" "+a.Key] - place[b.Family+" "+b.Key] })
		slices.SortStableFunc(run.Evals, func(a, b EvalRow) int { return place[a.Family+" "+a.Key] - place[b.Family+" "+b.Key] })
	}
	return run, nil
}

// places numbers the points in the order in which the manifest names them.
func (m Manifest) places() map[string]int {
	place := map[string]int{}
	for _, f := range m.Families {
		for _, p := range slices.Concat(f.Points, f.Evals) {
			if id := f.Family + " " + p.Key; place[id] == 0 {
				place[id] = len(place) + 1
			}
		}
	}
	return place
}

// Attempts are the attempts that made the rows and evaluations, in order.
func (r Run) Attempts() []int {
	seen := map[int]bool{}
	for _, row := range r.Rows {
		seen[row.Provenance.Attempt] = true
	}
	for _, e := range r.Evals {
		seen[e.Provenance.Attempt] = true
	}
	return slices.Sorted(maps.Keys(seen))
}

// try is one row: what it is about, which attempt made it and how that ended.
type try interface {
	about() (id, name string)
	attempt() int
	passed() bool
}

func (r Row) about() (id, name string) {
	return r.Family + " " + r.Key, fmt.Sprintf("family %s: point %s: measured", r.Family, r.Label)
}
func (r Row) attempt() int { return r.Provenance.Attempt }
func (r Row) passed() bool { return r.Result == Passed }

func (e EvalRow) about() (id, name string) {
	return e.Family + " " + e.Key + " " + e.Suite + " " + e.Metric,
		fmt.Sprintf("family %s: eval %s %s/%s: scored", e.Family, e.Label, e.Suite, e.Metric)
}
func (e EvalRow) attempt() int { return e.Provenance.Attempt }
func (e EvalRow) passed() bool { return e.Result == Passed }

// tries are the rows of all attempts, by what they are about.
type tries[R try] struct {
	order []string
	of    map[string][]found[R]
}

// found is a row and the number of the file it was in.
type found[R try] struct {
	file int
	row  R
}

// add refuses a row that does not belong, one that is in its file already, and
// one that says something else than its like of the same attempt did before.
func (t *tries[R]) add(file int, row R, belongs func(R) error) error {
	if err := belongs(row); err != nil {
		return err
	}
	id, name := row.about()
	if t.of == nil {
		t.of = map[string][]found[R]{}
	}
	if len(t.of[id]) == 0 {
		t.order = append(t.order, id)
	}
	for _, old := range t.of[id] {
		switch {
		case old.row.attempt() != row.attempt():
		case old.file == file:
			return fmt.Errorf("%s twice", name)
		case !reflect.DeepEqual(old.row, row):
			return fmt.Errorf("%s twice in attempt %d, and not the same", name, row.attempt())
		default:
			return nil
		}
	}
	t.of[id] = append(t.of[id], found[R]{file, row})
	return nil
}

// latest is one row for each point or evaluation, in order of first sight.
func (t tries[R]) latest() []R {
	var out []R
	for _, id := range t.order {
		best := t.of[id][0].row
		for _, f := range t.of[id][1:] {
			if later(best, f.row) {
				best = f.row
			}
		}
		out = append(out, best)
	}
	return out
}

// later says whether b counts and a does not.
func later[R try](a, b R) bool {
	if a.passed() != b.passed() {
		return b.passed()
	}
	return b.attempt() > a.attempt()
}
