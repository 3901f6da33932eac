package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/workspace"
)

// repository is the embedded forge's owner/name.
func repository(c workspace.Config) string {
	if c.Forge.Repository != "" {
		return c.Forge.Repository
	}
	return "local/workspace"
}

// login is who the embedded forge's token belongs to.
func login(c workspace.Config) string {
	if c.Forge.Login != "" {
		return c.Forge.Login
	}
	return "refit"
}

// ensureToken reads the embedded forge's token, or makes one. Only this user
// may read the file.
func ensureToken(path string) (string, error) {
	token, err := readToken(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return token, err
	}
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("serve: token: %w", err)
	}
	token = "refit_" + hex.EncodeToString(b[:])
	if err := workspace.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("serve: token: %w", err)
	}
	return token, nil
}

// tokenForm is what ensureToken makes. Anything else in its file is a mistake.
var tokenForm = regexp.MustCompile(`^refit_[0-9a-f]{48}$`)

func readToken(path string) (string, error) {
	data, err := workspace.ReadPrivate(path)
	if err != nil {
		return "", fmt.Errorf("serve: token: %w", err)
	}
	token := strings.TrimSpace(string(data))
	if !tokenForm.MatchString(token) {
		return "", fmt.Errorf("serve: token: %s holds no token of refit's: remove it, a new one is made", path)
	}
	return token, nil
}

// bareOf is the embedded forge's repository, made once from the checkout.
func bareOf(w *workspace.Workspace) workspace.Repo { return workspace.Repo{Dir: w.State("forge.git")} }

// checkSource makes sure, before anything is written, that git works and that
// there is a commit to serve.
func checkSource(ctx context.Context, w *workspace.Workspace) error {
	if _, err := bareOf(w).Resolve(ctx, "refs/heads/main"); err == nil {
		return nil
	}
	_, err := workspace.Repo{Dir: w.Root}.Resolve(ctx, "HEAD")
	if errors.Is(err, exec.ErrNotFound) {
		return fmt.Errorf("serve: %w", err)
	}
	if err != nil {
		return fmt.Errorf("serve: %s has no commit yet: commit the recipes first: %w", w.Root, err)
	}
	return nil
}

// ensureBare fills the forge's repository from the checkout's current commit.
// What is not committed does not count and is not touched.
func ensureBare(ctx context.Context, w *workspace.Workspace) (workspace.Repo, error) {
	bare := bareOf(w)
	if _, err := bare.Resolve(ctx, "refs/heads/main"); err == nil {
		return bare, nil
	}
	if err := os.MkdirAll(bare.Dir, 0o700); err != nil {
		return bare, fmt.Errorf("serve: %w", err)
	}
	if _, err := bare.Git(ctx, "init", "--quiet", "--bare", "--initial-branch=main", "."); err != nil {
		return bare, fmt.Errorf("serve: make the forge's repository: %w", err)
	}
	if _, err := (workspace.Repo{Dir: w.Root}).Git(ctx, "push", "--quiet", bare.Dir, "HEAD:refs/heads/main"); err != nil {
		return bare, fmt.Errorf("serve: fill the forge's repository: %w", err)
	}
	return bare, nil
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}

// onlyLoopback answers only requests that name this machine: a page of another
// site that resolves its own name here gets nothing. Nothing behind it writes.
func onlyLoopback(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !forge.Loopback(r.Host) {
			http.Error(w, "host not allowed", http.StatusForbidden)
			return
		}
		// "null", the origin of sandboxed pages and files, is no machine's name.
		if from := r.Header.Get("Origin"); from != "" && !forge.Loopback(hostOf(from)) {
			http.Error(w, "origin not allowed", http.StatusForbidden)
			return
		}
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "read only", http.StatusMethodNotAllowed)
			return
		}
		next.ServeHTTP(w, r)
	})
}
