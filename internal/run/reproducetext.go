package run

import (
	"fmt"
	"io"
	"strings"
)

// Text writes the reproduction for people.
func (r Reproduction) Text(w io.Writer) {
	indent := strings.Repeat(" ", 13)
	switch {
	case r.Script != "":
		fmt.Fprintf(w, "%-12s %s\n", "script", r.Script)
	default:
		fmt.Fprintf(w, "%-12s none: %s\n", "script", r.Problem)
		for _, p := range r.Tried {
			fmt.Fprintf(w, "%stried %s\n", indent, p)
		}
		return
	}
	if r.Measure != "" {
		more := ""
		if r.Beside > 0 {
			more = fmt.Sprintf(" (and %d more of the family with this concurrency)", r.Beside)
		}
		fmt.Fprintf(w, "\nMeasure it here, as committed%s:\n  %s\n", more, r.Measure)
	}
	if r.Recipe != "" {
		fmt.Fprintf(w, "\nStart its recipe alone, inside the image:\n  %s\n", r.Recipe)
	}
	if r.Problem != "" {
		fmt.Fprintf(w, "\n%s\n", r.Problem)
	}
}
