package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/result"
)

// Origin says what one attempt of a run measured that was started more than
// once: its points, and its evaluations, by key.
type Origin struct {
	RunID      int64     `json:"run-id"`
	RunAttempt int       `json:"run-attempt"`
	Head       string    `json:"head"`    // 40 hex
	Started    time.Time `json:"started"` // the first of its measurements that counts
	Points     []string  `json:"points"`  // keys, 64 hex
	Evals      []string  `json:"evals"`   // key, suite and metric, with a space between
}

// OriginsOf are the origins of a run's figures, oldest attempt first; nil when
// one attempt measured all of them: then the run and its attempt say as much.
func OriginsOf(r result.Run) []Origin {
	attempts := r.Attempts()
	if len(attempts) < 2 {
		return nil
	}
	out := make([]Origin, len(attempts))
	of := func(p result.Provenance) *Origin {
		o := &out[slices.Index(attempts, p.Attempt)]
		if o.Started.IsZero() || p.Started.Before(o.Started) {
			o.Started = p.Started.UTC()
		}
		o.RunID, o.RunAttempt, o.Head = p.RunID, p.Attempt, p.Head
		return o
	}
	for _, row := range r.Rows {
		o := of(row.Provenance)
		o.Points = append(o.Points, row.Key)
	}
	for _, e := range r.Evals {
		o := of(e.Provenance)
		o.Evals = append(o.Evals, e.Key+" "+e.Suite+" "+e.Metric)
	}
	for i := range out {
		out[i].Points, out[i].Evals = list(out[i].Points), list(out[i].Evals)
	}
	return out
}

func (c *checks) origins(os []Origin, runs []int64) {
	seen := map[string]bool{}
	for _, o := range os {
		at := fmt.Sprintf("origin: attempt %d", o.RunAttempt)
		c.want(slices.Contains(runs, o.RunID), "%s: run %d is not among the run-ids", at, o.RunID)
		c.want(o.RunAttempt > 0, "%s is not positive", at)
		c.want(hex40.MatchString(o.Head), "%s: head is not 40 hex digits", at)
		for _, what := range slices.Concat(o.Points, o.Evals) {
			key, _, _ := strings.Cut(what, " ")
			c.want(hex64.MatchString(key), "%s: key %.80q is not 64 hex digits", at, key)
			c.want(!seen[what], "%s: %.12s has two origins", at, what)
			seen[what] = true
		}
	}
}

// measuredIn says how much each attempt measured, in both languages; "" where
// there is nothing to tell apart.
func measuredIn(os []Origin) (en, zh string) {
	if len(os) == 0 {
		return "", ""
	}
	var each, chinese []string
	for _, o := range os {
		each = append(each, fmt.Sprintf("attempt %d: %s, %s", o.RunAttempt, counted(len(o.Points), "point"), counted(len(o.Evals), "eval")))
		chinese = append(chinese, fmt.Sprintf("第 %d 次：%d 个点，%d 项评测", o.RunAttempt, len(o.Points), len(o.Evals)))
	}
	return "**Measured in** " + strings.Join(each, " · "), "**测量于** " + strings.Join(chinese, " · ")
}

// earlier is what a note says about a figure of an earlier attempt than its
// report's.
func earlier(a Attempt, p Provenance) []string {
	if a.RunAttempt == nil || p.RunAttempt == nil || *p.RunAttempt >= *a.RunAttempt {
		return nil
	}
	return []string{fmt.Sprintf("measured in attempt %d", *p.RunAttempt)}
}
