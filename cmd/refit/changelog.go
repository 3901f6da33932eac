package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

func changelogCommand(e env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "changelog",
		Short: "Check, extend and merge the performance changelog",
		Args:  args(cobra.NoArgs),
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(changelogCheck(e), changelogAdd(e), changelogCanonicalize(e), changelogResolve(e), changelogCompile(e))
	return cmd
}

// journal is a workspace's changelog with the rule for its links.
type journal struct {
	w    *workspace.Workspace
	repo workspace.Repo
	rule recipe.LinkRule
}

// journalFlags are the options that every changelog command has.
type journalFlags struct {
	pull       int
	repository string
}

func (f *journalFlags) flags(cmd *cobra.Command) {
	workspaceFlag(cmd)
	cmd.Flags().IntVar(&f.pull, "pull", 0, "number of the pull request that makes the change (0: the main branch)")
	cmd.Flags().StringVar(&f.repository, "repository", "", "owner/name that links must point to (default: forge.repository)")
}

func (f *journalFlags) open(cmd *cobra.Command) (journal, error) {
	w, err := open(cmd)
	if err != nil {
		return journal{}, err
	}
	name := f.repository
	if name == "" {
		name = w.Config.Forge.Repository
	}
	if name == "" {
		return journal{}, usage("which repository links point to is not known: --repository, or forge.repository in refit.yaml")
	}
	if f.pull < 0 {
		return journal{}, usage("--pull %d: want the number of a pull request", f.pull)
	}
	return journal{w, workspace.Repo{Dir: w.Root}, recipe.LinkRule{Repository: "https://github.com/" + name, Pull: f.pull}}, nil
}

// openPull is open for what only a pull request can do.
func (f *journalFlags) openPull(cmd *cobra.Command) (journal, error) {
	if f.pull == 0 {
		return journal{}, usage("--pull is missing")
	}
	return f.open(cmd)
}

// at is the changelog at a commit; a commit without one has an empty history.
func (j journal) at(cmd *cobra.Command, commit string) ([]byte, error) {
	src, err := j.repo.File(cmd.Context(), commit, j.w.Paths.Changelog)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := j.repo.Resolve(cmd.Context(), commit); err != nil {
			return nil, err
		}
		return nil, nil
	}
	return src, err
}

func (j journal) file() string {
	return filepath.Join(j.w.Root, filepath.FromSlash(j.w.Paths.Changelog))
}

func (j journal) read() ([]byte, error) { return workspace.ReadFile(j.file(), maxChangelog) }

// history is the working tree's changelog, empty where there is none yet.
func (j journal) history() ([]byte, error) {
	src, err := j.read()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return src, err
}

func (j journal) write(src []byte) error { return workspace.WriteFile(j.file(), src, 0o644) }

// maxChangelog bounds what is read, in bytes.
const maxChangelog = 64 << 20

func changelogCheck(e env) *cobra.Command {
	var f journalFlags
	var base, head string
	cmd := &cobra.Command{
		Use:   "check",
		Short: "Hold what a change adds against the rules: form, history, links, and a plan that can be made",
		Long: `Compares the changelog with the one that the change began from, byte by byte:
the merge base with --base, so that a branch that is behind is behind, and not
one that deletes. What is added must be plannable with the recipes of the
working tree; append-only entries may only add points to curves that the merge
base measures. A change may add fragments instead (changelog.d/NAME.yaml).`,
		Example: "  refit changelog check --base HEAD",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := f.open(cmd)
			if err != nil {
				return err
			}
			return j.check(cmd, e, base, head)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&base, "base", "origin/main", "branch that the change is for")
	cmd.Flags().StringVar(&head, "head", "", "commit of the change (default: the working tree)")
	return cmd
}

