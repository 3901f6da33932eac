package candidate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/refit-bench/refit/internal/forge/described"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/result/api"
)

func TestAFamilyWithANewerImageMayMove(t *testing.T) {
	w := newWorld(t)
	got := w.plan(sources(publishedFeed("toy")))
	s := w.shepherd("bot-token")
	c, err := s.Select(t.Context(), family, "")
	w.must(err)
	want := []Proposal{{
		Candidate:   c,
		Observation: Observation{oldImage, "2026-11-02"},
		Signals:     []Signal{ReleaseStringMismatch}, Review: true,
		Clusters: []string{"box"},
		Files: []string{"benchmarks/benchmark_lib.sh", "benchmarks/single_node/fixed_seq_len/toy_fp8_box_loom.sh",
			"configs/runners.yaml", "configs/toy-master.yaml"},
	}}
	if diff := cmp.Diff(want, got.Candidates); diff != "" {
		t.Errorf("what may move (-want +got):\n%s", diff)
	}
	if c.Release != "v2.0.0" || c.NewImage != newImage || got.Base != c.Base || got.Seed != 1 || len(got.Left)+len(got.SetAside)+len(got.Pulls) != 0 {
		t.Errorf("candidate %+v, wave %+v", c, got)
	}
}

// A plan only looks: no write reaches the forge or the ledger.
func TestPlanOnlyLooks(t *testing.T) {
	w := newWorld(t)
	p := w.process(gone(1))
	got, err := p.shepherd().PlanWave(t.Context(), sources(publishedFeed("toy")))
	w.must(err)
	if len(p.writes) != 0 || len(w.ledger.receipts)+len(w.ledger.candidates) != 0 || got.moving() != "toy" {
		t.Errorf("wrote %v, receipts %s, moving %s", p.writes, w.ledger.steps(), got.moving())
	}
}

// What a plan asks, and what the embedded forge answers, is as GitHub describes it.
func TestPlanIsAsGitHubDescribesIt(t *testing.T) {
	described.Require(t)
	w := newWorld(t)
	w.propose("topic", map[string][]byte{"NOTES.md": []byte("x\n")})
	watch := described.NewWatch(t)
	server := httptest.NewServer(watch.Handler(w.forge.Handler()))
	t.Cleanup(server.Close)
	w.url = server.URL
	if got := w.plan(sources(publishedFeed("toy"))); len(got.Pulls) != 1 || len(watch.Seen()) < 4 {
		t.Errorf("%d pull requests, operations %v", len(got.Pulls), watch.Seen())
	}
}

func TestNewestObservationWins(t *testing.T) {
	two := strings.Replace(plainScenario, "    - isl: 256", "    - isl: 512\n      osl: 64\n      search-space:\n      - { tp: 1, conc-list: [1] }\n    - isl: 256", 1)
	w := waving(t, kin{model: "toy", scenarios: two})
	longer := 512
	older, newer, other := publishedFeed("toy"), publishedFeed("toy"), publishedFeed("toy")
	newer.Date, newer.ISL = "2026-11-05", &longer
	other.Date, other.Model = "2026-11-30", "nobody"
	for name, rows := range map[string][]api.LatestImage{
		"newest-last": {other, older, newer}, "newest-first": {newer, older, other}, "twice": {newer, newer, older},
	} {
		got := w.plan(sources(rows...))
		if len(got.Candidates) != 1 || got.Candidates[0].Observation != (Observation{oldImage, "2026-11-05"}) {
			t.Errorf("%s: got %+v, want the observation of 2026-11-05", name, got.Candidates)
		}
	}
}

// Every part of the identity of a published row has to fit a live row.
func TestRetiredWorkloadMatchesNothing(t *testing.T) {
	w := newWorld(t)
	other := 1024
	for name, change := range map[string]func(*api.LatestImage){
		"model":     func(r *api.LatestImage) { r.Model = "toy2" },
		"hardware":  func(r *api.LatestImage) { r.Hardware = "crate" },
		"framework": func(r *api.LatestImage) { r.Framework = "loom2" },
		"precision": func(r *api.LatestImage) { r.Precision = "fp4" },
		"spec":      func(r *api.LatestImage) { r.SpecMethod = "mtp" },
		"disagg":    func(r *api.LatestImage) { r.Disagg = true },
		"type":      func(r *api.LatestImage) { r.BenchmarkType = "agentic_traces" },
		"isl":       func(r *api.LatestImage) { r.ISL = &other },
		"osl":       func(r *api.LatestImage) { r.OSL = nil },
		"image":     func(r *api.LatestImage) { r.Image = "toy/loom:v0.9.0-box" },
	} {
		row := publishedFeed("toy")
		change(&row)
		got := w.plan(sources(row))
		if got.moving() != "" {
			t.Errorf("%s differs, and the family moves", name)
		}
		got.wants(t, family, NoObservation, "nothing is published for it at "+oldImage)
	}
}

