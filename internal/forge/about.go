package forge

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/google/go-github/v89/github"
)

// About is what the page of the repository says, and the answer around it.
type About struct {
	Branch  string   // the default branch
	Private bool     // only who has a right sees it
	Scoped  bool     // the credential is a classic token, whose rights can be read
	Scopes  []string // those rights
}

// About reads the repository's own page. The rights of a classic token come with
// every answer; those of other kinds of credentials cannot be read.
// Source: https://docs.github.com/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps
func (c *Client) About(ctx context.Context) (About, error) {
	repo, resp, err := c.gh.Repositories.Get(ctx, c.Repository.Owner, c.Repository.Name)
	if err = c.fail(err, "repository %s", c.Repository); err != nil {
		var hidden *Error
		if errors.As(err, &hidden) && hidden.Status == http.StatusNotFound {
			hidden.Message += ": it does not exist, or the credential may not see it"
		}
		return About{}, err
	}
	a := About{Branch: repo.GetDefaultBranch(), Private: repo.GetPrivate()}
	a.Scopes, a.Scoped = scopes(resp)
	return a, nil
}

func scopes(resp *github.Response) (all []string, told bool) {
	lines := resp.Header.Values("X-OAuth-Scopes")
	all = strings.FieldsFunc(strings.Join(lines, ","), func(r rune) bool { return r == ',' || r == ' ' })
	if len(all) == 0 {
		all = nil
	}
	return all, len(lines) > 0
}

// DefaultBranch returns the name of the branch that pull requests aim at.
func (c *Client) DefaultBranch(ctx context.Context) (string, error) {
	a, err := c.About(ctx)
	return a.Branch, err
}
