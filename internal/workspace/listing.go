package workspace

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// Name is one name in a tree of git, with the object that holds its content.
type Name struct {
	Path, Object string
	Mode         fs.FileMode
	Size         int64 // of a file's or a link's content, in bytes
}

func (e Name) blob() bool { return e.Mode.IsRegular() || e.Mode.Type() == fs.ModeSymlink }

// GitMode is what git's six digits say of a name. Submodules are folders.
func GitMode(digits string) fs.FileMode {
	switch digits {
	case "040000", "160000":
		return fs.ModeDir | 0o555
	case "120000":
		return fs.ModeSymlink | 0o777
	case "100755":
		return 0o555
	}
	return 0o444
}

// Listing is all names of one tree. It never changes, so that many file
// systems may read through one.
type Listing struct{ nodes map[string]*node }

// node is one name of a listing; it is its own FileInfo.
type node struct {
	path, object string
	mode         fs.FileMode
	size         int64
	children     []fs.DirEntry // sorted by name
}

// NewListing gives every folder its children. A name that leads out of the
// tree, or whose folder is not there, is an error.
func NewListing(names []Name) (*Listing, error) {
	nodes := make(map[string]*node, len(names)+1)
	nodes["."] = &node{path: ".", mode: fs.ModeDir | 0o555}
	for _, e := range names {
		if !fs.ValidPath(e.Path) || e.Path == "." {
			return nil, fmt.Errorf("unsafe path %q", e.Path)
		}
		nodes[e.Path] = &node{path: e.Path, object: e.Object, mode: e.Mode, size: e.Size}
	}
	for p, n := range nodes {
		if p == "." {
			continue
		}
		above := nodes[path.Dir(p)]
		if above == nil || !above.IsDir() {
			return nil, fmt.Errorf("path %q has no folder", p)
		}
		above.children = append(above.children, fs.FileInfoToDirEntry(n))
	}
	for _, n := range nodes {
		slices.SortFunc(n.children, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	}
	return &Listing{nodes}, nil
}

// FS is the tree as a file system; read gives the content of an object, as the
// caller's own. It is safe for concurrent use when read is.
func (l *Listing) FS(read func(object string) ([]byte, error)) fs.FS {
	return &snapshot{listing: l, read: read}
}

func (n *node) Name() string       { return path.Base(n.path) }
func (n *node) Size() int64        { return n.size }
func (n *node) Mode() fs.FileMode  { return n.mode }
func (n *node) ModTime() time.Time { return time.Time{} }
func (n *node) IsDir() bool        { return n.mode.IsDir() }
func (n *node) Sys() any           { return nil }
