package local

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/refit-bench/refit/internal/forge"
)

type graphqlAnswer struct {
	Data   any            `json:"data"`
	Errors []graphqlError `json:"errors,omitempty"`
}

type graphqlError struct {
	Type    string `json:"type"`
	Message string `json:"message"`
}

type graphqlCall struct {
	Query     string
	Variables struct {
		ID    string
		Input struct{ PullRequestID string }
	}
}

// A graphActor is an account as GraphQL names it: an app's without "[bot]".
type graphActor struct {
	Typename string `json:"__typename"` // User | Bot
	Login    string `json:"login"`
}

func graphActorOf(login string) *graphActor {
	if login == "" {
		return nil
	}
	if name, app := strings.CutSuffix(login, forge.AppSuffix); app {
		return &graphActor{"Bot", name}
	}
	return &graphActor{"User", login}
}

// graphql knows two mutations, draft and ready, and two queries, a comment's
// editor and who calls. Like GitHub's it answers 200 with a list of errors.
func (s *Server) graphql(c call) (answer, error) {
	var in graphqlCall
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	id := in.Variables.ID
	if id == "" {
		id = in.Variables.Input.PullRequestID
	}
	var data any
	var err error
	switch {
	case strings.Contains(in.Query, "convertPullRequestToDraft"):
		data, err = s.setDraft(c, "convertPullRequestToDraft", id, true)
	case strings.Contains(in.Query, "markPullRequestReadyForReview"):
		data, err = s.setDraft(c, "markPullRequestReadyForReview", id, false)
	case strings.Contains(in.Query, "lastEditedAt"):
		data, err = s.editorOf(c, id)
	case strings.Contains(in.Query, "viewer"):
		data = viewer(c)
	default:
		err = refuse(422, "this query is not supported here")
	}
	var p *problem
	if errors.As(err, &p) {
		kind := map[int]string{403: "FORBIDDEN", 404: "NOT_FOUND"}[p.Status]
		return ok(graphqlAnswer{Errors: []graphqlError{{Type: kind, Message: p.Message}}})
	}
	if err != nil {
		return answer{}, err
	}
	return ok(graphqlAnswer{Data: data})
}

func (s *Server) setDraft(c call, name, id string, draft bool) (any, error) {
	if !s.mayWrite(c.login) {
		return nil, refuse(403, "%s does not have the correct permissions to execute `%s`", c.login, name)
	}
	s.writes.Lock()
	defer s.writes.Unlock()
	ctx := c.Context()
	p, err := s.findPull(ctx, `node_id = ?`, id)
	if err != nil {
		return nil, graphqlMissing(err, id)
	}
	if !p.open() {
		return nil, refuse(422, "Pull request is closed")
	}
	if p.draft != draft { // what is as it should be is written by nobody
		p.draft, p.updated = draft, s.now()
		if err := s.saveDraft(ctx, c, p); err != nil {
			return nil, err
		}
	}
	type pullPart struct {
		ID      string `json:"id"`
		IsDraft bool   `json:"isDraft"`
	}
	return map[string]map[string]pullPart{name: {"pullRequest": {p.nodeID, p.draft}}}, nil
}

func (s *Server) saveDraft(ctx context.Context, c call, p pull) error {
	kind := "pull.ready"
	if p.draft {
		kind = "pull.draft"
	}
	return s.tx(ctx, func(tx *sql.Tx) error {
		if err := s.savePull(ctx, tx, p); err != nil {
			return err
		}
		return s.record(ctx, tx, c.login, kind, p.nodeID)
	})
}

func (s *Server) editorOf(c call, id string) (any, error) {
	x, err := one(c.Context(), s.db, scanComment, `SELECT `+commentColumns+` FROM comment WHERE node_id = ?`, id)
	if err != nil {
		return nil, graphqlMissing(err, id)
	}
	var data struct {
		Node struct {
			LastEditedAt *string     `json:"lastEditedAt"`
			Editor       *graphActor `json:"editor"`
		} `json:"node"`
	}
	data.Node.LastEditedAt, data.Node.Editor = stamp(x.edited), graphActorOf(x.editor)
	return data, nil
}

func graphqlMissing(err error, id string) error {
	if errors.Is(err, errNotFound) {
		return refuse(404, "Could not resolve to a node with the global id of '%s'", id)
	}
	return err
}
