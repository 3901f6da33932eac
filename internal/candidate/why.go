package candidate

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/run"
)

// Why is what is known about the sweep of a pull request that did not start.
type Why struct {
	Pull    int      `json:"pull"`
	Title   string   `json:"title"`
	Head    string   `json:"head"`
	Reasons []Reason `json:"reasons"` // never empty
}

// Reason is one thing that keeps a sweep from starting, and what to do about it.
type Reason struct {
	Name string `json:"name"`
	What string `json:"what"`
	Do   string `json:"do"`
}

func (r Reason) String() string { return fmt.Sprintf("%-10s %s: %s", r.Name, r.What, r.Do) }

// Why says why no sweep of a pull request started. It only looks. The error
// says that the forge could not be asked, or has no such pull request.
func (s *Shepherd) Why(ctx context.Context, pull int) (Why, error) {
	p, err := s.Forge.Pull(ctx, pull)
	if errors.Is(err, fs.ErrNotExist) {
		return Why{}, fmt.Errorf("%s has no pull request %d", s.Forge.Repository, pull)
	}
	if err != nil {
		return Why{}, err
	}
	f, err := s.sweepFacts(ctx, p)
	if err != nil {
		return Why{}, fmt.Errorf("pull request %d: %w", pull, err)
	}
	return Why{Pull: p.Number, Title: p.Title, Head: p.HeadSHA, Reasons: f.reasons()}, nil
}

// sweepFacts is everything that decides whether a sweep starts.
type sweepFacts struct {
	pull       forge.Pull
	repository string // owner/name
	branch     string // the default branch
	login      string // of the credential; "" when the forge does not say
	label      string // the workspace's sweep label
	drafts     string // policy.sweeps-on-draft
	embedded   bool   // this forge starts the sweep itself and reads no workflow file

	clean, merges bool   // merges without conflict; whether that is known
	message       string // of the head commit
	changelog     string // path
	touched       bool   // the pull request changes the changelog
	unlisted      error  // its files could not all be listed
	invalid       error  // what is wrong with its entries

	workflow string      // path
	source   []byte      // of the workflow; nil when it is not there
	runs     []forge.Run // that did something, or have yet to end
	lain     *forge.Run  // the newest of this head that did nothing
}

// sweepFacts looks them up. What a fork's head holds is not asked for: a fork
// gets no sweep whatever it is.
func (s *Shepherd) sweepFacts(ctx context.Context, p forge.Pull) (sweepFacts, error) {
	f := sweepFacts{
		pull: p, repository: s.Forge.Repository.String(), label: s.Config.Policy.SweepLabel,
		drafts: s.Config.Policy.SweepsOnDraft, embedded: s.Config.Forge.Kind == "local",
		changelog: s.Paths.Changelog, workflow: path.Join(s.Paths.Workflows, s.Config.Executor.Sweep),
	}
	var err error
	if f.login, err = s.Forge.Login(ctx); err != nil && !forge.Denied(err) {
		return f, fmt.Errorf("who am I: %w", err)
	}
	if f.branch, err = s.Forge.DefaultBranch(ctx); err != nil {
		return f, fmt.Errorf("default branch: %w", err)
	}
	if f.clean, f.merges, err = s.Forge.Mergeable(ctx, p.Number); err != nil {
		return f, err
	}
	f.source, err = s.Forge.File(ctx, f.branch, f.workflow)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return f, fmt.Errorf("workflow %s: %w", f.workflow, err)
	}
	if f.fork() {
		return f, nil
	}
	all, err := s.Forge.Runs(ctx, forge.RunFilter{Branch: p.HeadRef, Event: "pull_request", Workflow: s.Config.Executor.Sweep, Since: p.Created})
	if err != nil && !errors.Is(err, fs.ErrNotExist) { // no such workflow, no runs
		return f, fmt.Errorf("runs of %s: %w", s.Config.Executor.Sweep, err)
	}
	if f.runs, err = s.busy(ctx, all); err != nil {
		return f, err
	}
	f.lain = lain(p.HeadSHA, all, f.runs)
	if f.message, err = s.Forge.Message(ctx, p.HeadSHA); err != nil {
		return f, fmt.Errorf("head %.12s: %w", p.HeadSHA, err)
	}
	return f, s.changelogFacts(ctx, &f)
}

