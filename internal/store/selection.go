package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/result"
)

// Selection names measurements: one run, or the published runs of an image,
// of a family when one is given.
type Selection struct {
	Text   string // as it was written
	Run    int64  // 0: by image
	Family string // its name, or its config key; empty: any
	Image  string // reference, tag, or digest (12 digits at least)
}

// ParseSelection reads a run id, image:REF, or FAMILY@REF.
func ParseSelection(text string) (Selection, error) {
	if id, err := strconv.ParseInt(text, 10, 64); err == nil && id > 0 {
		return Selection{Text: text, Run: id}, nil
	}
	if ref, ok := strings.CutPrefix(text, "image:"); ok && ref != "" {
		return Selection{Text: text, Image: ref}, nil
	}
	if family, ref, ok := strings.Cut(text, "@"); ok && family != "" && ref != "" {
		return Selection{Text: text, Family: family, Image: ref}, nil
	}
	return Selection{}, fmt.Errorf("%q is neither a run id, image:REF nor FAMILY@REF", text)
}

// Measured says that the latest attempt of a run measured a family on an image.
type Measured struct {
	RunID     int64  `json:"run-id"`
	Attempt   int    `json:"run-attempt"`
	Name      string `json:"name"`
	Published bool   `json:"published"`
	Family    string `json:"family"`
	Image     string `json:"image"`
	Digest    string `json:"digest"`
}

