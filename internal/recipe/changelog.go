package recipe

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// ChangelogEntry is one entry of the performance changelog: what is measured
// when it is added, and why.
type ChangelogEntry struct {
	ConfigKeys, Description         []string
	PRLink                          string
	ScenarioType                    []string // empty = both scenarios
	EvalsOnly, AllEvals, AppendOnly bool
	NoEvals                         bool // throughput alone
	EvalMinPrefillEP                int  // 0 = no limit
}

// entryStart is how every entry begins, at the start of a line.
const entryStart = "- config-keys:"

// ParseChangelog reads one snapshot of the changelog strictly: physical form,
// YAML and the schema of every entry. History is held to the same rules; what
// it may have that new entries may not (blank lines, links) is judged by Delta.
func ParseChangelog(src []byte, name string) ([]ChangelogEntry, error) {
	s, err := readChangelog(src, name)
	return s.entries, err
}

// snapshot is a changelog that was read.
type snapshot struct {
	src     []byte
	name    string
	entries []ChangelogEntry
	starts  []int // where the bytes of each entry begin
}

// line is the 1-based line in which entry i, counted from 0, begins.
func (s snapshot) line(i int) int { return lineAt(s.src, s.starts[i]) }

// readChangelog is ParseChangelog with the places.
func readChangelog(src []byte, name string) (snapshot, error) {
	s := snapshot{src: src, name: name, starts: entryOffsets(src)}
	if err := checkBytes(src, name); err != nil {
		return s, err
	}
	root, err := parseRoot(src, name)
	if err != nil {
		return s, err
	}
	if root == nil || root.Kind != yaml.SequenceNode {
		return s, fmt.Errorf("%s:1: want a list of entries", name)
	}
	if err := s.checkStarts(root.Content); err != nil {
		return s, err
	}
	s.entries, err = changelogEntries(root.Content, name)
	return s, err
}

// checkStarts refuses an entry that is nested in another one or begins with
// another key: whoever looks for entries by their first line must find each.
func (s snapshot) checkStarts(items []*yaml.Node) error {
	line, pos := 1, 0
	for i, item := range items {
		if i < len(s.starts) {
			line += bytes.Count(s.src[pos:s.starts[i]], []byte("\n"))
			pos = s.starts[i]
		}
		switch {
		case i >= len(s.starts) || item.Line < line:
			return fmt.Errorf("%s:%d: entry %d must begin with %q at the start of its line", s.name, item.Line, i+1, entryStart)
		case item.Line > line:
			return fmt.Errorf("%s:%d: a line begins with %q inside an entry", s.name, line, entryStart)
		}
	}
	if n := len(items); n < len(s.starts) {
		return fmt.Errorf("%s:%d: a line begins with %q inside an entry", s.name, s.line(n), entryStart)
	}
	return nil
}

// changelogEntries reads the items of the list.
func changelogEntries(items []*yaml.Node, name string) ([]ChangelogEntry, error) {
	d := &document{name: name}
	entries := make([]ChangelogEntry, len(items))
	for i, n := range items {
		entries[i] = d.changelogEntry(n, fmt.Sprintf("entry %d", i+1))
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return entries, nil
}

// checkBytes checks the physical form of a snapshot. Each kind of mistake is
// told once, where it is first.
func checkBytes(src []byte, name string) error {
	d := &document{name: name}
	at := func(i int, rule string) {
		begin := bytes.LastIndexByte(src[:i], '\n') + 1
		d.fail(&yaml.Node{Line: lineAt(src, i), Column: 1 + utf8.RuneCount(src[begin:i])}, "", "%s", rule)
	}
	if !bytes.HasSuffix(src, []byte("\n")) {
		at(len(src), "the file must end with a line feed")
	}
	for _, bad := range []struct{ char, text string }{
		{"\r", "a carriage return"}, {"\t", "a tab"}, {"\x00", "a NUL byte"},
	} {
		if i := bytes.IndexByte(src, bad.char[0]); i >= 0 {
			at(i, bad.text+" is not allowed")
		}
	}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			at(i, "not valid UTF-8")
			break
		}
		i += size
	}
	return d.err()
}

// lineAt is the 1-based line of a byte offset.
func lineAt(src []byte, at int) int { return 1 + bytes.Count(src[:at], []byte("\n")) }

// entryOffsets lists where entries begin.
func entryOffsets(src []byte) []int {
	var at []int
	for pos := 0; pos < len(src); {
		if bytes.HasPrefix(src[pos:], []byte(entryStart)) {
			at = append(at, pos)
		}
		i := bytes.IndexByte(src[pos:], '\n')
		if i < 0 {
			break
		}
		pos += i + 1
	}
	return at
}

func (d *document) changelogEntry(n *yaml.Node, path string) ChangelogEntry {
	return d.entryFields(n, path, true)
}

// entryFields reads an entry; a fragment may leave the link out.
func (d *document) entryFields(n *yaml.Node, path string, linked bool) (e ChangelogEntry) {
	m := d.mapping(n, path)
	if m == nil {
		return e
	}
	e.ConfigKeys = d.someTexts(m.need("config-keys"), m.at("config-keys"))
	e.Description = d.someTexts(m.need("description"), m.at("description"))
	if linked || m.has("pr-link") {
		e.PRLink = d.str(m.need("pr-link"), m.at("pr-link"))
	}
	if list := m.take("scenario-type"); list != nil {
		e.ScenarioType = d.someTexts(list, m.at("scenario-type"))
		for _, s := range list.Content {
			d.oneOf(s, m.at("scenario-type"), "fixed-seq-len", "agentic-coding")
		}
	}
	e.EvalsOnly = d.boolean(m.take("evals-only"), m.at("evals-only"))
	e.AllEvals = d.boolean(m.take("all-evals"), m.at("all-evals"))
	e.AppendOnly = d.boolean(m.take("append-only"), m.at("append-only"))
	e.NoEvals = d.boolean(m.take("no-evals"), m.at("no-evals"))
	e.EvalMinPrefillEP = d.positive(m.take("eval-min-prefill-ep"), m.at("eval-min-prefill-ep"), 0)
	m.done()
	if e.AppendOnly && (e.EvalsOnly || e.AllEvals || e.EvalMinPrefillEP > 0) {
		d.fail(m.value("append-only"), m.at("append-only"), "not allowed beside evals-only, all-evals or eval-min-prefill-ep")
	}
	if e.NoEvals && (e.EvalsOnly || e.AllEvals || e.EvalMinPrefillEP > 0) {
		d.fail(m.value("no-evals"), m.at("no-evals"), "not allowed beside evals-only, all-evals or eval-min-prefill-ep")
	}
	return e
}

// someTexts reads a list of at least one string.
func (d *document) someTexts(n *yaml.Node, path string) []string {
	out := d.texts(n, path)
	if n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		d.fail(n, path, "must not be empty")
	}
	return out
}
