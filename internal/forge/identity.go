package forge

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v89/github"
)

// Login returns the login behind the credential.
func (c *Client) Login(ctx context.Context) (string, error) {
	user, _, err := c.gh.Users.Get(ctx, "")
	if err == nil && user.GetLogin() == "" {
		err = errors.New("answer without a login")
	}
	if err != nil {
		return "", c.fail(err, "login")
	}
	return user.GetLogin(), nil
}

// Permission returns what a login may do here: "admin", "write", "read" or "none".
func (c *Client) Permission(ctx context.Context, login string) (string, error) {
	level, _, err := c.gh.Repositories.GetPermissionLevel(ctx, c.Repository.Owner, c.Repository.Name, url.PathEscape(login))
	if err != nil {
		return "", c.fail(err, "permission of %q", login)
	}
	return level.GetPermission(), nil
}

// ServerTime returns the server's clock, in whole seconds.
func (c *Client) ServerTime(ctx context.Context) (time.Time, error) {
	_, resp, err := c.gh.RateLimit.Get(ctx)
	if resp == nil || resp.Response == nil {
		return time.Time{}, c.fail(err, "server time")
	}
	at, bad := http.ParseTime(resp.Header.Get("Date"))
	if bad != nil {
		return time.Time{}, c.fail(errors.New("answer without a date"), "server time")
	}
	return at.UTC(), nil
}

// Labels returns the names of the repository's labels.
func (c *Client) Labels(ctx context.Context) ([]string, error) {
	labels, err := pages(func(o github.ListOptions) ([]*github.Label, *github.Response, error) {
		return c.gh.Issues.ListLabels(ctx, c.Repository.Owner, c.Repository.Name, &o)
	})
	return labelNames(labels), c.fail(err, "labels")
}

// CreateLabel adds a label to the repository; one that is there already is fine.
func (c *Client) CreateLabel(ctx context.Context, name, color, description string) error {
	_, _, err := c.gh.Issues.CreateLabel(ctx, c.Repository.Owner, c.Repository.Name,
		&github.Label{Name: &name, Color: &color, Description: &description})
	var refused *github.ErrorResponse
	if errors.As(err, &refused) {
		for _, e := range refused.Errors {
			if e.Code == "already_exists" {
				return nil
			}
		}
	}
	return c.fail(err, "create label %q", name)
}

// DefaultBranch returns the name of the branch that pull requests aim at.
func (c *Client) DefaultBranch(ctx context.Context) (string, error) {
	repo, _, err := c.gh.Repositories.Get(ctx, c.Repository.Owner, c.Repository.Name)
	if err != nil {
		return "", c.fail(err, "repository %s", c.Repository)
	}
	return repo.GetDefaultBranch(), nil
}

func labelNames(labels []*github.Label) []string {
	var names []string
	for _, l := range labels {
		names = append(names, l.GetName())
	}
	return names
}
