package candidate

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/report"
)

func TestUpgradeIsValidated(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	c, st := w.upgrade(s)
	if st.Outcome != Validated {
		t.Fatalf("outcome: got %q (%s), want validated", st.Outcome, st.Reason)
	}
	if want := "[doctor resolve inspect rehearse propose baseline dispatch dispatch smoke enter sweep certify finish]"; w.ledger.steps() != want {
		t.Errorf("receipts: got %s, want %s", w.ledger.steps(), want)
	}
	for dimension, want := range map[string]string{"throughput": "no-change", "tpot": "no-change", "accuracy": "no-change"} {
		if got := st.Verdicts[dimension]; got != want {
			t.Errorf("%s: got %q, want %q", dimension, got, want)
		}
	}
	bot := w.client("bot-token")
	p, err := bot.Pull(t.Context(), st.Pull)
	w.must(err)
	if p.Draft || p.State != "open" || !slices.Equal(p.Labels, []string{"full-sweep-fail-fast"}) {
		t.Errorf("pull request: draft %v, state %s, labels %v; want ready, open, the one sweep label", p.Draft, p.State, p.Labels)
	}
	if len(w.runs) != 2 || w.runs[0].Event != "workflow_dispatch" || w.runs[1].Event != "pull_request" {
		t.Errorf("runs: got %d, want one smoke and one sweep", len(w.runs))
	}
	comments, err := bot.Comments(t.Context(), st.Pull)
	w.must(err)
	var names []string
	for _, cm := range comments {
		rec, ok, err := report.ParseRecord("refit", cm.Body)
		w.must(err)
		if ok {
			names = append(names, rec.Kind+"/"+rec.Name)
		}
	}
	if len(names) != 4 || !strings.HasSuffix(names[0], "baseline") || !strings.HasPrefix(names[3], "outcome/") {
		t.Errorf("records: got %v, want baseline, smoke, final, outcome", names)
	}
	if _, held, _ := bot.Ref(t.Context(), c.LeaseRef("refit")); held {
		t.Error("the lease is still held after the last advance")
	}
}

func TestUpgradeEditsOnlyImageFlagAndChangelog(t *testing.T) {
	w := newWorld(t)
	_, st := w.upgrade(w.shepherd("bot-token"))
	bot := w.client("bot-token")
	changed, err := bot.ChangedFiles(t.Context(), st.Pull)
	w.must(err)
	slices.Sort(changed)
	script := "benchmarks/single_node/fixed_seq_len/toy_fp8_box_loom.sh"
	if want := []string{script, "configs/toy-master.yaml", "perf-changelog.yaml"}; !slices.Equal(changed, want) {
		t.Errorf("changed files: got %v, want %v", changed, want)
	}
	for path, edit := range map[string][2]string{
		script:                    {"--graph-max-batch 16", "--graph-max-batch-decode 16"},
		"configs/toy-master.yaml": {oldImage, newImage},
	} {
		before, err := bot.File(t.Context(), "main", path)
		w.must(err)
		after, err := bot.File(t.Context(), st.Head, path)
		w.must(err)
		if want := strings.Replace(string(before), edit[0], edit[1], 1); string(after) != want {
			t.Errorf("%s: more than %q -> %q changed:\n%s", path, edit[0], edit[1], after)
		}
	}
}

func TestASecondUpgradeFindsEverythingDone(t *testing.T) {
	w := newWorld(t)
	w.upgrade(w.shepherd("bot-token"))
	receipts := w.ledger.steps()
	s := w.shepherd("bot-token")
	_, st := w.upgrade(s)
	if !st.Sealed || st.Outcome != Validated {
		t.Errorf("second upgrade: sealed %v, outcome %s; want what stands", st.Sealed, st.Outcome)
	}
	if w.ledger.steps() != receipts || len(w.runs) != 2 {
		t.Errorf("second upgrade wrote: receipts %s, %d runs", w.ledger.steps(), len(w.runs))
	}
	if got := s.Forge.Calls(); got > 6 {
		t.Errorf("an upgrade with nothing to do made %d calls, at most 6 are allowed", got)
	}
}

