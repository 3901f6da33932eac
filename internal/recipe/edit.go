package recipe

import (
	"cmp"
	"fmt"
	"slices"
)

// Edit replaces the bytes Start..End of a text, which must be Old, by New.
type Edit struct {
	Start, End int
	Old, New   string
}

// Splice applies edits to a copy of src. It refuses edits that overlap, lie
// outside, or whose Old is not what stands there.
func Splice(src []byte, edits []Edit) ([]byte, error) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
	})
	var out []byte
	at := 0
	for _, e := range sorted {
		switch {
		case e.Start < 0 || e.End < e.Start || e.End > len(src):
			return nil, fmt.Errorf("edit of bytes %d to %d: outside a text of %d", e.Start, e.End, len(src))
		case e.Start < at:
			return nil, fmt.Errorf("edit of bytes %d to %d: overlaps the one before it", e.Start, e.End)
		case string(src[e.Start:e.End]) != e.Old:
			return nil, fmt.Errorf("edit of bytes %d to %d: found %q, want %q", e.Start, e.End, abridged(string(src[e.Start:e.End])), abridged(e.Old))
		}
		out = append(out, src[at:e.Start]...)
		out = append(out, e.New...)
		at = e.End
	}
	return append(out, src[at:]...), nil
}
