package image

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/refit-bench/refit/internal/workspace"
)

// Layer is a set of files put on top of the layers before it.
type Layer struct {
	Files []File
	Gzip  bool
}

// File is one file of a layer. Path is relative, with slashes; the folders
// above are made. Mode 0 is 0644; only permission bits are allowed. With Link
// set it is a symbolic link, with From the content is that file's, else Data.
type File struct {
	Path string
	Mode int64
	Data []byte
	From string
	Link string
}

// Spec is an image to be built. Ref needs a tag and no digest.
type Spec struct {
	Ref     Ref
	Labels  map[string]string
	Env     []string
	Created time.Time
	Layers  []Layer
}

// refName is the annotation by which a layout names its images.
const refName = "org.opencontainers.image.ref.name"

// Build puts an image into an OCI layout, which is made where it is missing,
// and lets the tag name it. The same spec gives the same digest: entries are
// sorted and their times are fixed. Several builds at once wait for each other.
func Build(layoutDir string, s Spec) (Image, error) {
	if s.Ref.Tag == "" || s.Ref.Digest != "" {
		return Image{}, fmt.Errorf("build image %s: want a tag and no digest", s.Ref)
	}
	desc, err := build(layoutDir, s)
	if err != nil {
		return Image{}, fmt.Errorf("build image %s: %w", s.Ref, err)
	}
	return Library{Layout: layoutDir}.Resolve(context.Background(), Ref{s.Ref.Registry, s.Ref.Repository, s.Ref.Tag, desc.Digest.String()})
}

func build(dir string, s Spec) (v1.Descriptor, error) {
	if err := os.MkdirAll(filepath.Join(dir, "blobs", "sha256"), 0o755); err != nil {
		return v1.Descriptor{}, err
	}
	lock, err := workspace.WaitLock(context.Background(), filepath.Join(dir, ".lock"))
	if err != nil {
		return v1.Descriptor{}, err
	}
	defer lock.Close()
	config := v1.ConfigFile{
		Architecture: runtime.GOARCH, OS: "linux", Created: v1.Time{Time: s.Created.UTC()},
		Config: v1.Config{Env: s.Env, Labels: s.Labels},
		RootFS: v1.RootFS{Type: "layers", DiffIDs: []v1.Hash{}},
	}
	manifest := v1.Manifest{SchemaVersion: 2, MediaType: types.OCIManifestSchema1, Layers: []v1.Descriptor{}}
	for i, layer := range s.Layers {
		desc, diff, err := writeLayer(dir, layer)
		if err != nil {
			return v1.Descriptor{}, fmt.Errorf("layer %d: %w", i, err)
		}
		manifest.Layers = append(manifest.Layers, desc)
		config.RootFS.DiffIDs = append(config.RootFS.DiffIDs, diff)
	}
	if manifest.Config, err = writeJSON(dir, types.OCIConfigJSON, config); err != nil {
		return v1.Descriptor{}, err
	}
	desc, err := writeJSON(dir, types.OCIManifestSchema1, manifest)
	if err != nil {
		return v1.Descriptor{}, err
	}
	desc.Annotations = map[string]string{refName: s.Ref.String()}
	desc.Platform = &v1.Platform{OS: config.OS, Architecture: config.Architecture}
	return desc, nameImage(dir, desc)
}

// nameImage lets the index name desc, in the place of what had the name before.
func nameImage(dir string, desc v1.Descriptor) error {
	index, err := readIndex(dir)
	if errors.Is(err, fs.ErrNotExist) {
		index, err = &v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}, nil
	}
	if err != nil {
		return err
	}
	same := func(d v1.Descriptor) bool { return d.Annotations[refName] == desc.Annotations[refName] }
	at := slices.IndexFunc(index.Manifests, same)
	index.Manifests = slices.DeleteFunc(index.Manifests, same)
	if at < 0 {
		at = len(index.Manifests)
	}
	index.Manifests = slices.Insert(index.Manifests, at, desc)
	text, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		return err
	}
	// The marker first: an index without it is not a layout.
	if err := workspace.WriteFile(filepath.Join(dir, "oci-layout"), []byte(`{"imageLayoutVersion":"1.0.0"}`), 0o644); err != nil {
		return err
	}
	return workspace.WriteFile(filepath.Join(dir, "index.json"), append(text, '\n'), 0o644)
}