func TestEnrootSpellingEqualsTheOther(t *testing.T) {
	const with, without = "reg.example#toy/loom:v1.0.0-box", "reg.example/toy/loom:v1.0.0-box"
	w := waving(t, kin{model: "toy", image: with}, kin{model: "two", image: without})
	s := w.shepherd("bot-token")
	s.Images = layout(t, without, "reg.example/toy/loom:v2.0.0-box")
	one, two := publishedFeed("toy"), publishedFeed("two")
	one.Image, two.Image = without, with
	got, err := s.PlanWave(t.Context(), sources(one, two))
	w.must(err)
	if got.moving() != "toy two" {
		t.Fatalf("moving %q, left %+v", got.moving(), got.Left)
	}
	for _, p := range got.Candidates {
		newer := strings.Replace(p.OldImage, "v1.0.0", "v2.0.0", 1) // in the old one's spelling
		if p.NewImage != newer || p.ID != p.identity() || p.OldImage != map[string]string{"toy-fp8-box-loom": with, "two-fp8-box-loom": without}[p.Key()] {
			t.Errorf("got %+v", p.Candidate)
		}
	}
}

// A family whose rows cannot be made is told and left out; the others move.
func TestFamilyThatCannotBeGeneratedIsSkippedAlone(t *testing.T) {
	offloads := "    agentic-coding:\n    - dram-utilization: 0.80\n      search-space:\n" +
		"      - { tp: 1, kv-offloading: dram, kv-offload-backend: { name: shelf }, conc-list: [1] }\n"
	w := waving(t, kin{model: "toy"}, kin{model: "bad", runner: "cluster:box", scenarios: offloads}, kin{model: "two"})
	got := w.plan(sources(publishedFeed("toy"), publishedFeed("bad"), publishedFeed("two")))
	if got.moving() != "toy two" {
		t.Errorf("moving %q, want the other two", got.moving())
	}
	got.wants(t, kin{model: "bad"}.id(), NotGenerated, "kv-offloading needs hardware of runner")
}

// A catalogue that no step could load is an error that names the place.
func TestBrokenCatalogueStopsTheWave(t *testing.T) {
	w := newWorld(t)
	w.commitOn("main", "Broken", map[string][]byte{"configs/toy-master.yaml": []byte(kin{model: "toy", scenarios: "    nothing: []\n"}.entry())})
	w.forge.Wait()
	_, err := w.shepherd("bot-token").PlanWave(t.Context(), sources(publishedFeed("toy")))
	if err == nil || !strings.HasPrefix(err.Error(), "plan wave: base ") || !strings.Contains(err.Error(), "configs/toy-master.yaml:10:5: toy-fp8-box-loom.scenarios: unknown field") {
		t.Errorf("got %v", err)
	}
}

