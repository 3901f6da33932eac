package forge

import (
	"context"

	"github.com/google/go-github/v89/github"
)

// RecentPulls returns the newest pull requests, open or not, newest first. One
// page is asked for: at most a hundred come.
func (c *Client) RecentPulls(ctx context.Context) ([]Pull, error) {
	list, _, err := c.gh.PullRequests.List(ctx, c.Repository.Owner, c.Repository.Name,
		&github.PullRequestListOptions{State: "all", ListOptions: github.ListOptions{PerPage: pageSize}})
	var pulls []Pull
	for _, p := range list {
		pulls = append(pulls, pullOf(p))
	}
	return pulls, c.fail(err, "recent pulls")
}
