package local

import (
	"context"
	"strings"
	"sync"
)

// cacheLimit bounds the bytes of objects that are kept in memory.
const cacheLimit = 64 << 20

// An object of the repository. It never changes under its name, so that it can
// be kept for as long as there is room.
type object struct {
	kind string // commit | tree | blob | tag
	data []byte // nil where only the kind was asked for
}

// A cache keeps the objects that were read or written last, so that not every
// request starts a git process.
type cache struct {
	mu   sync.Mutex
	kept map[string]object
	size int

	extents map[string]extent // of pull requests, by base and head
}

func (c *cache) look(sha string) (object, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	o, ok := c.kept[sha]
	return o, ok
}

// keep adds an object; what would pass the limit empties the cache first.
func (c *cache) keep(sha string, o object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil || c.size+len(o.data) > cacheLimit {
		c.kept, c.size = map[string]object{}, 0
	}
	if len(o.data) <= cacheLimit/8 {
		c.size += len(o.data) - len(c.kept[sha].data)
		c.kept[sha] = o
	}
}

// kind returns an object's type, "" when there is none.
func (s *Server) kind(ctx context.Context, sha string) string {
	if !hash.MatchString(sha) {
		return ""
	}
	if o, ok := s.cache.look(sha); ok {
		return o.kind
	}
	out, err := s.Git.Git(ctx, "cat-file", "-t", sha)
	if err != nil {
		return ""
	}
	kind := strings.TrimSpace(string(out))
	s.cache.keep(sha, object{kind: kind})
	return kind
}

// object returns the bytes of an object of a known type. They are shared and
// must not be changed.
func (s *Server) object(ctx context.Context, kind, sha string) ([]byte, error) {
	if o, ok := s.cache.look(sha); ok && o.kind == kind && o.data != nil {
		return o.data, nil
	}
	data, err := s.Git.Git(ctx, "cat-file", kind, sha)
	if err != nil {
		return nil, err
	}
	if data == nil {
		data = []byte{}
	}
	s.cache.keep(sha, object{kind, data})
	return data, nil
}
