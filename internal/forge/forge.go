// Package forge talks to GitHub, or to a server that speaks like it: pull
// requests, comments, labels, git data, workflow runs and their artifacts. It
// knows nothing about upgrades; every method is one look or one write, and
// nothing is remembered but objects of git, which never change.
package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	"github.com/google/go-github/v89/github"
)

// A Repository is "owner/name".
type Repository struct{ Owner, Name string }

// String returns "owner/name".
func (r Repository) String() string { return r.Owner + "/" + r.Name }

// Is reports whether "owner/name" is this repository: GitHub tells no upper
// case from lower, and answers with the spelling it was made with.
func (r Repository) Is(name string) bool { return strings.EqualFold(r.String(), name) }

var repositoryForm = regexp.MustCompile(`^[A-Za-z0-9_.-]{1,100}/[A-Za-z0-9_.-]{1,100}$`)

// ParseRepository reads "owner/name".
func ParseRepository(s string) (Repository, error) {
	owner, name, _ := strings.Cut(s, "/")
	if !repositoryForm.MatchString(s) || strings.Trim(owner, ".") == "" || strings.Trim(name, ".") == "" {
		return Repository{}, fmt.Errorf("repository %q: want owner/name", s)
	}
	return Repository{Owner: owner, Name: name}, nil
}

// A Client works on one repository with one credential. It is safe for
// concurrent use; its fields may be set before the first call only.
type Client struct {
	// Wait holds back the next try of a read that failed; nil sleeps.
	Wait func(ctx context.Context, d time.Duration) error

	// Patience is how long one call may take with its retries; 0 is 90 s.
	Patience time.Duration

	Repository Repository

	kept  kept
	gh    *github.Client
	wire  *transport
	token string
}

// New returns a client of the repository "owner/name". The base URL is the REST
// root of a GitHub-compatible server ("http://127.0.0.1:8080", with or without
// "/api/v3/"); "" is github.com. An empty token reads what is public. Plain
// http is accepted for loopback hosts only.
func New(baseURL, token, repository string) (*Client, error) {
	repo, err := ParseRepository(repository)
	if err != nil {
		return nil, fmt.Errorf("forge: %w", err)
	}
	c := &Client{Repository: repo, token: token}
	c.wire = &transport{client: c, next: newBase(), limit: maxAnswer, token: token}
	options := []github.ClientOptionsFunc{github.WithHTTPClient(&http.Client{
		Transport: c.wire, CheckRedirect: noRedirect,
	})}
	if baseURL != "" {
		if err := checkBase(baseURL); err != nil {
			return nil, fmt.Errorf("forge: %w", err)
		}
		options = append(options, github.WithEnterpriseURLs(baseURL, baseURL))
	}
	if c.gh, err = github.NewClient(options...); err != nil {
		return nil, fmt.Errorf("forge %s: %w", baseURL, err)
	}
	root, err := url.Parse(c.gh.BaseURL())
	if err != nil {
		return nil, fmt.Errorf("forge %s: %w", baseURL, err)
	}
	c.wire.origin = origin(root)
	return c, nil
}

// String names the repository; a printed client does not show its credential.
func (c *Client) String() string { return "forge client of " + c.Repository.String() }

// GoString is String.
func (c *Client) GoString() string { return c.String() }

// Calls returns how many requests of the API have been sent so far, retries
// included. Bytes that come from a storage host are none.
func (c *Client) Calls() int64 { return c.wire.calls.Load() }

// checkBase accepts https, and http to this machine.
func checkBase(base string) error {
	u, err := url.Parse(base)
	switch {
	case err != nil || u.Host == "":
		return fmt.Errorf("base url %q: want https://host/", base)
	case u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("base url of %s: no user, query or fragment allowed", u.Host)
	case u.Scheme == "https", u.Scheme == "http" && Loopback(u.Host):
		return nil
	}
	return fmt.Errorf("base url %q: want https (http only to this machine)", base)
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }
