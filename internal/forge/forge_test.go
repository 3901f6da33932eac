package forge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/forge/described"
)

const secret = "ghp_0123456789secret"

// serve makes a client of a handler, and a list of the waits it asked for.
func serve(t *testing.T, h http.HandlerFunc) (*Client, *[]time.Duration) {
	t.Helper()
	watch := described.NewWatch(t)
	watch.Answers = false // what the server says is the test's own
	server := httptest.NewServer(watch.Handler(h))
	t.Cleanup(server.Close)
	c, err := New(server.URL, secret, "owner/recipes")
	if err != nil {
		t.Fatal(err)
	}
	waits := &[]time.Duration{}
	c.Wait = func(_ context.Context, d time.Duration) error {
		*waits = append(*waits, d)
		return nil
	}
	return c, waits
}

func TestNewRefuses(t *testing.T) {
	for _, c := range [][2]string{
		{"http://example.org", "owner/recipes"}, {"ftp://127.0.0.1", "owner/recipes"}, {"https://user:pw@example.org", "owner/recipes"},
		{"127.0.0.1:80", "owner/recipes"}, {"http://localhost.example.org", "owner/recipes"}, {"", "owner"}, {"", "owner/../x"}, {"", "../x"}, {"", "a/b?c"},
	} {
		if _, err := New(c[0], "", c[1]); err == nil {
			t.Errorf("New(%q, %q): no error", c[0], c[1])
		}
	}
	for _, base := range []string{"", "https://forge.example.org/api/v3/", "http://127.0.0.1:8080", "http://[::1]:80/", "http://localhost"} {
		if _, err := New(base, "", "owner/recipes"); err != nil {
			t.Errorf("New(%q): %v", base, err)
		}
	}
}

func TestGraphQLAddress(t *testing.T) {
	for base, want := range map[string]string{
		"":                           "https://api.github.com/graphql",
		"http://127.0.0.1:8080":      "http://127.0.0.1:8080/api/graphql",
		"https://forge.example.org/": "https://forge.example.org/api/graphql",
	} {
		c, err := New(base, "", "owner/recipes")
		if err != nil {
			t.Fatal(err)
		}
		if got := c.graphqlURL(); got != want {
			t.Errorf("graphql of %q: got %s, want %s", base, got, want)
		}
	}
}

func TestReadsAreRepeated(t *testing.T) {
	n := 0
	c, waits := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if n++; n < 4 {
			http.Error(w, `{"message":"down"}`, http.StatusBadGateway)
			return
		}
		fmt.Fprint(w, `{"login":"bot"}`)
	})
	login, err := c.Login(t.Context())
	if login != "bot" || err != nil || n != 4 || c.Calls() != 4 {
		t.Errorf("got %q %v after %d calls (counted %d), want bot after 4", login, err, n, c.Calls())
	}
	if len(*waits) != 3 || (*waits)[2] <= (*waits)[0] {
		t.Errorf("waits: got %v, want three that grow", *waits)
	}
	n = -100
	if _, err := c.Login(t.Context()); err == nil || c.Calls() != 8 {
		t.Errorf("a server that stays down: got %v after %d calls, want an error after 8", err, c.Calls())
	}
}

func TestWritesAreSentOnce(t *testing.T) {
	n := 0
	c, waits := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		http.Error(w, `{"message":"down"}`, http.StatusBadGateway)
	})
	if _, err := c.AddComment(t.Context(), 1, "x"); err == nil || n != 1 || len(*waits) != 0 {
		t.Errorf("got %v after %d calls, want an error after 1", err, n)
	}
}

func TestCutAnswersAreReadAgain(t *testing.T) {
	n := 0
	c, waits := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answer := `{"login":"bot"}`
		w.Header().Set("Content-Length", fmt.Sprint(len(answer)))
		if n++; n == 1 {
			answer = answer[:5]
		}
		fmt.Fprint(w, answer)
	})
	if login, err := c.Login(t.Context()); login != "bot" || err != nil || n != 2 || len(*waits) != 1 {
		t.Errorf("got %q %v after %d calls, want bot after 2", login, err, n)
	}
}

func TestRateLimitIsWaitedFor(t *testing.T) {
	for _, status := range []int{http.StatusTooManyRequests, http.StatusForbidden} {
		n, got := 0, ""
		c, waits := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if n++; n == 1 {
				w.Header().Set("Retry-After", "7")
				http.Error(w, `{"message":"secondary rate limit"}`, status)
				return
			}
			body, _ := io.ReadAll(r.Body)
			got = string(body)
			fmt.Fprint(w, `{"id":1}`)
		})
		_, err := c.AddComment(t.Context(), 1, "x")
		if err != nil || n != 2 || len(*waits) != 1 || (*waits)[0] != 7*time.Second || !strings.Contains(got, `"x"`) {
			t.Errorf("%d: got %v after %d calls and waits %v with body %s, want the comment after 7 s", status, err, n, *waits, got)
		}
	}
	n := 0
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		n++
		w.Header().Set("Retry-After", "3600")
		http.Error(w, `{"message":"rate limit"}`, http.StatusTooManyRequests)
	})
	if _, err := c.AddComment(t.Context(), 1, "x"); err == nil || n != 1 {
		t.Errorf("an hour's limit: got %v after %d calls, want an error at once", err, n)
	}
}

