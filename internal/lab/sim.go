package lab

import (
	"context"
	"io/fs"
	"path"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/workspace"
)

// simulated is the lab that runs anywhere in two minutes: an engine of our own,
// measured over HTTP like any other. Version 2 dropped a deprecated alias that
// family A's recipe still uses; for family B's model it decodes a quarter
// slower, loses 12 of the 200 questions and gains 2.
var simulated = edition{
	root: Simulated,
	versions: []version{
		{"lab/simengine:v1.0.0-cpu", "v1", "1.0.0", time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)},
		{"lab/simengine:v2.0.0-cpu", "v2", "2.0.0", time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)},
	},
	story: []chapter{
		{"configs/lab-master.yaml:laba-fp8-cpu-sim", candidate.Validated},
		{"configs/lab-master.yaml:labb-fp8-cpu-sim", candidate.Regressed},
	},
	oldRuns: 3,
	spec:    simulatedSpec,
}

// simulatedSpec is an image of one layer with the programs, shared by both
// versions, and one with the sources and the profile of this version.
func simulatedSpec(_ context.Context, l Lab, ref image.Ref, v version, _ string, _ func(string)) (image.Spec, error) {
	programs := image.Layer{Files: []image.File{{Path: "usr/local/bin/refit", Mode: 0o755, From: l.Refit}}}
	bin, err := below("sim/engine/bin", "usr/local/bin")
	if err != nil {
		return image.Spec{}, err
	}
	programs.Files = append(programs.Files, bin...)
	source, err := below("sim/engine/"+v.folder, "usr/local")
	if err != nil {
		return image.Spec{}, err
	}
	return image.Spec{
		Ref: ref,
		Labels: map[string]string{
			"org.opencontainers.image.version":  v.release,
			"org.opencontainers.image.revision": revision(source),
			"org.opencontainers.image.title":    "simengine",
			candidate.SourceLabel:               "usr/local/lib/simengine",
		},
		Env:     []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Created: v.released,
		Layers:  []image.Layer{programs, {Files: source, Gzip: true}},
	}, nil
}

// below lists the embedded files under a folder as files of an image.
func below(folder, to string) ([]image.File, error) {
	root, err := fs.Sub(Content(), folder)
	if err != nil {
		return nil, err
	}
	var files []image.File
	err = fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		at := path.Join(to, name)
		files = append(files, image.File{Path: at, Mode: int64(modeOf(at)), Data: data})
		return nil
	})
	return files, err
}

// revision stands for the commit that a real engine's image names: it is the
// identity of the sources, 40 hex.
func revision(files []image.File) string {
	var all [][2]string
	for _, f := range files {
		all = append(all, [2]string{f.Path, string(f.Data)})
	}
	return workspace.Identity(all)[:40]
}
