package server

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/workspace"
)

// startHost starts a Host of a small workspace over real HTTP.
func startHost(t *testing.T) *Host {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "ws")
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.Mkdir(dir, 0o755))
	must(os.WriteFile(filepath.Join(dir, "refit.yaml"), []byte("version: 1\nforge: {repository: toy/recipes, login: bot}\n"), 0o644))
	// The folder was made by hand, and everybody may enter it.
	must(os.Mkdir(filepath.Join(dir, ".refit"), 0o755))
	ref, err := image.Parse("toy/loom:v1.0.0-box")
	must(err)
	_, err = image.Build(filepath.Join(dir, ".refit/images"), image.Spec{Ref: ref, Layers: []image.Layer{{Files: []image.File{{Path: "a", Data: []byte("b")}}}}})
	must(err)
	git := workspace.Repo{Dir: dir}
	for _, args := range [][]string{{"init", "-q", "-b", "main", "."}, {"add", "refit.yaml"},
		{"-c", "user.name=owner", "-c", "user.email=owner@example.invalid", "commit", "-q", "-m", "Start"}} {
		_, err := git.Git(t.Context(), args...)
		must(err)
	}
	w, err := workspace.Open(dir)
	must(err)
	h := &Host{Workspace: w, Refit: "refit", Log: io.Discard, Now: time.Now}
	must(h.Start(t.Context()))
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Errorf("Close: %v", err)
		}
	})
	return h
}

// places are the listeners with a path that each answers.
func (h *Host) places() map[string]string {
	return map[string]string{
		"forge":     h.Address.Forge + "/api/v3/rate_limit",
		"registry":  "http://" + h.Address.Registry + "/v2/",
		"dashboard": h.Address.Dashboard + "/",
		"results":   h.Address.Dashboard + "/api/v1/latest-images",
	}
}

// askAt sends one request as it is, follows nothing, and returns status and body.
func askAt(t *testing.T, method, address string, body io.Reader, change func(*http.Request)) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, address, body)
	if err != nil {
		t.Fatal(err)
	}
	if change != nil {
		change(req)
	}
	c := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := c.Do(req)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s %s: %v", method, address, err)
	}
	return resp.StatusCode, string(text)
}

func TestHostAnswersThisMachineOnly(t *testing.T) {
	h := startHost(t)
	for _, l := range h.listeners {
		if a := l.Addr().(*net.TCPAddr); !a.IP.IsLoopback() {
			t.Errorf("listens on %s, want loopback", a)
		}
	}
	header := func(name, value string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set(name, value) }
	}
	cases := []struct {
		name   string
		change func(*http.Request)
		want   int
	}{
		{"plain", nil, 200},
		{"own origin", header("Origin", "http://127.0.0.1:1"), 200},
		{"localhost", func(r *http.Request) { r.Host = "localhost:1" }, 200},
		{"rebound name", func(r *http.Request) { r.Host = "evil.example" }, 403},
		{"rebound name with port", func(r *http.Request) { r.Host = "evil.example:80" }, 403},
		{"name that begins like this machine's", func(r *http.Request) { r.Host = "127.0.0.1.evil.example" }, 403},
		{"all addresses", func(r *http.Request) { r.Host = "0.0.0.0" }, 403},
		{"foreign origin", header("Origin", "https://evil.example"), 403},
		{"origin of a sandboxed page", header("Origin", "null"), 403},
		{"origin of a file", header("Origin", "file://"), 403},
		{"origin that hides its host", header("Origin", "http://127.0.0.1@evil.example"), 403},
		{"origin that is none", header("Origin", "http://%zz"), 403},
	}
	for where, at := range h.places() {
		for _, c := range cases {
			if got, _ := askAt(t, "GET", at, nil, c.change); got != c.want {
				t.Errorf("%s, %s: got %d, want %d", where, c.name, got, c.want)
			}
		}
	}
}

const forgeRepo = "/api/v3/repos/toy/recipes"

// forgeWrites is one request for every operation that changes something.
var forgeWrites = []string{
	"POST /labels", "POST /git/refs", "PATCH /git/refs/heads/main", "DELETE /git/refs/heads/main", "POST /git/blobs", "POST /git/trees",
	"POST /git/commits", "POST /pulls", "PATCH /pulls/1", "PUT /pulls/1/merge", "POST /issues/1/comments", "PATCH /issues/comments/1",
	"POST /issues/1/labels", "DELETE /issues/1/labels/x", "POST /actions/workflows/run-sweep.yml/dispatches", "POST /actions/runs/1/cancel",
}

