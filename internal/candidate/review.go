package candidate

import (
	"context"
	"fmt"

	"github.com/refit-bench/refit/internal/engine"
)

// Judged is what a judgement left in the receipt of inspect: its decision and
// what it chose. Its words stay on the machine that asked.
type Judged struct {
	Decision string   `json:"decision"`
	Choices  []string `json:"choices"`
}

// reviewing is what a review is about: both models, the recipe's script, what
// inspect found, and what the new engine would still certainly reject.
type reviewing struct {
	before, after engine.Model
	script        []byte
	in            Inspected
	left          []string
	ends          []string // of earlier attempts
}

// reviewed asks somebody who judges whether the upgrade is worth a run and the
// edits are right, while nothing is written. The edits that an answer chooses
// are made on paper and compared again, as those of inspect are.
func (w *work) reviewed(ctx context.Context, r reviewing) (_ Inspected, _ []string, err error) {
	if r.ends, err = w.earlierEnds(ctx); err != nil {
		return r.in, r.left, err
	}
	q := w.reviewQuestion(r)
	chosen, left := r.in, r.left
	a, ok, why, err := w.ask(ctx, q, func(a Answer) error {
		if a.Decision != proceed {
			return nil
		}
		chosen = r.in
		chosen.Judged = &Judged{Decision: a.Decision, Choices: []string{}}
		chosen.Edits = nil
		for _, c := range q.taken(a) {
			chosen.Edits = append(chosen.Edits, c.edits...)
			chosen.Judged.Choices = append(chosen.Judged.Choices, c.What)
		}
		var err error
		if left, err = remaining(r.before, r.after, r.script, chosen); err != nil {
			return fmt.Errorf("choices: these edits do not go together: %w", err)
		}
		if len(left) > 0 && len(r.left) == 0 {
			return fmt.Errorf("choices: with these edits the new engine rejects the launch line: %s", left[0])
		}
		return nil
	})
	switch {
	case err != nil:
		return r.in, r.left, err
	case !ok && len(r.left) > 0:
		return r.in, r.left, nil // that is certain without anybody's judgement
	case !ok:
		return r.in, nil, &End{Outcome: Uncertain, Phase: Resolve, Reason: "nobody judged the upgrade: " + why}
	case a.Decision == incompatible:
		return r.in, nil, &End{Outcome: Incompatible, Phase: Resolve, Reason: a.said()}
	case a.Decision != proceed:
		return r.in, nil, &End{Outcome: Uncertain, Phase: Resolve, Reason: a.said()}
	}
	return chosen, left, nil
}

func (w *work) reviewQuestion(r reviewing) Question {
	ask := "Nothing is written yet. Read what the source comparison found, the recipe's script and the edits that are proposed. " +
		"Is the upgrade worth a run, and are the edits right?"
	if len(r.left) > 0 {
		ask += " As proposed, the new engine certainly rejects the launch line: without other edits the candidate ends as incompatible."
	}
	q := Question{
		Kind: Review, Candidate: w.c, Commit: w.c.Base, Ask: ask,
		Decisions: []Option{
			{proceed, "go on with the proposed edits, or with exactly the choices that the answer names"},
			{unsure, "a person should look first; nothing is written"},
			{incompatible, "the new image cannot serve this recipe; nothing is written"},
		},
		Choices:  offers(r),
		Evidence: []string{"candidate.json", "inspection.json"},
		Files:    map[string]any{"candidate.json": w.c, "inspection.json": r.in},
	}
	if len(r.left) > 0 {
		q.Evidence = append(q.Evidence, "rejected.json")
		q.Files["rejected.json"] = r.left
	}
	if len(r.ends) > 0 {
		q.Evidence = append(q.Evidence, "earlier-attempts.json")
		q.Files["earlier-attempts.json"] = r.ends
	}
	return q
}
