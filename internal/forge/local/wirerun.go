package local

import (
	"errors"
	"fmt"
)

type wireRun struct {
	ID         int64       `json:"id"`
	NodeID     string      `json:"node_id"`
	Name       string      `json:"name"`
	Path       string      `json:"path"`
	Title      string      `json:"display_title"`
	Number     int         `json:"run_number"`
	Attempt    int         `json:"run_attempt"`
	Event      string      `json:"event"`
	Branch     string      `json:"head_branch"`
	HeadSHA    string      `json:"head_sha"`
	HeadCommit *headCommit `json:"head_commit"`
	Status     string      `json:"status"`
	Conclusion *string     `json:"conclusion"`
	WorkflowID int64       `json:"workflow_id"`
	Pulls      []wirePart  `json:"pull_requests"`
	Created    *string     `json:"created_at"`
	Updated    *string     `json:"updated_at"`
	Started    *string     `json:"run_started_at"`
	Actor      *wireUser   `json:"actor"`
	Triggering *wireUser   `json:"triggering_actor"`
	HTML       string      `json:"html_url"`
	Workflow   string      `json:"workflow_url"`
	CheckSuite string      `json:"check_suite_url"`
	Repo       *wireRepo   `json:"repository"`
	HeadRepo   *wireRepo   `json:"head_repository"`
	runLinks
}

// runLinks are a run's addresses below its own.
type runLinks struct {
	URL       string `json:"url" at:""`
	Jobs      string `json:"jobs_url" at:"/jobs"`
	Logs      string `json:"logs_url" at:"/logs"`
	Artifacts string `json:"artifacts_url" at:"/artifacts"`
	Cancel    string `json:"cancel_url" at:"/cancel"`
	Rerun     string `json:"rerun_url" at:"/rerun"`
}

// A headCommit is the commit that a run is about.
type headCommit struct {
	ID        string `json:"id"`
	Tree      string `json:"tree_id"`
	Message   string `json:"message"`
	Timestamp string `json:"timestamp"`
	Author    person `json:"author"`
	Committer person `json:"committer"`
}

func (s *Server) wireRun(c call, r run) (wireRun, error) {
	l := c.links
	w := wireRun{
		ID: r.id, NodeID: fmt.Sprintf("WFR_%d", r.id), Name: workflowName(r.workflow), Path: ".github/workflows/" + r.workflow,
		Title: r.title, Number: r.number, Attempt: r.attempt, Event: r.event, Branch: r.headBranch, HeadSHA: r.headSHA,
		Status: r.status, WorkflowID: workflowID(r.workflow), Pulls: []wirePart{},
		Created: stamp(r.created), Updated: stamp(r.updated), Started: stamp(r.started),
		Actor: l.user(r.actor), Triggering: l.user(r.actor), Repo: s.wireRepo(l), HeadRepo: s.wireRepo(l),
		HTML: l.html("/actions/runs/%d", r.id), Workflow: l.api("/actions/workflows/%d", workflowID(r.workflow)),
		CheckSuite: l.api("/check-suites/%d", r.id),
	}
	addresses(&w.runLinks, l.api("/actions/runs/%d", r.id))
	if r.conclusion != "" {
		w.Conclusion = &r.conclusion
	}
	at, err := s.readCommit(c.Context(), r.headSHA)
	if err == nil {
		w.HeadCommit = &headCommit{at.sha, at.tree, at.message, at.committer.Date, at.author, at.committer}
	} else if !errors.Is(err, errNotFound) { // what nothing points at any more may be gone
		return w, err
	}
	if r.pull != 0 {
		p, err := s.findPull(c.Context(), `number = ?`, r.pull)
		if err != nil {
			return w, err
		}
		w.Pulls = append(w.Pulls, s.wirePart(l, p))
	}
	return w, nil
}

// A wirePart is a pull request where it is only mentioned.
type wirePart struct {
	ID     int64    `json:"id"`
	Number int      `json:"number"`
	URL    string   `json:"url"`
	Head   wireSide `json:"head"`
	Base   wireSide `json:"base"`
}

type wireSide struct {
	Ref  string `json:"ref"`
	SHA  string `json:"sha"`
	Repo struct {
		ID   int64  `json:"id"`
		Name string `json:"name"`
		URL  string `json:"url"`
	} `json:"repo"`
}

func (s *Server) wirePart(l links, p pull) wirePart {
	side := func(ref, sha string) wireSide {
		w, repo := wireSide{Ref: ref, SHA: sha}, s.wireRepo(l)
		w.Repo.ID, w.Repo.Name, w.Repo.URL = repo.ID, repo.Name, repo.URL
		return w
	}
	return wirePart{ID: p.id, Number: p.number, URL: l.api("/pulls/%d", p.number), Head: side(p.headRef, p.headSHA), Base: side(p.baseRef, p.baseSHA)}
}
