package candidate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/gate"
)

// checkDispatch reads the rights of a classic token, as far as it has any. Those
// of other tokens are in no answer: only using them would tell.
func (s *Shepherd) checkDispatch(_ context.Context, d Doctored) (gate.Verdict, error) {
	const want = "write for contents, pull requests, issues and actions"
	has := func(scope string) bool { return slices.Contains(d.about.Scopes, scope) }
	switch {
	case !d.about.Scoped:
		return unknown("dispatch", "the forge does not tell the rights of this kind of credential: it needs %s", want), nil
	case has("repo"), has("public_repo") && !d.about.Private:
		return pass("dispatch", "the token's scopes let it start workflows (%s)", strings.Join(d.about.Scopes, ", ")), nil
	}
	return fail("dispatch", "the token's scopes (%s) do not let it push or start a workflow: make one with the scope repo, or a fine-grained one with %s", strings.Join(d.about.Scopes, ", "), want), nil
}

// harmless are the rules of rulesets that refuse nothing of what a candidate
// does to a branch of its own.
var harmless = []string{"non_fast_forward", "merge_queue", "code_scanning", "copilot_code_review"}

// checkRules looks for rulesets on the branches that candidates get. Who may
// pass them by is not told, so that they are no refusal yet.
func (s *Shepherd) checkRules(ctx context.Context, d Doctored) (gate.Verdict, error) {
	branches := s.prefix() + "/auto-*"
	rules, err := s.Forge.Rules(ctx, Candidate{ID: "0"}.Branch(s.prefix()))
	if forge.Denied(err) || errors.Is(err, fs.ErrNotExist) {
		return unknown("rulesets", "the forge does not tell the rulesets of %s: they must let %s create, push and delete them", branches, d.Login), nil
	}
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("rulesets: %w", err)
	}
	var names []string
	for _, r := range rules {
		if !slices.Contains(harmless, r) && !slices.Contains(names, r) {
			names = append(names, r)
		}
	}
	if len(names) > 0 {
		return unknown("rulesets", "rulesets hold %s (%s): unless %s may bypass them, creating, pushing or deleting such a branch is refused; leave these branches out", branches, strings.Join(names, ", "), d.Login), nil
	}
	return pass("rulesets", "none is in the way of %s", branches), nil
}

// checkWorkflows reads the two workflow files as text on the default branch:
// they must exist and carry the trigger that refit will pull.
func (s *Shepherd) checkWorkflows(ctx context.Context, d Doctored) (gate.Verdict, error) {
	for _, need := range []struct {
		file, trigger string
		keep          *[]byte
	}{
		{s.Config.Executor.Targeted, "workflow_dispatch", new([]byte)},
		{s.Config.Executor.Sweep, "labeled", d.sweep},
	} {
		file := path.Join(s.Paths.Workflows, need.file)
		src, err := s.Forge.File(ctx, d.about.Branch, file)
		if errors.Is(err, fs.ErrNotExist) {
			return fail("workflows", "%s is not on %s: put it there, or change executor.targeted and executor.sweep", file, d.about.Branch), nil
		}
		if err != nil {
			return gate.Verdict{}, fmt.Errorf("workflow %s: %w", file, err)
		}
		if !bytes.Contains(src, []byte(need.trigger)) {
			return fail("workflows", "%s has no %s trigger: refit could not start it", file, need.trigger), nil
		}
		*need.keep = src
	}
	names := strings.Join([]string{s.Config.Executor.Targeted, s.Config.Executor.Sweep}, ", ")
	return pass("workflows", "%s are on %s", names, d.about.Branch), nil
}

// checkDrafts looks if the sweep workflow takes drafts: a candidate is one until
// it is validated, or until its sweep where drafts are left out. Without the
// file there is nothing to say.
func (s *Shepherd) checkDrafts(_ context.Context, d Doctored) (gate.Verdict, error) {
	file := s.Config.Executor.Sweep
	switch {
	case *d.sweep == nil:
		return gate.Verdict{}, nil
	case s.sweepsNoDraft(*d.sweep):
		return pass("drafts", "%s leaves them out: a pull request is marked ready before its sweep", file), nil
	}
	return pass("drafts", "%s sweeps them", file), nil
}
