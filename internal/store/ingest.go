package store

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/refit-bench/refit/internal/result"
)

// WorkflowRun is a workflow run of the forge. Conclusion is empty while the
// run goes on; Base is the commit its changelog was compared with. Created
// gives the day under which the run is published.
type WorkflowRun struct {
	ID          int64
	Attempt     int
	Name        string
	HeadSHA     string
	Branch      string
	Event       string
	Conclusion  string
	URL         string // address of the run, without an attempt
	Base        string
	Created     time.Time
	Started     time.Time // zero when not known
	ConfigKeys  []string
	Description string
	PRLink      string
}

// IngestSummary says what an ingest stored. Unchanged means that the same
// content was stored before and nothing was written.
type IngestSummary struct {
	Digest    string // content digest of the run
	Unchanged bool
	Points    int
	Evals     int
	Answers   int
	Warnings  []string
}

// String says it in one line.
func (s IngestSummary) String() string {
	if s.Unchanged {
		return fmt.Sprintf("unchanged: content %.12s was stored before", s.Digest)
	}
	return fmt.Sprintf("stored %d points, %d evals, %d answers (content %.12s)", s.Points, s.Evals, s.Answers, s.Digest)
}

// ErrChanged refuses other content for a run and attempt that is stored.
var ErrChanged = errors.New("another content is stored for this run and attempt")

// Ingest stores what a run published, in one transaction. The same content
// again changes nothing, except that an unpublished run may become published;
// other content for the same run and attempt is ErrChanged.
func (s *Store) Ingest(ctx context.Context, run WorkflowRun, r result.Run, published bool) (IngestSummary, error) {
	sum, err := prepare(run, r)
	if err != nil {
		return IngestSummary{}, fmt.Errorf("ingest run %d attempt %d: %w", run.ID, run.Attempt, err)
	}
	err = s.write(ctx, func(tx *sql.Tx) error {
		known, err := alreadyStored(ctx, tx, run, sum.Digest, published)
		if err != nil || known {
			sum.Unchanged = known
			return err
		}
		id, err := insertRun(ctx, tx, run, r.Manifest, sum.Digest, published)
		if err != nil {
			return err
		}
		w := writer{ctx: ctx, tx: tx, run: id, sum: &sum}
		if err := w.points(r.Rows); err != nil {
			return err
		}
		if err := w.evals(r.Evals, r.Rows); err != nil {
			return err
		}
		return bump(ctx, tx)
	})
	if err != nil {
		return IngestSummary{}, fmt.Errorf("ingest run %d attempt %d: %w", run.ID, run.Attempt, err)
	}
	return sum, nil
}

// prepare checks that rows and run belong together and digests the content.
func prepare(run WorkflowRun, r result.Run) (IngestSummary, error) {
	if run.ID <= 0 || run.Attempt < 0 || run.Created.IsZero() {
		return IngestSummary{}, errors.New("run id and creation time are required")
	}
	if r.Manifest.RunID != run.ID || r.Manifest.Attempt > run.Attempt || r.Manifest.Head != run.HeadSHA {
		return IngestSummary{}, fmt.Errorf("the manifest is of run %d attempt %d at %.12s, the run is at %.12s",
			r.Manifest.RunID, r.Manifest.Attempt, r.Manifest.Head, run.HeadSHA)
	}
	if err := r.Check(); err != nil {
		return IngestSummary{}, err
	}
	content, err := json.Marshal(r)
	if err != nil {
		return IngestSummary{}, fmt.Errorf("digest content: %w", err)
	}
	digest := sha256.Sum256(content)
	return IngestSummary{Digest: hex.EncodeToString(digest[:])}, nil
}

// alreadyStored looks for the run and publishes it late when asked to.
func alreadyStored(ctx context.Context, tx *sql.Tx, run WorkflowRun, digest string, published bool) (bool, error) {
	var id int64
	var was string
	var public bool
	err := tx.QueryRowContext(ctx, `SELECT id, digest, published FROM workflow_runs WHERE github_run_id = ? AND run_attempt = ?`,
		run.ID, run.Attempt).Scan(&id, &was, &public)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("look for the run: %w", err)
	case was != digest:
		return false, fmt.Errorf("%w: %.12s, offered %.12s", ErrChanged, was, digest)
	case published && !public:
		if _, err := tx.ExecContext(ctx, `UPDATE workflow_runs SET published = 1 WHERE id = ?`, id); err != nil {
			return false, fmt.Errorf("publish: %w", err)
		}
		return true, bump(ctx, tx)
	}
	return true, nil
}

func insertRun(ctx context.Context, tx *sql.Tx, run WorkflowRun, m result.Manifest, digest string, published bool) (int64, error) {
	manifest, err := json.Marshal(m)
	if err != nil {
		return 0, fmt.Errorf("manifest: %w", err)
	}
	keys, err := json.Marshal(append([]string{}, run.ConfigKeys...))
	if err != nil {
		return 0, fmt.Errorf("config keys: %w", err)
	}
	res, err := tx.ExecContext(ctx, `INSERT INTO workflow_runs (github_run_id, run_attempt, name, head_sha, head_branch, event, conclusion,
		html_url, base_sha, created_at, run_started_at, date, config_keys, description, pr_link, published, digest, manifest)
		VALUES (?, ?, ?, ?, ?, ?, nullif(?, ''), ?, ?, ?, nullif(?, ''), ?, ?, ?, ?, ?, ?, ?)`,
		run.ID, run.Attempt, run.Name, run.HeadSHA, run.Branch, run.Event, run.Conclusion, run.URL, run.Base,
		stamp(run.Created), stamp(run.Started), run.Created.UTC().Format(time.DateOnly), string(keys), run.Description, run.PRLink,
		published, digest, string(manifest))
	if err != nil {
		return 0, fmt.Errorf("insert run: %w", err)
	}
	return res.LastInsertId()
}

// bump starts a new generation.
func bump(ctx context.Context, tx *sql.Tx) error {
	if _, err := tx.ExecContext(ctx, `UPDATE generation SET n = n + 1`); err != nil {
		return fmt.Errorf("new generation: %w", err)
	}
	return nil
}

// stamp spells a time as the API does, empty for none.
func stamp(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}
