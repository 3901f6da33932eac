package recipe

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
)

// Load reads the master files, given as paths or globs, and the runners file.
// Nothing is left unchecked: every mistake of every file, and every file that
// is not there, is in the joined error, each as "file:line:col: key: rule".
func Load(fsys fs.FS, masters []string, runners string) (*Catalogue, error) {
	c := &Catalogue{}
	files, errs := expand(fsys, masters)
	for _, file := range files {
		src, err := readFile(fsys, file)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		families, err := ParseMaster(src, file)
		errs = append(errs, err)
		c.Families = append(c.Families, families...)
	}
	errs = append(errs, clashes(c.Families)...)
	if src, err := readFile(fsys, runners); err != nil {
		errs = append(errs, err)
	} else {
		c.Runners, err = ParseRunners(src, runners)
		errs = append(errs, err)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return c, nil
}

// expand turns globs into paths, keeping the order given. A pattern that
// matches nothing is an error.
func expand(fsys fs.FS, patterns []string) (files []string, errs []error) {
	for _, p := range patterns {
		matches, err := fs.Glob(fsys, p)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("master files %q: %v", p, err))
		case len(matches) == 0:
			errs = append(errs, fmt.Errorf("master files %q: %w", p, fs.ErrNotExist))
		}
		for _, m := range matches {
			if !slices.Contains(files, m) {
				files = append(files, m)
			}
		}
	}
	if len(patterns) == 0 {
		errs = append(errs, errors.New("no master file is named"))
	}
	return files, errs
}

// readFile reads one bounded file.
func readFile(fsys fs.FS, path string) ([]byte, error) {
	f, err := fsys.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, reason(err))
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, reason(err))
	}
	return src, nil
}

// reason drops the path that fs puts into its errors; the caller names it.
func reason(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	return err
}

// clashes reports keys that stand in two files.
func clashes(families []Family) []error {
	var errs []error
	first := map[string]Family{}
	for _, f := range families {
		if other, ok := first[f.Key]; ok {
			errs = append(errs, fmt.Errorf("%s:%d: %s: key is also in %s:%d", f.File, f.Line, f.Key, other.File, other.Line))
			continue
		}
		first[f.Key] = f
	}
	return errs
}

// Family finds a family by its ID or by its key.
func (c *Catalogue) Family(idOrKey string) (Family, error) {
	var known []string
	for _, f := range c.Families {
		if f.ID == idOrKey || f.Key == idOrKey {
			return f, nil
		}
		known = append(known, f.Key)
		if strings.Contains(idOrKey, ":") {
			known = append(known, f.ID)
		}
	}
	return Family{}, fmt.Errorf("no family %q in the catalogue%s", abridged(idOrKey), didYouMean(idOrKey, known))
}
