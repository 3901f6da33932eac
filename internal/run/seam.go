package run

import (
	"bytes"
	_ "embed"
	"fmt"
	"path/filepath"

	"github.com/refit-bench/refit/internal/workspace"
)

// seam is bash: functions that take the place of the library's own.
//
//go:embed seam.sh
var seam []byte

// maxRecipe bounds a recipe and its library, in bytes.
const maxRecipe = 4 << 20

// sew appends the seam to the library of a job's own copy of the checkout.
// Functions that are defined later win, so the recipe needs no change.
func sew(checkout string) error {
	path := filepath.Join(checkout, filepath.FromSlash(workspace.DefaultConfig().Paths().Library()))
	src, err := workspace.ReadFile(path, maxRecipe)
	if err != nil {
		return fmt.Errorf("recipe library: %w", err)
	}
	if bytes.HasSuffix(src, seam) {
		return nil
	}
	return workspace.WriteFile(path, append(src, seam...), 0o755)
}
