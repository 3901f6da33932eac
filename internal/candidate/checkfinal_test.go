package candidate

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
)

// entered is a world whose candidate's branch ends with an entry of ours.
func entered(t *testing.T, files map[string]func(string) string, entries ...recipe.ChangelogEntry) (*world, Candidate, string) {
	t.Helper()
	w, c := left(t)
	log := w.file("main", "perf-changelog.yaml")
	for _, e := range entries {
		e.Description, e.PRLink = []string{"Update the image."}, "https://github.com/toy/recipes/pull/1"
		var err error
		log, err = recipe.AppendEntry(log, e)
		w.must(err)
	}
	put := map[string][]byte{"perf-changelog.yaml": log}
	for path, edit := range files {
		put[path] = []byte(edit(string(w.file(c.Branch("refit"), path))))
	}
	return w, c, w.commitOn(c.Branch("refit"), "Entry", put)
}

const master = "configs/toy-master.yaml"

// neighbour adds a second family to a master.
func neighbour(master string) string {
	_, family, _ := strings.Cut(master, "toy-fp8-box-loom:")
	return master + "toy-fp8-box-other:" + family
}

func respelt(old, text string) func(string) string {
	return func(s string) string { return strings.Replace(s, old, text, 1) }
}

// TestCheckFinal: what the changelog of the head asks for must be the family,
// whole and alone.
func TestCheckFinal(t *testing.T) {
	own := recipe.ChangelogEntry{ConfigKeys: []string{"toy-fp8-box-loom"}}
	with := func(change func(*recipe.ChangelogEntry)) recipe.ChangelogEntry {
		e := own
		change(&e)
		return e
	}
	for _, c := range []struct {
		name    string
		files   map[string]func(string) string
		entries []recipe.ChangelogEntry
		want    gate.Answer
		reason  string
	}{
		{name: "the-family", entries: []recipe.ChangelogEntry{own}, want: gate.Pass, reason: "5 points and "},
		{name: "equivalent-scenario-filter", want: gate.Pass, reason: "5 points and ",
			entries: []recipe.ChangelogEntry{with(func(e *recipe.ChangelogEntry) { e.ScenarioType = []string{"fixed-seq-len"} })}},
		{name: "scenario-filter-that-leaves-nothing", want: gate.Fail, reason: "the entry selects [], want exactly toy-fp8-box-loom",
			entries: []recipe.ChangelogEntry{with(func(e *recipe.ChangelogEntry) { e.ScenarioType = []string{"agentic-coding"} })}},
		{name: "two-families", files: map[string]func(string) string{master: neighbour}, want: gate.Fail,
			reason:  "the entry selects [toy-fp8-box-loom toy-fp8-box-other], want exactly toy-fp8-box-loom",
			entries: []recipe.ChangelogEntry{with(func(e *recipe.ChangelogEntry) { e.ConfigKeys = []string{"toy-fp8-box-loom", "toy-fp8-box-other"} })}},
		{name: "two-families-by-a-wildcard", files: map[string]func(string) string{master: neighbour}, want: gate.Fail, reason: "want exactly toy-fp8-box-loom",
			entries: []recipe.ChangelogEntry{with(func(e *recipe.ChangelogEntry) { e.ConfigKeys = []string{"toy-fp8-*"} })}},
		{name: "another-family", files: map[string]func(string) string{master: neighbour}, want: gate.Fail, reason: "the entry selects [toy-fp8-box-other]",
			entries: []recipe.ChangelogEntry{with(func(e *recipe.ChangelogEntry) { e.ConfigKeys = []string{"toy-fp8-box-other"} })}},
		{name: "evals-only", want: gate.Fail, reason: "final-matrix: point missing: 256/64 c1 ",
			entries: []recipe.ChangelogEntry{with(func(e *recipe.ChangelogEntry) { e.EvalsOnly = true })}},
		{name: "all-evals", want: gate.Fail, reason: "final-matrix: point missing: 256/64 c1 ",
			entries: []recipe.ChangelogEntry{with(func(e *recipe.ChangelogEntry) { e.AllEvals = true })}},
		{name: "no-evals", want: gate.Fail, reason: "final-matrix: eval missing: 256/64 ",
			entries: []recipe.ChangelogEntry{with(func(e *recipe.ChangelogEntry) { e.NoEvals = true })}},
		{name: "append-only", want: gate.Fail, reason: "append-only adds to what a base revision measures",
			entries: []recipe.ChangelogEntry{with(func(e *recipe.ChangelogEntry) { e.AppendOnly = true })}},
		{name: "omitted-point", files: map[string]func(string) string{master: respelt("conc-end: 16", "conc-end: 8")}, want: gate.Fail,
			reason: "roster: baseline points that the family lost: 256/64 c16 ", entries: []recipe.ChangelogEntry{own}},
		{name: "changed-settings", files: map[string]func(string) string{master: respelt("osl: 64", "osl: 32")}, want: gate.Fail,
			reason: "roster: baseline points that the family lost: 256/64 c1 ", entries: []recipe.ChangelogEntry{own}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w, candidate, _ := entered(t, c.files, c.entries...)
			v, err := w.shepherd("bot-token").CheckFinal(t.Context(), candidate)
			w.must(err)
			if v.Answer != c.want || v.Gate != "check-final" || !strings.Contains(v.Reason, c.reason) {
				t.Errorf("got %+v, want %s with %q", v, c.want, c.reason)
			}
		})
	}
}

