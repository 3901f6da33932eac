package run

import "slices"

// SkipMark in a head commit's message keeps a pull request's sweep from
// starting; other events do not look at it.
const SkipMark = skipMark

// Asked is what the labels of a pull request ask of the sweep policy.
type Asked struct {
	Primary   []string // labels that start a sweep: it needs exactly one
	Modifiers []string // labels that only change what a sweep does
}

// AskedBy sorts the labels of a pull request. own is the workspace's sweep
// label, primary like the policy's own.
func AskedBy(labels []string, own string) Asked {
	var a Asked
	primary := SweepLabels(own)
	for _, l := range labels {
		switch {
		case slices.Contains(primary, l):
			a.Primary = append(a.Primary, l)
		case slices.Contains(modifierLabels, l):
			a.Modifiers = append(a.Modifiers, l)
		}
	}
	return a
}
