package run

import "slices"

// SweepLabels are the labels that ask for a sweep of a pull request. own is the
// workspace's, which counts like the others.
func SweepLabels(own string) []string {
	labels := slices.Clone(primaryLabels)
	if own != "" && !slices.Contains(labels, own) {
		labels = append(labels, own)
	}
	return labels
}

// RelevantLabels are the labels whose coming or going concerns sweeps: those that
// ask for one, that modify it, and that change its priority.
func RelevantLabels(own string) []string {
	return slices.Concat(SweepLabels(own), modifierLabels, priorityLabels)
}
