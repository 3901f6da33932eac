package candidate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/refit-bench/refit/internal/result/api"
)

// sharedFeed is a published sample of a feed.
func sharedFeed(t *testing.T, name string) []byte {
	t.Helper()
	root := os.Getenv("REFIT_SHARED")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared")
	}
	src, err := os.ReadFile(filepath.Join(root, "data", "api", name))
	if err != nil {
		t.Skipf("shared data not present: %v", err)
	}
	return src
}

func tag(s string) *string { return &s }

func TestSignalsOfTheSample(t *testing.T) {
	feed, err := api.ParseImageFeed(sharedFeed(t, "latest-images.json"))
	if err != nil {
		t.Fatal(err)
	}
	releases, err := api.ParseReleaseFeed(sharedFeed(t, "framework-releases.json"))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]Signal{{ReleaseStringMismatch}, {ReleaseStringMismatch}, {}, {UnstableImage, ReleaseStringMismatch}}
	for i, row := range feed.Rows {
		got := Signals(row, releases, time.Date(2026, 9, 19, 12, 0, 0, 0, time.UTC))
		if !slices.Equal(got, want[i]) {
			t.Errorf("row %d: got %v, want %v", i, got, want[i])
		}
		if NeedsReview(got) != (len(want[i]) > 0) {
			t.Errorf("row %d: needs review: %v", i, NeedsReview(got))
		}
	}
}

func TestSignals(t *testing.T) {
	releases := api.FrameworkReleases{"sim": tag("v2.0.0"), "other": nil}
	today := time.Date(2026, 9, 19, 23, 59, 0, 0, time.UTC)
	tests := []struct {
		name                         string
		framework, image, kind, date string
		want                         []Signal
		review                       bool
	}{
		{"ordinary", "sim", "a/sim:v2.0.0-cpu", "single_turn", "2020-01-01", nil, false},
		{"nightly", "sim", "a/sim:nightly-v2.0.0", "single_turn", "2026-09-19", []Signal{UnstableImage}, true},
		{"sgl-dev", "sim", "rocm/sgl-dev:v2.0.0", "single_turn", "2026-09-19", []Signal{UnstableImage}, true},
		{"sglang-rocm", "sim", "a/sglang-rocm:v2.0.0", "single_turn", "2026-09-19", []Signal{UnstableImage}, true},
		{"two-unstable-parts-are-one-signal", "sim", "rocm/sgl-dev:nightly-v2.0.0", "single_turn", "2026-09-19", []Signal{UnstableImage}, true},
		{"older-release", "sim", "a/sim:v1.0.0-cpu", "single_turn", "2026-09-19", []Signal{ReleaseStringMismatch}, true},
		{"release-in-the-repository", "sim", "a/sim-v2.0.0:x", "single_turn", "2026-09-19", nil, false},
		{"release-is-null", "other", "a/other:v1", "single_turn", "2026-09-19", []Signal{ReleaseComparisonUnknown}, false},
		{"framework-without-release", "third", "a/third:v1", "single_turn", "2026-09-19", []Signal{ReleaseComparisonUnknown}, false},
		{"agentic-14-days", "sim", "a/sim:v2.0.0", "agentic_traces", "2026-09-05", nil, false},
		{"agentic-15-days", "sim", "a/sim:v2.0.0", "agentic_traces", "2026-09-04", []Signal{AgentXAge}, true},
		{"agentic-tomorrow", "sim", "a/sim:v2.0.0", "agentic_traces", "2026-09-20", nil, false},
		{"everything", "third", "a/third:nightly", "agentic_traces", "2026-08-01", []Signal{UnstableImage, ReleaseComparisonUnknown, AgentXAge}, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Signals(api.LatestImage{Framework: tt.framework, Image: tt.image, BenchmarkType: tt.kind, Date: tt.date}, releases, today)
			if !slices.Equal(got, tt.want) || NeedsReview(got) != tt.review {
				t.Errorf("got %v, review %v, want %v, review %v", got, NeedsReview(got), tt.want, tt.review)
			}
		})
	}
}

// Ages are days of UTC, wherever the clock stands.
func TestAgeIsCountedInDaysOfUTC(t *testing.T) {
	row := api.LatestImage{Framework: "sim", Image: "a/sim:v1", BenchmarkType: "agentic_traces", Date: "2026-09-05"}
	west := time.FixedZone("west", -10*3600)
	for now, want := range map[time.Time]bool{
		time.Date(2026, 9, 19, 13, 59, 59, 0, west): false, // 23:59:59 of the 19th
		time.Date(2026, 9, 19, 14, 0, 0, 0, west):   true,  // midnight, the 20th
	} {
		if got := slices.Contains(Signals(row, nil, now), AgentXAge); got != want {
			t.Errorf("%s: old %v, want %v", now, got, want)
		}
	}
}

// The engine of a framework is the longest release name that it equals or ends
// with after a dash.
func TestReleaseOfAFramework(t *testing.T) {
	releases := api.FrameworkReleases{"lang": tag("v1"), "s-lang": tag("v2"), "x": nil, "a-x": tag("v3"), "b-a-x": nil}
	for framework, want := range map[string]string{
		"lang": "v1", "dynamo-lang": "v1", "s-lang": "v2", "dynamo-s-lang": "v2",
		"dynamo-a-x": "v3", "x": "", "c-b-a-x": "", // the longest name decides, known or not
		"slang": "", "lang-dynamo": "", "LANG": "", "": "",
	} {
		got, known := Release(framework, releases)
		if got != want || known != (want != "") {
			t.Errorf("%s: got %q (%v), want %q", framework, got, known, want)
		}
	}
}