func TestSlowerImageIsRegressed(t *testing.T) {
	w := newWorld(t)
	w.slow = 0.8
	c, st := w.upgrade(w.shepherd("bot-token"))
	if st.Outcome != Regressed || st.Verdicts["throughput"] != "worse" {
		t.Fatalf("got %s with throughput %s (%s), want regressed and worse", st.Outcome, st.Verdicts["throughput"], st.Reason)
	}
	bot := w.client("bot-token")
	p, err := bot.Pull(t.Context(), st.Pull)
	w.must(err)
	if p.State != "closed" || !p.Draft || len(p.Labels) != 0 {
		t.Errorf("pull request: state %s, draft %v, labels %v; want closed, draft, none", p.State, p.Draft, p.Labels)
	}
	if _, kept, _ := bot.Ref(t.Context(), "heads/"+c.Branch("refit")); !kept {
		t.Error("the branch of a regressed candidate is gone, it must be kept")
	}
	if _, st := w.upgrade(w.shepherd("bot-token")); !st.Sealed || st.Outcome != Regressed {
		t.Errorf("asked again: sealed %v, %s; want the regressed outcome that stands", st.Sealed, st.Outcome)
	}
}

func TestInconclusiveAsksForFurtherRoundsAndSaysSo(t *testing.T) {
	w := newWorld(t)
	w.slow = 0.97 // on the limit: no number of rounds settles it
	_, st := w.upgrade(w.shepherd("bot-token"))
	if st.Outcome != Validated || !slices.Contains(st.Marks, "throughput inconclusive") {
		t.Errorf("got %s with marks %v (%s), want validated, marked inconclusive", st.Outcome, st.Marks, st.Reason)
	}
	if len(w.runs) != 4 {
		t.Errorf("%d runs, want a smoke, the sweep and two further rounds", len(w.runs))
	}
	p, err := w.client("bot-token").Pull(t.Context(), st.Pull)
	w.must(err)
	if !slices.Equal(p.Labels, []string{"full-sweep-fail-fast"}) || p.Draft {
		t.Errorf("labels %v, draft %v; want the one sweep label on a ready pull request", p.Labels, p.Draft)
	}
}

func TestUnhealthySweepIsMeasuredAgain(t *testing.T) {
	for _, c := range []struct {
		sick, runs int
		want       Outcome
	}{
		{sick: 1, runs: 3, want: Validated}, // smoke, the sick sweep, a sound one
		{sick: 2, runs: 4, want: Validated},
		{sick: 3, runs: 4, want: Failed}, // the retries are used up
	} {
		w := newWorld(t)
		w.sick = c.sick
		_, st := w.upgrade(w.shepherd("bot-token"))
		if st.Outcome != c.want || len(w.runs) != c.runs {
			t.Errorf("%d sick sweeps: got %s after %d runs (%s), want %s after %d", c.sick, st.Outcome, len(w.runs), st.Reason, c.want, c.runs)
		}
	}
}

func TestUnhealthySmokeIsMeasuredAgain(t *testing.T) {
	for _, c := range []struct {
		faint, runs int
		want        Outcome
	}{
		{faint: 1, runs: 3, want: Validated}, // the faint smoke, a sound one, the sweep
		{faint: 2, runs: 4, want: Validated},
		{faint: 3, runs: 3, want: Uncertain}, // the retries are used up
	} {
		w := newWorld(t)
		w.faint = c.faint
		_, st := w.upgrade(w.shepherd("bot-token"))
		if st.Outcome != c.want || len(w.runs) != c.runs {
			t.Errorf("%d faint smokes: got %s after %d runs (%s), want %s after %d", c.faint, st.Outcome, len(w.runs), st.Reason, c.want, c.runs)
		}
	}
}

func TestLostAnswersAreWorse(t *testing.T) {
	w := newWorld(t)
	w.wrong = 12
	_, st := w.upgrade(w.shepherd("bot-token"))
	if st.Outcome != Regressed || st.Verdicts["accuracy"] != "worse" {
		t.Errorf("got %s with accuracy %s, want regressed and worse", st.Outcome, st.Verdicts["accuracy"])
	}
}

