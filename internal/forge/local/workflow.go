package local

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"path"
	"slices"
	"strings"
)

type wireWorkflow struct {
	ID      int64   `json:"id"`
	NodeID  string  `json:"node_id"`
	Name    string  `json:"name"`
	Path    string  `json:"path"`
	State   string  `json:"state"`
	Created *string `json:"created_at"`
	Updated *string `json:"updated_at"`
	URL     string  `json:"url"`
	HTML    string  `json:"html_url"`
	Badge   string  `json:"badge_url"`
}

func workflowID(file string) int64 { return int64(crc32.ChecksumIEEE([]byte(file))) }

func (s *Server) wireWorkflow(l links, file string) wireWorkflow {
	id, path := workflowID(file), escaped(file)
	return wireWorkflow{
		ID: id, NodeID: fmt.Sprintf("W_%d", id), Name: workflowName(file), Path: ".github/workflows/" + file, State: "active",
		Created: stamp(s.since), Updated: stamp(s.since),
		URL: l.api("/actions/workflows/%d", id), HTML: l.html("/blob/%s/.github/workflows/%s", s.branch, path),
		Badge: l.html("/actions/workflows/%s/badge.svg", path),
	}
}

func workflowName(file string) string { return strings.TrimSuffix(file, path.Ext(file)) }

// workflowFiles lists the workflow files of the default branch.
func (s *Server) workflowFiles(ctx context.Context) ([]string, error) {
	sha, err := s.commitAt(ctx, s.branch)
	if err != nil {
		return nil, nil // no commit yet
	}
	at, err := s.readCommit(ctx, sha)
	if err != nil {
		return nil, err
	}
	folder, err := s.find(ctx, at.tree, ".github/workflows")
	if errors.Is(err, errNotFound) || err == nil && !folder.folder() {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	nodes, err := s.readTree(ctx, folder.sha)
	var names []string
	for _, n := range nodes {
		if ext := path.Ext(n.name); n.kind() == "blob" && (ext == ".yml" || ext == ".yaml") {
			names = append(names, n.name)
		}
	}
	return names, err
}

// workflows lists the workflow files of the default branch.
func (s *Server) workflows(c call) (answer, error) {
	names, err := s.workflowFiles(c.Context())
	if err != nil {
		return answer{}, err
	}
	slices.Sort(names)
	part, link := page(c, names)
	var body struct {
		Total     int            `json:"total_count"`
		Workflows []wireWorkflow `json:"workflows"`
	}
	body.Total = len(names)
	body.Workflows = each(part, func(name string) wireWorkflow { return s.wireWorkflow(c.links, name) })
	return answer{status: http.StatusOK, body: body, link: link}, nil
}