// forgePrivate is what only who holds the token may read.
var forgePrivate = []string{
	"GET /actions/jobs/1/logs", "GET /actions/runs", "GET /actions/runs/1/artifacts", "GET /actions/artifacts/1/zip", "GET /git/ref/heads/main",
	"GET /contents/refit.yaml", "GET /pulls", "GET /labels",
}

func TestForgeWantsItsToken(t *testing.T) {
	h := startHost(t)
	credentials := map[string]func(*http.Request){
		"none":      func(*http.Request) {},
		"empty":     func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") },
		"wrong":     func(r *http.Request) { r.Header.Set("Authorization", "Bearer refit_"+strings.Repeat("0", 48)) },
		"basic":     func(r *http.Request) { r.SetBasicAuth(h.token, "") },
		"shortened": func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+h.token[:20]) },
	}
	for name, credential := range credentials {
		for _, op := range append(append([]string{}, forgeWrites...), forgePrivate...) {
			method, path, _ := strings.Cut(op, " ")
			got, body := askAt(t, method, h.Address.Forge+forgeRepo+path, strings.NewReader("{}"), func(r *http.Request) {
				r.Header.Set("Content-Type", "application/json")
				credential(r)
			})
			if got != http.StatusUnauthorized {
				t.Errorf("token %s, %s: got %d %s, want 401", name, op, got, body)
			}
		}
		got, _ := askAt(t, "POST", h.Address.Forge+"/api/graphql", strings.NewReader("{}"), func(r *http.Request) {
			r.Header.Set("Content-Type", "application/json")
			credential(r)
		})
		if got != http.StatusUnauthorized {
			t.Errorf("token %s, graphql: got %d, want 401", name, got)
		}
	}
}

func TestForgeTakesWritesAsJSONOnly(t *testing.T) {
	h := startHost(t)
	for _, kind := range []string{"", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonx"} {
		got, _ := askAt(t, "POST", h.Address.Forge+forgeRepo+"/labels", strings.NewReader(`{"name": "x"}`), func(r *http.Request) {
			r.Header.Set("Authorization", "Bearer "+h.token)
			if r.Header.Del("Content-Type"); kind != "" {
				r.Header.Set("Content-Type", kind)
			}
		})
		if got != http.StatusUnsupportedMediaType {
			t.Errorf("Content-Type %q: got %d, want 415", kind, got)
		}
	}
}

func TestRegistryAndDashboardOnlyRead(t *testing.T) {
	h := startHost(t)
	registry, board := "http://"+h.Address.Registry, h.Address.Dashboard
	for _, method := range []string{"POST", "PUT", "PATCH", "DELETE", "OPTIONS", "CONNECT", "TRACE", "X"} {
		for _, at := range []string{
			registry + "/v2/", registry + "/v2/toy/loom/manifests/v1.0.0-box", registry + "/v2/toy/loom/blobs/uploads/",
			board + "/", board + "/candidates/x", board + "/api/v1/latest-images",
		} {
			if got, _ := askAt(t, method, at, nil, nil); got != http.StatusMethodNotAllowed {
				t.Errorf("%s %s: got %d, want 405", method, strings.TrimPrefix(strings.TrimPrefix(at, registry), board), got)
			}
		}
	}
}

func TestStateIsPrivate(t *testing.T) {
	h := startHost(t)
	for name, want := range map[string]fs.FileMode{"": 0o700, "token": 0o600, maintainerToken: 0o600, "serve.json": 0o600} {
		info, err := os.Stat(h.Workspace.State(name))
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != want {
			t.Errorf(".refit/%s: got mode %#o, want %#o", name, got, want)
		}
	}
	data, err := os.ReadFile(h.Workspace.State("serve.json"))
	if err != nil || strings.Contains(string(data), h.token) {
		t.Errorf("serve.json: got %s, %v, want no token in it", data, err)
	}
}

