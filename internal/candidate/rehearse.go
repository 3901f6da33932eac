package candidate

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/refit-bench/refit/internal/gate"
	"github.com/refit-bench/refit/internal/image"
	"github.com/refit-bench/refit/internal/matrix"
	"github.com/refit-bench/refit/internal/recipe"
	"github.com/refit-bench/refit/internal/report"
	"github.com/refit-bench/refit/internal/result"
	"github.com/refit-bench/refit/internal/workspace"
)

// Rehearsed is what rehearse leaves behind: the baseline that will be frozen,
// and every check of a later write.
type Rehearsed struct {
	Baseline result.Baseline   `json:"baseline"`
	Points   int               `json:"points"`
	Evals    int               `json:"evals"`
	Files    map[string]string `json:"files"` // path -> SHA-256 of the edited bytes
	Checks   []gate.Verdict    `json:"checks"`
}

func (r Rehearsed) String() string {
	return fmt.Sprintf("baseline of %s: %d points, %d evals; %d files to edit; %d checks passed",
		r.Baseline.Date, r.Points, r.Evals, len(r.Files), len(r.Checks))
}

func byEdits(_ context.Context, w *work) (string, error) {
	r, err := evidence[Resolved](w, "resolve")
	if err != nil {
		return "", err
	}
	in, err := evidence[Inspected](w, "inspect")
	if err != nil {
		return "", err
	}
	return workspace.Identity([]any{w.c.Base, r.OldDigest, r.NewDigest, in.Edits}), nil
}

// rehearse does every later write on paper: what can be known before the first
// measurement is known here.
func (w *work) rehearse(ctx context.Context) (any, error) {
	before, err := w.view(ctx, w.c.Base)
	if err != nil {
		return nil, err
	}
	files, err := w.edited(ctx)
	if err != nil {
		return nil, err
	}
	after, err := w.readFS(overlay{before.FS, files})
	if err != nil {
		return nil, fmt.Errorf("after the edits: %w", err)
	}
	baseline, err := w.frozen(ctx, before)
	if err != nil {
		return nil, err
	}
	r := Rehearsed{Baseline: baseline, Files: map[string]string{}}
	for path, data := range files {
		sum := sha256.Sum256(data)
		r.Files[path] = hex.EncodeToString(sum[:])
	}
	full := matrix.Full(after.Points)
	r.Points, r.Evals = len(full.Throughput), len(full.Evals)
	r.Checks, err = w.paperwork(ctx, before, after, baseline)
	if err != nil {
		return nil, err
	}
	if v := gate.All(r.Checks); v.Answer == gate.Fail {
		return nil, &End{Outcome: ReadinessBlocked, Phase: Resolve, Reason: v.Reason}
	}
	return r, nil
}

// frozen computes the baseline from the feeds: the newest published day of the
// old image, every point of the family as it is today. Rows of the feed that are
// not valid are no evidence; that there were some is said where none is left.
func (w *work) frozen(ctx context.Context, v treeView) (result.Baseline, error) {
	e := v.Family.Entry
	latest, err := w.Feeds.ImageFeed(ctx)
	if err != nil {
		return result.Baseline{}, blockedBy(BlockedFeed, fmt.Errorf("latest images: %w", err))
	}
	var date string
	for _, row := range latest.Rows {
		if image.Same(row.Image, e.Image) && row.Model == e.ModelPrefix && row.Framework == e.Framework && row.Precision == e.Precision {
			date = max(date, row.Date)
		}
	}
	if date == "" { // a newer image hides it from that feed: our own history may know the day
		if date, err = w.lastMeasured(ctx); err != nil {
			return result.Baseline{}, err
		}
	}
	if date == "" {
		reason := fmt.Sprintf("nothing is published for %s at %s: publish a run of the old image first", v.Family.Key, e.Image)
		if n := len(latest.Aside); n > 0 {
			reason += fmt.Sprintf(" (%d rows of the feed were set aside, the first because of %v)", n, latest.Aside[0].Err)
		}
		return result.Baseline{}, &End{Outcome: Failed, Phase: Baseline, Reason: reason}
	}
	model := result.DisplayName(e.ModelPrefix, e.Model)
	rows, err := w.Feeds.Benchmarks(ctx, model, date)
	if err != nil {
		return result.Baseline{}, blockedBy(BlockedFeed, fmt.Errorf("benchmarks: %w", err))
	}
	info, err := w.Feeds.WorkflowInfo(ctx, date)
	if err != nil {
		return result.Baseline{}, blockedBy(BlockedFeed, fmt.Errorf("workflow info: %w", err))
	}
	evals, err := w.Feeds.Evaluations(ctx)
	if err != nil {
		return result.Baseline{}, blockedBy(BlockedFeed, fmt.Errorf("evaluations: %w", err))
	}
	return result.BuildBaseline(v.Points, e.Image, rows, info, evals, w.sources(model, date))
}

