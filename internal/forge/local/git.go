package local

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

const zeros = "0000000000000000000000000000000000000000"

var hash = regexp.MustCompile(`^[0-9a-f]{40}$`)

// checkGit asks for a git that merges without a work tree.
func (s *Server) checkGit(ctx context.Context) error {
	out, err := s.Git.Git(ctx, "version")
	if err != nil {
		return err
	}
	var major, minor int
	_, err = fmt.Sscanf(string(out), "git version %d.%d", &major, &minor)
	if err != nil || major < 2 || major == 2 && minor < 38 {
		return fmt.Errorf("%s: want git 2.38 or newer", strings.TrimSpace(string(out)))
	}
	return nil
}

// head returns the default branch.
func (s *Server) head(ctx context.Context) (string, error) {
	out, err := s.Git.Git(ctx, "symbolic-ref", "--short", "HEAD")
	return strings.TrimSpace(string(out)), err
}

// refs lists all references by full name.
func (s *Server) refs(ctx context.Context) ([]ref, error) {
	out, err := s.Git.Git(ctx, "for-each-ref", "--format=%(refname) %(objectname) %(objecttype)")
	if err != nil {
		return nil, err
	}
	var all []ref
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 3 {
			all = append(all, ref{name: f[0], sha: f[1], kind: f[2]})
		}
	}
	return all, nil
}

type ref struct{ name, sha, kind string }

// refNamed returns one reference; none is a 404.
func (s *Server) refNamed(ctx context.Context, name string) (ref, error) {
	all, err := s.refs(ctx)
	if err != nil {
		return ref{}, err
	}
	for _, r := range all {
		if r.name == name {
			return r, nil
		}
	}
	return ref{}, errNotFound
}

// commitAt resolves a branch, a tag or a full hash; none is a 404.
func (s *Server) commitAt(ctx context.Context, name string) (string, error) {
	all, err := s.refs(ctx)
	if err != nil {
		return "", err
	}
	for _, full := range []string{"refs/heads/" + name, "refs/tags/" + name, name} {
		for _, r := range all {
			if r.name == full {
				return s.Git.Resolve(ctx, r.sha+"^{commit}")
			}
		}
	}
	if hash.MatchString(name) && s.kind(ctx, name) == "commit" {
		return name, nil
	}
	return "", errNotFound
}

// kind returns an object's type, "" when there is none.
func (s *Server) kind(ctx context.Context, sha string) string {
	if !hash.MatchString(sha) {
		return ""
	}
	out, err := s.Git.Git(ctx, "cat-file", "-t", sha)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(out))
}

// write stores an object and returns its hash.
func (s *Server) write(ctx context.Context, kind string, data []byte) (string, error) {
	f, err := os.CreateTemp(s.ArtifactDir, "object-")
	if err != nil {
		return "", err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", err
	}
	name, err := filepath.Abs(f.Name()) // git runs in the repository's folder
	if err != nil {
		return "", err
	}
	out, err := s.Git.Git(ctx, "hash-object", "-t", kind, "-w", "--no-filters", "--", name)
	return strings.TrimSpace(string(out)), err
}

// ancestor reports whether old is new or an ancestor of it.
func (s *Server) ancestor(ctx context.Context, old, new string) bool {
	base, err := s.Git.MergeBase(ctx, old, new)
	return err == nil && base == old
}

// mergeTree merges two commits; an error means that they conflict.
func (s *Server) mergeTree(ctx context.Context, base, head string) (string, error) {
	out, err := s.Git.Git(ctx, "merge-tree", "--write-tree", base, head)
	tree, _, _ := strings.Cut(string(out), "\n")
	if err == nil && !hash.MatchString(tree) {
		err = fmt.Errorf("merge of %s and %s: odd answer", base, head)
	}
	return tree, err
}
