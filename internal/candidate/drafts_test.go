package candidate

import (
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge/local"
)

// A pull request stays a draft while its sweep runs, but not where drafts are
// not swept: there it is marked ready before the label.
func TestAPullRequestIsReadyBeforeItsSweepWhereDraftsAreLeftOut(t *testing.T) {
	const excluding = "on:\n  pull_request:\n    types: [labeled, synchronize]\njobs:\n  sweep:\n    if: ${{ !github.event.pull_request.draft }}\n"
	for name, x := range map[string]struct {
		policy, forge, workflow string
		draft                   bool // while the sweep runs
	}{
		"auto":                      {"auto", "github", "", true},
		"auto-workflow-excludes":    {"auto", "github", excluding, false},
		"auto-only-a-comment":       {"auto", "github", "on: {pull_request: {types: [labeled, synchronize]}}\n# if: !github.event.pull_request.draft\n", true},
		"embedded-reads-no-file":    {"auto", "local", excluding, true},
		"never":                     {"never", "local", "", false},
		"always-whatever-it-claims": {"always", "github", excluding, true},
	} {
		w := newWorld(t)
		files := map[string][]byte{"refit.yaml": []byte(strings.Replace(string(w.file("main", "refit.yaml")), "policy:\n", "policy:\n  sweeps-on-draft: "+x.policy+"\n", 1))}
		if x.workflow != "" {
			files[".github/workflows/run-sweep.yml"] = []byte(x.workflow)
		}
		w.commitOn("main", "Policy", files)
		draft := map[string]bool{}
		w.breaks = func(r local.RunRequest) error {
			if r.Event == "pull_request" {
				p, err := w.client("bot-token").Pull(t.Context(), 1)
				draft["sweep"] = p.Draft
				return err
			}
			return nil
		}
		s := w.shepherd("bot-token")
		s.Config.Forge.Kind, s.Config.Policy.SweepsOnDraft = x.forge, x.policy
		_, st := w.upgrade(s)
		p, err := s.Forge.Pull(t.Context(), 1)
		w.must(err)
		if got, measured := draft["sweep"]; st.Outcome != Validated || !measured || got != x.draft || p.Draft {
			t.Errorf("%s: got %s (%s), draft while it was swept %v, in the end %v; want validated, %v, ready", name, st.Outcome, st.Reason, got, p.Draft, x.draft)
		}
		d, err := s.Doctor(t.Context())
		w.must(err)
		var said string
		for _, v := range d.Checks {
			if v.Gate == "drafts" {
				said = v.Reason
			}
		}
		if want := !x.draft; strings.Contains(said, "leaves them out") != want {
			t.Errorf("%s: doctor says %q, that drafts are left out: want %v", name, said, want)
		}
	}
}