func TestNothingNewerAndAlreadyNewest(t *testing.T) {
	w := waving(t, kin{model: "new", image: newImage}, kin{model: "word", image: "toy/loom:latest-box"}, kin{model: "hash", image: "toy/hash:nightly-abc1234"},
		kin{model: "gone", image: "toy/gone:v1.0.0"}, kin{model: "late", image: "toy/late:v1.0.0-box"}, kin{model: "toy"})
	s := w.shepherd("bot-token")
	s.Images = layout(t, oldImage, newImage, "toy/hash:nightly-abc1234", "toy/hash:nightly-def5678", "toy/late:v1.0.0-box", "toy/late:v3.0.0-crate", "toy/late:v4.0.0rc1-box")
	rows := []api.LatestImage{}
	for _, model := range []string{"new", "word", "hash", "gone", "late", "toy"} {
		row := publishedFeed(model)
		row.Image = map[string]string{"new": newImage, "word": "toy/loom:latest-box", "hash": "toy/hash:nightly-abc1234", "gone": "toy/gone:v1.0.0",
			"late": "toy/late:v1.0.0-box", "toy": oldImage}[model]
		rows = append(rows, row)
	}
	from := sources(rows...)
	plan := func() Wave {
		got, err := s.PlanWave(t.Context(), from)
		w.must(err)
		if got.moving() != "toy" {
			t.Errorf("moving %q, want toy alone", got.moving())
		}
		got.wants(t, kin{model: "word"}.id(), NothingNewer, "names no release, date or commit")
		got.wants(t, kin{model: "hash"}.id(), NothingNewer, "named by commit alone")
		got.wants(t, kin{model: "gone"}.id(), TagsUnknown, "tags of toy/gone: there are none")
		return got
	}
	got := plan()
	got.wants(t, kin{model: "new"}.id(), AlreadyNewest, newImage+" is the newest of its lane")
	got.wants(t, kin{model: "late"}.id(), AlreadyNewest, "toy/late:v1.0.0-box is the newest of its lane")

	// Upstream has released what the lane has not got.
	release := "v3.0.0"
	from.Releases = func(context.Context) (api.FrameworkReleases, error) {
		return api.FrameworkReleases{"loom": &release}, nil
	}
	got = plan()
	got.wants(t, kin{model: "late"}.id(), NothingNewer, "v3.0.0 is released, and the lane of toy/late:v1.0.0-box has no image of it")
	if s := got.Candidates[0].Signals; !slices.Equal(s, []Signal{ReleaseStringMismatch}) {
		t.Errorf("signals %v", s)
	}
}

// The signals are those of the newest day's rows, against the feed of releases;
// a release that nobody knows does not make a row need review.
func TestSignalsOfAProposal(t *testing.T) {
	w := newWorld(t)
	from := sources(publishedFeed("toy"))
	one := "v1.0.0"
	for name, c := range map[string]struct {
		releases api.FrameworkReleases
		want     []Signal
		review   bool
	}{
		"unknown": {api.FrameworkReleases{}, []Signal{ReleaseComparisonUnknown}, false},
		"null":    {api.FrameworkReleases{"loom": nil}, []Signal{ReleaseComparisonUnknown}, false},
		"equal":   {api.FrameworkReleases{"loom": &one}, []Signal{}, false},
	} {
		from.Releases = func(context.Context) (api.FrameworkReleases, error) { return c.releases, nil }
		got := w.plan(from)
		if p := got.Candidates[0]; !slices.Equal(p.Signals, c.want) || p.Review != c.review {
			t.Errorf("%s: got %v, review %v, want %v, review %v", name, p.Signals, p.Review, c.want, c.review)
		}
	}
}

// A move that ended as another try would end again is not proposed; after an
// end that may be retried, or whose branch a maintainer has released, it is the
// next attempt.
func TestEndedMovesAreRemembered(t *testing.T) {
	w := newWorld(t)
	c, err := w.shepherd("bot-token").Select(t.Context(), family, "")
	w.must(err)
	for outcome, retried := range map[Outcome]bool{Validated: false, Regressed: true, Incompatible: true, Uncertain: true, CapacityDeferred: true} {
		w.ledger.candidates = []Summary{{Candidate: c, State: Done, Outcome: outcome}}
		got := w.plan(sources(publishedFeed("toy")))
		if !retried {
			got.wants(t, family, TriedBefore, "candidate "+c.ID+" ended "+string(outcome))
			continue
		}
		if len(got.Candidates) != 1 || got.Candidates[0].Attempt != 1 || got.Candidates[0].ID != c.ID {
			t.Errorf("after %s: got %+v, want attempt 1 of %s", outcome, got.Candidates, c.ID)
		}
	}
	other := c
	other.OldImage, other.Release = "toy/loom:v0.9.0-box", "v1.0.0"
	other.ID = other.identity()
	w.ledger.candidates = []Summary{{Candidate: other, State: Done, Outcome: Regressed}}
	if got := w.plan(sources(publishedFeed("toy"))); got.moving() != "toy" {
		t.Errorf("another move of the family ended, and this one does not begin: %+v", got.Left)
	}
}

