package forge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/go-github/v89/github"
)

// An Artifact is a named archive that a run left.
type Artifact struct {
	ID      int64
	Name    string
	Size    int64 // bytes of the archive
	Expired bool
	Created time.Time
}

// Artifacts returns the artifacts of a run, of all its attempts; one name may
// occur more than once.
func (c *Client) Artifacts(ctx context.Context, runID int64) ([]Artifact, error) {
	list, err := pages(func(o github.ListOptions) ([]*github.Artifact, *github.Response, error) {
		page, resp, err := c.gh.Actions.ListWorkflowRunArtifacts(ctx, c.Repository.Owner, c.Repository.Name, runID, &o)
		if err != nil {
			return nil, resp, err
		}
		return page.Artifacts, resp, nil
	})
	var artifacts []Artifact
	for _, a := range list {
		artifacts = append(artifacts, Artifact{
			ID: a.GetID(), Name: a.GetName(), Size: a.GetSizeInBytes(), Expired: a.GetExpired(), Created: a.GetCreatedAt().UTC(),
		})
	}
	return artifacts, c.fail(err, "artifacts of run %d", runID)
}

// Download returns the files of an artifact by path. Nothing is written to disk
// and nothing in the archive is followed or executed. The error wraps ErrArchive
// when the artifact came and may not be read, fs.ErrNotExist when it is gone.
func (c *Client) Download(ctx context.Context, a Artifact) (map[string][]byte, error) {
	if a.Expired {
		return nil, c.fail(errors.New("expired"), "artifact %s", a.Name)
	}
	archive, err := c.archive(ctx, a.ID)
	if errors.Is(err, errTooLarge) {
		return nil, fmt.Errorf("forge: artifact %s (%d): %w: more than %d bytes", a.Name, a.ID, ErrArchive, maxUnpacked)
	}
	if err != nil {
		return nil, c.fail(err, "artifact %s (%d)", a.Name, a.ID)
	}
	files, err := readZip(archive, maxUnpacked)
	if err != nil {
		return nil, fmt.Errorf("forge: artifact %s (%d): %w: %w", a.Name, a.ID, ErrArchive, err)
	}
	return files, nil
}
