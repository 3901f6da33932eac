package engine

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"
)

// Limits on what Read looks at. A tree beyond them is an error, never a
// silently shortened reading.
const (
	maxFiles     = 20_000
	maxFileBytes = 8 << 20
	maxTreeBytes = 512 << 20
)

// source is a Python tree whose modules are parsed when they are asked for.
type source struct {
	fsys    fs.FS
	root    string
	files   []string           // Python files in path order, relative to root
	modules map[string]*module // by file
	notes   []string
	read    int64
	found   map[string]string // files by imported name
	steps   int               // of the evaluation under way
	inside  *class            // whose body is being evaluated
}

func openSource(fsys fs.FS, root string) (*source, error) {
	s := &source{fsys: fsys, root: path.Clean(root), modules: map[string]*module{}, found: map[string]string{}}
	if root == "" {
		s.root = "."
	}
	err := fs.WalkDir(fsys, s.root, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			if name != s.root && skipped(d.Name()) {
				return fs.SkipDir
			}
			return nil
		case path.Ext(name) != ".py" || !d.Type().IsRegular():
			return nil
		case len(s.files) == maxFiles:
			return fmt.Errorf("more than %d Python files", maxFiles)
		}
		s.files = append(s.files, s.relative(name))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("engine source %s: %w", s.root, err)
	}
	return s, nil
}

// skipped names folders that declare nothing for the server.
func skipped(dir string) bool {
	switch dir {
	case "tests", "test", "__pycache__", "node_modules":
		return true
	}
	return strings.HasPrefix(dir, ".")
}

func (s *source) relative(name string) string {
	if s.root == "." {
		return name
	}
	return strings.TrimPrefix(name, s.root+"/")
}

// text reads a file within the limits.
func (s *source) text(file string) ([]byte, error) {
	f, err := s.fsys.Open(path.Join(s.root, file))
	if err != nil {
		return nil, fmt.Errorf("engine source: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, fmt.Errorf("engine source %s: %w", file, err)
	}
	s.read += int64(len(data))
	switch {
	case len(data) > maxFileBytes:
		return nil, fmt.Errorf("engine source %s: larger than %d bytes", file, maxFileBytes)
	case s.read > maxTreeBytes:
		return nil, fmt.Errorf("engine source: more than %d bytes of Python", maxTreeBytes)
	}
	return data, nil
}

// declaring reports whether a file has one of the texts without which it
// declares nothing. Parsing is the expensive part.
func declaring(src []byte) bool {
	for _, mark := range []string{"add_argument(", "Annotated[", ": A[", "environ", "getenv", "_env(", "env_var(", "= Env"} {
		if bytes.Contains(src, []byte(mark)) {
			return true
		}
	}
	return false
}

// load parses every file that may declare something, a few at a time.
func (s *source) load() error {
	parsed := make([]*module, len(s.files))
	var g errgroup.Group
	g.SetLimit(runtime.GOMAXPROCS(0))
	for i, file := range s.files {
		data, err := s.text(file)
		if err != nil {
			return errors.Join(err, g.Wait())
		}
		if !declaring(data) {
			continue
		}
		g.Go(func() error {
			m, err := parseModule(file, data)
			parsed[i] = m
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return err
	}
	for _, m := range parsed {
		if m != nil {
			s.keep(m)
		}
	}
	return nil
}

func (s *source) keep(m *module) {
	s.modules[m.file] = m
	for _, line := range m.broken[:min(len(m.broken), 3)] {
		s.notes = append(s.notes, fmt.Sprintf("%s:%d: not understood as Python", m.file, line))
	}
}

// module returns the parsed module that an import in file names, if the tree has it.
func (s *source) module(file string, dotted string) *module {
	name := s.find(file, dotted)
	if name == "" {
		return nil
	}
	if m, ok := s.modules[name]; ok {
		return m
	}
	data, err := s.text(name)
	if err == nil {
		var m *module
		if m, err = parseModule(name, data); err == nil {
			s.keep(m)
		}
	}
	if err != nil && !errors.Is(err, ErrNoReader) {
		s.notes = append(s.notes, fmt.Sprintf("%s:1: %v", name, err))
	}
	return s.modules[name]
}

// find maps a dotted module name to a file, once per name.
func (s *source) find(file, dotted string) string {
	key := dotted
	if strings.HasPrefix(dotted, ".") {
		key = path.Dir(file) + " " + dotted
	}
	found, ok := s.found[key]
	if !ok {
		found = s.search(file, dotted)
		s.found[key] = found
	}
	return found
}

// search tries an absolute name in full, then below some folder, then without
// its leading parts: root may lie outside the package or inside it.
func (s *source) search(file, dotted string) string {
	bare := strings.TrimLeft(dotted, ".")
	steps := strings.ReplaceAll(bare, ".", "/")
	if up := len(dotted) - len(bare); up > 0 {
		dir := path.Dir(file)
		for range up - 1 {
			dir = path.Dir(dir)
		}
		return s.exists(path.Join(dir, steps))
	}
	if found := s.exists(steps); found != "" {
		return found
	}
	if found := s.below(steps); found != "" {
		return found
	}
	for {
		_, rest, ok := strings.Cut(steps, "/")
		if !ok {
			return ""
		}
		steps = rest
		if found := s.exists(steps); found != "" {
			return found
		}
	}
}

// below finds a module whose package lies somewhere below the root, as in
// python/pkg/... ; the shortest path wins.
func (s *source) below(stem string) string {
	found := ""
	for _, f := range s.files {
		if (strings.HasSuffix(f, "/"+stem+".py") || strings.HasSuffix(f, "/"+stem+"/__init__.py")) && (found == "" || len(f) < len(found)) {
			found = f
		}
	}
	return found
}

func (s *source) exists(stem string) string {
	for _, name := range []string{stem + ".py", path.Join(stem, "__init__.py")} {
		if _, ok := slices.BinarySearch(s.files, name); ok {
			return name
		}
	}
	return ""
}
