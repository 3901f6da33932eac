package server

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// maxCopied bounds a copy of a repository's files, in bytes.
const maxCopied = 256 << 20

// copyFiles writes the files of a tree into dir, which it makes. A link becomes
// the file that it leads to inside the tree, and is left out where it leads to
// none. The tree is closed when it can be.
func copyFiles(tree fs.FS, dir string) (err error) {
	if c, ok := tree.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	left := int64(maxCopied)
	return fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || name == "." {
			return err
		}
		if d.IsDir() {
			return root.Mkdir(filepath.FromSlash(name), 0o700)
		}
		info, err := fs.Stat(tree, name)
		if err != nil || !info.Mode().IsRegular() {
			return nil
		}
		if left -= info.Size(); left < 0 {
			return fmt.Errorf("the files are larger than %d MiB", maxCopied>>20)
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		return root.WriteFile(filepath.FromSlash(name), data, info.Mode().Perm()|0o600)
	})
}
