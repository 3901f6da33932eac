package candidate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
)

const workflowText = "on:\n  pull_request:\n    types: [labeled, synchronize] # draft == false is not asked\n"

// sweeping are the facts of a pull request whose sweep could start.
func sweeping() sweepFacts {
	return sweepFacts{
		pull: forge.Pull{Number: 7, State: "open", HeadRef: "work", HeadSHA: "aaaa", HeadRepo: "toy/recipes", BaseRef: "main",
			Author: "ann", Labels: []string{"docs", "full-sweep-fail-fast", "all-evals"}},
		repository: "toy/recipes", branch: "main", login: "ann", label: "full-sweep-fail-fast", drafts: "auto",
		clean: true, merges: true, message: "Change", changelog: "perf-changelog.yaml", touched: true,
		workflow: ".github/workflows/run-sweep.yml", source: []byte(workflowText),
	}
}

// event is the reason when nothing else is.
const event = "event: nothing stands in the way"

// ran gives a pull request its sweeps.
func ran(rs ...forge.Run) func(*sweepFacts) { return func(f *sweepFacts) { f.runs = rs } }

// whyCases are the rows of whyRows, and what must not be taken for one.
var whyCases = map[string]struct {
	change func(*sweepFacts)
	want   []string // "name: what it says", each with something to do
}{
	"nothing-in-the-way": {func(f *sweepFacts) {}, []string{event}},
	"draft":              {func(f *sweepFacts) { f.pull.Draft = true }, []string{event}},
	"draft-never":        {func(f *sweepFacts) { f.pull.Draft, f.drafts = true, "never" }, []string{"draft: it is a draft, and policy.sweeps-on-draft is never"}},
	"draft-workflow":     {func(f *sweepFacts) { f.pull.Draft = true; f.add("if: ${{ !github.event.pull_request.draft }}") }, []string{"draft: it is a draft, and .github/workflows/run-sweep.yml leaves drafts out"}},
	"draft-is-false":     {func(f *sweepFacts) { f.pull.Draft = true; f.add("if: github.event.pull_request.draft == false") }, []string{"draft: "}},
	"draft-is-not-true":  {func(f *sweepFacts) { f.pull.Draft = true; f.add("if: github.event.pull_request.draft != 'true'") }, []string{"draft: "}},
	"draft-always": {func(f *sweepFacts) {
		f.pull.Draft, f.drafts = true, "always"
		f.add("if: github.event.pull_request.draft == false")
	}, []string{event}},
	"draft-only-for-some": {func(f *sweepFacts) { f.pull.Draft = true; f.add("if: github.event.pull_request.draft == true") }, []string{event}},
	"draft-embedded": {func(f *sweepFacts) {
		f.pull.Draft, f.embedded = true, true
		f.add("if: github.event.pull_request.draft == false")
	}, []string{event}},
	"no-label":            {func(f *sweepFacts) { f.pull.Labels = []string{"docs"} }, []string{"label: it has no sweep label"}},
	"own-label":           {func(f *sweepFacts) { f.label, f.pull.Labels = "measure", []string{"measure"} }, []string{event}},
	"two-labels":          {func(f *sweepFacts) { f.pull.Labels = append(f.pull.Labels, "sweep-enabled") }, []string{"label: it has more than one sweep label (full-sweep-fail-fast, sweep-enabled)"}},
	"modifier-alone":      {func(f *sweepFacts) { f.pull.Labels = []string{"evals-only"} }, []string{"label: it has no sweep label, and evals-only starts none by itself"}},
	"skip":                {func(f *sweepFacts) { f.message = "Change\n\n[skip-sweep] for now" }, []string{"skip: the message of its head commit says [skip-sweep]"}},
	"conflict":            {func(f *sweepFacts) { f.clean = false }, []string{"conflict: it conflicts with main"}},
	"conflict-not-known":  {func(f *sweepFacts) { f.clean, f.merges = false, false }, []string{"conflict: the forge does not know yet"}},
	"fork":                {func(f *sweepFacts) { f.pull.HeadRepo, f.touched = "ann/recipes", false }, []string{"fork: its head is in ann/recipes"}},
	"fork-gone":           {func(f *sweepFacts) { f.pull.HeadRepo = "" }, []string{"fork: the repository of its head is gone"}},
	"changelog-untouched": {func(f *sweepFacts) { f.touched = false }, []string{"changelog: it does not change perf-changelog.yaml"}},
	"changelog-invalid":   {func(f *sweepFacts) { f.invalid = errors.New("line 3: no key") }, []string{"changelog: the change of perf-changelog.yaml is not valid (line 3: no key)"}},
	"changelog-not-seen":  {func(f *sweepFacts) { f.unlisted = errors.New("too many") }, []string{"changelog: its files could not all be listed (too many)"}},
	"no-workflow":         {func(f *sweepFacts) { f.source = nil }, []string{"workflow: .github/workflows/run-sweep.yml is not on main"}},
	"workflow-gate":       {func(f *sweepFacts) { f.source = []byte("on:\n  push:\n# pull_request labeled\n") }, []string{"workflow: .github/workflows/run-sweep.yml does not react to labels"}},
	"actions-token":       {func(f *sweepFacts) { f.login = forge.ActionsLogin }, []string{"credential: the credential used here is that of a workflow run (GITHUB_TOKEN)"}},
	"untold-login":        {func(f *sweepFacts) { f.login = "" }, []string{"credential: the credential used here"}},
	"opened-by-actions":   {func(f *sweepFacts) { f.pull.Author = forge.ActionsLogin }, []string{"credential: it was opened with the GITHUB_TOKEN"}},
	"closed":              {func(f *sweepFacts) { f.pull.State = "closed"; f.clean, f.merges = false, false }, []string{"closed: it is closed"}},
	"merged":              {func(f *sweepFacts) { f.pull.State, f.pull.Merged = "closed", true }, []string{"closed: it is merged"}},
	"other-base":          {func(f *sweepFacts) { f.pull.BaseRef = "next" }, []string{"base: it aims at next, and sweeps are for main"}},
	"running":             {ran(forge.Run{ID: 3, HeadSHA: "aaaa", Status: "in_progress"}), []string{"sweep: run 3 of this head is in_progress"}},
	"succeeded":           {ran(forge.Run{ID: 3, HeadSHA: "aaaa", Status: "completed", Conclusion: "success"}), []string{"sweep: run 3 of this head ended with success"}},
	"failed-twice": {ran(forge.Run{ID: 4, HeadSHA: "aaaa", Status: "completed", Conclusion: "cancelled"}, forge.Run{ID: 3, HeadSHA: "aaaa", Status: "completed", Conclusion: "failure"}),
		[]string{"sweep: run 4 of this head ended with cancelled"}},
	"skipped-is-none":   {ran(forge.Run{ID: 3, HeadSHA: "aaaa", Status: "completed", Conclusion: "skipped"}), []string{event}},
	"lain":              {func(f *sweepFacts) { f.lain = &forge.Run{ID: 3, Conclusion: "skipped"} }, []string{"idle: run 3 of this head ended with skipped and measured nothing"}},
	"lain-for-a-reason": {func(f *sweepFacts) { f.lain = &forge.Run{ID: 3}; f.message = "[skip-sweep]" }, []string{"skip: "}},
	"lain-and-another": {func(f *sweepFacts) {
		f.lain, f.runs = &forge.Run{ID: 3}, []forge.Run{{ID: 4, HeadSHA: "aaaa", Status: "queued"}}
	}, []string{"sweep: run 4 of this head is queued"}},
	"earlier-head": {ran(forge.Run{ID: 3, HeadSHA: "bbbb", Status: "completed", Conclusion: "success"}), []string{event}},
	"rests-on-earlier": {func(f *sweepFacts) {
		f.message, f.runs = "[skip-sweep] Merge", []forge.Run{{ID: 3, HeadSHA: "bbbb", Status: "completed", Conclusion: "success"}}
	}, []string{"sweep: run 3 measured the earlier head bbbb with success", "skip: "}},
	"several": {func(f *sweepFacts) { f.pull.Labels, f.touched, f.clean = nil, false, false }, []string{"label: ", "conflict: ", "changelog: "}},
}

