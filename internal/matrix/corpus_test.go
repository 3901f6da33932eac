package matrix

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

// shared is the folder of published reference data beside the repository.
func shared(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("REFIT_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "data", "inferencex")); err != nil {
		t.Skip("shared data not present: set REFIT_SHARED")
	}
	return dir
}

func catalogue(t testing.TB, workspace string) *recipe.Catalogue {
	t.Helper()
	fsys := os.DirFS(filepath.Join(shared(t), "data", workspace))
	c, err := recipe.Load(fsys, []string{"configs/*-master.yaml"}, "configs/runners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func family(t testing.TB, c *recipe.Catalogue, key string) recipe.Family {
	t.Helper()
	f, err := c.Family(key)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// expected reads a published output without its line breaks.
func expected(t testing.TB, name string) string {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(shared(t), "data", "inferencex", "expected", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(bytes.ReplaceAll(src, []byte("\n"), nil))
}

// same compares JSON texts and shows the surroundings of the first difference.
func same(t *testing.T, name string, v any, want string) {
	t.Helper()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	got := strings.TrimSuffix(b.String(), "\n")
	if got == want {
		return
	}
	i := 0
	for i < len(got) && i < len(want) && got[i] == want[i] {
		i++
	}
	from := max(0, i-200)
	t.Errorf("%s differs at byte %d (%d bytes, want %d)\n got %s\nwant %s", name, i, len(got), len(want),
		got[from:min(len(got), i+120)], want[from:min(len(want), i+120)])
}

func TestGeneratorRowsOfOneKey(t *testing.T) {
	c := catalogue(t, "inferencex")
	for _, key := range []string{
		"dsr1-fp8-mi325x-sglang", "dsr1-fp8-mi325x-sglang-mtp", "dsv4-fp4-b200-vllm",
		"dsr1-fp4-b200-dynamo-trt", "dsr1-fp4-mi355x-sglang-disagg", "glm5.1-fp8-b200-tilert",
		"dsv4-fp4-b200-vllm-agentic-mtp", "minimaxm3-fp4-b300-vllm-agentic-mtp",
		"dsv4-fp4-mi355x-sglang-disagg-agentic-hicache-mtp", "kimik3-fp4-h200-vllm-agentic",
	} {
		rows, err := GeneratorRows(family(t, c, key), c.Runners, DefaultEvals, MarkEvals)
		if err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		same(t, key, rows, expected(t, "test-config-"+key+".json"))
	}
}

// The marking of the whole catalogue spans families, as the published run did.
func TestFullSweep(t *testing.T) {
	c := catalogue(t, "inferencex")
	var all []Row
	for _, f := range c.Families {
		rows, err := expand(f, c.Runners, []string{Fixed, Agentic})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, rows...)
	}
	for name, mode := range map[string]Mode{
		"full-sweep.json": MarkEvals, "full-sweep-evals-only.json": EvalsOnly, "full-sweep-all-evals.json": AllEvals,
	} {
		var own []Row
		for _, r := range all {
			own = append(own, r.Clone())
		}
		rows, err := DefaultEvals.apply(own, mode)
		if err != nil {
			t.Fatal(err)
		}
		same(t, name, rowsOf(rows), expected(t, name))
	}
}
