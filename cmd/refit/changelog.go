package main

import (
	"errors"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

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
