package matrix

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/refit-bench/refit/internal/recipe"
)

var masterNames = []string{"configs/amd-master.yaml", "configs/nvidia-master.yaml"}

// sources are the published catalogue as bytes: masters in order, then runners.
func sources(b *testing.B) [][]byte {
	b.Helper()
	var all [][]byte
	for _, name := range append(masterNames, "configs/runners.yaml") {
		src, err := os.ReadFile(filepath.Join(shared(b), "data", "inferencex", name))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, src)
	}
	return all
}

// sweep is the whole way from bytes to JSON.
func sweep(b *testing.B, src [][]byte) []byte {
	b.Helper()
	var c recipe.Catalogue
	for i, name := range masterNames {
		families, err := recipe.ParseMaster(src[i], name)
		if err != nil {
			b.Fatal(err)
		}
		c.Families = append(c.Families, families...)
	}
	var err error
	if c.Runners, err = recipe.ParseRunners(src[len(masterNames)], "configs/runners.yaml"); err != nil {
		b.Fatal(err)
	}
	rows, _, err := FullSweep(&c, DefaultEvals, Sweep{Mode: MarkEvals})
	if err != nil {
		b.Fatal(err)
	}
	text, err := WriteRows(rows)
	if err != nil {
		b.Fatal(err)
	}
	return text
}

// nodes is what the YAML library alone needs for the same bytes.
func nodes(b *testing.B, src [][]byte) {
	b.Helper()
	for _, s := range src {
		var n yaml.Node
		if err := yaml.NewDecoder(bytes.NewReader(s)).Decode(&n); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFullSweep expands the published catalogue, bytes to JSON, and names
// the time as a multiple of the YAML library's own parse of the same bytes.
func BenchmarkFullSweep(b *testing.B) {
	src := sources(b)
	var ours, library time.Duration
	for b.Loop() {
		began := time.Now()
		nodes(b, src)
		parsed := time.Now()
		sweep(b, src)
		library, ours = library+parsed.Sub(began), ours+time.Since(parsed)
	}
	b.ReportMetric(float64(ours)/float64(library), "x-yaml")
	b.ReportMetric(1e3*ours.Seconds()/float64(b.N), "ms/sweep")
}

// BenchmarkFullSweepGrowth does the same with ten and a hundred times the
// families: the time per family must stay.
func BenchmarkFullSweepGrowth(b *testing.B) {
	src := sources(b)
	key := regexp.MustCompile(`(?m)^([A-Za-z0-9][^\s:#]*):`)
	for _, times := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("x%d", times), func(b *testing.B) {
			grown := [][]byte{nil, nil, src[2]}
			families := 0
			for i := range masterNames {
				for copy := range times {
					grown[i] = append(grown[i], key.ReplaceAll(src[i], fmt.Appendf(nil, "${1}-copy%d:", copy))...)
					grown[i] = append(grown[i], '\n')
					families += len(key.FindAll(src[i], -1))
				}
			}
			for b.Loop() {
				sweep(b, grown)
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/float64(families), "µs/family")
		})
	}
}
