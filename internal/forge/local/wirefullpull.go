package local

import (
	"context"
	"fmt"
	"strconv"
	"strings"
)

// A wireFullPull is a pull request as its own page and as events have it.
type wireFullPull struct {
	wirePull
	Merged      bool      `json:"merged"`
	Mergeable   *bool     `json:"mergeable"`
	Rebaseable  *bool     `json:"rebaseable"`
	MergeState  string    `json:"mergeable_state"` // unknown | draft | clean | dirty
	MergedBy    *wireUser `json:"merged_by"`
	Editable    bool      `json:"maintainer_can_modify"`
	CommentN    int       `json:"comments"`
	RemarkN     int       `json:"review_comments"`
	CommitN     int       `json:"commits"`
	Added       int       `json:"additions"`
	Deleted     int       `json:"deletions"`
	ChangedFile int       `json:"changed_files"`
}

// fullPull asks git how much a pull request changes. Whether it merges is not
// asked: see mergeState.
func (s *Server) fullPull(ctx context.Context, l links, p pull) (wireFullPull, error) {
	w := wireFullPull{wirePull: s.wirePull(l, p), Merged: p.merged != 0, MergedBy: l.user(p.mergedBy), MergeState: "unknown"}
	err := s.db.QueryRowContext(ctx, `SELECT count(*) FROM comment WHERE pull = ?`, p.number).Scan(&w.CommentN)
	if err != nil {
		return w, err
	}
	e, err := s.extentOf(ctx, p)
	w.CommitN, w.ChangedFile, w.Added, w.Deleted = e.commits, e.files, e.added, e.deleted
	return w, err
}

// mergeState says whether an open pull request can be merged.
func (w *wireFullPull) mergeState(clean bool) {
	w.Mergeable, w.MergeState = &clean, "clean"
	switch {
	case !clean:
		w.MergeState = "dirty"
	case w.Draft:
		w.MergeState = "draft"
	}
}

// An extent is how much a pull request changes.
type extent struct{ commits, files, added, deleted int }

// keptExtents bounds how many are remembered: they are asked for again and again.
const keptExtents = 1024

// extentOf depends on two commits only, so that it is remembered under their names.
func (s *Server) extentOf(ctx context.Context, p pull) (extent, error) {
	key := p.baseSHA + p.headSHA
	s.cache.mu.Lock()
	e, known := s.cache.extents[key]
	s.cache.mu.Unlock()
	if known || s.kind(ctx, p.baseSHA) != "commit" || s.kind(ctx, p.headSHA) != "commit" { // an old one's commits may be gone
		return e, nil
	}
	files, err := s.pullDiff(ctx, p)
	if err != nil {
		return e, err
	}
	e.files = len(files)
	for _, f := range files {
		e.added, e.deleted = e.added+f.Added, e.deleted+f.Deleted
	}
	out, err := s.Git.Git(ctx, "rev-list", "--count", p.headSHA, "^"+p.baseSHA)
	if err != nil {
		return e, err
	}
	if e.commits, err = strconv.Atoi(strings.TrimSpace(string(out))); err != nil {
		return e, fmt.Errorf("commits of pull %d: %w", p.number, err)
	}
	s.cache.mu.Lock()
	defer s.cache.mu.Unlock()
	if s.cache.extents == nil || len(s.cache.extents) >= keptExtents {
		s.cache.extents = map[string]extent{}
	}
	s.cache.extents[key] = e
	return e, nil
}
