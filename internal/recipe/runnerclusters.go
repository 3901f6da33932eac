package recipe

import (
	"slices"
	"strings"
)

// Clusters are the names of the clusters that can run a job of a runner label,
// sorted; none when the label is unknown. "cluster:NAME" is one by name, and so
// is NAME alone where no label is called so. A worker belongs to the clusters
// whose own label lists it, else to the one that it is named after.
func (r Runners) Clusters(label string) []string {
	if name, ok := strings.CutPrefix(label, "cluster:"); ok {
		return []string{name}
	}
	if len(r.Labels[label]) == 0 && len(r.Labels["cluster:"+label]) > 0 {
		return []string{label}
	}
	var names []string
	for _, worker := range r.Labels[label] {
		listed := false
		for other, workers := range r.Labels {
			if name, ok := strings.CutPrefix(other, "cluster:"); ok && slices.Contains(workers, worker) {
				names, listed = append(names, name), true
			}
		}
		if !listed {
			names = append(names, namedAfter(worker))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// namedAfter is the cluster in the name of a worker: that of cpu-lab_00 is cpu-lab.
func namedAfter(worker string) string {
	if i := strings.LastIndexByte(worker, '_'); i > 0 {
		return worker[:i]
	}
	return worker
}
