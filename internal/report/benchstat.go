package report

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// Benchstat writes runs in Go's benchmark format (https://go.dev/design/14313-benchmark-format):
// one line per run and point, the old image's runs first. The iterations are
// the requests. Runs that verdicts leave out are left out. The two sides differ
// in the configuration line "image:", so that one file is compared by
//
//	benchstat -col image FILE
func Benchstat(w io.Writer, old, new [][]result.Row) error {
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "Unit output-tok/s/GPU better=higher")
	fmt.Fprintln(b, "Unit ttft-ms better=lower")
	fmt.Fprintln(b, "Unit tpot-ms better=lower")
	digests := sameNames(old, new)
	var family, image string
	for _, side := range [][][]result.Row{old, new} {
		for _, run := range compare.Usable(side) {
			for _, r := range run {
				if r.Family != family {
					family = r.Family
					fmt.Fprintf(b, "family: %s\n", flat(family))
				}
				if name := imageOf(r, digests); name != image {
					image = name
					fmt.Fprintf(b, "image: %s\n", flat(image))
				}
				benchmark(b, r)
			}
		}
	}
	return b.Flush()
}

// benchmark writes the line of one point of one run; unknown figures are left
// out, and a line without any is no line.
func benchmark(w io.Writer, r result.Row) {
	v := r.Values()
	var figures strings.Builder
	for _, f := range []struct {
		v    *float64
		unit string
	}{{v.OutputTPSGPU, "output-tok/s/GPU"}, {v.TTFTms, "ttft-ms"}, {v.TPOTms, "tpot-ms"}} {
		if f.v != nil {
			fmt.Fprintf(&figures, " %s %s", strconv.FormatFloat(*f.v, 'f', -1, 64), f.unit)
		}
	}
	if figures.Len() > 0 {
		fmt.Fprintf(w, "%s %d%s\n", benchmarkName(r), max(1, r.Requests), figures.String())
	}
}

// benchmarkName is BenchmarkServe/256x64/c16/TP1/EP1/176dcd: the label without
// what the format reads as more than a name.
func benchmarkName(r result.Row) string {
	label := r.Label
	if label == "" {
		label = fmt.Sprintf("c%d %s", r.Conc, r.Key[:min(len(r.Key), 6)])
	}
	parts := []string{"BenchmarkServe"}
	for _, part := range strings.Fields(flat(label)) {
		parts = append(parts, strings.NewReplacer("/", "x", "-", "_").Replace(part))
	}
	return strings.Join(parts, "/")
}

// sameNames says whether both sides call their image the same, so that only
// the digest tells them apart.
func sameNames(old, new [][]result.Row) bool {
	names := map[string]bool{}
	for _, run := range old {
		for _, r := range run {
			names[r.Image] = true
		}
	}
	for _, run := range new {
		for _, r := range run {
			if names[r.Image] {
				return true
			}
		}
	}
	return false
}

func imageOf(r result.Row, digest bool) string {
	if digest && r.Digest != "" {
		return r.Image + "@" + r.Digest
	}
	return r.Image
}

// flat keeps text inside its line.
func flat(s string) string {
	return strings.Join(strings.Fields(workspace.Printable(s)), " ")
}
