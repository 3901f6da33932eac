package image

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// whiteout removes what lower layers put at a name, or with the opaque mark
// everything they put into the folder. What this layer made stays.
func (u *unpacker) whiteout(dir, hidden string) error {
	u.lastName = ""
	if hidden == ".wh..opq" {
		return u.hide(dir)
	}
	if hidden == "" || hidden == "." || hidden == ".." {
		return errors.New("whiteout without a name")
	}
	if strings.HasPrefix(hidden, ".wh.") {
		return nil // bookkeeping of union file systems
	}
	return u.remove(path.Join(dir, hidden))
}

func (u *unpacker) remove(real string) error {
	if !u.layer[real] {
		return u.root.RemoveAll(real)
	}
	info, err := u.root.Lstat(real)
	if err != nil || !info.IsDir() {
		return err
	}
	return u.hide(real)
}

func (u *unpacker) hide(dir string) error {
	list, err := fs.ReadDir(u.root.FS(), dir)
	if err != nil {
		return err
	}
	for _, e := range list {
		if err := u.remove(path.Join(dir, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
