package local

import (
	"encoding/base64"
	"net/http"
	"strings"
)

type wireContent struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Path     string `json:"path"`
	SHA      string `json:"sha"`
	Size     int    `json:"size"`
	URL      string `json:"url"`
	HTML     string `json:"html_url"`
	Encoding string `json:"encoding,omitempty"`
	Content  string `json:"content,omitempty"`
}

// inline is the largest file whose bytes come with its description.
const inline = 1 << 20

func (s *Server) contents(c call) (answer, error) {
	ctx, path, name := c.Context(), strings.Trim(c.PathValue("path"), "/"), c.URL.Query().Get("ref")
	if name == "" {
		name = s.branch
	}
	sha, err := s.commitAt(ctx, name)
	if err != nil {
		return answer{}, refuse(http.StatusNotFound, "No commit found for the ref %s", name)
	}
	at, err := s.readCommit(ctx, sha)
	if err != nil {
		return answer{}, err
	}
	n, err := s.find(ctx, at.tree, path)
	if err != nil {
		return answer{}, err
	}
	if n.folder() {
		return s.folder(c, n.sha, path, name)
	}
	w := c.links.content(n, path, name)
	if w.Type != "file" {
		return ok(w)
	}
	data, err := s.object(ctx, "blob", n.sha)
	if err != nil {
		return answer{}, err
	}
	if wantsRaw(c) {
		return rawAnswer(data), nil
	}
	if w.Size, w.Encoding = len(data), "none"; len(data) <= inline {
		w.Encoding, w.Content = "base64", base64.StdEncoding.EncodeToString(data)
	}
	return ok(w)
}

func (s *Server) folder(c call, sha, path, ref string) (answer, error) {
	nodes, err := s.readTree(c.Context(), sha)
	if err != nil {
		return answer{}, err
	}
	all := []wireContent{}
	for _, n := range nodes {
		all = append(all, c.links.content(n, strings.TrimPrefix(path+"/"+n.name, "/"), ref))
	}
	return ok(all)
}

func (l links) content(n node, path, ref string) wireContent {
	kind := "file"
	switch n.mode {
	case "40000":
		kind = "dir"
	case "120000":
		kind = "symlink"
	case "160000":
		kind = "submodule"
	}
	return wireContent{
		Type: kind, Name: path[strings.LastIndex(path, "/")+1:], Path: path, SHA: n.sha,
		URL: l.api("/contents/%s?ref=%s", path, ref), HTML: l.html("/blob/%s/%s", ref, path),
	}
}
