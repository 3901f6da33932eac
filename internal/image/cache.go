package image

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"golang.org/x/sys/unix"

	"github.com/refit-bench/refit/internal/workspace"
)

// Cache holds unpacked images by digest, below Dir. Limits of zero are the
// defaults: 256 GiB and two million names an image.
type Cache struct {
	Dir      string
	MaxBytes int64
	MaxFiles int
}

// marker says that an unpacked image is complete.
type marker struct {
	Digest string `json:"digest"`
	Files  int    `json:"files"`
	Bytes  int64  `json:"bytes"`
}

const markerName = "complete.json"

// Root is the folder that holds the image's files, unpacked now or earlier.
// Several processes at once make one root; the others wait. An image that
// cannot be unpacked whole leaves nothing. An earlier root that lost files is
// made anew; files that programs left beside their sources are accepted.
func (c Cache) Root(ctx context.Context, img Image) (string, error) {
	root, err := c.root(ctx, img)
	if err != nil {
		return "", fmt.Errorf("unpack image %s: %w", img.Ref, err)
	}
	return root, nil
}

func (c Cache) root(ctx context.Context, img Image) (string, error) {
	place, digest, err := c.place(img)
	if err != nil {
		return "", err
	}
	lock, err := workspace.WaitLock(ctx, place+".lock")
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if c.complete(place, digest) == nil {
		return filepath.Join(place, "root"), nil
	}
	// Ours alone under the lock: whatever is here was left by a killed process.
	old, fresh := place+".old", place+".new"
	if err := errors.Join(os.RemoveAll(old), os.RemoveAll(fresh)); err != nil {
		return "", err
	}
	if err := c.fill(ctx, img, digest, fresh); err != nil {
		return "", errors.Join(err, os.RemoveAll(fresh))
	}
	if err := os.Rename(place, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", errors.Join(err, os.RemoveAll(fresh))
	}
	if err := os.Rename(fresh, place); err != nil {
		return "", errors.Join(err, os.RemoveAll(fresh))
	}
	return filepath.Join(place, "root"), os.RemoveAll(old)
}

// Env is the image's environment for a process on this host: the folders in
// PATH, LD_LIBRARY_PATH and PYTHONPATH are those below the image's root.
// Nothing of the host's own environment is in it. Relative folders are dropped.
func (c Cache) Env(img Image) []string {
	place, _, err := c.place(img)
	if err != nil {
		return nil
	}
	env, path := []string{}, false
	for _, kv := range img.Env {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" {
			continue
		}
		switch name {
		case "PATH":
			path = true
			fallthrough
		case "LD_LIBRARY_PATH", "PYTHONPATH":
			value = below(filepath.Join(place, "root"), value)
		}
		env = append(env, name+"="+value)
	}
	if !path {
		env = append(env, "PATH="+below(filepath.Join(place, "root"), "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"))
	}
	return env
}

func below(root, list string) string {
	var out []string
	for dir := range strings.SplitSeq(list, ":") {
		if path.IsAbs(dir) {
			out = append(out, filepath.Join(root, path.Clean(dir)))
		}
	}
	return strings.Join(out, ":")
}

// place is the folder of an image, named by the digest of the one platform's
// manifest, which alone decides the files.
func (c Cache) place(img Image) (string, v1.Hash, error) {
	if img.V1 == nil {
		return "", v1.Hash{}, errors.New("image was not resolved")
	}
	digest, err := img.V1.Digest()
	if err != nil {
		return "", v1.Hash{}, err
	}
	if !digestForm.MatchString(digest.String()) {
		return "", v1.Hash{}, fmt.Errorf("digest %s is not sha256", digest)
	}
	dir, err := filepath.Abs(c.Dir)
	return filepath.Join(dir, digest.Hex), digest, err
}

func (c Cache) complete(place string, digest v1.Hash) error {
	text, err := workspace.ReadFile(filepath.Join(place, markerName), 4<<10)
	if err != nil {
		return err
	}
	var m marker
	if err := workspace.DecodeStrict(text, &m); err != nil {
		return err
	}
	files, size, err := inventory(filepath.Join(place, "root"))
	if err != nil {
		return err
	}
	if m.Digest != digest.String() || files < m.Files || size < m.Bytes {
		return fmt.Errorf("%d files and %d bytes, want %d and %d", files, size, m.Files, m.Bytes)
	}
	return nil
}

// fill unpacks into a folder of its own and writes the marker last.
func (c Cache) fill(ctx context.Context, img Image, digest v1.Hash, place string) error {
	dir := filepath.Join(place, "root")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	u := newUnpacker(root, c.MaxBytes, c.MaxFiles)
	if err := u.image(ctx, img.V1); err != nil {
		return err
	}
	files, size, err := inventory(dir)
	if err != nil {
		return err
	}
	text, err := json.Marshal(marker{digest.String(), files, size})
	if err != nil {
		return err
	}
	if err := syncAll(place); err != nil {
		return err
	}
	return workspace.WriteFile(filepath.Join(place, markerName), text, 0o644)
}

// syncAll makes what was unpacked durable before a marker says so.
func syncAll(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer f.Close()
	return unix.Syncfs(int(f.Fd()))
}

// inventory counts names and bytes below dir and makes sure that nothing but
// files, folders and links that stay inside are there.
func inventory(dir string) (files int, size int64, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, 0, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		files++
		switch d.Type() {
		case 0:
			info, err := d.Info()
			if err != nil {
				return err
			}
			size += info.Size()
		case fs.ModeSymlink:
			target, err := root.Readlink(name)
			if err != nil {
				return err
			}
			if !workspace.LinkInside(name, target) {
				return fmt.Errorf("link %s leads out of the image: %q", name, target)
			}
		case fs.ModeDir:
		default:
			return fmt.Errorf("%s is neither file, folder nor link", name)
		}
		return nil
	})
	return files, size, err
}
