package local

import (
	"context"
	"fmt"
	"net/http"
	"strings"
)

// links makes the addresses in answers, and has what every description of the
// repository says about its present state.
type links struct {
	base   string // scheme and host
	repo   string // owner/name
	open   int    // open pull requests and issues
	pushed int64  // seconds; when a branch moved last
}

// linksFor takes the request's host where none is configured; req may be nil.
func (s *Server) linksFor(ctx context.Context, req *http.Request) (links, error) {
	l := links{base: strings.TrimSuffix(s.BaseURL, "/"), repo: s.Repository}
	switch {
	case l.base == "" && req != nil:
		l.base = "http://" + req.Host
	case l.base == "":
		l.base = "http://localhost"
	}
	err := s.db.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM pull WHERE state = 'open') + (SELECT count(*) FROM issue),
		coalesce((SELECT at FROM event WHERE kind = 'push' ORDER BY seq DESC LIMIT 1), ?)`, s.since).Scan(&l.open, &l.pushed)
	return l, err
}

func (l links) api(format string, args ...any) string {
	return l.base + apiRoot + "/repos/" + l.repo + fmt.Sprintf(format, args...)
}

func (l links) html(format string, args ...any) string {
	return l.base + "/" + l.repo + fmt.Sprintf(format, args...)
}

type wireLabel struct {
	ID          int64  `json:"id"`
	NodeID      string `json:"node_id"`
	Name        string `json:"name"`
	Color       string `json:"color"`
	Default     bool   `json:"default"`
	Description string `json:"description"`
	URL         string `json:"url"`
}
