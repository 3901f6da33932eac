package starter

import (
	"context"
	"errors"
	"regexp"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

var repositoryForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// branchForm is narrower than git's: it leaves out what a workflow's filter of
// branches would take for a pattern.
var branchForm = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$`)

// githubRemote is how git spells a repository of github.com.
var githubRemote = regexp.MustCompile(`^(?:https://(?:[^/@]*@)?github\.com/|(?:ssh://)?git@github\.com[:/])([^/]+/[^/]+?)(?:\.git)?/?$`)

// ErrNoRepository says that nothing tells the repository's name on GitHub.
var ErrNoRepository = errors.New("the repository's name on GitHub is not known: refit.yaml has no forge.repository, and origin is not at github.com")

// Repository is the workspace's owner/name on GitHub: what refit.yaml says, else
// what git's remote origin says, else ErrNoRepository.
func Repository(ctx context.Context, w *workspace.Workspace) (string, error) {
	if name := w.Config.Forge.Repository; name != "" {
		return name, nil
	}
	out, err := workspace.Repo{Dir: w.Root}.Git(ctx, "config", "--get", "remote.origin.url")
	if err != nil {
		return "", ErrNoRepository
	}
	if m := githubRemote.FindStringSubmatch(strings.TrimSpace(string(out))); m != nil && repositoryForm.MatchString(m[1]) {
		return m[1], nil
	}
	return "", ErrNoRepository
}

// Branch is the repository's default branch, as the checkout knows it of its
// remote origin, "" when it does not.
func Branch(ctx context.Context, w *workspace.Workspace) string {
	out, err := workspace.Repo{Dir: w.Root}.Git(ctx, "symbolic-ref", "--quiet", "--short", "refs/remotes/origin/HEAD")
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(strings.TrimSpace(string(out)), "origin/")
}