func TestRefusalsAreNotRepeated(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"message":"Not Found"}`, http.StatusNotFound)
	})
	_, err := c.Pull(t.Context(), 7)
	if !errors.Is(err, fs.ErrNotExist) || c.Calls() != 1 || err.Error() != "forge: pull 7: 404 Not Found" {
		t.Errorf("got %v after %d calls", err, c.Calls())
	}
}

func TestRedirectsAreNotFollowed(t *testing.T) {
	stolen := false
	thief := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { stolen = true }))
	defer thief.Close()
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, thief.URL+r.URL.Path, http.StatusTemporaryRedirect)
	})
	_, err := c.Login(t.Context())
	if err == nil || !strings.Contains(err.Error(), "redirect not followed") {
		t.Errorf("read: got %v", err)
	}
	if err := c.AddLabel(t.Context(), 1, "x"); err == nil {
		t.Error("write: no error")
	}
	if stolen {
		t.Error("a redirect was followed")
	}
}

func TestErrorsHoldNoSecret(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Error(w, `{"message":"you sent `+r.Header.Get("Authorization")+`"}`, http.StatusForbidden)
	})
	err := c.AddLabel(t.Context(), 1, secret)
	if err == nil || strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), secret) || !strings.Contains(err.Error(), "[redacted]") {
		t.Errorf("got %v", err)
	}
}

func TestAnswersAreBounded(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, `{"login":"`)
		for range 40 {
			if _, err := w.Write([]byte(strings.Repeat("x", 1<<20))); err != nil {
				return
			}
		}
	})
	if _, err := c.Login(t.Context()); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("got %v, want too large", err)
	}
}

func TestDownload(t *testing.T) {
	good := archiveOf(t, entry{name: "rows.jsonl", text: "{}"})
	storage := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		t.Error("a plain http redirect to another host was followed")
	}))
	defer storage.Close()
	secure := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			t.Error("the credential went to another host")
		}
		w.Write(good)
	}))
	defer secure.Close()
	to := map[string]string{"1": "", "2": "/files/2", "3": storage.URL + "/x", "4": secure.URL + "/x?sig=signed-secret", "5": "http://user@127.0.0.1/", "6": "/nowhere"}
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer "+secret {
			t.Errorf("%s: no credential", r.URL.Path)
		}
		parts := strings.Split(r.URL.Path, "/")
		id := parts[len(parts)-2]
		switch {
		case strings.HasPrefix(r.URL.Path, "/files/"), to[id] == "" && id == "1":
			w.Write(good)
		case r.URL.Path == "/nowhere":
			http.Error(w, "gone", http.StatusGone)
		default:
			http.Redirect(w, r, to[id], http.StatusFound)
		}
	})
	// The test server's certificate is known to its own client only.
	c.wire.next = secure.Client().Transport
	for id, want := range map[int64]string{1: "", 2: "", 3: "not followed", 4: "", 5: "unusable address", 6: "410"} {
		files, err := c.Download(t.Context(), Artifact{ID: id, Name: "a"})
		switch {
		case want == "" && (err != nil || string(files["rows.jsonl"]) != "{}"):
			t.Errorf("artifact %d: got %v %v", id, files, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("artifact %d: got %v, want %q", id, err, want)
		}
	}
	if _, err := c.Download(t.Context(), Artifact{ID: 1, Name: "a", Expired: true}); err == nil {
		t.Error("expired: no error")
	}
	secure.Close()
	if _, err := c.Download(t.Context(), Artifact{ID: 4, Name: "a"}); err == nil || strings.Contains(err.Error(), "signed-secret") {
		t.Errorf("dead storage: got %v, want an error without the signature", err)
	}
}

func TestCancelRun(t *testing.T) {
	status, run := http.StatusAccepted, "queued"
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(status)
			fmt.Fprint(w, `{}`)
			return
		}
		fmt.Fprintf(w, `{"id":1,"status":%q}`, run)
	})
	check := func(name string, ok bool) {
		t.Helper()
		if err := c.CancelRun(t.Context(), 1); (err == nil) != ok {
			t.Errorf("%s: got %v", name, err)
		}
	}
	check("accepted", true)
	status = http.StatusConflict
	check("conflict-while-queued", false)
	run = "completed"
	check("completed", true)
}

func TestPagesEnd(t *testing.T) {
	c, _ := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", `<http://x/?page=1>; rel="next"`) // a server that goes in circles
		fmt.Fprint(w, `[{"name":"a"}]`)
	})
	if names, err := c.Labels(t.Context()); len(names) != 1 || err != nil || c.Calls() != 1 {
		t.Errorf("got %v %v after %d calls", names, err, c.Calls())
	}
}
