package matrix

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

// Priorities scores jobs by a workspace's policy: higher runs first. Numbers are
// exact decimals. Source: recipes specification, section 9.
type Priorities struct{ recipe.Priorities }

// Job is what is known of a queue when its jobs are scored.
type Job struct {
	Event     string   // push, pull_request, ...
	Labels    []string // of the pull request
	Namespace string   // of queue tokens
	Pull      int      // 0 = none
	Criteria  []string // facts that count; nil = all
}

// criteria that are no key of a table.
var plainCriteria = []string{"multi-node", "agentic", "eval-only", "checklist-complete", "patchwork"}

// Annotate returns a copy of a plan, or of any JSON value, in which every
// object with runner and framework has a priority and a queue token.
func (p Priorities) Annotate(v any, j Job) (any, error) {
	for _, c := range j.Criteria {
		if !slices.Contains(plainCriteria, c) && !p.known(c) {
			return nil, fmt.Errorf("%w: criterion %q is not one that the policy has", ErrOption, c)
		}
	}
	return p.annotate(v, "", j)
}

func (p Priorities) known(name string) bool {
	for _, table := range []map[string]*big.Rat{p.Precision, p.Spec, p.Model} {
		if table[name] != nil {
			return true
		}
	}
	return slices.ContainsFunc(p.Framework, func(f recipe.Prefixed) bool { return f.Prefix == name })
}

func (p Priorities) annotate(v any, path string, j Job) (any, error) {
	switch v := v.(type) {
	case []Row:
		rows := make([]any, len(v))
		for i := range v {
			rows[i] = v[i]
		}
		return p.annotate(rows, path, j)
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			a, err := p.annotate(item, below(path, strconv.Itoa(i)), j)
			if err != nil {
				return nil, err
			}
			out[i] = a
		}
		return out, nil
	case Row:
		return p.object(v, path, j)
	}
	return v, nil
}

func (p Priorities) object(r Row, path string, j Job) (any, error) {
	var out Row
	for _, f := range r.fields {
		a, err := p.annotate(f.value, below(path, f.name), j)
		if err != nil {
			return nil, err
		}
		out.fields = append(out.fields, field{f.name, a})
	}
	_, runner := r.Get("runner")
	_, framework := r.Get("framework")
	if !runner || !framework {
		return out, nil
	}
	token, err := queueToken(j.Namespace, path, r)
	if err != nil {
		return nil, err
	}
	out.Set("priority", p.Score(r, j))
	out.Set("queue-token", token)
	if j.Pull > 0 && slices.Contains(j.Labels, p.SkipQueue) {
		out.Set("skip-queue-pr", j.Pull)
	}
	return out, nil
}

func below(path, name string) string {
	if path == "" {
		return name
	}
	return path + "/" + name
}

// queueToken names a job's place in the queue: 32 hexadecimal digits over
// where it stands and what it is.
func queueToken(namespace, path string, r Row) (string, error) {
	text, err := workspace.Canonical(r.plain())
	if err != nil {
		return "", fmt.Errorf("row %s: %w", path, err)
	}
	sum := sha256.Sum256([]byte(namespace + ":" + path + ":" + string(text)))
	return hex.EncodeToString(sum[:])[:32], nil
}

// Score is a row's priority with three decimals.
func (p Priorities) Score(r Row, j Job) string {
	has := func(labels []string) bool {
		return slices.ContainsFunc(j.Labels, func(l string) bool { return slices.Contains(labels, l) })
	}
	if (has(p.PatchworkLabels) || slices.Contains(j.Criteria, "patchwork")) && !has(p.PatchworkNot) {
		return decimals(p.Patchwork)
	}
	score := new(big.Rat).Set(p.Base)
	add := func(v *big.Rat, when bool) {
		if v != nil && when {
			score.Add(score, v)
		}
	}
	counts := func(name string) bool { return j.Criteria == nil || slices.Contains(j.Criteria, name) }
	like := func(value string) bool { // a criterion that is the value, or its beginning up to a hyphen
		return j.Criteria == nil || slices.ContainsFunc(j.Criteria, func(c string) bool { return c == value || strings.HasPrefix(value, c+"-") })
	}
	add(p.Event[j.Event], true)
	add(p.MultiNode, r.multinode() && counts("multi-node"))
	add(p.Agentic, r.agentic() && counts("agentic"))
	add(p.Eval, r.Bool("eval-only") && counts("eval-only"))
	add(p.Precision[r.Str("precision")], counts(r.Str("precision")))
	add(p.Spec[r.Str("spec-decoding")], counts(r.Str("spec-decoding")))
	framework := r.Str("framework")
	for _, f := range p.Framework {
		if framework == f.Prefix || strings.HasPrefix(framework, f.Prefix+"-") {
			add(f.Add, like(framework))
			break
		}
	}
	add(p.Model[r.Str("model-prefix")], like(r.Str("model-prefix")))
	add(p.Checklist, has(p.ChecklistLabels) || slices.Contains(j.Criteria, "checklist-complete"))
	return decimals(score)
}

// decimals rounds half up to three decimals.
func decimals(v *big.Rat) string {
	thousand := new(big.Rat).Mul(v, big.NewRat(1000, 1))
	thousand.Add(thousand, big.NewRat(1, 2))
	n := new(big.Int).Div(thousand.Num(), thousand.Denom()) // floor, also below zero
	return new(big.Rat).SetFrac(n, big.NewInt(1000)).FloatString(3)
}
