package local

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
)

// A worker executes queued runs, one at a time, first in first out. The queue
// is the database; what is here is only the goroutine's handles.
type worker struct {
	mu      sync.Mutex
	changed sync.Cond // a run was queued or ended, or the worker stops
	stop    context.CancelFunc
	done    chan struct{}
	current int64 // run being executed, 0 between runs
	cancel  context.CancelFunc
	wanted  bool // something may be queued
	busy    bool // looking, or executing
	stopped bool
}

// requeue puts back what a dead process left in progress; the attempt stays,
// because nothing was wrong with it. Runs that were to be cancelled are ended.
func (s *Server) requeue(ctx context.Context) error {
	return s.tx(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE run SET status = 'completed', conclusion = 'cancelled', updated = ?
			WHERE status != 'completed' AND cancel = 1`, s.now())
		if err != nil {
			return err
		}
		lost, err := rows(ctx, tx, scanRun, `SELECT `+runColumns+` FROM run WHERE status = 'in_progress' ORDER BY id`)
		if err != nil {
			return err
		}
		for _, r := range lost {
			note := r.note + "the server ended during the run; started again. "
			_, err := tx.ExecContext(ctx, `UPDATE run SET status = 'queued', note = ?, updated = ? WHERE id = ?`, note, s.now(), r.id)
			if err != nil {
				return err
			}
			if err := s.record(ctx, tx, r.actor, "run.restarted", strconv.FormatInt(r.id, 10)); err != nil {
				return err
			}
		}
		return nil
	})
}

// startWorker starts the goroutine that runs until stopWorker.
func (s *Server) startWorker(ctx context.Context) error {
	w := &s.work
	w.changed.L = &w.mu
	if s.Run == nil {
		return nil
	}
	// Runs outlive the request, or the command, that opened the server.
	w.wanted, w.stopped = true, false
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	w.done = make(chan struct{})
	go func() {
		defer close(w.done)
		s.loop(ctx)
	}()
	return nil
}

func (s *Server) stopWorker() {
	w := &s.work
	if w.stop == nil {
		return
	}
	w.stop()
	w.mu.Lock()
	w.stopped = true
	w.changed.Broadcast()
	w.mu.Unlock()
	<-w.done
}

// wake tells the worker that the queue changed.
func (w *worker) wake() {
	if w.done == nil {
		return
	}
	w.mu.Lock()
	w.wanted = true
	w.changed.Broadcast()
	w.mu.Unlock()
}

func (w *worker) wait() {
	if w.done == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.stopped && (w.wanted || w.busy) {
		w.changed.Wait()
	}
}

// cancelRun ends the context of a run if it is the one being executed.
func (w *worker) cancelRun(id int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current == id && w.cancel != nil {
		w.cancel()
	}
}

// loop is the worker's goroutine; it alone moves runs out of "queued" into
// "in_progress" and from there on.
func (s *Server) loop(ctx context.Context) {
	for s.work.take() {
		worked, err := s.next(ctx)
		if err != nil && ctx.Err() == nil {
			s.logf("worker: %v", err)
		}
		s.work.put(worked && err == nil)
	}
}

// take waits for something to do; false means stop.
func (w *worker) take() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.wanted && !w.stopped {
		w.changed.Wait()
	}
	w.wanted, w.busy = false, !w.stopped
	return !w.stopped
}

// put ends a round; after one that executed something there may be more.
func (w *worker) put(more bool) {
	w.mu.Lock()
	w.wanted, w.busy = w.wanted || more, false
	w.changed.Broadcast()
	w.mu.Unlock()
}

// next executes the oldest queued run, if there is one.
func (s *Server) next(ctx context.Context) (bool, error) {
	queued, err := rows(ctx, s.db, scanRun, `SELECT `+runColumns+` FROM run WHERE status = 'queued' ORDER BY id LIMIT 1`)
	if err != nil || len(queued) == 0 {
		return false, err
	}
	r := queued[0]
	runCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	w := &s.work
	w.mu.Lock()
	w.current, w.cancel = r.id, cancel
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.current, w.cancel = 0, nil
		w.mu.Unlock()
	}()
	// A cancel that came after the query has ended the run already.
	r.started = s.now()
	taken, err := s.db.ExecContext(ctx, `UPDATE run SET status = 'in_progress', started = ?1, updated = ?1 WHERE id = ?2 AND status = 'queued'`, r.started, r.id)
	if err != nil {
		return true, err
	}
	if n, _ := taken.RowsAffected(); n == 0 {
		return true, nil
	}
	return true, s.execute(ctx, runCtx, r)
}

// execute runs one attempt and records how it ended. When the server closes
// meanwhile the run stays in progress, for the next Open.
func (s *Server) execute(ctx, runCtx context.Context, r run) error {
	dir := s.runDir(r)
	out := filepath.Join(dir, "out")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(out, 0o700)); err != nil {
		return s.end(ctx, r, nil, err)
	}
	err := s.Run(runCtx, RunRequest{
		ID: r.id, Attempt: r.attempt, Workflow: r.workflow, Event: r.event, Title: r.title, HeadSHA: r.headSHA,
		HeadBranch: r.headBranch, Actor: r.actor, Payload: r.payload, Out: out, Log: filepath.Join(dir, "log.txt"),
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	packed, bad := pack(out, dir)
	if bad != nil {
		err = errors.Join(err, bad)
	}
	return errors.Join(s.end(ctx, r, packed, err), os.RemoveAll(out))
}

// end records conclusion and artifacts in one transaction.
func (s *Server) end(ctx context.Context, r run, packed []archive, failure error) error {
	err := s.tx(ctx, func(tx *sql.Tx) error {
		var cancelled bool
		if err := tx.QueryRowContext(ctx, `SELECT cancel FROM run WHERE id = ?`, r.id).Scan(&cancelled); err != nil {
			return err
		}
		conclusion := "success"
		switch {
		case failure == nil:
		case errors.Is(failure, ErrSkipped):
			conclusion = "skipped"
		case cancelled:
			conclusion = "cancelled"
		default:
			conclusion = "failure"
		}
		for _, a := range packed {
			id, err := s.nextID(ctx, tx)
			if err != nil {
				return err
			}
			_, err = tx.ExecContext(ctx, `INSERT INTO artifact (id, run, attempt, name, size, digest, file, created) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
				id, r.id, r.attempt, a.name, a.size, a.digest, a.file, s.now())
			if err != nil {
				return err
			}
		}
		note := r.note
		if conclusion == "failure" {
			note += failure.Error()
		}
		_, err := tx.ExecContext(ctx, `UPDATE run SET status = 'completed', conclusion = ?, note = ?, updated = ? WHERE id = ?`,
			conclusion, note, s.now(), r.id)
		if err != nil {
			return err
		}
		return s.record(ctx, tx, r.actor, "run.completed", fmt.Sprintf("%d %s", r.id, conclusion))
	})
	if err == nil && failure != nil && !errors.Is(failure, ErrSkipped) {
		s.logf("run %d (%s): %v", r.id, r.workflow, failure)
	}
	return err
}

func (s *Server) runDir(r run) string {
	return filepath.Join(s.ArtifactDir, fmt.Sprintf("run-%d-%d", r.id, r.attempt))
}
