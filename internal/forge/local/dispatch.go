package local

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// A dispatchPayload describes a workflow_dispatch event.
type dispatchPayload struct {
	Inputs   map[string]string `json:"inputs"`
	Ref      string            `json:"ref"`
	Workflow string            `json:"workflow"`
	Repo     *wireRepo         `json:"repository"`
	Sender   *wireUser         `json:"sender"`
}

// dispatch starts a workflow of the default branch on a branch or tag.
func (s *Server) dispatch(c call) (answer, error) {
	var in struct {
		Ref     string
		Inputs  map[string]any
		Details bool `json:"return_run_details"`
	}
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	ctx, file := c.Context(), c.PathValue("file")
	files, err := s.workflowFiles(ctx)
	if err != nil {
		return answer{}, err
	}
	if known := strings.Join(files, "/"); !strings.Contains("/"+known+"/", "/"+file+"/") {
		return answer{}, refuse(http.StatusNotFound, "Not Found: no workflow %s on %s", file, s.branch)
	}
	at, full, err := s.dispatchRef(ctx, in.Ref)
	if err != nil {
		return answer{}, err
	}
	inputs, err := inputsOf(in.Inputs)
	if err != nil {
		return answer{}, err
	}
	payload, err := json.Marshal(dispatchPayload{
		Inputs: inputs, Ref: full, Workflow: ".github/workflows/" + file, Repo: s.wireRepo(c.links), Sender: c.links.user(c.login),
	})
	if err != nil {
		return answer{}, err
	}
	r := run{
		workflow: file, event: "workflow_dispatch", title: dispatchTitle(file, inputs), headSHA: at,
		headBranch: strings.TrimPrefix(strings.TrimPrefix(full, "refs/heads/"), "refs/tags/"), actor: c.login, payload: payload,
	}
	if err := s.tx(ctx, func(tx *sql.Tx) error { r, err = s.queue(ctx, tx, r); return err }); err != nil {
		return answer{}, err
	}
	s.work.wake()
	if !in.Details {
		return answer{status: http.StatusNoContent}, nil
	}
	var body struct {
		ID   int64  `json:"workflow_run_id"`
		URL  string `json:"run_url"`
		HTML string `json:"html_url"`
	}
	body.ID, body.URL, body.HTML = r.id, c.links.api("/actions/runs/%d", r.id), c.links.html("/actions/runs/%d", r.id)
	return ok(body)
}

// dispatchRef resolves a branch or tag, by short or full name; hashes are refused.
func (s *Server) dispatchRef(ctx context.Context, name string) (sha, full string, err error) {
	short := strings.TrimPrefix(name, "refs/")
	for _, full := range []string{"refs/heads/" + name, "refs/tags/" + name, "refs/" + short} {
		if _, err := s.refNamed(ctx, full); err == nil && strings.Count(full, "/") > 1 {
			sha, err := s.commitAt(ctx, full)
			return sha, full, err
		}
	}
	return "", "", refuse(http.StatusUnprocessableEntity, "No ref found for: %s", name)
}

// inputsOf checks dispatch inputs: at most 25, each text, number or boolean.
func inputsOf(raw map[string]any) (map[string]string, error) {
	inputs := map[string]string{}
	for k, v := range raw {
		switch v.(type) {
		case string, bool, float64:
			inputs[k] = fmt.Sprint(v)
		default:
			return nil, refuse(422, "Invalid value for input '%s'", k)
		}
	}
	if len(inputs) > 25 {
		return nil, refuse(422, "you may only define up to 25 inputs for a workflow_dispatch event")
	}
	return inputs, nil
}

// dispatchTitle is what the end-to-end workflow sets as its run name; a
// workflow without one shows its own.
func dispatchTitle(file string, inputs map[string]string) string {
	if name := inputs["test-name"]; name != "" {
		return "e2e Test - " + name
	}
	return workflowName(file)
}