// busy leaves out the runs that ended with success and did nothing, as a
// workflow's does whose jobs decide so.
func (s *Shepherd) busy(ctx context.Context, runs []forge.Run) ([]forge.Run, error) {
	var out []forge.Run
	for _, r := range runs {
		if r.Conclusion == "success" {
			left, err := s.Forge.Artifacts(ctx, r.ID)
			if err != nil {
				return nil, fmt.Errorf("artifacts of run %d: %w", r.ID, err)
			}
			if len(left) == 0 {
				continue
			}
		}
		out = append(out, r)
	}
	return out, nil
}

// changelogFacts reads what the pull request does to the changelog.
func (s *Shepherd) changelogFacts(ctx context.Context, f *sweepFacts) error {
	files, err := s.Forge.ChangedFiles(ctx, f.pull.Number)
	if err != nil {
		f.unlisted = err
		return nil
	}
	f.touched = slices.Contains(files, f.changelog)
	if !f.touched || f.conflicts() {
		return nil
	}
	f.invalid, err = s.invalidEntries(ctx, f.pull, f.branch)
	return err
}

// invalidEntries says what is wrong with the entries a head adds, nil when a
// sweep could be planned from them. They are read against the commit at which
// the head left main, as the sweep reads them: what main has gained or corrected
// since is no change of this head. A merged head left main as it then was.
func (s *Shepherd) invalidEntries(ctx context.Context, p forge.Pull, branch string) (invalid, err error) {
	head, err := s.Forge.File(ctx, p.HeadSHA, s.Paths.Changelog)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is deleted", s.Paths.Changelog), nil
	}
	if err != nil {
		return nil, err
	}
	if p.Merged {
		branch = p.BaseSHA
	}
	base, err := s.Forge.MergeBase(ctx, branch, p.HeadSHA)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("its branch has no commit in common with %s", branch), nil
	}
	if err != nil {
		return nil, err
	}
	return s.planBetween(ctx, base, p.HeadSHA, head)
}

// planBetween plans what head's changelog adds to that of base, as the sweep
// would. bad is the mistake in the head.
func (s *Shepherd) planBetween(ctx context.Context, base, head string, log []byte) (bad, err error) {
	before, err := s.Forge.File(ctx, base, s.Paths.Changelog)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var entries []recipe.ChangelogEntry
	if len(before) == 0 {
		entries, bad = recipe.ParseChangelog(log, s.Paths.Changelog)
	} else {
		entries, bad = recipe.Delta(before, log, s.Paths.Changelog)
	}
	if bad == nil && len(entries) == 0 {
		bad = errors.New("it adds no entry")
	}
	if bad != nil {
		return bad, nil
	}
	rule, err := matrix.ParseEvalRule(s.Config.Evals.Lengths, s.Config.Evals.Floor)
	if err != nil {
		return nil, err
	}
	fsys, err := s.Tree(ctx, head)
	if err != nil {
		return nil, fmt.Errorf("head %.12s: %w", head, err)
	}
	after, bad := recipe.Load(fsys, s.Paths.Masters, s.Paths.Runners)
	if bad != nil {
		return bad, nil
	}
	var o matrix.PlanOptions
	if matrix.AppendOnly(entries) {
		if o.Base, err = s.catalogueAt(ctx, base); err != nil {
			return nil, err
		}
	}
	_, bad = matrix.BuildPlanWith(after, entries, rule, o)
	return bad, nil
}

// catalogueAt reads the recipes of a commit.
func (s *Shepherd) catalogueAt(ctx context.Context, commit string) (*recipe.Catalogue, error) {
	fsys, err := s.Tree(ctx, commit)
	if err != nil {
		return nil, fmt.Errorf("commit %.12s: %w", commit, err)
	}
	return recipe.Load(fsys, s.Paths.Masters, s.Paths.Runners)
}

func (f sweepFacts) fork() bool { return f.pull.HeadRepo != f.repository }

func (f sweepFacts) conflicts() bool { return f.merges && !f.clean }

// asked is what the labels say.
func (f sweepFacts) asked() run.Asked { return run.AskedBy(f.pull.Labels, f.label) }
