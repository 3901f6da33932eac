package matrix

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/recipe"
)

// nodeCount is how many nodes a multi-node deployment takes, 0 where that is
// not asked for. The engine's own recipe file says it, if it is checked in;
// else each pool's PREFILL_NODES or DECODE_NODES setting; else the pool's GPUs
// fill nodes of the runner's size. Source: recipes specification, section 12.
func (x Filter) nodeCount(f recipe.Family, s recipe.Search, runners recipe.Runners) (int, error) {
	if !x.NodeCount || !f.Entry.Multinode {
		return 0, nil
	}
	n, err := x.nodesOf(f.Entry.Runner, s, runners)
	if err == nil && n < 1 {
		err = fmt.Errorf("prefill and decode together take no node")
	}
	if err != nil {
		return 0, fmt.Errorf("%s:%d: %s: node-count: %w", f.File, s.Line, f.Key, err)
	}
	return n, nil
}

func (x Filter) nodesOf(label string, s recipe.Search, runners recipe.Runners) (int, error) {
	settings := slices.Concat(s.Prefill.Settings, s.Decode.Settings)
	if file, ok := setting(settings, "CONFIG_FILE"); ok && x.NodeTotal != nil {
		if n, found, err := x.NodeTotal(file); found || err != nil {
			return n, err
		}
	}
	total := 0
	for _, role := range []struct {
		name, setting string
		worker        *recipe.Worker
	}{{"prefill", "PREFILL_NODES", s.Prefill}, {"decode", "DECODE_NODES", s.Decode}} {
		n, err := poolNodes(label, role.worker, role.setting, settings, runners)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", role.name, err)
		}
		total += n
	}
	return total, nil
}

// poolNodes counts the nodes of one pool.
func poolNodes(label string, w *recipe.Worker, name string, settings []string, runners recipe.Runners) (int, error) {
	if text, ok := setting(settings, name); ok {
		n, err := strconv.Atoi(text)
		if err != nil || n < 0 || n > maxNodes {
			return 0, fmt.Errorf("%s=%s: want a number of nodes", name, text)
		}
		return n, nil
	}
	gpus := product(w.Workers, w.TP, w.PP, w.PCP)
	if gpus.Sign() == 0 {
		return 0, nil
	}
	size, err := nodeSize(label, runners.Hardware)
	if err != nil {
		return 0, fmt.Errorf("%w; or write %s=N into its additional-settings", err, name)
	}
	nodes := gpus.Add(gpus, big.NewInt(int64(size-1)))
	nodes.Quo(nodes, big.NewInt(int64(size)))
	if nodes.Sign() < 0 || nodes.Cmp(big.NewInt(maxNodes)) > 0 {
		return 0, fmt.Errorf("num-worker %d x tp %d x pp %d x pcp-size %d is not a number of gpus", w.Workers, w.TP, w.PP, w.PCP)
	}
	return int(nodes.Int64()), nil
}

// maxNodes bounds what one pool may take, so that a slip of the pen is told.
const maxNodes = 1 << 20

// product does not overflow.
func product(factors ...int) *big.Int {
	p := big.NewInt(1)
	for _, f := range factors {
		p.Mul(p, big.NewInt(int64(f)))
	}
	return p
}

// setting is the value of NAME=value, of the last one where several are.
func setting(settings []string, name string) (string, bool) {
	for _, s := range slices.Backward(settings) {
		if value, ok := strings.CutPrefix(s, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// nodeSize is the number of GPUs of a label's nodes: what the runners file
// says of it, else what it says of all labels with the same kind of GPU.
func nodeSize(label string, hardware map[string]recipe.Hardware) (int, error) {
	if h, ok := hardware[label]; ok {
		return h.GPUsPerNode, nil
	}
	sizes := map[int]string{} // size -> a label that has it
	for other, h := range hardware {
		if gpuKind(other) == gpuKind(label) && (sizes[h.GPUsPerNode] == "" || other < sizes[h.GPUsPerNode]) {
			sizes[h.GPUsPerNode] = other
		}
	}
	if len(sizes) == 1 {
		for n := range sizes {
			return n, nil
		}
	}
	if len(sizes) == 0 {
		return 0, fmt.Errorf("gpus-per-node of runner %q is missing: describe it, or any %s-... label, under hardware of the runners file", label, gpuKind(label))
	}
	var found []string
	for n, other := range sizes {
		found = append(found, fmt.Sprintf("%s has %d", other, n))
	}
	slices.Sort(found)
	return 0, fmt.Errorf("gpus-per-node of runner %q is ambiguous (%s): describe it under hardware of the runners file", label, strings.Join(found, ", "))
}

// gpuKind is the part of a label that names the GPU.
func gpuKind(label string) string {
	kind, _, _ := strings.Cut(strings.TrimPrefix(label, "cluster:"), "-")
	return kind
}
