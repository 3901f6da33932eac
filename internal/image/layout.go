package image

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"

	"github.com/refit-bench/refit/internal/workspace"
)

// maxIndex bounds index.json, in bytes.
const maxIndex = 16 << 20

// readIndex reads a layout's index.json; missing is fs.ErrNotExist.
func readIndex(dir string) (*v1.IndexManifest, error) {
	path := filepath.Join(dir, "index.json")
	text, err := workspace.ReadFile(path, maxIndex)
	if err != nil {
		return nil, err
	}
	var index v1.IndexManifest
	if err := json.Unmarshal(text, &index); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &index, nil
}

// named lists what a layout names: full reference without digest -> descriptor.
// Names that are no references are left out.
func named(dir string) (map[string]v1.Descriptor, error) {
	index, err := readIndex(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]v1.Descriptor{}
	for _, d := range index.Manifests {
		if ref, err := Parse(d.Annotations[refName]); err == nil {
			out[ref.String()] = d
		}
	}
	return out, nil
}

// layoutTags lists the tags of a repository in a layout, sorted.
func layoutTags(dir, name string) ([]string, error) {
	all, err := named(dir)
	if err != nil {
		return nil, err
	}
	tags := []string{}
	for full := range all {
		if ref, err := Parse(full); err == nil && ref.Name() == name && ref.Tag != "" {
			tags = append(tags, ref.Tag)
		}
	}
	slices.Sort(tags)
	return tags, nil
}

// layoutFind is the descriptor that a reference names in a layout.
func layoutFind(dir string, ref Ref) (v1.Descriptor, bool, error) {
	if ref.Digest == "" {
		all, err := named(dir)
		d, ok := all[ref.String()]
		return d, ok, err
	}
	index, err := readIndex(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return v1.Descriptor{}, false, nil
	}
	if err != nil {
		return v1.Descriptor{}, false, err
	}
	i := slices.IndexFunc(index.Manifests, func(d v1.Descriptor) bool {
		in, err := Parse(d.Annotations[refName])
		return d.Digest.String() == ref.Digest && (err != nil || in.Name() == ref.Name())
	})
	if i < 0 {
		return v1.Descriptor{}, false, nil
	}
	return index.Manifests[i], true, nil
}

// layoutOpen opens what a descriptor names; of an index, the image for this
// machine's architecture.
func layoutOpen(dir string, ref Ref, d v1.Descriptor) (Image, error) {
	if err := small(dir, d.Digest); err != nil {
		return Image{}, fmt.Errorf("image %s: manifest: %w", ref, err)
	}
	root, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return Image{}, fmt.Errorf("image %s: %w", ref, err)
	}
	digest := d.Digest
	if d.MediaType.IsIndex() {
		if root, err = root.ImageIndex(d.Digest); err != nil {
			return Image{}, fmt.Errorf("image %s: %w", ref, err)
		}
		if digest, err = onThisPlatform(root, d.Digest); err != nil {
			return Image{}, fmt.Errorf("image %s: %w", ref, err)
		}
	}
	if err := small(dir, digest); err != nil {
		return Image{}, fmt.Errorf("image %s: manifest: %w", ref, err)
	}
	img, err := root.Image(digest)
	if err != nil {
		return Image{}, fmt.Errorf("image %s: %w", ref, err)
	}
	manifest, err := img.Manifest()
	if err != nil {
		return Image{}, fmt.Errorf("image %s: manifest: %w", ref, err)
	}
	if err := small(dir, manifest.Config.Digest); err != nil {
		return Image{}, fmt.Errorf("image %s: configuration: %w", ref, err)
	}
	return open(ref, d.Digest.String(), img, digest)
}

// small refuses a blob that is too large for a manifest or a configuration
// before the layout library, which knows no limit, reads it into memory. A blob
// that is not there is for that library to miss.
func small(dir string, h v1.Hash) error {
	info, err := os.Stat(blobPath(dir, h))
	if err == nil && info.Size() > maxConfig {
		return fmt.Errorf("blob %s is larger than %d bytes", h, maxConfig)
	}
	return nil
}

func onThisPlatform(index v1.ImageIndex, want v1.Hash) (v1.Hash, error) {
	raw, err := index.RawManifest()
	if err != nil {
		return v1.Hash{}, err
	}
	if err := hashed(raw, want); err != nil {
		return v1.Hash{}, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return v1.Hash{}, err
	}
	var has []string
	for _, m := range manifest.Manifests {
		if m.Platform == nil {
			continue
		}
		if m.Platform.OS == "linux" && m.Platform.Architecture == runtime.GOARCH {
			return m.Digest, nil
		}
		has = append(has, m.Platform.String())
	}
	return v1.Hash{}, fmt.Errorf("no image for linux/%s (has %s)", runtime.GOARCH, strings.Join(has, ", "))
}