func TestSeedGivesOneOrder(t *testing.T) {
	var families []kin
	var rows []api.LatestImage
	for _, model := range []string{"aa", "bb", "cc", "dd", "ee"} {
		families, rows = append(families, kin{model: model}), append(rows, publishedFeed(model))
	}
	w := waving(t, families...)
	order := func(seed uint64, rows []api.LatestImage) string {
		from := sources(rows...)
		from.Seed = seed
		var keys []string
		for _, p := range w.plan(from).Candidates {
			keys = append(keys, p.Key()[:2])
		}
		return strings.Join(keys, " ")
	}
	orders, first := map[string]bool{}, map[string]bool{}
	for seed := range uint64(24) {
		o := order(seed, rows)
		orders[o], first[o[:2]] = true, true
	}
	if len(orders) < 12 || len(first) != 5 {
		t.Errorf("24 seeds give %d orders, and %d families come first in one; want 12 and more, and every family", len(orders), len(first))
	}
	slices.Reverse(rows)
	if a, b := order(7, rows), order(7, rows); a != b || len(a) != 14 {
		t.Errorf("seed 7 gives %q and %q", a, b)
	}
	if a, b := order(math.MaxUint64, rows), order(math.MaxUint64, rows[1:]); strings.ReplaceAll(strings.ReplaceAll(a+" ", "ee ", ""), "  ", " ") != b+" " {
		t.Errorf("without one family the order is %q, with it %q: the others changed places", b, a)
	}
}

// Capacity at exactly 80 % drops the family, below it does not; one eligible
// cluster of a label is enough.
func TestCapacityOfExactly80PercentDropsTheFamily(t *testing.T) {
	w := waving(t, kin{model: "toy"}, kin{model: "far", runner: "crate"}, kin{model: "lost", runner: "nowhere"})
	w.commitOn("main", "Runners", map[string][]byte{"configs/runners.yaml": []byte(
		"labels:\n  box: [box_00, shelf-a_0, shelf-b_1]\n  crate: [crate_00]\n  cluster:shelf: [shelf-a_0]\n")})
	w.forge.Wait()
	rows := []api.LatestImage{publishedFeed("toy"), publishedFeed("far"), publishedFeed("lost")}
	rows[1].Hardware, rows[2].Hardware = "crate", "nowhere"
	from := sources(rows...)
	check := func(used map[string]int64, moving string, clusters ...string) Wave {
		t.Helper()
		from.Capacity = nodes(used)
		got := w.plan(from)
		if got.moving() != moving {
			t.Errorf("%v: moving %q, want %q", used, got.moving(), moving)
		}
		for _, p := range got.Candidates {
			if p.Key() == "toy-fp8-box-loom" && !slices.Equal(p.Clusters, clusters) {
				t.Errorf("%v: clusters %v, want %v", used, p.Clusters, clusters)
			}
		}
		got.wants(t, kin{model: "lost"}.id(), NoCluster, "runner label nowhere is not in configs/runners.yaml")
		return got
	}
	got := check(map[string]int64{"box": 8, "shelf": 8, "shelf-b": 9, "crate": 7}, "far")
	got.wants(t, family, NoCluster, "box: it has no room now; shelf: it has no room now; shelf-b: it has no room now")
	check(map[string]int64{"box": 8, "shelf": 7, "shelf-b": 8, "crate": 8}, "toy", "shelf")
	check(map[string]int64{"box": 7, "shelf": 0, "shelf-b": 7, "crate": 8}, "toy", "box", "shelf", "shelf-b")
	got = check(map[string]int64{"box": 0}, "toy", "box")
	got.wants(t, kin{model: "far"}.id(), NoCluster, "crate: the answer has no such cluster")

	from.Capacity = AlwaysRoom("nobody is asked")
	if got := w.plan(from); got.moving() != "far toy" {
		t.Errorf("where nobody is asked: moving %q", got.moving())
	}
}

