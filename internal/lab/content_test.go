package lab

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/sim"
	"github.com/refit-bench/refit/internal/workspace"
)

var update = flag.Bool("update", false, "rewrite the generated files of the lab's content")

func content(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(Content(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// generated compares a file of the content with what generates it.
func generated(t *testing.T, name string, want []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(filepath.Join("files", filepath.FromSlash(name)), want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if !bytes.Equal(content(t, name), want) {
		t.Errorf("%s is not what generates it; run this test with -update", name)
	}
}

const questionsName = "sim/workspace/data/arith200.jsonl"

func TestQuestionsFile(t *testing.T) {
	generated(t, questionsName, Questions(200, questionsSeed))
}

func TestConfigNamesTheQuestions(t *testing.T) {
	config, _, err := workspace.ParseConfig(content(t, "sim/workspace/refit.yaml"), "refit.yaml")
	if err != nil {
		t.Fatal(err)
	}
	data := config.Evals.Data
	sum := sha256.Sum256(content(t, "sim/workspace/"+data.Path))
	if got := hex.EncodeToString(sum[:]); got != data.SHA256 {
		t.Errorf("refit.yaml: evals.data.sha256 is %s, the file has %s", data.SHA256, got)
	}
	for dimension, rule := range config.Policy.Require {
		if rule != "no-worse" {
			t.Errorf("policy.require.%s: %q, want no-worse", dimension, rule)
		}
	}
}

func TestCatalogue(t *testing.T) {
	root, err := fs.Sub(Content(), "sim/workspace")
	if err != nil {
		t.Fatal(err)
	}
	catalogue, err := recipe.Load(root, []string{"configs/lab-master.yaml"}, "configs/runners.yaml")
	if err != nil {
		t.Fatal(err)
	}
	f, err := catalogue.Family("laba-fp8-cpu-sim")
	if err != nil {
		t.Fatal(err)
	}
	path, tried, err := recipe.ScriptPath(root, f.Entry, "fixed-seq-len", "none")
	if err != nil || path != "benchmarks/single_node/fixed_seq_len/laba_fp8_cpu_sim.sh" {
		t.Errorf("script %q (tried %q): %v", path, tried, err)
	}
	entries, err := recipe.ParseChangelog(content(t, "sim/workspace/perf-changelog.yaml"), "perf-changelog.yaml")
	if err != nil || len(entries) != 1 || entries[0].ConfigKeys[0] != f.Key {
		t.Errorf("changelog %+v: %v", entries, err)
	}
}

// model reads the flags of one engine version.
func model(t *testing.T, version string) engine.Model {
	t.Helper()
	source, err := fs.Sub(Content(), "sim/engine/"+version+"/lib/simengine")
	if err != nil {
		t.Fatal(err)
	}
	m, err := engine.Read(source, ".")
	if errors.Is(err, engine.ErrNoReader) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	if !m.Complete {
		t.Errorf("%s: not every argument was read: %q", version, m.Notes)
	}
	return m
}

// recipeFlags are the recipe's own, values filled in.
var recipeFlags = []string{"--model-path", "lab/tiny-a", "--host", "127.0.0.1", "--port", "8888", "--tensor-parallel-size", "1",
	"--context-length", "576", "--max-running-requests", "64", "--graph-max-batch", "16"}

func TestVersion1TakesTheRecipe(t *testing.T) {
	parsed, err := model(t, "v1").Parse(recipeFlags)
	if err != nil {
		t.Fatal(err)
	}
	if got := parsed.Values["graph_max_batch_decode"]; got != "16" {
		t.Errorf("graph_max_batch_decode is %q, want 16", got)
	}
	if len(parsed.Warnings) == 0 {
		t.Error("the deprecated alias gave no warning")
	}
}

func TestVersion2FindsTheRecipeAmbiguous(t *testing.T) {
	m := model(t, "v2")
	_, err := m.Parse(recipeFlags)
	var rejected *engine.RejectError
	if !errors.As(err, &rejected) || rejected.Kind != "ambiguous" {
		t.Fatalf("error %v, want an ambiguous option", err)
	}
	want := []string{"--graph-max-batch-decode", "--graph-max-batch-prefill"}
	if got := slices.Sorted(slices.Values(rejected.Candidates)); !slices.Equal(got, want) {
		t.Errorf("candidates %q, want %q", got, want)
	}
	repaired := slices.Clone(recipeFlags)
	repaired[len(repaired)-2] = "--graph-max-batch-decode"
	if _, err := m.Parse(repaired); err != nil {
		t.Errorf("repaired recipe: %v", err)
	}
}

func TestRecipeUsesTheAlias(t *testing.T) {
	script := string(content(t, "sim/workspace/benchmarks/single_node/fixed_seq_len/laba_fp8_cpu_sim.sh"))
	for i := 0; i < len(recipeFlags); i += 2 {
		if !strings.Contains(script, "    "+recipeFlags[i]+" ") {
			t.Errorf("the recipe does not pass %s", recipeFlags[i])
		}
	}
}

func TestOptionsFiles(t *testing.T) {
	for _, version := range []string{"v1", "v2"} {
		m := engine.Model{Complete: true}
		for _, o := range model(t, version).Options {
			o.At = engine.Location{}
			m.Options = append(m.Options, o)
		}
		want, err := json.MarshalIndent(m, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		generated(t, "sim/engine/"+version+"/share/simengine/options.json", append(want, '\n'))
	}
}

// Family A's accuracy must not change with the version: both profiles answer
// the same questions.
func TestBothVersionsAnswerTheSame(t *testing.T) {
	questions := asked(t)
	var profiles []sim.Profile
	for _, version := range []string{"v1", "v2"} {
		p, err := sim.ParseProfile(content(t, "sim/engine/"+version+"/share/simengine/engine.json"))
		if err != nil {
			t.Fatalf("%s: %v", version, err)
		}
		profiles = append(profiles, p)
	}
	correct := 0
	for _, q := range questions {
		reply := profiles[0].Answers.Reply(q.Question)
		if other := profiles[1].Answers.Reply(q.Question); other != reply {
			t.Errorf("%s: version 1 says %q, version 2 %q", q.Question, reply, other)
		}
		if n := sim.Tokens(reply); n == 0 || n > 24 {
			t.Errorf("%s: reply of %d tokens, want 1 to 24", q.Question, n)
		}
		if eval.Equal(eval.Strict(reply), q.Answer) {
			correct++
		}
	}
	if correct != 191 {
		t.Errorf("%d of 200 correct, want 191", correct)
	}
}

// asked are the lab's questions.
func asked(t *testing.T) []eval.Question {
	t.Helper()
	questions, err := eval.LoadQuestions(filepath.Join("files", filepath.FromSlash(questionsName)), "")
	if err != nil {
		t.Fatal(err)
	}
	return questions
}

// The whole chain: the flags of the source, the engine over HTTP, the score.
func TestEvalOfVersion1(t *testing.T) {
	profile, err := sim.ParseProfile(content(t, "sim/engine/v1/share/simengine/engine.json"))
	if err != nil {
		t.Fatal(err)
	}
	profile.Load = 0
	questions := asked(t)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, err := sim.New(sim.Config{
		Profile: profile, Flags: model(t, "v1"), Args: recipeFlags, Log: io.Discard, Now: time.Now,
		Listen: func(string) (net.Listener, error) { return listener, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx) }()
	score, err := eval.Run(t.Context(), eval.Config{
		Target:    bench.Target{URL: "http://" + listener.Addr().String(), Model: "lab/tiny-a"},
		Questions: questions, Concurrency: 16, MaxTokens: 64,
	}, nil)
	cancel()
	if serveErr := <-ended; err != nil || serveErr != nil {
		t.Fatalf("eval: %v; server: %v", err, serveErr)
	}
	if score.Score != 191.0/200 || score.Flexible != score.Score {
		t.Errorf("score %v strict, %v flexible; want 0.955 for both", score.Score, score.Flexible)
	}
}
