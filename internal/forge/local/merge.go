package local

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
)

// mergeable reports whether head and today's base merge without conflict.
func (s *Server) mergeable(ctx context.Context, p pull) bool {
	base, err := s.refNamed(ctx, "refs/heads/"+p.baseRef)
	if err != nil {
		return false
	}
	_, err = s.mergeTree(ctx, base.sha, p.headSHA)
	return err == nil
}

// mergePull merges on the server: "merge" (two parents) or "squash".
func (s *Server) mergePull(c call) (answer, error) {
	p, err := s.pullNumbered(c)
	if err != nil {
		return answer{}, err
	}
	var in struct {
		SHA           string
		MergeMethod   string `json:"merge_method"`
		CommitTitle   string `json:"commit_title"`
		CommitMessage string `json:"commit_message"`
	}
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	switch {
	case !p.open() || p.draft:
		return answer{}, refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	case in.SHA != "" && in.SHA != p.headSHA:
		return answer{}, refuse(http.StatusConflict, "Head branch was modified. Review and try the merge again.")
	case in.MergeMethod != "" && in.MergeMethod != "merge" && in.MergeMethod != "squash":
		return answer{}, refuse(http.StatusMethodNotAllowed, "Merge method %s is not allowed", in.MergeMethod)
	}
	title, body := in.CommitTitle, in.CommitMessage
	if title == "" && in.MergeMethod == "squash" {
		title = fmt.Sprintf("%s (#%d)", p.title, p.number)
	} else if title == "" {
		title = fmt.Sprintf("Merge pull request #%d from %s/%s", p.number, s.repo.Owner, p.headRef)
	}
	if body == "" && in.MergeMethod != "squash" {
		body = p.title
	}
	sha, err := s.merge(c, p, strings.TrimSpace(title+"\n\n"+body), in.MergeMethod == "squash")
	if err != nil {
		return answer{}, err
	}
	var out struct {
		SHA     string `json:"sha"`
		Merged  bool   `json:"merged"`
		Message string `json:"message"`
	}
	out.SHA, out.Merged, out.Message = sha, true, "Pull Request successfully merged"
	return ok(out)
}

// merge makes the commit, moves the base, and closes the pull request.
func (s *Server) merge(c call, p pull, message string, squash bool) (string, error) {
	ctx := c.Context()
	base, err := s.refNamed(ctx, "refs/heads/"+p.baseRef)
	if err != nil {
		return "", err
	}
	tree, err := s.mergeTree(ctx, base.sha, p.headSHA)
	if err != nil {
		return "", refuse(http.StatusMethodNotAllowed, "Pull Request is not mergeable")
	}
	parents := []string{base.sha, p.headSHA}
	if squash {
		parents = parents[:1]
	}
	me := s.personFor(c.login)
	data, err := commit{tree: tree, parents: parents, author: me, committer: me, message: message + "\n"}.encode()
	if err != nil {
		return "", err
	}
	sha, err := s.write(ctx, "commit", data)
	if err != nil {
		return "", err
	}
	if _, err := s.Git.Git(ctx, "update-ref", "refs/heads/"+p.baseRef, sha, base.sha); err != nil {
		return "", refuse(http.StatusConflict, "Base branch was modified. Review and try the merge again.")
	}
	p.state, p.closed, p.merged, p.updated, p.mergedBy, p.mergeSHA = "closed", s.now(), s.now(), s.now(), c.login, sha
	if err := s.tx(ctx, func(tx *sql.Tx) error { return s.savePull(ctx, tx, p) }); err != nil {
		return "", err
	}
	return sha, s.moved(ctx, c.actor(), p.baseRef, sha)
}
