package forge

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"
)

const (
	draftMutation = `mutation($id: ID!) { convertPullRequestToDraft(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`
	readyMutation = `mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }`
	viewerQuery   = `query { viewer { login } }`
	editorQuery   = `query($id: ID!) { node(id: $id) { ... on IssueComment { lastEditedAt editor { __typename login } } } }`
)

// MarkDraft makes a pull request a draft; REST has no way to. A draft stays one.
func (c *Client) MarkDraft(ctx context.Context, p Pull) error {
	return c.draft(ctx, p, draftMutation, true)
}

// MarkReady makes a draft ready for review. A ready one stays so.
func (c *Client) MarkReady(ctx context.Context, p Pull) error {
	return c.draft(ctx, p, readyMutation, false)
}

// draft writes without another look, for both mutations may be repeated. Where
// one is refused it looks: what is as it should be needs none.
func (c *Client) draft(ctx context.Context, p Pull, mutation string, want bool) error {
	err := c.graphql(ctx, mutation, p.NodeID, nil)
	if err == nil {
		return nil
	}
	if now, lost := c.Pull(ctx, p.Number); lost == nil && now.Draft == want {
		return nil
	}
	return c.fail(err, "mark pull %d draft=%t", p.Number, want)
}

// Editor returns who edited a comment last and when; "" when nobody did. The
// login is spelled as everywhere else: GraphQL leaves out an app's "[bot]".
func (c *Client) Editor(ctx context.Context, comment Comment) (login string, at time.Time, err error) {
	var data struct {
		Node struct {
			LastEditedAt *time.Time
			Editor       *actor
		}
	}
	if err := c.graphql(ctx, editorQuery, comment.NodeID, &data); err != nil {
		return "", time.Time{}, c.fail(err, "editor of comment %d", comment.ID)
	}
	if data.Node.LastEditedAt != nil {
		at = data.Node.LastEditedAt.UTC()
		login = "ghost" // GitHub's name for an account that is gone
		if data.Node.Editor != nil {
			login = data.Node.Editor.name()
		}
	}
	return login, at, nil
}

// An actor is whom GraphQL names.
type actor struct {
	Typename string `json:"__typename"`
	Login    string
}

// name is the login that REST gives to the same.
func (a actor) name() string {
	if a.Typename == "Bot" && !strings.HasSuffix(a.Login, AppSuffix) {
		return a.Login + AppSuffix
	}
	return a.Login
}

// viewer is the login behind the credential, as GraphQL knows it.
func (c *Client) viewer(ctx context.Context) (string, error) {
	var data struct{ Viewer struct{ Login string } }
	err := c.graphql(ctx, viewerQuery, "", &data)
	return data.Viewer.Login, err
}

// graphql sends one query, about one node if it needs one. Errors come with status 200 there.
func (c *Client) graphql(ctx context.Context, query, id string, data any) error {
	body := map[string]any{"query": query}
	if id != "" {
		body["variables"] = map[string]string{"id": id}
	}
	req, err := c.gh.NewRequest(ctx, http.MethodPost, c.graphqlURL(), body)
	if err != nil {
		return err
	}
	var answer struct {
		Data   json.RawMessage
		Errors []struct{ Message string }
	}
	if _, err := c.gh.Do(req, &answer); err != nil {
		return err
	}
	var problems []string
	for _, e := range answer.Errors {
		problems = append(problems, e.Message)
	}
	switch {
	case len(problems) > 0:
		return errors.New(strings.Join(problems, "; "))
	case data == nil:
		return nil
	}
	return json.Unmarshal(answer.Data, data)
}

// graphqlURL is ".../api/graphql" beside ".../api/v3/", or "/graphql" on an API host.
func (c *Client) graphqlURL() string {
	base := c.gh.BaseURL()
	if root, ok := strings.CutSuffix(base, "v3/"); ok {
		return root + "graphql"
	}
	return base + "graphql"
}
