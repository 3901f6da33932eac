package local

import (
	"database/sql"
	"net/http"
)

// rerun starts a completed run once more: a further attempt under the same id.
// What the attempts before it left stays, under the names it has.
func (s *Server) rerun(c call) (answer, error) {
	r, err := s.ended(c)
	if err != nil {
		return answer{}, err
	}
	return s.again(c, r)
}

// rerunFailed does so where a job failed. A run has one job here; what of its
// work is done again is for Run to say. A cancelled run has no failed job.
func (s *Server) rerunFailed(c call) (answer, error) {
	r, err := s.ended(c)
	if err != nil {
		return answer{}, err
	}
	if r.conclusion != "failure" {
		return answer{}, refuse(http.StatusForbidden, "The run ended as %s: no job of it failed", r.conclusion)
	}
	return s.again(c, r)
}

var errStillRuns = refuse(http.StatusForbidden, "This workflow is already running")

// ended is the run that is asked for, which must have ended.
func (s *Server) ended(c call) (run, error) {
	r, err := s.runNumbered(c)
	if err == nil && r.status != "completed" {
		err = errStillRuns
	}
	return r, err
}

// again queues the next attempt, unless somebody was faster.
func (s *Server) again(c call, r run) (answer, error) {
	err := s.tx(c.Context(), func(tx *sql.Tx) error {
		done, err := tx.ExecContext(c.Context(), `UPDATE run SET attempt = attempt + 1, status = 'queued', conclusion = '', cancel = 0,
			note = '', started = ?1, updated = ?1 WHERE id = ?2 AND attempt = ?3 AND status = 'completed'`, s.now(), r.id, r.attempt)
		if err != nil {
			return err
		}
		if n, _ := done.RowsAffected(); n == 0 {
			return errStillRuns
		}
		return nil
	})
	if err != nil {
		return answer{}, err
	}
	s.work.wake()
	return answer{status: http.StatusCreated, body: struct{}{}}, nil
}
