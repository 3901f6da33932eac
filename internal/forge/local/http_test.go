package local

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/forge"
)

// put sends a request as the bot and checks the status.
func (w *world) put(t *testing.T, method, path, body string, want int) string {
	t.Helper()
	return w.send(t, method, path, body, want, nil)
}

func (w *world) send(t *testing.T, method, path, body string, want int, change func(*http.Request)) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, w.http.URL+"/api/v3/repos/owner/recipes"+path, strings.NewReader(body))
	must(t, err)
	req.Header.Set("Authorization", "token bot-token")
	req.Header.Set("Content-Type", "application/json")
	if change != nil {
		change(req)
	}
	resp, err := http.DefaultClient.Do(req)
	must(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != want {
		t.Errorf("%s %s: got %d %s, want %d", method, path, resp.StatusCode, data, want)
	}
	return string(data)
}

func TestDoors(t *testing.T) {
	w := newWorld(t, nil)
	label := `{"name":"x"}`
	cases := []struct {
		name, method, path, body string
		want                     int
		change                   func(*http.Request)
	}{
		{"as-it-should-be", "POST", "/labels", label, 201, nil},
		{"no-token", "POST", "/labels", label, 401, func(r *http.Request) { r.Header.Del("Authorization") }},
		{"no-token-read", "GET", "/labels", "", 401, func(r *http.Request) { r.Header.Del("Authorization") }},
		{"wrong-token", "POST", "/labels", label, 401, func(r *http.Request) { r.Header.Set("Authorization", "Bearer nope") }},
		{"empty-token", "POST", "/labels", label, 401, func(r *http.Request) { r.Header.Set("Authorization", "Bearer ") }},
		{"reader-writes", "POST", "/labels", label, 403, func(r *http.Request) { r.Header.Set("Authorization", "Bearer reader-token") }},
		{"basic-password", "GET", "/labels", "", 200, func(r *http.Request) { r.SetBasicAuth("bot", "bot-token") }},
		{"other-host", "GET", "/labels", "", 403, func(r *http.Request) { r.Host = "evil.example:80" }},
		{"host-that-only-looks-local", "GET", "/labels", "", 403, func(r *http.Request) { r.Host = "localhost.evil.example" }},
		{"localhost", "GET", "/labels", "", 200, func(r *http.Request) { r.Host = "localhost:1" }},
		{"other-origin", "POST", "/labels", label, 403, func(r *http.Request) { r.Header.Set("Origin", "https://evil.example") }},
		{"null-origin", "POST", "/labels", label, 403, func(r *http.Request) { r.Header.Set("Origin", "null") }},
		{"form", "POST", "/labels", "name=x", 415, func(r *http.Request) { r.Header.Set("Content-Type", "application/x-www-form-urlencoded") }},
		{"text", "POST", "/labels", label, 415, func(r *http.Request) { r.Header.Set("Content-Type", "text/plain") }},
		{"not-json", "POST", "/labels", "{", 400, nil},
		{"too-large", "POST", "/labels", `{"name":"` + strings.Repeat("x", 2<<20) + `"}`, 413, nil},
		{"label-twice", "POST", "/labels", label, 422, nil},
		{"no-such-route", "GET", "/teams", "", 404, nil},
		{"odd-number", "GET", "/pulls/abc", "", 404, nil},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text := w.send(t, c.method, c.path, c.body, c.want, c.change)
			var p problem
			if c.want >= 400 && (json.Unmarshal([]byte(text), &p) != nil || p.Message == "" || p.Docs == "") {
				t.Errorf("body: got %s, want a message and a documentation_url", text)
			}
		})
	}
	if n := w.count(t, "label.create"); n != 1 {
		t.Errorf("labels made: got %d, want 1", n)
	}
}

func TestIdentity(t *testing.T) {
	w, ctx := newWorld(t, nil), t.Context()
	if login, err := w.bot.Login(ctx); login != "bot" || err != nil {
		t.Errorf("login: got %q %v", login, err)
	}
	for login, want := range map[string]string{"bot": "write", "maintainer": "admin", "reader": "read"} {
		if got, err := w.bot.Permission(ctx, login); got != want || err != nil {
			t.Errorf("permission of %s: got %q %v, want %s", login, got, err, want)
		}
	}
	if _, err := w.bot.Permission(ctx, "nobody/../x"); err == nil {
		t.Error("permission of nobody: no error")
	}
	if branch, err := w.bot.DefaultBranch(ctx); branch != "main" || err != nil {
		t.Errorf("default branch: got %q %v", branch, err)
	}
	if at, err := w.anon.ServerTime(ctx); at.IsZero() || err != nil {
		t.Errorf("server time: got %v %v", at, err)
	}
	_, err := w.anon.Login(ctx)
	var e *forge.Error
	if !errors.As(err, &e) || e.Status != 401 {
		t.Errorf("login without a token: got %v, want 401", err)
	}
	stray, err := forge.New(w.http.URL, "bot-token", "owner/other")
	must(t, err)
	if _, err := stray.DefaultBranch(ctx); err == nil {
		t.Error("another repository answered")
	}
}

