package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"
)

// Export writes the files of a commit into dir, which must be empty or not
// there yet. The bytes are the commit's own: no attributes, filters or line
// ends apply. Links that lead out of the tree are refused; submodules become
// empty folders. After an error dir may hold a part.
func (r Repo) Export(ctx context.Context, rev, dir string) error {
	fsys, err := r.FS(ctx, rev)
	if err != nil {
		return err
	}
	t := fsys.(*Tree)
	if err := exportTree(t, dir); err != nil {
		t.Close()
		return fmt.Errorf("export %s to %s: %w", rev, dir, err)
	}
	return t.Close()
}

func exportTree(t *Tree, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	if list, err := os.ReadDir(dir); err != nil {
		return err
	} else if len(list) > 0 {
		return errors.New("folder is not empty")
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return exportDir(t, root, t.listing.nodes["."])
}

func exportDir(t *Tree, root *os.Root, dir *node) error {
	for _, e := range dir.children {
		n := t.listing.nodes[path.Join(dir.path, e.Name())]
		var err error
		switch {
		case n.IsDir():
			if err = root.Mkdir(n.path, 0o755); err == nil {
				err = exportDir(t, root, n)
			}
		case n.mode.Type() == fs.ModeSymlink:
			err = exportLink(t, root, n)
		default:
			err = exportFile(t, root, n)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func exportFile(t *Tree, root *os.Root, n *node) error {
	data, err := t.content(n)
	if err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	return root.WriteFile(n.path, data, n.mode.Perm()|0o200)
}

func exportLink(t *Tree, root *os.Root, n *node) error {
	data, err := t.content(n)
	if err != nil {
		return fmt.Errorf("%s: %w", n.path, err)
	}
	if !LinkInside(n.path, string(data)) {
		return fmt.Errorf("%s: %w: %q", n.path, errClimb, data)
	}
	return root.Symlink(string(data), n.path)
}

// LinkInside tells whether a symbolic link at the slash path name, whose
// folders are real ones, stays inside the tree whatever other such links do: a
// relative target that goes up no further than the top, and never up again
// after going down, where the name on the way may be a link itself.
func LinkInside(name, target string) bool {
	if target == "" || path.IsAbs(target) {
		return false
	}
	depth, down := strings.Count(name, "/"), false
	for part := range strings.SplitSeq(target, "/") {
		switch part {
		case "", ".":
		case "..":
			if depth--; down || depth < 0 {
				return false
			}
		default:
			down = true
		}
	}
	return true
}
