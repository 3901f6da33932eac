// Package described holds what is said over HTTP to GitHub's own published
// description of its API: every request of the client, every answer of the
// embedded forge, and the payloads of events. Tests use it, nothing else does.
// The description is no part of this repository; "make octokit" fetches the
// packages that the lock file names.
package described

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
)

// Packages returns the folder "node_modules" of the fetched packages. It fails
// with fs.ErrNotExist when they are missing or not those of the lock file.
func Packages() (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("described: %w", err)
	}
	_, here, _, _ := runtime.Caller(0)
	want, err := os.ReadFile(filepath.Join(filepath.Dir(here), "..", "local", "testdata", "octokit", "package-lock.json"))
	if err != nil {
		return "", fmt.Errorf("described: %w", err)
	}
	dir := filepath.Join(cache, "refit", "octokit")
	have, err := os.ReadFile(filepath.Join(dir, "installed.json"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && !bytes.Equal(have, want) {
		return "", fmt.Errorf("GitHub's published description is not installed (make octokit): %w", fs.ErrNotExist)
	}
	return filepath.Join(dir, "node_modules"), err
}

// A Description is what GitHub publishes about its API and its events. It is
// safe for concurrent use.
type Description struct {
	paths  map[string]any // by template, then by method in lower case
	api    *schemas
	events *schemas
}

// Load reads the description once for the whole process. It fails with
// fs.ErrNotExist when the packages are not there.
var Load = sync.OnceValues(load)

func load() (*Description, error) {
	dir, err := Packages()
	if err != nil {
		return nil, err
	}
	api, err := readObject(filepath.Join(dir, "@octokit", "openapi", "generated", "api.github.com.json"))
	if err != nil {
		return nil, err
	}
	events, err := readObject(filepath.Join(dir, "@octokit", "webhooks-schemas", "schema.json"))
	if err != nil {
		return nil, err
	}
	paths, _ := api["paths"].(map[string]any)
	if len(paths) == 0 {
		return nil, errors.New("described: the description of the API has no paths")
	}
	d := &Description{paths: paths}
	if d.api, err = newSchemas("https://example.org/api.json", dialect(api).(map[string]any)); err == nil {
		d.events, err = newSchemas("https://example.org/events.json", events)
	}
	return d, err
}

func readObject(path string) (map[string]any, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("described: %w", err)
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		return nil, fmt.Errorf("described: %s: %w", filepath.Base(path), err)
	}
	return v, nil
}
