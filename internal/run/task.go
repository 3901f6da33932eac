package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
)

// task is one job of a run: a point with its throughput, its eval, or both.
// A point that is selected for both starts its engine once.
type task struct {
	Family     recipe.Family
	Point      matrix.Point
	Throughput bool
	Eval       bool
	Weights    string // where they are staged, "" = the engine fetches them
}

// tasks lists a family's jobs in the order of its points; points that are
// only evaluated come last.
func tasks(p matrix.FamilyPlan) []task {
	var out []task
	at := map[string]int{}
	for _, point := range p.Selection.Throughput {
		at[point.Key] = len(out)
		out = append(out, task{Family: p.Family, Point: point, Throughput: true})
	}
	for _, point := range p.Selection.Evals {
		if i, ok := at[point.Key]; ok {
			out[i].Eval = true
			continue
		}
		at[point.Key] = len(out)
		out = append(out, task{Family: p.Family, Point: point, Eval: true})
	}
	return out
}

// title names the task in progress lines.
func (t task) title() string { return fmt.Sprintf("%s c%d", t.Family.Key, t.Point.Conc()) }

// resultName is RESULT_FILENAME of a single-node row. Names derive from the
// row and are never parsed back.
func resultName(r matrix.Row, fingerprint, runner string) string {
	one := func(name string) int { return max(r.Int(name), 1) }
	name := fmt.Sprintf("%s_%s_%s_tp%d-pp%d-dcp%d-pcp%d-ep%d-dpa%t_disagg-%t_spec-%s_conc%d_%s",
		r.Str("exp-name"), r.Str("precision"), r.Str("framework"), one("tp"), one("pp"), one("dcp-size"), one("pcp-size"), one("ep"),
		r.Bool("dp-attn"), r.Bool("disagg"), cmp.Or(r.Str("spec-decoding"), "none"), r.Int("conc"), runner)
	if fingerprint != "" {
		name += "_recipe-" + fingerprint[:min(16, len(fingerprint))]
	}
	return fileName(name)
}

// maxName leaves room for what is put before and behind a name: file systems
// take 255 bytes.
const maxName = 220

// fileName keeps a name from being anything but a file's. A longer one is cut
// and ends with a hash of all of it.
func fileName(s string) string {
	if len(s) > maxName {
		sum := sha256.Sum256([]byte(s))
		end := "-" + hex.EncodeToString(sum[:8])
		s = s[:maxName-len(end)] + end
	}
	b := []byte(s)
	for i, c := range b {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '-', c == '_', c == '+':
		case c == '.' && i > 0:
		default:
			b[i] = '-'
		}
	}
	return string(b)
}

// manifest says what the run is expected to measure.
func manifest(c CI, in intent, images map[string]placed) result.Manifest {
	m := result.Manifest{Version: result.ManifestVersion, RunID: c.RunID, Attempt: c.Attempt, Head: in.Head, Base: in.Base, Mode: in.Mode, Families: []result.ManifestFamily{}}
	for _, p := range in.Plan.Families {
		f := result.ManifestFamily{Family: p.Family.ID, Image: p.Family.Entry.Image, Digest: images[p.Family.Entry.Image].Image.Digest,
			Points: []result.ManifestPoint{}, Evals: []result.ManifestPoint{}}
		for _, point := range p.Selection.Throughput {
			f.Points = append(f.Points, expected(point))
		}
		for _, point := range p.Selection.Evals {
			f.Evals = append(f.Evals, expected(point))
		}
		m.Families = append(m.Families, f)
	}
	return m
}

func expected(p matrix.Point) result.ManifestPoint {
	return result.ManifestPoint{Key: p.Key, Fingerprint: p.Fingerprint, Conc: p.Conc(), Label: p.Label()}
}