func TestWhyNoSweepStarted(t *testing.T) {
	for name, c := range whyCases {
		f := sweeping()
		c.change(&f)
		got := f.reasons()
		ok := len(got) == len(c.want)
		for i := 0; ok && i < len(got); i++ {
			ok = strings.HasPrefix(got[i].Name+": "+got[i].What, c.want[i]) && got[i].Do != ""
		}
		if !ok {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

func (f *sweepFacts) add(line string) { f.source = append(f.source, "    "+line+"\n"...) }

// One pull request on a forge, from its opening to a head that is in the way of
// main: each time the reasons are those that hold then.
func TestWhyOnAForge(t *testing.T) {
	w := newWorld(t)
	s, bot := w.shepherd("bot-token"), w.client("bot-token")
	log := w.file("main", "perf-changelog.yaml")
	p := w.propose("work", map[string][]byte{"NOTES.md": []byte("one\n")})
	check := func(when string, want ...string) {
		t.Helper()
		got, err := s.Why(t.Context(), p)
		w.must(err)
		var names []string
		for _, r := range got.Reasons {
			names = append(names, r.Name)
		}
		if !slices.Equal(names, want) || got.Pull != p {
			t.Errorf("%s: got %q, want %v", when, got.Reasons, want)
		}
	}
	check("opened", "label", "changelog")
	w.must(bot.AddLabel(t.Context(), p, "full-sweep-fail-fast"))
	w.forge.Wait()
	bad := append(slices.Clone(log), "\n- config-keys: [toy-fp8-box-lom]\n  description: [\"x\"]\n  pr-link: XXX\n"...)
	w.commitOn("work", "Entry", map[string][]byte{"perf-changelog.yaml": bad})
	w.forge.Wait()
	got, err := s.Why(t.Context(), p)
	w.must(err)
	i := slices.IndexFunc(got.Reasons, func(r Reason) bool { return r.Name == "changelog" })
	if i < 0 || !strings.Contains(got.Reasons[i].What, "is not valid") {
		t.Errorf("invalid entry: got %q, want the changelog is not valid", got.Reasons)
	}
	w.commitOn("main", "Theirs", map[string][]byte{"perf-changelog.yaml": append(slices.Clone(log), "\n- config-keys: [toy-fp8-box-loom]\n"...)})
	w.must(bot.RemoveLabel(t.Context(), p, "full-sweep-fail-fast"))
	got, err = s.Why(t.Context(), p)
	w.must(err)
	if !slices.ContainsFunc(got.Reasons, func(r Reason) bool { return r.Name == "conflict" && strings.Contains(r.What, "conflicts with main") }) {
		t.Errorf("main moved: got %q, want a conflict", got.Reasons)
	}
	if _, err := s.Why(t.Context(), 99); err == nil || err.Error() != "toy/recipes has no pull request 99" {
		t.Errorf("unknown pull request: got %v", err)
	}
}

func TestWhyNamesTheSweepOfAValidatedCandidate(t *testing.T) {
	w := newWorld(t)
	_, st := w.upgrade(w.shepherd("bot-token"))
	got, err := w.shepherd("reader-token").Why(t.Context(), st.Pull)
	w.must(err)
	if len(got.Reasons) != 1 || got.Reasons[0].Name != "sweep" || !strings.HasSuffix(got.Reasons[0].What, "of this head ended with success") {
		t.Errorf("got %q, want the sweep and its success", got.Reasons)
	}
}

func (w *world) file(ref, path string) []byte {
	w.t.Helper()
	data, err := w.client("bot-token").File(w.t.Context(), ref, path)
	w.must(err)
	return data
}

// commitOn adds a commit to a branch and returns it.
func (w *world) commitOn(branch, message string, files map[string][]byte) string {
	w.t.Helper()
	bot := w.client("bot-token")
	at, _, err := bot.Ref(w.t.Context(), "heads/"+branch)
	w.must(err)
	head, err := bot.Commit(w.t.Context(), at, message, files)
	w.must(err)
	w.must(bot.MoveRef(w.t.Context(), "heads/"+branch, at, head))
	return head
}

// propose opens a pull request of a new branch with these files.
func (w *world) propose(branch string, files map[string][]byte) int {
	w.t.Helper()
	bot := w.client("bot-token")
	at, _, err := bot.Ref(w.t.Context(), "heads/main")
	w.must(err)
	head, err := bot.Commit(w.t.Context(), at, "Change", files)
	w.must(err)
	w.must(bot.CreateRef(w.t.Context(), "heads/"+branch, head))
	p, err := bot.OpenPull(w.t.Context(), "A change", "", branch, "main", false)
	w.must(err)
	return p.Number
}

// entryAgain is an entry for the end of the world's changelog.
const entryAgain = "\n- config-keys:\n    - toy-fp8-box-loom\n  description:\n    - \"Again\"\n  pr-link: XXX\n"

// What main corrected after a branch was cut is no change of the branch, also
// when its pull request was opened after that: entries are read against the
// commit at which the two parted.
func TestWhyReadsEntriesAgainstTheMergeBase(t *testing.T) {
	w := newWorld(t)
	s, bot := w.shepherd("bot-token"), w.client("bot-token")
	const link = "pr-link: https://github.com/toy/recipes/pull/1\n"
	corrected := string(w.file("main", "perf-changelog.yaml")) + strings.Replace(entryAgain, "XXX", "https://github.com/toy/recipes/pull/2", 1)
	placeholder := strings.Replace(corrected, link, "pr-link: XXX\n", 1)
	if placeholder == corrected {
		t.Fatal("the world's changelog has no link to correct")
	}
	cut := w.commitOn("main", "Two entries", map[string][]byte{"perf-changelog.yaml": []byte(placeholder)})
	head, err := bot.Commit(t.Context(), cut, "Ours", map[string][]byte{"perf-changelog.yaml": []byte(placeholder + entryAgain)})
	w.must(err)
	w.must(bot.CreateRef(t.Context(), "heads/work", head))
	w.commitOn("main", "Correct a link", map[string][]byte{"perf-changelog.yaml": []byte(corrected)})
	p, err := bot.OpenPull(t.Context(), "Ours", "", "work", "main", false)
	w.must(err)
	names := func() (all []string) {
		t.Helper()
		got, err := s.Why(t.Context(), p.Number)
		w.must(err)
		for _, r := range got.Reasons {
			all = append(all, r.Name)
		}
		return all
	}
	if got := names(); !slices.Equal(got, []string{"label"}) {
		t.Errorf("open: got reasons %v, want the missing label alone", got)
	}
	w.mergeByHand("1")
	if got := names(); !slices.Equal(got, []string{"closed", "label"}) {
		t.Errorf("merged: got reasons %v, want that it is closed and has no label", got)
	}
	w.forge.Wait()
}
