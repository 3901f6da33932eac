package recipe

import (
	"context"
	"fmt"
	"io"

	"github.com/refit-bench/refit/internal/workspace"
)

// LoadCommit is Load over the files of a commit, read out of git: the working
// tree does not count, and nothing of the commit is run. rev may be any name of
// it; errors name it.
func LoadCommit(ctx context.Context, repo workspace.Repo, rev string, masters []string, runners string) (*Catalogue, error) {
	tree, err := repo.FS(ctx, rev)
	if err != nil {
		return nil, fmt.Errorf("recipes of %s: %w", rev, err)
	}
	if c, ok := tree.(io.Closer); ok {
		defer c.Close()
	}
	c, err := Load(tree, masters, runners)
	if err != nil {
		return nil, fmt.Errorf("recipes of %s: %w", rev, err)
	}
	return c, nil
}
