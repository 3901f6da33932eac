package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxBlob bounds one file read out of git, in bytes.
const maxBlob = 256 << 20

var errTooLarge = errors.New("larger than 256 MiB")

// Tree is the tree of one commit as a file system. Names are listed when it is
// made, contents are read when asked for, through one git process that starts
// with the first read. That process ends with Close, with the context given to
// FS, or when the tree is no longer reachable. Symbolic links are followed
// inside the tree; submodules are empty folders. Safe for concurrent use.
type Tree struct {
	batch   *batch
	nodes   map[string]*node
	Commit  string
	maxLink int
}

var (
	_ fs.ReadDirFS  = (*Tree)(nil)
	_ fs.ReadFileFS = (*Tree)(nil)
	_ fs.StatFS     = (*Tree)(nil)
)

// node is one name in the tree; it is its own FileInfo and DirEntry.
type node struct {
	path, object string
	mode         fs.FileMode
	size         int64
	children     []fs.DirEntry // sorted by name
}

// FS is the whole tree of a commit; its type is *Tree.
func (r Repo) FS(ctx context.Context, rev string) (fs.FS, error) {
	commit, err := r.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	list, err := r.Git(ctx, "ls-tree", "-r", "-t", "-z", "-l", "--full-tree", commit)
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(list)
	if err != nil {
		return nil, err
	}
	t := &Tree{batch: &batch{ctx: ctx, repo: r}, nodes: plant(entries), Commit: commit, maxLink: 40}
	runtime.AddCleanup(t, func(b *batch) { b.close() }, t.batch)
	return t, nil
}

// Close ends the git process. Later reads fail.
func (t *Tree) Close() error { return t.batch.close() }

// Open opens a file or folder; a file's content is read with its first byte.
func (t *Tree) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	return &treeFile{tree: t, node: n, name: name}, nil
}

// ReadFile reads a whole file.
func (t *Tree) ReadFile(name string) ([]byte, error) {
	n, err := t.find("read", name)
	if err != nil {
		return nil, err
	}
	data, err := t.content(n)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// ReadDir lists a folder, sorted by name.
func (t *Tree) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	return slices.Clone(n.children), nil
}

// Stat describes what a name leads to.
func (t *Tree) Stat(name string) (fs.FileInfo, error) { return t.find("stat", name) }

var (
	errNotDir = errors.New("not a folder")
	errDir    = errors.New("is a folder")
	errClimb  = errors.New("link leads out of the tree")
	errLoop   = errors.New("too many links")
)

func (t *Tree) content(n *node) ([]byte, error) {
	switch {
	case n.IsDir():
		return nil, errDir
	case n.size > maxBlob:
		return nil, errTooLarge
	}
	defer runtime.KeepAlive(t)
	return t.batch.read(n.object)
}

// find looks a name up, following links in it.
func (t *Tree) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	at, links := name, 0
	for {
		n, rest, err := t.step(at)
		if err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
		if n.mode.Type() != fs.ModeSymlink {
			return n, nil
		}
		if links++; links > t.maxLink {
			return nil, &fs.PathError{Op: op, Path: name, Err: errLoop}
		}
		target, err := t.content(n)
		if err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
		at = path.Join(path.Dir(n.path), string(target), rest)
		if path.IsAbs(string(target)) || !fs.ValidPath(at) {
			return nil, &fs.PathError{Op: op, Path: name, Err: errClimb}
		}
	}
}

// step is the node at a path, or the first link on the way and what follows it.
func (t *Tree) step(at string) (n *node, rest string, err error) {
	if n, ok := t.nodes[at]; ok {
		return n, "", nil
	}
	for dir := path.Dir(at); ; dir = path.Dir(dir) {
		n, ok := t.nodes[dir]
		if ok && n.mode.Type() == fs.ModeSymlink {
			return n, strings.TrimPrefix(at, dir+"/"), nil
		}
		if ok {
			return nil, "", fs.ErrNotExist
		}
	}
}

func plant(entries []treeEntry) map[string]*node {
	nodes := map[string]*node{".": {path: ".", mode: fs.ModeDir | 0o555}}
	for _, e := range entries {
		nodes[e.path] = &node{path: e.path, object: e.object, mode: e.mode, size: e.size}
	}
	for p, n := range nodes {
		if p != "." {
			above := nodes[path.Dir(p)]
			above.children = append(above.children, fs.FileInfoToDirEntry(n))
		}
	}
	for _, n := range nodes {
		slices.SortFunc(n.children, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return nodes
}

func (n *node) Name() string       { return path.Base(n.path) }
func (n *node) Size() int64        { return n.size }
func (n *node) Mode() fs.FileMode  { return n.mode }
func (n *node) ModTime() time.Time { return time.Time{} }
func (n *node) IsDir() bool        { return n.mode.IsDir() }
func (n *node) Sys() any           { return nil }

// treeEntry is one line of git ls-tree -l.
type treeEntry struct {
	path, object string
	mode         fs.FileMode
	size         int64
}

func (e treeEntry) blob() bool { return e.mode.IsRegular() || e.mode.Type() == fs.ModeSymlink }

// parseTree reads "<mode> <type> <object> <size>\t<path>\0" records.
func parseTree(list []byte) ([]treeEntry, error) {
	var out []treeEntry
	for rec := range bytes.SplitSeq(list, []byte{0}) {
		if len(rec) == 0 {
			continue
		}
		head, name, ok := strings.Cut(string(rec), "\t")
		field := strings.Fields(head)
		if !ok || len(field) != 4 {
			return nil, fmt.Errorf("git ls-tree: cannot read %q", rec)
		}
		if !fs.ValidPath(name) {
			return nil, fmt.Errorf("git ls-tree: unsafe path %q", name)
		}
		e := treeEntry{path: name, object: field[2]}
		switch field[0] {
		case "040000", "160000":
			e.mode = fs.ModeDir | 0o555
		case "120000":
			e.mode = fs.ModeSymlink | 0o777
		case "100755":
			e.mode = 0o555
		default:
			e.mode = 0o444
		}
		if e.blob() {
			size, err := strconv.ParseInt(field[3], 10, 64)
			if err != nil || size < 0 {
				return nil, fmt.Errorf("git ls-tree: no size in %q", rec)
			}
			e.size = size
		}
		out = append(out, e)
	}
	return out, nil
}
