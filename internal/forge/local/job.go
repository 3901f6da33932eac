package local

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

type wireJob struct {
	ID         int64   `json:"id"`
	NodeID     string  `json:"node_id"`
	RunURL     string  `json:"run_url"`
	CheckURL   string  `json:"check_run_url"`
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

	Labels      []string `json:"labels"`
	RunnerID    *int64   `json:"runner_id"` // runs have no runner of their own here
	RunnerName  *string  `json:"runner_name"`
	RunnerGroup *int64   `json:"runner_group_id"`
	GroupName   *string  `json:"runner_group_name"`
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
		NodeID: fmt.Sprintf("CR_%d", r.id), RunURL: c.links.api("/actions/runs/%d", r.id), CheckURL: c.links.api("/check-runs/%d", r.id),
		Labels: []string{},
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

// jobLog says where the run's log is, if there is one.
func (s *Server) jobLog(c call) (answer, error) {
	r, err := s.runNumbered(c)
	if err != nil {
		return answer{}, err
	}
	if _, err := os.Stat(filepath.Join(s.runDir(r), "log.txt")); errors.Is(err, os.ErrNotExist) {
		return answer{}, errNotFound
	}
	return s.stored("logs", r.id)
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
