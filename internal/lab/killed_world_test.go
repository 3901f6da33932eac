package lab

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/candidate"
	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/server"
	"github.com/refit-bench/refit/internal/store"
	"github.com/refit-bench/refit/internal/workspace"
)

// A world is all that a lab has left: what its forge says over HTTP, and what
// its store holds.
type world struct {
	Refs     map[string]string
	Runs     []forge.Run
	Listed   []candidate.Summary
	Measured []store.Measured
	Families []estate
}

// An estate is what there is of one family's upgrade.
type estate struct {
	Candidate candidate.Summary
	Pulls     []forge.Pull
	Comments  []forge.Comment
	Receipts  []candidate.Receipt
	Rows      []result.Row // of published runs
	Evals     []result.EvalRow
}

// observer looks at the world of a lab that is being served.
type observer struct {
	t     *testing.T
	parts *server.Parts
	forge *forge.Client
}

func (s *stage) observer(t *testing.T) observer {
	t.Helper()
	o := observer{t: t}
	w, err := workspace.Open(s.lab().Workspace())
	o.must(err)
	o.parts, err = server.Attach(t.Context(), w, s.refit, io.Discard, time.Now)
	o.must(err)
	t.Cleanup(func() { o.parts.Close() })
	if o.parts.Own {
		t.Fatal("nobody serves the lab")
	}
	o.forge, err = o.parts.Forge()
	o.must(err)
	return o
}

func (o observer) must(err error) {
	o.t.Helper()
	if err != nil {
		o.t.Fatal(err)
	}
}

func (o observer) prefix() string { return o.parts.Workspace.Config.Policy.Prefix }

func (o observer) world() world {
	o.t.Helper()
	ctx := o.t.Context()
	var w world
	var err error
	w.Refs, err = o.forge.Refs(ctx, "")
	o.must(err)
	w.Runs, err = o.forge.Runs(ctx, forge.RunFilter{})
	o.must(err)
	w.Listed, err = o.parts.Store.Candidates(ctx)
	o.must(err)
	w.Measured, err = o.parts.Store.Measured(ctx)
	o.must(err)
	for _, c := range simulated.story {
		w.Families = append(w.Families, o.estate(c, w.Listed))
	}
	return w
}

func (o observer) estate(c chapter, listed []candidate.Summary) estate {
	o.t.Helper()
	ctx := o.t.Context()
	at := slices.IndexFunc(listed, func(s candidate.Summary) bool { return s.Family == c.Family })
	if at < 0 || len(listed) != len(simulated.story) {
		o.t.Fatalf("candidates %+v, want one of every family", listed)
	}
	e := estate{Candidate: listed[at]}
	var err error
	e.Pulls, err = o.forge.PullsByHead(ctx, e.Candidate.Branch(o.prefix()))
	o.must(err)
	if len(e.Pulls) != 1 {
		o.t.Fatalf("%s: %d pull requests, want one", c.Family, len(e.Pulls))
	}
	e.Comments, err = o.forge.Comments(ctx, e.Pulls[0].Number)
	o.must(err)
	e.Receipts, err = o.parts.Store.Receipts(ctx, e.Candidate.ID)
	o.must(err)
	published := true
	q := store.Query{Family: c.Family, Published: &published}
	e.Rows, err = o.parts.Store.Points(ctx, q)
	o.must(err)
	e.Evals, err = o.parts.Store.Evals(ctx, q)
	o.must(err)
	return e
}

// oneOfEverything checks that the world is the one of a lab that nobody killed.
func (o observer) oneOfEverything(w world) {
	want := []string{"heads/main"}
	for i, c := range simulated.story {
		e := w.Families[i]
		want = append(want, "heads/"+e.Candidate.Branch(o.prefix()), candidate.ClaimRef(o.prefix(), c.Family))
		o.t.Run(e.Candidate.Key(), func(t *testing.T) {
			o := observer{t, o.parts, o.forge}
			o.oneEnd(c, e)
			o.oneRecordEach(c, e)
			o.oneReceiptEach(c, e)
			o.oneEntryEach(c, e)
			o.oneRunEach(c, e, w)
			o.storedOnce(c, e, w.Measured)
		})
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(w.Refs))); diff != "" {
		o.t.Errorf("references: one claim and one branch of every family, no lease (-want +got):\n%s", diff)
	}
	for _, r := range w.Runs {
		if r.Status != "completed" || r.Attempt != 1 || r.Conclusion != "success" && r.Conclusion != "skipped" {
			o.t.Errorf("run %d (%s) is %s, %s, attempt %d", r.ID, r.Title, r.Status, r.Conclusion, r.Attempt)
		}
	}
	if p, err := o.forge.Pull(o.t.Context(), len(simulated.story)+1); err == nil {
		o.t.Errorf("there is a further pull request: %+v", p)
	}
}

