package report

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/refit-bench/refit/internal/compare"
)

// NamedComment is a comment to publish under its record's name.
type NamedComment struct {
	Name string
	Body string
}

// part is the record of one numbered continuation. Its name carries the digest
// of its JSON, so that it never changes.
type part struct {
	Part   int          `json:"part"` // from 2
	Of     int          `json:"of"`
	Points []Point      `json:"points"`
	Evals  []Evaluation `json:"evals"`
}

type rows struct {
	points []Point
	evals  []Evaluation
}

// pages is how many comments hold the rows; at least one.
func pages(ps []Point, es []Evaluation) int {
	n := max(len(ps), len(es))
	return max(1, (n+pageRows-1)/pageRows)
}

// chunk is the rows of page i, counted from 0.
func chunk(ps []Point, es []Evaluation, i int) rows {
	cut := func(n int) (int, int) { return min(n, i*pageRows), min(n, (i+1)*pageRows) }
	a, b := cut(len(ps))
	c, d := cut(len(es))
	return rows{ps[a:b], es[c:d]}
}

// BaselineRecords are the comments of a baseline: numbered parts first, when
// it has more than 20 points or evals, and the index named "baseline" last.
func (p Policy) BaselineRecords(parent, id string, b Baseline) ([]NamedComment, error) {
	if err := b.Validate(p.Bilingual); err != nil {
		return nil, err
	}
	render := func(r rows) string { return sections(baselineTables(b, r.points, r.evals)...) }
	out, names, err := p.parts(parent, id, "baseline", "**Baseline**", b.Points, b.Evals, render)
	if err != nil {
		return nil, err
	}
	index, first := b, chunk(b.Points, b.Evals, 0)
	index.Points, index.Evals = first.points, first.evals
	return p.index(out, parent, id, "baseline", index, names, p.BaselineComment(b))
}

// AttemptName is the record's name of an attempt: run-<run id>-<attempt>, or
// its kind and number before it has a run.
func AttemptName(a Attempt) string {
	if a.RunID == nil || a.RunAttempt == nil {
		return fmt.Sprintf("%s-%d", a.Kind, a.Number)
	}
	return fmt.Sprintf("run-%d-%d", *a.RunID, *a.RunAttempt)
}

// AttemptRecords are the comments of an attempt: numbered parts first, when it
// has more than 20 points or evals, and the index last.
func (p Policy) AttemptRecords(parent, id string, a Attempt, base Baseline, verdicts *compare.Result, extra ...string) ([]NamedComment, error) {
	if err := a.Validate(p); err != nil {
		return nil, err
	}
	name, v := AttemptName(a), newMarks(verdicts)
	render := func(r rows) string { return sections(attemptTables(a, base, r.points, r.evals, v)...) }
	out, names, err := p.parts(parent, id, name, p.attemptHeading(a, false), a.Points, a.Evals, render)
	if err != nil {
		return nil, err
	}
	index, first := a, chunk(a.Points, a.Evals, 0)
	index.Points, index.Evals = first.points, first.evals
	return p.index(out, parent, id, name, index, names, p.AttemptComment(a, base, verdicts, extra...))
}

func (p Policy) parts(parent, id, name, heading string, ps []Point, es []Evaluation, render func(rows) string) ([]NamedComment, []string, error) {
	var out []NamedComment
	var names []string
	n := pages(ps, es)
	for i := 1; i < n; i++ {
		r := chunk(ps, es, i)
		v := part{Part: i + 1, Of: n, Points: list(r.points), Evals: list(r.evals)}
		data, err := json.Marshal(v)
		if err != nil {
			return nil, nil, fmt.Errorf("part %d of %s: %w", i+1, name, err)
		}
		partName := fmt.Sprintf("%s-part-%d-%s", name, i+1, digest(data))
		body, err := p.Record("report", parent, id, partName, v, sections(fmt.Sprintf("%s · part %d/%d", heading, i+1, n), render(r)))
		if err != nil {
			return nil, nil, err
		}
		out, names = append(out, NamedComment{partName, body}), append(names, partName)
	}
	return out, names, nil
}

func (p Policy) index(out []NamedComment, parent, id, name string, v any, parts []string, page string) ([]NamedComment, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("record %s: %w", name, err)
	}
	if len(parts) > 0 {
		list, err := json.Marshal(parts)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", name, err)
		}
		data = append(append(append(data[:len(data)-1:len(data)-1], `,"parts":`...), list...), '}')
	}
	body, err := p.Record("report", parent, id, name, json.RawMessage(data), page)
	if err != nil {
		return nil, err
	}
	return append(out, NamedComment{name, body}), nil
}

func digest(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])[:12]
}

// Assemble gives the whole JSON of a record that was split: the index's rows
// and those of its parts, which are found by name among parts and checked
// against the digest in it. A record that was not split comes back as it is.
func Assemble(index Record, parts []Record) (json.RawMessage, error) {
	var whole map[string]json.RawMessage
	if err := json.Unmarshal(index.JSON, &whole); err != nil {
		return nil, fmt.Errorf("record %s: %w", index.Name, err)
	}
	if whole["parts"] == nil {
		return index.JSON, nil
	}
	var names []string
	var all part
	if err := unmarshalAll(whole, map[string]any{"parts": &names, "points": &all.Points, "evals": &all.Evals}); err != nil {
		return nil, fmt.Errorf("record %s: %w", index.Name, err)
	}
	for i, name := range names {
		v, err := partOf(index, parts, name, i+2, len(names)+1)
		if err != nil {
			return nil, err
		}
		all.Points, all.Evals = append(all.Points, v.Points...), append(all.Evals, v.Evals...)
	}
	delete(whole, "parts")
	for key, v := range map[string]any{"points": list(all.Points), "evals": list(all.Evals)} {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", index.Name, err)
		}
		whole[key] = data
	}
	return json.Marshal(whole)
}

func unmarshalAll(from map[string]json.RawMessage, into map[string]any) error {
	for key, v := range into {
		if err := json.Unmarshal(from[key], v); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

func partOf(index Record, parts []Record, name string, n, of int) (part, error) {
	for _, r := range parts {
		if r.Name != name || r.Parent != index.Parent || r.ID != index.ID {
			continue
		}
		if want := fmt.Sprintf("%s-part-%d-%s", index.Name, n, digest(r.JSON)); want != name {
			return part{}, fmt.Errorf("record %s: part %s was changed", index.Name, name)
		}
		var v part
		if err := decode(r.JSON, &v); err != nil {
			return part{}, fmt.Errorf("record %s: part %s: %w", index.Name, name, err)
		}
		if v.Part != n || v.Of != of {
			return part{}, fmt.Errorf("record %s: part %s is %d of %d, want %d of %d", index.Name, name, v.Part, v.Of, n, of)
		}
		return v, nil
	}
	return part{}, fmt.Errorf("record %s: part %s is missing", index.Name, name)
}
