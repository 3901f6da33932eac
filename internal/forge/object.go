package forge

import (
	"bytes"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"github.com/google/go-github/v89/github"

	"github.com/refit-bench/refit/internal/workspace"
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
	trees map[string]*workspace.Listing // by commit
	blobs map[string][]byte
	size  int
}

// Tree is the tree of a commit as a file system. Names are read now, contents
// when they are asked for, with the same context.
func (o *Objects) Tree(ctx context.Context, commit string) (fs.FS, error) {
	o.mu.Lock()
	listing := o.trees[commit]
	o.mu.Unlock()
	read := func(sha string) ([]byte, error) {
		data, err := o.blob(ctx, sha)
		return bytes.Clone(data), err
	}
	if listing != nil {
		return listing.FS(read), nil
	}
	at, err := o.Client.commitAt(ctx, commit)
	if err != nil {
		return nil, o.Client.fail(err, "commit %s", commit)
	}
	names, err := o.names(ctx, nil, ".", at.GetTree().GetSHA())
	if err == nil {
		listing, err = workspace.NewListing(names)
	}
	if err != nil {
		return nil, o.Client.fail(err, "tree of commit %s", commit)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.trees == nil || len(o.trees) >= keptTrees {
		o.trees = map[string]*workspace.Listing{}
	}
	o.trees[commit] = listing
	return listing.FS(read), nil
}

// names adds everything below a tree object. A recursive answer that the forge
// cut short is taken folder by folder instead.
func (o *Objects) names(ctx context.Context, names []workspace.Name, dir, sha string) ([]workspace.Name, error) {
	list, err := o.below(ctx, sha)
	if err != nil {
		return nil, err
	}
	whole := !list.GetTruncated()
	if !whole {
		if list, err = o.Client.folder(ctx, sha); err != nil {
			return nil, err
		}
		if list.GetTruncated() {
			return nil, fmt.Errorf("folder %s is too large to be listed", dir)
		}
	}
	for _, e := range list.Entries {
		if !fs.ValidPath(e.GetPath()) {
			return nil, fmt.Errorf("unsafe path %q", e.GetPath())
		}
		n := workspace.Name{Path: path.Join(dir, e.GetPath()), Object: e.GetSHA(), Size: int64(e.GetSize()), Mode: workspace.GitMode(e.GetMode())}
		if names = append(names, n); len(names) > maxNames {
			return nil, fmt.Errorf("more than %d names", maxNames)
		}
		if !whole && e.GetType() == "tree" {
			if names, err = o.names(ctx, names, n.Path, n.Object); err != nil {
				return nil, err
			}
		}
	}
	return names, nil
}

func (o *Objects) below(ctx context.Context, sha string) (*github.Tree, error) {
	list, _, err := o.Client.gh.Git.GetTree(ctx, o.Client.Repository.Owner, o.Client.Repository.Name, sha, true)
	return list, err
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
