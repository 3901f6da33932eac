package local

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"strings"
)

// How much a comparison tells at most, as GitHub's does: commits where nobody
// asks for pages, and files, which are on the first page only.
const (
	comparedCommits = 250
	comparedFiles   = 300
)

type wireCompare struct {
	URL       string       `json:"url"`
	HTML      string       `json:"html_url"`
	Permalink string       `json:"permalink_url"`
	Diff      string       `json:"diff_url"`
	Patch     string       `json:"patch_url"`
	Base      wireListed   `json:"base_commit"`
	MergeBase wireListed   `json:"merge_base_commit"`
	Status    string       `json:"status"` // ahead | behind | diverged | identical
	Ahead     int          `json:"ahead_by"`
	Behind    int          `json:"behind_by"`
	Total     int          `json:"total_commits"`
	Commits   []wireListed `json:"commits"` // what only head has, oldest first
	Files     []wireFile   `json:"files,omitempty"`
}

// compare answers "base...head": where the two parted, and what head has since.
// Two commits without a common ancestor are a 404.
func (s *Server) compare(c call) (answer, error) {
	ctx := c.Context()
	from, to, both := strings.Cut(c.PathValue("basehead"), "...")
	if !both {
		return answer{}, errNotFound
	}
	base, err := s.comparedSide(ctx, from)
	if err != nil {
		return answer{}, err
	}
	head, err := s.comparedSide(ctx, to)
	if err != nil {
		return answer{}, err
	}
	parted, err := s.Git.MergeBase(ctx, base.sha, head.sha)
	if errors.Is(err, fs.ErrNotExist) {
		return answer{}, refuse(http.StatusNotFound, "No common ancestor between %s and %s.", from, to)
	}
	if err != nil {
		return answer{}, err
	}
	w := wireCompare{
		URL: c.links.api("/compare/%s...%s", escaped(from), escaped(to)), HTML: c.links.html("/compare/%s...%s", escaped(from), escaped(to)),
		Permalink: c.links.html("/compare/%s:%.12s...%s:%.12s", s.repo.Owner, base.sha, s.repo.Owner, head.sha), Base: c.links.listed(base),
	}
	w.Diff, w.Patch = w.HTML+".diff", w.HTML+".patch"
	at, err := s.readCommit(ctx, parted)
	if err != nil {
		return answer{}, err
	}
	w.MergeBase = c.links.listed(at)
	if err := s.compareExtent(ctx, &w, base.sha, head.sha); err != nil {
		return answer{}, err
	}
	link, err := s.compareContent(c, &w, head.sha)
	return answer{status: http.StatusOK, body: w, link: link}, err
}

// comparedSide is a branch, tag or hash of this repository; its owner may be
// written before it.
func (s *Server) comparedSide(ctx context.Context, name string) (commit, error) {
	sha, err := s.commitAt(ctx, strings.TrimPrefix(name, s.repo.Owner+":"))
	if err != nil {
		return commit{}, err
	}
	return s.readCommit(ctx, sha)
}

// compareExtent counts the commits that only one of the two has.
func (s *Server) compareExtent(ctx context.Context, w *wireCompare, base, head string) error {
	out, err := s.Git.Git(ctx, "rev-list", "--count", "--left-right", base+"..."+head)
	if err != nil {
		return err
	}
	if _, err := fmt.Sscan(string(out), &w.Behind, &w.Ahead); err != nil {
		return fmt.Errorf("git rev-list: cannot read %q: %w", out, err)
	}
	w.Total = w.Ahead
	switch {
	case w.Ahead > 0 && w.Behind > 0:
		w.Status = "diverged"
	case w.Ahead > 0:
		w.Status = "ahead"
	case w.Behind > 0:
		w.Status = "behind"
	default:
		w.Status = "identical"
	}
	return nil
}

// compareContent adds the commits of the page that is asked for and, on the
// first one, the files that head changed since the two parted.
func (s *Server) compareContent(c call, w *wireCompare, head string) (link string, err error) {
	ctx, query := c.Context(), c.URL.Query()
	out, err := s.Git.Git(ctx, "rev-list", "--reverse", "--topo-order", head, "^"+w.Base.SHA)
	if err != nil {
		return "", err
	}
	shas := strings.Fields(string(out))
	if query.Has("page") || query.Has("per_page") {
		shas, link = page(c, shas)
	}
	w.Commits = []wireListed{}
	for _, sha := range shas[:min(len(shas), comparedCommits)] {
		at, err := s.readCommit(ctx, sha)
		if err != nil {
			return "", err
		}
		w.Commits = append(w.Commits, c.links.listed(at))
	}
	if within(query.Get("page"), 1, 1<<30) > 1 {
		return link, nil
	}
	files, err := s.diff(ctx, w.MergeBase.SHA, head)
	for _, f := range files[:min(len(files), comparedFiles)] {
		w.Files = append(w.Files, c.links.file(f, head))
	}
	return link, err
}
