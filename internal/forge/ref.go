package forge

import (
	"context"
	"errors"
	"io/fs"

	"github.com/google/go-github/v89/github"
)

// Ref returns where a reference points; ok is false when there is none. The
// name is what follows "refs/": "heads/main", "refit/claim-0123456789abcdef".
func (c *Client) Ref(ctx context.Context, name string) (sha string, ok bool, err error) {
	ref, _, err := c.gh.Git.GetRef(ctx, c.Repository.Owner, c.Repository.Name, name)
	if err = c.fail(err, "ref %s", name); errors.Is(err, fs.ErrNotExist) {
		return "", false, nil
	}
	if err != nil {
		return "", false, err
	}
	return ref.GetObject().GetSHA(), true, nil
}

// Refs returns the references that begin with a prefix, by name without "refs/".
func (c *Client) Refs(ctx context.Context, prefix string) (map[string]string, error) {
	list, _, err := c.gh.Git.ListMatchingRefs(ctx, c.Repository.Owner, c.Repository.Name, prefix)
	if err != nil {
		return nil, c.fail(err, "refs %s*", prefix)
	}
	refs := map[string]string{}
	for _, r := range list {
		refs[trimRefs(r.GetRef())] = r.GetObject().GetSHA()
	}
	return refs, nil
}

// CreateRef makes a reference. It fails with ErrExists when the name is taken,
// whatever it points at.
func (c *Client) CreateRef(ctx context.Context, name, sha string) error {
	_, _, err := c.gh.Git.CreateRef(ctx, c.Repository.Owner, c.Repository.Name, github.CreateRef{Ref: "refs/" + trimRefs(name), SHA: sha})
	return c.fail(err, "create ref %s", name)
}

// MoveRef moves a reference from one commit to a descendant of it. It fails
// with ErrMoved when the reference is not at from, or when the server sees
// that the step is no fast-forward.
func (c *Client) MoveRef(ctx context.Context, name, from, to string) error {
	at, ok, err := c.Ref(ctx, name)
	switch {
	case err != nil:
		return err
	case !ok:
		return &Error{Op: "forge: move ref " + name, Message: "no such reference", kind: ErrMoved}
	case at != from:
		return &Error{Op: "forge: move ref " + name, Message: "at " + at + ", not at " + from, kind: ErrMoved}
	}
	force := false
	_, _, err = c.gh.Git.UpdateRef(ctx, c.Repository.Owner, c.Repository.Name, name, github.UpdateRef{SHA: to, Force: &force})
	return c.fail(err, "move ref %s", name)
}

// DeleteRef removes a reference; one that is gone already is fine.
func (c *Client) DeleteRef(ctx context.Context, name string) error {
	_, err := c.gh.Git.DeleteRef(ctx, c.Repository.Owner, c.Repository.Name, name)
	err = c.fail(err, "delete ref %s", name)
	var e *Error
	if errors.As(err, &e) && (e.Status == 404 || e.Status == 422 && e.Message == "Reference does not exist") {
		return nil
	}
	return err
}

func trimRefs(name string) string {
	if len(name) > 5 && name[:5] == "refs/" {
		return name[5:]
	}
	return name
}
