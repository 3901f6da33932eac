package recipe

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// ParseRunners reads runners.yaml.
func ParseRunners(src []byte, name string) (Runners, error) {
	r := Runners{Labels: map[string][]string{}, Hardware: map[string]Hardware{}}
	root, err := parseRoot(src, name)
	if err != nil {
		return r, err
	}
	if root == nil {
		return r, fmt.Errorf("%s:1: labels is missing", name)
	}
	d := &document{name: name}
	m := d.mapping(root, "")
	if m == nil {
		return r, d.err()
	}
	if n := m.need("labels"); n != nil {
		d.labels(n, r.Labels)
	}
	if n := m.take("hardware"); n != nil {
		d.hardware(n, r.Hardware)
	}
	m.done()
	return r, d.err()
}

func (d *document) labels(n *yaml.Node, into map[string][]string) {
	m := d.mapping(n, "labels")
	if m == nil {
		return
	}
	for _, k := range m.keys {
		v := m.value(k.Value)
		into[k.Value] = d.texts(v, m.at(k.Value))
		if v.Kind == yaml.SequenceNode && len(v.Content) == 0 {
			d.fail(v, m.at(k.Value), "must list at least one runner")
		}
	}
}

func (d *document) hardware(n *yaml.Node, into map[string]Hardware) {
	m := d.mapping(n, "hardware")
	if m == nil {
		return
	}
	for _, k := range m.keys {
		h := d.mapping(m.value(k.Value), m.at(k.Value))
		if h == nil {
			continue
		}
		into[k.Value] = Hardware{
			MemoryMiB:   d.positive(h.need("available-cpu-dram-mib"), h.at("available-cpu-dram-mib"), 1),
			GPUsPerNode: d.positive(h.need("gpus-per-node"), h.at("gpus-per-node"), 1),
		}
		h.done()
	}
}