func TestCreateRefRefusals(t *testing.T) {
	w := newWorld(t, nil)
	for _, name := range []string{"HEAD", "refs/x", "refs/heads/", "refs/heads/a..b", "refs/heads/-x", "refs/heads/a b", "refs/heads/x.lock", "refs/../x/y"} {
		w.put(t, "POST", "/git/refs", `{"ref":"`+name+`","sha":"`+w.main+`"}`, 422)
	}
	for _, sha := range []string{"main", "--help", strings.Repeat("1", 40), git(t, w.Git.Dir, "rev-parse", "main^{tree}")} {
		w.put(t, "POST", "/git/refs", `{"ref":"refs/heads/x","sha":"`+sha+`"}`, 422)
	}
	w.put(t, "DELETE", "/git/refs/heads/main", "", 422)
	w.put(t, "POST", "/git/trees", `{"base_tree":"`+w.main+`","tree":[{"path":"../x","mode":"100644","content":"x"}]}`, 422)
	w.put(t, "POST", "/git/trees", `{"tree":[{"path":"x","mode":"100664","content":"x"}]}`, 422)
	made := w.put(t, "POST", "/git/trees", `{"base_tree":"`+w.main+`","tree":[{"path":"benchmarks/single/a.sh","mode":"100755","sha":null}]}`, 201)
	if strings.Contains(made, "benchmarks") || !strings.Contains(made, "README.md") {
		t.Errorf("removal: got %s", made)
	}
}

func TestFaults(t *testing.T) {
	w := newWorld(t, nil)
	var next atomic.Value
	next.Store(None)
	f := &Faults{Forge: w.watch.Handler(w.Handler()), Choose: func(int, *http.Request) Fault { return next.Load().(Fault) }}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	c, err := forge.New(server.URL, "bot-token", "owner/recipes")
	if err != nil {
		t.Fatal(err)
	}
	c.Wait = func(context.Context, time.Duration) error { return nil }
	for _, x := range []struct {
		fault        Fault
		done, failed bool // was the write done, did the caller see an error
	}{
		{None, true, false}, {Down, false, true}, {Limited, false, true}, {Abused, false, true},
		{Refused, false, true}, {Lost, true, true}, {Cut, true, true}, {Slow, true, false}, {Late, true, false},
	} {
		next.Store(x.fault)
		name := "refit/fault-" + string(x.fault) + "x"
		err := c.CreateRef(t.Context(), name, w.main)
		next.Store(None)
		_, there, look := c.Ref(t.Context(), name)
		if look != nil || there != x.done || (err != nil) != x.failed {
			t.Errorf("fault %q: error %v, done %v; want failed %v, done %v", x.fault, err, there, x.failed, x.done)
		}
		unsure := x.fault == Down || x.fault == Refused || x.fault == Lost || x.fault == Cut
		if forge.Unanswered(err) != unsure {
			t.Errorf("fault %q: Unanswered(%v) is %v, want %v", x.fault, err, !unsure, unsure)
		}
	}
	if got := f.Counts(); got[Down] != 1 || got[Lost] != 1 || got[Limited] != 4 { // a limit is waited for three times
		t.Errorf("counts: %v", got)
	}
}

func TestSeededFaultsRepeat(t *testing.T) {
	a, b := Seeded(7, 0.5, Misfortunes...), Seeded(7, 0.5, Misfortunes...)
	some := 0
	for n := range 100 {
		x, y := a(n, nil), b(n, nil)
		if x != y {
			t.Fatalf("request %d: %q and %q from one seed", n, x, y)
		}
		if x != None {
			some++
		}
	}
	if some < 30 || some > 70 {
		t.Errorf("%d faults of 100 at a share of 0.5", some)
	}
}

func TestReferencesArePackedOrLoose(t *testing.T) {
	w := newWorld(t, nil)
	if err := w.bot.CreateRef(t.Context(), "refit/one", w.main); err != nil {
		t.Fatal(err)
	}
	check := func(when, name string, want bool) {
		t.Helper()
		sha, there, err := w.bot.Ref(t.Context(), name)
		if err != nil || there != want || want && sha != w.main {
			t.Errorf("%s, %s: got %.12s, there %v, %v, want there %v", when, name, sha, there, err, want)
		}
	}
	check("loose", "refit/one", true)
	if _, err := w.Git.Git(t.Context(), "pack-refs", "--all"); err != nil {
		t.Fatal(err)
	}
	check("packed", "refit/one", true)
	check("packed", "heads/main", true)
	check("packed", "refit/two", false)
	if sha, ok := w.refFile("refs/../HEAD"); ok || sha != "" {
		t.Errorf("refs/../HEAD was read: %s", sha)
	}
	if err := w.bot.DeleteRef(t.Context(), "refit/one"); err != nil {
		t.Fatal(err)
	}
	check("deleted", "refit/one", false)
}
