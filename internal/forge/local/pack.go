package local

import (
	"archive/zip"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

const maxArtifact = 256 << 20 // bytes of the files of one artifact, as the client reads

// An archive is a zip made from one folder.
type archive struct {
	name, digest, file string // file is below the folder it was packed into
	size               int64
}

// pack zips each folder directly in out into a file in dir. Only regular files
// are taken; links are left out.
func pack(out, dir string) ([]archive, error) {
	entries, err := os.ReadDir(out)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("artifacts: %w", err)
	}
	var packed []archive
	for i, e := range entries {
		if !e.IsDir() {
			continue
		}
		a := archive{name: e.Name(), file: fmt.Sprintf("artifact-%d.zip", i+1)}
		if a.size, a.digest, err = zipFolder(filepath.Join(out, e.Name()), filepath.Join(dir, a.file)); err != nil {
			return packed, fmt.Errorf("artifact %s: %w", e.Name(), err)
		}
		packed = append(packed, a)
	}
	return packed, nil
}

func zipFolder(folder, file string) (int64, string, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return 0, "", err
	}
	defer root.Close()
	f, err := os.OpenFile(file, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	sum := sha256.New()
	w := zip.NewWriter(io.MultiWriter(f, sum))
	left := int64(maxArtifact)
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		n, err := zipFile(w, root.FS(), path, left)
		left -= n
		return err
	})
	if err = errors.Join(err, w.Close(), f.Sync()); err != nil {
		return 0, "", err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, "", err
	}
	return info.Size(), "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

func zipFile(w *zip.Writer, files fs.FS, path string, left int64) (int64, error) {
	in, err := files.Open(path)
	if err != nil {
		return 0, err
	}
	defer in.Close()
	out, err := w.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: time.Unix(0, 0).UTC()})
	if err != nil {
		return 0, err
	}
	n, err := io.Copy(out, io.LimitReader(in, left+1))
	if err == nil && n > left {
		err = fmt.Errorf("more than %d bytes", int64(maxArtifact))
	}
	return n, err
}
