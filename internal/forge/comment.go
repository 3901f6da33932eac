package forge

import (
	"context"
	"time"

	"github.com/google/go-github/v89/github"
)

// A Comment is a comment in the conversation of a pull request.
type Comment struct {
	ID      int64
	NodeID  string
	Author  string
	Body    string
	URL     string
	Created time.Time
	Updated time.Time
}

// Comments returns all comments of a pull request, oldest first.
func (c *Client) Comments(ctx context.Context, n int) ([]Comment, error) {
	list, err := pages(func(o github.ListOptions) ([]*github.IssueComment, *github.Response, error) {
		return c.gh.Issues.ListComments(ctx, c.Repository.Owner, c.Repository.Name, n, &github.IssueListCommentsOptions{ListOptions: o})
	})
	var comments []Comment
	for _, x := range list {
		comments = append(comments, commentOf(x))
	}
	return comments, c.fail(err, "comments of %d", n)
}

// AddComment posts a comment.
func (c *Client) AddComment(ctx context.Context, n int, body string) (Comment, error) {
	x, _, err := c.gh.Issues.CreateComment(ctx, c.Repository.Owner, c.Repository.Name, n, &github.IssueComment{Body: &body})
	return commentOf(x), c.fail(err, "comment on %d", n)
}

// EditComment replaces the body of a comment.
func (c *Client) EditComment(ctx context.Context, id int64, body string) error {
	_, _, err := c.gh.Issues.EditComment(ctx, c.Repository.Owner, c.Repository.Name, id, &github.IssueComment{Body: &body})
	return c.fail(err, "edit comment %d", id)
}

func commentOf(x *github.IssueComment) Comment {
	if x == nil {
		return Comment{}
	}
	return Comment{
		ID: x.GetID(), NodeID: x.GetNodeID(), Author: x.GetUser().GetLogin(), Body: x.GetBody(), URL: x.GetHTMLURL(),
		Created: x.GetCreatedAt().UTC(), Updated: x.GetUpdatedAt().UTC(),
	}
}
