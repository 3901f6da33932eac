package local

import (
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
)

type wireJob struct {
	ID         int64   `json:"id"`
	RunID      int64   `json:"run_id"`
	Attempt    int     `json:"run_attempt"`
	Name       string  `json:"name"`
	Workflow   string  `json:"workflow_name"`
	HeadSHA    string  `json:"head_sha"`
	Branch     string  `json:"head_branch"`
	Status     string  `json:"status"`
	Conclusion *string `json:"conclusion"`
	Created    *string `json:"created_at"`
	Started    *string `json:"started_at"`
	Completed  *string `json:"completed_at"`
	URL        string  `json:"url"`
	HTML       string  `json:"html_url"`
	Steps      []int   `json:"steps"`
}

// jobs lists the one job that every run has here; it bears the run's id.
func (s *Server) jobs(c call) (answer, error) {
	r, err := s.runNumbered(c)
	if err != nil {
		return answer{}, err
	}
	job := wireJob{
		ID: r.id, RunID: r.id, Attempt: r.attempt, Name: workflowName(r.workflow), Workflow: workflowName(r.workflow),
		HeadSHA: r.headSHA, Branch: r.headBranch, Status: r.status, Created: stamp(r.created), Started: stamp(r.started),
		URL: c.links.api("/actions/jobs/%d", r.id), HTML: c.links.html("/actions/runs/%d/job/%d", r.id, r.id), Steps: []int{},
	}
	if r.status == "completed" {
		job.Conclusion, job.Completed = &r.conclusion, stamp(r.updated)
	}
	var body struct {
		Total int       `json:"total_count"`
		Jobs  []wireJob `json:"jobs"`
	}
	body.Total, body.Jobs = 1, []wireJob{job}
	return ok(body)
}

// maxLog bounds how much of a log is sent: its end.
const maxLog = 8 << 20

// jobLog sends the run's log as text.
func (s *Server) jobLog(c call) (answer, error) {
	r, err := s.runNumbered(c)
	if err != nil {
		return answer{}, err
	}
	data, err := tail(filepath.Join(s.runDir(r), "log.txt"), maxLog)
	if errors.Is(err, os.ErrNotExist) {
		return answer{}, errNotFound
	}
	return answer{status: http.StatusOK, raw: data, mime: "text/plain; charset=utf-8"}, err
}

// tail reads at most the last n bytes of a file.
func tail(path string, n int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-n)
	data := make([]byte, min(info.Size(), n))
	read, err := f.ReadAt(data, from)
	if err == io.EOF {
		err = nil
	}
	return data[:read], err
}
