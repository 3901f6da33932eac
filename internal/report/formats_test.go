package report

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/refit-bench/refit/internal/compare"
	"github.com/refit-bench/refit/internal/result"
)

// pageCase is the candidate of one of the archives with pages.
func pageCase(t *testing.T, name string) BoardPage {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata/pages", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	return caseOf(t, a.Files)
}

// The archives are what their comments say.
func TestPagesJudgeAsPlanned(t *testing.T) {
	for name, want := range map[string]compare.Verdict{"validated": compare.NoChange, "regressed": compare.Worse, "inconclusive": compare.Inconclusive} {
		r := pageCase(t, name).Verdicts
		for _, dimension := range []string{compare.DimThroughput, compare.DimTPOT, compare.DimAccuracy} {
			if got := r.Overall(dimension); got != want {
				t.Errorf("%s: %s is %s, want %s", name, dimension, got, want)
			}
		}
	}
}

func TestCSVNumbers(t *testing.T) {
	p := pageCase(t, "regressed")
	var b bytes.Buffer
	if err := CSV(&b, p.Old, p.New, *p.Verdicts); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(lines) != 1+4*5+1 {
		t.Fatalf("%d lines, %v; want a head, 4 metrics of 5 points and an eval", len(lines), err)
	}
	near := func(what, got string, want float64) {
		t.Helper()
		v, err := strconv.ParseFloat(got, 64)
		if err != nil || math.Abs(v-want) > 1e-9 {
			t.Errorf("%s: got %q, want %v", what, got, want)
		}
	}
	c1 := lines[1] // old 84.27, 83.93, 84.10; new 67.28
	near("old mean", c1[5], 84.10)
	near("new mean", c1[6], 67.28)
	near("delta", c1[7], 67.28/84.10-1)
	if got := strings.Join(c1[10:], " "); got != "worse 3 10" {
		t.Errorf("verdict, n, df: %q", got)
	}
	eval := lines[len(lines)-1] // 189 and 179 of 200 right
	near("old score", eval[5], 0.945)
	near("new score", eval[6], 0.895)
	near("difference", eval[7], -0.05)
	if got := strings.Join(eval[10:], " "); got != "worse 200 " {
		t.Errorf("verdict, n, df of the eval: %q", got)
	}
}

