package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// Source is where one document of a feed lies: a file, or an address with
// http:// or https:// before it. Key, when set, is sent to an address as a bearer
// token, and never in the clear to another machine.
type Source struct {
	Name string
	Key  string
	HTTP *http.Client // nil is http.DefaultClient
}

// Remote says whether the document comes from an address.
func (s Source) Remote() bool {
	return strings.HasPrefix(s.Name, "http://") || strings.HasPrefix(s.Name, "https://")
}

// Read returns the text of the document, at most 16 MiB. An address is asked
// once, within the bounds of a Client: 15 s, no redirects, JSON only. The error
// names the source without user, query or key.
func (s Source) Read(ctx context.Context) ([]byte, error) {
	if !s.Remote() {
		return workspace.ReadFile(s.Name, maxBody)
	}
	u, err := url.Parse(s.Name)
	if err != nil || u.Host == "" || u.User != nil {
		return nil, errors.New("address: want http(s)://host/path without user and password")
	}
	shown := u.Scheme + "://" + u.Host + u.Path
	if s.Key != "" && u.Scheme != "https" && !loopback(u.Hostname()) {
		return nil, fmt.Errorf("%s: a key goes over https only", shown)
	}
	c := &Client{HTTP: s.HTTP}
	if s.Key != "" {
		c.HTTP = s.withKey()
	}
	var src json.RawMessage
	if _, err := c.once(ctx, s.Name, &src); err != nil {
		if wrong := (*url.Error)(nil); errors.As(err, &wrong) {
			err = wrong.Err // the rest of it repeats the address, query and all
		}
		return nil, fmt.Errorf("%s: %w", shown, err)
	}
	return src, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// withKey is the client of the source with its key in every request. There is
// one request, because redirects are not followed.
func (s Source) withKey() *http.Client {
	client := http.Client{}
	if s.HTTP != nil {
		client = *s.HTTP
	}
	client.Transport = bearer{s.Key, client.Transport}
	return &client
}

type bearer struct {
	key  string
	next http.RoundTripper // nil is http.DefaultTransport
}

func (b bearer) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.Header.Set("Authorization", "Bearer "+b.key)
	if b.next == nil {
		return http.DefaultTransport.RoundTrip(r)
	}
	return b.next.RoundTrip(r)
}