func TestFailedSmokeCleansUp(t *testing.T) {
	w := newWorld(t)
	w.breaks = func(local.RunRequest) error { return errors.New("engine died") }
	c, st := w.upgrade(w.shepherd("bot-token"))
	if st.Outcome != Uncertain {
		t.Fatalf("outcome: got %s, want uncertain", st.Outcome)
	}
	bot := w.client("bot-token")
	for what, ref := range map[string]string{"branch": "heads/" + c.Branch("refit"), "claim": ClaimRef("refit", family), "lease": c.LeaseRef("refit")} {
		if _, there, err := bot.Ref(t.Context(), ref); err != nil || there {
			t.Errorf("%s %s: there %v, error %v; want it gone", what, ref, there, err)
		}
	}
}

func TestDryRunWritesNothing(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	st, err := s.Rehearse(t.Context(), c)
	w.must(err)
	if st.State != Ready {
		t.Errorf("state: got %s, want ready", st.State)
	}
	bot := w.client("bot-token")
	if _, there, _ := bot.Ref(t.Context(), ClaimRef("refit", family)); there || len(w.ledger.receipts) != 0 || len(w.ledger.candidates) != 0 {
		t.Errorf("a dry run wrote: claim %v, receipts %s", there, w.ledger.steps())
	}
}

func TestWrongCredentialEndsInDoctor(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("reader-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	_, err = s.Advance(t.Context(), c)
	if err == nil || !strings.Contains(err.Error(), "belongs to reader, refit.yaml wants bot") || !strings.Contains(err.Error(), `permission "read"`) {
		t.Errorf("got %v, want the wrong login and its missing right", err)
	}
	if len(w.ledger.receipts) != 0 {
		t.Errorf("receipts: %s, want none", w.ledger.steps())
	}
}

func TestEveryLostReceiptIsMadeAgain(t *testing.T) {
	w := newWorld(t)
	c, st := w.upgrade(w.shepherd("bot-token"))
	want := w.standing(c, st)
	for i := len(Lifecycle) - 1; i >= 0; i-- { // from finish back to doctor
		lost := Lifecycle[i].Name
		w.ledger.lose(lost, "finish")
		c, st := w.upgrade(w.shepherd("bot-token"))
		if diff := cmp.Diff(want, w.standing(c, st)); diff != "" {
			t.Errorf("without the receipt of %s (%s) (-before +after):\n%s", lost, st.Reason, diff)
		}
	}
	w.ledger.lose(names(Lifecycle)...)
	c, st = w.upgrade(w.shepherd("bot-token"))
	if diff := cmp.Diff(want, w.standing(c, st)); diff != "" {
		t.Errorf("without any receipt (%s) (-before +after):\n%s", st.Reason, diff)
	}
}

func TestEveryLostReceiptOfAnEndIsMadeAgain(t *testing.T) {
	for _, lost := range [][]string{{"outcome"}, {"cleanup", "outcome"}, {"certify", "cleanup", "outcome"}} {
		w := newWorld(t)
		w.slow = 0.8
		c, st := w.upgrade(w.shepherd("bot-token"))
		want := w.standing(c, st)
		w.ledger.lose(lost...)
		c, st = w.upgrade(w.shepherd("bot-token"))
		if lost[0] != "outcome" { // who decided is lost: a closed pull request is somebody's decision
			if st.Outcome != Handoff {
				t.Errorf("without the receipts of %v: got %s (%s), want handoff", lost, st.Outcome, st.Reason)
			}
			continue
		}
		if diff := cmp.Diff(want, w.standing(c, st)); diff != "" {
			t.Errorf("without the receipt of %v (-before +after):\n%s", lost, diff)
		}
	}
}

// oneOfEverything says that repeated work left no second copy of anything.
func (w *world) oneOfEverything(c Candidate) {
	w.t.Helper()
	bot := w.client("bot-token")
	pulls, err := bot.PullsByHead(w.t.Context(), c.Branch("refit"))
	w.must(err)
	if len(pulls) != 1 {
		w.t.Fatalf("%d pull requests, want one", len(pulls))
	}
	comments, err := bot.Comments(w.t.Context(), pulls[0].Number)
	w.must(err)
	if len(comments) != 4 {
		w.t.Errorf("%d comments, want four", len(comments))
	}
	if len(w.runs) != 2 {
		w.t.Errorf("%d runs, want one smoke and one sweep", len(w.runs))
	}
}
