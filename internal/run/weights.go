package run

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

// Site is what the machine that measures knows of itself: the facts of its
// clusters, and the folder that their paths are relative to.
type Site struct {
	Root     string
	Clusters recipe.Clusters
}

// ReadSite reads a workspace's cluster facts. A workspace without that file
// stages nothing.
func ReadSite(root, name string) (Site, error) {
	s := Site{Root: root}
	src, err := workspace.ReadFile(filepath.Join(root, filepath.FromSlash(name)), maxRecipe)
	if errors.Is(err, fs.ErrNotExist) {
		return s, nil
	}
	if err == nil {
		s.Clusters, err = recipe.ParseClusters(src, name)
	}
	return s, err
}

// Weights is where a family's engine reads its weights from: MODEL_PATH of the
// job, "" when the cluster stages none and the engine fetches them itself.
// Staged weights must be there, and be what they are said to be.
func (s Site) Weights(runners recipe.Runners, e recipe.Entry) (string, error) {
	path, digest := s.staged(runners, e)
	if path == "" {
		return "", nil
	}
	if err := intact(path, digest); err != nil {
		return "", fmt.Errorf("weights of %s on cluster %s: %w: stage them, or correct the cluster's models", e.Model, runners.Cluster(e.Runner), err)
	}
	return path, nil
}

// staged is where a family's weights should lie, and the digest that they
// should have; "" when the cluster stages none.
func (s Site) staged(runners recipe.Runners, e recipe.Entry) (path, digest string) {
	staged, ok := s.Clusters[runners.Cluster(e.Runner)].Staged(e.Model)
	if !ok {
		return "", ""
	}
	path = filepath.FromSlash(staged.Path)
	if !filepath.IsAbs(path) {
		path = filepath.Join(s.Root, path)
	}
	return path, staged.SHA256
}

// intact checks that a file has a digest, or that a folder is not empty.
func intact(path, digest string) error {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case info.IsDir() && digest != "":
		return fmt.Errorf("%s is a folder, and only a file has a sha256", path)
	case info.IsDir():
		entries, err := os.ReadDir(path)
		if err == nil && len(entries) == 0 {
			err = fmt.Errorf("%s is empty", path)
		}
		return err
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no regular file", path)
	case digest == "":
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return err
	}
	if got := hex.EncodeToString(h.Sum(nil)); got != digest {
		return fmt.Errorf("%s has sha256 %s, not %s", path, got, digest)
	}
	return nil
}
