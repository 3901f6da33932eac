package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Repo reads git through the git binary. Dir is the top of a checkout or a
// bare repository; nothing above it is ever searched. Hooks, file watchers,
// the system's configuration and prompts are off.
type Repo struct{ Dir string }

// Git runs git with args in Dir and returns its standard output. The error
// names the subcommand and carries what git said. Where Dir holds no
// repository only commands that need none work, such as init and clone.
func (r Repo) Git(ctx context.Context, args ...string) ([]byte, error) {
	cmd := r.command(ctx, args)
	out := &output{limit: maxBlob + 1}
	said := &tail{limit: 4096}
	cmd.Stdout, cmd.Stderr = out, said
	if err := cmd.Run(); err != nil {
		return nil, gitError(ctx, args, err, said.String())
	}
	return out.data.Bytes(), nil
}

// Resolve is the full commit id of a revision. One that does not exist is
// fs.ErrNotExist.
func (r Repo) Resolve(ctx context.Context, rev string) (string, error) {
	if rev == "" || rev[0] == '-' || strings.ContainsAny(rev, "\x00\n") {
		return "", fmt.Errorf("resolve revision %q: not the name of a revision", rev)
	}
	out, err := r.Git(ctx, "rev-parse", "--verify", "--quiet", rev+"^{commit}")
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", fmt.Errorf("resolve revision %q: %w", rev, fs.ErrNotExist)
	}
	if err != nil {
		return "", fmt.Errorf("resolve revision %q: %w", rev, err)
	}
	return strings.TrimSpace(string(out)), nil
}

// File is one file of a commit, byte for byte. The error is fs.ErrNotExist
// when the commit has no such file.
func (r Repo) File(ctx context.Context, rev, path string) ([]byte, error) {
	if !fs.ValidPath(path) {
		return nil, &fs.PathError{Op: "git show", Path: rev + ":" + path, Err: fs.ErrInvalid}
	}
	commit, err := r.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	list, err := r.Git(ctx, "ls-tree", "-z", "-l", "--full-tree", commit, "--", path)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(list)
	if err != nil {
		return nil, err
	}
	if len(entries) != 1 || entries[0].Path != path || !entries[0].blob() {
		return nil, &fs.PathError{Op: "git show", Path: rev + ":" + path, Err: fs.ErrNotExist}
	}
	if entries[0].Size > maxBlob {
		return nil, &fs.PathError{Op: "git show", Path: rev + ":" + path, Err: errTooLarge}
	}
	return r.Git(ctx, "cat-file", "blob", entries[0].Object)
}

// MergeBase is the best common ancestor of two revisions; without one the
// error is fs.ErrNotExist.
func (r Repo) MergeBase(ctx context.Context, a, b string) (string, error) {
	from, to, err := r.both(ctx, a, b)
	if err != nil {
		return "", err
	}
	out, err := r.Git(ctx, "merge-base", from, to)
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() == 1 {
		return "", fmt.Errorf("merge base of %s and %s: %w", a, b, fs.ErrNotExist)
	}
	if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(out)), nil
}

// Changed lists the paths that differ between two commits, sorted. A rename
// counts with both names.
func (r Repo) Changed(ctx context.Context, a, b string) ([]string, error) {
	from, to, err := r.both(ctx, a, b)
	if err != nil {
		return nil, err
	}
	out, err := r.Git(ctx, "diff-tree", "-r", "-z", "--no-renames", "--name-only", "--no-ext-diff", "--no-textconv", from, to)
	if err != nil {
		return nil, err
	}
	paths := []string{}
	for p := range strings.SplitSeq(string(out), "\x00") {
		if p != "" {
			paths = append(paths, p)
		}
	}
	slices.Sort(paths)
	return paths, nil
}

func (r Repo) both(ctx context.Context, a, b string) (from, to string, err error) {
	if from, err = r.Resolve(ctx, a); err != nil {
		return "", "", err
	}
	to, err = r.Resolve(ctx, b)
	return from, to, err
}

// command prepares git. The repository is named outright, so that git neither
// searches folders above Dir nor takes a bare repository inside a checkout.
func (r Repo) command(ctx context.Context, args []string) *exec.Cmd {
	all := []string{
		"-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-c", "core.pager=cat",
		"-c", "commit.gpgSign=false", "-c", "tag.gpgSign=false", "-c", "gc.auto=0", "-c", "maintenance.auto=false",
		"-c", "protocol.ext.allow=never",
	}
	if dir := r.gitDir(); dir != "" {
		all = append(all, "--git-dir="+dir)
	}
	cmd := exec.CommandContext(ctx, "git", append(all, args...)...)
	cmd.Dir = r.Dir
	cmd.Env = gitEnv(r.Dir)
	return cmd
}

// gitDir is where Dir's repository is, relative to it, or "".
func (r Repo) gitDir() string {
	if _, err := os.Lstat(filepath.Join(r.Dir, ".git")); err == nil {
		return ".git"
	}
	for _, name := range []string{"HEAD", "objects", "refs"} {
		if _, err := os.Stat(filepath.Join(r.Dir, name)); err != nil {
			return ""
		}
	}
	return "."
}

// gitEnv is the process's environment without any variable that would point
// git at another repository or configuration.
func gitEnv(dir string) []string {
	var env []string
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		identity := strings.HasPrefix(name, "GIT_AUTHOR_") || strings.HasPrefix(name, "GIT_COMMITTER_")
		if name == "GIT_CONFIG_GLOBAL" || name == "GIT_SSH_COMMAND" || identity || !strings.HasPrefix(name, "GIT_") {
			env = append(env, kv)
		}
	}
	ceiling := "/"
	if abs, err := filepath.Abs(dir); err == nil {
		ceiling = filepath.Dir(abs)
	}
	return append(env,
		"GIT_CONFIG_NOSYSTEM=1", "GIT_ATTR_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=",
		"GIT_NO_REPLACE_OBJECTS=1", "GIT_OPTIONAL_LOCKS=0", "GIT_EDITOR=true", "GIT_CEILING_DIRECTORIES="+ceiling, "LC_ALL=C")
}

var userInfo = regexp.MustCompile(`://[^/@\s']+@`)

func gitError(ctx context.Context, args []string, err error, said string) error {
	name := "git"
	for i := 0; i < len(args); i++ {
		if args[i] == "-c" {
			i++
		} else if !strings.HasPrefix(args[i], "-") {
			name += " " + args[i]
			break
		}
	}
	if ctx.Err() != nil {
		return fmt.Errorf("%s: %w", name, ctx.Err())
	}
	said = userInfo.ReplaceAllString(spoken(said), "://***@")
	if said == "" {
		return fmt.Errorf("%s: %w", name, err)
	}
	return fmt.Errorf("%s: %w: %s", name, err, said)
}

// spoken is what git said, line by line; part of it may come from a remote.
func spoken(said string) string {
	lines := strings.Split(strings.TrimSpace(said), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(Printable(line))
	}
	return strings.Join(lines, "\n")
}

// output keeps what a command writes, up to a limit. The buffer is no embedded
// one: its ReadFrom would pass by the limit.
type output struct {
	limit int
	data  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	if o.data.Len()+len(p) > o.limit {
		return 0, fmt.Errorf("more than %d bytes of output", o.limit)
	}
	return o.data.Write(p)
}

// tail keeps the last bytes written to it.
type tail struct {
	limit int
	data  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if over := len(t.data) - t.limit; over > 0 {
		t.data = t.data[over:]
	}
	return len(p), nil
}

func (t *tail) String() string { return string(t.data) }