func (j journal) check(cmd *cobra.Command, e env, base, head string) error {
	tip := head
	if tip == "" {
		tip = "HEAD"
	}
	from, err := j.since(cmd, base, tip)
	if err != nil {
		return err
	}
	was, err := j.at(cmd, from)
	if err != nil {
		return err
	}
	is, err := j.head(cmd, head)
	if err != nil {
		return err
	}
	c, badForm := recipe.Changes(was, is, j.w.Paths.Changelog)
	fragments, badFragment := j.fragments(head == "")
	err = errors.Join(badForm, j.rule.Check(c), badFragment) // everything is told at once
	if badForm == nil && badFragment == nil {
		err = errors.Join(err, j.plannable(cmd, added(c, fragments), from))
	}
	if err != nil {
		return err
	}
	out := text{e.stdout}
	fmt.Fprintf(out, "%s: %d entries added, %d links corrected, %d fragments\n", j.w.Paths.Changelog, len(c.Additions), len(c.Corrections), len(fragments))
	now, err := j.at(cmd, base)
	if err != nil {
		return err
	}
	if string(now) != string(was) {
		fmt.Fprintf(out, "behind: %s extended the changelog since %.12s; merge it, then `refit changelog resolve --pull N`\n", base, from)
	}
	return nil
}

// since is the commit that a change began from.
func (j journal) since(cmd *cobra.Command, base, tip string) (string, error) {
	for _, rev := range []string{base, tip} {
		_, err := j.repo.Resolve(cmd.Context(), rev)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return "", fmt.Errorf("%s is no branch, tag or commit here: fetch it, or name another one", rev)
		case err != nil:
			return "", err
		}
	}
	from, err := j.repo.MergeBase(cmd.Context(), base, tip)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%s and %s have no commit in common: fetch the whole history (git fetch --unshallow), or name another --base", base, tip)
	}
	return from, err
}

// added are the entries that a change brings, in the changelog or beside it.
func added(c recipe.Change, fragments []recipe.Fragment) []recipe.ChangelogEntry {
	entries := slices.Clone(c.Additions)
	for _, f := range fragments {
		entries = append(entries, f.Entry)
	}
	return entries
}

func (j journal) head(cmd *cobra.Command, head string) ([]byte, error) {
	if head != "" {
		return j.at(cmd, head)
	}
	return j.history()
}

// plannable makes the plan of what a change adds since a commit, and keeps
// nothing of it. Append-only entries are held against the recipes of that commit.
func (j journal) plannable(cmd *cobra.Command, entries []recipe.ChangelogEntry, since string) error {
	if len(entries) == 0 {
		return nil
	}
	cat, err := recipe.Load(os.DirFS(j.w.Root), j.w.Paths.Masters, j.w.Paths.Runners)
	if err != nil {
		return err
	}
	rule, err := matrix.ParseEvalRule(j.w.Config.Evals.Lengths, j.w.Config.Evals.Floor)
	if err != nil {
		return err
	}
	var o matrix.PlanOptions
	if matrix.AppendOnly(entries) {
		if o.Base, err = recipe.LoadCommit(cmd.Context(), j.repo, since, j.w.Paths.Masters, j.w.Paths.Runners); err != nil {
			return err
		}
	}
	_, err = matrix.BuildPlanWith(cat, entries, rule, o)
	return err
}

// fragmentDir holds fragments, one file each.
const fragmentDir = "changelog.d"

