package forge

import "context"

// Mergeable says whether an open pull request merges into its base without
// conflict. known is false while the server is still finding out, and for a
// pull request that is closed.
func (c *Client) Mergeable(ctx context.Context, n int) (clean, known bool, err error) {
	p, _, err := c.gh.PullRequests.Get(ctx, c.Repository.Owner, c.Repository.Name, n)
	if err != nil {
		return false, false, c.fail(err, "pull %d", n)
	}
	return p.GetMergeable(), p.Mergeable != nil, nil
}
