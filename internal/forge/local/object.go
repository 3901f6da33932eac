package local

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// personFor is a login as the author of a commit made now.
func (s *Server) personFor(login string) person {
	return person{Name: login, Email: login + "@localhost", Date: s.Now().UTC().Format(time.RFC3339)}
}

type wireBlob struct {
	SHA      string `json:"sha"`
	NodeID   string `json:"node_id"`
	Size     int    `json:"size"`
	URL      string `json:"url"`
	Content  string `json:"content"`
	Encoding string `json:"encoding"`
}

func (s *Server) createBlob(c call) (answer, error) {
	var in struct{ Content, Encoding string }
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	data := []byte(in.Content)
	switch in.Encoding {
	case "", "utf-8":
	case "base64":
		var err error
		if data, err = base64.StdEncoding.DecodeString(in.Content); err != nil {
			return answer{}, refuse(422, "content is not valid Base64")
		}
	default:
		return answer{}, refuse(422, "encoding %q is not supported", in.Encoding)
	}
	sha, err := s.write(c.Context(), "blob", data)
	if err != nil {
		return answer{}, err
	}
	return created(wireLink{SHA: sha, URL: c.links.api("/git/blobs/%s", sha)})
}

func (s *Server) blob(c call) (answer, error) {
	sha := c.PathValue("sha")
	if s.kind(c.Context(), sha) != "blob" {
		return answer{}, errNotFound
	}
	data, err := s.object(c.Context(), "blob", sha)
	if err != nil {
		return answer{}, err
	}
	if wantsRaw(c) {
		return rawAnswer(data), nil
	}
	return ok(wireBlob{
		SHA: sha, NodeID: "B_" + sha, Size: len(data), URL: c.links.api("/git/blobs/%s", sha),
		Content: base64.StdEncoding.EncodeToString(data), Encoding: "base64",
	})
}

func wantsRaw(c call) bool { return strings.Contains(c.Header.Get("Accept"), "raw") }

func rawAnswer(data []byte) answer {
	return answer{status: http.StatusOK, raw: append([]byte{}, data...), mime: "application/vnd.github.raw; charset=utf-8"}
}

type wireTree struct {
	SHA       string      `json:"sha"`
	URL       string      `json:"url"`
	Entries   []wireEntry `json:"tree"`
	Truncated bool        `json:"truncated"`
}

type wireEntry struct {
	Path string `json:"path"`
	Mode string `json:"mode"`
	Type string `json:"type"`
	SHA  string `json:"sha"`
	Size *int64 `json:"size,omitempty"` // of files, in recursive answers
	URL  string `json:"url"`
}

func (l links) entry(path string, n node) wireEntry {
	mode := n.mode
	if n.folder() {
		mode = "040000"
	}
	return wireEntry{Path: path, Mode: mode, Type: n.kind(), SHA: n.sha, URL: l.api("/git/%ss/%s", n.kind(), n.sha)}
}

func (s *Server) tree(c call) (answer, error) {
	sha := c.PathValue("sha")
	kind := s.kind(c.Context(), sha)
	if kind == "commit" {
		at, err := s.readCommit(c.Context(), sha)
		if err != nil {
			return answer{}, err
		}
		sha, kind = at.tree, "tree"
	}
	if kind != "tree" {
		return answer{}, errNotFound
	}
	w, err := s.wireTree(c, sha, c.URL.Query().Has("recursive"))
	if err != nil {
		return answer{}, err
	}
	return ok(w)
}

func (s *Server) wireTree(c call, sha string, deep bool) (wireTree, error) {
	w := wireTree{SHA: sha, URL: c.links.api("/git/trees/%s", sha), Entries: []wireEntry{}}
	if deep {
		err := s.deepEntries(c, &w)
		return w, err
	}
	nodes, err := s.readTree(c.Context(), sha)
	for _, n := range nodes {
		w.Entries = append(w.Entries, c.links.entry(n.name, n))
	}
	return w, err
}

// deepEntries lists a tree with everything below it, in one question to git.
func (s *Server) deepEntries(c call, w *wireTree) error {
	list, err := s.Git.Git(c.Context(), "ls-tree", "-r", "-t", "-l", "-z", w.SHA)
	if err != nil {
		return err
	}
	for line := range strings.SplitSeq(strings.TrimSuffix(string(list), "\x00"), "\x00") {
		about, path, ok := strings.Cut(line, "\t")
		field := strings.Fields(about) // mode, type, name, size
		if line == "" {
			break // an empty tree
		}
		if !ok || len(field) != 4 {
			return fmt.Errorf("git ls-tree: cannot read %q", line)
		}
		e := c.links.entry(path, node{mode: strings.TrimPrefix(field[0], "0"), sha: field[2]})
		if size, err := strconv.ParseInt(field[3], 10, 64); err == nil { // "-" for what is no file
			e.Size = &size
		}
		w.Entries = append(w.Entries, e)
	}
	return nil
}