func TestCSVOfNothing(t *testing.T) {
	r := compare.Result{
		Curves:   []compare.Curve{{Metric: compare.TPOT, Verdict: compare.Inconclusive, Points: []compare.PointVerdict{{Key: "k", Label: "=HYPERLINK()", Conc: 1, Verdict: compare.Inconclusive}}}},
		Accuracy: []compare.Accuracy{{Key: "k", Suite: "s", Conc: 1, Verdict: compare.Inconclusive}},
	}
	var b bytes.Buffer
	if err := CSV(&b, nil, nil, r); err != nil {
		t.Fatal(err)
	}
	want := "k,'=HYPERLINK(),1,tpot-ms,ms,,,,,,inconclusive,0,0\nk,,1,s,fraction,,,,,,inconclusive,0,\n"
	if _, got, _ := strings.Cut(b.String(), "\n"); got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBenchstatTellsSameNamesApart(t *testing.T) {
	old, new := measuredRuns(t, "old 1 1 10 0 healthy 84 40 12\nold 2 1 10 0 unhealthy 90 40 12\nnew 3 1 10 0 healthy 80 41 13\n")
	new[0][0].Image = old[0][0].Image
	new[0][0].Label = "AgentX c1 TP-8\nimage: x"
	delete(new[0][0].Metrics, "mean_ttft")
	var b bytes.Buffer
	if err := Benchstat(&b, old, new); err != nil {
		t.Fatal(err)
	}
	key := keyOf(1)[:6]
	want := "family: configs/lab-master.yaml:labb-fp8-cpu-sim\nimage: lab/simengine:v1.0.0-cpu@sha256:old\n" +
		"BenchmarkServe/256x64/c1/TP1/EP1/" + key + " 10 84 output-tok/s/GPU 40 ttft-ms 12 tpot-ms\n" +
		"image: lab/simengine:v1.0.0-cpu@sha256:new\nBenchmarkServe/AgentX/c1/TP_8/image:/x 10 80 output-tok/s/GPU 13 tpot-ms\n"
	if _, got, _ := strings.Cut(b.String(), "tpot-ms better=lower\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// The real tool reads what we write, where it is installed.
func TestBenchstatTool(t *testing.T) {
	tool, err := exec.LookPath("benchstat")
	if err != nil {
		t.Skip("benchstat is not installed: go install golang.org/x/perf/cmd/benchstat@latest")
	}
	p := pageCase(t, "regressed")
	file := filepath.Join(t.TempDir(), "bench.txt")
	var b bytes.Buffer
	if err := Benchstat(&b, p.Old, p.New); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(tool, "-col", "image", file).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, want := range []string{"lab/simengine:v1.0.0-cpu", "output-tok/s/GPU", "-20.00%", "ttft-ms", "+5.00%", "tpot-ms", "+25.00%"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("benchstat does not print %q:\n%s", want, out)
		}
	}
}

func TestUsable(t *testing.T) {
	old, _ := measuredRuns(t, "old 1 1 10 0 healthy 84 40 12\nold 2 1 10 0 healthy 86 40 12\nold 3 1 10 0 healthy 90 40 12\nold 4 1 10 0 unhealthy 50 40 12\nold 5 1 10 0 healthy 1 40 12\n")
	old[0][0].Fingerprint = "another"
	old[4][0].Result = result.Failed
	m, _ := metricOf("output-tps-gpu")
	if got := means(old, m)[keyOf(1)]; got != 88 {
		t.Errorf("mean of what counts: got %v, want 88", got)
	}
}

// Text for a terminal fits, and is coloured only when asked.
func TestTerminalFits(t *testing.T) {
	for _, name := range []string{"validated", "regressed", "inconclusive"} {
		p := pageCase(t, name)
		p.Attempt.Points[0].Label = "8192/1024 c1 PTP16x4/DTP16x8 a-very-long-name-of-a-topology-that-does-not-end aa17ac"
		p.Attempt.Next.EN = strings.Repeat("A long sentence goes on. ", 12)
		var plain, colored bytes.Buffer
		Terminal(&plain, *p.Attempt, *p.Baseline, p.Verdicts, false)
		Terminal(&colored, *p.Attempt, *p.Baseline, p.Verdicts, true)
		for _, line := range strings.Split(plain.String(), "\n") {
			if width(line) > columns {
				t.Errorf("%s: %d columns: %s", name, width(line), line)
			}
		}
		if strings.Contains(plain.String(), "\x1b") || !strings.Contains(colored.String(), "\x1b[") {
			t.Errorf("%s: colour: plain %q", name, plain.String())
		}
		if got := regexpANSI.ReplaceAllString(colored.String(), ""); got != plain.String() {
			t.Errorf("%s: colour changes more than colours", name)
		}
	}
	var b bytes.Buffer
	Verdicts(&b, *pageCase(t, "regressed").Verdicts, true)
	if !strings.Contains(b.String(), "\x1b[31mworse ✗\x1b[0m") {
		t.Errorf("no red verdict: %q", b.String())
	}
}

var regexpANSI = regexp.MustCompile("\x1b\\[[0-9]*m")

// A page stands alone: no script, nothing from elsewhere, and nobody's text is
// markup.
func TestPageIsSelfContained(t *testing.T) {
	p := pageCase(t, "regressed")
	const evil = `<script>alert(1)</script><img src=x onerror=y>`
	p.Row.Next, p.Row.OldImage, p.Row.PullURL = evil, evil, "javascript:alert(1)"
	p.Source.Findings[0].Old, p.Source.NotRead = evil, []string{evil}
	p.Verdicts.Accuracy[0].Suite, p.Verdicts.Warnings = evil, []string{evil}
	p.Verdicts.Accuracy[0].Discordant[0].New = evil
	p.Verdicts.Curves[0].Points[0].Label, p.Verdicts.Curves[0].Reason = evil, evil
	p.New[0][0].Provenance.Runner, p.New[0][0].Health.Reasons = evil, []string{evil}
	p.Attempt.Evidence = &Evidence{FirstError: evil, Power: evil}
	p.Reports = []BoardReport{{evil, evil}}
	var b bytes.Buffer
	if err := (Site{Workspace: evil}).Candidate(&b, p); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, bad := range []string{"<script", "<img", `href="javascript`, "<link", "@import", "url(", "https://", "<iframe"} {
		if strings.Contains(page, bad) {
			t.Errorf("page holds %q", bad)
		}
	}
	if strings.Contains(page, `href="/`) {
		t.Error("a page that stands alone links to a server")
	}
	if n := strings.Count(page, "&lt;script&gt;alert(1)"); n < 12 {
		t.Errorf("the text is shown %d times, want at least 12", n)
	}
}
