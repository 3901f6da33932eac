package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"strings"
)

// openPull opens a pull request under GitHub's rules: both branches exist, they
// differ, and no open one joins them already.
func (s *Server) openPull(c call) (answer, error) {
	var in struct {
		Title, Body, Head, Base string
		Draft                   bool
	}
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	ctx := c.Context()
	p := pull{
		title: in.Title, body: in.Body, state: "open", draft: in.Draft, author: c.login, baseRef: in.Base,
		headRef: strings.TrimPrefix(in.Head, s.repo.Owner+":"), created: s.now(), updated: s.now(),
	}
	if err := s.checkPull(ctx, &p); err != nil {
		return answer{}, err
	}
	err := s.tx(ctx, func(tx *sql.Tx) error {
		var err error
		if p.number, err = nextNumber(ctx, tx); err != nil {
			return err
		}
		if p.id, err = s.nextID(ctx, tx); err != nil {
			return err
		}
		p.nodeID = fmt.Sprintf("PR_%d", p.id)
		_, err = tx.ExecContext(ctx, `INSERT INTO pull (number, id, node_id, title, body, state, draft, head_ref, head_sha, base_ref,
			base_sha, author, created, updated) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			p.number, p.id, p.nodeID, p.title, p.body, p.state, p.draft, p.headRef, p.headSHA, p.baseRef, p.baseSHA, p.author, p.created, p.updated)
		return err
	})
	if err != nil {
		return answer{}, err
	}
	w, err := s.fullPull(ctx, c.links, p)
	return answer{status: http.StatusCreated, body: w}, err
}

// checkPull fills in the commits of a pull request that is about to be open.
func (s *Server) checkPull(ctx context.Context, p *pull) error {
	if err := checkText(p.title, p.body); err != nil {
		return err
	}
	head, err := s.refNamed(ctx, "refs/heads/"+p.headRef)
	if err != nil {
		return invalid("PullRequest", "head", "invalid", "")
	}
	base, err := s.refNamed(ctx, "refs/heads/"+p.baseRef)
	if err != nil {
		return invalid("PullRequest", "base", "invalid", "")
	}
	p.headSHA, p.baseSHA = head.sha, base.sha
	if s.ancestor(ctx, head.sha, base.sha) {
		return invalid("PullRequest", "", "custom", "No commits between %s and %s", p.baseRef, p.headRef)
	}
	_, err = s.findPull(ctx, `head_ref = ? AND base_ref = ? AND state = 'open' AND number != ?`, p.headRef, p.baseRef, p.number)
	if err == nil {
		return invalid("PullRequest", "", "custom", "A pull request already exists for %s:%s.", s.repo.Owner, p.headRef)
	}
	if !errors.Is(err, errNotFound) {
		return err
	}
	return nil
}

func checkText(title, body string) error {
	if strings.TrimSpace(title) == "" {
		return invalid("PullRequest", "title", "missing_field", "")
	}
	if len([]rune(title)) > 256 {
		return invalid("PullRequest", "title", "custom", "title is too long (maximum is 256 characters)")
	}
	if len([]rune(body)) > maxText {
		return invalid("PullRequest", "body", "custom", "body is too long (maximum is %d characters)", maxText)
	}
	return nil
}

// editPull changes title, body or state. A merged pull request stays closed; a
// closed one opens again where it could be opened.
func (s *Server) editPull(c call) (answer, error) {
	p, err := s.pullNumbered(c)
	if err != nil {
		return answer{}, err
	}
	var in struct{ Title, Body, State *string }
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	if in.Title != nil {
		p.title = *in.Title
	}
	if in.Body != nil {
		p.body = *in.Body
	}
	if err := checkText(p.title, p.body); err != nil {
		return answer{}, err
	}
	if in.State != nil && *in.State != p.state {
		if err := s.turn(c.Context(), &p, *in.State); err != nil {
			return answer{}, err
		}
	}
	p.updated = s.now()
	if err := s.tx(c.Context(), func(tx *sql.Tx) error { return s.savePull(c.Context(), tx, p) }); err != nil {
		return answer{}, err
	}
	w, err := s.fullPull(c.Context(), c.links, p)
	return answer{status: http.StatusOK, body: w}, err
}

// turn opens or closes a pull request.
func (s *Server) turn(ctx context.Context, p *pull, state string) error {
	switch {
	case state == "closed":
		p.state, p.closed = state, s.now()
		return nil
	case state != "open":
		return invalid("PullRequest", "state", "invalid", "")
	case p.merged != 0:
		return invalid("PullRequest", "state", "invalid", "state cannot be changed. The pull request was merged.")
	}
	p.state, p.closed = state, 0
	return s.checkPull(ctx, p)
}
