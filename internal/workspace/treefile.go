package workspace

import (
	"bytes"
	"io"
	"io/fs"
	"slices"
)

// treeFile is an open file or folder of a snapshot.
type treeFile struct {
	tree   *snapshot
	node   *node
	name   string
	data   *bytes.Reader // nil until the first read
	listed int
	closed bool
}

func (f *treeFile) Stat() (fs.FileInfo, error) {
	if f.closed {
		return nil, &fs.PathError{Op: "stat", Path: f.name, Err: fs.ErrClosed}
	}
	return f.node, nil
}

func (f *treeFile) Close() error {
	if f.closed {
		return &fs.PathError{Op: "close", Path: f.name, Err: fs.ErrClosed}
	}
	f.closed, f.data = true, nil
	return nil
}

func (f *treeFile) load() error {
	if f.closed {
		return &fs.PathError{Op: "read", Path: f.name, Err: fs.ErrClosed}
	}
	if f.data != nil {
		return nil
	}
	data, err := f.tree.content(f.node)
	if err != nil {
		return &fs.PathError{Op: "read", Path: f.name, Err: err}
	}
	f.data = bytes.NewReader(data)
	return nil
}

func (f *treeFile) Read(p []byte) (int, error) {
	if err := f.load(); err != nil {
		return 0, err
	}
	return f.data.Read(p)
}

func (f *treeFile) ReadAt(p []byte, off int64) (int, error) {
	if err := f.load(); err != nil {
		return 0, err
	}
	return f.data.ReadAt(p, off)
}

func (f *treeFile) Seek(offset int64, whence int) (int64, error) {
	if err := f.load(); err != nil {
		return 0, err
	}
	return f.data.Seek(offset, whence)
}

func (f *treeFile) ReadDir(n int) ([]fs.DirEntry, error) {
	if f.closed {
		return nil, &fs.PathError{Op: "readdir", Path: f.name, Err: fs.ErrClosed}
	}
	if !f.node.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: f.name, Err: errNotDir}
	}
	rest := f.node.children[f.listed:]
	if n > 0 && len(rest) == 0 {
		return nil, io.EOF
	}
	if n > 0 && len(rest) > n {
		rest = rest[:n]
	}
	f.listed += len(rest)
	return slices.Clone(rest), nil
}
