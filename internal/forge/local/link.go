package local

import (
	"context"
	"errors"
	"io/fs"
	"path"
)

// maxLinks is how many symbolic links may lead from one to the next.
const maxLinks = 8

// followed is the regular file that a symbolic link at a path of a tree leads
// to. It is not ok for a link that leads out of the repository, to a folder, to
// nothing, through another link's folder, or around in a circle.
func (s *Server) followed(ctx context.Context, tree, at string, link node) (file node, ok bool, err error) {
	for range maxLinks {
		text, err := s.object(ctx, "blob", link.sha)
		if err != nil {
			return node{}, false, err
		}
		if path.IsAbs(string(text)) {
			return node{}, false, nil
		}
		if at = path.Join(path.Dir(at), string(text)); !fs.ValidPath(at) {
			return node{}, false, nil
		}
		link, err = s.find(ctx, tree, at)
		if errors.Is(err, errNotFound) {
			return node{}, false, nil
		}
		if err != nil || link.mode != "120000" {
			return link, err == nil && link.regular(), err
		}
	}
	return node{}, false, nil
}
