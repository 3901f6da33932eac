package recipe

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// overlays is the folder, below that of the scripts, whose files are laid over
// the engine recipes of a multi-node launcher.
const overlays = "multi_node/srt-slurm-recipes"

// NodeTotals reads how many nodes the engine recipes of a checkout take. The
// function that it returns takes the value of a CONFIG_FILE setting. found is
// false when that file is not checked in: neither at its own path nor, for
// "recipes/...", among the overlays of the scripts folder.
func NodeTotals(checkout fs.FS, scripts string) func(setting string) (nodes int, found bool, err error) {
	return func(setting string) (int, bool, error) {
		names, variant := enginePaths(scripts, setting)
		for _, n := range names {
			src, err := readFile(checkout, n)
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return 0, true, err
			}
			total, err := nodeTotal(src, n, variant)
			return total, true, err
		}
		return 0, false, nil
	}
}

// nodeTotal adds up the nodes of an engine recipe's workers:
// resources.prefill_nodes, decode_nodes and agg_nodes in its first layout,
// roles.*.nodes in its second. A node that is set aside for something else, as
// a message broker, is not counted. A file with variants holds one recipe under
// base; "override_x" differs from it where it says so, and so does
// "zip_override_x[i]", with item i of its lists.
// Layouts: https://nvidia.github.io/srt-slurm/config-reference/
func nodeTotal(src []byte, name, variant string) (int, error) {
	root, err := parseRoot(src, name)
	if err != nil {
		return 0, err
	}
	if root == nil || root.Kind != yaml.MappingNode {
		return 0, fmt.Errorf("%s:1: want a mapping", name)
	}
	v, index, _ := strings.Cut(strings.TrimSuffix(variant, "]"), "[")
	item, _ := strconv.Atoi(index)
	changed := child(root, v)
	if v != "" && changed == nil {
		return 0, fmt.Errorf("%s:%d: no variant %q in the file", name, root.Line, v)
	}
	if base := child(root, "base"); base != nil {
		root = base
	}
	d := &document{name: name}
	total, known := 0, false
	for _, field := range nodeFields {
		n := grandchild(changed, field)
		if n == nil {
			n = grandchild(root, field)
		}
		if n == nil {
			continue
		}
		if n.Kind == yaml.SequenceNode && len(n.Content) > 0 { // one item is that of every variant
			n = n.Content[min(max(item, 0), len(n.Content)-1)]
		}
		total, known = total+max(d.integer(n, strings.Join(field, "."), 0), 0), true
	}
	if !known {
		return 0, fmt.Errorf("%s:%d: no number of nodes: want resources.prefill_nodes and decode_nodes, resources.agg_nodes, or roles.*.nodes", name, root.Line)
	}
	return total, d.err()
}

// nodeFields are where a recipe says how many nodes its workers take.
var nodeFields = [][]string{
	{"resources", "prefill_nodes"}, {"resources", "decode_nodes"}, {"resources", "agg_nodes"},
	{"roles", "prefill", "nodes"}, {"roles", "decode", "nodes"}, {"roles", "agg", "nodes"},
}

// grandchild follows a path of fields, nil where it ends or says null.
func grandchild(n *yaml.Node, path []string) *yaml.Node {
	for _, name := range path {
		n = child(n, name)
	}
	if null(n) {
		return nil
	}
	return n
}

// child is a field of a mapping, nil where there is none. Engine recipes share
// parts with anchors and merge keys; a field of its own wins over a merged one.
func child(n *yaml.Node, name string) *yaml.Node {
	return fieldOf(n, name, map[*yaml.Node]bool{})
}

// fieldOf is child. A mapping that was looked into is not looked into again:
// merge keys may go round in circles.
func fieldOf(n *yaml.Node, name string, seen map[*yaml.Node]bool) *yaml.Node {
	if n = anchored(n); n == nil || n.Kind != yaml.MappingNode || seen[n] {
		return nil
	}
	seen[n] = true
	for i := 0; i+1 < len(n.Content); i += 2 {
		if key := n.Content[i]; key.Tag != "!!merge" && key.Value == name {
			return anchored(n.Content[i+1])
		}
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag == "!!merge" {
			return merged(n.Content[i+1], name, seen)
		}
	}
	return nil
}

// merged looks into what a merge key names: a mapping, or several of which the
// first counts.
func merged(n *yaml.Node, name string, seen map[*yaml.Node]bool) *yaml.Node {
	if n = anchored(n); n == nil || n.Kind != yaml.SequenceNode {
		return fieldOf(n, name, seen)
	}
	for _, item := range n.Content {
		if found := fieldOf(item, name, seen); found != nil {
			return found
		}
	}
	return nil
}

// anchored is what an alias stands for.
func anchored(n *yaml.Node) *yaml.Node {
	if n != nil && n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}
