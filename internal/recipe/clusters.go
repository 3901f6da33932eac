package recipe

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Clusters are the facts in which clusters differ, by the name of the cluster:
// `cpu-lab` runs the workers cpu-lab_00, cpu-lab_01, ...
type Clusters map[string]Cluster

// Cluster is what a job needs to know about where it runs.
type Cluster struct {
	Kind   string // local
	Models []StagedModel
}

// StagedModel is a model whose weights lie on the cluster, so that engines read
// them from there and from no hub. Path is a file or a folder, relative to the
// workspace's root; SHA256 is that of a file, "" for a folder.
type StagedModel struct {
	Model, Path, SHA256 string
	Line                int
}

// Staged is the entry of a model, false when the cluster stages none of that name.
func (c Cluster) Staged(model string) (StagedModel, bool) {
	i := slices.IndexFunc(c.Models, func(m StagedModel) bool { return m.Model == model })
	if i < 0 {
		return StagedModel{}, false
	}
	return c.Models[i], true
}

// Cluster is the name of the cluster whose workers a runner label names, ""
// when the label is unknown. A label's workers belong to one cluster; of
// several, the first counts.
func (r Runners) Cluster(label string) string {
	if name, ok := strings.CutPrefix(label, "cluster:"); ok {
		return name
	}
	if len(r.Labels[label]) == 0 {
		return ""
	}
	return namedAfter(r.Labels[label][0])
}

var sha256Form = regexp.MustCompile(`^[0-9a-f]{64}$`)

// ParseClusters reads clusters.yaml strictly. Errors start with file:line:column.
// An empty file has no clusters.
func ParseClusters(src []byte, name string) (Clusters, error) {
	root, err := parseRoot(src, name)
	if err != nil || root == nil {
		return Clusters{}, err
	}
	d := &document{name: name}
	m := d.mapping(root, "")
	if m == nil {
		return nil, d.err()
	}
	all := Clusters{}
	for _, k := range m.keys {
		all[k.Value] = d.cluster(m.value(k.Value), k.Value)
	}
	return all, d.err()
}

func (d *document) cluster(n *yaml.Node, at string) Cluster {
	m := d.mapping(n, at)
	if m == nil {
		return Cluster{}
	}
	c := Cluster{Kind: d.str(m.need("kind"), m.at("kind"))}
	if c.Kind != "" && c.Kind != "local" {
		d.fail(m.value("kind"), m.at("kind"), "%q is not in this version, only local is", c.Kind)
	}
	if n := m.take("models"); n != nil {
		for i, item := range d.sequence(n, m.at("models")) {
			c.Models = append(c.Models, d.staged(item, fmt.Sprintf("%s[%d]", m.at("models"), i), c.Models))
		}
	}
	m.done()
	return c
}

func (d *document) staged(n *yaml.Node, at string, before []StagedModel) StagedModel {
	m := d.mapping(n, at)
	if m == nil {
		return StagedModel{}
	}
	s := StagedModel{
		Model: d.str(m.need("model"), m.at("model")), Path: d.str(m.need("path"), m.at("path")),
		SHA256: d.str(m.take("sha256"), m.at("sha256")), Line: n.Line,
	}
	if s.SHA256 != "" && !sha256Form.MatchString(s.SHA256) {
		d.fail(m.value("sha256"), m.at("sha256"), "want 64 hexadecimal digits, got %q", s.SHA256)
	}
	if s.Model != "" && slices.ContainsFunc(before, func(b StagedModel) bool { return b.Model == s.Model }) {
		d.fail(n, at, "%s is staged twice", s.Model)
	}
	m.done()
	return s
}
