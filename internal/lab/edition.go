package lab

import (
	"context"
	"fmt"
	"time"

	"github.com/refit-bench/refit/internal/image"
)

// Names of the engines that a lab can be made of.
const (
	Simulated = "sim"
	LlamaCPP  = "llama.cpp"
)

// Engines lists them, the default first.
var Engines = []string{Simulated, LlamaCPP}

// edition is what a lab of one engine is made of.
type edition struct {
	root     string // folder of Content
	versions []version
	story    []chapter
	oldRuns  int // of the old image, published before the upgrade: the history that a verdict's spread is taken from
	// stage brings what the workspace's clusters.yaml names; nil when it names nothing.
	stage func(ctx context.Context, l Lab, say func(string)) error
	// spec describes a version's engine image. What it writes to work is
	// removed once the image is built.
	spec func(ctx context.Context, l Lab, ref image.Ref, v version, work string, say func(string)) (image.Spec, error)
}

// version is one release of a lab's engine.
type version struct {
	ref      string
	folder   string // below engine/, or the package's version
	release  string
	released time.Time
}

func (l Lab) edition() (edition, error) {
	switch l.Engine {
	case "", Simulated:
		return simulated, nil
	case LlamaCPP:
		return llamaCPP, nil
	}
	return edition{}, fmt.Errorf("lab: no engine %q; there are %v", l.Engine, Engines)
}
