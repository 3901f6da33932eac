package local

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// A change is what a new tree has at one path; no hash removes the path.
type change struct {
	mode string
	sha  string
}

// graft writes a tree that differs from base ("" is the empty tree) in the given
// paths. It returns "" when nothing is left, for git keeps no empty folders.
func (s *Server) graft(ctx context.Context, base string, changes map[string]change) (string, error) {
	nodes := map[string]node{}
	if base != "" {
		old, err := s.readTree(ctx, base)
		if err != nil {
			return "", err
		}
		for _, n := range old {
			nodes[n.name] = n
		}
	}
	below := map[string]map[string]change{}
	for path, c := range changes {
		first, rest, deep := strings.Cut(path, "/")
		switch {
		case deep && below[first] == nil:
			below[first] = map[string]change{rest: c}
		case deep:
			below[first][rest] = c
		case c.sha == "":
			delete(nodes, first)
		default:
			nodes[first] = node{mode: c.mode, name: first, sha: c.sha}
		}
	}
	for name, inner := range below {
		old := ""
		if n, ok := nodes[name]; ok && n.folder() {
			old = n.sha
		}
		sha, err := s.graft(ctx, old, inner)
		if err != nil {
			return "", err
		}
		if delete(nodes, name); sha != "" {
			nodes[name] = node{mode: "40000", name: name, sha: sha}
		}
	}
	if len(nodes) == 0 {
		return "", nil
	}
	return s.write(ctx, "tree", encodeTree(nodes))
}

// encodeTree writes entries in git's order: folders sort as if they ended in "/".
func encodeTree(nodes map[string]node) []byte {
	list := make([]node, 0, len(nodes))
	for _, n := range nodes {
		list = append(list, n)
	}
	place := func(n node) string {
		if n.folder() {
			return n.name + "/"
		}
		return n.name
	}
	slices.SortFunc(list, func(a, b node) int { return cmp.Compare(place(a), place(b)) })
	var b bytes.Buffer
	for _, n := range list {
		raw, _ := hex.DecodeString(n.sha) // hashes are checked when they come in
		b.WriteString(n.mode + " " + n.name + "\x00")
		b.Write(raw)
	}
	return b.Bytes()
}

// checkPath refuses what git would refuse at checkout.
func checkPath(path string) error {
	ok := fs.ValidPath(path) && path != "." && !strings.ContainsRune(path, 0)
	for part := range strings.SplitSeq(path, "/") {
		ok = ok && !strings.EqualFold(part, ".git")
	}
	if !ok {
		return refuse(422, "tree.path contains a malformed path component")
	}
	return nil
}

// find returns the entry at a path of a tree; none is a 404.
func (s *Server) find(ctx context.Context, tree, path string) (node, error) {
	at := node{mode: "40000", sha: tree}
	if path == "" {
		return at, nil
	}
	for part := range strings.SplitSeq(path, "/") {
		if !at.folder() {
			return node{}, errNotFound
		}
		nodes, err := s.readTree(ctx, at.sha)
		if err != nil {
			return node{}, err
		}
		i := slices.IndexFunc(nodes, func(n node) bool { return n.name == part })
		if i < 0 {
			return node{}, errNotFound
		}
		at = nodes[i]
	}
	return at, nil
}

// A node is one entry of a tree object.
type node struct {
	mode, name, sha string
}

func (n node) folder() bool { return n.mode == "40000" }

func (n node) regular() bool { return n.kind() == "blob" && n.mode != "120000" }

// kind of the object an entry names.
func (n node) kind() string {
	switch n.mode {
	case "40000":
		return "tree"
	case "160000":
		return "commit"
	}
	return "blob"
}

// readTree reads a tree object.
func (s *Server) readTree(ctx context.Context, sha string) ([]node, error) {
	data, err := s.object(ctx, "tree", sha)
	if err != nil {
		return nil, err
	}
	var nodes []node
	for len(data) > 0 {
		mode, rest, ok := bytes.Cut(data, []byte(" "))
		name, rest, found := bytes.Cut(rest, []byte{0})
		if !ok || !found || len(rest) < 20 {
			return nil, fmt.Errorf("tree %s: malformed", sha)
		}
		nodes = append(nodes, node{mode: string(mode), name: string(name), sha: hex.EncodeToString(rest[:20])})
		data = rest[20:]
	}
	return nodes, nil
}
