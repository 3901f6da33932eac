package forge

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// Rules returns the names of the rules that rulesets put on a branch, such as
// "creation" and "update"; the branch need not exist. Whether the credential may
// pass them by is not told, and older branch protection is not among them.
// Source: https://docs.github.com/rest/repos/rules
func (c *Client) Rules(ctx context.Context, branch string) ([]string, error) {
	where := fmt.Sprintf("repos/%s/rules/branches/%s?per_page=%d", c.Repository, url.PathEscape(branch), pageSize)
	req, err := c.gh.NewRequest(ctx, http.MethodGet, where, nil)
	var rules []struct {
		Type string `json:"type"`
	}
	if err == nil {
		_, err = c.gh.Do(req, &rules)
	}
	var names []string
	for _, r := range rules {
		names = append(names, r.Type)
	}
	return names, c.fail(err, "rules of %s", branch)
}
