// Package image knows container images: how they are named, which of two tags
// is newer, what a digest holds, and how an image becomes a folder. Images come
// from an OCI layout on disk or from a registry.
//
// It never runs anything out of an image and knows nothing of recipes.
package image

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// ErrNotFound is what a Library answers for an image it does not have. The
// message names the nearest tags.
var ErrNotFound = errors.New("not found")

// ErrDamaged says that stored content is not what its digest names.
var ErrDamaged = errors.New("damaged")

// Image is one image found in a Library. Digest is what its reference names
// and may be that of a multi-platform index; V1 is the image for one platform.
type Image struct {
	Ref     Ref
	Digest  string
	Labels  map[string]string
	Created time.Time
	Env     []string
	V1      v1.Image
}

// maxConfig bounds an image's manifest and its configuration, in bytes.
const maxConfig = 8 << 20

// open reads an image's configuration. Manifest and configuration must be what
// their digests say.
func open(ref Ref, digest string, img v1.Image, want v1.Hash) (Image, error) {
	raw, err := img.RawManifest()
	if err != nil {
		return Image{}, fmt.Errorf("image %s: manifest: %w", ref, err)
	}
	if err := hashed(raw, want); err != nil {
		return Image{}, fmt.Errorf("image %s: manifest: %w", ref, err)
	}
	manifest, err := img.Manifest()
	if err != nil {
		return Image{}, fmt.Errorf("image %s: manifest: %w", ref, err)
	}
	if manifest.Config.Size > maxConfig {
		return Image{}, fmt.Errorf("image %s: configuration is larger than %d bytes", ref, maxConfig)
	}
	text, err := img.RawConfigFile()
	if err != nil {
		return Image{}, fmt.Errorf("image %s: configuration: %w", ref, err)
	}
	if err := hashed(text, manifest.Config.Digest); err != nil {
		return Image{}, fmt.Errorf("image %s: configuration: %w", ref, err)
	}
	config, err := v1.ParseConfigFile(bytes.NewReader(text))
	if err != nil {
		return Image{}, fmt.Errorf("image %s: configuration: %w", ref, err)
	}
	return Image{
		Ref: ref, Digest: digest, V1: img,
		Labels: config.Config.Labels, Created: config.Created.Time, Env: config.Config.Env,
	}, nil
}

// hashed refuses data that is not what its digest says.
func hashed(data []byte, want v1.Hash) error {
	if len(data) > maxConfig {
		return fmt.Errorf("larger than %d bytes", maxConfig)
	}
	got, _, err := v1.SHA256(bytes.NewReader(data))
	if err == nil && got != want {
		err = fmt.Errorf("content is %s, want %s: %w", got, want, ErrDamaged)
	}
	return err
}
