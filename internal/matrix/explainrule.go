package matrix

import "fmt"

// derived is a value that no field holds: the rule that makes it, with the
// numbers put in. Source: recipes specification, sections 3.3, 3.6 and 8.
func (x explainer) derived(name string) Value {
	e, row := Value{From: Derived}, x.point.Row
	switch name {
	case "max-model-len":
		isl, osl := row.Int("isl"), row.Int("osl")
		e.How = fmt.Sprintf("isl + osl + 256 = %d + %d + 256", isl, osl)
	case "exp-name":
		e.How = x.name()
	case "duration":
		e.How = fmt.Sprintf("a trace is always replayed for %d s", traceSeconds)
	case "total-cpu-dram-gb":
		return x.budget()
	case "run-eval", "eval-only", "eval-all-concs":
		e.How = "false in the row of a throughput job; its eval is told below"
	case "recipe-fingerprint":
		e.How = "SHA-256 of the row as the generator emits it, without conc and exp-name"
	}
	return e
}

// name tells how exp-name is put together.
func (x explainer) name() string {
	row := x.point.Row
	switch {
	case !row.agentic():
		isl, osl := row.Int("isl"), row.Int("osl")
		return fmt.Sprintf("model-prefix, and the name %s of lengths %d and %d", SequenceName(isl, osl), isl, osl)
	case row.multinode():
		return "model-prefix, workers x tp (ep, dp-attn) of prefill and decode, conc, and the offloading if there is any"
	}
	return "model-prefix, tp, conc, the offloading and its back-end, and spec-decoding if there is any"
}

// budget is the arithmetic of the host memory for offloaded cache.
func (x explainer) budget() Value {
	e, entry := Value{From: Derived}, x.family.Entry
	if x.search.Offload != "dram" {
		e.How = "0 where kv-offloading is not dram"
		return e
	}
	e.At = x.src.Runners.At("hardware", entry.Runner)
	hw := x.cat.Runners.Hardware[entry.Runner]
	gpus, err := budgetGPUs(entry, x.search, int64(hw.GPUsPerNode))
	if err != nil {
		e.How = err.Error() // unreachable for a point: it would not have been expanded
		return e
	}
	memory := fmt.Sprintf("%d MiB", hw.MemoryMiB)
	if hw.MemoryMiB > maxNodeMiB {
		memory = fmt.Sprintf("%d MiB (the most that counts of %d)", maxNodeMiB, hw.MemoryMiB)
	}
	e.How = fmt.Sprintf("%s x 1048576 x dram-utilization %s (%s) x %d of %d gpus of a node / 1000000000, rounded down",
		memory, entry.Agentic[x.block].DRAMUtilization, x.src.Master.At(x.inBlock("dram-utilization")...), gpus, hw.GPUsPerNode)
	return e
}
