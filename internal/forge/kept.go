package forge

import (
	"context"
	"sync"

	"github.com/google/go-github/v89/github"
)

// maxKept bounds how many commits, and how many folders, a client remembers.
const maxKept = 256

// kept is what a client remembers: objects of git, which never change under
// their names. Nothing else is remembered.
type kept struct {
	mu      sync.Mutex
	commits map[string]*github.Commit
	folders map[string]*github.Tree
}

// commitAt is a commit; its message and its tree are what callers need.
func (c *Client) commitAt(ctx context.Context, sha string) (*github.Commit, error) {
	return remember(&c.kept.mu, &c.kept.commits, sha, func() (*github.Commit, error) {
		commit, _, err := c.gh.Git.GetCommit(ctx, c.Repository.Owner, c.Repository.Name, sha)
		return commit, err
	})
}

// folder is a tree object without what its folders hold.
func (c *Client) folder(ctx context.Context, sha string) (*github.Tree, error) {
	return remember(&c.kept.mu, &c.kept.folders, sha, func() (*github.Tree, error) {
		tree, _, err := c.gh.Git.GetTree(ctx, c.Repository.Owner, c.Repository.Name, sha, false)
		return tree, err
	})
}

// remember looks an object up, and asks for it when it is not known. Full, it
// starts anew. Only whole hashes are kept: a branch's name is none.
func remember[T any](mu *sync.Mutex, all *map[string]*T, sha string, ask func() (*T, error)) (*T, error) {
	mu.Lock()
	v := (*all)[sha]
	mu.Unlock()
	if v != nil {
		return v, nil
	}
	v, err := ask()
	if err != nil || len(sha) != 40 {
		return v, err
	}
	mu.Lock()
	defer mu.Unlock()
	if *all == nil || len(*all) >= maxKept {
		*all = map[string]*T{}
	}
	(*all)[sha] = v
	return v, nil
}
