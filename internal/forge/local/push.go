package local

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A pushPayload describes a push event.
type pushPayload struct {
	Ref     string       `json:"ref"`
	Before  string       `json:"before"`
	After   string       `json:"after"`
	Created bool         `json:"created"`
	Deleted bool         `json:"deleted"`
	Forced  bool         `json:"forced"`
	BaseRef *string      `json:"base_ref"`
	Compare string       `json:"compare"`
	Commits []pushCommit `json:"commits"`
	Head    *pushCommit  `json:"head_commit"`
	Repo    *wireRepo    `json:"repository"`
	Pusher  pusher       `json:"pusher"`
	Sender  *wireUser    `json:"sender"`
}

type pusher struct {
	Name  string `json:"name"`
	Email string `json:"email"`
}

type pushCommit struct {
	ID        string   `json:"id"`
	Tree      string   `json:"tree_id"`
	Distinct  bool     `json:"distinct"` // no other branch has it, as far as is known
	Message   string   `json:"message"`
	Timestamp string   `json:"timestamp"`
	URL       string   `json:"url"`
	Author    person   `json:"author"`
	Committer person   `json:"committer"`
	Added     []string `json:"added"`
	Removed   []string `json:"removed"`
	Modified  []string `json:"modified"`
}

// pushRun starts the sweep workflow for a push to the default branch that
// changed the changelog.
func (s *Server) pushRun(ctx context.Context, who actor, branch, from, to string) (func(*sql.Tx) error, error) {
	if branch != s.branch || to == zeros {
		return nothingToDo, nil
	}
	changed, err := s.changelogChanged(ctx, from, to)
	if err != nil || !changed {
		return nothingToDo, err
	}
	e := pushPayload{
		Ref: "refs/heads/" + branch, Before: from, After: to, Created: from == zeros,
		Forced: from != zeros && !s.ancestor(ctx, from, to), Compare: who.links.html("/compare/%.12s...%.12s", from, to),
		Repo: s.wireRepo(who.links), Pusher: pusher{who.login, s.personFor(who.login).Email}, Sender: who.links.user(who.login),
	}
	if e.Commits, err = s.pushed(ctx, who.links, from, to); err != nil {
		return nil, err
	}
	e.Head = &e.Commits[len(e.Commits)-1]
	payload, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	return func(tx *sql.Tx) error {
		_, err := s.queue(ctx, tx, run{
			workflow: sweepWorkflow, event: "push", title: firstLine(e.Head.Message), headSHA: to, headBranch: branch,
			actor: who.login, payload: payload,
		})
		return err
	}, nil
}

// changelogChanged compares two commits; for a new branch the file must be there.
func (s *Server) changelogChanged(ctx context.Context, from, to string) (bool, error) {
	if from == zeros {
		_, err := s.Git.File(ctx, to, sweepPath)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		return err == nil, err
	}
	paths, err := s.Git.Changed(ctx, from, to)
	return slices.Contains(paths, sweepPath), err
}

// pushed describes the newest commits of a push, oldest first, at least the head.
func (s *Server) pushed(ctx context.Context, l links, from, to string) ([]pushCommit, error) {
	args := []string{"rev-list", "--reverse", fmt.Sprintf("-%d", maxCommits), to}
	if from != zeros {
		args = append(args, "^"+from)
	}
	out, err := s.Git.Git(ctx, args...)
	if err != nil {
		return nil, err
	}
	shas := strings.Fields(string(out))
	if len(shas) == 0 || shas[len(shas)-1] != to { // moved back
		shas = []string{to}
	}
	commits := []pushCommit{}
	for _, sha := range shas {
		c, err := s.readCommit(ctx, sha)
		if err != nil {
			return nil, err
		}
		described := pushCommit{
			ID: c.sha, Tree: c.tree, Distinct: true, Message: c.message, Timestamp: c.committer.Date, URL: l.html("/commit/%s", c.sha),
			Author: c.author, Committer: c.committer,
		}
		if err := s.touched(ctx, &described); err != nil {
			return nil, err
		}
		commits = append(commits, described)
	}
	return commits, nil
}

// touched names the files that a commit changes; a merge's own are none.
func (s *Server) touched(ctx context.Context, c *pushCommit) error {
	c.Added, c.Removed, c.Modified = []string{}, []string{}, []string{}
	out, err := s.Git.Git(ctx, "diff-tree", "--root", "--no-commit-id", "-r", "-z", "--no-renames", "--name-status", c.ID)
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for ; len(fields) > 1; fields = fields[2:] {
		list := map[string]*[]string{"A": &c.Added, "D": &c.Removed}[fields[0]]
		if list == nil {
			list = &c.Modified
		}
		*list = append(*list, fields[1])
	}
	return nil
}
