package lab

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"slices"
	"testing"

	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/workspace"
)

const llamaRoot = LlamaCPP + "/workspace"

func TestLlamaQuestions(t *testing.T) {
	generated(t, llamaRoot+"/data/sums50.jsonl", Sums(50, questionsSeed))
	generated(t, llamaRoot+"/data/sums-train.jsonl", Sums(8, questionsSeed+1))
	config, _, err := workspace.ParseConfig(content(t, llamaRoot+"/refit.yaml"), "refit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data := config.Evals.Data
	sum := sha256.Sum256(content(t, llamaRoot+"/"+data.Path))
	if got := hex.EncodeToString(sum[:]); got != data.SHA256 {
		t.Errorf("%s has %s, refit.yaml says %s", data.Path, got, data.SHA256)
	}
}

// The lab's recipe is one family of three points and one eval, whose weights
// are staged where its cluster says.
func TestLlamaWorkspace(t *testing.T) {
	files, err := fs.Sub(Content(), llamaRoot)
	if err != nil {
		t.Fatal(err)
	}
	config, _, err := workspace.ParseConfig(content(t, llamaRoot+"/refit.yaml"), "refit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	cat, err := recipe.Load(files, config.Paths().Masters, config.Paths().Runners)
	if err != nil || len(cat.Families) != 1 {
		t.Fatalf("%d families, %v", len(cat.Families), err)
	}
	rule, err := matrix.ParseEvalRule(config.Evals.Lengths, config.Evals.Floor)
	if err != nil {
		t.Fatal(err)
	}
	points, _, err := matrix.Points(cat.Families[0], cat.Runners, rule)
	if err != nil {
		t.Fatal(err)
	}
	var conc []int
	for _, p := range points {
		conc = append(conc, p.Conc())
	}
	if full := matrix.Full(points); !slices.Equal(conc, []int{1, 2, 4}) || len(full.Evals) != 1 || full.Evals[0].Conc() != 4 {
		t.Errorf("concurrencies %v, evals %v", conc, full.Evals)
	}
	clusters, err := recipe.ParseClusters(content(t, llamaRoot+"/clusters.yaml"), "clusters.yaml")
	if err != nil {
		t.Fatal(err)
	}
	entry := cat.Families[0].Entry
	staged, ok := clusters[cat.Runners.Cluster(entry.Runner)].Staged(entry.Model)
	if !ok || staged.SHA256 != weightsSHA256 || staged.Path != "../models/"+weightsFile {
		t.Errorf("staged %+v", staged)
	}
	if entry.Image != llamaCPP.versions[0].ref {
		t.Errorf("the recipe starts at %s, the old version is %s", entry.Image, llamaCPP.versions[0].ref)
	}
	script, _, err := recipe.ScriptPath(files, entry, matrix.Fixed, "")
	if err != nil {
		t.Fatal(err)
	}
	launch, err := engine.ReadLaunch(content(t, llamaRoot+"/"+script), script)
	if err != nil || len(launch.NotRead) > 0 {
		t.Errorf("launch %v, %v", launch.NotRead, err)
	}
}

// Every version of the lab has a package for both architectures.
func TestLlamaPackages(t *testing.T) {
	for _, v := range llamaCPP.versions {
		p, ok := llamaServers[v.folder]
		if !ok || p.Version != v.release || len(p.SHA256["amd64"]) != 64 || len(p.SHA256["arm64"]) != 64 {
			t.Errorf("%s: %+v", v.ref, p)
		}
	}
}

// A folder stays the lab of one engine.
func TestLabKeepsItsEngine(t *testing.T) {
	l := Lab{Dir: t.TempDir()}
	if err := l.claim(simulated); err != nil {
		t.Fatal(err)
	}
	if err := l.claim(simulated); err != nil {
		t.Error(err)
	}
	want := l.Dir + " holds the lab of another engine, sim: choose another folder with --dir"
	if err := l.claim(llamaCPP); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, err := (Lab{Engine: "abacus"}).edition(); err == nil || err.Error() != `lab: no engine "abacus"; there are [sim llama.cpp]` {
		t.Errorf("got %v", err)
	}
	if entries, _ := os.ReadDir(l.Dir); len(entries) != 1 {
		t.Errorf("left %v", entries)
	}
}
