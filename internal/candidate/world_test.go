package candidate

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/bench"
	"github.com/refit-bench/refit/internal/eval"
	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/workspace"
)

const (
	family   = "configs/toy-master.yaml:toy-fp8-box-loom"
	oldImage = "toy/loom:v1.0.0-box"
	newImage = "toy/loom:v2.0.0-box"
)

// world is one whole upgrade's surroundings: a real forge over real HTTP, a
// real git repository, real images; only the measurements are recorded ones.
type world struct {
	t      testing.TB
	dir    string
	bare   workspace.Repo
	forge  *local.Server
	ground string // what all worlds share
	url    string // of the forge
	ledger *memory
	ws     *workspace.Workspace

	comments bool // receipts live in comments, not in ledger

	mu     sync.Mutex
	trees  map[string]fs.FS
	slow   float64 // factor on the new image's throughput: 1 is unchanged
	wrong  int     // answers the new image loses
	sick   int     // sweeps whose load client is unhealthy
	faint  int     // smoke runs whose load client is
	green  bool    // runs that have nothing to do end with success, as GitHub's do when their jobs decide so
	runs   []local.RunRequest
	breaks func(r local.RunRequest) error                                         // makes runs fail
	leaves func(r local.RunRequest, m result.Manifest, lines []result.Line) error // what runs leave, when not the usual
}

// at is when the recorded measurements were made.
var at = time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)

// ground is what every world starts from, made once: a checkout, its bare
// repository, and the images. Nobody writes to the checkout or the images.
var ground = sync.OnceValues(func() (string, error) {
	if dir := os.Getenv(groundVariable); dir != "" {
		return dir, nil // the other process of a test stands on the same
	}
	dir, err := os.MkdirTemp(room(), "refit-candidate-")
	if err != nil {
		return "", err
	}
	checkout := filepath.Join(dir, "checkout")
	if err := os.CopyFS(checkout, os.DirFS("testdata/workspace")); err != nil {
		return "", err
	}
	git := workspace.Repo{Dir: checkout}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main", "."}, {"add", "-A"},
		{"-c", "user.name=owner", "-c", "user.email=owner@example.invalid", "commit", "-q", "-m", "Start"},
		{"clone", "-q", "--bare", checkout, filepath.Join(dir, "forge.git")},
	} {
		if _, err := git.Git(context.Background(), args...); err != nil {
			return "", err
		}
	}
	return dir, images(filepath.Join(dir, "images"))
})

// room is where the worlds are: in memory where this system has such a folder,
// because some hundred of them are made.
func room() string {
	if info, err := os.Stat("/dev/shm"); err == nil && info.IsDir() {
		return "/dev/shm"
	}
	return ""
}

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // many short upgrades
	code := m.Run()
	if dir, err := ground(); err == nil && os.Getenv(groundVariable) == "" {
		os.RemoveAll(dir)
	}
	os.Exit(code)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir, err := os.MkdirTemp(room(), "refit-world-")
	if err != nil {
		t.Fatal(err)
	}
	w := standOn(t, dir)
	w.must(os.CopyFS(w.bare.Dir, os.DirFS(filepath.Join(w.ground, "forge.git"))))
	w.forge = &local.Server{
		Repository: "toy/recipes", Git: w.bare, DB: filepath.Join(w.dir, "forge.db"),
		Tokens:      map[string]string{"bot-token": "bot", "reader-token": "reader", "maintainer-token": "maintainer"},
		Permissions: map[string]string{"bot": "admin", "maintainer": "write"},
		ArtifactDir: filepath.Join(w.dir, "artifacts"), Now: time.Now, Run: w.run,
	}
	w.must(w.forge.Open(t.Context()))
	server := httptest.NewServer(w.forge.Handler())
	w.url = server.URL
	t.Cleanup(func() { server.Close(); w.forge.Close(); os.RemoveAll(dir) })
	w.must(w.client("bot-token").CreateLabel(t.Context(), "full-sweep-fail-fast", "0e8a16", ""))
	return w
}

