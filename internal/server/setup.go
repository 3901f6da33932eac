package server

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
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
	data, err := os.ReadFile(path)
	if err == nil {
		return strings.TrimSpace(string(data)), nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("serve: token: %w", err)
	}
	var b [24]byte
	if _, err := rand.Read(b[:]); err != nil {
		return "", fmt.Errorf("serve: token: %w", err)
	}
	token := "refit_" + hex.EncodeToString(b[:])
	if err := workspace.WriteFile(path, []byte(token+"\n"), 0o600); err != nil {
		return "", fmt.Errorf("serve: token: %w", err)
	}
	return token, nil
}

// ensureBare is the embedded forge's repository: a bare one below .refit, made
// once from the checkout's current commit.
func ensureBare(ctx context.Context, w *workspace.Workspace) (workspace.Repo, error) {
	bare := workspace.Repo{Dir: w.State("forge.git")}
	if _, err := bare.Resolve(ctx, "refs/heads/main"); err == nil {
		return bare, nil
	}
	if err := os.MkdirAll(bare.Dir, 0o700); err != nil {
		return bare, fmt.Errorf("serve: %w", err)
	}
	if _, err := bare.Git(ctx, "init", "--quiet", "--bare", "--initial-branch=main", "."); err != nil {
		return bare, fmt.Errorf("serve: make the forge's repository: %w", err)
	}
	checkout := workspace.Repo{Dir: w.Root}
	if _, err := checkout.Resolve(ctx, "HEAD"); err != nil {
		return bare, fmt.Errorf("serve: %s has no commit yet: commit the recipes first: %w", w.Root, err)
	}
	if _, err := checkout.Git(ctx, "push", "--quiet", bare.Dir, "HEAD:refs/heads/main"); err != nil {
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
		host := r.Host
		if h, _, err := net.SplitHostPort(host); err == nil {
			host = h
		}
		origin := hostOf(r.Header.Get("Origin"))
		if !forge.Loopback(r.Host) || origin != "" && !forge.Loopback(origin) {
			http.Error(w, "host not allowed: "+host, http.StatusForbidden)
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