// createTree makes a tree from a base and changed entries; an entry whose hash
// is null removes its path.
func (s *Server) createTree(c call) (answer, error) {
	var in struct {
		BaseTree string `json:"base_tree"`
		Tree     []struct {
			Path, Mode, Type string
			SHA, Content     *string
		}
	}
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	ctx := c.Context()
	if in.BaseTree != "" && s.kind(ctx, in.BaseTree) == "commit" {
		at, err := s.readCommit(ctx, in.BaseTree)
		if err != nil {
			return answer{}, err
		}
		in.BaseTree = at.tree
	}
	if in.BaseTree != "" && s.kind(ctx, in.BaseTree) != "tree" {
		return answer{}, refuse(422, "base_tree is not a valid tree oid")
	}
	changes := map[string]change{}
	for _, e := range in.Tree {
		made, err := s.changeOf(c, e.Path, e.Mode, e.SHA, e.Content)
		if err != nil {
			return answer{}, err
		}
		changes[e.Path] = made
	}
	sha, err := s.graft(ctx, in.BaseTree, changes)
	if err == nil && sha == "" {
		sha, err = s.write(ctx, "tree", nil)
	}
	if err != nil {
		return answer{}, err
	}
	w, err := s.wireTree(c, sha, false)
	return answer{status: http.StatusCreated, body: w}, err
}

var modes = map[string]string{"100644": "blob", "100755": "blob", "120000": "blob", "040000": "tree", "160000": "commit"}

func (s *Server) changeOf(c call, path, mode string, sha, content *string) (change, error) {
	if err := checkPath(path); err != nil {
		return change{}, err
	}
	if sha == nil && content == nil {
		return change{}, nil
	}
	kind, known := modes[mode]
	if !known {
		return change{}, refuse(422, "tree.mode %q is not supported", mode)
	}
	if content != nil {
		made, err := s.write(c.Context(), "blob", []byte(*content))
		return change{mode: mode, sha: made}, err
	}
	if kind != "commit" && s.kind(c.Context(), *sha) != kind || !hash.MatchString(*sha) {
		return change{}, refuse(422, "tree.sha %s is not a valid %s", *sha, kind)
	}
	return change{mode: strings.TrimPrefix(mode, "0"), sha: *sha}, nil
}

func (s *Server) createCommit(c call) (answer, error) {
	var in struct {
		Message, Tree     string
		Parents           []string
		Author, Committer *person
	}
	if err := c.read(&in); err != nil {
		return answer{}, err
	}
	ctx := c.Context()
	if s.kind(ctx, in.Tree) != "tree" {
		return answer{}, refuse(422, "Tree SHA does not exist")
	}
	if slices.ContainsFunc(in.Parents, func(p string) bool { return s.kind(ctx, p) != "commit" }) {
		return answer{}, refuse(422, "Parent SHA does not exist or is not a commit object")
	}
	if strings.TrimSpace(in.Message) == "" {
		return answer{}, invalid("Commit", "message", "missing_field", "")
	}
	made := commit{tree: in.Tree, parents: in.Parents, message: in.Message, author: s.personFor(c.login)}
	if in.Author != nil {
		made.author = s.dated(*in.Author)
	}
	if made.committer = made.author; in.Committer != nil {
		made.committer = s.dated(*in.Committer)
	}
	data, err := made.encode()
	if err != nil {
		return answer{}, err
	}
	sha, err := s.write(ctx, "commit", data)
	if err != nil {
		return answer{}, err
	}
	if made, err = s.readCommit(ctx, sha); err != nil {
		return answer{}, err
	}
	return created(c.links.commit(made))
}

func (s *Server) dated(p person) person {
	if p.Date == "" {
		p.Date = s.Now().UTC().Format(time.RFC3339)
	}
	return p
}

func (s *Server) gitCommit(c call) (answer, error) {
	at, err := s.readCommit(c.Context(), c.PathValue("sha"))
	if err != nil {
		return answer{}, err
	}
	return ok(c.links.commit(at))
}

// commit answers in the other of GitHub's two forms, for a branch, tag or hash.
func (s *Server) commit(c call) (answer, error) {
	sha, err := s.commitAt(c.Context(), c.PathValue("ref"))
	if err != nil {
		return answer{}, err
	}
	at, err := s.readCommit(c.Context(), sha)
	if err != nil {
		return answer{}, err
	}
	return ok(c.links.listed(at))
}
