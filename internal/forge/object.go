package forge

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/google/go-github/v89/github"
)

const (
	keptTrees = 64       // commits whose names are kept
	keptBytes = 64 << 20 // of file contents that are kept
	maxNames  = 200_000  // in one tree
)

// Objects reads trees and files of commits through the forge's API and keeps
// what it read: an object never changes under its name. The zero value with a
// client is ready; it is safe for concurrent use.
type Objects struct {
	Client *Client

	mu    sync.Mutex
	trees map[string]map[string]*node // by commit
	blobs map[string][]byte
	size  int
}

// Tree is the tree of a commit as a file system. Names are read now, contents
// when they are asked for, with the same context.
func (o *Objects) Tree(ctx context.Context, commit string) (fs.FS, error) {
	o.mu.Lock()
	nodes, ok := o.trees[commit]
	o.mu.Unlock()
	if ok {
		return &tree{nodes, o.blob, ctx}, nil
	}
	at, _, err := o.Client.gh.Git.GetCommit(ctx, o.Client.Repository.Owner, o.Client.Repository.Name, commit)
	if err != nil {
		return nil, o.Client.fail(err, "commit %s", commit)
	}
	nodes = map[string]*node{".": {path: ".", mode: fs.ModeDir | 0o555}}
	if err := o.names(ctx, nodes, ".", at.GetTree().GetSHA()); err != nil {
		return nil, o.Client.fail(err, "tree of commit %s", commit)
	}
	plant(nodes)
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.trees == nil || len(o.trees) >= keptTrees {
		o.trees = map[string]map[string]*node{}
	}
	o.trees[commit] = nodes
	return &tree{nodes, o.blob, ctx}, nil
}

// names adds everything below a tree object. A recursive answer that the forge
// cut short is taken folder by folder instead.
func (o *Objects) names(ctx context.Context, nodes map[string]*node, dir, sha string) error {
	list, err := o.listing(ctx, sha, true)
	if err != nil {
		return err
	}
	whole := !list.GetTruncated()
	if !whole {
		if list, err = o.listing(ctx, sha, false); err != nil {
			return err
		}
		if list.GetTruncated() {
			return fmt.Errorf("folder %s is too large to be listed", dir)
		}
	}
	for _, e := range list.Entries {
		n, err := nodeOf(dir, e)
		if err != nil {
			return err
		}
		if nodes[n.path] = n; len(nodes) > maxNames {
			return fmt.Errorf("more than %d names", maxNames)
		}
		if !whole && e.GetType() == "tree" {
			if err := o.names(ctx, nodes, n.path, e.GetSHA()); err != nil {
				return err
			}
		}
	}
	return nil
}

func (o *Objects) listing(ctx context.Context, sha string, deep bool) (*github.Tree, error) {
	list, _, err := o.Client.gh.Git.GetTree(ctx, o.Client.Repository.Owner, o.Client.Repository.Name, sha, deep)
	return list, err
}

func nodeOf(dir string, e *github.TreeEntry) (*node, error) {
	name := path.Join(dir, e.GetPath())
	if !fs.ValidPath(e.GetPath()) || name == "." {
		return nil, fmt.Errorf("unsafe path %q", e.GetPath())
	}
	n := &node{path: name, object: e.GetSHA(), size: int64(e.GetSize()), mode: 0o444}
	switch e.GetMode() {
	case "040000", "160000":
		n.mode = fs.ModeDir | 0o555
	case "120000":
		n.mode = fs.ModeSymlink | 0o777
	case "100755":
		n.mode = 0o555
	}
	return n, nil
}

// blob is the content of a file, checked against its name.
func (o *Objects) blob(ctx context.Context, sha string) ([]byte, error) {
	o.mu.Lock()
	data, ok := o.blobs[sha]
	o.mu.Unlock()
	if ok {
		return data, nil
	}
	data, _, err := o.Client.gh.Git.GetBlobRaw(ctx, o.Client.Repository.Owner, o.Client.Repository.Name, sha)
	if err == nil && !named(sha, data) {
		err = errors.New("the content is not what its name says")
	}
	if err != nil {
		return nil, o.Client.fail(err, "blob %s", sha)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.blobs == nil || o.size+len(data) > keptBytes {
		o.blobs, o.size = map[string][]byte{}, 0
	}
	if _, twice := o.blobs[sha]; !twice && len(data) <= keptBytes/8 {
		o.blobs[sha], o.size = data, o.size+len(data)
	}
	return data, nil
}

// named says whether a blob has the name that git gives to its bytes; a name
// of another hash is not judged.
func named(sha string, data []byte) bool {
	if len(sha) != 2*sha1.Size {
		return true
	}
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil)) == sha
}