func writeJSON(dir string, kind types.MediaType, v any) (v1.Descriptor, error) {
	text, err := json.Marshal(v)
	if err != nil {
		return v1.Descriptor{}, err
	}
	hash, size, err := v1.SHA256(bytes.NewReader(text))
	if err != nil {
		return v1.Descriptor{}, err
	}
	return v1.Descriptor{MediaType: kind, Digest: hash, Size: size}, workspace.WriteFile(blobPath(dir, hash), text, 0o644)
}

func blobPath(dir string, h v1.Hash) string { return filepath.Join(dir, "blobs", h.Algorithm, h.Hex) }

// writeLayer writes a layer once, hashing it on the way, and names the blob
// when its digest is known. A blob that exists is replaced: it may be broken.
func writeLayer(dir string, l Layer) (desc v1.Descriptor, diff v1.Hash, err error) {
	f, err := os.CreateTemp(filepath.Join(dir, "blobs", "sha256"), ".layer*")
	if err != nil {
		return desc, diff, err
	}
	defer os.Remove(f.Name()) // gone already after the rename
	defer f.Close()
	packed, plain := sha256.New(), sha256.New()
	var out io.WriteCloser = nopCloser{io.MultiWriter(f, packed)}
	desc.MediaType = types.OCIUncompressedLayer
	if l.Gzip {
		desc.MediaType = types.OCILayer
		out = gzip.NewWriter(io.MultiWriter(f, packed))
	}
	if err := errors.Join(writeTar(io.MultiWriter(out, plain), l.Files), out.Close()); err != nil {
		return desc, diff, err
	}
	info, err := f.Stat()
	if err != nil {
		return desc, diff, err
	}
	if err := errors.Join(f.Chmod(0o644), f.Sync()); err != nil {
		return desc, diff, err
	}
	desc.Size = info.Size()
	desc.Digest = v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(packed.Sum(nil))}
	diff = v1.Hash{Algorithm: "sha256", Hex: hex.EncodeToString(plain.Sum(nil))}
	return desc, diff, os.Rename(f.Name(), blobPath(dir, desc.Digest))
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

func writeTar(w io.Writer, files []File) error {
	files = slices.SortedFunc(slices.Values(files), func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	t := tar.NewWriter(w)
	folder := map[string]bool{".": true} // every name written: a folder or not
	for _, f := range files {
		if !fs.ValidPath(f.Path) || f.Path == "." || f.Mode&^0o777 != 0 {
			return fmt.Errorf("file %q with mode %#o: not a path inside with permission bits", f.Path, f.Mode)
		}
		if _, ok := folder[f.Path]; ok {
			return fmt.Errorf("file %q: twice, or also a folder", f.Path)
		}
		folder[f.Path] = false
		if err := writeFolders(t, path.Dir(f.Path), folder); err != nil {
			return err
		}
		if err := writeEntry(t, f); err != nil {
			return fmt.Errorf("file %q: %w", f.Path, err)
		}
	}
	return t.Close()
}

func writeFolders(t *tar.Writer, dir string, folder map[string]bool) error {
	is, ok := folder[dir]
	if ok && !is {
		return fmt.Errorf("file %q: twice, or also a folder", dir)
	}
	if ok {
		return nil
	}
	folder[dir] = true
	if err := writeFolders(t, path.Dir(dir), folder); err != nil {
		return err
	}
	return t.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: time.Unix(0, 0)})
}

func writeEntry(t *tar.Writer, f File) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.Path, Mode: f.Mode, Size: int64(len(f.Data)), ModTime: time.Unix(0, 0)}
	if h.Mode == 0 {
		h.Mode = 0o644
	}
	var content io.Reader = bytes.NewReader(f.Data)
	switch {
	case f.Link != "":
		h.Typeflag, h.Linkname, h.Mode, h.Size = tar.TypeSymlink, f.Link, 0o777, 0
		content = bytes.NewReader(nil)
	case f.From != "":
		from, err := os.Open(f.From)
		if err != nil {
			return err
		}
		defer from.Close()
		info, err := from.Stat()
		if err != nil {
			return err
		}
		h.Size, content = info.Size(), from
	}
	if err := t.WriteHeader(h); err != nil {
		return err
	}
	_, err := io.Copy(t, content)
	return err
}
