package recipe

import (
	"bytes"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Fragment is a changelog entry in a file of its own, changelog.d/NAME.yaml: one
// per change, so that two changes never touch the same line. Compiling appends
// it to the changelog that others read.
type Fragment struct {
	Name  string // file name without folder and extension
	Entry ChangelogEntry
	Merge int // place of its merge in the history of main, counted from 0
	Pull  int // number of its pull request, 0 = not known
}

// ParseFragment reads a fragment strictly: the mapping of an entry. pr-link may
// be left out: the number is known only when the change is merged. Errors start
// with file:line:column.
func ParseFragment(src []byte, file string) (Fragment, error) {
	f := Fragment{Name: strings.TrimSuffix(path.Base(file), path.Ext(file))}
	if err := checkBytes(src, file); err != nil {
		return f, err
	}
	root, err := parseRoot(src, file)
	if err != nil {
		return f, err
	}
	if root == nil {
		return f, fmt.Errorf("%s:1: the file is empty: it must hold one entry, config-keys and description", file)
	}
	d := &document{name: file}
	f.Entry = d.entryFields(root, "", false)
	if f.Entry.PRLink == "" {
		f.Entry.PRLink = "XXX"
	}
	return f, d.err()
}

// Compile appends fragments to a changelog, in the order of their merges and,
// within one, of their names. Each gets the link of its pull request.
// repository is "https://host/owner/name".
func Compile(log []byte, fragments []Fragment, repository string) ([]byte, error) {
	sorted := slices.Clone(fragments)
	slices.SortFunc(sorted, func(a, b Fragment) int {
		return cmp.Or(cmp.Compare(a.Merge, b.Merge), strings.Compare(a.Name, b.Name))
	})
	var err error
	for _, f := range sorted {
		rule := LinkRule{Repository: repository, Pull: f.Pull}
		switch {
		case f.Pull > 0:
			f.Entry.PRLink = rule.Own()
		case !rule.canonical(f.Entry.PRLink):
			return nil, fmt.Errorf("fragment %s: its pull request is not known: write its pr-link", f.Name)
		}
		if log, err = AppendEntry(log, f.Entry); err != nil {
			return nil, fmt.Errorf("fragment %s: %w", f.Name, err)
		}
	}
	return log, nil
}

// FragmentText writes an entry as a fragment. The link is left out while it is
// a placeholder.
func FragmentText(e ChangelogEntry) []byte {
	var b bytes.Buffer
	for line := range strings.Lines(entryText(e)) {
		if strings.HasPrefix(line, "  pr-link: XXX") {
			continue
		}
		b.WriteString(line[2:]) // the list's indent
	}
	return b.Bytes()
}