// fragments reads those of the working tree.
func (j journal) fragments(wanted bool) ([]recipe.Fragment, error) {
	if !wanted {
		return nil, nil
	}
	names, err := fs.Glob(os.DirFS(j.w.Root), fragmentDir+"/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []recipe.Fragment
	var errs []error
	for _, name := range names {
		src, err := workspace.ReadFile(filepath.Join(j.w.Root, filepath.FromSlash(name)), 1<<20)
		if err == nil {
			var f recipe.Fragment
			f, err = recipe.ParseFragment(src, name)
			out = append(out, f)
		}
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
}

func changelogAdd(e env) *cobra.Command {
	var f journalFlags
	var entry recipe.ChangelogEntry
	var fragment, base string
	cmd := &cobra.Command{
		Use:   "add",
		Short: "Append an entry, or write it as a fragment of its own",
		Long: `Appends an entry to the changelog, or writes it as a fragment, when the recipes
of the working tree can be planned with it. With --append-only the points that
they gained since --base are measured and nothing else; a change that does more
is refused, and told what else it does.`,
		Example: `  refit changelog add --config-key laba-fp8-cpu-sim --description Remeasure --fragment measure-again`,
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if len(entry.ConfigKeys) == 0 || len(entry.Description) == 0 {
				return usage("--config-key and --description are required")
			}
			j, err := f.open(cmd)
			if err != nil {
				return err
			}
			if entry.PRLink = "XXX"; f.pull > 0 {
				entry.PRLink = j.rule.Own()
			}
			since := ""
			if entry.AppendOnly {
				if since, err = j.since(cmd, base, "HEAD"); err != nil {
					return err
				}
			}
			if err := j.plannable(cmd, []recipe.ChangelogEntry{entry}, since); err != nil {
				return err
			}
			name, err := j.add(entry, fragment)
			if err == nil {
				fmt.Fprintln(text{e.stdout}, "added to "+name)
			}
			return err
		},
	}
	f.flags(cmd)
	cmd.Flags().StringArrayVar(&entry.ConfigKeys, "config-key", nil, "config key, or a pattern with *")
	cmd.Flags().StringArrayVar(&entry.Description, "description", nil, "what changed")
	cmd.Flags().StringArrayVar(&entry.ScenarioType, "scenario-type", nil, "only this scenario")
	cmd.Flags().BoolVar(&entry.EvalsOnly, "evals-only", false, "no throughput")
	cmd.Flags().BoolVar(&entry.AllEvals, "all-evals", false, "every eval, no throughput")
	cmd.Flags().BoolVar(&entry.NoEvals, "no-evals", false, "throughput alone")
	cmd.Flags().BoolVar(&entry.AppendOnly, "append-only", false, "only the points that are new since --base, without evals")
	cmd.Flags().StringVar(&base, "base", "origin/main", "branch that the change is for, with --append-only")
	cmd.Flags().IntVar(&entry.EvalMinPrefillEP, "eval-min-prefill-ep", 0, "only evals of prefill workers with at least this ep")
	cmd.Flags().StringVar(&fragment, "fragment", "", "write changelog.d/NAME.yaml instead")
	return cmd
}

var fragmentName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

func (j journal) add(entry recipe.ChangelogEntry, fragment string) (string, error) {
	if fragment == "" {
		src, err := j.history()
		if err != nil {
			return "", err
		}
		grown, err := recipe.AppendEntry(src, entry)
		if err != nil {
			return "", err
		}
		return j.w.Paths.Changelog, j.write(grown)
	}
	if !fragmentName.MatchString(fragment) {
		return "", usage("--fragment %q: want letters, digits, dots, hyphens and underscores", fragment)
	}
	name := path.Join(fragmentDir, fragment+".yaml")
	file := filepath.Join(j.w.Root, filepath.FromSlash(name))
	if _, err := os.Lstat(file); err == nil {
		return "", fmt.Errorf("%s is there already: choose another name", name)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return "", err
	}
	return name, workspace.WriteFile(file, recipe.FragmentText(entry), 0o644)
}

func changelogCanonicalize(e env) *cobra.Command {
	var f journalFlags
	var base string
	cmd := &cobra.Command{
		Use:     "canonicalize",
		Short:   "Put this pull request's link where added entries have a placeholder",
		Example: "  refit changelog canonicalize --pull 12 --base HEAD",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := f.openPull(cmd)
			if err != nil {
				return err
			}
			was, err := j.at(cmd, base)
			if err != nil {
				return err
			}
			is, err := j.read()
			if err != nil {
				return err
			}
			out, err := recipe.Canonicalize(was, is, j.rule, j.w.Paths.Changelog)
			if err != nil {
				return err
			}
			if string(out) == string(is) {
				_, err = fmt.Fprintln(e.stdout, "nothing to do")
				return err
			}
			return j.write(out)
		},
	}
	f.flags(cmd)
	cmd.Flags().StringVar(&base, "base", "origin/main", "branch that the change is for")
	return cmd
}

