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

	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

// fragmentDir holds fragments, one file each.
const fragmentDir = "changelog.d"

// newFragments are those of the working tree that a commit does not have as they
// are: what lies on the main branch, not compiled yet, is no part of a change.
func (j journal) newFragments(cmd *cobra.Command, since string) ([]recipe.Fragment, error) {
	all, err := j.fragments()
	var out []recipe.Fragment
	for _, f := range all {
		name := path.Join(fragmentDir, f.Name+".yaml")
		was, lost := j.repo.File(cmd.Context(), since, name)
		is, bad := workspace.ReadFile(filepath.Join(j.w.Root, filepath.FromSlash(name)), maxFragment)
		if bad != nil || lost != nil && !errors.Is(lost, fs.ErrNotExist) {
			return nil, errors.Join(err, bad, lost)
		}
		if lost != nil || string(was) != string(is) {
			out = append(out, f)
		}
	}
	return out, err
}

// maxFragment bounds one fragment, in bytes.
const maxFragment = 1 << 20

// fragments reads those of the working tree.
func (j journal) fragments() ([]recipe.Fragment, error) {
	names, err := fs.Glob(os.DirFS(j.w.Root), fragmentDir+"/*.yaml")
	if err != nil {
		return nil, err
	}
	var out []recipe.Fragment
	var errs []error
	for _, name := range names {
		src, err := workspace.ReadFile(filepath.Join(j.w.Root, filepath.FromSlash(name)), maxFragment)
		if err == nil {
			var f recipe.Fragment
			f, err = recipe.ParseFragment(src, name)
			out = append(out, f)
		}
		errs = append(errs, err)
	}
	return out, errors.Join(errs...)
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
			fragments, err := j.fragments()
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
