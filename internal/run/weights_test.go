package run

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/recipe"
)

func TestWeights(t *testing.T) {
	root := t.TempDir()
	file := filepath.Join(root, "models", "tiny.gguf")
	if err := os.MkdirAll(filepath.Join(root, "models", "empty"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte("weights"), 0o644); err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256([]byte("weights"))
	sum := hex.EncodeToString(digest[:])
	runners := recipe.Runners{Labels: map[string][]string{"cpu": {"cpu-lab_00"}}}
	for _, c := range []struct {
		name, path, sum, want, fails string
	}{
		{"relative", "models/tiny.gguf", sum, file, ""},
		{"absolute", file, "", file, ""},
		{"folder", "models", "", filepath.Join(root, "models"), ""},
		{"missing", "models/gone.gguf", sum, "", "no such file or directory: stage them, or correct the cluster's models"},
		{"damaged", "models/tiny.gguf", strings.Repeat("0", 64), "", "has sha256 " + sum + ", not 000"},
		{"empty", "models/empty", "", "", "models/empty is empty: stage them"},
		{"folder with digest", "models", sum, "", "is a folder, and only a file has a sha256"},
	} {
		s := Site{root, recipe.Clusters{"cpu-lab": {Kind: "local", Models: []recipe.StagedModel{{Model: "org/tiny", Path: c.path, SHA256: c.sum}}}}}
		got, err := s.Weights(runners, recipe.Entry{Model: "org/tiny", Runner: "cpu"})
		if got != c.want || (err == nil) != (c.fails == "") || err != nil && !strings.Contains(err.Error(), c.fails) {
			t.Errorf("%s: got %q, %v", c.name, got, err)
		}
		if got, err := s.Weights(runners, recipe.Entry{Model: "org/other", Runner: "cpu"}); got != "" || err != nil {
			t.Errorf("%s: a model that is not staged: got %q, %v", c.name, got, err)
		}
	}
}

func TestReadSite(t *testing.T) {
	root := t.TempDir()
	if s, err := ReadSite(root, "clusters.yaml"); err != nil || s.Root != root || len(s.Clusters) != 0 {
		t.Errorf("no file: got %+v, %v", s, err)
	}
	if err := os.WriteFile(filepath.Join(root, "clusters.yaml"), []byte("cpu-lab: {kind: docker}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadSite(root, "clusters.yaml"); err == nil || err.Error() != `clusters.yaml:1:17: cpu-lab.kind: "docker" is not in this version, only local is` {
		t.Errorf("got %v", err)
	}
}

// The contract tells the engine where staged weights are, and nothing else.
func TestContractModelPath(t *testing.T) {
	j := Job{Name: "n"}
	if path, ok := contract(j, 1)["MODEL_PATH"]; ok {
		t.Errorf("got MODEL_PATH=%q without staged weights", path)
	}
	j.Weights = "/srv/models/tiny"
	if got := contract(j, 1)["MODEL_PATH"]; got != "/srv/models/tiny" {
		t.Errorf("got %q", got)
	}
}
