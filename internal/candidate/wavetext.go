package candidate

import (
	"fmt"
	"io"
	"strings"
)

// Text writes the wave for people: the families that may move in their order,
// then every other with its reason. Write errors are the writer's to remember.
func (w Wave) Text(to io.Writer) {
	if len(w.Candidates) == 0 {
		fmt.Fprintln(to, "no family may move now")
	} else {
		fmt.Fprintf(to, "may move, in this order (seed %d):\n", w.Seed)
	}
	for i, p := range w.Candidates {
		p.text(to, i+1)
	}
	if len(w.Left) > 0 {
		fmt.Fprintln(to, "\nleft out:")
	}
	family, reason := 0, 0
	for _, l := range w.Left {
		family, reason = max(family, len(l.Family)), max(reason, len(l.Reason))
	}
	for _, l := range w.Left {
		fmt.Fprintln(to, strings.TrimRight(fmt.Sprintf("  %-*s  %-*s  %s", family, l.Family, reason, l.Reason, line(l.Detail)), " "))
	}
	w.notes(to)
}

func (p Proposal) text(to io.Writer, place int) {
	fmt.Fprintf(to, "%3d  %s\n", place, p.Family)
	fmt.Fprintf(to, "     %s -> %s\n", p.OldImage, p.NewImage)
	review := ""
	if p.Review {
		review = ", needs review"
	}
	if len(p.Signals) > 0 {
		review += ": " + joined(p.Signals)
	}
	fmt.Fprintf(to, "     published %s%s\n", p.Observation.Date, review)
	fmt.Fprintf(to, "     room on %s\n", strings.Join(p.Clusters, ", "))
}

// notes tell what the wave passed over.
func (w Wave) notes(to io.Writer) {
	incomplete := 0
	for _, p := range w.Pulls {
		if p.Incomplete {
			incomplete++
		}
	}
	fmt.Fprintln(to)
	for _, s := range w.SetAside {
		fmt.Fprintf(to, "note: rows set aside: %d: %s\n", s.Count, s.Reason)
	}
	if incomplete > 0 {
		fmt.Fprintf(to, "note: open pull requests whose list of files may lack some: %d of %d\n", incomplete, len(w.Pulls))
	}
	fmt.Fprintf(to, "%d of %d families may move; base %.12s; open pull requests: %d\n", len(w.Candidates), len(w.Candidates)+len(w.Left), w.Base, len(w.Pulls))
}

func joined(signals []Signal) string {
	words := make([]string, len(signals))
	for i, s := range signals {
		words[i] = string(s)
	}
	return strings.Join(words, ", ")
}
