package gate

import (
	"fmt"
	"regexp"

	"github.com/refit-bench/refit/internal/result"
)

var sha256Digest = regexp.MustCompile(`^sha256:[0-9a-f]{64}$`)

// Digest judges whether every row was measured on the image of this digest.
// A row that does not say what it ran on leaves the answer unknown.
func Digest(rows []result.Row, digest string) Verdict {
	var ran []ranOn
	for _, r := range rows {
		ran = append(ran, ranOn{r.Label, r.Digest})
	}
	return sameDigest("digest", ran, digest)
}

// EvalDigest is Digest for evaluations. No evaluations at all pass: whether
// some were wanted is for Coverage to say.
func EvalDigest(evals []result.EvalRow, digest string) Verdict {
	if len(evals) == 0 {
		return Verdict{"eval-digest", Pass, "no evals"}
	}
	var ran []ranOn
	for _, e := range evals {
		ran = append(ran, ranOn{e.Suite + " " + e.Label, e.Digest})
	}
	return sameDigest("eval-digest", ran, digest)
}

type ranOn struct{ label, digest string }

func sameDigest(gate string, rows []ranOn, digest string) Verdict {
	if !sha256Digest.MatchString(digest) {
		return Verdict{gate, Unknown, fmt.Sprintf("wanted digest %q is not a sha256 digest", digest)}
	}
	if len(rows) == 0 {
		return Verdict{gate, Unknown, "no rows"}
	}
	var other, silent []string
	for _, r := range rows {
		switch r.digest {
		case digest:
		case "":
			silent = append(silent, r.label)
		default:
			other = append(other, r.label+" ran "+r.digest)
		}
	}
	switch {
	case len(other) > 0:
		return Verdict{gate, Fail, "another image was measured: " + named(other)}
	case len(silent) > 0:
		return Verdict{gate, Unknown, "no digest recorded: " + named(silent)}
	}
	return Verdict{gate, Pass, fmt.Sprintf("%d rows ran %s", len(rows), digest)}
}
