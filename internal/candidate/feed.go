package candidate

import (
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/result/api"
)

// Signal is something about a published row that whoever reviews its family
// should know.
type Signal string

// The signals, in the order in which they are told.
const (
	UnstableImage            Signal = "unstable-image"
	ReleaseComparisonUnknown Signal = "release-comparison-unknown"
	ReleaseStringMismatch    Signal = "release-string-mismatch"
	AgentXAge                Signal = "agentx-age"
)

// unstable are the parts of a reference that mark a build which is no release.
var unstable = []string{"nightly", "rocm/sgl-dev", "sglang-rocm"}

// agentXDays is how many days old a row of agentic traces may be: their load
// follows recorded sessions, which change.
const agentXDays = 14

// Signals are the signals of one valid row, none for an ordinary one. today is
// the moment that ages are counted to, in days of UTC.
func Signals(row api.LatestImage, releases api.FrameworkReleases, today time.Time) []Signal {
	var all []Signal
	for _, part := range unstable {
		if strings.Contains(row.Image, part) {
			all = append(all, UnstableImage)
			break
		}
	}
	switch release, known := Release(row.Framework, releases); {
	case !known:
		all = append(all, ReleaseComparisonUnknown)
	case !strings.Contains(row.Image, release):
		all = append(all, ReleaseStringMismatch)
	}
	if row.BenchmarkType == result.AgenticTraces && daysOld(row.Date, today) > agentXDays {
		all = append(all, AgentXAge)
	}
	return all
}

// NeedsReview says whether a row with these signals has to be looked at. That
// nobody knows the release says nothing about the row.
func NeedsReview(signals []Signal) bool {
	for _, s := range signals {
		if s != ReleaseComparisonUnknown {
			return true
		}
	}
	return false
}

// Release is the newest release of a framework's engine, when it is known. The
// engine is the longest name in releases that the framework equals or ends
// with after a dash: dynamo-sglang is sglang.
func Release(framework string, releases api.FrameworkReleases) (release string, known bool) {
	engine := ""
	for name := range releases {
		if (framework == name || strings.HasSuffix(framework, "-"+name)) && len(name) > len(engine) {
			engine = name
		}
	}
	if tag := releases[engine]; tag != nil {
		return *tag, true
	}
	return "", false
}

// daysOld counts the days from a row's day to that of now; a row of tomorrow is -1.
func daysOld(date string, now time.Time) int {
	day, err := time.Parse(time.DateOnly, date)
	if err != nil {
		return 0 // api.ParseImageFeed lets no such row through
	}
	now = now.UTC()
	today := time.Date(now.Year(), now.Month(), now.Day(), 0, 0, 0, 0, time.UTC)
	return int(today.Sub(day) / (24 * time.Hour))
}
