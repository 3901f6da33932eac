package run

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/refit-bench/refit/internal/workspace"
)

// The file by which a run's folder is known goes last: whatever a kill leaves
// of a removal is still known, and cleared by the next run.
func TestOwnerGoesLast(t *testing.T) {
	base := t.TempDir()
	dir, release, err := workDir(base)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "zz", "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "aa"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the folder is left")
	}

	// What is left of a removal that was killed just before its last steps.
	dead := filepath.Join(base, filepath.Base(dir))
	if err := os.MkdirAll(dead, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := workspace.WriteFile(filepath.Join(dead, ownerFile), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	next, release, err := workDir(base)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := release(); err != nil {
			t.Error(err)
		}
	}()
	if left, _ := filepath.Glob(filepath.Join(base, "*")); len(left) != 1 || left[0] != next {
		t.Errorf("got %v, want only %s", left, next)
	}
}
