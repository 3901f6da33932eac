package main

import (
	"context"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

//go:embed all:testdata/toy
var toyFiles embed.FS

const (
	toyFamily   = "toy-fp8-box-loom"
	toyOldImage = "toy/loom:v1.0.0-box"
)

// toyMain is the scripts' command `toyworkspace DIR [LABEL]`: a recipe
// repository of one family in DIR, two versions of its engine's image beside it
// in images, and one published run of the old image in DIR's store. LABEL is
// the image label that names the sources.
func toyMain() {
	label := candidate.SourceLabel
	if len(os.Args) == 3 {
		label = os.Args[2]
	}
	if err := makeToy(context.Background(), os.Args[1], label); err != nil {
		fmt.Fprintln(os.Stderr, "toyworkspace:", err)
		os.Exit(1)
	}
}

func makeToy(ctx context.Context, dir, label string) error {
	files, err := fs.Sub(toyFiles, "testdata/toy/workspace")
	if err != nil {
		return err
	}
	if err := os.CopyFS(dir, files); err != nil {
		return err
	}
	layout := filepath.Join(filepath.Dir(filepath.Clean(dir)), "images")
	for _, v := range []string{"v1", "v2"} {
		if err := toyImage(layout, v, label); err != nil {
			return err
		}
	}
	git := workspace.Repo{Dir: dir}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "."}, {"add", "-A"},
		{"-c", "user.name=owner", "-c", "user.email=owner@example.invalid", "commit", "-q", "-m", "Start"},
	} {
		if _, err := git.Git(ctx, args...); err != nil {
			return err
		}
	}
	return toyHistory(ctx, dir, layout, toyOldImage, 101)
}

// toyImage is an engine whose program is the simulated one of this binary.
func toyImage(layout, version, label string) error {
	ref, err := image.Parse("toy/loom:" + version + ".0.0-box")
	if err != nil {
		return err
	}
	_, err = image.Build(layout, toySpec(ref, version, label))
	return err
}

func toySpec(ref image.Ref, version, label string) image.Spec {
	read := func(name string) []byte {
		data, err := toyFiles.ReadFile("testdata/toy/engine/" + name)
		if err != nil {
			panic("the toy's files are embedded: " + err.Error())
		}
		return data
	}
	return image.Spec{
		Ref: ref, Created: time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC),
		Labels: map[string]string{label: "usr/lib/loom"},
		Env:    []string{"PATH=/usr/bin"},
		Layers: []image.Layer{{Files: []image.File{
			{Path: "usr/bin/loom-serve", Mode: 0o755, Data: read("loom-serve")},
			{Path: "usr/share/loom.json", Data: read("loom.json")},
			{Path: "usr/lib/loom/server_args.py", Data: read(version + ".py")},
		}}},
	}
}

// toyHistory publishes one recorded run of an image.
func toyHistory(ctx context.Context, dir, layout, name string, id int64) error {
	w, err := workspace.Open(dir)
	if err != nil {
		return err
	}
	head, err := workspace.Repo{Dir: dir}.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	points, err := toyPoints(w)
	if err != nil {
		return err
	}
	ref, err := image.Parse(name)
	if err != nil {
		return err
	}
	img, err := image.Library{Layout: layout}.Resolve(ctx, ref)
	if err != nil {
		return err
	}
	st, err := server.OpenStore(ctx, w)
	if err != nil {
		return err
	}
	defer st.Close()
	at := time.Date(2026, 11, 4, 10, 0, 0, 0, time.UTC)
	run := store.WorkflowRun{ID: id, Attempt: 1, Name: "Run Sweep", HeadSHA: head, Branch: "main", Event: "push", Conclusion: "success",
		URL: "http://127.0.0.1:1/toy/recipes/actions/runs/" + strconv.FormatInt(id, 10), Created: at, Started: at, ConfigKeys: []string{toyFamily}}
	_, err = st.Ingest(ctx, run, toyRun(points, name, img.Digest, run), true)
	return err
}

func toyPoints(w *workspace.Workspace) ([]matrix.Point, error) {
	catalogue, err := recipe.Load(os.DirFS(w.Root), w.Paths.Masters, w.Paths.Runners)
	if err != nil {
		return nil, err
	}
	fam, err := catalogue.Family(toyFamily)
	if err != nil {
		return nil, err
	}
	rule, err := matrix.ParseEvalRule(w.Config.Evals.Lengths, w.Config.Evals.Floor)
	if err != nil {
		return nil, err
	}
	points, _, err := matrix.Points(fam, catalogue.Runners, rule)
	return points, err
}

func toyRun(points []matrix.Point, name, digest string, run store.WorkflowRun) result.Run {
	prov := result.Provenance{RunID: run.ID, Attempt: run.Attempt, Head: run.HeadSHA, Branch: run.Branch, Event: run.Event,
		Runner: "box_00", Client: "refit", Started: run.Created, Ended: run.Created}
	fam := result.ManifestFamily{Family: points[0].Family, Image: name, Digest: digest}
	var r result.Run
	score, none := 1.0, 0
	for _, p := range points {
		mp := result.ManifestPoint{Key: p.Key, Fingerprint: p.Fingerprint, Conc: p.Conc(), Label: p.Label()}
		fam.Points = append(fam.Points, mp)
		tput := 100 * float64(p.Conc())
		r.Rows = append(r.Rows, result.Row{Family: p.Family, Key: p.Key, Fingerprint: p.Fingerprint, Image: name, Digest: digest,
			Label: p.Label(), Conc: p.Conc(), ISL: 16, OSL: 8, Scenario: matrix.Fixed, Result: result.Passed,
			Metrics:  map[string]float64{"tput_per_gpu": 3 * tput, "output_tput_per_gpu": tput, "mean_ttft": 0.01, "mean_tpot": 0.002},
			Requests: 5 * p.Conc(), RequestErrors: &none, Health: bench.Health{Verdict: bench.Healthy, Requests: 5 * p.Conc()},
			Plan: p.Row, Provenance: prov})
		if !p.Eval {
			continue
		}
		fam.Evals = append(fam.Evals, mp)
		e := result.EvalRow{Family: p.Family, Key: p.Key, Fingerprint: p.Fingerprint, Image: name, Digest: digest,
			Label: p.Label(), Conc: p.Conc(), Suite: "arith", Metric: "em_strict", Score: &score, Samples: 4, Result: result.Passed, Provenance: prov}
		for i := range e.Samples {
			e.Answers = append(e.Answers, eval.Answer{DocID: i, Target: "7", Response: "#### 7", Filtered: "7", Correct: true})
		}
		r.Evals = append(r.Evals, e)
	}
	r.Manifest = result.Manifest{Version: result.ManifestVersion, RunID: run.ID, Attempt: run.Attempt, Head: run.HeadSHA,
		Mode: result.ModePush, Families: []result.ManifestFamily{fam}}
	return r
}
