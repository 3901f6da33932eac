package forge

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v89/github"
)

// AppSuffix ends the login of an app, which is no user's.
const AppSuffix = "[bot]"

// Login returns the login behind the credential: a user's, or an app's, which
// ends in "[bot]".
func (c *Client) Login(ctx context.Context) (string, error) {
	user, _, err := c.gh.Users.Get(ctx, "")
	login := user.GetLogin()
	if failed := c.fail(err, "login"); Denied(failed) {
		// "Resource not accessible by integration": an app's token is no user's,
		// and only GraphQL says whose it is.
		if login, err = c.viewer(ctx); err != nil {
			return "", failed
		}
	}
	if err == nil && login == "" {
		err = errors.New("answer without a login")
	}
	return login, c.fail(err, "login")
}

// ActionsLogin is whose token a workflow run of GitHub gets as GITHUB_TOKEN.
// What is done with it starts no other workflow run.
// Source: https://docs.github.com/actions/security-guides/automatic-token-authentication
const ActionsLogin = "github-actions[bot]"

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

func labelNames(labels []*github.Label) []string {
	var names []string
	for _, l := range labels {
		names = append(names, l.GetName())
	}
	return names
}
