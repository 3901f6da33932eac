package image

import "testing"

func TestSame(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"nvcr.io#nvidia/x:1.0", "nvcr.io/nvidia/x:1.0", true},
		{"docker.io/lab/x:1.0", "lab/x:1.0", true},
		{"lab/x:1.0", "lab/x:1.1", false},
		{"lab/x:1.0", "other.example/lab/x:1.0", false},
		{"no image", "no image", true},
		{"no image", "lab/x:1.0", false},
		{"lab/x:latest", "docker.io/lab/x:latest", false}, // no image by name
	} {
		if got := Same(c.a, c.b); got != c.want {
			t.Errorf("Same(%q, %q): got %v, want %v", c.a, c.b, got, c.want)
		}
		if got := Same(c.b, c.a); got != c.want {
			t.Errorf("Same(%q, %q): got %v, want %v", c.b, c.a, got, c.want)
		}
	}
}
