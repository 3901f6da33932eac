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

// The new image is written as the recipe spells the old one: the launcher of a
// cluster may read nothing else.
func TestTheNewImageIsSpelledAsTheOld(t *testing.T) {
	layout := t.TempDir()
	for _, tag := range []string{"v1.0.0-box", "v1.1.0-box"} {
		ref, err := image.Parse("registry.example/toy/loom:" + tag)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := image.Build(layout, image.Spec{Ref: ref, Created: at}); err != nil {
			t.Fatal(err)
		}
	}
	s := &Shepherd{Images: image.Library{Layout: layout}}
	const current, want = "registry.example#toy/loom:v1.0.0-box", "registry.example#toy/loom:v1.1.0-box"
	for _, to := range []string{"", "v1.1.0-box", "registry.example/toy/loom:v1.1.0-box"} {
		if got, _, err := s.target(t.Context(), current, to); got != want || err != nil {
			t.Errorf("to %q: got %s, %v, want %s", to, got, err, want)
		}
	}
	for to, same := range map[string]bool{"registry.example/toy/loom:v1.1.0-box": true, "v1.1.0-box": true, "1.1.0-box": false, "toy/loom:v1.1.0-box": false} {
		if got := sameTarget(want, to); got != same {
			t.Errorf("%s asked for as %q: same %v, want %v", want, to, got, same)
		}
	}
}