// lastMeasured is the day of the newest published run of the old image in our
// own store, "" when there is none.
func (w *work) lastMeasured(ctx context.Context) (string, error) {
	r, err := evidence[Resolved](w, "resolve")
	if err != nil {
		return "", err
	}
	rows, _, err := w.History(ctx, w.c.Family, r.OldDigest)
	if err != nil {
		return "", fmt.Errorf("history of the old image: %w", err)
	}
	var day string
	for _, row := range rows {
		day = max(day, row.Provenance.Started.UTC().Format(time.DateOnly))
	}
	return day, nil
}

// sources are the public addresses of what the baseline was frozen from.
func (w *work) sources(model, date string) []string {
	q := url.Values{"model": {model}, "date": {date}, "exact": {"true"}}
	return []string{
		w.APIURL + "/api/v1/benchmarks?" + q.Encode(),
		w.APIURL + "/api/v1/workflow-info?" + url.Values{"date": {date}}.Encode(),
		w.APIURL + "/api/v1/evaluations",
	}
}

// paperwork checks every later write against the rules it will meet.
func (w *work) paperwork(ctx context.Context, before, after treeView, b result.Baseline) ([]gate.Verdict, error) {
	checks := []gate.Verdict{
		gate.Roster(b, after.Points),
		sameKeys(before.Points, after.Points),
		w.checkQuestions(before),
		w.checkEntry(before),
	}
	if w.Weights != nil {
		checks = append(checks, w.Weights(after.Runners, after.Family.Entry))
	}
	record, err := w.baselineRecord(b)
	if err != nil {
		return nil, err
	}
	checks = append(checks, w.checkRecord(record))
	branch, err := w.checkBranch(ctx)
	if err != nil {
		return nil, err
	}
	return append(checks, branch), nil
}

// sameKeys proves that the edit moves the image and nothing else: the points
// keep their identity.
func sameKeys(before, after []matrix.Point) gate.Verdict {
	keys := func(ps []matrix.Point) []string {
		var out []string
		for _, p := range ps {
			out = append(out, p.Key)
		}
		slices.Sort(out)
		return out
	}
	if !slices.Equal(keys(before), keys(after)) {
		return fail("identity", "the edit changes more than the image: the family's points are not the same")
	}
	return pass("identity", "the edit keeps all %d points", len(after))
}

func (w *work) checkQuestions(v treeView) gate.Verdict {
	data := w.Config.Evals.Data
	if data.Path == "" || len(matrix.Full(v.Points).Evals) == 0 {
		return pass("questions", "no local question file is needed")
	}
	src, err := fs.ReadFile(v.FS, data.Path)
	if err != nil {
		return fail("questions", "%v: evals.data.path of refit.yaml must name a file of the repository", err)
	}
	sum := sha256.Sum256(src)
	if got := hex.EncodeToString(sum[:]); data.SHA256 != "" && got != data.SHA256 {
		return fail("questions", "%s has SHA-256 %s, refit.yaml says %s", data.Path, got, data.SHA256)
	}
	return pass("questions", "%s is what refit.yaml says", data.Path)
}

func (w *work) checkEntry(v treeView) gate.Verdict {
	log, err := fs.ReadFile(v.FS, w.Paths.Changelog)
	if err != nil {
		return fail("changelog", "%v", err)
	}
	grown, err := recipe.AppendEntry(log, w.entry(0))
	if err != nil {
		return fail("changelog", "%v", err)
	}
	if _, err := recipe.Delta(log, grown, w.Paths.Changelog); err != nil {
		return fail("changelog", "%v", err)
	}
	return pass("changelog", "the entry can be appended to %s", w.Paths.Changelog)
}

func (w *work) checkRecord(b report.Baseline) gate.Verdict {
	if _, err := w.pages().BaselineRecords(w.c.Parent, w.c.ID, b); err != nil {
		return fail("record", "%v", err)
	}
	if title := w.title(); len([]rune(title)) > 256 {
		return fail("record", "title of %d characters, at most 256", len([]rune(title)))
	}
	return pass("record", "the baseline's record is valid")
}

// checkBranch looks whether the branch and its pull request are free.
func (w *work) checkBranch(ctx context.Context) (gate.Verdict, error) {
	branch := w.c.Branch(w.prefix())
	pulls, err := w.Forge.PullsByHead(ctx, branch)
	if err != nil {
		return gate.Verdict{}, fmt.Errorf("pull requests of %s: %w", branch, err)
	}
	var open []string
	for _, p := range pulls {
		if p.State == "open" {
			open = append(open, fmt.Sprintf("#%d", p.Number))
		}
	}
	ours := w.claimed
	if len(open) > 0 && !ours { // a process may have died between the draft and its receipt
		if ours, err = w.claimIsOurs(ctx); err != nil {
			return gate.Verdict{}, err
		}
	}
	if len(open) > 0 && !ours {
		return fail("branch", "%s already has %s and no claim of ours", branch, strings.Join(open, ", ")), nil
	}
	return pass("branch", "%s is free", branch), nil
}
