package forge

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"github.com/google/go-github/v89/github"
)

// A Run is one run of a workflow, in its newest attempt.
type Run struct {
	ID         int64
	Attempt    int
	Title      string // display title
	Name       string // of the workflow
	Path       string // of the workflow's file
	Event      string // push | pull_request | workflow_dispatch | ...
	Branch     string
	HeadSHA    string
	HeadRepo   string // owner/name; "" when the fork is gone
	Status     string // queued | in_progress | completed | ...
	Conclusion string // success | failure | cancelled | skipped | ...; "" until completed
	Actor      string
	URL        string
	Created    time.Time
	Started    time.Time
	Updated    time.Time
}

// A RunFilter narrows a list of runs; zero fields do not.
type RunFilter struct {
	Branch   string // of this repository: a fork's of the same name is another
	Event    string
	Workflow string // file name, such as "run-sweep.yml"
	HeadSHA  string
	Since    time.Time // created at or after, in whole seconds
}

// Dispatch starts a workflow on a branch or tag. The run's id is 0 when the
// server did not say it; then the run is found by its title.
func (c *Client) Dispatch(ctx context.Context, workflow, ref string, inputs map[string]string) (int64, error) {
	body := github.CreateWorkflowDispatchEventRequest{Ref: ref, Inputs: map[string]any{}, ReturnRunDetails: github.Ptr(true)}
	for k, v := range inputs {
		body.Inputs[k] = v
	}
	details, _, err := c.gh.Actions.CreateWorkflowDispatchEventByFileName(ctx, c.Repository.Owner, c.Repository.Name, url.PathEscape(workflow), body)
	if err != nil {
		return 0, c.fail(err, "dispatch %s on %s", workflow, ref)
	}
	if details == nil {
		return 0, nil
	}
	return details.GetWorkflowRunID(), nil
}

// Runs returns the runs that match a filter, newest first. GitHub answers at
// most the newest thousand; a filter should be narrower than that.
func (c *Client) Runs(ctx context.Context, f RunFilter) ([]Run, error) {
	options := github.ListWorkflowRunsOptions{Branch: f.Branch, Event: f.Event, HeadSHA: f.HeadSHA}
	if !f.Since.IsZero() {
		options.Created = ">=" + f.Since.UTC().Format(time.RFC3339)
	}
	list, err := pages(func(o github.ListOptions) ([]*github.WorkflowRun, *github.Response, error) {
		options.ListOptions = o
		var page *github.WorkflowRuns
		var resp *github.Response
		var err error
		if f.Workflow == "" {
			page, resp, err = c.gh.Actions.ListRepositoryWorkflowRuns(ctx, c.Repository.Owner, c.Repository.Name, &options)
		} else {
			page, resp, err = c.gh.Actions.ListWorkflowRunsByFileName(ctx, c.Repository.Owner, c.Repository.Name, url.PathEscape(f.Workflow), &options)
		}
		if err != nil {
			return nil, resp, err
		}
		return page.WorkflowRuns, resp, nil
	})
	var runs []Run
	for _, r := range list {
		// GitHub goes by the name of the branch alone, whoever's it is.
		if run := runOf(r); f.Branch == "" || c.Repository.Is(run.HeadRepo) {
			runs = append(runs, run)
		}
	}
	return runs, c.fail(err, "runs")
}

// Run returns one run.
func (c *Client) Run(ctx context.Context, id int64) (Run, error) {
	r, _, err := c.gh.Actions.GetWorkflowRunByID(ctx, c.Repository.Owner, c.Repository.Name, id)
	return runOf(r), c.fail(err, "run %d", id)
}

// CancelRun asks for the end of a run. It returns before the run has ended; a
// run that is completed already is fine.
func (c *Client) CancelRun(ctx context.Context, id int64) error {
	_, err := c.gh.Actions.CancelWorkflowRunByID(ctx, c.Repository.Owner, c.Repository.Name, id)
	var accepted *github.AcceptedError
	if errors.As(err, &accepted) {
		return nil
	}
	failed := c.fail(err, "cancel run %d", id)
	var e *Error
	if errors.As(failed, &e) && e.Status == http.StatusConflict {
		if r, look := c.Run(ctx, id); look == nil && r.Status == "completed" {
			return nil
		}
	}
	return failed
}

func runOf(r *github.WorkflowRun) Run {
	if r == nil {
		return Run{}
	}
	return Run{
		ID: r.GetID(), Attempt: r.GetRunAttempt(), Title: r.GetDisplayTitle(), Name: r.GetName(), Path: r.GetPath(),
		Event: r.GetEvent(), Branch: r.GetHeadBranch(), HeadSHA: r.GetHeadSHA(), HeadRepo: r.GetHeadRepository().GetFullName(), Status: r.GetStatus(),
		Conclusion: r.GetConclusion(), Actor: r.GetActor().GetLogin(), URL: r.GetHTMLURL(),
		Created: r.GetCreatedAt().UTC(), Started: r.GetRunStartedAt().UTC(), Updated: r.GetUpdatedAt().UTC(),
	}
}
