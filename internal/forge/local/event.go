package local

import (
	"context"
	"database/sql"
	"encoding/json"
	"slices"
)

const (
	sweepWorkflow = "run-sweep.yml"
	sweepPath     = "perf-changelog.yaml" // what the sweep workflow's path filter names
	maxCommits    = 20                    // commits described in a push event
)

// synchronize gives a pull request its new head, and starts the sweep workflow
// when the pull request touches the changelog.
func (s *Server) synchronize(ctx context.Context, who actor, p pull, to string) (func(*sql.Tx) error, error) {
	before := p.headSHA
	p.headSHA = to
	if base, err := s.refNamed(ctx, "refs/heads/"+p.baseRef); err == nil {
		p.baseSHA = base.sha
	}
	starts, err := s.starts(ctx, p)
	if err != nil {
		return nil, err
	}
	if starts {
		if starts, err = s.touches(ctx, p); err != nil {
			return nil, err
		}
	}
	var e pullPayload
	if starts {
		if e, err = s.pullEvent(ctx, who, p, "synchronize"); err != nil {
			return nil, err
		}
		e.Before, e.After = before, to
	}
	return func(tx *sql.Tx) error {
		if err := s.savePull(ctx, tx, p); err != nil || !starts {
			return err
		}
		return s.queuePull(ctx, tx, who, p, e)
	}, nil
}

// starts reports whether events of a pull request start workflows: it is open,
// aims at the default branch, and has no merge conflict.
func (s *Server) starts(ctx context.Context, p pull) (bool, error) {
	if !p.open() || p.baseRef != s.branch {
		return false, nil
	}
	if !s.mergeable(ctx, p) {
		s.logf("pull %d conflicts with %s: no workflow starts", p.number, p.baseRef)
		return false, nil
	}
	return true, nil
}

// touches reports whether a pull request changes the changelog.
func (s *Server) touches(ctx context.Context, p pull) (bool, error) {
	files, err := s.pullDiff(ctx, p)
	return slices.ContainsFunc(files, func(f wireFile) bool { return f.Filename == sweepPath || f.Previous == sweepPath }), err
}

// relabeled starts the sweep workflow when a label has come or gone, whatever
// the label and whatever the pull request touches: what matters is the
// workflow's business. (On GitHub the workflow's path filter would hold back a
// pull request without an entry.) p has the labels as they are afterwards.
func (s *Server) relabeled(ctx context.Context, tx *sql.Tx, who actor, p pull, e pullPayload, moved label) error {
	named := who.links.label(moved)
	e.Label, e.Pull.Labels, e.Pull.Updated = &named, who.links.labels(p.labels), stamp(p.updated)
	return s.queuePull(ctx, tx, who, p, e)
}

// A pullPayload describes a pull_request event as GitHub's webhooks do.
type pullPayload struct {
	Action string       `json:"action"`
	Number int          `json:"number"`
	Before string       `json:"before,omitempty"`
	After  string       `json:"after,omitempty"`
	Label  *wireLabel   `json:"label,omitempty"`
	Pull   wireFullPull `json:"pull_request"`
	Repo   *wireRepo    `json:"repository"`
	Sender *wireUser    `json:"sender"`
}

// pullEvent describes an event of a pull request that merges cleanly: of
// others there is none.
func (s *Server) pullEvent(ctx context.Context, who actor, p pull, action string) (pullPayload, error) {
	full, err := s.fullPull(ctx, who.links, p)
	full.mergeState(true)
	return pullPayload{
		Action: action, Number: p.number, Pull: full,
		Repo: s.wireRepo(who.links), Sender: who.links.user(who.login),
	}, err
}

func (s *Server) queuePull(ctx context.Context, tx *sql.Tx, who actor, p pull, e pullPayload) error {
	payload, err := json.Marshal(e)
	if err != nil {
		return err
	}
	_, err = s.queue(ctx, tx, run{
		workflow: sweepWorkflow, event: "pull_request", title: p.title, headSHA: p.headSHA, headBranch: p.headRef,
		actor: who.login, pull: p.number, payload: payload,
	})
	return err
}