// oneEnd checks the candidate and its pull request.
func (o observer) oneEnd(c chapter, e estate) {
	o.t.Helper()
	p := e.Pulls[0]
	if e.Candidate.Outcome != c.Want || e.Candidate.State != candidate.Done || e.Candidate.Pull != p.Number {
		o.t.Errorf("candidate %+v of #%d, want it done as %s", e.Candidate, p.Number, c.Want)
	}
	got := fmt.Sprintf("%s, draft %v, labels %v", p.State, p.Draft, p.Labels)
	want := "closed, draft true, labels []"
	if c.Want == candidate.Validated {
		want = fmt.Sprintf("open, draft false, labels [%s]", o.parts.Workspace.Config.Policy.SweepLabel)
	}
	if got != want {
		o.t.Errorf("#%d is %s; want %s", p.Number, got, want)
	}
}

// oneRecordEach checks that every comment is a record, and no two the same one.
func (o observer) oneRecordEach(c chapter, e estate) {
	o.t.Helper()
	count := map[string]int{}
	for _, cm := range e.Comments {
		rec, ok, err := report.ParseRecord(o.prefix(), cm.Body)
		if err != nil || !ok || rec.ID != e.Candidate.ID {
			o.t.Errorf("comment %d is no record of the candidate: %v\n%.200s", cm.ID, err, cm.Body)
		}
		count[rec.Kind+"/"+rec.Name]++
	}
	cleanups := 0
	if c.Want != candidate.Validated {
		cleanups = 1
	}
	if count["outcome/"] != 1 || count["report/baseline"] != 1 || count["cleanup/"] != cleanups {
		o.t.Errorf("records %v, want one outcome, one baseline, %d cleanups", count, cleanups)
	}
	for name, n := range count {
		if n != 1 {
			o.t.Errorf("record %s is there %d times", name, n)
		}
	}
}

// oneReceiptEach checks the ledger from the first write on: what only looks may
// have been looked at twice.
func (o observer) oneReceiptEach(c chapter, e estate) {
	o.t.Helper()
	steps := []string{"propose", "baseline", "smoke", "enter", "sweep"}
	if c.Want == candidate.Validated {
		steps = append(steps, "certify", "finish")
	} else {
		steps = append(steps, "verdict", "cleanup", "outcome")
	}
	for _, step := range steps {
		if n := len(receiptsOf(e, step)); n != 1 {
			o.t.Errorf("%d receipts of %s, want one", n, step)
		}
	}
}

func receiptsOf(e estate, step string) []candidate.Receipt {
	return slices.DeleteFunc(slices.Clone(e.Receipts), func(r candidate.Receipt) bool { return r.Step != step })
}

// certified is what the candidate was judged by.
func (o observer) certified(e estate) candidate.Certified {
	o.t.Helper()
	all := append(receiptsOf(e, "certify"), receiptsOf(e, "verdict")...)
	if len(all) != 1 {
		o.t.Fatalf("%d certificates, want one", len(all))
	}
	var c candidate.Certified
	o.must(json.Unmarshal(all[0].Evidence, &c))
	return c
}

// oneEntryEach checks the changelog: an entry on main for every published run,
// and one on the branch, which is two commits long: the edits and the entry.
func (o observer) oneEntryEach(c chapter, e estate) {
	o.t.Helper()
	ctx, path := o.t.Context(), o.parts.Workspace.Paths.Changelog
	file := func(ref string) []byte {
		data, err := o.forge.File(ctx, ref, path)
		o.must(err)
		return data
	}
	log, err := recipe.ParseChangelog(file("main"), path)
	o.must(err)
	entries := 0
	for _, entry := range log {
		if slices.Equal(entry.ConfigKeys, []string{e.Candidate.Key()}) && strings.HasPrefix(entry.Description[0], "Publish run ") {
			entries++
		}
	}
	if runs := len(runsOf(e.Rows)); entries != runs {
		o.t.Errorf("%d changelog entries for %d published runs", entries, runs)
	}
	added, err := recipe.Delta(file(e.Candidate.Base), file(e.Pulls[0].HeadSHA), path)
	o.must(err)
	if len(added) != 1 || !slices.Equal(added[0].ConfigKeys, []string{e.Candidate.Key()}) {
		o.t.Errorf("the branch adds the entries %+v, want one of %s", added, e.Candidate.Key())
	}
	commits, err := o.parts.Bare().Git(ctx, "rev-list", "--count", e.Candidate.Base+".."+e.Pulls[0].HeadSHA)
	o.must(err)
	if got := strings.TrimSpace(string(commits)); got != "2" {
		o.t.Errorf("the branch is %s commits long, want 2", got)
	}
}

