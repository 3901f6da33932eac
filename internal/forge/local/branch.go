package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Push notices that a branch was pushed past the API, with git itself. Nothing
// happens when the branch is where it was.
func (s *Server) Push(ctx context.Context, branch string) error {
	s.writes.Lock()
	defer s.writes.Unlock()
	sha := zeros
	switch at, err := s.refNamed(ctx, "refs/heads/"+branch); {
	case err == nil:
		sha = at.sha
	case !errors.Is(err, errNotFound):
		return fmt.Errorf("forge: push to %s: %w", branch, err)
	}
	// git does not say who pushed; on this machine it is the owner.
	links, err := s.linksFor(ctx, nil)
	if err == nil {
		err = s.moved(ctx, actor{login: s.repo.Owner, links: links}, branch, sha)
	}
	if err != nil {
		return fmt.Errorf("forge: push to %s: %w", branch, err)
	}
	return nil
}

// notice catches up with branches that moved while no server was open. The
// branches of a database without any are taken as they are.
func (s *Server) notice(ctx context.Context) error {
	known, err := s.branches(ctx)
	if err != nil {
		return err
	}
	all, err := s.refs(ctx)
	if err != nil {
		return err
	}
	names := []string{}
	for name := range known {
		names = append(names, name)
	}
	for _, r := range all {
		branch, ok := strings.CutPrefix(r.name, "refs/heads/")
		if !ok {
			continue
		}
		if len(known) > 0 {
			names = append(names, branch)
		} else if err := s.tx(ctx, func(tx *sql.Tx) error { return setBranch(ctx, tx, branch, r.sha) }); err != nil {
			return err
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if err := s.Push(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) branches(ctx context.Context) (map[string]string, error) {
	pairs, err := rows(ctx, s.db, func(r *sql.Rows) ([2]string, error) {
		var p [2]string
		return p, r.Scan(&p[0], &p[1])
	}, `SELECT name, sha FROM branch`)
	known := map[string]string{}
	for _, p := range pairs {
		known[p[0]] = p[1]
	}
	return known, err
}

func setBranch(ctx context.Context, tx *sql.Tx, name, sha string) error {
	if sha == zeros {
		_, err := tx.ExecContext(ctx, `DELETE FROM branch WHERE name = ?`, name)
		return err
	}
	_, err := tx.ExecContext(ctx, `INSERT INTO branch (name, sha) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET sha = excluded.sha`, name, sha)
	return err
}

// moved does what follows from a branch having gone to a commit (zeros: it is
// deleted): pull requests follow their heads, close, or count as merged, and
// workflows start. It compares with what the database saw last, so that a
// second call is without effect.
func (s *Server) moved(ctx context.Context, who actor, branch, to string) error {
	known, err := s.branches(ctx)
	if err != nil {
		return err
	}
	from := known[branch]
	if from == "" {
		from = zeros
	}
	if from == to {
		return nil
	}
	open, err := s.findPulls(ctx, `state = 'open' AND (head_ref = ?1 OR base_ref = ?1)`, branch)
	if err != nil {
		return err
	}
	steps := []func(*sql.Tx) error{func(tx *sql.Tx) error {
		if err := s.record(ctx, tx, who.login, "push", branch+" "+from+" "+to); err != nil {
			return err
		}
		return setBranch(ctx, tx, branch, to)
	}}
	for _, p := range open {
		step, err := s.follow(ctx, who, p, branch, to)
		if err != nil {
			return err
		}
		steps = append(steps, step)
	}
	push, err := s.pushRun(ctx, who, branch, from, to)
	if err != nil {
		return err
	}
	err = s.tx(ctx, func(tx *sql.Tx) error {
		for _, step := range append(steps, push) {
			if err := step(tx); err != nil {
				return err
			}
		}
		return nil
	})
	s.work.wake()
	return err
}

func nothingToDo(*sql.Tx) error { return nil }

// follow decides what a moved branch means for one open pull request.
func (s *Server) follow(ctx context.Context, who actor, p pull, branch, to string) (func(*sql.Tx) error, error) {
	p.updated = s.now()
	switch {
	case p.headRef == branch && to == zeros, p.baseRef == branch && to == zeros:
		p.state, p.closed = "closed", s.now()
		return func(tx *sql.Tx) error { return s.savePull(ctx, tx, p) }, nil
	case p.headRef == branch:
		return s.synchronize(ctx, who, p, to)
	case s.ancestor(ctx, p.headSHA, to):
		p.state, p.closed, p.merged, p.mergedBy, p.mergeSHA = "closed", s.now(), s.now(), who.login, to
		return func(tx *sql.Tx) error { return s.savePull(ctx, tx, p) }, nil
	}
	return nothingToDo, nil
}
