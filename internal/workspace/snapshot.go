package workspace

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
)

const (
	maxBlob  = 256 << 20 // of one file read out of a tree, in bytes
	maxLinks = 40        // followed on the way to one name
)

var (
	errTooLarge = errors.New("larger than 256 MiB")
	errNotDir   = errors.New("not a folder")
	errDir      = errors.New("is a folder")
	errClimb    = errors.New("link leads out of the tree")
	errLoop     = errors.New("too many links")
)

// snapshot is a listing whose contents can be read. Symbolic links are
// followed inside it.
type snapshot struct {
	listing *Listing
	read    func(object string) ([]byte, error)
}

var (
	_ fs.ReadDirFS  = (*snapshot)(nil)
	_ fs.ReadFileFS = (*snapshot)(nil)
	_ fs.StatFS     = (*snapshot)(nil)
)

// Open opens a file or folder; a file's content is read with its first byte.
func (s *snapshot) Open(name string) (fs.File, error) {
	n, err := s.find("open", name)
	if err != nil {
		return nil, err
	}
	return &treeFile{tree: s, node: n, name: name}, nil
}

// ReadFile reads a whole file.
func (s *snapshot) ReadFile(name string) ([]byte, error) {
	n, err := s.find("read", name)
	if err != nil {
		return nil, err
	}
	data, err := s.content(n)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return data, nil
}

// ReadDir lists a folder, sorted by name.
func (s *snapshot) ReadDir(name string) ([]fs.DirEntry, error) {
	n, err := s.find("readdir", name)
	if err != nil {
		return nil, err
	}
	if !n.IsDir() {
		return nil, &fs.PathError{Op: "readdir", Path: name, Err: errNotDir}
	}
	return slices.Clone(n.children), nil
}

// Stat describes what a name leads to.
func (s *snapshot) Stat(name string) (fs.FileInfo, error) { return s.find("stat", name) }

func (s *snapshot) content(n *node) ([]byte, error) {
	switch {
	case n.IsDir():
		return nil, errDir
	case n.size > maxBlob:
		return nil, errTooLarge
	}
	return s.read(n.object)
}

// find looks a name up, following links in it.
func (s *snapshot) find(op, name string) (*node, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	at := name
	for range maxLinks + 1 {
		n, rest, err := s.listing.step(at)
		if err != nil {
			return nil, &fs.PathError{Op: op, Path: name, Err: err}
		}
		if n.mode.Type() != fs.ModeSymlink {
			return n, nil
		}
		target, err := s.content(n)
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

// step is the node at a path, or the first link on the way and what follows it.
func (l *Listing) step(at string) (n *node, rest string, err error) {
	if n, ok := l.nodes[at]; ok {
		return n, "", nil
	}
	for dir := path.Dir(at); ; dir = path.Dir(dir) {
		n, ok := l.nodes[dir]
		if ok && n.mode.Type() == fs.ModeSymlink {
			return n, strings.TrimPrefix(at, dir+"/"), nil
		}
		if ok {
			return nil, "", fs.ErrNotExist
		}
	}
}
