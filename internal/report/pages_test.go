package report

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/engine"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/result"
)

// Each archive holds what was measured and the candidate, and the pages in
// every format that must come out.
func TestPages(t *testing.T) {
	files, err := filepath.Glob("testdata/pages/*.txtar")
	if err != nil || len(files) != 3 {
		t.Fatalf("archives: %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			kept, want := &txtar.Archive{Comment: a.Comment}, map[string]string{}
			for _, f := range a.Files {
				switch f.Name {
				case "candidate.json", "runs.txt", "evals.txt", "evidence.json", "source.json":
					kept.Files = append(kept.Files, f)
				default:
					want[f.Name] = string(f.Data)
				}
			}
			got := formats(t, caseOf(t, kept.Files))
			if *update {
				kept.Files = append(kept.Files, got...)
				if err := os.WriteFile(file, txtar.Format(kept), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			for _, f := range got {
				if diff := cmp.Diff(want[f.Name], string(f.Data)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", f.Name, diff)
				}
			}
		})
	}
}

// formats renders a candidate in every format. The style of pages is its own
// file and left out.
func formats(t *testing.T, p BoardPage) []txtar.File {
	t.Helper()
	var out []txtar.File
	add := func(name string, write func(b *bytes.Buffer) error) {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.HasSuffix(b.Bytes(), []byte("\n")) {
			b.WriteByte('\n')
		}
		out = append(out, txtar.File{Name: name, Data: b.Bytes()})
	}
	markdown := testPolicy().AttemptComment(*p.Attempt, *p.Baseline, p.Verdicts)
	p.Reports = []BoardReport{{Title: "run-7-1", Markdown: markdown}}
	add("report.md", func(b *bytes.Buffer) error { b.WriteString(markdown); return nil })
	add("terminal.txt", func(b *bytes.Buffer) error { Terminal(b, *p.Attempt, *p.Baseline, p.Verdicts, false); return nil })
	add("points.csv", func(b *bytes.Buffer) error { return CSV(b, p.Old, p.New, *p.Verdicts) })
	add("bench.txt", func(b *bytes.Buffer) error { return Benchstat(b, p.Old, p.New) })
	add("page.html", func(b *bytes.Buffer) error {
		var page bytes.Buffer
		err := Site{Workspace: "lab"}.Candidate(&page, p)
		b.Write(regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAll(page.Bytes(), []byte("<style></style>")))
		return err
	})
	add("curve.svg", func(b *bytes.Buffer) error {
		b.Write(regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAll(p.SVG(), nil))
		return nil
	})
	return out
}

// caseOf makes the candidate of an archive: its rows are compared as certify
// compares them, and the newest old run is the baseline.
func caseOf(t *testing.T, files []txtar.File) BoardPage {
	t.Helper()
	in := map[string][]byte{}
	for _, f := range files {
		in[f.Name] = f.Data
	}
	var p BoardPage
	mustJSON(t, in["candidate.json"], &p.Row)
	p.Old, p.New = measuredRuns(t, string(in["runs.txt"]))
	oldEvals, newEvals := measuredEvals(t, string(in["evals.txt"]))
	r := compare.Compare(p.Old, p.New, oldEvals, newEvals)
	p.Verdicts = &r
	for _, name := range []string{"throughput", "tpot", "ttft", "accuracy"} {
		p.Row.Verdicts = append(p.Row.Verdicts, BoardVerdict{name, string(r.Overall(name))})
	}
	by, head, run, attempt := Author{Kind: "program"}, strings.Repeat("ab", 20), int64(7), 1
	b := Baseline{Family: p.Row.Family, Date: "2026-10-01", Image: p.Row.OldImage, Goal: Goal(p.Row.OldImage, p.Row.NewImage), Status: Status(BaselineFrozen), PreparedBy: by}
	b.Points, b.Evals = FromRows(p.Old[len(p.Old)-1], oldEvals)
	a := Attempt{Kind: "final", Head: head, Image: p.Row.NewImage, RunID: &run, RunAttempt: &attempt, Status: "passed", Change: ChangeSweep(),
		Next: Next(Situation(p.Row.Outcome)), BenchmarksExpected: 5, BenchmarksPassed: 5, EvalsExpected: len(newEvals), EvalsPassed: len(newEvals),
		UpdatedAt: time.Date(2026, 10, 2, 8, 0, 0, 0, time.UTC), PreparedBy: by}
	a.Points, a.Evals = FromRows(p.New[0], newEvals)
	if data := in["evidence.json"]; data != nil {
		a.Evidence = &Evidence{}
		mustJSON(t, data, a.Evidence)
	}
	if data := in["source.json"]; data != nil {
		p.Source = &engine.Comparison{}
		mustJSON(t, data, p.Source)
	}
	if err := a.Validate(testPolicy()); err != nil {
		t.Fatal(err)
	}
	p.Baseline, p.Attempt = &b, &a
	p.Receipts = []BoardReceipt{{Step: "certify", Subject: "5f2c", By: "refit", At: a.UpdatedAt, Detail: "throughput " + string(r.Overall("throughput"))}}
	return p
}

// measuredRuns reads lines of: side run conc requests errors health output ttft tpot.
func measuredRuns(t *testing.T, table string) (old, new [][]result.Row) {
	t.Helper()
	runs, order := map[string][]result.Row{}, []string(nil)
	for _, line := range dataLines(table) {
		var side, health string
		var run, conc, requests, errors int
		var tps, ttft, tpot float64
		if _, err := fmt.Sscan(line, &side, &run, &conc, &requests, &errors, &health, &tps, &ttft, &tpot); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		row := result.Row{Family: "configs/lab-master.yaml:labb-fp8-cpu-sim", Conc: conc, Scenario: "fixed-seq-len", Result: result.Passed, Requests: requests, RequestErrors: &errors,
			Image: "lab/simengine:v1.0.0-cpu", Digest: "sha256:" + side, Metrics: map[string]float64{"tput_per_gpu": 5 * tps, "output_tput_per_gpu": tps, "mean_ttft": ttft / 1000, "mean_tpot": tpot / 1000}}
		row.Key, row.Label = keyOf(conc), fmt.Sprintf("256/64 c%d TP1 EP1 %s", conc, keyOf(conc)[:6])
		row.Health = bench.Health{Verdict: health, ReadDelayP99: 120 * time.Microsecond, ClientCPU: 0.04, Requests: requests, Samples: 64 * requests}
		row.Provenance = result.Provenance{RunID: int64(run), Attempt: 1, Head: strings.Repeat("cd", 20), Runner: "cpu_local", Ended: time.Date(2026, 10, run, 6, 0, 0, 0, time.UTC)}
		if side == "new" {
			row.Image, row.Provenance.Head = "lab/simengine:v2.0.0-cpu", strings.Repeat("ab", 20)
		}
		name := fmt.Sprint(side, run)
		if runs[name] == nil {
			order = append(order, name)
		}
		runs[name] = append(runs[name], row)
	}
	for _, name := range order {
		if strings.HasPrefix(name, "old") {
			old = append(old, runs[name])
		} else {
			new = append(new, runs[name])
		}
	}
	return old, new
}

// measuredEvals reads lines of: conc questions lost gained wrong-on-both.
func measuredEvals(t *testing.T, table string) (old, new []result.EvalRow) {
	t.Helper()
	for _, line := range dataLines(table) {
		var conc, n, lost, gained, wrong int
		if _, err := fmt.Sscan(line, &conc, &n, &lost, &gained, &wrong); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		side := func(image string, right func(i int) bool) result.EvalRow {
			e := result.EvalRow{Key: keyOf(conc), Label: fmt.Sprintf("256/64 c%d TP1 EP1 %s", conc, keyOf(conc)[:6]), Conc: conc, Suite: "arith200", Metric: "em_strict", Image: image, Digest: image, Samples: n, Result: result.Passed}
			score := 0.0
			for i := range n {
				a := eval.Answer{DocID: i, QuestionDigest: fmt.Sprint("q", i), Target: fmt.Sprint(3 * i), Correct: right(i)}
				if a.Filtered = a.Target; !a.Correct {
					a.Filtered = fmt.Sprint(3*i + 1)
				} else {
					score++
				}
				e.Answers = append(e.Answers, a)
			}
			score /= float64(n)
			e.Score = &score
			return e
		}
		both := func(i int) bool { return i < n-wrong }
		old = append(old, side("old", func(i int) bool { return both(i) && (i < lost || i >= lost+gained) }))
		new = append(new, side("new", func(i int) bool { return both(i) && i >= lost }))
	}
	return old, new
}

func dataLines(table string) []string {
	var out []string
	for _, line := range strings.Split(table, "\n") {
		if line != "" && !strings.HasPrefix(line, "#") {
			out = append(out, line)
		}
	}
	return out
}

func keyOf(conc int) string {
	sum := sha256.Sum256([]byte(fmt.Sprint("point", conc)))
	return hex.EncodeToString(sum[:])
}

// After the merge the board says so beside the outcome, in the outcome's colour.
func TestTheBoardFollowsTheMerge(t *testing.T) {
	for state, want := range map[string]string{"done": "validated", "merged": "validated, merged", "closed": "validated, closed"} {
		r := BoardRow{Outcome: "validated", State: state}
		if got := standing(r); got != want || tone(r) != "good" {
			t.Errorf("%s: got %q in tone %q, want %q in good", state, got, tone(r), want)
		}
	}
}
