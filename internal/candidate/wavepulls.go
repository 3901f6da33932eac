package candidate

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/refit-bench/refit/internal/forge"
)

// openPulls lists the open pull requests with all their changed files, newest
// first. A list of files that may lack some is marked and no error: it is one
// pull request's.
func (s *Shepherd) openPulls(ctx context.Context) ([]OpenPull, error) {
	open, err := s.Forge.OpenPulls(ctx)
	if err != nil {
		return nil, fmt.Errorf("open pull requests: %w", err)
	}
	all := make([]OpenPull, len(open))
	incomplete := 0
	var g errgroup.Group
	g.SetLimit(asking)
	for i, p := range open {
		g.Go(func() error {
			files, err := s.Forge.ChangedFiles(ctx, p.Number)
			all[i] = openPull(p, s.Forge.Repository.String(), files)
			all[i].Incomplete = err != nil
			return ctx.Err()
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.Incomplete {
			incomplete++
		}
	}
	s.tell("pulls", "done", fmt.Sprintf("open: %d, with an incomplete list of files: %d", len(all), incomplete))
	return all, nil
}

// openPull names the head of another repository with that repository: a branch
// there is not the branch of that name here.
func openPull(p forge.Pull, here string, files []string) OpenPull {
	head := p.HeadRef
	if !strings.EqualFold(p.HeadRepo, here) {
		head = p.HeadRepo + ":" + p.HeadRef
	}
	files = append([]string{}, files...)
	slices.Sort(files)
	return OpenPull{
		Number: p.Number, Title: p.Title, Head: head, Author: p.Author, Draft: p.Draft,
		Labels: append([]string{}, p.Labels...), Files: slices.Compact(files),
	}
}