// generated is the matrix of a head as the published tools hand it on.
func (w *world) generated(head string, keys ...string) string {
	w.t.Helper()
	fsys, err := w.tree(w.t.Context(), head)
	w.must(err)
	cat, err := recipe.Load(fsys, w.ws.Paths.Masters, w.ws.Paths.Runners)
	w.must(err)
	rule, err := matrix.ParseEvalRule(w.ws.Config.Evals.Lengths, w.ws.Config.Evals.Floor)
	w.must(err)
	plan, err := matrix.BuildPlan(cat, []recipe.ChangelogEntry{{ConfigKeys: keys, Description: []string{"x"}, PRLink: "XXX"}}, rule)
	w.must(err)
	plan.Base, plan.Head = strings.Repeat("a", 40), head
	src, err := json.Marshal(plan)
	w.must(err)
	return string(src)
}

// respelledMatrix changes the rows of a matrix: those of points and those of evals.
func (w *world) respelledMatrix(src string, change func(points, evals []any) (p, e []any)) string {
	w.t.Helper()
	var m map[string]any
	w.must(json.Unmarshal([]byte(src), &m))
	single := m["single_node"].(map[string]any)
	for name, list := range single { // of one family there is one list
		evals, _ := m["evals"].([]any)
		single[name], m["evals"] = change(list.([]any), evals)
	}
	out, err := json.Marshal(m)
	w.must(err)
	return string(out)
}

