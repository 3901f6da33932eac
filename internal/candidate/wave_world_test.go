package candidate

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/result/api"
)

// kin is a family of a wave's catalogue: its model prefix, and what differs
// from the toy's in its entry.
type kin struct {
	model, image, runner string
	scenarios            string
}

func (k kin) key() string { return k.model + "-fp8-box-loom" }
func (k kin) id() string  { return "configs/toy-master.yaml:" + k.key() }

const plainScenario = `    fixed-seq-len:
    - isl: 256
      osl: 64
      search-space:
      - { tp: 1, conc-list: [1, 2] }
`

func (k kin) entry() string {
	if k.image == "" {
		k.image = oldImage
	}
	if k.runner == "" {
		k.runner = "box"
	}
	if k.scenarios == "" {
		k.scenarios = plainScenario
	}
	return fmt.Sprintf("%s:\n  image: %s\n  model: toy/tiny\n  model-prefix: %s\n  runner: %s\n  precision: fp8\n  framework: loom\n  multinode: false\n  scenarios:\n%s",
		k.key(), k.image, k.model, k.runner, k.scenarios)
}

// waving is a world whose main branch has these families.
func waving(t *testing.T, families ...kin) *world {
	t.Helper()
	w := newWorld(t)
	w.families(families...)
	return w
}

func (w *world) families(families ...kin) {
	w.t.Helper()
	var b strings.Builder
	for _, k := range families {
		b.WriteString(k.entry())
	}
	w.commitOn("main", "Families", map[string][]byte{"configs/toy-master.yaml": []byte(b.String())})
	w.forge.Wait()
}

// publishedFeed is a row of latest-images for a kin's plain scenario.
func publishedFeed(model string) api.LatestImage {
	isl, osl := 256, 64
	return api.LatestImage{Model: model, Hardware: "box", Framework: "loom", Precision: "fp8", SpecMethod: "none",
		ISL: &isl, OSL: &osl, BenchmarkType: "single_turn", Image: oldImage, Date: "2026-11-02"}
}

// sources publish rows, and have room everywhere.
func sources(rows ...api.LatestImage) WaveSources {
	return WaveSources{
		Images:   func(context.Context) (api.ImageFeed, error) { return api.ImageFeed{Rows: rows}, nil },
		Capacity: AlwaysRoom("nobody is asked"),
		Seed:     1,
	}
}

// plan plans a wave as the bot.
func (w *world) plan(from WaveSources) Wave {
	w.t.Helper()
	got, err := w.shepherd("bot-token").PlanWave(w.t.Context(), from)
	w.must(err)
	return got
}

// moving are the model prefixes of the families that may move, sorted.
func (w Wave) moving() string {
	var all []string
	for _, p := range w.Candidates {
		model, _, _ := strings.Cut(p.Key(), "-")
		all = append(all, model)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// why is the reason and the detail for which a family does not move.
func (w Wave) why(family string) string {
	for _, l := range w.Left {
		if l.Family == family {
			return l.Reason + ": " + l.Detail
		}
	}
	return ""
}

// wants wants a family to be left out for a reason, in these words.
func (w Wave) wants(t *testing.T, family, reason, detail string) {
	t.Helper()
	if got := w.why(family); !strings.HasPrefix(got, reason+": ") || !strings.Contains(got, detail) {
		t.Errorf("%s: got %q, want %s with %q", family, got, reason, detail)
	}
}

// layout is a folder of images with these names.
func layout(t *testing.T, names ...string) image.Library {
	t.Helper()
	dir := t.TempDir()
	for _, name := range names {
		ref, err := image.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := image.Build(dir, image.Spec{Ref: ref, Created: at}); err != nil {
			t.Fatal(err)
		}
	}
	return image.Library{Layout: dir}
}

// nodes is the answer of clusters that have some of ten nodes in use.
func nodes(used map[string]int64) Capacity {
	doc := api.ClusterStatus{GeneratedAt: statusMade}
	for id, n := range used {
		c := roomy(id)
		c.Nodes = api.Nodes{Total: 10, Allocated: n, Idle: 10 - n}
		doc.Clusters = append(doc.Clusters, c)
	}
	return capacityOf(doc, statusMade.Add(time.Second))
}
