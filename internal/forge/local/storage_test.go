package local

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// visit asks without a credential and without following anybody.
func visit(t *testing.T, address, token string) (status int, location, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	must(t, err)
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	must(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	return resp.StatusCode, resp.Header.Get("Location"), string(data)
}

func TestArchivesComeFromSignedAddresses(t *testing.T) {
	w := newWorld(t, func(_ context.Context, r RunRequest) error {
		if err := os.MkdirAll(filepath.Join(r.Out, "rows"), 0o755); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(r.Out, "rows", "a"), []byte("a"), 0o644)
	})
	var late atomic.Int64 // seconds
	begin := w.Now()
	w.Now = func() time.Time { return begin.Add(time.Duration(late.Load()) * time.Second) }
	ctx := t.Context()
	id, err := w.bot.Dispatch(ctx, "e2e-tests.yml", "main", nil)
	must(t, err)
	w.Wait()
	artifacts, err := w.bot.Artifacts(ctx, id)
	if err != nil || len(artifacts) != 1 {
		t.Fatalf("artifacts: got %v %v, want 1", artifacts, err)
	}
	before := w.bot.Calls()
	_, err = w.bot.Download(ctx, artifacts[0])
	must(t, err)
	if n := w.bot.Calls() - before; n != 1 {
		t.Errorf("calls of the API for a download: got %d, want 1", n)
	}
	ask := fmt.Sprintf("%s%s/repos/owner/recipes/actions/artifacts/%d/zip", w.http.URL, apiRoot, artifacts[0].ID)
	status, at, _ := visit(t, ask, "bot-token")
	if status != http.StatusFound || !strings.HasPrefix(at, storageRoot+"artifacts/") {
		t.Fatalf("got %d to %q, want a redirect to the storage", status, at)
	}
	at = w.http.URL + at
	check := func(name, address string, want int, text string) {
		t.Helper()
		if status, _, body := visit(t, address, ""); status != want || !strings.Contains(body, text) {
			t.Errorf("%s: got %d %.80q, want %d with %q", name, status, body, want, text)
		}
	}
	check("signed", at, http.StatusOK, "PK")
	check("unsigned", strings.Split(at, "?")[0], http.StatusForbidden, "Signature did not match")
	check("other-signature", at+"0", http.StatusForbidden, "Signature did not match")
	check("for-longer", strings.Replace(at, "until=1", "until=2", 1), http.StatusForbidden, "Signature did not match")
	check("of-something-else", strings.Replace(at, "/artifacts/", "/logs/", 1), http.StatusForbidden, "Signature did not match")
	check("api-without-a-token", ask, http.StatusUnauthorized, "Requires authentication")
	late.Store(storageValid)
	check("in-its-last-second", at, http.StatusOK, "PK")
	late.Store(storageValid + 1)
	check("too-late", at, http.StatusForbidden, "no longer valid")
}
