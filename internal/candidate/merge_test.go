package candidate

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/recipe"
)

const script = "benchmarks/single_node/fixed_seq_len/toy_fp8_box_loom.sh"

func TestMainMovesUnderTheEntryAndMeasurementsStand(t *testing.T) {
	w := newWorld(t)
	c, first := w.upgrade(w.shepherd("bot-token"))
	bot := w.client("bot-token")
	w.ledger.lose("finish")
	main := w.growMain(map[string]func(string) string{
		"configs/toy-master.yaml": func(s string) string { return "# Somebody else's remark.\n" + s },
		"NOTES.md":                func(string) string { return "new\n" },
	})

	_, second := w.upgrade(w.shepherd("bot-token"))
	if second.Outcome != Validated || second.Head == first.Head {
		t.Fatalf("got %s at %.12s, want validated at a new head", second.Outcome, second.Head)
	}
	message, err := bot.Message(t.Context(), second.Head)
	w.must(err)
	if !strings.HasPrefix(message, "[skip-sweep] ") {
		t.Errorf("the new head's message %q must start with [skip-sweep]", message)
	}
	log, err := bot.File(t.Context(), second.Head, "perf-changelog.yaml")
	w.must(err)
	if n := strings.Count(string(log), "config-keys:"); n != 3 {
		t.Errorf("changelog has %d entries, want main's two and ours", n)
	}
	p, err := bot.Pull(t.Context(), second.Pull)
	w.must(err)
	if !slices.Equal(p.Labels, []string{"full-sweep-fail-fast"}) {
		t.Errorf("labels: %v, want the sweep label back", p.Labels)
	}
	w.oneOfEverything(c)
	w.mergesClean(first.Head, main, second.Head)
}

// growMain lands somebody else's changelog entry on main, and other edits.
func (w *world) growMain(edits map[string]func(string) string) string {
	w.t.Helper()
	bot := w.client("bot-token")
	main, _, err := bot.Ref(w.t.Context(), "heads/main")
	w.must(err)
	log, err := bot.File(w.t.Context(), main, "perf-changelog.yaml")
	w.must(err)
	grown, err := recipe.AppendEntry(log, recipe.ChangelogEntry{
		ConfigKeys: []string{"toy-fp8-box-loom"}, Description: []string{"Another change"}, PRLink: "https://github.com/toy/recipes/pull/77",
	})
	w.must(err)
	files := map[string][]byte{"perf-changelog.yaml": grown}
	for path, edit := range edits {
		src, _ := w.bare.File(w.t.Context(), main, path) // a new file has none
		files[path] = []byte(edit(string(src)))
	}
	head, err := bot.Commit(w.t.Context(), main, "Another change", files)
	w.must(err)
	w.must(bot.MoveRef(w.t.Context(), "heads/main", main, head))
	w.forge.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.runs = slices.DeleteFunc(w.runs, func(r local.RunRequest) bool { return r.Event == "push" })
	return head
}

// mergesClean lets git say that a redone head joins the old one and main, that
// it merges without conflict, and that what comes of it is main and our change.
func (w *world) mergesClean(old, main, head string) {
	w.t.Helper()
	git := func(args ...string) string {
		w.t.Helper()
		out, err := w.bare.Git(w.t.Context(), args...)
		w.must(err)
		return strings.TrimSpace(string(out))
	}
	if got, want := git("rev-list", "--parents", "-1", head), fmt.Sprintf("%s %s %s", head, old, main); got != want {
		w.t.Errorf("parents: got %q, want the old head and main", got)
	}
	if got, want := git("merge-tree", "--write-tree", main, head), git("rev-parse", head+"^{tree}"); got != want {
		w.t.Errorf("merged into main: got tree %s, want the head's own %s", got, want)
	}
	if got, want := git("diff", "--name-only", main+"..."+head), script+"\nconfigs/toy-master.yaml\nperf-changelog.yaml"; got != want {
		w.t.Errorf("the pull request changes %q, want %q", got, want)
	}
	if got := git("diff", "--numstat", main+"..."+head, "--", script, "configs"); got != "1\t1\t"+script+"\n1\t1\tconfigs/toy-master.yaml" {
		w.t.Errorf("changed lines:\n%s\nwant one in each", got)
	}
}

