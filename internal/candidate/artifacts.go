package candidate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/result"
)

// artifacts are those of a run. What a completed attempt left is listed once in
// an Advance, oldest first; what they hold is fetched whenever it is relied upon.
func (w *work) artifacts(ctx context.Context, run forge.Run) ([]forge.Artifact, error) {
	attempt := [2]int64{run.ID, int64(run.Attempt)}
	if listed, ok := w.left[attempt]; ok {
		return listed, nil
	}
	listed, err := w.Forge.Artifacts(ctx, run.ID)
	if err != nil {
		return nil, fmt.Errorf("artifacts of run %d: %w", run.ID, err)
	}
	slices.SortStableFunc(listed, byAge)
	if run.Status == "completed" {
		w.left[attempt] = listed
	}
	return listed, nil
}

// uploads are the artifacts of one name, in their order: those of several
// attempts stand side by side.
func uploads(listed []forge.Artifact, name string) []forge.Artifact {
	var own []forge.Artifact
	for _, a := range listed {
		if a.Name == name {
			own = append(own, a)
		}
	}
	return own
}

// byAge sorts the oldest first; ids decide between times of one second.
func byAge(a, b forge.Artifact) int {
	return cmp.Or(a.Created.Compare(b.Created), cmp.Compare(a.ID, b.ID))
}

// leftovers is what rows are read from: the newest manifest, and the rows of
// every attempt, oldest first, each file by itself. No archive is ever laid over
// another.
type leftovers struct {
	manifest []byte
	rows     [][]byte
	expired  bool // rows of an earlier attempt can no longer be read
}

// leftovers fetches them. What has expired is left out: the gates say so.
func (w *work) leftovers(ctx context.Context, listed []forge.Artifact) (leftovers, error) {
	var l leftovers
	if all := uploads(listed, result.ManifestArtifact); len(all) > 0 && !all[len(all)-1].Expired {
		files, err := w.content(ctx, all[len(all)-1])
		if err != nil {
			return l, err
		}
		l.manifest = files[result.ManifestFile]
	}
	all := uploads(listed, result.RowsArtifact)
	for i, a := range all {
		if a.Expired {
			l.expired = l.expired || i < len(all)-1
			continue
		}
		files, err := w.content(ctx, a)
		if err != nil {
			return l, err
		}
		if rows, ok := files[result.RowsFile]; ok {
			l.rows = append(l.rows, rows)
		}
	}
	return l, nil
}

// run reads them.
func (l leftovers) run() (result.Run, error) {
	if l.manifest == nil {
		return result.Run{}, fmt.Errorf("read run: %w", result.ErrNoManifest)
	}
	return result.ReadAttempts(l.manifest, l.rows...)
}

// unusable is why what an artifact holds may not be relied upon. It is a gate's
// no: asking again would change nothing.
type unusable string

func (u unusable) Error() string { return string(u) }

// content are the files of an artifact that evidence is read from: JSON, and
// nothing else. Beside an evaluation's results a harness leaves what it likes;
// that is left where it is.
func (w *work) content(ctx context.Context, a forge.Artifact) (map[string][]byte, error) {
	files, err := w.Forge.Download(ctx, a)
	switch {
	case errors.Is(err, forge.ErrArchive):
		return nil, unusable(err.Error())
	case errors.Is(err, fs.ErrNotExist):
		return nil, unusable(fmt.Sprintf("artifact %s (%d) is gone", a.Name, a.ID))
	case err != nil:
		return nil, fmt.Errorf("artifact %s: %w", a.Name, err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if ext := path.Ext(name); ext == ".json" || ext == ".jsonl" {
			continue
		}
		if !scores.Of(a.Name) {
			return nil, unusable(fmt.Sprintf("artifact %s (%d): %.100q is neither .json nor .jsonl, nothing else belongs there", a.Name, a.ID, name))
		}
		delete(files, name)
	}
	return files, nil
}
