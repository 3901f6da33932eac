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
	EvalMinPrefillEP                int // 0 = no limit
}

// entryStart is how every entry begins, at the start of a line.
const entryStart = "- config-keys:"

// ParseChangelog reads one snapshot of the changelog strictly: physical form,
// YAML and the schema of every entry. History is held to the same rules; what
// it may have that new entries may not (blank lines, links) is judged by Delta.
func ParseChangelog(src []byte, name string) ([]ChangelogEntry, error) {
	if err := checkBytes(src, name); err != nil {
		return nil, err
	}
	root, err := parseRoot(src, name)
	if err != nil {
		return nil, err
	}
	if root == nil || root.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("%s:1: want a list of entries", name)
	}
	if starts := len(entryOffsets(src)); starts != len(root.Content) {
		return nil, fmt.Errorf("%s: %d lines begin with %q, but there are %d entries: an entry is nested or begins otherwise",
			name, starts, entryStart, len(root.Content))
	}
	d := &document{name: name}
	entries := make([]ChangelogEntry, len(root.Content))
	for i, n := range root.Content {
		entries[i] = d.changelogEntry(n, fmt.Sprintf("entry %d", i+1))
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return entries, nil
}

// checkBytes checks the physical form of a snapshot.
func checkBytes(src []byte, name string) error {
	if !bytes.HasSuffix(src, []byte("\n")) {
		return fmt.Errorf("%s:%d: the file must end with a line feed", name, 1+bytes.Count(src, []byte("\n")))
	}
	for _, bad := range []struct{ char, text string }{
		{"\r", "a carriage return"}, {"\t", "a tab"}, {"\x00", "a NUL byte"},
	} {
		if i := bytes.IndexByte(src, bad.char[0]); i >= 0 {
			return fmt.Errorf("%s:%d: %s is not allowed", name, lineAt(src, i), bad.text)
		}
	}
	for i := 0; i < len(src); {
		r, size := utf8.DecodeRune(src[i:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Errorf("%s:%d: not valid UTF-8", name, lineAt(src, i))
		}
		i += size
	}
	return nil
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
	e.EvalMinPrefillEP = d.positive(m.take("eval-min-prefill-ep"), m.at("eval-min-prefill-ep"), 0)
	m.done()
	if e.AppendOnly && (e.EvalsOnly || e.AllEvals || e.EvalMinPrefillEP > 0) {
		d.fail(m.value("append-only"), m.at("append-only"), "not allowed beside evals-only, all-evals or eval-min-prefill-ep")
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