// Names in addresses lead to what they name and nowhere else.
func TestAddressesDoNotLeadOutside(t *testing.T) {
	h := startHost(t)
	registry := "http://" + h.Address.Registry
	for _, at := range []string{
		registry + "/v2/../../token", registry + "/v2/..%2f..%2f/manifests/token", registry + "/v2/toy/loom/manifests/..%2f..%2f..%2ftoken",
		registry + "/v2/toy/loom/blobs/sha256:..%2f..%2f..%2ftoken", registry + "/v2/toy/loom/blobs/sha256:" + strings.Repeat("0", 64),
		registry + "/v2/toy/loom/blobs/..%2findex.json", registry + "/v2/" + strings.Repeat("a/", 200) + "tags/list", registry + "/v2/TOY/loom/tags/list",
		registry + "/v2/toy%00/loom/tags/list",
		h.Address.Dashboard + "/candidates/..%2f..%2ftoken", h.Address.Dashboard + "/candidates/..%2f..%2f..%2frefit.yaml/curve.svg",
		h.Address.Dashboard + "/candidates/%2e%2e/token", h.Address.Dashboard + "/candidates/a%00b", h.Address.Dashboard + "/.refit/token",
		h.Address.Dashboard + "/api/v1/../../token", h.Address.Dashboard + "/api/v1/workflow-info?date=..%2f..%2ftoken",
		h.Address.Forge + forgeRepo + "/contents/..%2f..%2ftoken", h.Address.Forge + forgeRepo + "/contents/.git/config",
		h.Address.Forge + forgeRepo + "/contents/refit.yaml?ref=--output=x", h.Address.Forge + forgeRepo + "/git/ref/..%2f..%2ftoken",
		h.Address.Forge + forgeRepo + "/git/trees/--help", h.Address.Forge + forgeRepo + "/git/blobs/..%2ftoken", h.Address.Forge + forgeRepo + "/commits/--all",
		h.Address.Forge + forgeRepo + "/actions/jobs/..%2f1/logs", h.Address.Forge + forgeRepo + "/actions/artifacts/..%2f1/zip",
		h.Address.Forge + forgeRepo + "/actions/workflows/..%2f..%2frefit.yaml/runs", h.Address.Forge + "/api/v3/repos/toy/..%2frecipes/labels",
	} {
		got, body := askAt(t, "GET", at, nil, func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+h.token) })
		listed := got == 200 && strings.Contains(body, `"total_count":0`) // runs of a workflow that nobody knows: none
		if got < 300 && !listed || got >= 500 {
			t.Errorf("GET %s: got %d %.200s, want a refusal", at, got, body)
		}
		if strings.Contains(body, h.token) || strings.Contains(body, h.Workspace.Root) {
			t.Errorf("GET %s: the answer tells the token or a path of this machine: %.300s", at, body)
		}
	}
}

// zeros is an endless body of one JSON text.
type zeros struct{}

func (zeros) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = '0'
	}
	return len(b), nil
}

func TestTooMuchIsRefused(t *testing.T) {
	h := startHost(t)
	for path, size := range map[string]int64{"/labels": 1 << 20, "/pulls": 1 << 20, "/git/blobs": 48 << 20} {
		for name, body := range map[string]io.Reader{
			"told":    io.LimitReader(zeros{}, size+2),
			"chunked": struct{ io.Reader }{io.LimitReader(zeros{}, size+2)},
		} {
			got, _ := askAt(t, "POST", h.Address.Forge+forgeRepo+path, io.MultiReader(strings.NewReader(`{"name": "`), body), func(r *http.Request) {
				r.Header.Set("Authorization", "Bearer "+h.token)
				r.Header.Set("Content-Type", "application/json")
				if name == "told" {
					r.ContentLength = size + 2 + int64(len(`{"name": "`))
				}
			})
			if got != http.StatusRequestEntityTooLarge {
				t.Errorf("POST %s with more than %d bytes, %s: got %d, want 413", path, size, name, got)
			}
		}
	}
	for where, at := range h.places() {
		u, err := url.Parse(at)
		if err != nil {
			t.Fatal(err)
		}
		if got := longHeader(t, u); got != http.StatusRequestHeaderFieldsTooLarge {
			t.Errorf("%s, a header of 1 MiB: got %d, want 431", where, got)
		}
	}
}

// longHeader sends a header by hand: a client gives up when the answer comes early.
func longHeader(t *testing.T, u *url.URL) int {
	t.Helper()
	c, err := net.Dial("tcp", u.Host)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: %s\r\nX-Long: %s\r\n\r\n", u.RequestURI(), u.Host, strings.Repeat("x", 70<<10))
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	return resp.StatusCode
}
