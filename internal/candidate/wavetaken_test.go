package candidate

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/refit-bench/refit/internal/forge"
	"github.com/refit-bench/refit/internal/forge/local"
	"github.com/refit-bench/refit/internal/result/api"
	"github.com/refit-bench/refit/internal/workspace"
)

// mark puts a ref on a commit of its own with this message.
func (w *world) mark(ref, message string) {
	w.t.Helper()
	bot := w.client("bot-token")
	main, _, err := bot.Ref(w.t.Context(), "heads/main")
	w.must(err)
	commit, err := bot.Commit(w.t.Context(), main, message, nil)
	w.must(err)
	w.must(bot.CreateRef(w.t.Context(), ref, commit))
}

// claimBy is the message of a claim.
func claimBy(t *testing.T, c Candidate) string {
	t.Helper()
	text, err := workspace.Canonical(claim{Candidates: []Candidate{c}, RunID: c.Parent})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestClaimTaken(t *testing.T) {
	w := waving(t, kin{model: "toy"}, kin{model: "two"})
	c, err := w.shepherd("bot-token").Select(t.Context(), family, "")
	w.must(err)
	c.OldImage, c.Parent = "toy/loom:v0.1.0-box", "34429203486" // another move of the family
	c.ID = c.identity()
	w.mark(ClaimRef("refit", family), claimBy(t, c))
	got := w.plan(sources(publishedFeed("toy"), publishedFeed("two")))
	if got.moving() != "two" {
		t.Errorf("moving %q, want two alone", got.moving())
	}
	got.wants(t, family, ClaimTaken, "candidate "+c.ID+" of 34429203486")
}

// A claim that cannot be read blocks its family and is reported; the others move.
func TestUnreadableClaimBlocksItsFamilyAndIsReported(t *testing.T) {
	w := waving(t, kin{model: "toy"}, kin{model: "two"}, kin{model: "more"}, kin{model: "last"})
	c := Candidate{Family: kin{model: "two"}.id(), OldImage: oldImage, NewImage: newImage, Release: "v2.0.0", Parent: "7"}
	c.ID = "0123456789abcdef-0123456789abcdef"
	w.mark(ClaimRef("refit", family), "Start")
	w.mark(ClaimRef("refit", c.Family), claimBy(t, c))
	w.mark(ClaimRef("refit", kin{model: "more"}.id()), claimBy(t, c))
	got := w.plan(sources(publishedFeed("toy"), publishedFeed("two"), publishedFeed("more"), publishedFeed("last")))
	if got.moving() != "last" {
		t.Errorf("moving %q, want last alone", got.moving())
	}
	got.wants(t, family, ClaimUnreadable, "is unreadable and blocks the family")
	got.wants(t, c.Family, ClaimUnreadable, `blocks the family: it names candidate "0123456789abcdef-0123456789abcdef"`)
	got.wants(t, kin{model: "more"}.id(), ClaimUnreadable, "names other families and blocks this one")
}

// A forge that does not answer about a claim is no unreadable claim.
func TestUnansweredClaimStopsTheWave(t *testing.T) {
	w := newWorld(t)
	w.mark(ClaimRef("refit", family), "Start")
	faults := &local.Faults{Forge: w.forge.Handler(), Choose: func(_ int, r *http.Request) local.Fault {
		if strings.Contains(r.URL.Path, "/git/ref/refit/claim-") {
			return local.Down
		}
		return local.None
	}}
	server := httptest.NewServer(faults)
	t.Cleanup(server.Close)
	s := w.shepherd("bot-token")
	s.Forge = w.clientAt(server.URL, "bot-token")
	if got, err := s.PlanWave(t.Context(), sources(publishedFeed("toy"))); err == nil || !strings.Contains(err.Error(), "502") {
		t.Errorf("got %v and %+v, want the forge's error", err, got.Left)
	}
}

func TestOpenPullRequestOfAnyRelease(t *testing.T) {
	w := waving(t, kin{model: "toy"}, kin{model: "two"})
	n := w.propose("refit/auto-"+short(family)+"-0123456789abcdef", map[string][]byte{"NOTES.md": []byte("x\n")})
	w.propose("refit/auto-0123456789abcdef-"+short(kin{model: "two"}.id()), map[string][]byte{"NOTES.md": []byte("y\n")})
	got := w.plan(sources(publishedFeed("toy"), publishedFeed("two")))
	if n != 1 || got.moving() != "two" {
		t.Errorf("moving %q, want two: only the first part of an id is the family's", got.moving())
	}
	got.wants(t, family, PullOpen, "#1, from refit/auto-"+short(family))

	closed := "closed"
	w.must(w.client("bot-token").EditPull(t.Context(), 1, forge.PullEdit{State: &closed}))
	w.plan(sources(publishedFeed("toy"), publishedFeed("two"))).wants(t, family, BranchTaken, "heads/refit/auto-"+short(family))
	w.must(w.client("bot-token").DeleteRef(t.Context(), "heads/refit/auto-"+short(family)+"-0123456789abcdef"))
	if got := w.plan(sources(publishedFeed("toy"))); got.moving() != "toy" {
		t.Errorf("nothing is left of it, and the family does not move: %+v", got.Left)
	}
}

// A branch of the same name in another repository is nobody's candidate.
func TestPullRequestOfAnotherRepositoryIsNoCandidate(t *testing.T) {
	branch := "refit/auto-" + short(family) + "-0123456789abcdef"
	p := &planner{Shepherd: &Shepherd{}}
	p.Config.Policy.Prefix = "refit"
	f := live{}
	f.ID = family
	for repo, want := range map[string]int{"toy/recipes": 3, "Toy/Recipes": 3, "fork/recipes": 0, "": 0} {
		pull := openPull(forge.Pull{Number: 3, HeadRef: branch, HeadRepo: repo}, "toy/recipes", nil)
		p.pulls = []OpenPull{pull}
		if n, _ := p.proposed(f); n != want {
			t.Errorf("from %q: found #%d, want #%d (head %s)", repo, n, want, pull.Head)
		}
	}
}

// Refs of every kind count, under the prefix, under an earlier spelling of it,
// and with the coarser identity of earlier versions.
func TestRefsOfEarlierSpellingsAreTaken(t *testing.T) {
	coarse := stack{"toy", "box", "loom", "fp8", "none", false}.identity()
	id := short(family) + "-0123456789abcdef"
	for ref, want := range map[string]string{
		"heads/refit/auto-" + id:                    BranchTaken,
		"heads/refit/auto-" + coarse + "-" + coarse: BranchTaken,
		"refit/lease-" + id:                         Interrupted,
		"refit/recovery-34429203486-" + id:          Interrupted,
		"refit/claim-" + coarse:                     ClaimTaken,
		"heads/refit/claim-" + short(family):        ClaimTaken,
		"old-cold/claim-" + short(family):           ClaimTaken,
		"heads/old-cold/claim-" + coarse:            ClaimTaken,
		"heads/old-cold/auto-" + id:                 BranchTaken,
		"old-cold/recovery-p0123456789ab-" + id:     Interrupted,
		"older/claim-" + short(family):              "", // nobody says that this is a prefix
		"refit/claim-0123456789abcdef":              "",
		"refit/other-" + id:                         "",
		"refit/claim-" + short(family) + "x":        "",
	} {
		w := newWorld(t)
		w.mark(ref, "{}")
		from := sources(publishedFeed("toy"))
		from.Earlier = []string{"old-cold", "refit"}
		got := w.plan(from)
		if want == "" {
			if got.moving() != "toy" {
				t.Errorf("%s: left out: %+v", ref, got.Left)
			}
			continue
		}
		got.wants(t, family, want, ref)
	}
}

func TestUnresolvedInterruptedCandidateBlocksItsFamily(t *testing.T) {
	w := waving(t, kin{model: "toy"}, kin{model: "two"})
	c, err := w.shepherd("bot-token").Select(t.Context(), family, "")
	w.must(err)
	c.OldImage = "toy/loom:v0.1.0-box"
	w.ledger.candidates = []Summary{{Candidate: c, State: Waits, Step: "smoke"}}
	got := w.plan(sources(publishedFeed("toy"), publishedFeed("two")))
	if got.moving() != "two" {
		t.Errorf("moving %q, want two", got.moving())
	}
	got.wants(t, family, Interrupted, "candidate "+c.ID+" has no end")
}

// What a wave selects and advances is taken for the next one.
func TestACandidateUnderWayIsNotProposedAgain(t *testing.T) {
	w, c := left(t)
	got := w.plan(sources(publishedFeed("toy")))
	if len(got.Candidates) != 0 {
		t.Errorf("proposed again: %+v", got.Candidates)
	}
	got.wants(t, family, PullOpen, "#1, from "+c.Branch("refit"))
}

// Open pull requests come with their files, and a list that broke off is
// marked, with what is known of it.
func TestIncompleteListOfFilesIsMarked(t *testing.T) {
	w := newWorld(t)
	whole := w.propose("topic", map[string][]byte{"b.md": []byte("b\n"), "a.md": []byte("a\n")})
	broken := w.propose("other", map[string][]byte{"c.md": []byte("c\n")})
	w.must(w.client("bot-token").AddLabel(t.Context(), whole, "full-sweep-fail-fast"))
	w.forge.Wait()
	faults := &local.Faults{Forge: w.forge.Handler(), Choose: func(_ int, r *http.Request) local.Fault {
		if strings.HasSuffix(r.URL.Path, "/pulls/2/files") {
			return local.Down
		}
		return local.None
	}}
	server := httptest.NewServer(faults)
	t.Cleanup(server.Close)
	s := w.shepherd("bot-token")
	s.Forge = w.clientAt(server.URL, "bot-token")
	got, err := s.PlanWave(t.Context(), sources(publishedFeed("toy")))
	w.must(err)
	if broken != 2 || len(got.Pulls) != 2 || got.moving() != "toy" {
		t.Fatalf("pull requests %+v, moving %q", got.Pulls, got.moving())
	}
	if p := got.Pulls[0]; p.Number != 2 || !p.Incomplete || len(p.Files) != 0 {
		t.Errorf("the broken one: %+v", p)
	}
	if p := got.Pulls[1]; p.Number != 1 || p.Incomplete || !slices.Equal(p.Files, []string{"a.md", "b.md"}) || p.Head != "topic" || p.Author != "bot" ||
		p.Title != "A change" || p.Draft || !slices.Equal(p.Labels, []string{"full-sweep-fail-fast"}) {
		t.Errorf("the whole one: %+v", p)
	}
}

// A recorded row may be told by several families: each of them is observed.
func TestOneRowMayObserveSeveralFamilies(t *testing.T) {
	families := []live{}
	for _, id := range []string{"x:a", "x:b"} {
		f := live{shapes: map[shape]bool{shapeOf(publishedFeed("toy")): true}}
		f.ID = id
		families = append(families, f)
	}
	seen := observe(families, []api.LatestImage{publishedFeed("toy"), publishedFeed("other")})
	if len(seen) != 2 || len(seen["x:a"]) != 1 || len(seen["x:b"]) != 1 {
		t.Errorf("got %+v", seen)
	}
}
