package engine

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Read works out what the engine whose Python source lies below root accepts.
// It counts classes whose fields carry A[...] or Annotated[...] and the
// hand-written add_argument calls that belong to them; in a tree without such
// classes every add_argument call counts. Nothing is executed. What could not
// be resolved makes the model incomplete and is listed in Notes.
//
// Folders named test or tests and hidden folders are not read. The error is
// ErrNoReader in a build without cgo, otherwise a tree that is missing, over
// the limits, or without any declaration.
func Read(fsys fs.FS, root string) (Model, error) {
	s, err := openSource(fsys, root)
	if err != nil {
		return Model{}, err
	}
	if err := s.load(); err != nil {
		return Model{}, err
	}
	d := &declarations{source: s, files: map[string]bool{}}
	d.derive()
	d.register()
	d.variables()
	m := d.model()
	if len(m.Options) == 0 {
		return Model{}, fmt.Errorf("engine source %s: no argument declarations in %d Python files", s.root, len(s.files))
	}
	return m, nil
}

// declarations collects a model while the tree is read.
type declarations struct {
	*source
	options    []Option
	vars       []Variable
	unnamed    []Location
	incomplete []string // notes that make the model incomplete
	asides     []string // notes that do not
	files      map[string]bool
	noAbbrev   bool
	noHelp     bool
}

// ordered lists the parsed modules in path order.
func (s *source) ordered() []*module {
	var all []*module
	for _, f := range s.files {
		if m := s.modules[f]; m != nil {
			all = append(all, m)
		}
	}
	return all
}

func (d *declarations) unresolved(file string, line int, format string, args ...any) {
	d.incomplete = append(d.incomplete, fmt.Sprintf("%s:%d: ", file, line)+fmt.Sprintf(format, args...))
}

func (d *declarations) add(o Option) {
	d.options = append(d.options, o)
	d.files[o.At.File] = true
}

func (d *declarations) model() Model {
	owners(d.options)
	m := Model{
		Options: d.options, Variables: d.vars, Unnamed: d.unnamed, FilesRead: len(d.source.files),
		Complete: len(d.incomplete) == 0 && len(d.source.notes) == 0, NoAbbrev: d.noAbbrev, NoHelp: d.noHelp,
		Notes: slices.Concat(d.incomplete, d.source.notes, d.asides),
	}
	for f := range d.files {
		m.Files = append(m.Files, f)
	}
	slices.Sort(m.Files)
	if t := m.table(); t.twice != "" {
		o, _ := m.Option(t.twice)
		m.Notes = append(m.Notes, fmt.Sprintf("%s: %s is declared twice: no run can start", o.At, t.twice))
	}
	return m
}

// owners names, for each option that stores for another one, that other one.
func owners(options []Option) {
	owner := map[string]string{}
	for _, o := range options {
		if o.Deprecated == "" && owner[o.Dest] == "" && o.Dest != "" {
			owner[o.Dest] = o.Name()
		}
	}
	for i, o := range options {
		if name := owner[o.Dest]; name != "" && name != o.Name() {
			options[i].AliasOf = name
		}
	}
}

// destination is the name argparse derives from an option's texts.
func destination(names []string) string {
	for _, n := range names {
		if rest, ok := strings.CutPrefix(n, "--"); ok {
			return strings.ReplaceAll(rest, "-", "_")
		}
	}
	if len(names) == 0 {
		return ""
	}
	if !strings.HasPrefix(names[0], "-") {
		return names[0] // a positional keeps its dashes
	}
	return strings.ReplaceAll(strings.TrimLeft(names[0], "-"), "-", "_")
}

// defaultText spells a default: a literal where it can be known, else the
// expression as written.
func (d *declarations) defaultText(m *module, e *expr) string {
	if e == nil {
		return ""
	}
	if e.last() == Suppressed {
		return Suppressed
	}
	if k := d.evaluate(m, e); k.ok && !k.open {
		return literal(k.value)
	}
	return e.text
}

// choices spells the elements of a list of choices.
func (d *declarations) choices(o *Option, m *module, e *expr) {
	k := d.evaluate(m, e)
	list, ok := k.value.([]any)
	if !ok || k.open {
		o.OpenChoices = true
		d.unresolved(m.file, e.line, "choices of %s are not all known: %s", o.Name(), e.text)
	}
	o.Choices = []string{}
	for _, v := range list {
		o.Choices = append(o.Choices, spell(v))
	}
}
