package recipe

import (
	"strings"

	"go.yaml.in/yaml/v3"
)

// ParseMaster reads one master file: a mapping of config key to entry. The
// families found are returned beside the error, so that a caller may compare
// them with those of other files before giving up.
func ParseMaster(src []byte, name string) ([]Family, error) {
	root, err := parseRoot(src, name)
	if err != nil {
		return nil, err
	}
	d := &document{name: name}
	if root == nil {
		root = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: 1, Column: 1}
	}
	m := d.mapping(root, "")
	if m == nil {
		return nil, d.err()
	}
	var families []Family
	for _, k := range m.keys {
		if strings.Contains(k.Value, "*") {
			d.fail(k, k.Value, "a key must not contain *, which is a wildcard")
		}
		f := Family{ID: name + ":" + k.Value, File: name, Key: k.Value, Line: k.Line}
		f.Entry = d.entryAt(m.value(k.Value), k.Value)
		families = append(families, f)
	}
	return families, d.err()
}

// entryAt reads an entry without the paths of its fields, which only messages
// need, and once more with them when there is something to say.
func (d *document) entryAt(n *yaml.Node, path string) Entry {
	before := len(d.mistakes)
	d.quiet = true
	e := d.entry(n, path)
	d.quiet = false
	if len(d.mistakes) == before {
		return e
	}
	d.mistakes = d.mistakes[:before]
	return d.entry(n, path)
}

// entry reads the mapping of one config key.
func (d *document) entry(n *yaml.Node, path string) (e Entry) {
	m := d.mapping(n, path)
	if m == nil {
		return e
	}
	for _, f := range []struct {
		name string
		into *string
	}{
		{"image", &e.Image}, {"model", &e.Model}, {"model-prefix", &e.ModelPrefix},
		{"runner", &e.Runner}, {"precision", &e.Precision}, {"framework", &e.Framework},
	} {
		*f.into = d.str(m.need(f.name), m.at(f.name))
	}
	d.multinode(m, &e)
	e.Disagg = d.boolean(m.take("disagg"), m.at("disagg"))
	e.Router = d.component(m.take("router"), m.at("router"), true)
	if e.Multinode {
		e.Transfer = d.text(m.take("kv-p2p-transfer"), m.at("kv-p2p-transfer"))
	}
	d.scenarios(m.need("scenarios"), m.at("scenarios"), &e)
	m.done()
	d.entryRules(m, &e)
	return e
}

// multinode reads which shape the entry's search-space has. Where the field
// itself is wrong, the shape that is written says how to read the rest: one
// mistake must not look like many.
func (d *document) multinode(m *mapping, e *Entry) {
	before := len(d.mistakes)
	e.Multinode = d.boolean(m.need("multinode"), m.at("multinode"))
	if s := m.value("scenarios"); s != nil && len(d.mistakes) > before {
		e.Multinode = writes(s, "prefill") || writes(s, "decode")
	}
}

// writes says whether a field of this name stands anywhere below n.
func writes(n *yaml.Node, field string) bool {
	for i, c := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == field || writes(c, field) {
			return true
		}
	}
	return false
}

// scenarios reads both scenario lists; at least one must have a block.
func (d *document) scenarios(n *yaml.Node, path string, e *Entry) {
	if n == nil {
		return
	}
	m := d.mapping(n, path)
	if m == nil {
		return
	}
	blocks := 0
	if list := m.take("fixed-seq-len"); list != nil {
		for _, b := range d.sequence(list, m.at("fixed-seq-len")) {
			e.Fixed = append(e.Fixed, d.fixedBlock(b, m.at("fixed-seq-len"), e))
			blocks++
		}
	}
	if list := m.take("agentic-coding"); list != nil {
		for _, b := range d.sequence(list, m.at("agentic-coding")) {
			e.Agentic = append(e.Agentic, d.agenticBlock(b, m.at("agentic-coding"), e))
			blocks++
		}
	}
	m.done()
	if blocks == 0 {
		d.fail(n, path, "needs a fixed-seq-len or an agentic-coding block")
	}
}

// entryRules checks what holds between the fields of an entry.
func (d *document) entryRules(m *mapping, e *Entry) {
	if e.Disagg && !e.Multinode {
		d.fail(m.value("disagg"), m.at("disagg"), "must be false when multinode is false")
	}
	if n := m.value("runner"); n != nil && len(e.Agentic) > 0 && n.Tag == "!!str" && !strings.HasPrefix(e.Runner, "cluster:") {
		d.fail(n, m.at("runner"), "must begin with cluster: for agentic-coding, got %q", e.Runner)
	}
	everywhere := true
	for _, s := range e.searches() {
		at := &yaml.Node{Line: s.Line, Column: s.Column}
		everywhere = everywhere && s.Transfer != ""
		if e.Router != nil && s.Router != nil {
			d.fail(at, m.path, "router is set both for the entry and in its search-space")
		}
		if e.Transfer != "" && s.Transfer != "" {
			d.fail(at, m.path, "kv-p2p-transfer is set both for the entry and in its search-space")
		}
	}
	if e.Disagg && e.Multinode && e.Transfer == "" && !everywhere {
		d.fail(m.value("disagg"), m.at("disagg"), "needs kv-p2p-transfer for the entry or in every search-space entry")
	}
}

// searches lists the search-space entries of both scenarios.
func (e Entry) searches() []Search {
	var all []Search
	for _, b := range e.Fixed {
		all = append(all, b.Search...)
	}
	for _, b := range e.Agentic {
		all = append(all, b.Search...)
	}
	return all
}

// component reads {name, version}; version may be left out where it is not needed.
func (d *document) component(n *yaml.Node, path string, needVersion bool) *Component {
	if null(n) {
		return nil
	}
	m := d.mapping(n, path)
	if m == nil {
		return nil
	}
	c := &Component{Name: d.text(m.need("name"), m.at("name"))}
	v := m.take("version")
	if needVersion && v == nil {
		v = m.need("version")
	}
	c.Version = d.text(v, m.at("version"))
	if strings.HasPrefix(c.Version, "image:") {
		d.fail(v, m.at("version"), "must be a version, not an image")
	}
	m.done()
	return c
}
