package forge

import (
	"context"
	"errors"

	"github.com/google/go-github/v89/github"
)

// MergeBase returns the hash of the commit at which head left base, their best
// common ancestor; each is a branch, a tag or a hash. It fails with
// fs.ErrNotExist when one of them does not exist, or when nothing is common.
func (c *Client) MergeBase(ctx context.Context, base, head string) (string, error) {
	one := github.ListOptions{PerPage: 1} // of the commits between them, which nobody reads here
	found, _, err := c.gh.Repositories.CompareCommits(ctx, c.Repository.Owner, c.Repository.Name, base, head, &one)
	sha := found.GetMergeBaseCommit().GetSHA()
	if err == nil && sha == "" {
		err = errors.New("answer without a merge base")
	}
	return sha, c.fail(err, "merge base of %s and %s", base, head)
}