func changelogResolve(e env) *cobra.Command {
	var f journalFlags
	cmd := &cobra.Command{
		Use:   "resolve",
		Short: "Resolve a merge of main into a pull request that conflicts in the changelog",
		Long: `During a conflicted ` + "`git merge`" + ` of main, inside the pull request's branch: takes
main's file byte for byte, then what the pull request adds, with its link. Not
for a rebase, where git swaps the two sides.`,
		Example: "  refit changelog resolve --pull 12",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := f.openPull(cmd)
			if err != nil {
				return err
			}
			if _, err := j.repo.Git(cmd.Context(), "rev-parse", "--verify", "--quiet", "MERGE_HEAD"); err != nil {
				return errors.New("no merge is going on here: `git merge origin/main` comes first")
			}
			var stage [3][]byte
			for i := range stage {
				stage[i], err = j.repo.Git(cmd.Context(), "cat-file", "blob", fmt.Sprintf(":%d:%s", i+1, j.w.Paths.Changelog))
				if err != nil {
					return fmt.Errorf("%s is not in conflict: git has no stage %d of it", j.w.Paths.Changelog, i+1)
				}
			}
			out, err := recipe.Resolve(stage[0], stage[1], stage[2], j.rule, j.w.Paths.Changelog)
			if err != nil {
				return err
			}
			if err := j.write(out); err != nil {
				return err
			}
			_, err = fmt.Fprintf(text{e.stdout}, "resolved; go on with: git add %s\n", j.w.Paths.Changelog)
			return err
		},
	}
	f.flags(cmd)
	return cmd
}

func changelogCompile(e env) *cobra.Command {
	var f journalFlags
	cmd := &cobra.Command{
		Use:   "compile",
		Short: "Append the fragments to the changelog and remove them",
		Long: `Appends changelog.d/*.yaml in the order in which they were merged into this
branch, and then by name. The number of a fragment's pull request is read from
the subject of its merge; a fragment may name it itself.`,
		Example: "  refit changelog compile",
		Args:    args(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			j, err := f.open(cmd)
			if err != nil {
				return err
			}
			fragments, err := j.fragments(true)
			if err != nil {
				return err
			}
			if len(fragments) == 0 {
				_, err = fmt.Fprintln(e.stdout, "no fragments")
				return err
			}
			if err := j.merged(cmd, fragments); err != nil {
				return err
			}
			src, err := j.history()
			if err != nil {
				return err
			}
			out, err := recipe.Compile(src, fragments, j.rule.Repository)
			if err != nil {
				return err
			}
			if err := j.write(out); err != nil {
				return err
			}
			for _, f := range fragments { // only now: a kill leaves them, and Compile never loses one
				if err := os.Remove(filepath.Join(j.w.Root, fragmentDir, f.Name+".yaml")); err != nil {
					return err
				}
			}
			_, err = fmt.Fprintf(text{e.stdout}, "%s: %d entries added\n", j.w.Paths.Changelog, len(fragments))
			return err
		},
	}
	f.flags(cmd)
	return cmd
}

var pullOf = regexp.MustCompile(`\(#([0-9]{1,9})\)$|^Merge pull request #([0-9]{1,9}) `)

// merged fills in when each fragment came into this branch, and by which pull
// request. One that no commit has comes last.
func (j journal) merged(cmd *cobra.Command, fragments []recipe.Fragment) error {
	out, err := j.repo.Git(cmd.Context(), "log", "--first-parent", "--reverse", "-m", "--diff-filter=A", "--no-renames", "--name-only",
		"--format=%x01%s", "HEAD", "--", fragmentDir)
	if err != nil {
		return err
	}
	commits := strings.Split(string(out), "\x01")
	for i := range fragments {
		f := &fragments[i]
		f.Merge = len(commits)
		for at, c := range commits {
			lines := strings.Split(c, "\n")
			if !slices.Contains(lines[1:], path.Join(fragmentDir, f.Name+".yaml")) {
				continue
			}
			f.Merge = at
			if m := pullOf.FindStringSubmatch(lines[0]); m != nil {
				f.Pull, _ = strconv.Atoi(m[1] + m[2]) // digits: they fit
			}
		}
	}
	return nil
}
