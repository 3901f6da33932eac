package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// intent is what a workflow run is to measure.
type intent struct {
	Head, Base string // 40 hex; Base empty for a dispatch
	Event      string
	Branch     string
	Mode       string
	FailFast   bool
	Plan       matrix.Plan
	Config     workspace.Config
}

// intend decides what the event asks for. The error is around ErrSkipped when
// it asks for nothing.
func (c CI) intend(ctx context.Context) (intent, error) {
	e, err := parseEvent(c.Event)
	if err != nil {
		return intent{}, err
	}
	in := intent{Event: e.kind(), Branch: e.branch()}
	switch {
	case c.Name == "e2e-tests" && in.Event == "workflow_dispatch":
		return c.targeted(ctx, e, in)
	case c.Name == "run-sweep" && in.Event == "push":
		return c.pushed(ctx, e, in)
	case c.Name == "run-sweep" && in.Event == "pull_request":
		return c.proposed(ctx, e, in)
	}
	return in, fmt.Errorf("workflow %s does not run on %s", c.Name, in.Event)
}

// targeted plans what a dispatch's command names, at the commit it names.
func (c CI) targeted(ctx context.Context, e event, in intent) (intent, error) {
	cmd, err := parseCommand(e.Inputs["generate-cli-command"])
	if err != nil {
		return in, err
	}
	if in.Head, err = c.Repo.Resolve(ctx, cmp.Or(e.Inputs["ref"], cmp.Or(e.Ref, "HEAD"))); err != nil {
		return in, err
	}
	if in.Config, err = c.policy(ctx, cmp.Or(e.Repository.DefaultBranch, "main")); err != nil {
		return in, err
	}
	in.Mode = result.ModeFull
	if cmd.Smoke {
		in.Mode = result.ModeSmoke
	}
	cat, rule, err := c.catalogue(ctx, in)
	if err != nil {
		return in, err
	}
	families, err := cmd.families(cat)
	if err != nil {
		return in, err
	}
	for _, f := range families {
		p, err := matrix.PlanFamily(f, cat.Runners, rule, cmd.choose)
		if err != nil {
			return in, err
		}
		in.Plan.Families = append(in.Plan.Families, p.Families...)
		in.Plan.Warnings = append(in.Plan.Warnings, p.Warnings...)
	}
	return in, nil
}

// pushed plans the changelog entries that a push to the default branch added.
// [skip-sweep] does not count there.
func (c CI) pushed(ctx context.Context, e event, in intent) (intent, error) {
	if e.Deleted {
		return in, fmt.Errorf("%w: the branch was deleted", ErrSkipped)
	}
	var err error
	if in.Head, err = c.Repo.Resolve(ctx, e.After); err != nil {
		return in, err
	}
	if strings.Trim(e.Before, "0") != "" {
		if in.Base, err = c.Repo.Resolve(ctx, e.Before); err != nil {
			return in, err
		}
	}
	if in.Config, err = c.policy(ctx, in.Head); err != nil {
		return in, err
	}
	in.Mode = result.ModePush
	return c.delta(ctx, in, sweep{})
}

// proposed applies the sweep policy to a pull request.
func (c CI) proposed(ctx context.Context, e event, in intent) (intent, error) {
	var err error
	if in.Head, err = c.Repo.Resolve(ctx, e.Pull.Head.SHA); err != nil {
		return in, err
	}
	message, err := c.Repo.Git(ctx, "log", "-1", "--format=%B", in.Head)
	if err != nil {
		return in, err
	}
	if in.Config, err = c.policy(ctx, e.Pull.Base.SHA); err != nil {
		return in, err
	}
	s, reason, err := decide(e, string(message), in.Config.Policy.SweepLabel)
	if err != nil {
		return in, err
	}
	if reason != "" {
		return in, fmt.Errorf("%w: %s", ErrSkipped, reason)
	}
	// Entries that others merged meanwhile are not this pull request's.
	if in.Base, err = c.Repo.MergeBase(ctx, e.Pull.Base.SHA, in.Head); err != nil {
		return in, err
	}
	in.Mode, in.FailFast = result.ModeFull, s.FailFast
	if s.Trim {
		in.Mode = result.ModeSmoke
	}
	return c.delta(ctx, in, s)
}

// policy is refit.yaml of the base branch: what a head proposes about its own
// measurement does not count. Without the file there the caller's stands.
func (c CI) policy(ctx context.Context, base string) (workspace.Config, error) {
	src, err := c.Repo.File(ctx, base, workspace.ConfigName)
	if errors.Is(err, fs.ErrNotExist) {
		return c.Config, nil
	}
	if err != nil {
		return c.Config, err
	}
	config, _, err := workspace.ParseConfig(src, workspace.ConfigName)
	return config, err
}

// catalogue reads the recipes of the head.
func (c CI) catalogue(ctx context.Context, in intent) (*recipe.Catalogue, matrix.EvalRule, error) {
	rule, err := matrix.ParseEvalRule(in.Config.Evals.Lengths, in.Config.Evals.Floor)
	if err != nil {
		return nil, rule, err
	}
	cat, err := c.recipes(ctx, in, in.Head)
	return cat, rule, err
}

func (c CI) recipes(ctx context.Context, in intent, commit string) (*recipe.Catalogue, error) {
	return recipe.LoadCommit(ctx, c.Repo, commit, in.Config.Paths().Masters, in.Config.Paths().Runners)
}

// delta plans the changelog's additions.
func (c CI) delta(ctx context.Context, in intent, s sweep) (intent, error) {
	name := in.Config.Paths().Changelog
	head, err := c.changelog(ctx, in.Head, name)
	if err != nil {
		return in, err
	}
	var base []byte
	if in.Base != "" {
		if base, err = c.changelog(ctx, in.Base, name); err != nil {
			return in, err
		}
	}
	if string(base) == string(head) {
		return in, fmt.Errorf("%w: %s is unchanged", ErrSkipped, name)
	}
	entries, err := additions(base, head, name)
	if err != nil {
		return in, err
	}
	if len(entries) == 0 {
		return in, fmt.Errorf("%w: %s has no new entry", ErrSkipped, name)
	}
	cat, rule, err := c.catalogue(ctx, in)
	if err != nil {
		return in, err
	}
	o := matrix.PlanOptions{Trim: s.Trim, AllEvals: s.AllEvals, EvalsOnly: s.EvalsOnly}
	if matrix.AppendOnly(entries) && in.Base != "" {
		if o.Base, err = c.recipes(ctx, in, in.Base); err != nil {
			return in, err
		}
	}
	if in.Plan, err = matrix.BuildPlanWith(cat, entries, rule, o); err != nil {
		return in, err
	}
	in.Plan.Base, in.Plan.Head = in.Base, in.Head
	return in, nil
}

func (c CI) changelog(ctx context.Context, commit, name string) ([]byte, error) {
	src, err := c.Repo.File(ctx, commit, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

func additions(base, head []byte, name string) ([]recipe.ChangelogEntry, error) {
	if len(base) == 0 {
		return recipe.ParseChangelog(head, name)
	}
	return recipe.Delta(base, head, name)
}
