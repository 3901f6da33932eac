package report

import (
	"errors"
	"fmt"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	hex40 = regexp.MustCompile(`^[0-9a-f]{40}$`)
	hex64 = regexp.MustCompile(`^[0-9a-f]{64}$`)
	plain = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._/:#@+-]*$`) // images and families
	id    = regexp.MustCompile(`^[0-9a-f]{16}-[0-9a-f]{16}$`)
)

// ParseBaseline reads the JSON of a baseline strictly and validates it.
// A missing Chinese sentence is accepted here; Validate can ask for it.
func ParseBaseline(data []byte) (Baseline, error) {
	var b Baseline
	if err := decode(data, &b); err != nil {
		return Baseline{}, fmt.Errorf("baseline record: %w", err)
	}
	return b, b.Validate(false)
}

// ParseAttempt reads the JSON of an attempt strictly and validates it.
func ParseAttempt(data []byte) (Attempt, error) {
	var a Attempt
	if err := decode(data, &a); err != nil {
		return Attempt{}, fmt.Errorf("attempt record: %w", err)
	}
	return a, a.Validate(Policy{Repairs: math.MaxInt})
}

// ParseReceipt reads the JSON of an outcome receipt strictly and validates it.
func ParseReceipt(data []byte) (Receipt, error) {
	var r Receipt
	if err := decode(data, &r); err != nil {
		return Receipt{}, fmt.Errorf("receipt record: %w", err)
	}
	return r, r.Validate()
}

// ParseCleanup reads the JSON of a pending cleanup strictly and validates it.
func ParseCleanup(data []byte) (Cleanup, error) {
	var c Cleanup
	if err := decode(data, &c); err != nil {
		return Cleanup{}, fmt.Errorf("cleanup record: %w", err)
	}
	return c, c.Validate(false)
}

// checks collects what is wrong with a record; every mistake is named.
type checks struct {
	what string
	errs []error
}

func (c *checks) want(ok bool, format string, args ...any) {
	if !ok {
		c.errs = append(c.errs, fmt.Errorf(c.what+": "+format, args...))
	}
}

func (c *checks) sentence(name string, p Prose, bilingual bool) {
	if err := p.Check(bilingual); err != nil {
		c.errs = append(c.errs, fmt.Errorf("%s: %s: %w", c.what, name, err))
	}
}

func (c *checks) err() error { return errors.Join(c.errs...) }

// Validate reports every rule of a baseline record that is broken.
func (b Baseline) Validate(bilingual bool) error {
	c := &checks{what: "baseline record"}
	c.want(plain.MatchString(b.Family), "family %q is not a name", b.Family)
	_, err := time.Parse(time.DateOnly, b.Date)
	c.want(err == nil, "date %q is not YYYY-MM-DD", b.Date)
	c.want(plain.MatchString(b.Image), "image %q is not a reference", b.Image)
	for _, s := range b.Sources {
		c.want(publicAPI(s), "source %q is not a public API address", s)
	}
	c.sentence("goal", b.Goal, bilingual)
	c.sentence("status", b.Status, bilingual)
	c.author(b.PreparedBy)
	c.points(b.Points)
	c.evals(b.Evals)
	return c.err()
}

// Validate reports every rule of an attempt record that is broken.
func (a Attempt) Validate(p Policy) error {
	c := &checks{what: "attempt record"}
	switch a.Kind {
	case "initial":
		c.want(a.Number == 0, "number %d of an initial attempt is not 0", a.Number)
	case "repair":
		c.want(a.Number >= 1 && a.Number <= p.budget(), "repair %d is outside 1..%d", a.Number, p.budget())
	case "infrastructure-retry":
		c.want(a.Number >= 1, "number %d of a retry is below 1", a.Number)
	case "final":
		c.want(a.Number >= 0, "number %d is negative", a.Number)
	default:
		c.want(false, "unknown kind %q", a.Kind)
	}
	c.want(hex40.MatchString(a.Head), "head %q is not 40 hex digits", a.Head)
	c.want(plain.MatchString(a.Image), "image %q is not a reference", a.Image)
	c.want(slices.Contains(statuses, a.Status), "unknown status %q", a.Status)
	c.want(!a.UpdatedAt.IsZero(), "updated-at is missing")
	c.sentence("change", a.Change, p.Bilingual)
	c.sentence("next", a.Next, p.Bilingual)
	if a.Finding != nil {
		c.sentence("finding", *a.Finding, p.Bilingual)
	}
	c.counts(a)
	c.author(a.PreparedBy)
	c.points(a.Points)
	c.evals(a.Evals)
	c.owned(a)
	return c.err()
}

var statuses = []string{"queued", "running", "passed", "failed", "cancelled", "deferred"}

func (c *checks) counts(a Attempt) {
	c.want(a.BenchmarksPassed >= 0 && a.BenchmarksPassed <= a.BenchmarksExpected,
		"%d benchmarks passed of %d", a.BenchmarksPassed, a.BenchmarksExpected)
	c.want(a.EvalsPassed >= 0 && a.EvalsPassed <= a.EvalsExpected,
		"%d evals passed of %d", a.EvalsPassed, a.EvalsExpected)
	if a.Status == "passed" {
		c.want(a.BenchmarksPassed == a.BenchmarksExpected && a.EvalsPassed == a.EvalsExpected,
			"status passed, but only %d of %d benchmarks and %d of %d evals passed",
			a.BenchmarksPassed, a.BenchmarksExpected, a.EvalsPassed, a.EvalsExpected)
		c.want(a.RunID != nil, "status passed without a run")
	}
}

