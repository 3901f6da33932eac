package forge

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// tree is the tree of one commit. Symbolic links are followed inside it.
type tree struct {
	nodes map[string]*node
	blob  func(ctx context.Context, sha string) ([]byte, error)
	ctx   context.Context // of the reads: io/fs has no place for it
}

var (
	_ fs.ReadDirFS  = (*tree)(nil)
	_ fs.ReadFileFS = (*tree)(nil)
	_ fs.StatFS     = (*tree)(nil)
)

// node is one name in a tree; it is its own FileInfo.
type node struct {
	path, object string
	mode         fs.FileMode
	size         int64
	children     []fs.DirEntry // sorted by name
}

const maxLinks = 40

var (
	errNotDir = errors.New("not a folder")
	errDir    = errors.New("is a folder")
	errClimb  = errors.New("link leads out of the tree")
	errLoop   = errors.New("too many links")
)

// plant gives every folder its children. A name whose folder is not listed has none.
func plant(nodes map[string]*node) {
	for p, n := range nodes {
		if above := nodes[path.Dir(p)]; p != "." && above != nil {
			above.children = append(above.children, fs.FileInfoToDirEntry(n))
		}
	}
	for _, n := range nodes {
		slices.SortFunc(n.children, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
}

// Open opens a file, whose content is read now, or a folder.
func (t *tree) Open(name string) (fs.File, error) {
	n, err := t.find("open", name)
	if err != nil {
		return nil, err
	}
	if n.IsDir() {
		return &folder{node: n}, nil
	}
	data, err := t.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return &file{n, bytes.NewReader(data)}, nil
}

// ReadFile reads a whole file.
func (t *tree) ReadFile(name string) ([]byte, error) {
	n, err := t.find("read", name)
	if err == nil && n.IsDir() {
		err = &fs.PathError{Op: "read", Path: name, Err: errDir}
	}
	if err != nil {
		return nil, err
	}
	data, err := t.blob(t.ctx, n.object)
	return bytes.Clone(data), err
}

// ReadDir lists a folder, sorted by name.
func (t *tree) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := t.find("readdir", name)
	if err == nil && !n.IsDir() {
		err = &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	if err != nil {
		return nil, err
	}
	return slices.Clone(n.children), nil
}

// Stat describes what a name leads to.
func (t *tree) Stat(name string) (fs.FileInfo, error) { return t.find("stat", name) }

// find looks a name up, following links in it.
func (t *tree) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	at := name
	for range maxLinks {
		n, rest := t.step(at)
		if n == nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
		}
		if n.mode.Type() != fs.ModeSymlink {
			return n, nil
		}
		target, err := t.blob(t.ctx, n.object)
		if err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
		at = path.Join(path.Dir(n.path), string(target), rest)
		if path.IsAbs(string(target)) || !fs.ValidPath(at) {
			return nil, &fs.PathError{Op: op, Path: name, Err: errClimb}
		}
	}
	return nil, &fs.PathError{Op: op, Path: name, Err: errLoop}
}

// step is the node at a path, or the first link on the way and what follows
// it; nil when there is none.
func (t *tree) step(at string) (*node, string) {
	if n := t.nodes[at]; n != nil {
		return n, ""
	}
	for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
		if n := t.nodes[dir]; n != nil && n.mode.Type() == fs.ModeSymlink {
			return n, strings.TrimPrefix(at, dir+"/")
		}
	}
	return nil, ""
}

func (n *node) Name() string       { return path.Base(n.path) }
func (n *node) Size() int64        { return n.size }
func (n *node) Mode() fs.FileMode  { return n.mode }
func (n *node) ModTime() time.Time { return time.Time{} }
func (n *node) IsDir() bool        { return n.mode.IsDir() }
func (n *node) Sys() any           { return nil }

// file is an open file.
type file struct {
	*node
	*bytes.Reader
}

// Size is the file's length, whatever was read of it.
func (f *file) Size() int64 { return f.node.size }

// Stat describes the file.
func (f *file) Stat() (fs.FileInfo, error) { return f.node, nil }

// Close does nothing.
func (f *file) Close() error { return nil }

// folder is an open folder; next counts what was listed.
type folder struct {
	*node
	next int
}

// Stat describes the folder.
func (f *folder) Stat() (fs.FileInfo, error) { return f.node, nil }

// Close does nothing.
func (f *folder) Close() error { return nil }

// Read fails: a folder has no bytes.
func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: f.path, Err: errDir}
}

// ReadDir lists the next n children, or all that are left.
func (f *folder) ReadDir(n int) ([]fs.DirEntry, error) {
	left := f.children[f.next:]
	if n > 0 && len(left) == 0 {
		return nil, io.EOF
	}
	if n > 0 && n < len(left) {
		left = left[:n]
	}
	f.next += len(left)
	return slices.Clone(left), nil
}
