package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
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

// refNamed returns one reference; none is a 404. Where references are files
// they are read, a loose one before a packed one, as git does; git is asked
// only when that does not settle it.
func (s *Server) refNamed(ctx context.Context, name string) (ref, error) {
	if sha, ok := s.refFile(name); ok {
		if sha == "" {
			return ref{}, errNotFound
		}
		if kind := s.kind(ctx, sha); kind != "" {
			return ref{name: name, sha: sha, kind: kind}, nil
		}
	}
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

// refFile reads a reference out of its file, or out of the packed ones; "" says
// that there is certainly none. It is not ok for symbolic references and for
// repositories that keep references in another form.
func (s *Server) refFile(name string) (sha string, ok bool) {
	if !fs.ValidPath(name) || !strings.HasPrefix(name, "refs/") {
		return "", false
	}
	data, err := os.ReadFile(filepath.Join(s.Git.Dir, name))
	if err == nil {
		sha = strings.TrimSpace(string(data))
		return sha, hash.MatchString(sha)
	}
	if info, err := os.Stat(filepath.Join(s.Git.Dir, "refs", "heads")); err != nil || !info.IsDir() {
		return "", false
	}
	packed, err := os.ReadFile(filepath.Join(s.Git.Dir, "packed-refs"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return "", false
	}
	for line := range strings.Lines(string(packed)) {
		if at, of, _ := strings.Cut(strings.TrimSpace(line), " "); of == name {
			return at, hash.MatchString(at)
		}
	}
	return "", true
}

// commitAt resolves a branch, a tag or a full hash; none is a 404.
func (s *Server) commitAt(ctx context.Context, name string) (string, error) {
	if hash.MatchString(name) && s.kind(ctx, name) == "commit" {
		return name, nil
	}
	for _, full := range []string{"refs/heads/" + name, "refs/tags/" + name, name} {
		r, err := s.refNamed(ctx, full)
		switch {
		case err == nil && r.kind == "commit":
			return r.sha, nil
		case err == nil:
			return s.Git.Resolve(ctx, r.sha+"^{commit}")
		case !errors.Is(err, errNotFound):
			return "", err
		}
	}
	return "", errNotFound
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
	sha := strings.TrimSpace(string(out))
	if err == nil {
		s.cache.keep(sha, object{kind, append([]byte{}, data...)})
	}
	return sha, err
}

// ancestor reports whether old is new or an ancestor of it.
func (s *Server) ancestor(ctx context.Context, old, new string) bool {
	if !hash.MatchString(old) || !hash.MatchString(new) {
		return false
	}
	_, err := s.Git.Git(ctx, "merge-base", "--is-ancestor", old, new)
	return err == nil
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
