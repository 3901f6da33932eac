package forge

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v89/github"
)

// A Pull is a pull request as it was when it was read.
type Pull struct {
	Number   int
	NodeID   string
	Title    string
	Body     string
	State    string // open | closed
	HeadRef  string
	HeadSHA  string
	HeadRepo string // owner/name; "" when the fork is gone
	BaseRef  string
	BaseSHA  string
	Author   string
	URL      string
	Draft    bool
	Merged   bool
	Labels   []string
	Created  time.Time
}

// A PullEdit names the fields of a pull request to change; nil keeps one.
type PullEdit struct{ Title, Body, State *string }

// PullsByHead returns all pull requests, open or not, whose head is a branch of
// this repository, newest first.
func (c *Client) PullsByHead(ctx context.Context, branch string) ([]Pull, error) {
	list, err := pages(func(o github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return c.gh.PullRequests.List(ctx, c.Repository.Owner, c.Repository.Name, &github.PullRequestListOptions{
			State: "all", Head: c.Repository.Owner + ":" + branch, ListOptions: o,
		})
	})
	if err != nil {
		return nil, c.fail(err, "pulls of %s", branch)
	}
	var pulls []Pull
	for _, p := range list {
		// A server that ignores the filter, or a fork's branch of the same name.
		if pull := pullOf(p); pull.HeadRef == branch && (pull.HeadRepo == "" || c.Repository.Is(pull.HeadRepo)) {
			pulls = append(pulls, pull)
		}
	}
	return pulls, nil
}

// OpenPulls returns the open pull requests, newest first.
func (c *Client) OpenPulls(ctx context.Context) ([]Pull, error) {
	list, err := pages(func(o github.ListOptions) ([]*github.PullRequest, *github.Response, error) {
		return c.gh.PullRequests.List(ctx, c.Repository.Owner, c.Repository.Name, &github.PullRequestListOptions{State: "open", ListOptions: o})
	})
	var pulls []Pull
	for _, p := range list {
		pulls = append(pulls, pullOf(p))
	}
	return pulls, c.fail(err, "open pulls")
}

// Pull returns one pull request.
func (c *Client) Pull(ctx context.Context, n int) (Pull, error) {
	p, _, err := c.gh.PullRequests.Get(ctx, c.Repository.Owner, c.Repository.Name, n)
	return pullOf(p), c.fail(err, "pull %d", n)
}

// OpenPull opens a pull request from a branch of this repository.
func (c *Client) OpenPull(ctx context.Context, title, body, head, base string, draft bool) (Pull, error) {
	p, _, err := c.gh.PullRequests.Create(ctx, c.Repository.Owner, c.Repository.Name, &github.NewPullRequest{
		Title: &title, Body: &body, Head: &head, Base: &base, Draft: &draft,
	})
	return pullOf(p), c.fail(err, "open pull of %s", head)
}

// EditPull changes title, body or state ("open", "closed").
func (c *Client) EditPull(ctx context.Context, n int, e PullEdit) error {
	_, _, err := c.gh.PullRequests.Edit(ctx, c.Repository.Owner, c.Repository.Name, n,
		&github.PullRequest{Title: e.Title, Body: e.Body, State: e.State})
	return c.fail(err, "edit pull %d", n)
}

// AddLabel puts a label on a pull request; one that is there already is fine.
func (c *Client) AddLabel(ctx context.Context, n int, label string) error {
	// The library sends a bare list, a form that GitHub's description leaves out.
	body := map[string][]string{"labels": {label}}
	req, err := c.gh.NewRequest(ctx, http.MethodPost, fmt.Sprintf("repos/%s/issues/%d/labels", c.Repository, n), body)
	if err == nil {
		_, err = c.gh.Do(req, nil)
	}
	return c.fail(err, "add label %q to %d", label, n)
}

// RemoveLabel takes a label off a pull request; one that is not there is fine.
func (c *Client) RemoveLabel(ctx context.Context, n int, label string) error {
	_, err := c.gh.Issues.RemoveLabelForIssue(ctx, c.Repository.Owner, c.Repository.Name, n, url.PathEscape(label))
	if err = c.fail(err, "remove label %q from %d", label, n); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	// 404 is also the answer for a pull request that does not exist.
	_, err = c.Pull(ctx, n)
	return err
}

// maxFiles is where GitHub stops listing the files of a pull request.
const maxFiles = 3000

// ChangedFiles returns the paths a pull request touches; a rename counts both
// names. It fails when the list may be incomplete, and returns what is known of it.
func (c *Client) ChangedFiles(ctx context.Context, n int) ([]string, error) {
	files, err := somePages(func(o github.ListOptions) ([]*github.CommitFile, *github.Response, error) {
		return c.gh.PullRequests.ListFiles(ctx, c.Repository.Owner, c.Repository.Name, n, &o)
	})
	if err == nil && len(files) >= maxFiles {
		err = errors.New("list of files may be incomplete")
	}
	var paths []string
	for _, f := range files {
		paths = append(paths, f.GetFilename())
		if before := f.GetPreviousFilename(); before != "" {
			paths = append(paths, before)
		}
	}
	return paths, c.fail(err, "files of pull %d", n)
}

func pullOf(p *github.PullRequest) Pull {
	if p == nil {
		return Pull{}
	}
	return Pull{
		Number: p.GetNumber(), NodeID: p.GetNodeID(), Title: p.GetTitle(), Body: p.GetBody(), State: p.GetState(),
		HeadRef: p.GetHead().GetRef(), HeadSHA: p.GetHead().GetSHA(), HeadRepo: p.GetHead().GetRepo().GetFullName(),
		BaseRef: p.GetBase().GetRef(), BaseSHA: p.GetBase().GetSHA(), Author: p.GetUser().GetLogin(), URL: p.GetHTMLURL(),
		Draft: p.GetDraft(), Merged: p.GetMerged() || p.MergedAt != nil, Labels: labelNames(p.Labels),
		Created: p.GetCreatedAt().UTC(),
	}
}
