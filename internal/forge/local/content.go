package local

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
)

type wireContent struct {
	Type string `json:"type"`
	Name string `json:"name"`
	Path string `json:"path"`
	SHA  string `json:"sha"`
	Size int    `json:"size"`
	URL  string `json:"url"`
	HTML string `json:"html_url"`
	Git  string `json:"git_url"`

	Download *string      `json:"download_url"` // none: raw contents are asked for by media type
	Links    contentLinks `json:"_links"`

	Encoding *string `json:"encoding,omitempty"` // of a file's own page
	Content  *string `json:"content,omitempty"`
	Target   *string `json:"target,omitempty"` // of a symbolic link
}

type contentLinks struct {
	Self string `json:"self"`
	Git  string `json:"git"`
	HTML string `json:"html"`
}

// inline is the largest file whose bytes come with its description.
const inline = 1 << 20

// contents is a file, a folder as a list, or a link that is not followed: one
// that leads to a file of the repository is answered as that file.
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
	if n.mode == "120000" {
		if file, ok, err := s.followed(ctx, at.tree, path, n); err != nil {
			return answer{}, err
		} else if ok { // its content, under the link's own name
			n = file
		}
	}
	if n.folder() {
		return s.folder(c, n.sha, path, name)
	}
	return s.content(c, n, path, name)
}

// content is the page of one file, or of what is listed as if it were one.
func (s *Server) content(c call, n node, path, ref string) (answer, error) {
	w := c.links.content(n, path, ref)
	if w.Type == "submodule" {
		return ok(w)
	}
	data, err := s.object(c.Context(), "blob", n.sha)
	if err != nil {
		return answer{}, err
	}
	text, encoding := "", "none"
	w.Size = len(data)
	switch {
	case w.Type == "symlink":
		text = string(data)
		w.Target = &text
		return ok(w)
	case wantsRaw(c):
		return rawAnswer(data), nil
	case len(data) <= inline:
		text, encoding = base64.StdEncoding.EncodeToString(data), "base64"
	}
	w.Content, w.Encoding = &text, &encoding
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
	w := wireContent{
		Type: kind, Name: path[strings.LastIndex(path, "/")+1:], Path: path, SHA: n.sha,
		URL: l.api("/contents/%s?ref=%s", escaped(path), url.QueryEscape(ref)), HTML: l.html("/blob/%s/%s", escaped(ref), escaped(path)),
		Git: l.api("/git/%ss/%s", n.kind(), n.sha),
	}
	w.Links = contentLinks{Self: w.URL, Git: w.Git, HTML: w.HTML}
	return w
}
