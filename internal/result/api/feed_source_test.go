package api

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestSourceReadsAFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "doc.json")
	if err := os.WriteFile(name, []byte(`{"a":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if src, err := (Source{Name: name}).Read(context.Background()); err != nil || string(src) != `{"a":1}` {
		t.Errorf("%q, %v", src, err)
	}
	if err := os.Truncate(name, maxBody+1); err != nil {
		t.Fatal(err)
	}
	if _, err := (Source{Name: name}).Read(context.Background()); err == nil || !strings.Contains(err.Error(), "larger than 16777216 bytes") {
		t.Errorf("17 MiB: %v", err)
	}
}

func TestSourceBounds(t *testing.T) {
	const kind = "application/json"
	tests := []struct {
		name   string
		answer http.HandlerFunc
		want   string // of the error, empty for none
	}{
		{"good", say(200, kind, `{"a":1}`), ""},
		{"not-json", say(200, "text/plain", `{"a":1}`), `content type "text/plain" is not JSON`},
		{"redirect", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/elsewhere", http.StatusFound) }, "status 302 Found"},
		{"busy", say(503, kind, `{}`), "status 503"},
		{"nan", say(200, kind, `{"a":NaN}`), "decode"},
		{"too-large", say(200, kind, `["`+strings.Repeat("x", maxBody)+`"]`), "larger than 16777216 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var keys []string
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				keys = append(keys, r.Header.Get("Authorization"))
				tt.answer(w, r)
			}))
			defer srv.Close()
			src, err := Source{Name: srv.URL + "/api/status/clusters?view=all", Key: "k1", HTTP: srv.Client()}.Read(context.Background())
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if err == nil && string(src) != `{"a":1}` {
				t.Errorf("got %q", src)
			}
			if err != nil && strings.Contains(err.Error(), "view=all") {
				t.Errorf("error %v shows the query", err)
			}
			if len(keys) != 1 || keys[0] != "Bearer k1" {
				t.Errorf("asked with %q, want once with the key", keys)
			}
		})
	}
}

// Without a key no header is sent; a server that is gone is named without the query.
func TestSourceWithoutKey(t *testing.T) {
	sent := "none"
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent = r.Header.Get("Authorization")
		say(200, "application/json", `[]`)(w, r)
	}))
	s := Source{Name: srv.URL + "/x?secret=1"}
	if _, err := s.Read(context.Background()); err != nil || sent != "" {
		t.Errorf("sent %q, %v", sent, err)
	}
	srv.Close()
	if _, err := s.Read(context.Background()); err == nil || !strings.HasPrefix(err.Error(), srv.URL+"/x: ") || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
}

func TestKeyNeverGoesInTheClear(t *testing.T) {
	check := func(name, want string) {
		t.Helper()
		_, err := Source{Name: name, Key: "canary", HTTP: &http.Client{Transport: unreachable{t}}}.Read(context.Background())
		if err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	check("http://dashboard.example/api/status/clusters", "http://dashboard.example/api/status/clusters: a key goes over https only")
	check("http://127.0.0.1.example/x", "http://127.0.0.1.example/x: a key goes over https only")
	check("https://user:word@dashboard.example/x", "address: want http(s)://host/path without user and password")
	check("https:///x", "address: want http(s)://host/path without user and password")
}

// unreachable fails the test that uses it.
type unreachable struct{ t *testing.T }

func (u unreachable) RoundTrip(r *http.Request) (*http.Response, error) {
	u.t.Errorf("%s was asked", r.URL)
	return nil, http.ErrUseLastResponse
}
