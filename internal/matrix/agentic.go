package matrix

import (
	"fmt"
	"math/big"
	"strconv"

	"github.com/refit-bench/refit/internal/recipe"
)

// traceSeconds is how long a trace is replayed.
const traceSeconds = 3600

// agenticRow makes one row of a trace replay.
func agenticRow(e recipe.Entry, s recipe.Search, conc, dram int) Row {
	r := head(e)
	if e.Multinode {
		r.add("spec-decoding", s.SpecDecoding)
		r.add("prefill", workerRow(s.Prefill))
		r.add("decode", workerRow(s.Decode))
		r.add("conc", []int{conc})
	} else {
		sizes(&r, s)
		r.add("ep", s.EP)
		r.add("dp-attn", s.DPAttention)
		r.add("spec-decoding", s.SpecDecoding)
		r.add("conc", conc)
	}
	r.add("kv-offloading", s.Offload)
	r.add("total-cpu-dram-gb", dram)
	r.add("duration", traceSeconds)
	r.add("exp-name", agenticName(e, s, conc))
	if e.Multinode {
		r.add("disagg", e.Disagg)
	}
	r.add("scenario-type", Agentic)
	if s.Backend != nil {
		r.add("kv-offload-backend", componentRow(*s.Backend))
	}
	extras(&r, e, s)
	return r
}

func agenticName(e recipe.Entry, s recipe.Search, conc int) string {
	offload := "kv" + s.Offload
	if s.Backend != nil {
		offload += "-" + s.Backend.Name
	}
	name := e.ModelPrefix
	if e.Multinode {
		name += "_" + poolTag("p", s.Prefill) + "_" + poolTag("d", s.Decode) + "_conc" + strconv.Itoa(conc)
		if s.Offload != "none" {
			name += "_" + offload
		}
		return name
	}
	name += fmt.Sprintf("_tp%d_conc%d_%s", s.TP, conc, offload)
	if s.SpecDecoding != "none" {
		name += "_spec-" + s.SpecDecoding
	}
	return name
}

// poolTag is a worker pool in a name: p1x8ep8dpa.
func poolTag(role string, w *recipe.Worker) string {
	tag := fmt.Sprintf("%s%dx%d", role, w.Workers, w.TP)
	if w.EP != 1 {
		tag += "ep" + strconv.Itoa(w.EP)
	}
	if w.DPAttention {
		tag += "dpa"
	}
	return tag
}

// maxNodeMiB caps the host memory that counts: three decimal terabytes.
const maxNodeMiB = 2_861_022

// dramBudget is the host memory, in decimal gigabytes, that one replica may
// use for offloaded cache: its share of the node, by GPUs. 0 without offloading.
func dramBudget(e recipe.Entry, b recipe.AgenticBlock, s recipe.Search, runners recipe.Runners) (int, error) {
	if s.Offload != "dram" {
		return 0, nil
	}
	hw, ok := runners.Hardware[e.Runner]
	if !ok {
		return 0, fmt.Errorf("kv-offloading needs hardware of runner %q, which the runners file does not describe", e.Runner)
	}
	gpus, err := budgetGPUs(e, s, int64(hw.GPUsPerNode))
	if err != nil {
		return 0, err
	}
	share, ok := new(big.Rat).SetString(b.DRAMUtilization)
	if !ok {
		return 0, fmt.Errorf("dram-utilization %q is not a number", b.DRAMUtilization)
	}
	bytes := new(big.Rat).SetInt64(int64(min(hw.MemoryMiB, maxNodeMiB)) << 20)
	bytes.Mul(bytes, share)
	bytes.Mul(bytes, big.NewRat(gpus, int64(hw.GPUsPerNode)))
	bytes.Quo(bytes, big.NewRat(1_000_000_000, 1))
	return int(new(big.Int).Quo(bytes.Num(), bytes.Denom()).Int64()), nil
}

// budgetGPUs counts the GPUs of a node that one replica fills; of a
// multi-node deployment the prefill worker decides.
func budgetGPUs(e recipe.Entry, s recipe.Search, node int64) (int64, error) {
	tp, pp, pcp := s.TP, s.PP, s.PCP
	if e.Multinode {
		tp, pp, pcp = s.Prefill.TP, s.Prefill.PP, s.Prefill.PCP
	}
	product := big.NewInt(int64(tp))
	product.Mul(product, big.NewInt(int64(pp)))
	product.Mul(product, big.NewInt(int64(pcp)))
	if !product.IsInt64() || product.Sign() <= 0 {
		return 0, fmt.Errorf("tp %d x pp %d x pcp-size %d is not a number of gpus", tp, pp, pcp)
	}
	gpus := product.Int64()
	switch {
	case gpus > node && !e.Multinode:
		return 0, fmt.Errorf("kv-offloading: %d gpus do not fit on a node of %d", gpus, node)
	case gpus > node && gpus%node != 0, gpus < node && node%gpus != 0 && e.Multinode:
		return 0, fmt.Errorf("kv-offloading: a prefill worker of %d gpus does not tile nodes of %d", gpus, node)
	}
	return min(gpus, node), nil
}
