package candidate

import (
	"testing"

	"github.com/refit-bench/refit/internal/image"
)

// The newest image is looked for in the registry that the family names: a
// repository of the same path elsewhere is another one.
func TestNewestIsOfTheFamilysRegistry(t *testing.T) {
	layout := t.TempDir()
	for _, name := range []string{"registry.example/toy/loom:v1.0.0-box", "registry.example/toy/loom:v1.1.0-box", "toy/loom:v1.0.0-box", "toy/loom:v2.0.0-box"} {
		ref, err := image.Parse(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := image.Build(layout, image.Spec{Ref: ref, Created: at}); err != nil {
			t.Fatal(err)
		}
	}
	s := &Shepherd{Images: image.Library{Layout: layout}}
	for current, want := range map[string]string{
		"registry.example/toy/loom:v1.0.0-box": "registry.example/toy/loom:v1.1.0-box",
		"toy/loom:v1.0.0-box":                  "toy/loom:v2.0.0-box",
	} {
		if got, _, err := s.target(t.Context(), current, ""); got != want || err != nil {
			t.Errorf("newest of %s: got %s, %v, want %s", current, got, err, want)
		}
	}
}
