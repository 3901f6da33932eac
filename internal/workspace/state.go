package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// EnsureState makes .refit, which only this user may enter and git ignores.
func (w *Workspace) EnsureState() error {
	dir := w.State()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("state folder: %w", err)
	}
	if info.Mode().Perm()&0o077 != 0 { // made by hand, for the images in it
		if err := os.Chmod(dir, 0o700); err != nil {
			return fmt.Errorf("state folder: %w", err)
		}
	}
	ignore := w.State(".gitignore")
	if _, err := os.Lstat(ignore); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return WriteFile(ignore, []byte("*\n"), 0o644)
}

// ReadPrivate reads a file that holds a secret, of at most 64 KiB. One that
// others may read is refused.
func ReadPrivate(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return nil, fmt.Errorf("%s: mode %#o lets others read it: make it 0600, and replace the secret if somebody could have read it", path, mode)
	}
	return ReadFile(path, 64<<10)
}