// TestMainGrowsBeforeTheEntry: the first entry is a merge already when main's
// changelog is not the one that the branch began with.
func TestMainGrowsBeforeTheEntry(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	before, err := s.Advance(t.Context(), c)
	w.must(err)
	main := w.growMain(nil)
	w.forge.Wait()
	_, st := w.upgrade(s)
	if st.Outcome != Validated {
		t.Fatalf("got %s (%s), want validated", st.Outcome, st.Reason)
	}
	w.oneOfEverything(c)
	w.mergesClean(before.Head, main, st.Head)
}

// TestMainChangesWhatWasMeasured: where main changed the recipe, the edit is
// carried over and everything is measured again.
func TestMainChangesWhatWasMeasured(t *testing.T) {
	w := newWorld(t)
	_, first := w.upgrade(w.shepherd("bot-token"))
	w.ledger.lose("finish")
	main := w.growMain(map[string]func(string) string{script: func(s string) string {
		return strings.Replace(s, "\n", "\n# Somebody else's remark.\n", 1)
	}})
	_, second := w.upgrade(w.shepherd("bot-token"))
	if second.Outcome != Validated || len(w.runs) != 4 {
		t.Fatalf("got %s (%s) after %d runs, want validated after a smoke and a sweep of both recipes", second.Outcome, second.Reason, len(w.runs))
	}
	for i, r := range w.runs {
		if want := map[bool]string{false: first.Head, true: second.Head}[i > 1]; i > 0 && r.HeadSHA != want {
			t.Errorf("run %d measured %.12s, want %.12s", i, r.HeadSHA, want)
		}
	}
	w.mergesClean(first.Head, main, second.Head)
}

func TestMainTakesTheGroundAway(t *testing.T) {
	for name, c := range map[string]struct {
		file   string
		edit   func(string) string
		want   Outcome
		reason string
	}{
		"same-line": {script, func(s string) string { return strings.Replace(s, "--graph-max-batch 16", "--graph-max-batch 32", 1) },
			Uncertain, script + " changed on the main branch ("},
		"line-twice": {script, func(s string) string { return s + s }, Uncertain, "stood there 1 times and now stand 2 times"},
		"image-moved": {"configs/toy-master.yaml", func(s string) string { return strings.Replace(s, oldImage, newImage, 1) },
			AlreadyUpdated, "moved the family to " + newImage},
	} {
		w := newWorld(t)
		cand, _ := w.upgrade(w.shepherd("bot-token"))
		w.ledger.lose("finish")
		w.growMain(map[string]func(string) string{c.file: c.edit})
		s := w.shepherd("bot-token")
		var st Status
		for range 10 {
			var err error
			st, err = s.Advance(t.Context(), cand)
			w.must(err)
			w.forge.Wait()
			if st.State == Done {
				break
			}
		}
		if st.Outcome != c.want || !strings.Contains(st.Reason, c.reason) || len(w.runs) != 2 {
			t.Errorf("%s: got %s (%s) after %d runs, want %s with %q and nothing measured again", name, st.Outcome, st.Reason, len(w.runs), c.want, c.reason)
		}
	}
}

// TestAFurtherRoundAfterTheEntryWasRedone: the head that keeps sweeps from
// starting must not keep the round from starting that the policy asks for.
func TestAFurtherRoundAfterTheEntryWasRedone(t *testing.T) {
	w := newWorld(t)
	w.slow = 0.97 // inconclusive
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	for len(w.runs) < 2 {
		_, err := s.Advance(t.Context(), c)
		w.must(err)
		w.forge.Wait()
	}
	w.growMain(nil)
	_, st := w.upgrade(s)
	if st.Outcome != Validated || len(w.runs) != 4 || !slices.Contains(st.Marks, "throughput inconclusive") {
		t.Errorf("got %s (%s) with marks %v after %d runs; want validated, inconclusive, after the sweep and two rounds", st.Outcome, st.Reason, st.Marks, len(w.runs))
	}
}