// TestCheckMatrix: a matrix that somebody else generated is held to what this
// program generates for the same head.
func TestCheckMatrix(t *testing.T) {
	w, c, head := entered(t, map[string]func(string) string{master: neighbour}, recipe.ChangelogEntry{ConfigKeys: []string{"toy-fp8-box-loom"}})
	whole, main := w.generated(head, "toy-fp8-box-loom"), w.mainTip()
	set := func(of, name string, value any) string {
		return w.respelledMatrix(whole, func(points, evals []any) (p, e []any) {
			list := map[string][]any{"point": points, "eval": evals}[of]
			list[0].(map[string]any)[name] = value
			return points, evals
		})
	}
	for _, x := range []struct {
		name, matrix string
		want         gate.Answer
		reason       string
	}{
		{"as-generated", whole, gate.Pass, "final-matrix: 5 points and "},
		{"with-a-priority", set("point", "priority", "3.000"), gate.Pass, "final-matrix: 5 points and "},
		{"generated-for-another-head", w.generated(main, "toy-fp8-box-loom"), gate.Fail, `matrix: it was generated for head "` + main + `", the pull request is at ` + head[:12]},
		{"generated-for-a-name", strings.Replace(whole, head, "HEAD", 1), gate.Fail, `it was generated for head "HEAD"`},
		{"changed-settings-with-a-copied-fingerprint", set("point", "osl", 32), gate.Fail, "final-matrix: point missing: 256/64 c1 "},
		{"changed-length-with-a-copied-fingerprint", set("point", "max-model-len", 1), gate.Fail, "final-matrix: point missing: 256/64 c1 "},
		{"changed-image-with-a-copied-fingerprint", set("point", "image", oldImage), gate.Fail, "final-matrix: point with other settings: 256/64 c1 "},
		{"changed-fingerprint", set("point", "recipe-fingerprint", strings.Repeat("f", 64)), gate.Fail, "final-matrix: point with another fingerprint: 256/64 c1 "},
		{"eval-of-other-settings", set("eval", "tp", 8), gate.Fail, "final-matrix: eval missing: 256/64 "},
		{"eval-of-another-image", set("eval", "image", oldImage), gate.Fail, "final-matrix: point with other settings: 256/64 "},
		{"omitted-point", w.respelledMatrix(whole, func(p, e []any) ([]any, []any) { return p[1:], e }), gate.Fail, "final-matrix: point missing: 256/64 c1 "},
		{"omitted-eval", w.respelledMatrix(whole, func(p, e []any) ([]any, []any) { return p, e[1:] }), gate.Fail, "final-matrix: eval missing: 256/64 "},
		{"duplicate-point", w.respelledMatrix(whole, func(p, e []any) ([]any, []any) { return append(p, p[0]), e }), gate.Fail, "final-matrix: point duplicate: 256/64 c1 "},
		{"two-families", w.generated(head, "toy-fp8-box-loom", "toy-fp8-box-other"), gate.Fail, "matrix: its changelog selects [toy-fp8-box-loom toy-fp8-box-other], want exactly toy-fp8-box-loom"},
		{"another-family", w.generated(head, "toy-fp8-box-other"), gate.Fail, "matrix: its changelog selects [toy-fp8-box-other]"},
		{"not-a-matrix", `{"rows":[]}`, gate.Fail, `matrix: plan: rows: unknown part "rows"`},
	} {
		v, err := w.shepherd("bot-token").CheckMatrix(t.Context(), c, []byte(x.matrix))
		w.must(err)
		if v.Answer != x.want || v.Gate != "check-final" || !strings.Contains(v.Reason, x.reason) {
			t.Errorf("%s: got %+v, want %s with %q", x.name, v, x.want, x.reason)
		}
	}
}

func (w *world) mainTip() string {
	w.t.Helper()
	tip, _, err := w.client("bot-token").Ref(w.t.Context(), "heads/main")
	w.must(err)
	return tip
}

// TestARefusedFinalMatrixGetsNoLabel changes the entry after it was made and
// before the label: nothing is measured.
func TestARefusedFinalMatrixGetsNoLabel(t *testing.T) {
	w := newWorld(t)
	p := w.process(gone(1))
	choose, pushed, spoiled := p.faults.Choose, false, false
	p.faults.Choose = func(n int, r *http.Request) local.Fault {
		if pushed && !spoiled {
			spoiled = true
			c, _, err := w.shepherd("bot-token").Claimed(r.Context(), family)
			w.must(err)
			log, err := recipe.AppendEntry(w.file("main", "perf-changelog.yaml"), recipe.ChangelogEntry{ConfigKeys: []string{"toy-fp8-box-loom"},
				EvalsOnly: true, Description: []string{"Update the image."}, PRLink: "https://github.com/toy/recipes/pull/1"})
			w.must(err)
			bot := w.client("bot-token")
			head, _, err := bot.Ref(r.Context(), "heads/"+c.Branch("refit"))
			w.must(err)
			message, err := bot.Message(r.Context(), head)
			w.must(err)
			w.commitOn(c.Branch("refit"), message, map[string][]byte{"perf-changelog.yaml": log})
		}
		pushed = pushed || r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/git/refs/heads/")
		return choose(n, r)
	}
	_, st, errs := p.upgrade()
	if !spoiled || st.Outcome != Failed || len(errs) > 0 || !strings.HasPrefix(st.Reason, "check-final: final-matrix: point missing: 256/64 c1 ") {
		t.Errorf("spoiled %v: got %s (%s), errors %v; want failed by check-final", spoiled, st.Outcome, st.Reason, errs)
	}
	if len(w.runs) != 1 {
		t.Errorf("%d runs, want the smoke alone", len(w.runs))
	}
	if slices.Contains(p.writes, "POST /issues/N/labels") {
		t.Errorf("a label was put on: %v", p.writes)
	}
}