// Measured lists what is stored, oldest run first.
func (s *Store) Measured(ctx context.Context) ([]Measured, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT r.github_run_id, r.run_attempt, r.name, r.published, t.family, t.image, t.image_digest
FROM (SELECT workflow_run_id, family, image, image_digest FROM points UNION SELECT workflow_run_id, family, image, image_digest FROM evals) t
JOIN workflow_runs r ON r.id = t.workflow_run_id WHERE `+latestAttempt+`
ORDER BY r.created_at, r.github_run_id, t.family, t.image, t.image_digest`)
	if err != nil {
		return nil, fmt.Errorf("what was measured: %w", err)
	}
	defer rows.Close()
	var out []Measured
	for rows.Next() {
		var m Measured
		if err := rows.Scan(&m.RunID, &m.Attempt, &m.Name, &m.Published, &m.Family, &m.Image, &m.Digest); err != nil {
			return nil, fmt.Errorf("what was measured: %w", err)
		}
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		return nil, fmt.Errorf("what was measured: %w", err)
	}
	return out, nil
}

// Side is what a selection found of one family.
type Side struct {
	Measured []Measured       `json:"measured"`
	Rows     []result.Row     `json:"-"` // oldest run first
	Evals    []result.EvalRow `json:"-"`
}

// ErrAmbiguous wants a selection to be narrowed.
var ErrAmbiguous = errors.New("ambiguous")

// Sides finds two selections, of one family that both have: the one given, by
// name or config key, or the only one. Runs of the new side do not count as
// old ones. Each side has one image; its rows are the newest attempts'.
func (s *Store) Sides(ctx context.Context, family string, older, newer Selection) (old, new Side, err error) {
	all, err := s.Measured(ctx)
	if err != nil {
		return old, new, err
	}
	if old.Measured, err = older.in(all, family); err != nil {
		return old, new, err
	}
	if new.Measured, err = newer.in(all, family); err != nil {
		return old, new, err
	}
	if family, err = common(older, newer, old.Measured, new.Measured); err != nil {
		return old, new, err
	}
	other := func(m Measured) bool { return m.Family != family }
	new.Measured = slices.DeleteFunc(new.Measured, other)
	old.Measured = slices.DeleteFunc(old.Measured, func(m Measured) bool {
		return other(m) || slices.ContainsFunc(new.Measured, func(n Measured) bool { return n.RunID == m.RunID })
	})
	if len(old.Measured) == 0 {
		return old, new, fmt.Errorf("every run of %s is one of %s: no old side is left", older.Text, newer.Text)
	}
	for _, side := range []struct {
		*Side
		text string
	}{{&old, older.Text}, {&new, newer.Text}} {
		if err := s.read(ctx, side.Side, side.text); err != nil {
			return old, new, err
		}
	}
	return old, new, nil
}

// in picks what the selection names.
func (sel Selection) in(all []Measured, family string) ([]Measured, error) {
	if len(all) == 0 {
		return nil, errors.New("nothing is stored in this workspace yet")
	}
	var found []Measured
	var unpublished, known []string
	for _, m := range all {
		if !named(m.Family, family) || !named(m.Family, sel.Family) {
			continue
		}
		id := strconv.FormatInt(m.RunID, 10)
		switch {
		case sel.Run != 0:
			if m.RunID == sel.Run {
				found = append(found, m)
			}
			known = addNew(known, id)
		case !runs(m, sel.Image):
			known = addNew(known, m.Image)
		case m.Published:
			found = append(found, m)
		default:
			unpublished = addNew(unpublished, id)
		}
	}
	switch {
	case len(found) > 0:
		return found, nil
	case len(unpublished) > 0:
		return nil, fmt.Errorf("%s: no published run; choose by id: %s", sel.Text, newest(unpublished))
	case len(known) == 0:
		return nil, fmt.Errorf("%s: nothing is stored of this family", sel.Text)
	}
	return nil, fmt.Errorf("%s: not stored; known are %s", sel.Text, newest(known))
}

func addNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

// newest shortens a list that is ordered by age.
func newest(list []string) string {
	const most = 10
	if n := len(list) - most; n > 0 {
		return fmt.Sprintf("%s (and %d older)", strings.Join(list[n:], ", "), n)
	}
	return strings.Join(list, ", ")
}

// named says whether a family is meant by its name or by its config key.
func named(family, name string) bool {
	return name == "" || family == name || strings.HasSuffix(family, ":"+name)
}

// runs says whether ref is the image's reference, its tag, or its digest.
func runs(m Measured, ref string) bool {
	const least = len("sha256:") + 12
	return m.Image == ref || strings.HasSuffix(m.Image, ":"+ref) ||
		strings.HasPrefix(ref, "sha256:") && len(ref) >= least && strings.HasPrefix(m.Digest, ref)
}

// common is the only family on both sides.
func common(older, newer Selection, old, new []Measured) (string, error) {
	before, after := families(old), families(new)
	both := slices.DeleteFunc(slices.Clone(before), func(f string) bool { return !slices.Contains(after, f) })
	switch {
	case len(both) == 1:
		return both[0], nil
	case len(both) > 1:
		return "", fmt.Errorf("%w: %s and %s have several families in common, choose one: %s", ErrAmbiguous, older.Text, newer.Text, strings.Join(both, ", "))
	}
	return "", fmt.Errorf("no common family: %s has %s; %s has %s", older.Text, strings.Join(before, ", "), newer.Text, strings.Join(after, ", "))
}

func families(ms []Measured) []string {
	var out []string
	for _, m := range ms {
		out = addNew(out, m.Family)
	}
	return out
}

// read fetches the rows of a side, which has one image.
func (s *Store) read(ctx context.Context, side *Side, text string) error {
	for _, m := range side.Measured {
		if m.Image != side.Measured[0].Image {
			return fmt.Errorf("%w: %s names %s and %s", ErrAmbiguous, text, side.Measured[0].Image, m.Image)
		}
		q := Query{Family: m.Family, Image: m.Image, Digest: m.Digest, RunID: m.RunID}
		rows, err := s.Points(ctx, q)
		if err != nil {
			return err
		}
		evals, err := s.Evals(ctx, q)
		if err != nil {
			return err
		}
		side.Rows, side.Evals = append(side.Rows, rows...), append(side.Evals, evals...)
	}
	return nil
}