// A feed that cannot be used stops the wave, with a code that does not change.
func TestInvalidFeedStopsTheWaveWithAFixedCode(t *testing.T) {
	w := newWorld(t)
	s := w.shepherd("bot-token")
	valid := sources(publishedFeed("toy")).Images
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/text":
			out.Header().Set("Content-Type", "text/html")
			fmt.Fprint(out, "[]")
		case "/elsewhere":
			http.Redirect(out, r, "/text", http.StatusFound)
		default:
			http.NotFound(out, r)
		}
	}))
	defer server.Close()
	file := func(text string) string {
		path := filepath.Join(t.TempDir(), "feed.json")
		w.must(os.WriteFile(path, []byte(text), 0o600))
		return path
	}
	for name, c := range map[string]struct{ images, releases, code, want string }{
		"non-finite":          {images: file(`[{"model":"toy","note":1e400}]`), code: "latest-images-invalid", want: "a number is not finite"},
		"non-finite-negative": {images: file(`[{"extra":{"deep":[-1e999]}}]`), code: "latest-images-invalid", want: "a number is not finite"},
		"nan":                 {images: file(`[{"note":NaN}]`), code: "latest-images-invalid", want: "invalid character 'N'"},
		"no-list":             {images: file(`{"rows":[]}`), code: "latest-images-invalid", want: `want a JSON value that starts with "["`},
		"missing-file":        {images: filepath.Join(t.TempDir(), "none.json"), code: "latest-images-invalid", want: "no such file"},
		"wrong-content-type":  {images: server.URL + "/text", code: "latest-images-invalid", want: `content type "text/html" is not JSON`},
		"redirect":            {images: server.URL + "/elsewhere", code: "latest-images-invalid", want: "302"},
		"not-found":           {images: server.URL + "/none", code: "latest-images-invalid", want: "404"},
		"releases-non-finite": {releases: file(`{"loom":1e400}`), code: "framework-releases-invalid", want: "a number is not finite"},
		"releases-number":     {releases: file(`{"loom":2}`), code: "framework-releases-invalid", want: "neither text nor null"},
		"releases-type":       {releases: server.URL + "/text", code: "framework-releases-invalid", want: `content type "text/html" is not JSON`},
	} {
		from := sources()
		from.Images = valid
		if c.images != "" {
			from.Images = api.Source{Name: c.images}.ImageFeed
		}
		if c.releases != "" {
			from.Releases = api.Source{Name: c.releases}.ReleaseFeed
		}
		_, err := s.PlanWave(t.Context(), from)
		var bad *api.FeedError
		if !errors.As(err, &bad) || bad.Code != c.code || !strings.HasPrefix(err.Error(), c.code+": ") || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %s with %q", name, err, c.code, c.want)
		}
	}
}

// An invalid row is set aside alone, and counted by what is wrong with it.
func TestInvalidRowAloneIsSetAside(t *testing.T) {
	w := newWorld(t)
	good := `{"model":"toy","hardware":"box","framework":"loom","precision":"fp8","spec_method":"none","disagg":false,"isl":256,"osl":64,` +
		`"benchmark_type":"single_turn","image":"` + oldImage + `","date":"2026-11-02"}`
	bad := func(old, new string) string { return strings.Replace(good, old, new, 1) }
	path := filepath.Join(t.TempDir(), "feed.json")
	w.must(os.WriteFile(path, []byte("["+strings.Join([]string{bad(`"isl":256`, `"isl":0`), bad(`"isl":256`, `"isl":256.0`), good, bad(`false`, `"false"`)}, ",")+"]"), 0o600))
	from := sources()
	from.Images = api.Source{Name: path}.ImageFeed
	got := w.plan(from)
	want := []SetAside{{"disagg: want true or false", 1}, {"isl: want an integer of at least 1, or null", 2}}
	if got.moving() != "toy" || !slices.Equal(got.SetAside, want) {
		t.Errorf("moving %q, set aside %+v, want toy and %+v", got.moving(), got.SetAside, want)
	}
}

// A registry that was asked for a repository is not asked for it again.
func TestTagsAreAskedForOncePerRepository(t *testing.T) {
	w := waving(t, kin{model: "aa"}, kin{model: "bb"}, kin{model: "cc", image: newImage})
	asked := map[string]int{}
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		asked[r.URL.Path]++
		if strings.HasSuffix(r.URL.Path, "/tags/list") {
			out.Header().Set("Content-Type", "application/json")
			fmt.Fprint(out, `{"name":"toy/loom","tags":["v1.0.0-box","v2.0.0-box"]}`)
		}
	}))
	defer server.Close()
	s := w.shepherd("bot-token")
	s.Images = image.Library{Registry: strings.TrimPrefix(server.URL, "http://")}
	newer := publishedFeed("cc")
	newer.Image = newImage
	got, err := s.PlanWave(t.Context(), sources(publishedFeed("aa"), publishedFeed("bb"), newer))
	w.must(err)
	if got.moving() != "aa bb" || asked["/v2/toy/loom/tags/list"] != 1 {
		t.Errorf("moving %q, asked %v", got.moving(), asked)
	}
}

func TestEarlierPrefixIsAName(t *testing.T) {
	from := sources(publishedFeed("toy"))
	from.Earlier = []string{"../x"}
	if _, err := newWorld(t).shepherd("bot-token").PlanWave(t.Context(), from); err == nil || !strings.Contains(err.Error(), `earlier prefix "../x"`) {
		t.Errorf("got %v", err)
	}
}
