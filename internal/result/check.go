package result

import (
	"errors"
	"fmt"
	"regexp"
	"slices"

	"github.com/refit-bench/refit/internal/matrix"
)

var (
	hex40    = regexp.MustCompile(`^[0-9a-f]{40}$`)
	hex64    = regexp.MustCompile(`^[0-9a-f]{64}$`)
	digestRE = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)
)

var results = []string{Passed, Failed, Cancelled, Pending, Unavailable}

func (l Line) check() error {
	switch {
	case l.Kind == KindRow && l.Row != nil && l.Eval == nil:
		return l.Row.check()
	case l.Kind == KindEval && l.Eval != nil && l.Row == nil:
		return l.Eval.check()
	}
	return fmt.Errorf("kind %q does not fit what the line holds", l.Kind)
}

func (r Row) check() error {
	if err := checkIdentity(r.Family, r.Key, r.Fingerprint, r.Digest, r.Image); err != nil {
		return err
	}
	if r.Conc <= 0 || r.ISL < 0 || r.OSL < 0 || r.Requests < 0 {
		return fmt.Errorf("point %s: conc must be positive and isl, osl, requests not negative", r.Label)
	}
	if r.Scenario != matrix.Fixed && r.Scenario != matrix.Agentic {
		return fmt.Errorf("point %s: unknown scenario %q", r.Label, r.Scenario)
	}
	if !slices.Contains(results, r.Result) {
		return fmt.Errorf("point %s: unknown result %q", r.Label, r.Result)
	}
	if r.RequestErrors != nil && *r.RequestErrors < 0 {
		return fmt.Errorf("point %s: negative request-errors", r.Label)
	}
	for name, v := range r.Metrics {
		if !finite(v) {
			return fmt.Errorf("point %s: metric %s is not finite", r.Label, name)
		}
	}
	return r.Provenance.check()
}

func (e EvalRow) check() error {
	if err := checkIdentity(e.Family, e.Key, e.Fingerprint, e.Digest, e.Image); err != nil {
		return err
	}
	if e.Suite == "" || e.Metric == "" || e.Samples < 0 || e.Conc < 0 {
		return fmt.Errorf("eval %s: suite and metric are required, samples and conc not negative", e.Label)
	}
	if !slices.Contains(results, e.Result) {
		return fmt.Errorf("eval %s: unknown result %q", e.Label, e.Result)
	}
	if e.Score != nil && (!finite(*e.Score) || *e.Score < 0 || *e.Score > 1) {
		return fmt.Errorf("eval %s: score %v is not in 0..1", e.Label, *e.Score)
	}
	if e.StdErr != nil && (!finite(*e.StdErr) || *e.StdErr < 0) {
		return fmt.Errorf("eval %s: standard error %v", e.Label, *e.StdErr)
	}
	return e.Provenance.check()
}

func (p Provenance) check() error {
	if p.RunID < 0 || p.Attempt < 0 {
		return errors.New("provenance: negative run-id or run-attempt")
	}
	if p.Head != "" && !hex40.MatchString(p.Head) {
		return fmt.Errorf("provenance: head %q is not a commit", p.Head)
	}
	return nil
}

// checkIdentity holds what a row must say about itself. A failed point may not
// know its digest.
func checkIdentity(family, key, fingerprint, digest, image string) error {
	if family == "" || image == "" {
		return errors.New("family and image are required")
	}
	if !hex64.MatchString(key) {
		return fmt.Errorf("family %s: key %q is not an identity", family, key)
	}
	if fingerprint != "" && !hex64.MatchString(fingerprint) {
		return fmt.Errorf("family %s: fingerprint %q is not an identity", family, fingerprint)
	}
	if digest != "" && !digestRE.MatchString(digest) {
		return fmt.Errorf("family %s: digest %q is not sha256:<64 hex>", family, digest)
	}
	return nil
}
