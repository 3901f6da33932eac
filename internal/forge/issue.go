package forge

import (
	"context"
	"time"

	"github.com/google/go-github/v89/github"
)

// An Issue is an issue of the repository that is no pull request.
type Issue struct {
	Number  int
	Title   string
	Body    string
	State   string // open | closed
	Author  string
	URL     string
	Created time.Time
}

// OpenIssues returns the open issues that a login has opened, newest first.
// GitHub lists pull requests among the issues; they are left out.
func (c *Client) OpenIssues(ctx context.Context, author string) ([]Issue, error) {
	options := github.IssueListByRepoOptions{State: "open", Creator: author}
	list, err := pages(func(o github.ListOptions) ([]*github.Issue, *github.Response, error) {
		options.ListOptions = o
		return c.gh.Issues.ListByRepo(ctx, c.Repository.Owner, c.Repository.Name, &options)
	})
	var issues []Issue
	for _, x := range list {
		// A server that ignores the filter says more than was asked for.
		if i := issueOf(x); !x.IsPullRequest() && i.Author == author && i.State == "open" {
			issues = append(issues, i)
		}
	}
	return issues, c.fail(err, "open issues of %s", author)
}

// OpenIssue opens an issue.
func (c *Client) OpenIssue(ctx context.Context, title, body string) (Issue, error) {
	x, _, err := c.gh.Issues.Create(ctx, c.Repository.Owner, c.Repository.Name, &github.IssueRequest{Title: &title, Body: &body})
	return issueOf(x), c.fail(err, "open issue %q", title)
}

func issueOf(x *github.Issue) Issue {
	if x == nil {
		return Issue{}
	}
	return Issue{
		Number: x.GetNumber(), Title: x.GetTitle(), Body: x.GetBody(), State: x.GetState(), Author: x.GetUser().GetLogin(),
		URL: x.GetHTMLURL(), Created: x.GetCreatedAt().UTC(),
	}
}