// owned checks that the rows come from the attempt's own run.
func (c *checks) owned(a Attempt) {
	c.want((a.RunID == nil) == (a.RunAttempt == nil), "run-id and run-attempt go together")
	check := func(label string, p Provenance) {
		c.want(p.RunID == nil || (a.RunID != nil && *p.RunID == *a.RunID), "%s: run-id is not the attempt's", label)
		c.want(p.Head == nil || *p.Head == a.Head, "%s: head is not the attempt's", label)
		c.want(p.RunAttempt == nil || (a.RunAttempt != nil && *p.RunAttempt <= *a.RunAttempt), "%s: run-attempt is later than the attempt's", label)
	}
	for _, p := range a.Points {
		check(p.Label, p.Provenance)
	}
	for _, e := range a.Evals {
		check(e.Label, e.Provenance)
	}
	c.provenance("attempt", Provenance{RunID: a.RunID, RunAttempt: a.RunAttempt})
}

func (c *checks) points(ps []Point) {
	seen := map[string]bool{}
	for i, p := range ps {
		at := fmt.Sprintf("point %d (%s)", i, p.Label)
		c.want(hex64.MatchString(p.Key), "%s: key is not 64 hex digits", at)
		c.want(!seen[p.Key], "%s: key is repeated", at)
		seen[p.Key] = true
		c.label(at, p.Label)
		c.want(p.Conc > 0, "%s: conc %d is not positive", at, p.Conc)
		c.want(p.Scenario == "fixed-seq-len" || p.Scenario == "agentic-coding", "%s: unknown scenario %q", at, p.Scenario)
		c.want(slices.Contains([]string{"passed", "failed", "cancelled", "pending", "unavailable"}, p.Result), "%s: unknown result %q", at, p.Result)
		c.values(at, p.Values)
		c.provenance(at, p.Provenance)
	}
}

func (c *checks) values(at string, v Values) {
	for name, n := range map[string]*float64{
		"total-tps-gpu": v.TotalTPSGPU, "output-tps-gpu": v.OutputTPSGPU, "ttft-ms": v.TTFTms, "tpot-ms": v.TPOTms,
	} {
		c.want(n == nil || (*n >= 0 && !math.IsInf(*n, 0)), "%s: %s is not a finite number of 0 or more", at, name)
	}
	c.want(v.LatencyStatistic == "mean" || v.LatencyStatistic == "median", "%s: unknown latency-statistic %q", at, v.LatencyStatistic)
	c.want(v.RequestErrors == nil || *v.RequestErrors >= 0, "%s: request-errors is negative", at)
}

func (c *checks) evals(es []Evaluation) {
	seen := map[[3]string]bool{}
	for i, e := range es {
		at := fmt.Sprintf("eval %d (%s)", i, e.Label)
		key := [3]string{e.Key, e.Suite, e.Metric}
		c.want(hex64.MatchString(e.Key), "%s: key is not 64 hex digits", at)
		c.want(!seen[key], "%s: key, suite and metric are repeated", at)
		seen[key] = true
		c.label(at, e.Label)
		c.want(plain.MatchString(e.Suite), "%s: suite %q is not a name", at, e.Suite)
		c.want(plain.MatchString(e.Metric), "%s: metric %q is not a name", at, e.Metric)
		c.want(e.Score == nil || (*e.Score >= 0 && *e.Score <= 1), "%s: score is outside 0..1", at)
		c.want(e.Samples == nil || *e.Samples > 0, "%s: samples is not positive", at)
		c.want(slices.Contains([]string{"passed", "failed", "unavailable"}, e.Result), "%s: unknown result %q", at, e.Result)
		c.provenance(at, e.Provenance)
	}
}

func (c *checks) label(at, label string) {
	c.want(label != "" && len(label) <= 200 && !strings.ContainsAny(label, "\r\n"), "%s: label is empty, too long or has a line end", at)
}

func (c *checks) provenance(at string, p Provenance) {
	c.want(p.RunID == nil || *p.RunID > 0, "%s: run-id is not positive", at)
	c.want(p.Head == nil || hex40.MatchString(*p.Head), "%s: head is not 40 hex digits", at)
	c.want(p.RunAttempt == nil || *p.RunAttempt > 0, "%s: run-attempt is not positive", at)
}

func (c *checks) author(a Author) {
	c.want(slices.Contains([]string{"person", "program", "agent"}, a.Kind), "prepared-by: unknown kind %q", a.Kind)
}

// publicAPI says whether s is an address of a results API that anybody may
// read: http or https, a path through /api/, no user and no fragment.
func publicAPI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && (u.Scheme == "https" || u.Scheme == "http") && u.Host != "" && u.User == nil &&
		u.Fragment == "" && strings.Contains(u.Path, "/api/") && !strings.ContainsAny(s, "<>|@\"` \t\r\n\\")
}
