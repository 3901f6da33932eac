package forge

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/google/go-github/v89/github"
)

// Message returns a commit's message.
func (c *Client) Message(ctx context.Context, sha string) (string, error) {
	commit, err := c.commitAt(ctx, sha)
	if err != nil {
		return "", c.fail(err, "commit %s", sha)
	}
	return commit.GetMessage(), nil
}

// Parents returns the hashes of a commit's parents, in their order.
func (c *Client) Parents(ctx context.Context, sha string) ([]string, error) {
	commit, err := c.commitAt(ctx, sha)
	if err != nil {
		return nil, c.fail(err, "commit %s", sha)
	}
	var parents []string
	for _, p := range commit.Parents {
		parents = append(parents, p.GetSHA())
	}
	return parents, nil
}

// File returns the bytes of a regular file at a branch, tag or commit. It fails
// with fs.ErrNotExist when there is none.
func (c *Client) File(ctx context.Context, ref, path string) ([]byte, error) {
	file, _, _, err := c.gh.Repositories.GetContents(ctx, c.Repository.Owner, c.Repository.Name, path,
		&github.RepositoryContentGetOptions{Ref: ref})
	switch {
	case err != nil:
		return nil, c.fail(err, "file %s at %s", path, ref)
	case file == nil || file.GetType() != "file":
		return nil, c.fail(errors.New("not a regular file"), "file %s at %s", path, ref)
	case file.GetEncoding() != "none":
		text, err := file.GetContent()
		return []byte(text), c.fail(err, "file %s at %s", path, ref)
	}
	// Files above 1 MB come without content; their blob has it.
	data, _, err := c.gh.Git.GetBlobRaw(ctx, c.Repository.Owner, c.Repository.Name, file.GetSHA())
	return data, c.fail(err, "file %s at %s", path, ref)
}

// Commit makes a commit on top of parent with some files replaced or added, and
// returns its hash; no reference is moved. Modes of existing files are kept,
// new ones are 0644. Without files the tree is the parent's.
func (c *Client) Commit(ctx context.Context, parent, message string, files map[string][]byte) (string, error) {
	return c.commit(ctx, parent, []string{parent}, message, files)
}

// Merge makes a commit with two parents, ours first, whose tree is that of
// theirs with some files replaced or added, as Commit does it. What ours has
// beyond theirs and is not among files is given up.
func (c *Client) Merge(ctx context.Context, ours, theirs, message string, files map[string][]byte) (string, error) {
	return c.commit(ctx, theirs, []string{ours, theirs}, message, files)
}

// commit makes a commit with the tree of one commit and the files.
func (c *Client) commit(ctx context.Context, on string, parents []string, message string, files map[string][]byte) (string, error) {
	owner, name := c.Repository.Owner, c.Repository.Name
	base, err := c.commitAt(ctx, on)
	if err != nil {
		return "", c.fail(err, "commit on %s", on)
	}
	tree := base.GetTree().GetSHA()
	if len(files) > 0 {
		if tree, err = c.tree(ctx, tree, files); err != nil {
			return "", err
		}
	}
	commit := github.Commit{Message: &message, Tree: &github.Tree{SHA: &tree}}
	for _, p := range parents {
		commit.Parents = append(commit.Parents, &github.Commit{SHA: &p})
	}
	made, _, err := c.gh.Git.CreateCommit(ctx, owner, name, commit, nil)
	if err != nil {
		return "", c.fail(err, "commit on %s", on)
	}
	return made.GetSHA(), nil
}

// tree makes the tree that differs from base in the given files.
func (c *Client) tree(ctx context.Context, base string, files map[string][]byte) (string, error) {
	owner, name := c.Repository.Owner, c.Repository.Name
	modes := treeModes{client: c, root: base}
	paths := make([]string, 0, len(files))
	for path := range files {
		if !fs.ValidPath(path) || path == "." {
			return "", fmt.Errorf("forge: commit: %q is not a path", path)
		}
		paths = append(paths, path)
	}
	slices.Sort(paths)
	var entries []*github.TreeEntry
	for _, path := range paths {
		mode, err := modes.of(ctx, path)
		if err != nil {
			return "", c.fail(err, "mode of %s", path)
		}
		content := base64.StdEncoding.EncodeToString(files[path])
		blob, _, err := c.gh.Git.CreateBlob(ctx, owner, name, github.Blob{Content: &content, Encoding: github.Ptr("base64")})
		if err != nil {
			return "", c.fail(err, "blob of %s", path)
		}
		entries = append(entries, &github.TreeEntry{Path: &path, Mode: &mode, Type: github.Ptr("blob"), SHA: blob.SHA})
	}
	made, _, err := c.gh.Git.CreateTree(ctx, owner, name, base, entries)
	if err != nil {
		return "", c.fail(err, "tree on %s", base)
	}
	return made.GetSHA(), nil
}

// treeModes finds the modes of files below a root tree, one folder at a time,
// because a recursive listing may be cut short.
type treeModes struct {
	client *Client
	root   string
}

func (m treeModes) of(ctx context.Context, path string) (string, error) {
	sha, parts := m.root, strings.Split(path, "/")
	for i, part := range parts {
		folder, err := m.client.folder(ctx, sha)
		if err != nil {
			return "", err
		}
		at := slices.IndexFunc(folder.Entries, func(e *github.TreeEntry) bool { return e.GetPath() == part })
		if at < 0 {
			return "100644", nil
		}
		entry, last := folder.Entries[at], i == len(parts)-1
		mode := entry.GetMode()
		switch {
		case last && (mode == "100644" || mode == "100755"):
			return mode, nil
		case last || entry.GetType() != "tree":
			return "", fmt.Errorf("%s has mode %s", strings.Join(parts[:i+1], "/"), mode)
		}
		sha = entry.GetSHA()
	}
	return "100644", nil
}
