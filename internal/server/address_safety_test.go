package server

import (
	"net"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/workspace"
)

const goodAddress = `{"forge": "http://127.0.0.1:1", "registry": "localhost:2", "dashboard": "http://[::1]:3", "holder": "process:a:b:1:2"}`

// What serve.json may say decides where this user's token is sent.
func TestParseAddress(t *testing.T) {
	if _, err := parseAddress([]byte(goodAddress)); err != nil {
		t.Errorf("parseAddress: got %v", err)
	}
	for name, change := range map[string][2]string{
		"foreign forge": {"http://127.0.0.1:1", "http://evil.example"}, "other scheme": {"http://127.0.0.1:1", "ftp://127.0.0.1:1"},
		"password": {"http://127.0.0.1:1", "http://127.0.0.1:1@evil.example"}, "all addresses": {"localhost:2", "0.0.0.0:2"},
		"no dashboard": {"http://[::1]:3", ""}, "no holder": {"process:a:b:1:2", ""}, "no JSON": {"{", "["},
	} {
		if a, err := parseAddress([]byte(strings.Replace(goodAddress, change[0], change[1], 1))); err == nil {
			t.Errorf("%s: got %+v, want an error", name, a)
		}
	}
}

func FuzzParseAddress(f *testing.F) {
	for _, s := range []string{goodAddress, `{}`, `{"forge": 1}`, strings.Replace(goodAddress, "127.0.0.1", "127.0.0.1.evil.example", 1), "null"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := parseAddress(data)
		if err != nil {
			return
		}
		for _, at := range []string{a.Forge, "http://" + a.Registry, a.Dashboard} {
			host := hostOf(at)
			if h, _, err := net.SplitHostPort(host); err == nil {
				host = h
			}
			ip := net.ParseIP(strings.Trim(host, "[]"))
			if !strings.EqualFold(host, "localhost") && (ip == nil || !ip.IsLoopback()) {
				t.Errorf("parseAddress(%q): %q is not loopback", data, at)
			}
		}
		if _, err := workspace.ParseHolder(a.Holder); err != nil {
			t.Errorf("parseAddress(%q): %v", data, err)
		}
	})
}
