package image

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/refit-bench/refit/internal/workspace"
)

// file keeps permission bits only, none of them for writing by others, and
// never set-id.
func (u *unpacker) file(real string, h *tar.Header, content io.Reader) error {
	if h.Size > u.bytes {
		return errors.New("image is too large")
	}
	f, err := u.root.OpenFile(real, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	n, err := io.Copy(f, content)
	u.bytes -= n
	if err = errors.Join(err, f.Chmod(fs.FileMode(h.Mode)&0o755|0o400), f.Close()); err != nil {
		return err
	}
	if h.ModTime.IsZero() {
		return nil
	}
	return u.root.Chtimes(real, h.ModTime, h.ModTime)
}

// link writes a symbolic link that stays inside. An absolute target means the
// image's root and is spelled relative to the link; so is one that goes down
// and up again.
func (u *unpacker) link(dir, real, target string) error {
	u.lastName = ""
	if workspace.LinkInside(real, target) {
		return u.root.Symlink(target, real)
	}
	to := strings.TrimPrefix(path.Clean(target), "/")
	if !path.IsAbs(target) {
		to = path.Join(dir, target)
	}
	if target == "" || to != "" && !fs.ValidPath(to) {
		return fmt.Errorf("link to %q %w", target, errOutside)
	}
	up := ""
	if dir != "." {
		up = strings.Repeat("../", strings.Count(dir, "/")+1)
	}
	return u.root.Symlink(path.Clean(up+to), real)
}

func (u *unpacker) hardLink(real, target string) error {
	name, err := inside(target)
	if err != nil {
		return fmt.Errorf("hard link to %q %w", target, err)
	}
	dir, err := u.folder(path.Dir(name))
	if err != nil {
		return err
	}
	from := path.Join(dir, path.Base(name))
	info, err := u.root.Lstat(from)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("hard link to %q, which is no file", target)
	}
	return u.root.Link(from, real)
}
