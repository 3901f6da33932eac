package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/result"
)

func TestPushMeasuresWhatTheChangelogAdds(t *testing.T) {
	l := newLab(t)
	before := l.commit("start", tree())
	after := l.commit("measure again", map[string]string{
		"perf-changelog.yaml": tree()["perf-changelog.yaml"] + "\n" + fmt.Sprintf(entryText, "tiny-fp8-cpu-sim", "Again")})
	t.Setenv("RUN_TEST_SECRET_TOKEN", "swordfish")
	var log strings.Builder
	if err := l.ci("run-sweep", object{"ref": "refs/heads/main", "before": before, "after": after}, &log).Run(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	got := l.artifacts()
	run, err := result.ReadRun(got)
	if err != nil {
		t.Fatal(err)
	}
	if run.Manifest.Mode != result.ModePush || run.Manifest.Head != after || run.Manifest.Base != before || run.Manifest.RunID != 7 {
		t.Errorf("manifest: %+v", run.Manifest)
	}
	if len(run.Rows) != 2 || len(run.Evals) != 1 {
		t.Fatalf("got %d rows and %d evals, want 2 and 1\n%s", len(run.Rows), len(run.Evals), log.String())
	}
	for i, conc := range []int{1, 2} {
		r := run.Rows[i]
		if r.Conc != conc || r.Result != result.Passed || r.Requests != 10*conc || *r.RequestErrors != 0 || r.Image != "lab/engine:v1.0.0-cpu" ||
			!strings.HasPrefix(r.Digest, "sha256:") || r.Provenance.Head != after || r.Provenance.Client != "refit" || r.Metrics["tput_per_gpu"] <= 0 {
			t.Errorf("row %d: %+v", i, r)
		}
	}
	e := run.Evals[0]
	if e.Suite != "arith" || e.Samples != 4 || *e.Score != 0.75 || len(e.Answers) != 4 || e.Answers[2].Correct || len(e.Agg) == 0 || !e.Plan.Equal(run.Rows[1].Plan) && !e.Plan.Equal(run.Rows[0].Plan) {
		t.Errorf("eval: %+v", e)
	}
	checkNames(t, got, "bmk_", 2)
	checkNames(t, got, "eval_tiny", 1)
	checkNames(t, got, "server_logs_", 2)
	for _, name := range []string{"results_bmk/agg_bmk.json", "eval_results_all/agg_eval_all.json", "run-stats/run_stats.json", "changelog-metadata/changelog_metadata.json"} {
		dir, file, _ := strings.Cut(name, "/")
		if len(got[dir][file]) == 0 {
			t.Errorf("no %s", name)
		}
	}
	if s := string(got["run-stats"]["run_stats.json"]); !strings.Contains(s, `"n_success": 2`) || !strings.Contains(s, `"total": 2`) {
		t.Errorf("run stats: %s", s)
	}
	for artifact, files := range got {
		for name, src := range files {
			if strings.Contains(string(src), "swordfish") {
				t.Errorf("%s/%s holds a secret", artifact, name)
			}
		}
	}
	if s := log.String(); !strings.Contains(s, "[1/2] tiny-fp8-cpu-sim c1: ") || !strings.Contains(s, " tok/s/GPU, TTFT ") || !strings.Contains(s, "arith 0.7500 of 4") {
		t.Errorf("log: %s", s)
	}
}

func checkNames(t *testing.T, got map[string]map[string][]byte, prefix string, want int) {
	t.Helper()
	n := 0
	for name := range got {
		if strings.HasPrefix(name, prefix) {
			n++
		}
	}
	if n != want {
		t.Errorf("%d artifacts begin with %s, want %d: %q", n, prefix, want, slices.Sorted(maps.Keys(got)))
	}
}

func TestSmokeOfADispatch(t *testing.T) {
	l := newLab(t)
	head := l.commit("start", tree())
	var log strings.Builder
	if err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim --smoke --no-evals", head), &log).Run(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	run, err := result.ReadRun(l.artifacts())
	if err != nil {
		t.Fatal(err)
	}
	if run.Manifest.Mode != result.ModeSmoke || len(run.Rows) != 1 || run.Rows[0].Conc != 1 || len(run.Evals) != 0 {
		t.Errorf("got mode %s, %d rows, %d evals; want one row of concurrency 1", run.Manifest.Mode, len(run.Rows), len(run.Evals))
	}
}

func TestFailedJobFailsTheRunAndKeepsTheRest(t *testing.T) {
	l := newLab(t)
	files := tree()
	path := "benchmarks/single_node/fixed_seq_len/tiny_fp8_cpu_sim.sh"
	files[path] = strings.Replace(files[path], `testengine --port`, `FAIL=(); [ "$CONC" = 1 ] && FAIL=(--fail "server.py: error: ambiguous option: --graph could match --graph-a, --graph-b")
testengine "${FAIL[@]}" --port`, 1)
	head := l.commit("start", files)
	var log strings.Builder
	err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-*", head), &log).Run(context.Background())
	if err == nil || !strings.Contains(err.Error(), "tiny-fp8-cpu-sim c1: recipe ended with exit code 1: engine ") {
		t.Fatalf("got %v", err)
	}
	got := l.artifacts()
	run, readErr := result.ReadRun(got)
	if readErr != nil {
		t.Fatal(readErr)
	}
	if len(run.Rows) != 2 || run.Rows[0].Result != result.Failed || run.Rows[1].Result != result.Passed {
		t.Errorf("rows: %+v", run.Rows)
	}
	if !strings.Contains(log.String(), "[2/2] tiny-fp8-cpu-sim c2: ") {
		t.Errorf("the second point was not measured: %s", log.String())
	}
	found := false
	for name, files := range got {
		if strings.HasPrefix(name, "server_logs_") && strings.Contains(string(files["server.log"]), "ambiguous option") {
			found = strings.Contains(string(files["recipe.log"]), "ready: server.py: error: ambiguous option")
		}
	}
	if !found {
		t.Error("the logs do not say why the engine died")
	}
}

func TestCancelledRunLeavesNoProcess(t *testing.T) {
	l := newLab(t)
	files := tree()
	path := "benchmarks/single_node/fixed_seq_len/tiny_fp8_cpu_sim.sh"
	files[path] = "echo $$ > \"$REFIT_TEST_PIDS\"\nsetsid sleep 1000 &\necho $! >> \"$REFIT_TEST_PIDS\"\nsleep 1000 &\necho $! >> \"$REFIT_TEST_PIDS\"\nwait\n"
	files["refit.yaml"] = "jobs: {env: [REFIT_TEST_PIDS]}\n"
	head := l.commit("start", files)
	pids := fifo(t)
	t.Setenv("REFIT_TEST_PIDS", pids.path)
	ctx, cancel := context.WithCancelCause(context.Background())
	enough := errors.New("somebody wants it to end")
	var started []int
	go func() {
		started = pids.read(t, 3)
		cancel(enough)
	}()
	var log strings.Builder
	c := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim --smoke", head), &log)
	if err := c.Run(ctx); !errors.Is(err, enough) {
		t.Errorf("got %v, want the cause\n%s", err, log.String())
	}
	if len(started) != 3 {
		t.Fatalf("recipe named %d processes, want 3", len(started))
	}
	for _, pid := range started {
		if alive(pid) {
			t.Errorf("process %d is left", pid)
		}
	}
	run, err := result.ReadRun(l.artifacts())
	if err != nil || len(run.Rows) != 1 || run.Rows[0].Result != result.Cancelled {
		t.Errorf("got %+v, %v; want one cancelled row", run.Rows, err)
	}
}

func TestEvalOnlyJobMakesNoLoad(t *testing.T) {
	l := newLab(t)
	head := l.commit("start", tree())
	var log strings.Builder
	if err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim --evals-only", head), &log).Run(context.Background()); err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	run, err := result.ReadRun(l.artifacts())
	if err != nil || len(run.Rows) != 0 || len(run.Evals) != 1 || run.Evals[0].Result != result.Passed {
		t.Errorf("got %d rows and evals %+v, %v", len(run.Rows), run.Evals, err)
	}
}

func TestFailFastEndsTheFamily(t *testing.T) {
	l := newLab(t)
	files := tree()
	files["benchmarks/single_node/fixed_seq_len/tiny_fp8_cpu_sim.sh"] = "exit 3\n"
	head := l.commit("start", files)
	var log strings.Builder
	c := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim", head), &log)
	in, err := c.intend(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	in.FailFast = true
	if err := c.measure(context.Background(), in); err == nil || !strings.Contains(err.Error(), "exit code 3") {
		t.Errorf("got %v", err)
	}
	if s := log.String(); !strings.Contains(s, "[2/2] tiny-fp8-cpu-sim c2: not measured") {
		t.Errorf("log: %s", s)
	}
	run, err := result.ReadRun(l.artifacts())
	if err != nil || len(run.Rows) != 1 || len(run.Manifest.Families[0].Points) != 2 {
		t.Errorf("got %d rows of %d expected, %v", len(run.Rows), len(run.Manifest.Families[0].Points), err)
	}
}

func TestNothingToRun(t *testing.T) {
	l := newLab(t)
	files := tree()
	first := l.commit("start", files)
	second := l.commit("say [skip-sweep]", map[string]string{"perf-changelog.yaml": files["perf-changelog.yaml"] + "\n" + fmt.Sprintf(entryText, "tiny-fp8-cpu-sim", "Again")})
	third := l.commit("other", map[string]string{"other": "x"})
	pull := func(action, name, head string, labels ...string) object {
		var list []object
		for _, n := range labels {
			list = append(list, object{"name": n})
		}
		repo := object{"full_name": "lab/recipes"}
		return object{"action": action, "number": 5, "label": object{"name": name},
			"pull_request": object{"state": "open", "labels": list, "head": object{"sha": head, "ref": "topic", "repo": repo}, "base": object{"sha": first, "ref": "main", "repo": repo}}}
	}
	fork := pull("synchronize", "", second, "full-sweep-fail-fast")
	fork["pull_request"].(object)["head"].(object)["repo"] = object{"full_name": "other/recipes"}
	check := func(name string, event object, want string) {
		t.Helper()
		var log strings.Builder
		err := l.ci("run-sweep", event, &log).Run(context.Background())
		if !errors.Is(err, ErrSkipped) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want skipped with %q", name, err, want)
		}
		if len(l.artifacts()) != 0 {
			t.Errorf("%s: a skipped run left artifacts", name)
		}
	}
	check("unchanged changelog", object{"ref": "refs/heads/main", "before": second, "after": third}, "unchanged")
	check("deleted branch", object{"ref": "refs/heads/x", "before": second, "after": strings.Repeat("0", 40), "deleted": true}, "deleted")
	check("irrelevant label", pull("labeled", "documentation", second, "full-sweep-fail-fast"), "of no concern")
	check("opened", pull("opened", "", second, "full-sweep-fail-fast"), "was opened")
	check("no label", pull("synchronize", "", second), "no sweep label")
	check("last primary removed", pull("unlabeled", "full-sweep-fail-fast", second), "no sweep label")
	check("modifier alone", pull("labeled", "all-evals", second, "all-evals"), "no sweep label")
	check("skip in the message", pull("labeled", "full-sweep-fail-fast", second, "full-sweep-fail-fast"), "[skip-sweep]")
	check("fork", fork, "another repository")
}

func TestPullRequestPlansItsOwnEntries(t *testing.T) {
	l := newLab(t)
	files := tree()
	first := l.commit("start", files)
	log := files["perf-changelog.yaml"]
	l.git("checkout", "-q", "-b", "topic")
	head := l.commit("propose", map[string]string{"perf-changelog.yaml": log + "\n" + fmt.Sprintf(entryText, "tiny-fp8-cpu-sim", "Mine")})
	l.git("checkout", "-q", "main")
	moved := l.commit("merge another", map[string]string{"perf-changelog.yaml": log + "\n" + fmt.Sprintf(entryText, "tiny-fp8-cpu-sim", "Theirs")})
	repo := object{"full_name": "lab/recipes"}
	check := func(name string, mode string, throughput, evals int, failFast bool, labels ...string) {
		t.Helper()
		var list []object
		for _, n := range labels {
			list = append(list, object{"name": n})
		}
		event := object{"action": "labeled", "number": 5, "label": object{"name": labels[0]}, "pull_request": object{"state": "open", "draft": true, "labels": list,
			"head": object{"sha": head, "ref": "topic", "repo": repo}, "base": object{"sha": moved, "ref": "main", "repo": repo}}}
		var said strings.Builder
		in, err := l.ci("run-sweep", event, &said).intend(context.Background())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		s := in.Plan.Families[0].Selection
		if in.Mode != mode || len(s.Throughput) != throughput || len(s.Evals) != evals || in.FailFast != failFast || in.Base != first || in.Head != head || in.Branch != "topic" {
			t.Errorf("%s: mode %s, %d points, %d evals, fail-fast %v, base %.8s", name, in.Mode, len(s.Throughput), len(s.Evals), in.FailFast, in.Base)
		}
		if len(in.Plan.Entries) != 1 || in.Plan.Entries[0].Description[0] != "Mine" {
			t.Errorf("%s: entries %+v", name, in.Plan.Entries)
		}
	}
	check("full", result.ModeFull, 2, 1, false, "full-sweep-enabled")
	check("fail-fast", result.ModeFull, 2, 1, true, "full-sweep-fail-fast")
	check("trimmed", result.ModeSmoke, 1, 1, false, "sweep-enabled")
	check("evals-only", result.ModeFull, 0, 1, false, "full-sweep-enabled", "evals-only")
	check("all-evals", result.ModeFull, 2, 2, false, "full-sweep-enabled", "all-evals")
}

func TestTwoPrimaryLabelsFail(t *testing.T) {
	e := event{Action: "synchronize", Number: 5, Pull: &pull{Labels: []label{{"sweep-enabled"}, {"full-sweep-enabled"}}}}
	if _, _, err := decide(e, "", ""); err == nil || !strings.Contains(err.Error(), "more than one sweep label") {
		t.Errorf("got %v", err)
	}
}

func TestPolicyComesFromTheBase(t *testing.T) {
	l := newLab(t)
	l.commit("start", tree())
	files := map[string]string{"refit.yaml": "jobs: {env: [PATH, REFIT_TEST_EXTRA]}\n"}
	l.git("checkout", "-q", "-b", "topic")
	head := l.commit("let more through", files)
	var log strings.Builder
	in, err := l.ci("e2e-tests", dispatch("test-config --config-keys tiny-fp8-cpu-sim", head), &log).intend(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(in.Config.Jobs.Env, []string{"RUN_TEST_SECRET_TOKEN"}) {
		t.Errorf("jobs.env is %q, want that of main", in.Config.Jobs.Env)
	}
}

func TestCommands(t *testing.T) {
	check := func(line, want string) {
		t.Helper()
		c, err := parseCommand(line)
		got := fmt.Sprintf("%v %v %v %v %v", c.Keys, c.Smoke, c.NoEvals, c.EvalsOnly, c.Conc)
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%q: got %s, want %s", line, got, want)
		}
	}
	check("test-config --config-keys a --smoke", "[a] true false false []")
	check("test-config --config-keys a b --no-evals --conc 1 4", "[a b] false true false [1 4]")
	check("test-config --config-keys 'a*'", "[a*] false false false []")
	check("", "is empty")
	check("full-sweep", `"full-sweep" is not supported`)
	check("test-config", "--config-keys is required")
	check("test-config --config-keys a --nope", "unknown flag")
	check("test-config --config-keys a --no-evals --evals-only", "exclude each other")
}
