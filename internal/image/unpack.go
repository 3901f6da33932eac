package image

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/partial"
)

const (
	defaultMaxBytes = 256 << 30
	defaultMaxFiles = 2_000_000
	maxLayers       = 512
	maxRatio        = 250       // unpacked to packed size of a layer,
	ratioFrom       = 256 << 20 // once this many bytes are unpacked
)

// unpacker applies layers to a root. Everything it writes goes through
// os.Root, and it writes at real paths only: names that lead through links are
// followed first.
type unpacker struct {
	root  *os.Root
	bytes int64 // still allowed
	files int   // still allowed

	modes map[string]fs.FileMode // of folders, set when all is written
	layer map[string]bool        // real paths that the present layer made

	lastName, lastReal string // the folder resolved last; "" after links changed
}

func newUnpacker(root *os.Root, maxBytes int64, maxFiles int) *unpacker {
	return &unpacker{
		root: root, modes: map[string]fs.FileMode{},
		bytes: cmp.Or(maxBytes, defaultMaxBytes), files: cmp.Or(maxFiles, defaultMaxFiles),
	}
}

func (u *unpacker) image(ctx context.Context, img v1.Image) error {
	layers, err := img.Layers()
	if err != nil {
		return err
	}
	config, err := img.ConfigFile()
	if err != nil {
		return err
	}
	if len(layers) > maxLayers || len(config.RootFS.DiffIDs) != len(layers) {
		return fmt.Errorf("%d layers with %d diff ids: want at most %d, and as many", len(layers), len(config.RootFS.DiffIDs), maxLayers)
	}
	for i, l := range layers {
		if err := u.apply(ctx, l, config.RootFS.DiffIDs[i]); err != nil {
			digest, _ := l.Digest()
			return fmt.Errorf("layer %s: %w", digest, err)
		}
	}
	return u.finish()
}

// apply unpacks a layer, whose packed and unpacked content must both be what
// the manifest and the configuration say.
func (u *unpacker) apply(ctx context.Context, l v1.Layer, diff v1.Hash) error {
	u.layer, u.lastName = map[string]bool{}, ""
	packed, err := newPacked(ctx, l)
	if err != nil {
		return err
	}
	defer packed.done()
	open, err := partial.CompressedToLayer(packed)
	if err != nil {
		return err
	}
	content, err := open.Uncompressed()
	if err != nil {
		return err
	}
	plain := sha256.New()
	in := &metered{r: io.TeeReader(content, plain), packed: &packed.read}
	err = u.entries(tar.NewReader(in))
	if err == nil {
		_, err = io.Copy(io.Discard, in) // what follows the archive's end is hashed too
	}
	content.Close()
	// A broken layer shows as any error further up: say first that it is broken.
	if broken := packed.verify(); broken != nil {
		return broken
	}
	if err != nil {
		return err
	}
	if got := hex.EncodeToString(plain.Sum(nil)); got != diff.Hex || diff.Algorithm != "sha256" {
		return fmt.Errorf("unpacked content is sha256:%s, want %s", got, diff)
	}
	return nil
}

func (u *unpacker) entries(t *tar.Reader) error {
	for {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if h.Typeflag == tar.TypeXGlobalHeader {
			continue
		}
		if err := u.entry(h, t); err != nil {
			return fmt.Errorf("entry %q: %w", h.Name, err)
		}
	}
}

var errOutside = errors.New("leads out of the image")

func (u *unpacker) entry(h *tar.Header, content io.Reader) error {
	name, err := inside(h.Name)
	if err != nil || name == "." {
		return err
	}
	if u.files--; u.files < 0 {
		return errors.New("too many files")
	}
	dir, err := u.folder(path.Dir(name))
	if err != nil {
		return err
	}
	base := path.Base(name)
	if hidden, ok := strings.CutPrefix(base, ".wh."); ok {
		return u.whiteout(dir, hidden)
	}
	real := path.Join(dir, base)
	if err := u.clear(real, h.Typeflag == tar.TypeDir); err != nil {
		return err
	}
	u.mark(real)
	switch h.Typeflag {
	case tar.TypeDir:
		u.modes[real] = fs.FileMode(h.Mode)&0o755 | 0o700
		if err := u.root.Mkdir(real, 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		return nil
	case tar.TypeReg, tar.TypeGNUSparse:
		return u.file(real, h, content)
	case tar.TypeSymlink:
		return u.link(dir, real, h.Linkname)
	case tar.TypeLink:
		return u.hardLink(real, h.Linkname)
	}
	return fmt.Errorf("type %q is neither file, folder nor link", h.Typeflag)
}

// inside is an archive's name as a clean relative path. Names are relative to
// the image's root even when they start with a slash; ".." is refused.
func inside(name string) (string, error) {
	if slices.Contains(strings.Split(name, "/"), "..") || strings.ContainsRune(name, 0) {
		return "", errOutside
	}
	clean := path.Clean("/" + name)
	if clean == "/" {
		return ".", nil
	}
	return clean[1:], nil
}

// folder is the real path of a folder, made where it is missing. Links inside
// the image are followed; they are all relative, see link.
func (u *unpacker) folder(name string) (string, error) {
	if name == u.lastName && name != "" {
		return u.lastReal, nil
	}
	at, todo := ".", strings.Split(name, "/")
	for hops := 0; len(todo) > 0; {
		part := todo[0]
		todo = todo[1:]
		if part == "." || part == "" {
			continue
		}
		if part == ".." {
			at = path.Dir(at)
			continue
		}
		next := path.Join(at, part)
		info, err := u.root.Lstat(next)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			if err := u.root.Mkdir(next, 0o755); err != nil {
				return "", err
			}
			u.mark(next)
			at = next
		case err != nil:
			return "", err
		case info.IsDir():
			at = next
		case info.Mode().Type() == fs.ModeSymlink:
			if hops++; hops > 40 {
				return "", errors.New("too many links")
			}
			target, err := u.root.Readlink(next)
			if err != nil {
				return "", err
			}
			todo = append(strings.Split(target, "/"), todo...)
		default:
			return "", fmt.Errorf("%s is not a folder", next)
		}
	}
	u.lastName, u.lastReal = name, at
	return at, nil
}

// mark notes that this layer made a path, and thereby the folders above it.
func (u *unpacker) mark(real string) {
	for p := real; p != "." && !u.layer[p]; p = path.Dir(p) {
		u.layer[p] = true
	}
}

// clear makes room for an entry. Only a folder over a folder keeps what is there.
func (u *unpacker) clear(real string, folder bool) error {
	info, err := u.root.Lstat(real)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil || folder && info.IsDir() {
		return err
	}
	u.lastName = ""
	return u.root.RemoveAll(real)
}

// finish gives folders their modes, which might have kept us out before.
func (u *unpacker) finish() error {
	for _, p := range slices.Sorted(maps.Keys(u.modes)) {
		info, err := u.root.Lstat(p)
		if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
			continue
		}
		if err = errors.Join(err, u.root.Chmod(p, u.modes[p])); err != nil {
			return err
		}
	}
	return nil
}
