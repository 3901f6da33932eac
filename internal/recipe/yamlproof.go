package recipe

import "go.yaml.in/yaml/v3"

// sameTree compares two documents in everything but positions: an alias must
// stand for the same node. Where an entry was dropped, the comments of its
// neighbours are read beside other nodes than before and are not compared.
func sameTree(a, b *yaml.Node, dropped bool) bool {
	if a == nil || b == nil {
		return a == b
	}
	return (&treeProof{map[*yaml.Node]*yaml.Node{}, dropped}).same(a, b)
}

type treeProof struct {
	pairs   map[*yaml.Node]*yaml.Node // of nodes with an anchor
	dropped bool
}

func (p *treeProof) same(a, b *yaml.Node) bool {
	if a.Kind != b.Kind || a.Style != b.Style || a.Tag != b.Tag || a.Value != b.Value || a.Anchor != b.Anchor || len(a.Content) != len(b.Content) {
		return false
	}
	if !p.dropped && (a.HeadComment != b.HeadComment || a.LineComment != b.LineComment || a.FootComment != b.FootComment) {
		return false
	}
	if a.Anchor != "" {
		p.pairs[a] = b
	}
	if a.Kind == yaml.AliasNode && p.pairs[a.Alias] != b.Alias {
		return false
	}
	for i := range a.Content {
		if !p.same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}
