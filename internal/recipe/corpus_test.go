package recipe

import (
	"os"
	"path/filepath"
	"testing"
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

func sharedFile(t testing.TB, elem ...string) []byte {
	t.Helper()
	src, err := os.ReadFile(filepath.Join(append([]string{shared(t), "data"}, elem...)...))
	if err != nil {
		t.Fatal(err)
	}
	return src
}

func TestLoadPublishedCatalogue(t *testing.T) {
	fsys := os.DirFS(filepath.Join(shared(t), "data", "inferencex"))
	c, err := Load(fsys, []string{"configs/*-master.yaml"}, "configs/runners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, f := range c.Families {
		count[f.File]++
	}
	if count["configs/amd-master.yaml"] != 56 || count["configs/nvidia-master.yaml"] != 152 {
		t.Errorf("families by file: got %v, want 56 and 152", count)
	}
	if c.Families[0].Key != "dsr1-fp4-mi355x-sglang" || c.Families[0].Line != 1 {
		t.Errorf("first family: got %s in line %d", c.Families[0].Key, c.Families[0].Line)
	}
	f, err := c.Family("configs/nvidia-master.yaml:qwen3.5-fp8-h200-sglang-agentic-mtp")
	if err != nil {
		t.Fatal(err)
	}
	if got := f.Entry.Agentic[0].DRAMUtilization; got != "0.80" {
		t.Errorf("dram-utilization: got %q, want the text as written", got)
	}
	if got := c.Runners.Hardware["cluster:h200-dgxc"]; got != (Hardware{1471356, 8}) {
		t.Errorf("hardware of cluster:h200-dgxc: got %+v", got)
	}
	if _, err := c.Family("dsr1-fp4-mi355x-sglag"); err == nil || err.Error() != `no family "dsr1-fp4-mi355x-sglag" in the catalogue (did you mean "dsr1-fp4-mi355x-sglang"?)` {
		t.Errorf("unknown family: got %v", err)
	}
}
