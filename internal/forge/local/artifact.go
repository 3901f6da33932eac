package local

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
)

type artifact struct {
	id, run, size, created int64
	attempt                int
	name, digest, file     string
	headSHA, headBranch    string
}

const artifactQuery = `SELECT a.id, a.run, a.attempt, a.size, a.created, a.name, a.digest, a.file, r.head_sha, r.head_branch
	FROM artifact a JOIN run r ON r.id = a.run WHERE `

func scanArtifact(r *sql.Rows) (artifact, error) {
	var a artifact
	return a, r.Scan(&a.id, &a.run, &a.attempt, &a.size, &a.created, &a.name, &a.digest, &a.file, &a.headSHA, &a.headBranch)
}

type wireArtifact struct {
	ID      int64   `json:"id"`
	NodeID  string  `json:"node_id"`
	Name    string  `json:"name"`
	Size    int64   `json:"size_in_bytes"`
	URL     string  `json:"url"`
	Archive string  `json:"archive_download_url"`
	Expired bool    `json:"expired"`
	Digest  string  `json:"digest"`
	Created *string `json:"created_at"`
	Updated *string `json:"updated_at"`
	Expires *string `json:"expires_at"`
	Run     wireOf  `json:"workflow_run"`
}

type wireOf struct {
	ID       int64  `json:"id"`
	Repo     int64  `json:"repository_id"`
	HeadRepo int64  `json:"head_repository_id"`
	Branch   string `json:"head_branch"`
	SHA      string `json:"head_sha"`
}

func (s *Server) artifactFile(a artifact) string {
	return filepath.Join(s.runDir(run{id: a.run, attempt: a.attempt}), a.file)
}

func (s *Server) wireArtifact(l links, a artifact) wireArtifact {
	_, err := os.Stat(s.artifactFile(a))
	repo := s.wireRepo(l).ID
	return wireArtifact{
		ID: a.id, NodeID: fmt.Sprintf("A_%d", a.id), Name: a.name, Size: a.size, Digest: a.digest, Expired: err != nil,
		URL: l.api("/actions/artifacts/%d", a.id), Archive: l.api("/actions/artifacts/%d/zip", a.id),
		Created: stamp(a.created), Updated: stamp(a.created), Run: wireOf{a.run, repo, repo, a.headBranch, a.headSHA},
	}
}

func (s *Server) artifacts(c call) (answer, error) {
	r, err := s.runNumbered(c)
	if err != nil {
		return answer{}, err
	}
	where, args := `a.run = ?`, []any{r.id}
	if name := c.URL.Query().Get("name"); name != "" {
		where, args = where+` AND a.name = ?`, append(args, name)
	}
	found, err := rows(c.Context(), s.db, scanArtifact, artifactQuery+where+` ORDER BY a.id`, args...)
	if err != nil {
		return answer{}, err
	}
	part, link := page(c, found)
	var body struct {
		Total     int            `json:"total_count"`
		Artifacts []wireArtifact `json:"artifacts"`
	}
	body.Total = len(found)
	body.Artifacts = each(part, func(a artifact) wireArtifact { return s.wireArtifact(c.links, a) })
	return answer{status: http.StatusOK, body: body, link: link}, nil
}

func (s *Server) artifactNumbered(c call) (artifact, error) {
	id, err := c.number("id")
	if err != nil {
		return artifact{}, err
	}
	return one(c.Context(), s.db, scanArtifact, artifactQuery+`a.id = ?`, id)
}

func (s *Server) artifact(c call) (answer, error) {
	a, err := s.artifactNumbered(c)
	if err != nil {
		return answer{}, err
	}
	return ok(s.wireArtifact(c.links, a))
}

var errExpired = refuse(http.StatusGone, "Artifact has expired")

// artifactZip says where the archive is, if it is still there.
func (s *Server) artifactZip(c call) (answer, error) {
	a, err := s.artifactNumbered(c)
	if err != nil {
		return answer{}, err
	}
	if _, err := os.Stat(s.artifactFile(a)); errors.Is(err, fs.ErrNotExist) {
		return answer{}, errExpired
	}
	return s.stored("artifacts", a.id)
}
