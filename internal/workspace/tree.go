package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"runtime"
	"strconv"
	"strings"
)

// Tree is the tree of one commit as a file system. Names are listed when it is
// made, contents are read when asked for, through one git process that starts
// with the first read. That process ends with Close, with the context given to
// FS, or when the tree and its open files are no longer reachable. Symbolic
// links are followed inside the tree; submodules are empty folders. Safe for
// concurrent use.
type Tree struct {
	*snapshot
	batch  *batch
	Commit string
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
	names, err := parseTree(list)
	if err != nil {
		return nil, err
	}
	listing, err := NewListing(names)
	if err != nil {
		return nil, fmt.Errorf("git ls-tree: %w", err)
	}
	b := &batch{ctx: ctx, repo: r}
	s := &snapshot{listing: listing}
	s.read = func(object string) ([]byte, error) {
		defer runtime.KeepAlive(s) // it must not end the process during a read
		return b.read(object)
	}
	runtime.AddCleanup(s, func(b *batch) { b.close() }, b)
	return &Tree{snapshot: s, batch: b, Commit: commit}, nil
}

// Close ends the git process. Later reads fail.
func (t *Tree) Close() error { return t.batch.close() }

// parseTree reads "<mode> <type> <object> <size>\t<path>\0" records of
// git ls-tree -l.
func parseTree(list []byte) ([]Name, error) {
	var out []Name
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
		e := Name{Path: name, Object: field[2], Mode: GitMode(field[0])}
		if e.blob() {
			size, err := strconv.ParseInt(field[3], 10, 64)
			if err != nil || size < 0 {
				return nil, fmt.Errorf("git ls-tree: no size in %q", rec)
			}
			e.Size = size
		}
		out = append(out, e)
	}
	return out, nil
}
