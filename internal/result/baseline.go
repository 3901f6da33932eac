package result

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/result/api"
)

// Baseline is the newest published measurement of a family at its old image,
// frozen before anything changes. Date, RunID and Head are those of its newest
// point; they are empty when nothing matched.
type Baseline struct {
	Family   string          `json:"family"`
	Date     string          `json:"date"`
	Image    string          `json:"image"`
	RunID    int64           `json:"run-id"`
	Head     string          `json:"head"`
	Points   []BaselinePoint `json:"points"`
	Evals    []BaselineEval  `json:"evals"`
	Sources  []string        `json:"sources"`
	Warnings []string        `json:"warnings,omitempty"`
}

// BaselinePoint is one point of the family; Result is Passed or Unavailable.
type BaselinePoint struct {
	Key     string `json:"key"`
	Label   string `json:"label"`
	Conc    int    `json:"conc"`
	Values  Values `json:"values"`
	Result  string `json:"result"`
	RunID   int64  `json:"run-id"`
	Head    string `json:"head"`
	Attempt int    `json:"run-attempt"`
}

// BuildBaseline picks the published row of every point of one family at an
// image. A row matches on image, configuration, workload, concurrency and
// recipe fingerprint; an older row without a fingerprint also needs a producer
// run whose changelog selected the family. A point without a row is
// Unavailable. Two rows for a point, and a producer run that the workflow info
// does not know with exactly one head, are errors.
func BuildBaseline(points []matrix.Point, old string, rows []api.BenchmarkRow, info api.WorkflowInfo, evals []api.EvaluationRow, sources []string) (Baseline, error) {
	if len(points) == 0 {
		return Baseline{}, fmt.Errorf("baseline: no points")
	}
	b := builder{Baseline: Baseline{Family: points[0].Family, Image: old, Sources: slices.Clone(sources)}, info: info}
	for _, p := range points {
		if err := b.addPoint(p, rows); err != nil {
			return Baseline{}, fmt.Errorf("baseline %s: point %s: %w", b.Family, p.Label(), err)
		}
	}
	if n := len(b.dates); n > 1 {
		b.Warnings = append(b.Warnings, fmt.Sprintf("points come from %d runs", n))
	}
	taken := map[string]string{}
	for _, p := range points {
		if !p.Eval {
			continue
		}
		if err := b.addEvals(p, evals, taken); err != nil {
			return Baseline{}, fmt.Errorf("baseline %s: eval %s: %w", b.Family, p.Label(), err)
		}
	}
	return b.Baseline, nil
}

type builder struct {
	Baseline
	info  api.WorkflowInfo
	dates map[int64]string // of the runs that gave points
}

func (b *builder) addPoint(p matrix.Point, rows []api.BenchmarkRow) error {
	as, err := PublishedAs(p.Row)
	if err != nil {
		return err
	}
	var found []api.BenchmarkRow
	for _, row := range rows {
		if row.Image != nil && image.Same(*row.Image, b.Image) && matchesRow(as, p, row) && b.selected(p, row) {
			found = append(found, row)
		}
	}
	out := BaselinePoint{Key: p.Key, Label: p.Label(), Conc: as.Conc, Result: Unavailable}
	switch len(found) {
	case 0:
		b.Points = append(b.Points, out)
		return nil
	case 1:
	default:
		return fmt.Errorf("ambiguous: %d published rows (ids %s)", len(found), rowIDs(found))
	}
	if out.RunID, out.Attempt, out.Head, err = b.producer(found[0].RunURL); err != nil {
		return err
	}
	out.Values, out.Result = valuesOf(found[0].Metrics), Passed
	b.Points = append(b.Points, out)
	b.note(found[0].Date, out)
	return nil
}

// note keeps the newest date and the run that gave it.
func (b *builder) note(date string, p BaselinePoint) {
	if b.dates == nil {
		b.dates = map[int64]string{}
	}
	b.dates[p.RunID] = date
	if date > b.Date {
		b.Date, b.RunID, b.Head = date, p.RunID, p.Head
	}
}

// matchesRow compares everything that identifies a point but the image.
func matchesRow(as Published, p matrix.Point, row api.BenchmarkRow) bool {
	if row.PointKey != "" && (row.PointKey != p.Key || row.Family != p.Family) {
		return false
	}
	if fp := deref(row.RecipeFingerprint); fp != "" && fp != p.Fingerprint {
		return false
	}
	for name, size := range as.Sizes {
		if v, ok := row.Metrics[name]; ok && v != size {
			return false
		}
	}
	return row.Config.SameEngine(as.Config) && row.BenchmarkType == as.BenchmarkType && row.OffloadMode == as.OffloadMode &&
		row.Conc == as.Conc && equal(row.ISL, as.ISL) && equal(row.OSL, as.OSL)
}

// selected says whether a row may stand for a family: its fingerprint says so,
// else the changelog of the run that made it.
func (b *builder) selected(p matrix.Point, row api.BenchmarkRow) bool {
	if deref(row.RecipeFingerprint) != "" {
		return true
	}
	_, key, _ := strings.Cut(p.Family, ":")
	run, _, _ := api.ParseRunURL(deref(row.RunURL))
	for _, c := range b.info.Changelogs {
		if int64(c.WorkflowRunID) != run {
			continue
		}
		for _, pattern := range c.ConfigKeys {
			if ok, _ := path.Match(strings.ReplaceAll(pattern, "?", `\?`), key); ok {
				return true
			}
		}
	}
	return false
}

// producer reads the run that made a row and its only head.
func (b *builder) producer(url *string) (run int64, attempt int, head string, err error) {
	run, attempt, ok := api.ParseRunURL(deref(url))
	if !ok {
		return 0, 0, "", fmt.Errorf("run url %q names no run", deref(url))
	}
	for _, c := range b.info.RunConfigs {
		if int64(c.GitHubRunID) != run || c.HeadSHA == head {
			continue
		}
		if head != "" {
			return 0, 0, "", fmt.Errorf("producer run %d has two heads, %.12s and %.12s", run, head, c.HeadSHA)
		}
		head = c.HeadSHA
	}
	if !hex40.MatchString(head) {
		return 0, 0, "", fmt.Errorf("producer run %d is not known to workflow-info with a head", run)
	}
	return run, attempt, head, nil
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func equal(a, b *int) bool {
	if a == nil || b == nil {
		return a == b
	}
	return *a == *b
}

func rowIDs(rows []api.BenchmarkRow) string {
	var ids []string
	for _, r := range rows {
		ids = append(ids, fmt.Sprint(int64(r.ID)))
	}
	return strings.Join(ids, ", ")
}