// standOn is a world in a folder, without its forge.
func standOn(t testing.TB, dir string) *world {
	t.Helper()
	w := &world{t: t, dir: dir, ledger: &memory{}, slow: 1, bare: workspace.Repo{Dir: filepath.Join(dir, "forge.git")}}
	var err error
	w.ground, err = ground()
	w.must(err)
	w.ws, err = workspace.Open(filepath.Join(w.ground, "checkout"))
	w.must(err)
	return w
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) client(token string) *forge.Client {
	return w.clientAt(w.url, token)
}

func (w *world) clientAt(url, token string) *forge.Client {
	c, err := forge.New(url, token, "toy/recipes")
	w.must(err)
	c.Wait = func(context.Context, time.Duration) error { return nil }
	return c
}

// images builds two versions of an engine whose source is read, never run.
func images(layout string) error {
	for _, v := range []string{"v1", "v2"} {
		src, err := os.ReadFile(filepath.Join("testdata", "engine", v+".py"))
		if err != nil {
			return err
		}
		ref, err := image.Parse("toy/loom:" + v + ".0.0-box")
		if err != nil {
			return err
		}
		_, err = image.Build(layout, image.Spec{
			Ref: ref, Created: at,
			Labels: map[string]string{SourceLabel: "usr/lib/loom"},
			Layers: []image.Layer{{Files: []image.File{{Path: "usr/lib/loom/server_args.py", Mode: 0o644, Data: src}}}},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// tree reads a commit once: it never changes.
func (w *world) tree(_ context.Context, commit string) (fs.FS, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if fsys, ok := w.trees[commit]; ok {
		return fsys, nil
	}
	fsys, err := w.bare.FS(w.t.Context(), commit)
	if err == nil {
		if w.trees == nil {
			w.trees = map[string]fs.FS{}
		}
		w.trees[commit] = fsys
	}
	return fsys, err
}

// shepherd is a session of its own: nothing is shared but forge and ledger.
func (w *world) shepherd(token string) *Shepherd {
	s := &Shepherd{
		Forge: w.client(token), Web: "http://forge.invalid/toy/recipes", Ledger: w.ledger,
		Feeds: feeds{w}, APIURL: "http://results.invalid", History: w.history,
		Images: image.Library{Layout: filepath.Join(w.ground, "images")}, Cache: image.Cache{Dir: filepath.Join(w.ground, "cache")},
		Tree:   w.tree,
		Config: w.ws.Config, Paths: w.ws.Paths,
		Capacity: func(context.Context, string) gate.Verdict { return pass("capacity", "idle") },
		Holder:   workspace.Process(), Now: time.Now,
	}
	w.comment(s)
	return s
}

// upgrade advances until there is an outcome; between two looks the forge
// finishes whatever it runs.
func (w *world) upgrade(s *Shepherd) (Candidate, Status) {
	w.t.Helper()
	c, err := s.Select(w.t.Context(), "toy-fp8-box-loom", "")
	w.must(err)
	for range 20 {
		st, err := s.Advance(w.t.Context(), c)
		w.must(err)
		if st.State == Done {
			return c, st
		}
		w.forge.Wait()
	}
	w.t.Fatal("no outcome after 20 advances")
	return c, Status{}
}

// run is an executor that returns recorded rows at once.
func (w *world) run(ctx context.Context, r local.RunRequest) error {
	if r.Event == "pull_request" && (!labelled(r.Payload) || w.skips(ctx, r.HeadSHA)) {
		if w.green {
			return nil
		}
		return local.ErrSkipped
	}
	w.mu.Lock()
	w.runs = append(w.runs, r)
	w.mu.Unlock()
	if w.breaks != nil {
		if err := w.breaks(r); err != nil {
			return err
		}
	}
	points, fam, err := w.points(ctx, r.HeadSHA)
	if err != nil {
		return err
	}
	sel, mode := matrix.Full(points), result.ModeFull
	if r.Event == "workflow_dispatch" {
		sel, mode = matrix.Smoke(points), result.ModeSmoke
	}
	digest := w.digestOf(fam.Entry.Image)
	prov := result.Provenance{RunID: r.ID, Attempt: r.Attempt, Head: r.HeadSHA, Event: r.Event, Runner: "box_00", Client: "refit", Started: at, Ended: at}
	m := result.Manifest{Version: result.ManifestVersion, RunID: r.ID, Attempt: r.Attempt, Head: r.HeadSHA, Mode: mode}
	mf := result.ManifestFamily{Family: fam.ID, Image: fam.Entry.Image, Digest: digest}
	health := bench.Healthy
	if left := map[string]*int{"pull_request": &w.sick, "workflow_dispatch": &w.faint}[r.Event]; left != nil && *left > 0 {
		*left--
		health = bench.Unhealthy
	}
	var lines []result.Line
	for _, p := range sel.Throughput {
		mf.Points = append(mf.Points, manifestPoint(p))
		row := w.row(p, fam.Entry.Image, digest, w.slow, prov)
		row.Health.Verdict = health
		lines = append(lines, result.Line{Kind: "row", Row: &row})
	}
	for _, p := range sel.Evals {
		mf.Evals = append(mf.Evals, manifestPoint(p))
		row := w.eval(p, fam.Entry.Image, digest, w.wrong, prov)
		lines = append(lines, result.Line{Kind: "eval", Eval: &row})
	}
	m.Families = []result.ManifestFamily{mf}
	if w.leaves != nil {
		return w.leaves(r, m, lines)
	}
	return leave(r.Out, m, lines)
}

// skips says whether the head's message holds sweeps back.
func (w *world) skips(ctx context.Context, head string) bool {
	message, err := w.bare.Git(ctx, "log", "-1", "--format=%B", head)
	if err != nil { // the world ends while the run goes on
		return true
	}
	return bytes.Contains(message, []byte("[skip-sweep]"))
}

// labelled says whether a pull request's event asks for a sweep.
func labelled(payload []byte) bool {
	var event struct {
		Pull struct {
			Labels []struct{ Name string } `json:"labels"`
		} `json:"pull_request"`
	}
	return json.Unmarshal(payload, &event) == nil && len(event.Pull.Labels) == 1 && event.Pull.Labels[0].Name == "full-sweep-fail-fast"
}

func leave(out string, m result.Manifest, lines []result.Line) error {
	var rows bytes.Buffer
	if err := result.WriteLines(&rows, lines); err != nil {
		return err
	}
	manifest, err := json.Marshal(m)
	if err != nil {
		return err
	}
	for path, data := range map[string][]byte{
		"refit-manifest/manifest.json": manifest, "refit-rows/rows.jsonl": rows.Bytes(),
	} {
		file := filepath.Join(out, path)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}

func manifestPoint(p matrix.Point) result.ManifestPoint {
	return result.ManifestPoint{Key: p.Key, Fingerprint: p.Fingerprint, Conc: p.Conc(), Label: p.Label()}
}

func (w *world) points(ctx context.Context, commit string) ([]matrix.Point, recipe.Family, error) {
	fsys, err := w.tree(ctx, commit)
	if err != nil {
		return nil, recipe.Family{}, err
	}
	cat, err := recipe.Load(fsys, w.ws.Paths.Masters, w.ws.Paths.Runners)
	if err != nil {
		return nil, recipe.Family{}, err
	}
	fam, err := cat.Family(family)
	if err != nil {
		return nil, fam, err
	}
	rule, err := matrix.ParseEvalRule(w.ws.Config.Evals.Lengths, w.ws.Config.Evals.Floor)
	if err != nil {
		return nil, fam, err
	}
	points, _, err := matrix.Points(fam, cat.Runners, rule)
	return points, fam, err
}

func (w *world) digestOf(name string) string {
	ref, err := image.Parse(name)
	w.must(err)
	img, err := image.Library{Layout: filepath.Join(w.ground, "images")}.Resolve(context.Background(), ref)
	w.must(err)
	return img.Digest
}

func (w *world) row(p matrix.Point, img, digest string, factor float64, prov result.Provenance) result.Row {
	errors := 0
	tput := 100 * float64(p.Conc()) * factor
	return result.Row{
		Family: p.Family, Key: p.Key, Fingerprint: p.Fingerprint, Image: img, Digest: digest, Label: p.Label(),
		Conc: p.Conc(), ISL: 256, OSL: 64, Scenario: "fixed-seq-len", Result: result.Passed,
		Metrics: map[string]float64{
			"tput_per_gpu": tput * 5, "output_tput_per_gpu": tput, "mean_ttft": 0.010, "mean_tpot": 0.002 / factor,
		},
		Requests: 10 * p.Conc(), RequestErrors: &errors, Health: bench.Health{Verdict: bench.Healthy, Requests: 10 * p.Conc()},
		Plan: p.Row, Provenance: prov,
	}
}

func (w *world) eval(p matrix.Point, img, digest string, wrong int, prov result.Provenance) result.EvalRow {
	row := result.EvalRow{
		Family: p.Family, Key: p.Key, Fingerprint: p.Fingerprint, Image: img, Digest: digest, Label: p.Label(), Conc: p.Conc(),
		Suite: "gsm8k", Metric: "em_strict", Samples: 200, Result: result.Passed, Provenance: prov,
	}
	right := 0
	for i := range 200 {
		a := eval.Answer{DocID: i, Target: "7", Response: "#### 7", Filtered: "7", Correct: i >= 10+wrong}
		if a.Correct {
			right++
		}
		row.Answers = append(row.Answers, a)
	}
	score := float64(right) / 200
	row.Score = &score
	return row
}

// history is three published runs of the old image, a few tenths of a percent apart.
func (w *world) history(ctx context.Context, _, digest string) ([]result.Row, []result.EvalRow, error) {
	main, err := w.bare.Resolve(ctx, "refs/heads/main")
	if err != nil {
		return nil, nil, err
	}
	points, fam, err := w.points(ctx, main)
	if err != nil || w.digestOf(fam.Entry.Image) != digest {
		return nil, nil, err
	}
	var rows []result.Row
	var evals []result.EvalRow
	for i, factor := range []float64{0.999, 1, 1.002} {
		prov := result.Provenance{RunID: int64(100 + i), Attempt: 1, Head: main, Event: "push", Runner: "box_00", Client: "refit", Started: at, Ended: at}
		for _, p := range points {
			rows = append(rows, w.row(p, fam.Entry.Image, digest, factor, prov))
			if p.Eval {
				evals = append(evals, w.eval(p, fam.Entry.Image, digest, 0, prov))
			}
		}
	}
	return rows, evals, nil
}

// feeds publish the newest of the historic runs in the public shape.
type feeds struct{ w *world }

func (f feeds) newest(ctx context.Context) ([]result.Row, []result.EvalRow, error) {
	rows, evals, err := f.w.history(ctx, family, f.w.digestOf(oldImage))
	if err != nil {
		return nil, nil, err
	}
	return rows[len(rows)-len(rows)/3:], evals[len(evals)-len(evals)/3:], nil
}

func config() api.Config {
	return api.Config{
		Hardware: "box", Framework: "loom", Model: "toy", Precision: "fp8", SpecMethod: "none",
		PrefillTP: 1, PrefillEP: 1, DecodeTP: 1, DecodeEP: 1, NumPrefillGPU: 1, NumDecodeGPU: 1,
	}
}

const runURL = "https://forge.invalid/toy/recipes/actions/runs/102/attempts/1"

func (f feeds) Benchmarks(ctx context.Context, _, date string) ([]api.BenchmarkRow, error) {
	rows, _, err := f.newest(ctx)
	var out []api.BenchmarkRow
	for i, r := range rows {
		isl, osl, url := r.ISL, r.OSL, runURL
		out = append(out, api.BenchmarkRow{
			ID: api.ID(i + 1), Config: config(), BenchmarkType: "single_turn", OffloadMode: "off", ISL: &isl, OSL: &osl, Conc: r.Conc,
			Image: &r.Image, RecipeFingerprint: &r.Fingerprint, Metrics: r.Metrics, Date: date, RunURL: &url, CurveDate: date,
			CurveWorkflowRunID: 102, Family: r.Family, PointKey: r.Key, Digest: r.Digest,
		})
	}
	return out, err
}

func (f feeds) WorkflowInfo(ctx context.Context, date string) (api.WorkflowInfo, error) {
	main, err := f.w.bare.Resolve(ctx, "refs/heads/main")
	isl, osl := 256, 64
	return api.WorkflowInfo{
		Runs:       []api.WorkflowRun{{GitHubRunID: 102, Name: "Run Sweep", Conclusion: "success", RunAttempt: 1, HTMLURL: runURL, CreatedAt: date + "T06:00:00Z", Date: date}},
		Changelogs: []api.Changelog{{WorkflowRunID: 102, Date: date, BaseRef: strings.Repeat("1", 40), HeadRef: main, ConfigKeys: []string{"toy-fp8-box-loom"}, Description: "publish"}},
		RunConfigs: []api.RunConfig{{GitHubRunID: 102, RunStartedAt: date + "T06:00:00Z", HTMLURL: runURL, HeadSHA: main, Model: "toy", Precision: "fp8",
			Hardware: "box", Framework: "loom", SpecMethod: "none", BenchmarkType: "single_turn", ISL: &isl, OSL: &osl}},
	}, err
}

func (f feeds) Evaluations(ctx context.Context) ([]api.EvaluationRow, error) {
	_, evals, err := f.newest(ctx)
	var out []api.EvaluationRow
	for i, e := range evals {
		conc, isl, osl, url := e.Conc, 256, 64, runURL
		out = append(out, api.EvaluationRow{
			ID: api.ID(i + 1), ConfigID: 1, Config: config(), Task: "gsm8k", Date: "2026-11-02", Conc: &conc,
			Metrics: map[string]float64{"em_strict": *e.Score, "n_eff": 200}, Timestamp: "2026-11-02T06:00:00Z", RunURL: &url,
			ISL: &isl, OSL: &osl, Image: &e.Image, RecipeFingerprint: &e.Fingerprint, Family: e.Family, PointKey: e.Key, Digest: e.Digest,
		})
	}
	return out, err
}

func (f feeds) ImageFeed(context.Context) (api.ImageFeed, error) {
	isl, osl := 256, 64
	return api.ImageFeed{Rows: []api.LatestImage{{Model: "toy", Hardware: "box", Framework: "loom", Precision: "fp8", SpecMethod: "none",
		ISL: &isl, OSL: &osl, BenchmarkType: "single_turn", Image: oldImage, Date: "2026-11-02"}}}, nil
}

// memory is a ledger that can lose what was written last.
type memory struct {
	mu         sync.Mutex
	receipts   []Receipt
	candidates []Summary
}

func (m *memory) Receipts(_ context.Context, id string) ([]Receipt, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []Receipt
	for _, r := range m.receipts {
		if r.Candidate == id {
			out = append(out, r)
		}
	}
	return out, nil
}

func (m *memory) Append(_ context.Context, r Receipt) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.receipts = append(m.receipts, r)
	return nil
}

func (m *memory) SaveCandidate(_ context.Context, s Summary) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.candidates {
		if m.candidates[i].ID == s.ID {
			m.candidates[i] = s
			return nil
		}
	}
	m.candidates = append([]Summary{s}, m.candidates...)
	return nil
}

func (m *memory) Candidates(context.Context) ([]Summary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]Summary(nil), m.candidates...), nil
}

// age lets the receipts of asking for something become old enough to ask again.
func (m *memory) age() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for i := range m.receipts {
		if step := m.receipts[i].Step; step != "round" && step != "dispatch" {
			continue
		}
		m.receipts[i].At = m.receipts[i].At.Add(-2 * labelLag)
	}
}

// lose forgets the receipts of some steps.
func (m *memory) lose(steps ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.receipts = slices.DeleteFunc(m.receipts, func(r Receipt) bool { return slices.Contains(steps, r.Step) })
}

// have are the steps that have a receipt.
func (m *memory) have() map[string]bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	have := map[string]bool{}
	for _, r := range m.receipts {
		have[r.Step] = true
	}
	return have
}

// steps are the names of the receipts a candidate has, in order.
func (m *memory) steps() string {
	var names []string
	for _, r := range m.receipts {
		names = append(names, r.Step)
	}
	return fmt.Sprint(names)
}