// oneRunEach checks the family's runs in the forge: one targeted run, one sweep
// (and one for every further round that was asked for), one for every entry.
func (o observer) oneRunEach(c chapter, e estate, w world) {
	o.t.Helper()
	cert := o.certified(e)
	title := "e2e Test - " + e.Candidate.TestName(o.prefix())
	var smokes, sweeps []int64
	for _, r := range w.Runs {
		switch {
		case r.Conclusion != "success":
		case r.Event == "workflow_dispatch" && r.Title == title:
			smokes = append(smokes, r.ID)
		case r.Event == "pull_request" && r.Branch == e.Candidate.Branch(o.prefix()):
			sweeps = append(sweeps, r.ID)
		}
	}
	if asked := intents(e); len(smokes) != asked || asked == 0 {
		o.t.Errorf("targeted runs %v, %d were asked for", smokes, asked)
	}
	if len(sweeps) != 1+len(receiptsOf(e, "round")) || !slices.Contains(sweeps, cert.RunID) || cert.Rounds != len(sweeps)-1 {
		o.t.Errorf("sweeps %v, certified by run %d after %d rounds", sweeps, cert.RunID, cert.Rounds)
	}
	for _, run := range runsOf(e.Rows) {
		if !slices.ContainsFunc(w.Runs, func(r forge.Run) bool { return r.ID == run && r.Event == "push" && r.Conclusion == "success" }) {
			o.t.Errorf("published run %d is no successful push run of the forge", run)
		}
	}
	for _, run := range slices.Concat(smokes, sweeps, runsOf(e.Rows)) {
		n := 0
		for _, m := range w.Measured {
			if m.RunID == run && m.Family == c.Family {
				n++
			}
		}
		if n != 1 {
			o.t.Errorf("run %d is in the store %d times", run, n)
		}
	}
}

// intents counts the targeted runs that were asked for, by head and by how many
// there were before: the id of the run is told in a second receipt, and a
// process that was killed before it did what it had decided asks again.
func intents(e estate) int {
	type intent struct {
		head string
		runs int
	}
	different := map[intent]bool{}
	for _, r := range receiptsOf(e, "dispatch") {
		var d candidate.Dispatched
		if json.Unmarshal(r.Evidence, &d) == nil {
			different[intent{d.Head, d.Runs}] = true
		}
	}
	return len(different)
}

// storedOnce checks the published history: three whole runs, each with every
// point once.
func (o observer) storedOnce(c chapter, e estate, measured []store.Measured) {
	o.t.Helper()
	_, whole, err := published(o.t.Context(), o.parts, c.Family)
	o.must(err)
	if whole != simulated.oldRuns {
		o.t.Errorf("%d whole runs are published, want %d", whole, simulated.oldRuns)
	}
	points, evals := map[string]int{}, map[string]int{}
	for _, r := range e.Rows {
		points[fmt.Sprintf("%d %s", r.Provenance.RunID, r.Key)]++
	}
	for _, r := range e.Evals {
		evals[fmt.Sprintf("%d %s", r.Provenance.RunID, r.Key)]++
	}
	runs := len(runsOf(e.Rows))
	if len(points) != runs*5 || len(e.Rows) != len(points) || len(evals) != runs*2 || len(e.Evals) != len(evals) {
		o.t.Errorf("%d runs have %d points (%d different), %d evals (%d different); want 5 and 2 of each run",
			runs, len(e.Rows), len(points), len(e.Evals), len(evals))
	}
	for _, m := range measured {
		if m.Family == c.Family && m.Published != slices.Contains(runsOf(e.Rows), m.RunID) {
			o.t.Errorf("run %d: published %v", m.RunID, m.Published)
		}
	}
}

// runsOf are the runs that rows come from, oldest first.
func runsOf(rows []result.Row) []int64 {
	var runs []int64
	for _, r := range rows {
		if !slices.Contains(runs, r.Provenance.RunID) {
			runs = append(runs, r.Provenance.RunID)
		}
	}
	return runs
}

// restarts checks the forge's own log when nobody serves it: every run was
// asked for once and ended once, and those that a kill interrupted are marked.
func (s *stage) restarts(lost []string) {
	t := s.t
	t.Helper()
	state := func(name string) string { return filepath.Join(s.lab().Workspace(), ".refit", name) }
	f := &local.Server{Repository: "lab/recipes", Git: workspace.Repo{Dir: state("forge.git")}, DB: state("forge.db"), ArtifactDir: state("artifacts")}
	if err := f.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := f.Events(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]map[string]int{"run.queued": {}, "run.completed": {}, "run.restarted": {}}
	for _, e := range events {
		if of := count[e.Kind]; of != nil {
			id, _, _ := strings.Cut(e.Subject, " ")
			of[id]++
		}
	}
	for id, n := range count["run.queued"] {
		if n != 1 || count["run.completed"][id] != 1 {
			t.Errorf("run %s was queued %d times and ended %d times", id, n, count["run.completed"][id])
		}
	}
	for _, id := range lost {
		if count["run.restarted"][id] == 0 {
			t.Errorf("run %s went on when its process was killed, and is not marked", id)
		}
	}
	t.Logf("runs that were started again: %v", count["run.restarted"])
}
